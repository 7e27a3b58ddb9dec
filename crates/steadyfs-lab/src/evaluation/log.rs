//! The accesses of a log by kind: appends alone, and changes of file.

use crate::units::us;
use serde::{Deserialize, Serialize};

/// The times of one kind of access, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// Number of accesses.
    pub accesses: u64,
    /// Time of all accesses together.
    pub total_ns: u64,
    /// Time of the longest access.
    pub longest_ns: u64,
    /// Largest bound of an access.
    pub bound_ns: u64,
}

impl Kind {
    /// Adds an access.
    pub fn add(&mut self, time_ns: u64, bound_ns: u64) {
        self.accesses += 1;
        self.total_ns += time_ns;
        self.longest_ns = self.longest_ns.max(time_ns);
        self.bound_ns = self.bound_ns.max(bound_ns);
    }
}

/// The times of one kind of access, as a result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindResult {
    /// Number of accesses.
    pub accesses: u64,
    /// Mean access time in microseconds.
    pub mean_us: f64,
    /// Longest access time in microseconds.
    pub max_us: f64,
    /// Largest bound of an access, in microseconds.
    pub bound_us: f64,
}

impl KindResult {
    /// Returns the result of the accesses. Returns `None` if there are none.
    fn of(kind: &Kind) -> Option<Self> {
        (kind.accesses > 0).then(|| Self {
            accesses: kind.accesses,
            mean_us: kind.total_ns as f64 / kind.accesses as f64 / 1e3,
            max_us: us(kind.longest_ns),
            bound_us: us(kind.bound_ns),
        })
    }
}

/// The accesses of a log by kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogResult {
    /// Accesses that only append.
    pub append: KindResult,
    /// Accesses that also remove the oldest file, create a new file, or both.
    pub change: KindResult,
}

impl LogResult {
    /// Returns the result. Returns `None` unless the run has accesses of both kinds.
    pub(super) fn of(writes: &Kind, changes: &Kind) -> Option<Self> {
        let (append, change) = (KindResult::of(writes)?, KindResult::of(changes)?);
        Some(Self { append, change })
    }
}
