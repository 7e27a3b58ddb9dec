//! Another file system beside the run: its access times for the same writes, recorded elsewhere.

use crate::replay::{Trace, TraceError};
use crate::stats::Stats;
use crate::units::{format_count, format_rate, us};
use serde::{Deserialize, Serialize};

/// The access times of another file system.
///
/// For a comparison with a run, they must be those of the same writes on the same chip, in flash
/// time alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Name of the file system for people.
    pub label: String,
    /// Access times in nanoseconds, in order; at least one.
    pub access_ns: Vec<u64>,
    /// Number of refused calls, which have no access time.
    pub refused: u64,
}

/// The numbers of a [`Peer`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// Name of the file system for people.
    pub label: String,
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
    /// Mean throughput in bytes per second for writes as large as those of the run; `None` if no
    /// access takes time.
    pub throughput_bytes_per_s: Option<f64>,
    /// Number of refused calls.
    #[serde(default, skip_serializing_if = "crate::units::is_zero")]
    pub refused: u64,
}

impl Peer {
    /// Makes a peer from a trace. Without a label, its name is the file name of the trace,
    /// without the extension and with spaces for dashes: `fatfs-on-dhara.csv` is
    /// `fatfs on dhara`.
    ///
    /// # Errors
    /// [`Problem::WriteSize`](crate::replay::Problem::WriteSize) if the trace has writes of another
    /// size than `write_bytes`.
    pub fn of_trace(
        label: Option<String>,
        trace: Trace,
        write_bytes: u64,
    ) -> Result<Peer, TraceError> {
        trace.write_bytes(Some(write_bytes))?;
        let stem = || {
            std::path::Path::new(&trace.name)
                .file_stem()
                .map_or(trace.name.clone(), |stem| stem.to_string_lossy().into())
        };
        Ok(Peer {
            label: label.unwrap_or_else(|| stem().replace('-', " ")),
            access_ns: trace.access_ns,
            refused: trace.refused,
        })
    }
}

impl Beside {
    /// Returns the numbers of a peer whose accesses write `write_bytes` each; `None` if it has
    /// no accesses.
    pub fn of(peer: &Peer, write_bytes: u64) -> Option<Beside> {
        let stats = Stats::of(&peer.access_ns)?;
        let throughput = stats.throughput_bytes_per_s(write_bytes);
        Some(Beside {
            label: peer.label.clone(),
            accesses: stats.count as u64,
            mean_us: stats.mean_ns / 1e3,
            p50_us: us(stats.p50_ns),
            p99_us: us(stats.p99_ns),
            p999_us: us(stats.p999_ns),
            max_us: us(stats.max_ns),
            throughput_bytes_per_s: throughput.is_finite().then_some(throughput),
            refused: peer.refused,
        })
    }

    /// Returns the access times of its row: mean, three percentiles and the longest.
    pub(super) fn times(&self) -> [f64; 5] {
        [self.mean_us, self.p50_us, self.p99_us, self.p999_us, self.max_us]
    }

    /// Returns its name, its throughput, and the share of refused calls.
    pub(super) fn throughput(&self) -> String {
        let rate = format_rate(self.throughput_bytes_per_s.unwrap_or(f64::INFINITY));
        format!(
            "{}: {rate}{}",
            self.label,
            refused_text(self.refused, self.accesses)
                .map_or(String::new(), |text| format!(", {text}"))
        )
    }
}

/// Returns the share of refused calls, if there are any.
pub(crate) fn refused_text(refused: u64, accesses: u64) -> Option<String> {
    (refused > 0).then(|| {
        format!("{} of {} refused", format_count(refused), format_count(refused + accesses))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peer_is_called_by_its_file_unless_it_has_a_label() {
        let trace = || Trace {
            name: "docs/peers/fatfs-on-dhara.csv".into(),
            access_ns: vec![1],
            fio: None,
            refused: 0,
        };
        assert_eq!(Peer::of_trace(None, trace(), 4096).unwrap().label, "fatfs on dhara");
        assert_eq!(Peer::of_trace(Some("FatFs-1".into()), trace(), 4096).unwrap().label, "FatFs-1");
        let input =
            Trace { name: "standard input".into(), access_ns: vec![1], fio: None, refused: 0 };
        assert_eq!(Peer::of_trace(None, input, 4096).unwrap().label, "standard input");
    }

    #[test]
    fn numbers_follow_from_the_trace() {
        let peer = Peer { label: "peer".into(), access_ns: vec![1_000_000, 3_000_000], refused: 6 };
        let beside = Beside::of(&peer, 4096).unwrap();
        assert_eq!((beside.accesses, beside.mean_us, beside.max_us), (2, 2_000.0, 3_000.0));
        assert_eq!(beside.throughput(), "peer: 2.05 MB/s, 6 of 8 refused");
        let text = serde_json::to_string(&beside).unwrap();
        assert_eq!(serde_json::from_str::<Beside>(&text).unwrap(), beside);
    }

    #[test]
    fn peer_that_takes_no_time_has_any_throughput_and_one_without_accesses_no_numbers() {
        let peer = |access_ns| Peer { label: "peer".into(), access_ns, refused: 0 };
        let instant = Beside::of(&peer(vec![0, 0]), 4096).unwrap();
        assert_eq!(
            (instant.throughput_bytes_per_s, instant.throughput().as_str()),
            (None, "peer: ∞")
        );
        assert_eq!(Beside::of(&peer(vec![]), 4096), None);
    }
}
