//! `steady df`: shows the room of a volume.

use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::volume::WORN_OUT;
use crate::image::{DiskVolume, Memory, Mounted, Volume};
use crate::output::{print, print_json};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use steadyfs::disk::SECTOR_BYTES;
use steadyfs::media::Flash;
use steadyfs::{Access, Damage, Error, Usage};
use steadyfs_host::damage;
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
    /// Includes the room of removed files.
    pub free_bytes: u64,
    /// Room for a write: the free room without the pages that keep track of it.
    pub available_bytes: u64,
    /// Unit in which room is taken.
    pub logical_bytes: u32,
    /// Files, directories, long names and sets of attributes.
    pub files: u32,
    pub files_max: u32,
    /// RAM that the volume needs on the device.
    pub memory_bytes: u64,
    #[serde(flatten)]
    condition: Condition,
}

/// Room of a disk.
#[derive(Serialize, Debug)]
pub struct DiskRoom {
    pub bytes: u64,
    pub sectors: u32,
    pub sector_bytes: u32,
    /// Unit in which the disk is written and trimmed.
    pub logical_bytes: u32,
    /// Logical pages that were written and not trimmed.
    pub written_bytes: u64,
    /// RAM that the disk needs on the device.
    pub memory_bytes: u64,
    #[serde(flatten)]
    condition: Condition,
}

/// The losses of a volume, and its unsettled state.
#[derive(Serialize, Debug)]
struct Condition {
    /// True if so many blocks are bad that the volume can only be read.
    pub worn_out: bool,
    /// The loss: root, record, journal or leaf; `None` if everything is there.
    pub damage: Option<&'static str>,
    /// True if a mount for writing may decide otherwise about the last commit.
    pub unsettled: bool,
    #[serde(skip)]
    lost: Option<Damage>,
}

impl Condition {
    fn of(worn_out: bool, lost: Option<Damage>, unsettled: bool) -> Self {
        Self { worn_out, damage: lost.map(damage::name), unsettled, lost }
    }

    fn text(&self) -> String {
        let worn_out = self.worn_out.then(|| ("Worn out", WORN_OUT.to_string()));
        let damage = self.lost.map(|lost| ("Damage", damage::describe(lost).to_string()));
        let unsettled = self.unsettled.then(|| ("Unsettled", damage::UNSETTLED.to_string()));
        [worn_out, damage, unsettled].into_iter().flatten().map(|line| facts([line])).collect()
    }
}

impl DiskRoom {
    /// Returns the room of a disk. Checks for each logical page if it was written.
    pub fn of(volume: &mut DiskVolume<'_>) -> Result<Self, Failure> {
        let (sectors, page_sectors) = (volume.disk.sectors(), volume.disk.page_sectors());
        let logical_bytes = page_sectors * SECTOR_BYTES;
        let mut written_bytes = 0;
        for sector in (0..sectors).step_by(page_sectors as usize) {
            // If a page of the map is lost, the logical pages that it maps may have been written.
            let is_written = match volume.disk.is_written(sector) {
                Err(Error::Corrupt) => true,
                result => result.map_err(|error| volume.fail(error))?,
            };
            written_bytes += u64::from(logical_bytes) * u64::from(is_written);
        }
        let health = volume.disk.health();
        let (lost, is_settled) = (volume.disk.damage(), volume.disk.is_settled());
        Ok(Self {
            bytes: u64::from(sectors) * u64::from(SECTOR_BYTES),
            sectors,
            sector_bytes: SECTOR_BYTES,
            logical_bytes,
            written_bytes,
            memory_bytes: volume.disk.config().memory_bytes(&volume.disk.flash().geometry()) as u64,
            condition: Condition::of(
                health.worn_out,
                lost,
                !is_settled && lost.is_none() && !health.worn_out,
            ),
        })
    }

    /// Returns the room as lines of text.
    pub fn text(&self) -> String {
        let share = format_percent(self.written_bytes as f64 / self.bytes.max(1) as f64);
        let written = format!(
            "{}, {share}, in pages of {}",
            format_size(self.written_bytes),
            format_size(self.logical_bytes.into())
        );
        let sectors = format!("{} of {} B", format_count(self.sectors.into()), self.sector_bytes);
        facts([
            ("Disk", format_size(self.bytes)),
            ("Sectors", sectors),
            ("Written", written),
            ("Buffer", format!("{} of RAM, lent at the mount", format_size(self.memory_bytes))),
        ]) + &self.condition.text()
    }
}

impl Room {
    /// Returns the room of a volume.
    pub fn of(volume: &mut Volume<'_>) -> Self {
        let Usage { usable_bytes, used_bytes, logical_bytes, files_max, files } = volume.fs.usage();
        // If the list of removed files is damaged, writes do not find their pages.
        let free_bytes = volume.fs.free_bytes().unwrap_or(usable_bytes - used_bytes);
        let used_bytes = usable_bytes - free_bytes;
        let available_bytes = volume.fs.available().unwrap_or(0);
        let memory_bytes = volume.fs.config().memory_bytes(&volume.fs.flash().geometry()) as u64;
        let condition =
            Condition::of(volume.is_worn_out(), volume.fs.damage(), volume.is_unsettled());
        Self {
            usable_bytes,
            used_bytes,
            free_bytes,
            available_bytes,
            logical_bytes,
            files,
            files_max,
            memory_bytes,
            condition,
        }
    }

    /// Returns the room as lines of text.
    pub fn text(&self) -> String {
        let share = self.used_bytes as f64 / self.usable_bytes.max(1) as f64;
        facts([
            ("Usable", format_size(self.usable_bytes)),
            ("Used", format!("{}, {}", format_size(self.used_bytes), format_percent(share))),
            (
                "Free",
                format!(
                    "{}, in pages of {}",
                    format_size(self.free_bytes),
                    format_size(self.logical_bytes.into())
                ),
            ),
            ("Available", format!("{}, to one file", format_size(self.available_bytes))),
            (
                "Files",
                format!(
                    "{} of {}",
                    format_count(self.files.into()),
                    format_count(self.files_max.into())
                ),
            ),
            ("Buffer", format!("{} of RAM, lent at the mount", format_size(self.memory_bytes))),
        ]) + &self.condition.text()
    }
}

/// Runs `steady df`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut memory = Memory::default();
    match Mounted::examine(&arguments.image, &arguments.chip, Access::ReadOnly, &mut memory)? {
        Mounted::Files(mut volume) => {
            let room = Room::of(&mut volume);
            volume.close(&arguments.chip)?;
            if arguments.json { print_json(&room) } else { print(&room.text()) }
        }
        Mounted::Disk(mut volume) => {
            let room = DiskRoom::of(&mut volume)?;
            volume.close(&arguments.chip)?;
            if arguments.json { print_json(&room) } else { print(&room.text()) }
        }
    }
}
