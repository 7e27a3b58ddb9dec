//! The cases: the workloads of both systems, and their numbers of streams.

use super::figures;
use crate::streams::workload::JOBS_MAX;
use crate::streams::{Way, Writes};

/// Names of the systems.
pub(super) const PLAIN: &str = "plain";
/// The plain layer, with as large a share of spare pages as SteadyFS has.
pub(super) const AS_SPARE: &str = "plain, spare as SteadyFS";
pub(super) const STEADYFS: &str = "steadyfs";
/// Maximum number of streams of a SteadyFS disk.
pub(super) const STREAMS_MAX: u8 = 4;
/// Shares of the device that are in use.
pub(super) const FILLS: [f64; 3] = [0.8, 0.9, 0.97];
/// Workloads of the endurance run: the paper's jobs, as far as its text describes them.
pub(super) const JOBS: [Writes; 3] = [Writes::Sequential, Writes::Random, Writes::Rates];
/// Numbers of streams for which the paper shows the gain.
pub(super) const COUNTS: std::ops::RangeInclusive<u8> = 1..=8;
/// Passes over the pages, in cases other than the endurance run.
const PASSES: u64 = 12;

/// A case: a workload of both systems.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) writes: Writes,
    pub(super) fill: f64,
    /// Streams that the jobs name.
    pub(super) ids: u8,
    /// True if moved pages also keep to blocks of their stream.
    pub(super) moved_apart: bool,
    /// Passes over the pages after the fill.
    pub(super) passes: u64,
}

impl Case {
    /// Returns the stream that a job names. Neighbours share a stream if there are fewer streams
    /// than jobs.
    pub(super) fn id_of(&self, job: u8) -> u8 {
        let jobs = if self.writes == Writes::Lives { JOBS_MAX as u8 } else { 3 };
        (u16::from(job.min(jobs - 1)) * u16::from(self.ids) / u16::from(jobs)) as u8
    }

    /// Returns the number of streams of SteadyFS in this case.
    pub(super) fn streams(&self) -> u8 {
        self.ids.min(STREAMS_MAX)
    }

    pub(super) fn way(&self) -> Way {
        match (self.ids, self.moved_apart) {
            (1, _) => Way::One,
            (_, false) => Way::Given,
            (_, true) => Way::GivenAged,
        }
    }
}

/// Returns the passes after the fill that write as much as the paper, for the size of the device.
fn endurance_passes(fill: f64) -> u64 {
    (figures::WRITTEN_GB / figures::CAPACITY_GB / fill).round() as u64 - 1
}

/// Returns the cases, in the order of their runs.
pub(super) fn cases(passes: Option<u64>) -> Vec<Case> {
    let mut cases = Vec::new();
    for writes in JOBS {
        for fill in FILLS {
            let passes = passes.unwrap_or(endurance_passes(fill));
            let ways = [(1, false), (3, false), (3, true)];
            cases.extend(ways.map(|(ids, moved_apart)| Case {
                writes,
                fill,
                ids,
                moved_apart,
                passes,
            }));
        }
    }
    let usual = Case {
        writes: Writes::Lives,
        fill: FILLS[0],
        ids: 1,
        moved_apart: false,
        passes: passes.unwrap_or(PASSES),
    };
    cases.extend(COUNTS.map(|ids| Case { ids, ..usual.clone() }));
    cases.extend(COUNTS.skip(1).map(|ids| Case { ids, moved_apart: true, ..usual.clone() }));
    for writes in [Writes::F2fs, Writes::Sqlite] {
        cases.extend([1, 3].map(|ids| Case { writes, ids, ..usual.clone() }));
    }
    cases
}
