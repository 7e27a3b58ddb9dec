//! `steady cat`: the bytes of files.

use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::names::printable;
use crate::image::volume::is_directory;
use crate::image::{Memory, Volume};
use clap::Args;
use std::io::{self, Write};
use std::path::PathBuf;
use steadyfs::{Access, Kind};

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
    chip: ChipOptions,
}

/// Runs `steady cat`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut memory = Memory::default();
    let mut volume = Volume::open(&arguments.image, &arguments.chip, Access::ReadOnly, &mut memory)?;
    let mut output = io::stdout().lock();
    // A reader that has seen enough and left is no failure.
    let mut is_read = true;
    let mut write = |piece: &[u8]| match output.write_all(piece).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            is_read = false;
            Err(Failure(String::new()))
        }
        result => result.map_err(|error| Failure::writing("standard output", &error)),
    };
    let result = arguments.path.iter().try_for_each(|path| print_file(&mut volume, path, &mut write));
    if is_read {
        result?;
    }
    volume.close(&arguments.chip).map(drop)
}

fn print_file(volume: &mut Volume<'_>, path: &str, write: &mut impl FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure> {
    let stat = volume.stat(path)?;
    if is_directory(&stat) {
        return Err(volume.refuse(path, "is a directory; expected a file"));
    }
    if stat.kind == Kind::Symlink {
        let target = volume.read_link(stat.inode, path)?;
        return Err(volume.refuse(path, format!("is a symbolic link to `{}`; expected a file", printable(&target))));
    }
    volume.read_file(stat.inode, path, write)
}
