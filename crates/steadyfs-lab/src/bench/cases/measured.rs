//! The input and the result of a case.

use crate::bench::content::Document;
use crate::bench::gauge::Gauge;
use crate::bench::limit::Limit;
use crate::bench::medium::Medium;
use fastrand::Rng;

/// A contender and the other inputs of a case.
pub struct Bench<'b, K> {
    /// The file system. Its volume is in the state that the case requires.
    pub contender: K,
    /// The files on the volume.
    pub documents: Vec<Document>,
    /// The chip.
    pub medium: &'b Medium,
    /// Number of files in the cases with many files.
    pub files: u32,
    /// Time of the chip, in nanoseconds, after which a warm-up or a measurement ends early.
    pub patience_ns: u64,
    /// Source of random places and orders.
    pub rng: Rng,
    /// Receives the completed share now and then.
    pub tick: &'b dyn Fn(f64),
}

/// The result of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The steps.
    pub gauge: Gauge,
    /// Payload of all steps together, for cases whose throughput counts.
    pub bytes: Option<u64>,
    /// Mean physical limit of a step.
    pub limit: Option<Limit>,
}

impl Measured {
    /// Returns the result of a case whose times count. `limit` is the limit of one step.
    pub(super) fn times(gauge: Gauge, limit: Limit) -> Measured {
        Measured { gauge, bytes: None, limit: Some(limit) }
    }

    /// Returns the result of a case whose throughput counts. `limit` is the limit of all steps
    /// together.
    pub(super) fn throughput(gauge: Gauge, bytes: u64, limit: Limit) -> Measured {
        let limit = limit * (1.0 / gauge.steps_ns.len().max(1) as f64);
        Measured { gauge, bytes: Some(bytes), limit: Some(limit) }
    }
}
