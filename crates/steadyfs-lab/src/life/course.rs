//! The course of a life: time passes, scrubs run now and then, and the wear of the blocks is
//! recorded.

use super::Options;
use super::chip::{Clock, LifeChip};
use super::spread::Spread;
use crate::evaluate::EvaluateError;
use crate::evaluate::checker::Volume;
use crate::evaluate::tracker::TagTracker;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use steadyfs::Budget;
use steadyfs::media::BlockIndex;

/// Number of moments that are recorded while the erases are used up.
const MOMENTS: f64 = 200.0;
/// Shares of all erases at which the erase counts of all blocks are recorded, beside the end.
pub const QUARTERS: [f64; 3] = [0.25, 0.5, 0.75];

/// The wear of the chip at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Writes since the volume was filled.
    pub writes: u64,
    /// Erases so far, in percent of the erases that the endurance allows.
    pub erases_percent: f64,
    /// The least erase count of the working data blocks.
    pub erases_min: u32,
    /// The mean erase count of the working data blocks.
    pub erases_mean: f64,
    /// The highest erase count of the working data blocks.
    pub erases_max: u32,
    /// Number of blocks that have failed.
    pub bad_blocks: u32,
}

/// The events beside the accesses.
pub struct Course {
    clock: Clock,
    /// Number of scrubs.
    pub scrubs: u64,
    /// Number of weak blocks after scrubs, summed over all scrubs.
    pub weak_blocks: u64,
    /// Used share of all erases when the volume had shrunk below the fill; nothing if it did not
    /// shrink so far.
    pub shrunk_at: Option<f64>,
    /// Blocks of the superblocks and of the ring, which hold no data.
    reserved: BTreeSet<BlockIndex>,
    /// Moments in order.
    pub moments: Vec<Moment>,
    /// Erase counts of all blocks at each of the `QUARTERS` that came.
    pub quarters: Vec<Vec<u32>>,
    /// Number of writes and used share of the erases when the first block had failed.
    pub first_bad: Option<(u64, f64)>,
}

impl Course {
    /// Returns the course of a volume whose superblocks and ring lie in the `reserved` blocks.
    pub fn new(options: &Options, reserved: impl IntoIterator<Item = BlockIndex>) -> Course {
        Course {
            clock: Clock::new(options),
            scrubs: 0,
            weak_blocks: 0,
            shrunk_at: None,
            reserved: reserved.into_iter().collect(),
            moments: Vec::new(),
            quarters: Vec::new(),
            first_bad: None,
        }
    }

    /// Advances the time and does the work that is due. Returns the used share of the erases.
    pub fn look(
        &mut self,
        fs: &mut Volume<'_, '_, LifeChip>,
        options: &Options,
        fill_bytes: u64,
        access: u64,
    ) -> Result<f64, EvaluateError> {
        let share = self.clock.follow(fs.flash_mut().chip_mut());
        let usage = fs.usage();
        if usage.usable_bytes < fill_bytes + u64::from(usage.logical_bytes) {
            self.shrunk_at.get_or_insert(share);
        }
        self.note(fs.flash(), share, access);
        if options.scrub_days > 0 && u64::from(self.clock.days() / options.scrub_days) > self.scrubs
        {
            fs.scrub(Budget::TimeNs(u64::MAX))
                .map_err(|error| EvaluateError::Idle { access, error })?;
            self.scrubs += 1;
            self.weak_blocks += u64::from(fs.health().weak_blocks);
        }
        Ok(share)
    }

    /// Records the values that are due at a share of the erases.
    fn note(&mut self, tracker: &TagTracker<LifeChip>, share: f64, access: u64) {
        if self.first_bad.is_none() && tracker.chip().grown_bad().next().is_some() {
            self.first_bad = Some((access, share));
        }
        if QUARTERS.get(self.quarters.len()).is_some_and(|&quarter| share >= quarter) {
            self.quarters.push(erase_counts(tracker));
        }
        if share * MOMENTS >= self.moments.len() as f64 {
            self.moment(tracker, share, access);
        }
    }

    /// Records the end.
    pub fn end(&mut self, tracker: &TagTracker<LifeChip>, options: &Options, access: u64) {
        let erases: u64 = erase_counts(tracker).into_iter().map(u64::from).sum();
        let share = erases as f64 / options.erase_budget().max(1) as f64;
        if self.first_bad.is_none() && tracker.chip().grown_bad().next().is_some() {
            self.first_bad = Some((access, share));
        }
        self.moment(tracker, share, access);
    }

    fn moment(&mut self, tracker: &TagTracker<LifeChip>, share: f64, writes: u64) {
        let bad: BTreeSet<_> = tracker.chip().grown_bad().collect();
        let counts = erase_counts(tracker);
        let counts = (0..)
            .zip(counts)
            .filter(|(block, _)| !self.reserved.contains(block) && !bad.contains(block));
        let spread = Spread::of(counts.map(|(_, count)| count));
        self.moments.push(Moment {
            writes,
            erases_percent: 100.0 * share,
            erases_min: spread.min,
            erases_mean: spread.mean,
            erases_max: spread.max,
            bad_blocks: bad.len() as u32,
        });
    }
}

/// Returns the erase counts of all blocks.
pub fn erase_counts(tracker: &TagTracker<LifeChip>) -> Vec<u32> {
    tracker.chip().inner().inner().erase_counts()
}
