//! The options of an evaluation: the device, its times, the workload and the sizes.

use crate::named::{UnknownName, by_name, name_of};
use crate::part::Part;
use std::fmt;
use std::str::FromStr;

/// The kind of the writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Workload {
    /// Overwrites uniformly random places of one file.
    #[default]
    Random,
    /// Appends to a ring of files. It removes the oldest file when the volume reaches its fill.
    Append,
    /// Appends small records to a ring of files.
    Log,
    /// Overwrites a tenth of the places in 90 % of the accesses, and the other places in the
    /// rest.
    Hot,
    /// Overwrites in the fullest block, which costs reclaim most.
    Adversary,
    /// Appends small records to several files. Each append is prepared so that it costs much.
    AdversaryAppend,
}

impl Workload {
    /// All workloads with their names.
    pub const NAMES: [(&'static str, Workload); 6] = [
        ("random", Workload::Random),
        ("append", Workload::Append),
        ("log", Workload::Log),
        ("hot", Workload::Hot),
        ("adversary", Workload::Adversary),
        ("adversary-append", Workload::AdversaryAppend),
    ];

    /// Returns the default bytes of a write: 64 bytes for records in a log and for the adversary
    /// that appends, 4,096 for the others.
    pub fn default_write_bytes(self) -> u64 {
        if matches!(self, Workload::Log | Workload::AdversaryAppend) { 64 } else { 4096 }
    }
}

impl FromStr for Workload {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Workload, UnknownName> {
        by_name(&Workload::NAMES, text)
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(&Workload::NAMES, self))
    }
}

/// Idle time between bursts of accesses, in which the volume prepares the next burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Length of each idle time in nanoseconds. More lets fewer accesses contain moves and
    /// erases.
    pub idle_ns: u64,
    /// Bytes written between two idle times. More leaves more work for each. Default 256 KiB.
    pub burst_bytes: u64,
}

/// Default bytes of a burst.
pub const DEFAULT_BURST_BYTES: u64 = 256 << 10;

/// The options of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Name of a device profile, or path of a profile in TOML. Default `mt29f1g01abafd`.
    pub device: String,
    /// Share of the usable space in use, from 0 to 1. More makes reclaim dearer. Default 0.8.
    pub fill: f64,
    /// Number of measured accesses. More finds rarer sequences and takes longer. Default 20,000.
    pub accesses: u64,
    /// Bytes of each write. Default [`Workload::default_write_bytes`].
    pub write_bytes: u64,
    /// Input rates in bytes per second for which the buffer is computed. Default 100 and
    /// 500 kB/s, 1 and 2 MB/s.
    pub rates: Vec<u64>,
    /// Part of the device to use, and its times. Default all, with typical times.
    pub part: Part,
    /// Workload of the run. Default random.
    pub workload: Workload,
    /// Seed of the workload. The same seed gives the same run. Default 1.
    pub seed: u64,
    /// Idle time between bursts. Default none: access follows access.
    pub idle: Option<Idle>,
}

/// Default input rates, in bytes per second.
pub const DEFAULT_RATES: [u64; 4] = [100_000, 500_000, 1_000_000, 2_000_000];

impl Default for Options {
    fn default() -> Options {
        Options {
            device: "mt29f1g01abafd".to_string(),
            fill: 0.8,
            accesses: 20_000,
            write_bytes: Workload::default().default_write_bytes(),
            rates: DEFAULT_RATES.to_vec(),
            part: Part::default(),
            workload: Workload::default(),
            seed: 1,
            idle: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for (name, workload) in Workload::NAMES {
            assert_eq!((name.parse(), workload.to_string().as_str()), (Ok(workload), name));
        }
        let error = "sorted".parse::<Workload>().unwrap_err().to_string();
        let expected = "random, append, log, hot, adversary, adversary-append";
        assert_eq!(error, format!("found `sorted`, expected one of {expected}"));
    }
}
