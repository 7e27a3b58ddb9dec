//! `steady completions`: prints the completions for a shell.

use crate::Failure;
use crate::output::print_bytes;
use clap::{Args, Command};
use clap_complete::Shell;

/// Arguments of `steady completions`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

const AFTER_HELP: &str = "\
Examples:
  steady completions bash > ~/.local/share/bash-completion/completions/steady
  steady completions fish > ~/.config/fish/completions/steady.fish";

/// Runs `steady completions`.
pub fn run(arguments: &Arguments, mut command: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "steady", &mut script);
    print_bytes(&script)
}
