//! `steady`: the command of SteadyFS.
//!
//! `steady format`, `ls`, `put` and their like work on volumes in images of chips and on the chips of this machine; `steady pack` makes
//! images for production, `steady convert` those of other file systems. `steady evaluate` runs SteadyFS on a simulated chip and measures it, `steady costs` and `steady transactions`
//! tell what calls cost there, `steady bench` sets case after case beside what the chip could do, `steady adversary` searches for the longest calls, `steady compare` sets its peers beside SteadyFS, `steady replay` tells what a trace of access times measured on a board needs, `steady devices` lists the
//! chips, `steady streams` tells what streams save, `steady torture` cuts power and looks what is lost. Results go to standard output, errors to standard error as one sentence. Exit codes: 0 for success, 1 for a failure, 2 for wrong usage.
//!
//! | module | idea |
//! |---|---|
//! | `commands` | a file for each command on images |
//! | `image` | what they have in common |
//! | `evaluate`, `bench`, `adversary`, `compare`, `costs`, `transactions`, `realtime`, `boot`, `fit`, `life`, `streams`, `sweep`, `torture`, `replay`, `devices` | the other commands |
//! | `chip` | the arguments that choose a part of a simulated chip |
//! | `output`, `progress`, `interrupt` | where results go, the bar, and Ctrl-C |
//! | `failure`, `host` | why a command failed, and the files of the host |

mod adversary;
mod advise;
mod bench;
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
mod streams;
mod sweep;
mod torture;
mod transactions;

pub use failure::Failure;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Flash storage that keeps time: images of chips, and what an input rate needs on your board or on a simulated chip.
#[derive(Parser)]
#[command(name = "steady", version, arg_required_else_help = true, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
IMG is the raw content of a chip in a file, or on Linux an MTD device such as /dev/mtd0. Rates are decimal (500kB/s, 2.5MB/s), sizes
binary (4KiB, 4096).
Exit codes: 0 success, 1 failure (of check: something was found; of scrub: something is lost; of health:
the volume is worn out), 2 wrong usage.";

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
    /// Compress what will be written below a directory, or is there
    Compress(commands::compress::Arguments),
    /// Rename or move a file or directory
    Mv(commands::mv::Arguments),
    /// Tell what a file or directory is
    Stat(commands::stat::Arguments),
    /// Tell the room of a volume
    Df(commands::df::Arguments),
    /// Tell the spare blocks, the wear and the life of a chip
    Health(commands::health::Arguments),
    /// Verify a volume, and mend what can be mended
    Check(commands::check::Arguments),
    /// Read everything, and move what the chip can only just correct
    Scrub(commands::scrub::Arguments),
    /// Tell what is where on the chip: superblock, root, journal, blocks
    Dump(commands::dump::Arguments),
    /// Make an image from a directory or another image: the same input, the same bytes
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
    /// Run SteadyFS on a simulated chip and measure every access
    Evaluate(evaluate::Arguments),
    /// Recommend settings for a chip, a size and a workload, and tell what they cost
    Advise(advise::Arguments),
    /// Search for the longest call of each kind, and tell how near it comes to its bound
    Adversary(adversary::Arguments),
    /// Measure case after case on a simulated chip, beside what the chip could do
    Bench(bench::Arguments),
    /// Measure SteadyFS and its peers on the same chips: time, RAM, wear, power cuts
    Compare(compare::Arguments),
    /// Tell what each call and copying files cost on a simulated chip
    Costs(costs::Arguments),
    /// Tell who pays for a commit, create, write, flush or close, and what is left of a finished copy when power fails
    Transactions(transactions::Arguments),
    /// Tell which medium keeps an input rate, and with which RAM: SD cards, SteadyFS on raw NAND, SteadyFS on the cards
    Realtime(realtime::Arguments),
    /// Tell how long a root file system on NAND takes to be mounted and loaded: SteadyFS, squashfs, cramfs
    Boot(boot::Arguments),
    /// Cut power in every operation of a workload, and tell what is lost
    Torture(torture::Arguments),
    /// Use a simulated chip until it is worn out, and tell how much of its erases that took and what was lost
    Life(life::Arguments),
    /// Tell what streams save: given, or found by the disk itself
    Streams(streams::Arguments),
    /// Run a grid of evaluations or power cuts on many processors and machines (with the Python package)
    Sweep(sweep::Arguments),
    /// Tell the buffer that input rates need, from access times measured on a board
    Replay(replay::Arguments),
    /// Make the profile of an SD card, eMMC or SSD from a trace of its own
    Fit(fit::Arguments),
    /// List the chips and managed devices that can be simulated, or print or make the profile of one
    Devices(devices::Arguments),
    /// Print what a shell needs to complete commands
    Completions(commands::completions::Arguments),
    /// Print the manual page, or write those of all commands
    Man(commands::man::Arguments),
}

fn main() -> ExitCode {
    match run(parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(sentence)) => {
            let sentence = image::names::for_terminal(&sentence);
            match interrupt::signal() {
                Some(signal) => {
                    eprintln!("{sentence}");
                    ExitCode::from(interrupt::exit_code(signal) as u8)
                }
                None => {
                    eprintln!("error: {sentence}");
                    ExitCode::FAILURE
                }
            }
        }
    }
}

/// The command line; under the name that mount(8) looks for, that of a mount.
fn parse() -> Cli {
    #[cfg(target_os = "linux")]
    {
        let mut line = std::env::args();
        if line.next().is_some_and(|program| commands::mount::is_helper(&program)) {
            return Cli::parse_from(commands::mount::of_helper(line));
        }
    }
    Cli::parse()
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
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Advise(arguments) => advise::run(&arguments),
        Command::Adversary(arguments) => adversary::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
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
