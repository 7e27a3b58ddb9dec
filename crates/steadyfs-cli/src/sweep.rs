//! `steady sweep`: runs a grid with the program `steady-sweep` of the Python package.

use crate::Failure;
use clap::Args;
use std::ffi::OsString;
use std::io;
use std::process::Command;

/// The program, which comes with the Python package.
const PROGRAM: &str = "steady-sweep";

/// Arguments of `steady sweep`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The grid, and options of steady-sweep; all are passed on unchanged
    #[arg(value_name = "GRID.toml", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

const AFTER_HELP: &str = "\
Runs the program steady-sweep that is found on PATH. Sweeps are part of the Python package (Dask,
Parquet). In a clone of SteadyFS, pip install './python[sweep]' installs it. docs/guide/python.md
describes the grid, and steady-sweep --help the options.
Exit codes of steady-sweep: 0 every run has its figures and nothing was lost, 1 a run has no figures
or something was lost, 2 wrong usage.

Examples:
  steady sweep grid.toml
  steady sweep grid.toml --scheduler tcp://10.0.0.7:8786";

/// Runs `steady sweep`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let error = become_program(Command::new(PROGRAM).args(&arguments.words));
    Err(Failure::new(match error.kind() {
        io::ErrorKind::NotFound => format!(
            "{PROGRAM}: not found on PATH, or the Python that it names is gone; expected the \
             Python package of SteadyFS: pip install './python[sweep]' in a clone"
        ),
        _ => format!("{PROGRAM}: cannot be run: {error}"),
    }))
}

/// Replaces this process by another program, which gets the terminal and its signals. Returns
/// only if this fails.
#[cfg(unix)]
fn become_program(command: &mut Command) -> io::Error {
    use std::os::unix::process::CommandExt;
    command.exec()
}

/// Runs another program, and exits with its exit code.
#[cfg(not(unix))]
fn become_program(command: &mut Command) -> io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}
