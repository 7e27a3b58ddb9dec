//! `steady pack`: an image with the content of a directory, the same whenever and wherever it is made.

use super::df::Room;
use super::tree::counted;
use crate::Failure;
use crate::image::Memory;
use crate::image::chip::ChipOptions;
use crate::image::compression::Compression;
use crate::image::create::Draft;
use crate::image::import::{self, Directory, Mode};
use crate::image::scan::{self, Source};
use crate::image::settings::{Settings, source_date_epoch};
use crate::image::time::Stamp;
use crate::output::{print, print_json};
use crate::progress::Progress;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use steadyfs::ROOT;
use steadyfs_lab::units::format_size;

/// Arguments of `steady pack`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The directory whose content becomes that of the volume
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The image to make
    #[arg(value_name = "IMG")]
    image: PathBuf,
    #[command(flatten)]
    settings: Settings,
    /// Time of all files in seconds since 1970, or `files`: each its own [default: SOURCE_DATE_EPOCH, else none]
    #[arg(long, value_name = "SECONDS|files", allow_hyphen_values = true)]
    mtime: Option<Stamp>,
    /// Owner and group of all files as UID:GID, or `files`: each its own
    #[arg(long, value_name = "UID:GID|files", default_value = "0:0")]
    owner: Owner,
    #[command(flatten)]
    compression: Compression,
    /// Take what symbolic links name, not the links
    #[arg(long)]
    follow: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
The same names, modes, bytes and settings give the same image, byte for byte, whatever the order in which the host lists directories,
unless --mtime or --owner is `files`. Modes are left out with --no-permissions.

Example:
  steady pack rootfs card.img --device mt29f1g01abafd --mtime 1700000000
  steady pack rootfs card.img --device mt29f1g01abafd --force --compress zstd:19 --chunk 64KiB";

/// Owner and group of all files; each its own where there are none.
#[derive(Clone, Copy, Debug)]
struct Owner(Option<(u32, u32)>);

impl FromStr for Owner {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let both = || text.split_once(':').and_then(|(uid, gid)| Some((uid.parse().ok()?, gid.parse().ok()?)));
        match text {
            "files" => Ok(Self(None)),
            _ => both().map(|both| Self(Some(both))).ok_or_else(|| "expected two numbers, as 0:0, or `files`".to_string()),
        }
    }
}

#[derive(Serialize)]
struct Summary {
    files: u64,
    directories: u64,
    bytes: u64,
    room: Room,
}

/// Runs `steady pack`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    refuse_image_inside(arguments)?;
    let own = scan::one(&arguments.directory, String::new(), true, 0)?;
    let sources = scan::below(&arguments.directory, arguments.follow)?;
    let (draft, chip) = Draft::start(&arguments.image, &arguments.settings)?;
    let mut memory = Memory::default();
    let mut volume = draft.format(chip, &arguments.settings, &mut memory)?;
    let stamp = match arguments.mtime {
        Some(stamp) => stamp,
        None => Stamp::Fixed(source_date_epoch()?.unwrap_or(0)),
    };
    let mode = Mode {
        keeps_times: stamp == Stamp::OfFiles,
        owner: arguments.owner.0,
        is_atomic: false,
        packing: arguments.compression.packing(),
    };
    if let Stamp::Fixed(ns) = stamp {
        volume.fs.set_time(ns);
    }
    let root = Directory { inode: ROOT, path: String::new() };
    import::own(&mut volume, ROOT, &own, mode).map_err(|error| volume.fail("", error))?;
    let mut progress = Progress::of(sources.iter().map(|source| source.size).sum(), "pack");
    import::all(&mut volume, &sources, &root, mode, &mut progress)?;
    drop(progress);
    volume.fs.commit().map_err(|error| volume.fail("", error))?;
    let summary = Summary::of(&sources, Room::of(&mut volume));
    draft.finish(volume.close(&ChipOptions::default())?)?;
    if arguments.json { print_json(&summary) } else { print(&summary.text()) }
}

/// Refuses to pack an image into itself: the next run would pack another directory.
fn refuse_image_inside(arguments: &Arguments) -> Result<(), Failure> {
    let fail = |error: std::io::Error| Failure::at(arguments.directory.display(), error);
    let directory = arguments.directory.canonicalize().map_err(fail)?;
    if !directory.is_dir() {
        return Err(Failure::at(arguments.directory.display(), "is a file; expected a directory"));
    }
    let parent = arguments.image.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match parent.canonicalize() {
        Ok(parent) if parent.starts_with(&directory) => Err(Failure::at(
            arguments.image.display(),
            format!("lies in {}; expected a place outside", arguments.directory.display()),
        )),
        _ => Ok(()),
    }
}

impl Summary {
    fn of(sources: &[Source], room: Room) -> Self {
        let directories = sources.iter().filter(|source| source.is_directory).count() as u64;
        let files = sources.len() as u64 - directories;
        Self { files, directories, bytes: sources.iter().map(|source| source.size).sum(), room }
    }

    fn text(&self) -> String {
        let (files, directories) = (counted(self.files, "file", "files"), counted(self.directories, "directory", "directories"));
        format!("{files}, {directories}, {}\n\n{}", format_size(self.bytes), self.room.text())
    }
}
