//! A command line, for the tests of commands.

use clap::{Args, Parser};

/// The name of a command, and its arguments.
#[derive(Parser)]
pub struct Line<A: Args> {
    /// The arguments of the command.
    #[command(flatten)]
    pub arguments: A,
}
