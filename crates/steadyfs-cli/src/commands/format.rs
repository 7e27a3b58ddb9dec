//! `steady format`: an empty volume on a new image.

use super::df::Room;
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
    /// The image to make; on Linux also an MTD device such as /dev/mtd0
    #[arg(value_name = "IMG")]
    image: PathBuf,
    #[command(flatten)]
    settings: Settings,
}

const AFTER_HELP: &str = "\
Examples:
  steady format card.img --device mt29f1g01abafd
  steady format boot.img --device w25q128jv --block-bytes 4KiB --files-max 100
  steady format /dev/mtd3 --force";

/// Runs `steady format`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (draft, chip) = Draft::start(&arguments.image, &arguments.settings)?;
    let mut memory = Memory::default();
    let mut volume = draft.format(chip, &arguments.settings, &mut memory)?;
    let room = Room::of(&mut volume);
    draft.finish(volume, &ChipOptions::default())?;
    print(&room.text())
}
