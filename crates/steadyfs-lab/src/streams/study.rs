//! The multi-stream paper beside SteadyFS: each number of the paper, and each statement of its
//! figures, measured again.
//!
//! Vishwakarma, Sharma and Kodase wrote 1,400 GB to an eMMC of 64 GB with superblocks of 48 MB.
//! Here two systems write a smaller device as many times over:
//!
//! - *plain*, a translation layer like theirs, with as many superblocks as their device but fewer
//!   pages in each
//! - SteadyFS on the flash of [`EMMC`](super::EMMC)
//!
//! Their text has few results as numbers. Results that are only in its figures cannot be read
//! there, and the study states this.
//!
//! ```text
//!   case           what both systems write                figures    what the paper's text gives as numbers
//!   plain          a case on a plain translation layer    result     the runs and the rows
//!   findings       a row for each number and figure       table      rows for people
//!   rows           what all rows are made of
//!   amplification  those of the write amplification       others     those of time, hosts and memory
//! ```

mod amplification;
mod case;
mod figures;
mod findings;
mod others;
mod plain;
mod result;
mod rows;
mod table;

pub use result::{Finding, Run, Study};

use super::device::Device;
use super::item::Item;
use super::{Options, Row, StreamsError, Way, disk_pages, drive_all};
use case::{AS_SPARE, Case, JOBS, PLAIN, STEADYFS, STREAMS_MAX, cases};
use plain::{BLOCKS, SHOWN_BLOCKS, Shape};
use steadyfs::media::Flash;
use steadyfs::streams::context_stream;

/// Options of the study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyOptions {
    /// Blocks of SteadyFS's chip. Each superblock of the plain layer has a quarter as many pages,
    /// but at least 8. Default 256.
    pub blocks: u32,
    /// Passes over the pages in use, in each run once the device is full. With `None`, the runs of
    /// the paper's jobs write as much as the paper, and the others make 12 passes. Default none.
    pub passes: Option<u64>,
    /// Seed of the places; the same seed gives the same run. Default 1.
    pub seed: u64,
    /// Number of runs at a time. Default: the number of processors of the machine.
    pub threads: usize,
}

impl Default for StudyOptions {
    fn default() -> StudyOptions {
        let Options { seed, threads, .. } = Options::default();
        StudyOptions { blocks: 256, passes: None, seed, threads }
    }
}

/// Makes all runs. `tell` receives the share that is done, and the name of the last run.
///
/// # Errors
/// The first [`StreamsError`].
pub fn run(study: &StudyOptions, tell: &(dyn Fn(f64, &str) + Sync)) -> Result<Study, StreamsError> {
    let options = Options {
        blocks: Some(study.blocks),
        seed: study.seed,
        threads: study.threads,
        ..Options::default()
    };
    let device = Device::of(&options)?;
    let cases = cases(study.passes);
    let (items, kept): (Vec<Item>, Vec<&Case>) =
        items(&cases, &device, &options)?.into_iter().unzip();
    // SteadyFS takes nearly all of the time.
    const SHARE: f64 = 0.9;
    let rows = drive_all(&items, &device, &options, &|share, name| tell(SHARE * share, name))?;
    let mut runs: Vec<Run> =
        kept.iter().zip(rows).map(|(case, row)| of_row(case, row, &device)).collect();
    let pages_per_block = (study.blocks / 4).max(8);
    let spare = runs.first().map_or(0.0, |run| spare_share(run, &device));
    let usual =
        Shape { system: PLAIN, pages_per_block, shown_pages: SHOWN_BLOCKS * pages_per_block };
    let shown_pages = (f64::from(BLOCKS * pages_per_block) / (1.0 + spare)) as u32;
    let as_spare = Shape { system: AS_SPARE, shown_pages, ..usual };
    let endures = |case: &&Case| JOBS.contains(&case.writes) && !case.moved_apart;
    let mut on_plain: Vec<(&Case, &Shape)> = cases.iter().map(|case| (case, &usual)).collect();
    on_plain.extend(cases.iter().filter(endures).map(|case| (case, &as_spare)));
    let timing = device.chip(&options).timing();
    for (index, (case, shape)) in on_plain.iter().enumerate() {
        runs.push(plain::run(case, shape, timing, study.seed));
        tell(
            SHARE + (1.0 - SHARE) * (index + 1) as f64 / on_plain.len() as f64,
            "plain translation layer",
        );
    }
    let scale = findings::scale(&device.geometry, pages_per_block);
    Ok(Study {
        scale,
        seed: study.seed,
        findings: findings::all(&runs, &device.geometry, pages_per_block, spare),
        runs,
    })
}

