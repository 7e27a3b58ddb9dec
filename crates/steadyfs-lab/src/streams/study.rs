//! The multi-stream paper beside SteadyFS: each of its numbers, and what its figures show, measured again.
//!
//! Vishwakarma, Sharma and Kodase wrote 1,400 GB to an eMMC of 64 GB with superblocks of 48 MB. Here two systems write as often over a device that is smaller: *plain*, a translation
//! layer as theirs, with as many superblocks as their device has but fewer pages in each; and SteadyFS on the flash of [`EMMC`](super::EMMC). Their text gives few results as numbers; what is
//! in its figures alone cannot be read there, and is said to be so.
//!
//! ```text
//!   plain          a case on a plain translation layer    figures    what the paper's text gives as numbers
//!   findings       a row for each number and figure       table      rows for people
//!   amplification  those of the write amplification       others     those of time, hosts and memory
//! ```

mod amplification;
mod figures;
mod findings;
mod others;
mod plain;
mod table;

use super::workload::JOBS_MAX;
use super::{Device, Item, Options, Row, StreamsError, Way, Writes, disk_pages, drive_all};
use plain::{BLOCKS, SHOWN_BLOCKS, Shape};
use serde::{Deserialize, Serialize};
use steadyfs::media::Flash;
use steadyfs::streams::context_stream;

/// Names of the systems.
pub(super) const PLAIN: &str = "plain";
/// The plain layer, with as large a share of spare pages as SteadyFS has.
pub(super) const AS_SPARE: &str = "plain, spare as SteadyFS";
pub(super) const STEADYFS: &str = "steadyfs";
/// Streams that a SteadyFS disk has at most.
const STREAMS_MAX: u8 = 4;
/// Shares of the device that hold something.
pub(super) const FILLS: [f64; 3] = [0.8, 0.9, 0.97];
/// What the endurance run writes: the paper's jobs as far as its text tells of them.
pub(super) const JOBS: [Writes; 3] = [Writes::Sequential, Writes::Random, Writes::Rates];
/// Numbers of streams of which the paper shows the gain.
pub(super) const COUNTS: std::ops::RangeInclusive<u8> = 1..=8;
/// Passes over the pages of cases other than the endurance run.
const PASSES: u64 = 12;

/// What is run.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyOptions {
    /// Blocks of SteadyFS's chip; the superblocks of the plain layer have a quarter as many pages, 8 at least. Default 256.
    pub blocks: u32,
    /// Passes over the pages in use, in each run once the device is full; `None` for as many as write what the paper has written. Default none.
    pub passes: Option<u64>,
    /// Seed of the places; the same seed gives the same run. Default 1.
    pub seed: u64,
    /// Runs at a time. Default as many as the machine has processors.
    pub threads: usize,
}

impl Default for StudyOptions {
    fn default() -> StudyOptions {
        let Options { seed, threads, .. } = Options::default();
        StudyOptions { blocks: 256, passes: None, seed, threads }
    }
}

/// One run of one of the systems.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// `plain`, that with as many spare pages as SteadyFS has, or `steadyfs`.
    pub system: String,
    /// Name of [`Writes`].
    pub writes: String,
    /// Share of the device that holds something.
    pub fill: f64,
    /// Streams that the jobs name.
    pub ids: u8,
    /// Streams that the device keeps apart.
    pub streams: u8,
    /// Whether moved pages keep to blocks of their stream.
    pub moved_apart: bool,
    /// Logical pages that hold something.
    pub pages: u32,
    /// How many times the device was written, the first fill included.
    pub written_times: f64,
    /// Pages programmed for each page written, since the device was filled.
    pub amplification: f64,
    /// Erases for each block.
    pub erases_per_block: f64,
    /// Mean time of a write, in microseconds.
    pub mean_us: f64,
    /// The longest write.
    pub max_us: f64,
    /// The longest that was promised; the plain layer promises nothing.
    pub bound_us: Option<f64>,
    /// RAM of the disk; not counted for the plain layer.
    pub ram_bytes: Option<u64>,
    /// Amplification in each of 60 equal parts of the run.
    pub over_time: Vec<f64>,
    /// Mean time of a write in each of these parts, in microseconds.
    pub mean_us_over_time: Vec<f64>,
}

/// A number or a figure of the paper, and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What it belongs to: a section of the table.
    pub part: String,
    /// What it is.
    pub what: String,
    /// Where in the paper it stands.
    pub source: String,
    /// What the paper has: a number, or that it stands in a figure alone.
    pub paper: String,
    /// What the plain layer has; `–` where there is nothing to be measured.
    pub plain: String,
    /// What SteadyFS has.
    pub steadyfs: String,
    /// Why they differ; empty where they do not.
    pub why: String,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// What the two devices are, and how they are scaled.
    pub scale: String,
    /// Seed of the places.
    pub seed: u64,
    /// The numbers and figures.
    pub findings: Vec<Finding>,
    /// The runs behind them.
    pub runs: Vec<Run>,
}

