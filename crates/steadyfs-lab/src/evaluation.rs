//! The result of an evaluation: the measurements of a run, the bounds, and the floor.
//!
//! [`Evaluation`] is the JSON that `steady evaluate --json` writes. Its keys are part of the
//! project's interface. A key ends with its unit, and durations are microseconds. `null` means
//! that a run of this rate has no buffer.
//!
//! [`evaluate::run`](crate::evaluate::run) makes an evaluation.
//! [`Report::of_evaluation`](crate::report::Report::of_evaluation) draws it.

mod beside;
mod idle;
mod log;

pub(crate) use beside::refused_text;
pub use beside::{Beside, Peer};
pub use idle::{IdleMeasured, IdleResult, WithoutIdle};
pub use log::{Kind, KindResult, LogResult};

use crate::backlog::{BUFFER_LEGEND, Load, buffer_text, need};
use crate::envelope::{Envelope, guaranteed_left_bytes};
use crate::part::times_of;
use crate::stats::Stats;
use crate::table::{Align, facts, table};
use crate::units::{format_count, format_duration, format_percent, format_rate, format_size, us};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The raw measurements of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Name of the device profile.
    pub device: String,
    /// Name of the timing: `typical` or `maximum`.
    pub timing: String,
    /// Time of the driver for each command, in microseconds. It is part of all times.
    pub call_us: u32,
    /// Share of the usable space in use, from 0 to 1.
    pub fill: f64,
    /// Name of the workload.
    pub workload: String,
    /// Bytes of each write.
    pub write_bytes: u64,
    /// Seed of the workload.
    pub seed: u64,
    /// Access times in nanoseconds, in order; at least one.
    pub access_ns: Vec<u64>,
    /// The accesses with writes alone.
    pub writes: Kind,
    /// The accesses with other calls, which change the file.
    pub changes: Kind,
    /// The promised envelopes of consecutive accesses.
    pub envelopes: Vec<Envelope>,
    /// Pages of caller data written during the measured accesses.
    pub data_pages: u64,
    /// Page reads during the measured accesses.
    pub reads: u64,
    /// Page programs during the measured accesses, including metadata.
    pub programs: u64,
    /// Block erases during the measured accesses.
    pub erases: u64,
    /// Bytes that the volume offers to its user.
    pub usable_bytes: u64,
    /// Bytes of RAM of the file system, including everything.
    pub ram_bytes: u64,
    /// Time of a mount, in nanoseconds.
    pub mount_ns: u64,
    /// Erase count of each good block at the end of the run.
    pub erase_counts: Vec<u32>,
    /// Access times of the floor for the same writes, in nanoseconds; at least one.
    pub floor_ns: Vec<u64>,
    /// Measurements in idle time, if there was any.
    pub idle: Option<IdleMeasured>,
}

impl Measured {
    /// Returns the largest bound of an access, in nanoseconds.
    fn bound_ns(&self) -> u64 {
        self.writes.bound_ns.max(self.changes.bound_ns)
    }
}

/// The spread of the erase counts of all good blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EraseCount {
    /// Erases of the least worn block.
    pub min: u32,
    /// Mean erases of a block.
    pub mean: f64,
    /// Erases of the most worn block.
    pub max: u32,
}

/// The buffer that an input rate needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BacklogRow {
    /// Input rate in bytes per second.
    pub rate: u64,
    /// Most bytes left in the buffer after an access of this run; `None` if the rate is above
    /// 95 % of the mean rate.
    pub bytes: Option<u64>,
    /// Most bytes in the buffer within an access of this run; `None` as above.
    pub peak_bytes: Option<u64>,
    /// Most bytes that can be left after any access of any run, by the promised envelopes;
    /// `None` if no finite number is guaranteed for this rate.
    pub guaranteed_bytes: Option<u64>,
    /// True if the level still grew in the second half of the run: a longer run would need more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grows: bool,
}

/// The result of the floor: a log with the whole map in RAM and free metadata, on the same chip
/// with the same writes. It has at most the moves and erases of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloorResult {
    /// Mean access time in microseconds.
    pub mean_us: f64,
    /// Longest access time in microseconds.
    pub max_us: f64,
    /// Mean throughput in bytes per second.
    pub throughput_bytes_per_s: f64,
}

