//! One run: the workload, the fill, and the use of streams by the disk.

use super::options::Options;
use super::way::Way;
use super::workload::{JOBS_MAX, Writes};

/// Number of times that all pages are written at random first, if they must be mixed up.
pub(super) const MIX_UP: u64 = 4;

/// One run.
#[derive(Clone)]
pub(super) struct Item {
    pub(super) writes: Writes,
    pub(super) fill: f64,
    pub(super) way: Way,
    /// Streams of the disk, if the way has several.
    pub(super) streams: u8,
    /// Stream of each job.
    pub(super) map: [u8; JOBS_MAX],
    pub(super) passes: [u64; 2],
    /// Logical pages that are in use.
    pub(super) pages: u32,
}

impl Item {
    pub(super) fn name(&self) -> String {
        format!("{} at {:.0} %, {}", self.writes, 100.0 * self.fill, self.way)
    }

    /// Returns the number of pages that the run writes in all, with the pages that mix up the disk
    /// first.
    pub(super) fn writes(&self, options: &Options) -> u64 {
        let mixed = if options.mixed { MIX_UP } else { 0 };
        u64::from(self.pages) * (1 + mixed + self.passes.iter().sum::<u64>())
    }
}
