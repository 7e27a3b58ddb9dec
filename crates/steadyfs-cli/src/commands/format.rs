//! `steady format`: makes an empty volume on a new image.

use super::compress::rule;
use super::df::{DiskRoom, Room};
use crate::Failure;
use crate::image::Memory;
use crate::image::chip::ChipOptions;
use crate::image::create::Draft;
use crate::image::settings::{Settings, other_units};
use crate::output::print;
use clap::Args;
use std::path::PathBuf;
use steadyfs::ROOT;
use steadyfs::media::sectors::{SECTOR_BYTES, SectorLayout};
use steadyfs_host::plain::Rule;
use steadyfs_lab::table::facts;
use steadyfs_lab::units::format_size;

/// Arguments of `steady format`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The image to make; on Linux also an MTD device such as /dev/mtd0, or a card or disk such
    /// as /dev/mmcblk0p2
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// Make a disk of sectors instead of a file system, for FAT, ext4 and others; `steady mount`
    /// shows it as one file
    #[arg(long)]
    disk: bool,
    /// Compress new files if that saves pages: lz4, deflate:LEVEL or zstd:LEVEL, with /64KiB
    /// behind it for larger chunks
    #[arg(long, value_name = "METHOD", value_parser = rule, conflicts_with = "disk")]
    compress: Option<Rule>,
    #[command(flatten)]
    settings: Settings,
}

const AFTER_HELP: &str = "\
Examples:
  steady format card.img --device mt29f1g01abafd
  steady format boot.img --device w25q128jv --block-bytes 4KiB --files-max 100
  steady format disk.img --device mt29f1g01abafd --disk
  steady format card.img --block --size 4GiB
  truncate -s 64M card.img && steady format card.img --block
  steady format /dev/mmcblk0p2 --force
  steady format boot.img --device w25q128jv --erase
  steady format logs.img --device mt29f1g01abafd --compress lz4
  steady format /dev/mtd3 --force";

/// Runs `steady format`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.disk {
        arguments.settings.check_disk()?;
    }
    let (draft, chip) = Draft::start(&arguments.image, &arguments.settings)?;
    let units = chip.sector_layout().map(describe_units);
    let mut memory = Memory::default();
    let (room, chip) = if arguments.disk {
        let mut volume = draft.format_disk(chip, &arguments.settings, &mut memory)?;
        (DiskRoom::of(&mut volume)?.text(), volume.close(&ChipOptions::default())?)
    } else {
        let mut volume = draft.format(chip, &arguments.settings, &mut memory)?;
        if arguments.compress.is_some() {
            let ruled = Rule::set(&mut volume.fs, ROOT, arguments.compress);
            ruled.map_err(|error| volume.fail_content("", error))?;
        }
        (Room::of(&mut volume).text(), volume.close(&ChipOptions::default())?)
    };
    draft.finish(chip)?;
    print(&(room + &units.unwrap_or_default()))
}

/// Describes the allocation unit of a card or disk, and the room that other units would leave for
/// files.
fn describe_units(layout: &SectorLayout) -> String {
    let of_unit = |(unit, usable): (u32, u64)| {
        format!("{} with {}", format_size(usable), format_size(unit.into()))
    };
    let others: Vec<_> = other_units(layout).into_iter().map(of_unit).collect();
    let unit = format_size(u64::from(layout.block_sectors) * SECTOR_BYTES as u64);
    let others = if others.is_empty() {
        String::new()
    } else {
        format!("; usable were {}", others.join(", "))
    };
    facts([("Unit", format!("{unit}{others}"))])
}
