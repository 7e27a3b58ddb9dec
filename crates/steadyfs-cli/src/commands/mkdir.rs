//! `steady mkdir`: makes directories.

use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::names::join;
use crate::image::volume::is_directory;
use crate::image::{Volume, change};
use clap::Args;
use std::path::PathBuf;
use steadyfs::Error;
use steadyfs_host::plain;

/// Arguments of `steady mkdir`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// The image
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// Directories in the image
    #[arg(required = true)]
    path: Vec<String>,
    /// Make the directories above too, and accept existing ones
    #[arg(short, long)]
    parents: bool,
    #[command(flatten)]
    chip: ChipOptions,
}

/// Runs `steady mkdir`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    change(&arguments.image, &arguments.chip, |volume| {
        arguments.path.iter().try_for_each(|path| {
            if arguments.parents { make_all(volume, path) } else { make(volume, path) }
        })
    })
}

fn make(volume: &mut Volume<'_>, path: &str) -> Result<(), Failure> {
    plain::create_dir(&mut volume.fs, path).map(drop).map_err(|error| match error {
        Error::NotFound => {
            volume.refuse(path, "lies in no existing directory; -p makes the directories above too")
        }
        _ => volume.fail(path, error),
    })
}

fn make_all(volume: &mut Volume<'_>, path: &str) -> Result<(), Failure> {
    let mut above = String::new();
    for name in path.split('/').filter(|name| !name.is_empty()) {
        above = join(&above, name);
        match volume.find(&above)? {
            Some(stat) if is_directory(&stat) => {}
            Some(_) => {
                return Err(volume.refuse(&above, "is a file; expected a directory, or nothing"));
            }
            None => plain::create_dir(&mut volume.fs, above.as_str())
                .map(drop)
                .map_err(|error| volume.fail(&above, error))?,
        }
    }
    Ok(())
}