/// A case: what both systems write.
#[derive(Clone, Debug)]
pub(super) struct Case {
    writes: Writes,
    fill: f64,
    /// Streams that the jobs name.
    ids: u8,
    /// Whether moved pages keep to blocks of their stream as well.
    moved_apart: bool,
    /// Times the pages that are written once they are filled.
    passes: u64,
}

impl Case {
    /// The stream that a job names: neighbours share one where there are fewer than jobs.
    fn id_of(&self, job: u8) -> u8 {
        let jobs = if self.writes == Writes::Lives { JOBS_MAX as u8 } else { 3 };
        (u16::from(job.min(jobs - 1)) * u16::from(self.ids) / u16::from(jobs)) as u8
    }

    /// Streams that SteadyFS has for so many.
    fn streams(&self) -> u8 {
        self.ids.min(STREAMS_MAX)
    }

    fn way(&self) -> Way {
        match (self.ids, self.moved_apart) {
            (1, _) => Way::One,
            (_, false) => Way::Given,
            (_, true) => Way::GivenAged,
        }
    }
}

/// Passes after the fill until as much is written, for the size of the device, as the paper's.
fn endurance_passes(fill: f64) -> u64 {
    (figures::WRITTEN_GB / figures::CAPACITY_GB / fill).round() as u64 - 1
}

/// The cases, in the order of their runs.
fn cases(passes: Option<u64>) -> Vec<Case> {
    let mut cases = Vec::new();
    for writes in JOBS {
        for fill in FILLS {
            let passes = passes.unwrap_or(endurance_passes(fill));
            let ways = [(1, false), (3, false), (3, true)];
            cases.extend(ways.map(|(ids, moved_apart)| Case { writes, fill, ids, moved_apart, passes }));
        }
    }
    let usual = Case { writes: Writes::Lives, fill: FILLS[0], ids: 1, moved_apart: false, passes: passes.unwrap_or(PASSES) };
    cases.extend(COUNTS.map(|ids| Case { ids, ..usual.clone() }));
    cases.extend(COUNTS.skip(1).map(|ids| Case { ids, moved_apart: true, ..usual.clone() }));
    for writes in [Writes::F2fs, Writes::Sqlite] {
        cases.extend([1, 3].map(|ids| Case { writes, ids, ..usual.clone() }));
    }
    cases
}

/// Runs all of it. `tell` hears the share that is done, and what was run last.
///
/// # Errors
/// The first one of [`StreamsError`].
pub fn run(study: &StudyOptions, tell: &(dyn Fn(f64, &str) + Sync)) -> Result<Study, StreamsError> {
    let options = Options { blocks: Some(study.blocks), seed: study.seed, threads: study.threads, ..Options::default() };
    let device = Device::of(&options)?;
    let cases = cases(study.passes);
    let (items, kept): (Vec<Item>, Vec<&Case>) = items(&cases, &device, &options)?.into_iter().unzip();
    // SteadyFS takes nearly all of the time.
    const SHARE: f64 = 0.9;
    let rows = drive_all(&items, &device, &options, &|share, name| tell(SHARE * share, name))?;
    let mut runs: Vec<Run> = kept.iter().zip(rows).map(|(case, row)| of_row(case, row, &device)).collect();
    let pages_per_block = (study.blocks / 4).max(8);
    let spare = runs.first().map_or(0.0, |run| spare_share(run, &device));
    let usual = Shape { system: PLAIN, pages_per_block, shown_pages: SHOWN_BLOCKS * pages_per_block };
    let shown_pages = (f64::from(BLOCKS * pages_per_block) / (1.0 + spare)) as u32;
    let as_spare = Shape { system: AS_SPARE, shown_pages, ..usual };
    let endures = |case: &&Case| JOBS.contains(&case.writes) && !case.moved_apart;
    let mut on_plain: Vec<(&Case, &Shape)> = cases.iter().map(|case| (case, &usual)).collect();
    on_plain.extend(cases.iter().filter(endures).map(|case| (case, &as_spare)));
    let timing = device.chip(&options).timing();
    for (index, (case, shape)) in on_plain.iter().enumerate() {
        runs.push(plain::run(case, shape, timing, study.seed));
        tell(SHARE + (1.0 - SHARE) * (index + 1) as f64 / on_plain.len() as f64, "plain translation layer");
    }
    let scale = findings::scale(&device.geometry, pages_per_block);
    Ok(Study { scale, seed: study.seed, findings: findings::all(&runs, &device.geometry, pages_per_block, spare), runs })
}

