//! One run: what is written at which fill, and how the disk uses streams.

use super::options::Options;
use super::way::Way;
use super::workload::{JOBS_MAX, Writes};

/// How often all pages are written at random first, where they are to be mixed up.
pub(super) const MIX_UP: u64 = 4;

/// One run.
#[derive(Clone)]
pub(super) struct Item {
    pub(super) writes: Writes,
    pub(super) fill: f64,
    pub(super) way: Way,
    /// Streams of the disk, where the way has several.
    pub(super) streams: u8,
    /// Stream of each job.
    pub(super) map: [u8; JOBS_MAX],
    pub(super) passes: [u64; 2],
    /// Logical pages that hold something.
    pub(super) pages: u32,
}

impl Item {
    pub(super) fn name(&self) -> String {
        format!("{} at {:.0} %, {}", self.writes, 100.0 * self.fill, self.way)
    }

    /// Pages that are written until it is measured, those included that mix all of them up first.
    pub(super) fn writes(&self, options: &Options) -> u64 {
        let mixed = if options.mixed { MIX_UP } else { 0 };
        u64::from(self.pages) * (1 + mixed + self.passes.iter().sum::<u64>())
    }
}
