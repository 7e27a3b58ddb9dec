//! The result: the used share of the erases, their distribution, and the lost data.

use super::Options;
use super::audit::Audit;
use super::chip::LifeChip;
use super::course::{Moment, erase_counts};
use super::spread::Spread;
use super::wear_out::Worn;
use crate::evaluate::tracker::TagTracker;
use crate::table::facts;
use crate::units::{format_count, format_percent, format_size};
use serde::{Deserialize, Serialize};
use std::fmt;
use steadyfs::media::Flash;

/// The result of a life.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Life {
    /// Name of the device profile.
    pub device: String,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Number of pages of a block.
    pub pages_per_block: u32,
    /// Number of erase blocks.
    pub blocks: u32,
    /// Number of erases that a block endures.
    pub endurance: u32,
    /// Maximum percentage by which the lives of blocks differ from the endurance.
    pub spread_percent: u32,
    /// Share of the usable space in use.
    pub fill: f64,
    /// Name of the workload.
    pub workload: String,
    /// Bytes of each write.
    pub write_bytes: u64,
    /// Years that the erases were spread over.
    pub years: f64,
    /// Seed of the run.
    pub seed: u64,
    /// Reason for which the volume could not go on.
    pub end: String,
    /// Erases of all blocks together.
    pub erases: u64,
    /// Erases in percent of the erases that the endurance allows.
    pub erases_percent: f64,
    /// Erases, in the same percent, when the volume had shrunk so far that it had no room for
    /// the fill. If it did not shrink so far, the value of `erases_percent`.
    pub fill_held_percent: f64,
    /// True if the volume had made itself read-only.
    pub read_only: bool,
    /// Number of blocks that failed.
    pub bad_blocks: u32,
    /// Number of blocks that the volume reports as bad.
    pub known_bad_blocks: u32,
    /// The largest erase count that the volume reports.
    pub known_erases_max: u32,
    /// Number of scrubs.
    pub scrubs: u64,
    /// Number of weak blocks after scrubs, summed over all scrubs.
    pub weak_blocks: u64,
    /// Erase counts of the blocks that hold the ring of roots.
    pub ring_erases: Spread,
    /// Erase counts of all other blocks, without the two of the superblocks.
    pub other_erases: Spread,
    /// Reads in which the ECC corrected bits.
    pub corrected_reads: u64,
    /// Reads that the ECC could not correct.
    pub uncorrectable_reads: u64,
    /// Writes after the volume was filled.
    pub writes: u64,
    /// Bytes of these writes.
    pub written_bytes: u64,
    /// Page programs and copies for each of these writes.
    pub programs_per_write: f64,
    /// Usable bytes of the volume when it was new.
    pub usable_bytes: u64,
    /// Number of writes when the first block had failed, in steps of 64; nothing if no block has
    /// failed.
    pub first_bad_writes: Option<u64>,
    /// Erases until then, in percent of all erases that the endurance allows.
    pub first_bad_percent: Option<f64>,
    /// Result of the check of the committed data.
    pub audit: Audit,
    /// Wear of the chip in two hundred steps of the erases, and at the end.
    pub moments: Vec<Moment>,
    /// Erase counts of all blocks when a quarter, a half and three quarters of all erases were
    /// used, and at the end.
    pub block_erases: Vec<Vec<u32>>,
    /// Blocks that failed.
    pub bad: Vec<u32>,
    /// Blocks of the ring of roots.
    pub ring: Vec<u32>,
}

