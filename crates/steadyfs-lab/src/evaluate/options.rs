//! The options of an evaluation: the device, its times, the workload and the sizes.

use crate::allowed::{Allowed, NotAllowed, share};
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

impl Options {
    /// Allowed numbers of measured accesses.
    pub const ACCESSES: Allowed = Allowed::new("accesses", 1..=u64::MAX);
    /// Allowed bytes of a write. A write of no bytes sustains no rate.
    pub const WRITE_BYTES: Allowed = Allowed::new("write_bytes", 1..=1 << 48);
    /// Allowed input rates.
    pub const RATES: Allowed = Allowed::new("rates", 1..=1_000_000_000_000);
    /// Allowed bytes of a burst.
    pub const BURST_BYTES: Allowed = Allowed::new("burst_bytes", 1..=1 << 48);

    /// Checks the options, without the device.
    ///
    /// # Errors
    /// [`NotAllowed`] for the first value that is not allowed.
    pub fn check(&self) -> Result<(), NotAllowed> {
        share("fill", self.fill)?;
        Self::ACCESSES.check(self.accesses)?;
        Self::WRITE_BYTES.check(self.write_bytes)?;
        self.rates.iter().try_for_each(|&rate| Self::RATES.check(rate))?;
        self.idle.map_or(Ok(()), |idle| Self::BURST_BYTES.check(idle.burst_bytes))?;
        self.part.check()
    }
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
    fn options_that_no_run_takes_are_refused_before_it() {
        let idle = Some(Idle { idle_ns: 1, burst_bytes: 0 });
        let part = Part { call_us: 1_000_001, ..Part::default() };
        let cases = [
            (Options { accesses: 0, ..Options::default() }, "accesses is 0; expected at least 1"),
            (Options { write_bytes: 0, ..Options::default() }, "write_bytes is 0; expected at"),
            (Options { fill: 80.0, ..Options::default() }, "fill is 80; expected a share from 0"),
            (Options { rates: vec![5, 0], ..Options::default() }, "rates is 0; expected at least"),
            (Options { idle, ..Options::default() }, "burst_bytes is 0; expected at least 1"),
            (
                Options { part, ..Options::default() },
                "call_us is 1000001; expected at most 1000000",
            ),
        ];
        for (options, expected) in cases {
            let error = crate::evaluate::run(&options, &mut |_, _| {}).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        assert_eq!(Options::default().check(), Ok(()));
    }

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
