//! `steady rm`: removes files and directories.

use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::names::last_name;
use crate::image::tree::{Item, walk};
use crate::image::volume::is_directory;
use crate::image::{Volume, change};
use crate::interrupt;
use crate::progress::Progress;
use clap::Args;
use std::path::PathBuf;
use steadyfs::{Location, Stat};

/// Arguments of `steady rm`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// The image
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// Files in the image, with -r also directories
    #[arg(required = true)]
    path: Vec<String>,
    /// Remove directories with all that they hold
    #[arg(short, long)]
    recursive: bool,
    #[command(flatten)]
    chip: ChipOptions,
}

/// Runs `steady rm`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    change(&arguments.image, &arguments.chip, |volume| {
        // Look up all paths before the first is removed.
        let found = arguments.path.iter().map(|path| Ok((path, look(volume, path, arguments)?)));
        let found = found.collect::<Result<Vec<_>, Failure>>()?;
        found.iter().try_for_each(|(path, stat)| remove(volume, path, stat))
    })
}

fn look(volume: &mut Volume<'_>, path: &str, arguments: &Arguments) -> Result<Stat, Failure> {
    let stat = volume.stat(path)?;
    if last_name(path).is_none() {
        return Err(volume.refuse(
            path,
            "has no name, so it cannot be removed; expected a file or directory below the root",
        ));
    }
    if is_directory(&stat) && !arguments.recursive {
        return Err(volume.refuse(path, "is a directory; -r removes it with all that it holds"));
    }
    Ok(stat)
}

/// Removes a file, or a directory after its content. The volume commits when the transaction is
/// full.
fn remove(volume: &mut Volume<'_>, path: &str, stat: &Stat) -> Result<(), Failure> {
    if is_directory(stat) {
        let items = walk(volume, stat.inode, path)?;
        let mut progress = Progress::of(items.len() as u64, "remove");
        for item in items.iter().rev() {
            interrupt::check()?;
            remove_item(volume, item)?;
            progress.add(1);
        }
    }
    remove_at(volume, Location::from(path), is_directory(stat))
        .map_err(|error| volume.fail(path, error))
}

fn remove_item(volume: &mut Volume<'_>, item: &Item) -> Result<(), Failure> {
    // Such a name would be taken as a path, and lead elsewhere.
    if item.name.contains('/') || matches!(item.name.as_str(), "" | "." | "..") {
        return Err(volume
            .refuse(&item.path, "has a name that no file can have; `steady check` gives details"));
    }
    let place = Location::from((item.stat.parent, item.name.as_str()));
    remove_at(volume, place, item.is_directory()).map_err(|error| volume.fail(&item.path, error))
}

fn remove_at(
    volume: &mut Volume<'_>,
    place: Location<'_>,
    is_directory: bool,
) -> Result<(), steadyfs::Error> {
    if is_directory { volume.fs.remove_dir(place) } else { volume.fs.remove(place) }
}