impl Life {
    pub(super) fn of(
        device: &str,
        options: &Options,
        tracker: &TagTracker<LifeChip>,
        worn: &Worn,
        audit: Audit,
    ) -> Life {
        let chip = tracker.chip();
        let counts = erase_counts(tracker);
        let erases: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let (ring, others): (Vec<_>, Vec<_>) = (0..options.blocks)
            .filter(|block| !worn.superblocks.contains(block))
            .partition(|block| worn.ring.contains(block));
        let spread =
            |blocks: Vec<u32>| Spread::of(blocks.into_iter().map(|block| counts[block as usize]));
        let tally = chip.inner().tally();
        let percent = |erases: f64| 100.0 * erases / options.erase_budget() as f64;
        Life {
            device: device.to_string(),
            page_bytes: tracker.geometry().page_bytes,
            pages_per_block: options.pages_per_block,
            blocks: options.blocks,
            endurance: options.endurance,
            spread_percent: options.spread_percent,
            fill: options.fill,
            workload: options.workload.to_string(),
            write_bytes: options.write_bytes,
            years: options.years,
            seed: options.seed,
            end: worn.end.to_string(),
            erases,
            erases_percent: percent(erases as f64),
            fill_held_percent: worn.course.shrunk_at.map_or(percent(erases as f64), percent_of),
            read_only: worn.health.read_only,
            bad_blocks: chip.grown_bad().count() as u32,
            known_bad_blocks: worn.health.bad_blocks,
            known_erases_max: worn.health.erases_max,
            scrubs: worn.course.scrubs,
            weak_blocks: worn.course.weak_blocks,
            ring_erases: spread(ring),
            other_erases: spread(others),
            corrected_reads: tally.corrected_reads,
            uncorrectable_reads: tally.uncorrectable_reads,
            writes: worn.accesses,
            written_bytes: worn.accesses * options.write_bytes,
            programs_per_write: worn.programs as f64 / worn.accesses.max(1) as f64,
            usable_bytes: worn.usable_bytes,
            first_bad_writes: worn.course.first_bad.map(|(writes, _)| writes),
            first_bad_percent: worn.course.first_bad.map(|(_, share)| percent_of(share)),
            audit,
            moments: worn.course.moments.clone(),
            block_erases: worn.course.quarters.iter().cloned().chain([counts]).collect(),
            bad: chip.grown_bad().collect(),
            ring: worn.ring.clone(),
        }
    }
}

fn percent_of(share: f64) -> f64 {
    100.0 * share
}

/// Prints the table for people, at most 100 columns wide, except the end.
impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.title())?;
        f.write_str(&facts(self.facts()))
    }
}

impl Life {
    /// Returns the options of the run, in two lines.
    pub fn title(&self) -> String {
        let block_bytes = u64::from(self.page_bytes) * u64::from(self.pages_per_block);
        format!(
            "{}: {} blocks of {}, {} erases each (± {} %), {} usable\n\
             {}, fill {}, {} a write, {} years, seed {}",
            self.device,
            self.blocks,
            format_size(block_bytes),
            format_count(self.endurance.into()),
            self.spread_percent,
            format_size(self.usable_bytes),
            self.workload,
            format_percent(self.fill),
            format_size(self.write_bytes),
            self.years,
            self.seed
        )
    }

    /// Returns the results as names and values.
    pub fn facts(&self) -> [(&'static str, String); 11] {
        let written = format!(
            "{} in {} writes, {:.2} programs each",
            format_size(self.written_bytes),
            format_count(self.writes),
            self.programs_per_write
        );
        [
            ("End", self.end.clone()),
            ("Erases used", format!("{:.1} %, {}", self.erases_percent, format_count(self.erases))),
            ("Fill held", format!("until {:.1} % of the erases", self.fill_held_percent)),
            ("Data blocks", format!("{} erases (least / mean / most)", self.other_erases)),
            ("Ring", format!("{} erases", self.ring_erases)),
            ("First bad block", self.first_bad()),
            (
                "Bad blocks",
                format!(
                    "{}, of which the volume recorded {}",
                    self.bad_blocks, self.known_bad_blocks
                ),
            ),
            (
                "Reads",
                format!(
                    "{} corrected, {} uncorrectable",
                    format_count(self.corrected_reads),
                    format_count(self.uncorrectable_reads)
                ),
            ),
            (
                "Scrubs",
                format!(
                    "{}, {} weak blocks",
                    format_count(self.scrubs),
                    format_count(self.weak_blocks)
                ),
            ),
            ("Written", written),
            ("Lost", self.lost()),
        ]
    }

    /// Returns the moment when the first block failed, as text.
    fn first_bad(&self) -> String {
        match self.first_bad_writes.zip(self.first_bad_percent) {
            None => "none".to_string(),
            Some((writes, percent)) => format!(
                "after {}, {percent:.1} % of the erases",
                format_size(writes * self.write_bytes)
            ),
        }
    }

    /// Returns the result of the check, as text.
    pub fn lost(&self) -> String {
        let bytes = format_size(self.audit.bytes);
        match &self.audit.first_loss {
            None if self.audit.files == 1 => format!("nothing of {bytes} in 1 file"),
            None => format!("nothing of {bytes} in {} files", format_count(self.audit.files)),
            Some(loss) => {
                format!("{} of {bytes}; first {loss}", format_size(self.audit.lost_bytes))
            }
        }
    }
}
