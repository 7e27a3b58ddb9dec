//! `steady`: the command of SteadyFS.
//!
//! - `steady format`, `ls`, `put` and similar commands work on volumes, in images of chips and on
//!   the chips of this machine.
//! - `steady pack` makes images for production. `steady convert` makes images of other file
//!   systems.
//! - `steady evaluate` runs SteadyFS on a simulated chip and measures it.
//! - `steady costs` and `steady transactions` measure the cost of calls on a simulated chip.
//! - `steady bench` measures case after case beside the limit of the chip.
//! - `steady adversary` searches for the longest calls.
//! - `steady compare` measures SteadyFS and its peers. `steady boards` shows published measurements
//!   of real boards beside the same work here.
//! - `steady replay` computes the needs of a trace of access times that were measured on a board.
//! - `steady devices` lists the chips.
//! - `steady streams` measures the benefit of streams.
//! - `steady torture` cuts power and checks for lost data.
//!
//! Results go to standard output, errors to standard error as one sentence. Exit codes: 0 for
//! success, 1 for a failure, 2 for wrong usage.
//!
//! | module | idea |
//! |---|---|
//! | `commands` | a file for each command on images |
//! | `image` | the parts that these commands share |
//! | `evaluate`, `bench`, `adversary`, `compare`, `boards`, `costs`, `transactions`, `realtime`, `boot`, `fit` (with `fit_board`), `life`, `streams`, `sweep`, `torture`, `replay`, `devices` | the other commands |
//! | `chip` | the arguments that choose a part of a simulated chip |
//! | `output`, `progress`, `interrupt` | the outputs, the bar, and Ctrl-C |
//! | `help` | help texts of at most 100 columns |
//! | `failure`, `host` | the error of all commands, and the files of the host |

mod adversary;
mod advise;
mod bench;
mod boards;
mod boot;
mod chip;
mod commands;
mod compare;
mod costs;
mod device;
mod devices;
mod evaluate;
mod failure;
mod fit;
mod fit_board;
mod help;
mod host;
mod image;
mod interrupt;
mod life;
#[cfg(test)]
mod line;
mod number;
mod output;
mod progress;
mod realtime;
mod replay;
mod seed;
mod streams;
mod sweep;
mod torture;
mod transactions;

pub use failure::Failure;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Work with flash chips and their images, and compute the needs of an input rate on your board
/// or on a simulated chip.
#[derive(Parser)]
#[command(name = "steady", version, arg_required_else_help = true, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Exit code of wrong usage, as of clap.
const WRONG_USAGE: u8 = 2;

const AFTER_HELP: &str = "\
IMG is the raw content of a chip in a file, or on Linux an MTD device such as /dev/mtd0. Rates are
decimal (500kB/s, 2.5MB/s), sizes binary (4KiB, 4096).
Exit codes: 0 success; 1 failure, also a finding of check, a loss in scrub, and a volume that health
reports as worn out or damaged; 2 wrong usage; 130 Ctrl-C; 143 SIGTERM. `mount` ends with 0 after
either signal.";

#[derive(Subcommand)]
enum Command {
    /// Make an image with an empty volume
    Format(commands::format::Arguments),
    /// List a directory
    Ls(commands::ls::Arguments),
    /// List everything below a directory
    Tree(commands::tree::Arguments),
    /// Copy files and directories into an image
    Put(commands::put::Arguments),
    /// Copy a file or directory out of an image
    Get(commands::get::Arguments),
    /// Print files
    Cat(commands::cat::Arguments),
    /// Remove files and directories
    Rm(commands::rm::Arguments),
    /// Make directories
    Mkdir(commands::mkdir::Arguments),
    /// Compress new files below a directory, and existing files on request
    Compress(commands::compress::Arguments),
    /// Rename or move a file or directory
    Mv(commands::mv::Arguments),
    /// Show the properties of a file or directory
    Stat(commands::stat::Arguments),
    /// Show the room of a volume
    Df(commands::df::Arguments),
    /// Show the spare blocks, the wear and the life of a chip
    Health(commands::health::Arguments),
    /// Verify a volume, and mend as much as possible
    Check(commands::check::Arguments),
    /// Read everything, and move data that the chip can only just correct
    Scrub(commands::scrub::Arguments),
    /// Show the parts of a volume on the chip: superblock, root, journal, blocks
    Dump(commands::dump::Arguments),
    /// Make an image from a directory or another image: the same input gives the same bytes
    Pack(commands::pack::Arguments),
    /// Make a read-only image of another format from an image
    Convert(commands::convert::Arguments),
    /// Make a key that signs read-only images
    Keygen(commands::keygen::Arguments),
    /// Copy everything of an image into a directory
    Unpack(commands::unpack::Arguments),
    /// Mount an image on a directory
    #[cfg(target_os = "linux")]
    Mount(commands::mount::Arguments),
    /// Mount an image on a directory: on Linux only
    #[cfg(not(target_os = "linux"))]
    #[command(hide = true)]
    Mount {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<std::ffi::OsString>,
    },
    /// Run SteadyFS on a simulated chip and measure every access
    Evaluate(evaluate::Arguments),
    /// Recommend settings for a chip, a size and a workload, and show their cost
    Advise(advise::Arguments),
    /// Search for the longest call of each kind, and compare it with its bound
    Adversary(adversary::Arguments),
    /// Measure case after case on a simulated chip, beside the limit of the chip
    Bench(bench::Arguments),
    /// Measure SteadyFS and its peers on the same chips: time, RAM, wear, power cuts
    Compare(compare::Arguments),
    /// Show published measurements of real boards beside the same work on simulated chips
    Boards(boards::Arguments),
    /// Measure the cost of each call, and of copying files, on a simulated chip
    Costs(costs::Arguments),
    /// Measure which call pays for a commit: create, write, flush or close; and the remains of a
    /// finished copy after a power cut
    Transactions(transactions::Arguments),
    /// Find the media that keep an input rate, and the RAM that each needs: SD cards, SteadyFS on
    /// raw NAND, SteadyFS on the cards
    Realtime(realtime::Arguments),
    /// Measure the time to mount and load a root file system on NAND: SteadyFS, squashfs, cramfs
    Boot(boot::Arguments),
    /// Cut power in every operation of a workload, and check for lost data
    Torture(torture::Arguments),
    /// Use a simulated chip until it is worn out, and show the used share of its erases and the
    /// losses
    Life(life::Arguments),
    /// Measure the benefit of streams: given, or found by the disk itself
    Streams(streams::Arguments),
    /// Run a grid of evaluations or power cuts on many processors and machines (with the Python
    /// package)
    Sweep(sweep::Arguments),
    /// Compute the buffer that input rates need, from access times measured on a board
    Replay(replay::Arguments),
    /// Make the profile of an SD card, eMMC or SSD from a trace of this device, or the profile of a
    /// board from its figures
    Fit(fit::Arguments),
    /// List the chips and managed devices that can be simulated, or print or make the profile of
    /// one
    Devices(devices::Arguments),
    /// Print the completions of commands for a shell
    Completions(commands::completions::Arguments),
    /// Print the manual page, or write the pages of all commands
    Man(commands::man::Arguments),
}

