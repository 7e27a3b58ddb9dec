//! The effect of idle time between bursts: its work, and the accesses with it and without it.

use crate::stats::Stats;
use crate::units::{format_count, format_duration, format_percent, format_rate, format_size, us};
use serde::{Deserialize, Serialize};

/// The measurements of a run with idle time, beside its accesses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IdleMeasured {
    /// Length of each idle time in nanoseconds.
    pub idle_ns: u64,
    /// Bytes of a burst.
    pub burst_bytes: u64,
    /// Number of bursts, each with one idle time before it.
    pub bursts: u64,
    /// Number of bursts for which everything was prepared.
    pub prepared: u64,
    /// Time of the work in all idle times together, in nanoseconds.
    pub work_ns: u64,
    /// Longest work in one idle time, in nanoseconds.
    pub longest_ns: u64,
    /// Page reads in idle time.
    pub reads: u64,
    /// Page programs in idle time.
    pub programs: u64,
    /// Block erases in idle time.
    pub erases: u64,
    /// Number of accesses in which a page was moved, and in which a block was erased.
    pub met: (u64, u64),
    /// The same numbers without idle time.
    pub met_without: (u64, u64),
    /// Access times of the same workload, just before, without idle time; at least one.
    pub without_ns: Vec<u64>,
}

/// The work of the volume in the idle time between bursts, and its effect on the accesses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IdleResult {
    /// Length of each idle time in microseconds.
    pub idle_us: f64,
    /// Bytes written between two idle times.
    pub burst_bytes: u64,
    /// Number of bursts.
    pub bursts: u64,
    /// Number of bursts before which the volume prepared everything.
    pub prepared_bursts: u64,
    /// Share of the idle time that was used, from 0 to 1.
    pub used_share: f64,
    /// Longest work in one idle time, in microseconds; never more than `idle_us`.
    pub longest_us: f64,
    /// Page reads in idle time.
    pub reads: u64,
    /// Page programs in idle time.
    pub programs: u64,
    /// Block erases in idle time.
    pub erases: u64,
    /// Pages programmed for each page of data, including those in idle time.
    pub programs_per_data_page: f64,
    /// Bytes per second when bursts and whole idle times alternate.
    pub throughput_bytes_per_s: f64,
    /// Number of accesses in which a page was moved.
    pub accesses_with_moves: u64,
    /// Number of accesses in which a block was erased.
    pub accesses_with_erases: u64,
    /// The same workload without idle time.
    pub without: WithoutIdle,
}

/// Accesses without idle time, on the same volume just before those with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WithoutIdle {
    /// Mean access time in microseconds.
    pub mean_us: f64,
    /// Access time in microseconds that half of the accesses do not exceed.
    pub p50_us: f64,
    /// Access time in microseconds that 99 % of the accesses do not exceed.
    pub p99_us: f64,
    /// Access time in microseconds that 99.9 % of the accesses do not exceed.
    pub p999_us: f64,
    /// Longest access time seen, in microseconds.
    pub max_us: f64,
    /// Number of accesses in which a page was moved.
    pub accesses_with_moves: u64,
    /// Number of accesses in which a block was erased.
    pub accesses_with_erases: u64,
}

impl IdleResult {
    /// Computes the result. The run of `accesses` programmed `programs` pages for `data_pages`
    /// of data.
    pub(super) fn of(
        idle: &IdleMeasured,
        accesses: &Stats,
        write_bytes: u64,
        programs: u64,
        data_pages: u64,
    ) -> Option<IdleResult> {
        let without = Stats::of(&idle.without_ns)?;
        let given_ns = (idle.bursts * idle.idle_ns) as f64;
        let busy_ns = accesses.mean_ns * accesses.count as f64;
        let bytes = accesses.count as f64 * write_bytes as f64;
        Some(IdleResult {
            idle_us: us(idle.idle_ns),
            burst_bytes: idle.burst_bytes,
            bursts: idle.bursts,
            prepared_bursts: idle.prepared,
            used_share: if given_ns > 0.0 { idle.work_ns as f64 / given_ns } else { 0.0 },
            longest_us: us(idle.longest_ns),
            reads: idle.reads,
            programs: idle.programs,
            erases: idle.erases,
            programs_per_data_page: (programs + idle.programs) as f64 / data_pages.max(1) as f64,
            throughput_bytes_per_s: bytes * 1e9 / (busy_ns + given_ns).max(1.0),
            accesses_with_moves: idle.met.0,
            accesses_with_erases: idle.met.1,
            without: WithoutIdle {
                mean_us: without.mean_ns / 1e3,
                p50_us: us(without.p50_ns),
                p99_us: us(without.p99_ns),
                p999_us: us(without.p999_ns),
                max_us: us(without.max_ns),
                accesses_with_moves: idle.met_without.0,
                accesses_with_erases: idle.met_without.1,
            },
        })
    }

    /// Returns the length of the idle times and of the bursts, in a few words.
    pub fn title(&self) -> String {
        // The time is given, not measured: it needs no thousandths.
        let idle = format_duration(self.idle_us * 1e3).replacen(".000 ", " ", 1);
        format!("{idle} idle before each {}", format_size(self.burst_bytes))
    }

    /// Returns the work of the idle times, as facts for people.
    pub(super) fn facts(&self) -> [(&'static str, String); 4] {
        let met =
            |with, without| format!("{} (without {})", format_count(with), format_count(without));
        [
            (
                "Idle time",
                format!(
                    "{} used, at most {} at once; {} of {} bursts prepared",
                    format_percent(self.used_share),
                    format_duration(self.longest_us * 1e3),
                    format_count(self.prepared_bursts),
                    format_count(self.bursts)
                ),
            ),
            (
                "Idle work",
                format!(
                    "{} reads, {} programs, {} erases",
                    format_count(self.reads),
                    format_count(self.programs),
                    format_count(self.erases)
                ),
            ),
            (
                "Accesses met",
                format!(
                    "moves {}, erases {}",
                    met(self.accesses_with_moves, self.without.accesses_with_moves),
                    met(self.accesses_with_erases, self.without.accesses_with_erases)
                ),
            ),
            (
                "With idle time",
                format!(
                    "{}, {:.2} programs per data page",
                    format_rate(self.throughput_bytes_per_s),
                    self.programs_per_data_page
                ),
            ),
        ]
    }
}