/// An evaluation of a file system on a device, as JSON and as a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Name of the device profile.
    pub device: String,
    /// Name of the timing: `typical` or `maximum`.
    pub timing: String,
    /// Time of the driver for each command, in microseconds. It is part of all times.
    pub call_us: u32,
    /// Share of the usable space in use, from 0 to 1.
    pub fill: f64,
    /// Name of the workload.
    pub workload: String,
    /// Bytes of each write.
    pub write_bytes: u64,
    /// Number of measured accesses.
    pub accesses: u64,
    /// Seed of the workload.
    pub seed: u64,
    /// Mean access time in microseconds.
    pub mean_us: f64,
    /// Access time in microseconds that half of the accesses do not exceed.
    pub p50_us: f64,
    /// Access time in microseconds that 99 % of the accesses do not exceed.
    pub p99_us: f64,
    /// Access time in microseconds that 99.9 % of the accesses do not exceed.
    pub p999_us: f64,
    /// Longest measured access time, in microseconds.
    pub max_us: f64,
    /// Largest bound of an access, in microseconds.
    pub bound_us: f64,
    /// Mean throughput in bytes per second.
    pub throughput_bytes_per_s: f64,
    /// Pages programmed for each page of data, including metadata and moves.
    pub programs_per_data_page: f64,
    /// Page reads during the measured accesses.
    pub reads: u64,
    /// Page programs during the measured accesses.
    pub programs: u64,
    /// Block erases during the measured accesses.
    pub erases: u64,
    /// Bytes that the volume offers to its user.
    pub usable_bytes: u64,
    /// RAM of the file system in bytes.
    pub ram_bytes: u64,
    /// Time of a mount in microseconds.
    pub mount_us: f64,
    /// The spread of erase counts at the end of the run.
    pub erase_count: EraseCount,
    /// The buffer that each input rate needs.
    pub backlog: Vec<BacklogRow>,
    /// The floor for the same writes; it has no idle time.
    pub floor: FloorResult,
    /// Appends alone, and changes of file; absent if no access of the run changed the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LogResult>,
    /// Idle time between bursts; absent in a run without idle time. All other fields are about
    /// the accesses alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<IdleResult>,
    /// Other file systems beside the run; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
}

impl EraseCount {
    /// Returns the spread of erase counts; zeros if there are no blocks.
    pub fn of(erase_counts: &[u32]) -> EraseCount {
        let total: u64 = erase_counts.iter().map(|&count| u64::from(count)).sum();
        EraseCount {
            min: erase_counts.iter().copied().min().unwrap_or(0),
            mean: total as f64 / erase_counts.len().max(1) as f64,
            max: erase_counts.iter().copied().max().unwrap_or(0),
        }
    }
}

impl Evaluation {
    /// Computes an evaluation from the measurements of a run, with one row of backlog for each
    /// of `rates` (bytes per second).
    ///
    /// Returns `None` if the run or its floor has no accesses.
    pub fn of(run: &Measured, rates: &[u64]) -> Option<Evaluation> {
        let stats = Stats::of(&run.access_ns)?;
        let floor = Stats::of(&run.floor_ns)?;
        let row = |&rate: &u64| {
            let seen = need(&run.access_ns, run.write_bytes, rate);
            BacklogRow {
                rate,
                bytes: seen.map(|need| need.worst.left_bytes),
                peak_bytes: seen.map(|need| need.worst.peak_bytes),
                grows: seen.is_some_and(|need| need.grows),
                guaranteed_bytes: guaranteed_left_bytes(
                    &run.envelopes,
                    run.bound_ns(),
                    run.write_bytes,
                    rate,
                ),
            }
        };
        let idle = match &run.idle {
            Some(idle) => {
                Some(IdleResult::of(idle, &stats, run.write_bytes, run.programs, run.data_pages)?)
            }
            None => None,
        };
        Some(Evaluation {
            device: run.device.clone(),
            timing: run.timing.clone(),
            call_us: run.call_us,
            fill: run.fill,
            workload: run.workload.clone(),
            write_bytes: run.write_bytes,
            accesses: stats.count as u64,
            seed: run.seed,
            mean_us: stats.mean_ns / 1e3,
            p50_us: us(stats.p50_ns),
            p99_us: us(stats.p99_ns),
            p999_us: us(stats.p999_ns),
            max_us: us(stats.max_ns),
            bound_us: us(run.bound_ns()),
            throughput_bytes_per_s: stats.throughput_bytes_per_s(run.write_bytes),
            programs_per_data_page: run.programs as f64 / run.data_pages.max(1) as f64,
            reads: run.reads,
            programs: run.programs,
            erases: run.erases,
            usable_bytes: run.usable_bytes,
            ram_bytes: run.ram_bytes,
            mount_us: us(run.mount_ns),
            erase_count: EraseCount::of(&run.erase_counts),
            backlog: rates.iter().map(row).collect(),
            floor: FloorResult {
                mean_us: floor.mean_ns / 1e3,
                max_us: us(floor.max_ns),
                throughput_bytes_per_s: floor.throughput_bytes_per_s(run.write_bytes),
            },
            log: LogResult::of(&run.writes, &run.changes),
            idle,
            beside: vec![],
        })
    }

