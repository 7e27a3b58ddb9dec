//! `steady mv`: renames or moves a file or directory, or exchanges two.

use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::names::{join, last_name};
use crate::image::volume::is_directory;
use crate::image::{Volume, change};
use clap::Args;
use std::path::PathBuf;
use steadyfs::{Error, ROOT};

/// Arguments of `steady mv`.
#[derive(Args, Debug)]
#[command(
    after_help = "The move is done as a whole or not at all. It replaces a file that already has \
                  the new name."
)]
pub struct Arguments {
    /// The image
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// Exchange the two names: each gets the file or directory of the other
    #[arg(long)]
    exchange: bool,
    /// A file or directory in the image
    from: String,
    /// Target: an existing directory, or a new path
    to: String,
    #[command(flatten)]
    chip: ChipOptions,
}

/// Runs `steady mv`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let action = if arguments.exchange { exchange } else { rename };
    change(&arguments.image, &arguments.chip, |volume| {
        action(volume, &arguments.from, &arguments.to)
    })
}

fn exchange(volume: &mut Volume<'_>, one: &str, other: &str) -> Result<(), Failure> {
    volume.stat(one)?;
    volume.stat(other)?;
    volume.fs.exchange(one, other).map_err(|error| match error {
        Error::IntoItself => {
            volume.refuse(one, format!("and /{}: one holds the other", other.trim_matches('/')))
        }
        _ => volume.fail(one, error),
    })
}

fn rename(volume: &mut Volume<'_>, from: &str, to: &str) -> Result<(), Failure> {
    let source = volume.stat(from)?;
    if source.inode == ROOT {
        return Err(
            volume.refuse("", "the root cannot be moved; expected a file or directory below")
        );
    }
    let to = match volume.find(to)? {
        Some(stat) if is_directory(&stat) && stat.inode != source.inode => {
            join(to, last_name(from).unwrap_or_default())
        }
        _ => to.to_string(),
    };
    volume.fs.rename(from, &to).map_err(|error| match error {
        Error::NotFound => {
            volume.refuse(&to, "lies in no directory; expected an existing directory")
        }
        Error::InvalidName | Error::IntoItself => {
            volume.refuse(from, format!("cannot become /{}: {error}", to.trim_matches('/')))
        }
        _ => volume.fail(&to, error),
    })
}
