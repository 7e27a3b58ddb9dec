//! `steady`: the command of SteadyFS.
//!
//! `steady replay` tells what a trace of access times measured on a board needs; `steady evaluate` runs SteadyFS on a
//! simulated chip and measures it; `steady costs` and `steady transactions` tell what calls cost; `steady devices` lists the chips. Results go to standard output, errors to standard
//! error as one sentence. Exit codes: 0 for success, 1 for a failure, 2 for wrong usage.

mod costs;
mod devices;
mod evaluate;
mod output;
mod replay;
mod transactions;

use clap::{Parser, Subcommand};
use std::io;
use std::process::ExitCode;

/// Flash storage that keeps time: what an input rate needs, on your board or on a simulated chip.
#[derive(Parser)]
#[command(name = "steady", version, arg_required_else_help = true, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Rates are decimal (500kB/s, 2.5MB/s), sizes binary (4KiB, 4096).
Exit codes: 0 success, 1 failure, 2 wrong usage.";

#[derive(Subcommand)]
enum Command {
    /// Tell the buffer that input rates need, from access times measured on a board
    Replay(replay::Arguments),
    /// Run SteadyFS on a simulated chip and measure every access
    Evaluate(evaluate::Arguments),
    /// Tell what each call and copying files cost on a simulated chip
    Costs(costs::Arguments),
    /// Tell where the cost of a commit appears: create, write, flush, close
    Transactions(transactions::Arguments),
    /// List the chips that can be simulated
    Devices,
}

/// Why a command failed, as one sentence.
#[derive(Debug)]
struct Failure(String);

impl Failure {
    /// A failure to write to a place.
    fn writing(place: impl std::fmt::Display, error: &io::Error) -> Failure {
        Failure(format!("{place}: cannot be written: {error}"))
    }
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Costs(arguments) => costs::run(&arguments),
        Command::Transactions(arguments) => transactions::run(&arguments),
        Command::Devices => devices::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(sentence)) => {
            eprintln!("error: {sentence}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