    /// Returns the options of the run, in one line, and a second line for idle time.
    pub fn title(&self) -> String {
        let idle = self.idle.map_or_else(String::new, |idle| format!("\n{}", idle.title()));
        format!(
            "{} {} writes of {}, {} full, {}, seed {}{idle}",
            format_count(self.accesses),
            self.workload,
            format_size(self.write_bytes),
            format_percent(self.fill),
            times_of(&self.timing, self.call_us),
            self.seed
        )
    }

    /// Returns the reached share of the floor's throughput.
    pub fn share_of_floor(&self) -> f64 {
        self.throughput_bytes_per_s / self.floor.throughput_bytes_per_s
    }
}

/// Formats a number of bytes as a size, or as a dash if there is none.
pub(crate) fn size_or_dash(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "—".to_string(), format_size)
}

impl Evaluation {
    /// Returns the table of access times.
    fn times(&self) -> String {
        let duration = |us: f64| format_duration(us * 1e3);
        // The bound stands before the observed times.
        let head = ["Access time", "bound", "mean", "p50", "p99", "p99.9", "max"]
            .map(String::from)
            .to_vec();
        let row_with = |name: &str, bound: String, us: &[f64]| -> Vec<String> {
            [name.to_string(), bound].into_iter().chain(us.iter().map(|&us| duration(us))).collect()
        };
        let row = |name: &str, us: &[f64]| row_with(name, String::new(), us);
        let seen = [self.mean_us, self.p50_us, self.p99_us, self.p999_us, self.max_us];
        let name = if self.idle.is_some() { "with idle" } else { "measured" };
        let mut rows = vec![head, row_with(name, duration(self.bound_us), &seen)];
        if let Some(LogResult { append, change }) = &self.log {
            rows.extend([("append alone", append), ("change of file", change)].map(
                |(name, kind)| {
                    let mut cells = row_with(name, duration(kind.bound_us), &[kind.mean_us]);
                    cells.resize(6, String::new());
                    cells.push(duration(kind.max_us));
                    cells
                },
            ));
        }
        if let Some(IdleResult { without, .. }) = &self.idle {
            rows.push(row(
                "without",
                &[without.mean_us, without.p50_us, without.p99_us, without.p999_us, without.max_us],
            ));
        }
        rows.extend(self.beside.iter().map(|beside| row(&beside.label, &beside.times())));
        let mut floor = row("chip's limit", &[self.floor.mean_us, self.floor.max_us]);
        let max = floor.pop();
        floor.resize(6, String::new());
        floor.extend(max);
        rows.push(floor);
        let mut align = vec![Align::Left];
        align.resize(7, Align::Right);
        table(&rows, &align)
    }

    /// Returns the operations of the run and the properties of the volume.
    fn facts(&self) -> String {
        let floor_rate = format_rate(self.floor.throughput_bytes_per_s);
        let rate = format_rate(self.throughput_bytes_per_s);
        // The floor has no idle time, so a share of it would be no fair comparison.
        let throughput = match self.idle {
            Some(_) => format!("{rate} in bursts; the chip's limit without idle time {floor_rate}"),
            None => format!(
                "{rate}, {} of the chip's limit ({floor_rate})",
                format_percent(self.share_of_floor())
            ),
        };
        let operations = format!(
            "{} reads, {} programs, {} erases",
            format_count(self.reads),
            format_count(self.programs),
            format_count(self.erases)
        );
        let wear = self.erase_count;
        let mut lines = vec![("Throughput", throughput)];
        lines.extend(self.beside.iter().map(|beside| ("", beside.throughput())));
        lines.extend([
            ("Programs", format!("{:.2} per data page", self.programs_per_data_page)),
            ("Operations", operations),
        ]);
        lines.extend(self.idle.iter().flat_map(IdleResult::facts));
        lines.extend([
            ("Erase counts", format!("{} to {}, mean {:.1}", wear.min, wear.max, wear.mean)),
            ("Usable", format_size(self.usable_bytes)),
            ("RAM", format_size(self.ram_bytes)),
            ("Mount", format_duration(self.mount_us * 1e3)),
        ]);
        facts(lines)
    }

