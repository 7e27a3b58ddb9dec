//! `steady man`: prints or writes manual pages.

use crate::Failure;
use crate::output::{check_directory, print_bytes};
use clap::{Args, Command};
use clap_mangen::Man;
use std::fs;
use std::path::{Path, PathBuf};

/// Arguments of `steady man`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Write a page for each command into this directory [default: print the page of `steady`]
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// Runs `steady man`.
pub fn run(arguments: &Arguments, command: Command) -> Result<(), Failure> {
    // Building gives each command its whole name, such as `steady-ls`.
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let Some(directory) = &arguments.directory else {
        return print_bytes(&page(&Man::new(command))?);
    };
    check_directory(directory)?;
    fs::create_dir_all(directory).map_err(|error| Failure::writing(directory.display(), &error))?;
    for inner in command.get_subcommands() {
        write(directory, &Man::new(inner.clone()))?;
    }
    write(directory, &Man::new(command))
}

fn page(man: &Man) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    man.render(&mut page).map_err(|error| Failure::new(format!("manual page: {error}")))?;
    Ok(page)
}

fn write(directory: &Path, man: &Man) -> Result<(), Failure> {
    let path = directory.join(man.get_filename());
    fs::write(&path, page(man)?).map_err(|error| Failure::writing(path.display(), &error))
}
