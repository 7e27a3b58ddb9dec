//! Rows of the latency over time, of hosts that name lifetimes of data, and of the resources of
//! streams.

use super::case::{FILLS, JOBS, PLAIN, STEADYFS, STREAMS_MAX};
use super::figures::{BLOCK_RAM_BYTES, CODE_BYTES, F2FS, NUMBERS, RAM_BYTES, SQLITE};
use super::result::{Finding, Run};
use super::rows::{FIGURE, NOTHING, Runs, change, finding, range, times, words};
use crate::streams::Writes;
use crate::units::format_percent;
use std::collections::BTreeSet;
use steadyfs::streams::{F2fsLog, SqliteFile, context_stream, f2fs_stream};

/// The logs of F2FS and the files of SQLite, in the order of the paper's tables.
const LOGS: [F2fsLog; 6] = [
    F2fsLog::HotNode,
    F2fsLog::WarmNode,
    F2fsLog::ColdNode,
    F2fsLog::HotData,
    F2fsLog::WarmData,
    F2fsLog::ColdData,
];
const FILES: [SqliteFile; 9] = [
    SqliteFile::RollbackJournal,
    SqliteFile::SuperJournal,
    SqliteFile::Wal,
    SqliteFile::SharedMemory,
    SqliteFile::StatementJournal,
    SqliteFile::TempDatabase,
    SqliteFile::Materialization,
    SqliteFile::TransientIndex,
    SqliteFile::VacuumDatabase,
];

/// Returns all rows.
pub(super) fn all(runs: &Runs) -> Vec<Finding> {
    [over_time(runs), hosts(runs), resources(runs)].concat()
}

fn over_time(runs: &Runs) -> Vec<Finding> {
    const SOURCE: &str = "sections 7 and 9";
    let fill = FILLS[1];
    let part = format!("Latency at {}, 1 stream → 3", format_percent(fill));
    let mut groups = [Vec::new(), Vec::new(), Vec::new()];
    for writes in JOBS {
        let pair = |system| runs.pair(system, writes, fill);
        let what = |what: &str| (format!("{what}, {}", words(writes)), SOURCE);
        let mean = |system| times(pair(system), |run| run.mean_us);
        groups[0].push(finding(
            &part,
            what("Mean"),
            [FIGURE.into(), mean(PLAIN), mean(STEADYFS)],
            "Both have the chip's typical times for a page of 4 KiB. SteadyFS has durable writes \
             and more spare pages. The plain layer loses its map in a power cut.",
        ));
        let longest = |system| times(pair(system), |run| run.max_us);
        groups[1].push(finding(
            &part,
            what("Longest"),
            [FIGURE.into(), longest(PLAIN), longest(STEADYFS)],
            "The plain layer cleans only when it must, whole superblocks within one write. \
             SteadyFS does a share in each write.",
        ));
        let swings = |system| pair(system).map(|run| format!("{:.2}", swing(run))).join(" → ");
        groups[2].push(finding(
            &part,
            what("Swing"),
            ["\"consistent\"".into(), swings(PLAIN), swings(STEADYFS)],
            "In the second half of the run: the mean of the slowest sixtieth, divided by the mean \
             of the fastest. 1 is steady.",
        ));
    }
    groups.concat()
}

/// Returns the greatest mean of a part in the run's second half, divided by the least.
fn swing(run: &Run) -> f64 {
    let (least, most) = range(&run.mean_us_over_time[run.mean_us_over_time.len() / 2..]);
    if least > 0.0 { most / least } else { 1.0 }
}

fn hosts(runs: &Runs) -> Vec<Finding> {
    const PART: &str = "Hosts that name lifetimes";
    const NONE: &str = "The paper claims a gain for such hosts and does not measure it.";
    let waf = |system, writes| change(runs.pair(system, writes, FILLS[0]), |run| run.amplification);
    let full = format_percent(FILLS[0]);
    let logs = LOGS
        .iter()
        .zip(F2FS)
        .filter(|&(&log, stream)| f2fs_stream(log, STREAMS_MAX) == stream)
        .count();
    let files = FILES
        .iter()
        .zip(SQLITE)
        .filter(|&(file, stream)| file.stream(STREAMS_MAX) == stream)
        .count();
    let streams: BTreeSet<u8> =
        (1..=NUMBERS).map(|number| context_stream(number, STREAMS_MAX)).collect();
    let at_rest = match runs.find(PLAIN, Writes::Sqlite, FILLS[0], 1, false).amplification < 1.01 {
        true => {
            " The plain layer has more spare pages than the databases have pages, so it moves \
             nothing."
        }
        false => "",
    };
    vec![
        finding(
            PART,
            ("F2FS: logs with the paper's stream", "table 2"),
            [F2FS.len().to_string(), NOTHING.into(), logs.to_string()],
            "",
        ),
        finding(
            PART,
            (format!("F2FS-like, WAF, {full}, 1 → 3"), "section 7.1"),
            ["a gain".into(), waf(PLAIN, Writes::F2fs), waf(STEADYFS, Writes::F2fs)],
            format!(
                "{NONE} The shares of the six logs are assumed here. Pages that F2FS itself moves \
                 count as written."
            ),
        ),
        finding(
            PART,
            ("SQLite: files with the paper's stream", "table 3"),
            [SQLITE.len().to_string(), NOTHING.into(), files.to_string()],
            "",
        ),
        finding(
            PART,
            (format!("SQLite, recorded, WAF, {full}, 1 → 3"), "section 7.2"),
            ["a gain".into(), waf(PLAIN, Writes::Sqlite), waf(STEADYFS, Writes::Sqlite)],
            format!(
                "{NONE} Two databases, with a rollback journal and with a write-ahead log.{at_rest}"
            ),
        ),
        finding(
            PART,
            ("Numbers that a command may give", "section 4"),
            [NUMBERS.to_string(), NOTHING.into(), NUMBERS.to_string()],
            format!(
                "All numbers are accepted. They map to {} streams, beside the stream of data \
                 without a number.",
                streams.len()
            ),
        ),
    ]
}

fn resources(runs: &Runs) -> Vec<Finding> {
    const PART: &str = "Resources of four streams";
    let ram = |ids| runs.find(STEADYFS, Writes::Lives, FILLS[0], ids, false).ram_bytes.unwrap_or(0);
    let more = ram(STREAMS_MAX).saturating_sub(ram(1));
    vec![
        finding(
            PART,
            ("RAM, beyond one stream", "abstract, section 4"),
            [format!("{RAM_BYTES} B"), NOTHING.into(), format!("{more} B")],
            format!(
                "The paper has {BLOCK_RAM_BYTES} B for each active block, without its transfer \
                 buffers. SteadyFS has no buffer for a stream."
            ),
        ),
        finding(
            PART,
            ("Code", "abstract"),
            [format!("{CODE_BYTES} B"), NOTHING.into(), "see docs/results/footprint.md".into()],
            "A build for a Cortex-M measures it, not this run. It includes the mount, which finds \
             the streams again.",
        ),
    ]
}
