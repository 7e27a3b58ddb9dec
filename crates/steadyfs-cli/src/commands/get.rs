//! `steady get`: copies files and directories of an image to the host.

use crate::Failure;
use crate::host::directory_of;
use crate::image::export::{self, NOT_MADE};
use crate::image::left_out::LeftOut;
use crate::image::names::{host_fault, last_name, sanitised};
use crate::image::part::Part;
use crate::image::tree::{Files, Item, Kind, Stat};
use crate::image::{Lost, Memory, Opened, ReadOptions, SalvageOptions};
use crate::interrupt;
use crate::progress::Progress;
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};

/// Arguments of `steady get`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The image
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// A file in the image, with -r also a directory
    #[arg(value_name = "FROM")]
    from: String,
    /// Place on the host: an existing directory, or a new name
    #[arg(value_name = "TO")]
    to: PathBuf,
    /// Get a directory with all that it holds
    #[arg(short, long)]
    recursive: bool,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Replace characters that the host does not take in names by `_`; without this, such names
    /// are refused
    #[arg(long)]
    sanitise: bool,
    #[command(flatten)]
    salvage: SalvageOptions,
    #[command(flatten)]
    reading: ReadOptions,
}

const AFTER_HELP: &str = "\
Files get their times, their modes, and their attributes user.* on Linux. They belong to the user of
the command, without set-user and set-group rights. Standard error lists everything that is lost.";

/// Runs `steady get`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut memory = Memory::default();
    let mut opened = Opened::open(&arguments.image, &arguments.reading, &mut memory)?;
    let damage = opened.lost();
    let files = opened.files();
    let stat = files.look(&arguments.from)?;
    let place = place(files, arguments)?;
    let lost = match stat.kind {
        Kind::File | Kind::Symlink => {
            let mut left = LeftOut::default();
            get_file(files, stat, arguments, &place, &mut left)?;
            left.tell(NOT_MADE);
            Lost::of(None)
        }
        Kind::Directory if arguments.recursive => {
            let (items, lost) =
                arguments.salvage.walk(files, stat.inode, &arguments.from, damage)?;
            export::all(files, &items, &place, arguments.sanitise, "get")?;
            lost
        }
        Kind::Directory => {
            return Err(
                files.fault(&arguments.from, &"is a directory; -r gets it with all that it holds")
            );
        }
        kind => {
            return Err(
                files.fault(&arguments.from, &format!("is a {}; expected a file", kind.name()))
            );
        }
    };
    opened.close(&arguments.reading)?;
    lost.tell(&arguments.image)
}

/// Returns the place on the host. In an existing directory, the name is the name in the image.
fn place(files: &dyn Files, arguments: &Arguments) -> Result<PathBuf, Failure> {
    if !arguments.to.is_dir() {
        return Ok(arguments.to.clone());
    }
    match last_name(&arguments.from) {
        Some(name) if arguments.sanitise => Ok(arguments.to.join(sanitised(name).as_ref())),
        Some(name) if host_fault(name).is_none() => Ok(arguments.to.join(name)),
        _ => Err(files
            .fault(&arguments.from, &"gives no name for the host; expected TO to be a new one")),
    }
}

fn get_file(
    files: &mut dyn Files,
    stat: Stat,
    arguments: &Arguments,
    place: &Path,
    left: &mut LeftOut,
) -> Result<(), Failure> {
    let mut progress = Progress::of(stat.size, "get");
    let item =
        Item { path: arguments.from.clone(), is_last: true, ..Item::new(String::new(), "", stat) };
    if stat.kind == Kind::Symlink {
        return export::link(files, &item, place, left);
    }
    let is_there = fs::symlink_metadata(place).is_ok();
    if is_there && !arguments.force {
        return Err(Failure::at(place.display(), "exists already; --force replaces it"));
    }
    if is_there && place.is_dir() {
        return Err(Failure::at(place.display(), "is a directory; expected a file, or nothing"));
    }
    interrupt::ends_itself();
    // The old file stays until the new one is complete; a link is replaced, not followed.
    let (part, mut host) = Part::file(directory_of(place), place)?;
    export::content(files, &item, &mut host, place, &mut progress, left)?;
    if arguments.force { part.rename(place) } else { export::rename_new(part.path(), place) }
}
