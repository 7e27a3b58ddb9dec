//! Checks which pages of a disk can still be read.

use super::findings::{Missing, lines};
use super::superblocks;
use crate::Failure;
use crate::commands::tree::counted;
use crate::image::chip::ChipOptions;
use crate::image::volume::WORN_OUT;
use crate::image::{DiskVolume, Mounted};
use crate::output::{print, print_json};
use serde::Serialize;
use steadyfs::Error;
use steadyfs::disk::SECTOR_BYTES;
use steadyfs_host::damage;
use steadyfs_lab::units::format_count;

#[derive(Serialize)]
struct Summary {
    #[serde(flatten)]
    missing: Missing,
    sectors: u32,
    /// Logical pages that were read.
    pages: u32,
    /// True if so many blocks are bad that the volume can only be read.
    worn_out: bool,
    /// True if a mount for writing may decide otherwise about the last commit.
    unsettled: bool,
    findings: Vec<String>,
}

/// Reads the whole disk. With `repair`, first accepts the damage that the mount found. Returns
/// the number of findings, and the number of mended ones.
pub fn run(
    mut volume: DiskVolume<'_>,
    repair: bool,
    json: bool,
    chip: &ChipOptions,
) -> Result<(u64, u32), Failure> {
    let lost = volume.disk.damage();
    if repair && lost.is_some() {
        match volume.disk.repair() {
            // Damage that cannot be accepted is reported below.
            Ok(()) | Err(Error::Corrupt) => {}
            Err(error) => return Err(volume.fail(error)),
        }
    }
    let missing = Missing::of(lost, volume.disk.damage());
    let (pages, mut findings) = read_all(&mut volume)?;
    let sectors = volume.disk.sectors();
    let volume = Mounted::Disk(volume);
    let (worn_out, unsettled) = (volume.health().worn_out, volume.is_unsettled());
    let damaged = superblocks::find(volume.close(chip)?, repair);
    let rewritten = u32::from(damaged.as_ref().is_some_and(|damaged| damaged.mended));
    findings.extend(damaged.map(|damaged| damaged.text));
    let counts = (findings.len() as u64 + missing.count(), u32::from(missing.repaired) + rewritten);
    let summary = Summary { missing, sectors, pages, worn_out, unsettled, findings };
    if json {
        print_json(&summary)?
    } else {
        print(&summary.text())?
    }
    Ok(counts)
}

/// Reads every logical page that was written. Returns their number, and a finding for each page
/// that cannot be read.
fn read_all(volume: &mut DiskVolume<'_>) -> Result<(u32, Vec<String>), Failure> {
    let page_sectors = volume.disk.page_sectors();
    let (mut pages, mut findings) = (0, Vec::new());
    let mut data = vec![0; (page_sectors * SECTOR_BYTES) as usize];
    for first in (0..volume.disk.sectors()).step_by(page_sectors as usize) {
        let result = match volume.disk.is_written(first) {
            Ok(false) => continue,
            Ok(true) => volume.disk.read(first, &mut data),
            Err(error) => Err(error),
        };
        match result {
            Ok(()) => {}
            Err(Error::Corrupt) => findings
                .push(format!("sectors {first} to {} cannot be read", first + page_sectors - 1)),
            Err(error) => return Err(volume.fail(error)),
        }
        pages += 1;
    }
    Ok((pages, findings))
}

impl Summary {
    fn text(&self) -> String {
        let findings = self.missing.line() + &lines(&self.findings);
        let is_sound = self.findings.is_empty() && self.missing.lost.is_none();
        format!(
            "{findings}a disk of {} sectors, {}: {}\n{}{}",
            format_count(self.sectors.into()),
            counted(self.pages.into(), "page", "pages"),
            if is_sound { "sound" } else { "damaged" },
            if self.worn_out { format!("worn out: {WORN_OUT}\n") } else { String::new() },
            if self.unsettled {
                format!("unsettled: {}\n", damage::UNSETTLED)
            } else {
                String::new()
            }
        )
    }
}
