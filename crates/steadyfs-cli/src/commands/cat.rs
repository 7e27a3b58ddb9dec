//! `steady cat`: prints the bytes of files.

use crate::Failure;
use crate::image::names::printable;
use crate::image::tree::{Files, Kind, Take};
use crate::image::{Memory, Opened, ReadOptions};
use clap::Args;
use std::io::{self, Write};
use std::path::PathBuf;

/// Arguments of `steady cat`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// The image
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// Files in the image
    #[arg(required = true)]
    path: Vec<String>,
    #[command(flatten)]
    reading: ReadOptions,
}

/// Runs `steady cat`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut memory = Memory::default();
    let mut opened = Opened::open(&arguments.image, &arguments.reading, &mut memory)?;
    let mut output = io::stdout().lock();
    // A pipe whose reader has ended is no failure.
    let mut is_read = true;
    let mut write = |piece: &[u8]| match output.write_all(piece).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            is_read = false;
            Err(Failure::new(""))
        }
        result => result.map_err(|error| Failure::writing("standard output", &error)),
    };
    let result =
        arguments.path.iter().try_for_each(|path| print_file(opened.files(), path, &mut write));
    if is_read {
        result?;
    }
    opened.close(&arguments.reading)
}

fn print_file(files: &mut dyn Files, path: &str, write: Take<'_>) -> Result<(), Failure> {
    let stat = files.look(path)?;
    match stat.kind {
        Kind::File => files.content(stat.inode, path, write),
        Kind::Symlink => {
            let target = files.target(stat.inode, path)?;
            Err(files.fault(
                path,
                &format!("is a symbolic link to `{}`; expected a file", printable(&target)),
            ))
        }
        kind => Err(files.fault(path, &format!("is a {}; expected a file", kind.name()))),
    }
}
