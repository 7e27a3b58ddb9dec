//! A line of arguments as somebody types it, for the tests of commands.

use clap::{Args, Parser};

/// The arguments of a command behind its name.
#[derive(Parser)]
pub struct Line<A: Args> {
    /// Its arguments.
    #[command(flatten)]
    pub arguments: A,
}
