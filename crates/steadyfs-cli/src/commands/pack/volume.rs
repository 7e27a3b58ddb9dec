//! `steady pack` of a volume.

use super::arguments::Arguments;
use crate::Failure;
use crate::commands::df::Room;
use crate::commands::tree::counted;
use crate::image::Memory;
use crate::image::archive::Archive;
use crate::image::chip::ChipOptions;
use crate::image::collect;
use crate::image::create::Draft;
use crate::image::import::{self, Directory, Import, Mode};
use crate::image::left_out::{CANNOT_HOLD, LeftOut};
use crate::image::scan::{Scanner, Source};
use crate::image::time::Stamp;
use crate::image::tree::{Files, Item, walk};
use crate::output::{print, print_json};
use crate::progress::Progress;
use serde::Serialize;
use steadyfs::ROOT;
use steadyfs_lab::units::format_size;

#[derive(Serialize)]
struct Summary {
    files: u64,
    directories: u64,
    bytes: u64,
    room: Room,
}

/// Makes a volume of a directory or an archive.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    match arguments.archive()? {
        Some(archive) => of_archive(arguments, archive),
        None => {
            let mut scanner = Scanner::new(arguments.scan);
            let own = scanner.named(&arguments.from, String::new())?;
            let sources = scanner.below(&arguments.from)?;
            pack(arguments, &own, &sources, scanner.left)
        }
    }
}

fn of_archive(arguments: &Arguments, mut archive: Archive) -> Result<(), Failure> {
    let root = Item::new(String::new(), "", archive.look("")?);
    let items = walk(&mut archive, ROOT, "")?;
    let (sources, left) = collect::sources(&archive, items)?;
    pack(arguments, &collect::source(&archive, root)?, &sources, left)
}

fn pack(
    arguments: &Arguments,
    own: &Source<'_>,
    sources: &[Source<'_>],
    mut left: LeftOut,
) -> Result<(), Failure> {
    let packing = arguments.compress.map(|method| method.packing(arguments.chunk)).transpose()?;
    let (draft, chip) = Draft::start(&arguments.image, &arguments.settings)?;
    let mut memory = Memory::default();
    let mut volume = draft.format(chip, &arguments.settings, &mut memory)?;
    let stamp = arguments.stamp()?;
    let mode = Mode {
        keeps_times: stamp == Stamp::OfFiles,
        owner: arguments.owner(),
        is_atomic: false,
        packing,
    };
    if let Stamp::Fixed(ns) = stamp {
        volume.fs.set_time(ns);
    }
    let root = Directory { inode: ROOT, path: String::new() };
    let mut progress = Progress::of(sources.iter().map(|source| source.size).sum(), "pack");
    let mut import = Import { mode, progress: &mut progress, left: &mut left };
    import::own(&mut volume, ROOT, own, &mut import).map_err(|error| volume.fail("", error))?;
    import::all(&mut volume, sources, &root, &mut import)?;
    drop(progress);
    volume.fs.commit().map_err(|error| volume.fail("", error))?;
    let summary = Summary::of(sources, Room::of(&mut volume));
    draft.finish(volume.close(&ChipOptions::default())?)?;
    left.tell(CANNOT_HOLD);
    if arguments.json { print_json(&summary) } else { print(&summary.text()) }
}

impl Summary {
    fn of(sources: &[Source<'_>], room: Room) -> Self {
        let directories = sources.iter().filter(|source| source.is_directory).count() as u64;
        let files = sources.len() as u64 - directories;
        Self { files, directories, bytes: sources.iter().map(|source| source.size).sum(), room }
    }

    fn text(&self) -> String {
        let (files, directories) = (
            counted(self.files, "file", "files"),
            counted(self.directories, "directory", "directories"),
        );
        format!("{files}, {directories}, {}\n\n{}", format_size(self.bytes), self.room.text())
    }
}