/// The items of SteadyFS: all on a disk that is as large as the smallest of theirs.
fn items<'c>(cases: &'c [Case], device: &Device, options: &Options) -> Result<Vec<(Item, &'c Case)>, StreamsError> {
    let mut disk = u32::MAX;
    for (way, streams) in [(Way::One, 1), (Way::Given, STREAMS_MAX), (Way::GivenAged, 3)] {
        disk = disk.min(disk_pages(way.config(&device.geometry, streams), device, options)?);
    }
    let item = |case: &'c Case| {
        let pages = (f64::from(disk) * case.fill) as u32;
        let needed = case.writes.pages_min();
        if pages < needed {
            return Err(StreamsError::TooSmall { pages, needed });
        }
        let item = Item {
            writes: case.writes,
            fill: case.fill,
            way: case.way(),
            streams: case.streams(),
            map: std::array::from_fn(|job| context_stream(case.id_of(job as u8), case.streams())),
            passes: [0, case.passes],
            pages,
        };
        Ok((item, case))
    };
    // More streams than it has are more of the plain layer alone.
    cases.iter().filter(|case| !case.moved_apart || case.ids <= STREAMS_MAX).map(item).collect()
}

/// The run of a row.
fn of_row(case: &Case, row: Row, device: &Device) -> Run {
    Run {
        system: STEADYFS.to_string(),
        writes: row.writes,
        fill: row.fill,
        ids: case.ids,
        streams: case.streams(),
        moved_apart: case.moved_apart,
        pages: row.pages,
        written_times: (1 + case.passes) as f64 * case.fill,
        amplification: row.amplification,
        erases_per_block: row.erases as f64 / f64::from(device.geometry.block_count),
        mean_us: row.mean_us,
        max_us: row.max_us,
        bound_us: Some(row.bound_us),
        ram_bytes: Some(row.ram_bytes),
        over_time: row.over_time,
        mean_us_over_time: row.mean_us_over_time,
    }
}

/// Pages of the chip beyond those that SteadyFS shows, for each of these.
fn spare_share(run: &Run, device: &Device) -> f64 {
    let raw = f64::from(device.geometry.pages_per_block * device.geometry.block_count);
    raw / (f64::from(run.pages) / run.fill) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_row_and_none_is_impossible() {
        let options = StudyOptions { blocks: 192, passes: Some(2), seed: 1, threads: 2 };
        let study = run(&options, &|_, _| {}).unwrap();
        for run in &study.runs {
            // A page that is written is programmed once at least. Where a share r of all pages is in use, a victim that is moved has no more than the mean
            // of all blocks in use, so that there are at most 1 / (1 - r) programs; SteadyFS has journal, map and roots beside them.
            let is_plain = run.system != STEADYFS;
            let shown = f64::from(SHOWN_BLOCKS) / f64::from(BLOCKS);
            let most = if is_plain { 1.0 / (1.0 - run.fill * shown) + 1.0 } else { 2.0 / (1.0 - run.fill * 0.9) };
            assert!((1.0..most).contains(&run.amplification), "{run:?}");
            assert!(run.over_time.len() == 60 && run.mean_us_over_time.len() == 60, "{run:?}");
            assert!(run.mean_us <= run.max_us && run.bound_us.is_none_or(|bound| run.max_us <= bound), "{run:?}");
        }
        let of = |system: &str, writes: Writes, ids, fill| {
            let is_it = |run: &&Run| {
                (run.system.as_str(), run.writes.as_str(), run.ids) == (system, writes.name(), ids)
                    && run.fill == fill
                    && !run.moved_apart
            };
            study.runs.iter().find(is_it).unwrap().amplification
        };
        for system in [PLAIN, STEADYFS] {
            for fill in FILLS {
                let [one, three] = [1, 3].map(|ids| of(system, Writes::Sequential, ids, fill));
                assert!(three < one && three < 1.15, "{system}, in order, {fill}: {one} and {three}");
            }
            let by_fill = FILLS.map(|fill| of(system, Writes::Random, 1, fill));
            assert!(by_fill.is_sorted(), "{system}: {by_fill:?}");
            COUNTS.for_each(|ids| assert!(of(system, Writes::Lives, ids, FILLS[0]) > 1.0));
        }
        let parts = study.parts().into_iter().map(|(part, rows)| (part.to_string(), rows.len())).collect::<Vec<_>>();
        assert_eq!(parts.iter().map(|(_, rows)| rows).sum::<usize>(), study.findings.len(), "no part comes twice: {parts:?}");
        assert_eq!(parts.iter().map(|(_, rows)| *rows).collect::<Vec<_>>(), [4, 3, 18, 9, 14, 6, 9, 5, 2], "{parts:?}");
        let has_all = |row: &Finding| ![&row.paper, &row.plain, &row.steadyfs, &row.source].iter().any(|cell| cell.is_empty());
        assert!(study.findings.iter().all(has_all));
        let text = study.to_string();
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}
