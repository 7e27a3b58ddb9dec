//! `steady unpack`: copies everything of an image into a directory.

use super::tree::counted;
use crate::Failure;
use crate::image::export;
use crate::image::tree::totals;
use crate::image::{Memory, Opened, ReadOptions, SalvageOptions};
use crate::output::{print, print_json};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use steadyfs::ROOT;
use steadyfs_lab::units::format_size;

/// Arguments of `steady unpack`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The image
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// The directory to fill: a new or an empty one
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Replace characters that the host does not take in names by `_`; without this, such names
    /// are refused
    #[arg(long)]
    sanitise: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    salvage: SalvageOptions,
    #[command(flatten)]
    reading: ReadOptions,
}

const AFTER_HELP: &str = "\
Files get their times, their modes, and their attributes user.* on Linux. They belong to the user of
the command, without set-user and set-group rights. Standard error lists everything that is lost.

Nothing is written outside of DIR, for any content of the image. All names are checked before the
first file is made. At the end, everything is there or nothing. A killed command leaves
.steady-PID.part in DIR or beside it; the next command removes it. If the mount finds a loss, the
rest is unpacked and the command ends with code 1.";

#[derive(Serialize)]
struct Summary {
    files: u64,
    directories: u64,
    bytes: u64,
}

/// Runs `steady unpack`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut memory = Memory::default();
    let mut opened = Opened::open(&arguments.image, &arguments.reading, &mut memory)?;
    let damage = opened.lost();
    let (items, lost) = arguments.salvage.walk(opened.files(), ROOT, "", damage)?;
    export::all(opened.files(), &items, &arguments.directory, arguments.sanitise, "unpack")?;
    let (files, directories, bytes) = totals(&items);
    opened.close(&arguments.reading)?;
    if arguments.json {
        print_json(&Summary { files, directories, bytes })?;
    } else {
        let (files, directories) =
            (counted(files, "file", "files"), counted(directories, "directory", "directories"));
        print(&format!("{files}, {directories}, {}\n", format_size(bytes)))?;
    }
    lost.tell(&arguments.image)
}
