//! The summary of a replayed trace: statistics, the buffer each input rate needs, the highest rate
//! for a buffer, and the tightest envelopes.
//!
//! Everything here describes one trace. Nothing in it is a guarantee, because a measured trace
//! promises nothing about the next run.
//!
//! [`Summary::of`] summarizes a [`Trace`]; [`Report::of_trace`](crate::report::Report::of_trace)
//! draws the summary.

use crate::backlog::{BUFFER_LEGEND, BufferHolds, Load, buffer_text, highest_rate, need};
use crate::envelope::Envelope;
use crate::replay::Trace;
use crate::stats::Stats;
use crate::table::{Align, facts, table};
use crate::units::{format_count, format_duration, format_rate, format_size};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Points on the curve of tightest envelopes.
const ENVELOPE_POINTS: usize = 6;

/// The buffer that an input rate needs for a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateRow {
    /// Input rate in bytes per second.
    pub rate: u64,
    /// Most bytes left in the buffer after an access; `None` if the rate is above 95 % of the mean
    /// rate.
    pub bytes: Option<u64>,
    /// Most bytes in the buffer within an access; `None` as above.
    pub peak_bytes: Option<u64>,
    /// True if the level still grew in the second half of the trace: a longer one would need more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grows: bool,
}

/// The highest rates for a given buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HighestRate {
    /// Size of the buffer in bytes.
    pub buffer_bytes: u64,
    /// Highest rate in bytes per second if the data being written has RAM of its own.
    pub rate: Option<u64>,
    /// Highest rate in bytes per second if the buffer also holds the data being written.
    pub peak_rate: Option<u64>,
}

/// One of the tightest envelopes: any *n* consecutive accesses take at most
/// `burst_us + n · rate_us`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnvelopeRow {
    /// Microseconds that any run of accesses takes once, beyond the rate.
    pub burst_us: f64,
    /// Microseconds per access.
    pub rate_us: f64,
}

/// The summary of a trace, as JSON and as a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the trace.
    pub trace: String,
    /// Bytes of each write.
    pub write_bytes: u64,
    /// Number of accesses.
    pub accesses: u64,
    /// Mean access time in microseconds.
    pub mean_us: f64,
    /// Access time in microseconds that half of the accesses do not exceed.
    pub p50_us: f64,
    /// Access time in microseconds that 99 % of the accesses do not exceed.
    pub p99_us: f64,
    /// Access time in microseconds that 99.9 % of the accesses do not exceed.
    pub p999_us: f64,
    /// Longest access time in microseconds.
    pub max_us: f64,
    /// Mean throughput in bytes per second; `None` if no access takes time.
    pub throughput_bytes_per_s: Option<f64>,
    /// The buffer that each input rate needs.
    pub backlog: Vec<RateRow>,
    /// The highest rate for a buffer, if a buffer was given.
    pub highest_rate: Option<HighestRate>,
    /// The tightest envelopes of this trace, from its mean to its longest access.
    pub envelope: Vec<EnvelopeRow>,
}

impl Summary {
    /// Summarizes a trace for writes of `write_bytes` at the given input rates (bytes per second).
    /// Finds the highest rate for a buffer of `buffer_bytes` if it is given. Returns `None` if the
    /// trace has no accesses.
    pub fn of(
        trace: &Trace,
        write_bytes: u64,
        rates: &[u64],
        buffer_bytes: Option<u64>,
    ) -> Option<Summary> {
        let access_ns = &trace.access_ns;
        let stats = Stats::of(access_ns)?;
        let row = |&rate: &u64| {
            let seen = need(access_ns, write_bytes, rate);
            RateRow {
                rate,
                bytes: seen.map(|need| need.worst.left_bytes),
                peak_bytes: seen.map(|need| need.worst.peak_bytes),
                grows: seen.is_some_and(|need| need.grows),
            }
        };
        let envelope_row = |envelope: Envelope| EnvelopeRow {
            burst_us: envelope.burst_ns as f64 / 1e3,
            rate_us: envelope.rate_ns as f64 / 1e3,
        };
        let throughput = stats.throughput_bytes_per_s(write_bytes);
        Some(Summary {
            trace: trace.name.clone(),
            write_bytes,
            accesses: stats.count as u64,
            mean_us: stats.mean_ns / 1e3,
            p50_us: stats.p50_ns as f64 / 1e3,
            p99_us: stats.p99_ns as f64 / 1e3,
            p999_us: stats.p999_ns as f64 / 1e3,
            max_us: stats.max_ns as f64 / 1e3,
            throughput_bytes_per_s: throughput.is_finite().then_some(throughput),
            backlog: rates.iter().map(row).collect(),
            highest_rate: buffer_bytes.map(|buffer_bytes| HighestRate {
                buffer_bytes,
                rate: highest_rate(access_ns, write_bytes, buffer_bytes, BufferHolds::Left),
                peak_rate: highest_rate(access_ns, write_bytes, buffer_bytes, BufferHolds::Peak),
            }),
            envelope: Envelope::pareto(access_ns, ENVELOPE_POINTS)
                .into_iter()
                .map(envelope_row)
                .collect(),
        })
    }