fn main() -> ExitCode {
    match run(parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { sentence, is_usage }) => {
            let sentence = image::names::for_terminal(&sentence);
            match interrupt::signal() {
                Some(signal) => {
                    eprintln!("{sentence}");
                    ExitCode::from(interrupt::exit_code(signal) as u8)
                }
                None => {
                    eprintln!("error: {sentence}");
                    if is_usage { ExitCode::from(WRONG_USAGE) } else { ExitCode::FAILURE }
                }
            }
        }
    }
}

/// Parses the command line. Under the program name that mount(8) calls, parses the command line
/// of a mount.
fn parse() -> Cli {
    #[cfg(target_os = "linux")]
    {
        let mut line = std::env::args();
        if line.next().is_some_and(|program| commands::mount::is_helper(&program)) {
            return Cli::try_parse_from(commands::mount::of_helper(line))
                .unwrap_or_else(|error| help::exit(&error));
        }
    }
    Cli::try_parse().unwrap_or_else(|error| help::exit(&error))
}

fn run(command: Command) -> Result<(), Failure> {
    // A mount has its own way to end.
    #[cfg(target_os = "linux")]
    let is_mount = matches!(command, Command::Mount(_));
    #[cfg(not(target_os = "linux"))]
    let is_mount = false;
    if !is_mount {
        interrupt::catch();
    }
    match command {
        Command::Format(arguments) => commands::format::run(&arguments),
        Command::Ls(arguments) => commands::ls::run(&arguments),
        Command::Tree(arguments) => commands::tree::run(&arguments),
        Command::Put(arguments) => commands::put::run(&arguments),
        Command::Get(arguments) => commands::get::run(&arguments),
        Command::Cat(arguments) => commands::cat::run(&arguments),
        Command::Rm(arguments) => commands::rm::run(&arguments),
        Command::Mkdir(arguments) => commands::mkdir::run(&arguments),
        Command::Compress(arguments) => commands::compress::run(&arguments),
        Command::Mv(arguments) => commands::mv::run(&arguments),
        Command::Stat(arguments) => commands::stat::run(&arguments),
        Command::Df(arguments) => commands::df::run(&arguments),
        Command::Health(arguments) => commands::health::run(&arguments),
        Command::Check(arguments) => commands::check::run(&arguments),
        Command::Scrub(arguments) => commands::scrub::run(&arguments),
        Command::Dump(arguments) => commands::dump::run(&arguments),
        Command::Pack(arguments) => commands::pack::run(&arguments),
        Command::Convert(arguments) => commands::convert::run(&arguments),
        Command::Keygen(arguments) => commands::keygen::run(&arguments),
        Command::Unpack(arguments) => commands::unpack::run(&arguments),
        #[cfg(target_os = "linux")]
        Command::Mount(arguments) => commands::mount::run(&arguments),
        #[cfg(not(target_os = "linux"))]
        Command::Mount { arguments: _ } => Err(Failure::new(
            "mounts work on Linux only; `steady get` copies files out of an image, and `steady \
             put` copies files into it",
        )),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Advise(arguments) => advise::run(&arguments),
        Command::Adversary(arguments) => adversary::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Boards(arguments) => boards::run(&arguments),
        Command::Costs(arguments) => costs::run(&arguments),
        Command::Transactions(arguments) => transactions::run(&arguments),
        Command::Fit(arguments) => fit::run(&arguments),
        Command::Realtime(arguments) => realtime::run(&arguments),
        Command::Boot(arguments) => boot::run(&arguments),
        Command::Torture(arguments) => torture::run(&arguments),
        Command::Life(arguments) => life::run(&arguments),
        Command::Streams(arguments) => streams::run(&arguments),
        Command::Sweep(arguments) => sweep::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Devices(arguments) => devices::run(&arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments, Cli::command()),
        Command::Man(arguments) => commands::man::run(&arguments, Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