/// Returns the items of SteadyFS, all on a disk as large as the smallest of theirs.
fn items<'c>(
    cases: &'c [Case],
    device: &Device,
    options: &Options,
) -> Result<Vec<(Item, &'c Case)>, StreamsError> {
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
    // If moves keep streams apart, only the plain layer runs with more streams than SteadyFS has.
    cases.iter().filter(|case| !case.moved_apart || case.ids <= STREAMS_MAX).map(item).collect()
}

/// Returns the run of a row.
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

/// Returns the pages of the chip beyond the pages that SteadyFS shows, for each shown page.
fn spare_share(run: &Run, device: &Device) -> f64 {
    let raw = f64::from(device.geometry.pages_per_block * device.geometry.block_count);
    raw / (f64::from(run.pages) / run.fill) - 1.0
}

#[cfg(test)]
mod tests {
    use super::case::{COUNTS, FILLS};
    use super::*;
    use crate::streams::Writes;

    #[test]
    fn every_number_has_a_row_and_none_is_impossible() {
        let options = StudyOptions { blocks: 192, passes: Some(2), seed: 1, threads: 2 };
        let study = run(&options, &|_, _| {}).unwrap();
        for run in &study.runs {
            // Each written page is programmed at least once. If a share r of all pages is in use, a
            // moved victim has at most the mean number of pages in use of all blocks. So there are
            // at most 1 / (1 - r) programs. SteadyFS also programs its journal, map and roots.
            let is_plain = run.system != STEADYFS;
            let shown = f64::from(SHOWN_BLOCKS) / f64::from(BLOCKS);
            let most = if is_plain {
                1.0 / (1.0 - run.fill * shown) + 1.0
            } else {
                2.0 / (1.0 - run.fill * 0.9)
            };
            assert!((1.0..most).contains(&run.amplification), "{run:?}");
            assert!(run.over_time.len() == 60 && run.mean_us_over_time.len() == 60, "{run:?}");
            assert!(
                run.mean_us <= run.max_us && run.bound_us.is_none_or(|bound| run.max_us <= bound),
                "{run:?}"
            );
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
                assert!(
                    three < one && three < 1.15,
                    "{system}, in order, {fill}: {one} and {three}"
                );
            }
            let by_fill = FILLS.map(|fill| of(system, Writes::Random, 1, fill));
            assert!(by_fill.is_sorted(), "{system}: {by_fill:?}");
            COUNTS.for_each(|ids| assert!(of(system, Writes::Lives, ids, FILLS[0]) > 1.0));
        }
        let parts = study
            .parts()
            .into_iter()
            .map(|(part, rows)| (part.to_string(), rows.len()))
            .collect::<Vec<_>>();
        assert_eq!(
            parts.iter().map(|(_, rows)| rows).sum::<usize>(),
            study.findings.len(),
            "no part comes twice: {parts:?}"
        );
        assert_eq!(
            parts.iter().map(|(_, rows)| *rows).collect::<Vec<_>>(),
            [4, 3, 18, 9, 14, 6, 9, 5, 2],
            "{parts:?}"
        );
        let has_all = |row: &Finding| {
            ![&row.paper, &row.plain, &row.steadyfs, &row.source].iter().any(|cell| cell.is_empty())
        };
        assert!(study.findings.iter().all(has_all));
        let text = study.to_string();
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}