    /// Returns the table of input rates.
    fn rates(&self) -> String {
        let mut rows =
            vec![["Input rate", "guaranteed", "buffer", "peak"].map(String::from).to_vec()];
        rows.extend(self.backlog.iter().map(|row| {
            let load = Load::of_mean(self.throughput_bytes_per_s, row.rate);
            let seen = [row.bytes, row.peak_bytes].map(|bytes| buffer_text(bytes, row.grows, load));
            let guaranteed = size_or_dash(row.guaranteed_bytes);
            [format_rate(row.rate as f64), guaranteed].into_iter().chain(seen).collect()
        }));
        table(&rows, &[Align::Right; 4])
    }
}

/// Prints the evaluation for people, at most 80 columns wide (except for a longer name of a
/// peer).
impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}\n", self.device, self.title())?;
        writeln!(f, "{}\n{}\n{}", self.times(), self.facts(), self.rates().trim_end())?;
        writeln!(
            f,
            "Guaranteed: the buffer for every run. —: the bounds are too large for this rate.\n\
              Buffer: left after an access. Peak: with the write in progress.\n{BUFFER_LEGEND}"
        )?;
        if self.idle.is_some() {
            writeln!(f, "Data arrives at the rate during bursts, not in idle time.")?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn measured() -> Measured {
        let mut access_ns = vec![1_000_000; 999];
        access_ns.push(9_000_000);
        Measured {
            device: "mt29f1g01abafd".into(),
            timing: "typical".into(),
            call_us: 0,
            fill: 0.8,
            workload: "random".into(),
            write_bytes: 4096,
            seed: 1,
            access_ns,
            writes: Kind { bound_ns: 10_000_000, ..Kind::default() },
            changes: Kind::default(),
            envelopes: vec![Envelope { burst_ns: 9_000_000, rate_ns: 1_100_000 }],
            data_pages: 2_000,
            reads: 5_000,
            programs: 4_120,
            erases: 31,
            usable_bytes: 120_795_955,
            ram_bytes: 11_700,
            mount_ns: 16_000_000,
            erase_counts: vec![3, 4, 8],
            floor_ns: vec![500_000, 1_500_000],
            idle: None,
        }
    }

    /// Returns the same measurements with ten idle times of 20 ms, half of which was used.
    fn with_idle() -> Measured {
        let idle = IdleMeasured {
            idle_ns: 20_000_000,
            burst_bytes: 409_600,
            bursts: 10,
            prepared: 9,
            work_ns: 100_000_000,
            longest_ns: 19_500_000,
            programs: 400,
            erases: 30,
            met: (0, 1),
            met_without: (700, 31),
            without_ns: vec![2_000_000; 10],
            ..IdleMeasured::default()
        };
        Measured { idle: Some(idle), ..measured() }
    }

    #[test]
    fn json_has_exactly_the_promised_keys() {
        let evaluation = Evaluation::of(&measured(), &[1_000_000]).unwrap();
        let json = serde_json::to_value(&evaluation).unwrap();
        let keys = |value: &serde_json::Value| {
            value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
        };
        let sorted = |keys: &str| {
            let mut keys: Vec<_> = keys.split(' ').map(String::from).collect();
            keys.sort();
            keys
        };
        let promised = "device timing call_us fill workload write_bytes accesses seed mean_us \
            p50_us p99_us p999_us max_us bound_us throughput_bytes_per_s programs_per_data_page \
            reads programs erases usable_bytes ram_bytes mount_us erase_count backlog floor";
        assert_eq!(sorted(&keys(&json)), sorted(promised));
        assert_eq!(sorted(&keys(&json["erase_count"])), ["max", "mean", "min"]);
        assert_eq!(
            sorted(&keys(&json["backlog"][0])),
            ["bytes", "guaranteed_bytes", "peak_bytes", "rate"]
        );
        assert_eq!(sorted(&keys(&json["floor"])), ["max_us", "mean_us", "throughput_bytes_per_s"]);
    }

    #[test]
    fn idle_work_is_counted_apart_and_stands_beside_the_run_without() {
        let evaluation = Evaluation::of(&with_idle(), &[1_000_000]).unwrap();
        let idle = evaluation.idle.unwrap();
        assert_eq!((evaluation.mean_us, evaluation.programs_per_data_page), (1_008.0, 2.06));
        assert_eq!(
            (idle.used_share, idle.programs_per_data_page, idle.without.mean_us),
            (0.5, 2.26, 2_000.0)
        );
        assert_eq!(idle.throughput_bytes_per_s, 4_096_000.0 * 1e9 / (1_008e6 + 200e6));
        assert_eq!(
            serde_json::from_str::<Evaluation>(&serde_json::to_string(&evaluation).unwrap())
                .unwrap(),
            evaluation
        );
        let text = evaluation.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for part in [
            "20 ms idle before each 400 KiB",
            "with idle",
            "50 % used",
            "9 of 10 bursts",
            "not in idle time",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn peer_has_a_row_a_throughput_and_a_place_in_the_json() {
        let mut evaluation = Evaluation::of(&measured(), &[1_000_000]).unwrap();
        let peer = Peer {
            label: "fatfs on dhara".into(),
            access_ns: vec![9_000_000, 11_000_000, 16_000_000],
            refused: 0,
        };
        evaluation.beside.extend(Beside::of(&peer, evaluation.write_bytes));
        let text = evaluation.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let row: Vec<_> = text
            .lines()
            .find(|line| line.starts_with("fatfs on dhara"))
            .unwrap()
            .split("  ")
            .filter(|cell| !cell.trim().is_empty())
            .collect();
        assert_eq!((row[1].trim(), *row.last().unwrap()), ("12.000 ms", "16.000 ms"));
        assert!(text.contains("\n                fatfs on dhara: 341.3 kB/s\n"), "{text}");
        let json = serde_json::to_string(&evaluation).unwrap();
        assert!(
            json.contains(r#""beside":[{"label":"fatfs on dhara","accesses":3,"mean_us":12000.0,"#),
            "{json}"
        );
        assert_eq!(serde_json::from_str::<Evaluation>(&json).unwrap(), evaluation);
    }

    #[test]
    fn unbounded_is_null_and_json_is_read_back() {
        let evaluation = Evaluation::of(&measured(), &[500_000, 4_000_000, 100_000_000]).unwrap();
        let text = serde_json::to_string(&evaluation).unwrap();
        assert!(
            text.contains(
                r#"{"rate":100000000,"bytes":null,"peak_bytes":null,"guaranteed_bytes":null}"#
            ),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Evaluation>(&text).unwrap(), evaluation);
    }

    #[test]
    fn numbers_follow_from_the_measurement() {
        let evaluation = Evaluation::of(&measured(), &[1_000_000]).unwrap();
        assert_eq!(
            (evaluation.mean_us, evaluation.p50_us, evaluation.max_us),
            (1_008.0, 1_000.0, 9_000.0)
        );
        assert_eq!(evaluation.p999_us, 1_000.0);
        assert_eq!(evaluation.programs_per_data_page, 2.06);
        assert_eq!(evaluation.erase_count, EraseCount { min: 3, mean: 5.0, max: 8 });
        let row = BacklogRow {
            rate: 1_000_000,
            bytes: Some(9_000 - 4_096),
            peak_bytes: Some(9_000),
            // Ten milliseconds are the longest access. Two would be 20 ms, but the envelope
            // allows 11.2.
            guaranteed_bytes: Some(10_000 - 4_096),
            grows: false,
        };
        assert_eq!(evaluation.backlog, [row]);
        assert!((evaluation.share_of_floor() - 1_000.0 / 1_008.0).abs() < 1e-12);
    }

    #[test]
    fn table_fits_into_80_columns_and_names_everything() {
        let text =
            Evaluation::of(&measured(), &[500_000, 1_000_000, 100_000_000]).unwrap().to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for part in [
            "mt29f1g01abafd",
            "p99.9",
            "bound",
            "of the chip's limit",
            "2.06 per data page",
            "11.4 KiB",
            "—",
            "16.000 ms",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn run_without_accesses_has_no_evaluation() {
        assert_eq!(Evaluation::of(&Measured { access_ns: vec![], ..measured() }, &[]), None);
    }
}
