//! `steady format`: an empty volume on a new image.

use super::df::{DiskRoom, Room};
use crate::Failure;
use crate::image::Memory;
use crate::image::chip::ChipOptions;
use crate::image::create::Draft;
use crate::image::settings::Settings;
use crate::output::print;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `steady format`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The image to make; on Linux also an MTD device such as /dev/mtd0, or a card or disk such as /dev/mmcblk0p2
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// Make a disk of sectors, for FAT, ext4 and others, in place of a file system; `steady mount` shows it as one file
    #[arg(long)]
    disk: bool,
    #[command(flatten)]
    settings: Settings,
}

const AFTER_HELP: &str = "\
Examples:
  steady format card.img --device mt29f1g01abafd
  steady format boot.img --device w25q128jv --block-bytes 4KiB --files-max 100
  steady format disk.img --device mt29f1g01abafd --disk
  steady format card.img --block --size 4GiB
  steady format /dev/mmcblk0p2 --force
  steady format /dev/mtd3 --force";

/// Runs `steady format`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.disk {
        arguments.settings.check_disk()?;
    }
    let (draft, chip) = Draft::start(&arguments.image, &arguments.settings)?;
    let mut memory = Memory::default();
    let (room, chip) = if arguments.disk {
        let mut volume = draft.format_disk(chip, &arguments.settings, &mut memory)?;
        (DiskRoom::of(&mut volume)?.text(), volume.close(&ChipOptions::default())?)
    } else {
        let mut volume = draft.format(chip, &arguments.settings, &mut memory)?;
        (Room::of(&mut volume).text(), volume.close(&ChipOptions::default())?)
    };
    draft.finish(chip)?;
    print(&room)
}
