//! What happens to a chip meanwhile: time passes, everything is scrubbed now and then, and somebody writes down how worn it is.

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

/// Moments that are written down while the erases are used up.
const MOMENTS: f64 = 200.0;
/// Shares of all erases at which the erase counts of all blocks are written down, beside the end.
pub const QUARTERS: [f64; 3] = [0.25, 0.5, 0.75];

/// How worn the chip was at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Writes since the volume was filled.
    pub writes: u64,
    /// Erases so far, in percent of those that the endurance allows.
    pub erases_percent: f64,
    /// The least erase count of a block of data that works.
    pub erases_min: u32,
    /// The mean of them.
    pub erases_mean: f64,
    /// The most.
    pub erases_max: u32,
    /// Blocks that have failed.
    pub bad_blocks: u32,
}

/// What happens beside the accesses.
pub struct Course {
    clock: Clock,
    /// Rounds of scrubbing.
    pub scrubs: u64,
    /// Blocks that were weak after them, together.
    pub weak_blocks: u64,
    /// Share of all erases that was used when the volume had shrunk below the fill; nothing if it never had.
    pub shrunk_at: Option<f64>,
    /// Blocks of the superblocks and of the ring, which hold no data.
    reserved: BTreeSet<BlockIndex>,
    /// Moments in order.
    pub moments: Vec<Moment>,
    /// Erase counts of all blocks at each of the quarters that came.
    pub quarters: Vec<Vec<u32>>,
    /// Writes and share of the erases when the first block had failed.
    pub first_bad: Option<(u64, f64)>,
}

impl Course {
    /// The course of a volume whose superblocks and ring lie in these blocks.
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

    /// Lets time pass, and does what is due; tells the share of the erases that is used.
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
        if options.scrub_days > 0 && u64::from(self.clock.days() / options.scrub_days) > self.scrubs {
            fs.scrub(Budget::TimeNs(u64::MAX)).map_err(|error| EvaluateError::Idle { access, error })?;
            self.scrubs += 1;
            self.weak_blocks += u64::from(fs.health().weak_blocks);
        }
        Ok(share)
    }

    /// Writes down what is due at a share of the erases.
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

    /// Writes down the end.
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
        let counts = (0..).zip(counts).filter(|(block, _)| !self.reserved.contains(block) && !bad.contains(block));
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

/// Erase counts of all blocks.
pub fn erase_counts(tracker: &TagTracker<LifeChip>) -> Vec<u32> {
    tracker.chip().inner().inner().erase_counts()
}
