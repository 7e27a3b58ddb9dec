//! `steady df`: the room of a volume.

use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::damage;
use crate::image::volume::WORN_OUT;
use crate::image::{Memory, Volume};
use crate::output::{print, print_json};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use steadyfs::media::Flash;
use steadyfs::{Access, Damage, Usage};
use steadyfs_lab::table::facts;
use steadyfs_lab::units::{format_count, format_percent, format_size};

/// Arguments of `steady df`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// The image
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    chip: ChipOptions,
}

/// The room of a volume.
#[derive(Serialize, Debug)]
pub struct Room {
    pub usable_bytes: u64,
    pub used_bytes: u64,
    /// Room of removed files included.
    pub free_bytes: u64,
    /// What a write gets: free room without the pages that keep track of it.
    pub available_bytes: u64,
    /// Unit in which room is taken.
    pub logical_bytes: u32,
    /// Files, directories, long names and sets of attributes.
    pub files: u32,
    pub files_max: u32,
    /// RAM that the volume needs on the device.
    pub memory_bytes: u64,
    /// Whether so many blocks are bad that the volume can only be read.
    pub worn_out: bool,
    /// What is lost: root, record, journal or leaf; nothing where all is there.
    pub damage: Option<&'static str>,
    /// Whether a mount for writing may show the last commit otherwise.
    pub unsettled: bool,
    #[serde(skip)]
    lost: Option<Damage>,
}

impl Room {
    /// The room of a volume.
    pub fn of(volume: &mut Volume<'_>) -> Self {
        let Usage { usable_bytes, used_bytes, logical_bytes, files_max, files } = volume.fs.usage();
        let used_bytes = used_bytes.saturating_sub(volume.fs.leaving().unwrap_or(0));
        let available_bytes = volume.fs.available().unwrap_or(0);
        let memory_bytes = volume.fs.config().memory_bytes(&volume.fs.flash().geometry()) as u64;
        let free_bytes = usable_bytes.saturating_sub(used_bytes);
        let (worn_out, lost) = (volume.is_worn_out(), volume.fs.damage());
        let damage = lost.map(damage::name);
        Self {
            usable_bytes,
            used_bytes,
            free_bytes,
            available_bytes,
            logical_bytes,
            files,
            files_max,
            memory_bytes,
            worn_out,
            damage,
            unsettled: volume.is_unsettled(),
            lost,
        }
    }

    /// The room as lines of text.
    pub fn text(&self) -> String {
        let share = self.used_bytes as f64 / self.usable_bytes.max(1) as f64;
        let mut room = facts([
            ("Usable", format_size(self.usable_bytes)),
            ("Used", format!("{}, {}", format_size(self.used_bytes), format_percent(share))),
            ("Free", format!("{}, in pages of {}", format_size(self.free_bytes), format_size(self.logical_bytes.into()))),
            ("Available", format!("{}, to one file", format_size(self.available_bytes))),
            ("Files", format!("{} of {}", format_count(self.files.into()), format_count(self.files_max.into()))),
            ("Buffer", format!("{} of RAM, lent at the mount", format_size(self.memory_bytes))),
        ]);
        if self.worn_out {
            room += &facts([("Worn out", WORN_OUT.to_string())]);
        }
        if let Some(lost) = self.lost {
            room += &facts([("Damage", damage::describe(lost).to_string())]);
        }
        if self.unsettled {
            room += &facts([("Unsettled", damage::UNSETTLED.to_string())]);
        }
        room
    }
}

/// Runs `steady df`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut memory = Memory::default();
    let mut volume = Volume::examine(&arguments.image, &arguments.chip, Access::ReadOnly, &mut memory)?;
    let room = Room::of(&mut volume);
    volume.close(&arguments.chip)?;
    if arguments.json { print_json(&room) } else { print(&room.text()) }
}