    /// Returns one line that describes the replayed trace.
    pub fn title(&self) -> String {
        format!("{} accesses of {}", format_count(self.accesses), format_size(self.write_bytes))
    }
}

/// Formats a rate, or returns words for a rate without limit.
fn rate_or_any(rate: Option<u64>) -> String {
    rate.map_or_else(|| "any rate".to_string(), |rate| format_rate(rate as f64))
}

/// Prints the summary for people, at most 80 columns wide (a longer name of the trace excepted).
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let duration = |us: f64| format_duration(us * 1e3);
        writeln!(f, "{}\n{}\n", self.trace, self.title())?;
        let times = [
            ("mean", self.mean_us),
            ("p50", self.p50_us),
            ("p99", self.p99_us),
            ("p99.9", self.p999_us),
            ("max", self.max_us),
        ];
        let head = std::iter::once("Access time")
            .chain(times.map(|(name, _)| name))
            .map(String::from)
            .collect();
        let row = std::iter::once(String::new()).chain(times.map(|(_, us)| duration(us))).collect();
        let mut align = vec![Align::Left];
        align.resize(6, Align::Right);
        writeln!(f, "{}", table(&[head, row], &align))?;
        let mut lines =
            vec![("Throughput", format_rate(self.throughput_bytes_per_s.unwrap_or(f64::INFINITY)))];
        if let Some(highest) = self.highest_rate {
            let (rate, peak_rate) = (rate_or_any(highest.rate), rate_or_any(highest.peak_rate));
            lines.push((
                "Highest rate",
                format!("{rate} with a buffer of {}", format_size(highest.buffer_bytes)),
            ));
            lines.push(("", format!("{peak_rate} if it holds the write in progress too")));
        }
        writeln!(f, "{}", facts(lines))?;
        let mut rows = vec![["Input rate", "buffer", "peak"].map(String::from).to_vec()];
        let mean = self.throughput_bytes_per_s.unwrap_or(f64::INFINITY);
        rows.extend(self.backlog.iter().map(|row| {
            let text = |bytes| buffer_text(bytes, row.grows, Load::of_mean(mean, row.rate));
            vec![format_rate(row.rate as f64), text(row.bytes), text(row.peak_bytes)]
        }));
        write!(f, "{}", table(&rows, &[Align::Right; 3]))?;
        writeln!(
            f,
            "Buffer: left after an access. Peak: with the write in progress.\n{BUFFER_LEGEND}\n"
        )?;
        let mut rows = vec![["Any n accesses:", "burst", "+ n times"].map(String::from).to_vec()];
        rows.extend(
            self.envelope
                .iter()
                .map(|row| vec![String::new(), duration(row.burst_us), duration(row.rate_us)]),
        );
        write!(f, "{}", table(&rows, &[Align::Left, Align::Right, Align::Right]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> Trace {
        Trace {
            name: "board.csv".into(),
            access_ns: vec![1_000_000, 10_000_000, 1_000_000, 1_000_000, 1_000_000],
            fio: None,
            refused: 0,
        }
    }

    #[test]
    fn summary_tells_buffer_highest_rate_and_envelope() {
        let summary = Summary::of(&trace(), 4096, &[1_000_000, 2_000_000], Some(5_904)).unwrap();
        assert_eq!(
            summary.backlog[0],
            RateRow { rate: 1_000_000, bytes: Some(5_904), peak_bytes: Some(10_000), grows: false }
        );
        assert_eq!(
            summary.backlog[1],
            RateRow { rate: 2_000_000, bytes: None, peak_bytes: None, grows: false }
        );
        let highest = summary.highest_rate.unwrap();
        assert_eq!((highest.rate, highest.peak_rate), (Some(1_000_000), Some(590_400)));
        assert_eq!(
            summary.envelope.first(),
            Some(&EnvelopeRow { burst_us: 7_200.0, rate_us: 2_800.0 })
        );
        assert_eq!(
            summary.envelope.last(),
            Some(&EnvelopeRow { burst_us: 0.0, rate_us: 10_000.0 })
        );
    }

    #[test]
    fn printed_summary_fits_into_80_columns() {
        let text =
            Summary::of(&trace(), 4096, &[500_000, 2_000_000], Some(10_240)).unwrap().to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for part in
            ["board.csv", "5 accesses of 4 KiB", "p99.9", "Highest rate", "above mean", "burst"]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn trace_that_takes_no_time_sustains_any_rate() {
        let instant = Trace { name: "x".into(), access_ns: vec![0, 0], fio: None, refused: 0 };
        let summary = Summary::of(&instant, 4096, &[1_000_000], Some(0)).unwrap();
        assert!(summary.to_string().contains("any rate"));
        let text = serde_json::to_string(&summary).unwrap();
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
    }
}
