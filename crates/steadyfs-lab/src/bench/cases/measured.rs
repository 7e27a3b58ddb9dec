//! What a case is given, and what it gives.

use crate::bench::content::Document;
use crate::bench::gauge::Gauge;
use crate::bench::limit::Limit;
use crate::bench::medium::Medium;
use fastrand::Rng;

/// A contender and what its case needs.
pub struct Bench<'b, K> {
    /// The file system; its volume is as the case wants it.
    pub contender: K,
    /// The files that are there.
    pub documents: Vec<Document>,
    /// The chip.
    pub medium: &'b Medium,
    /// Files of the cases with many of them.
    pub files: u32,
    /// Time of the chip after which warming up, or measuring, ends before its last step; in nanoseconds.
    pub patience_ns: u64,
    /// Source of random places and orders.
    pub rng: Rng,
    /// Told now and then of the share that is done.
    pub tick: &'b dyn Fn(f64),
}

/// What a case measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The steps.
    pub gauge: Gauge,
    /// Payload of all steps together, in cases whose throughput counts.
    pub bytes: Option<u64>,
    /// Physical limit of a step, on average.
    pub limit: Option<Limit>,
}

impl Measured {
    /// A case whose times count; `limit` is that of a step.
    pub(super) fn times(gauge: Gauge, limit: Limit) -> Measured {
        Measured { gauge, bytes: None, limit: Some(limit) }
    }

    /// A case whose throughput counts; `limit` is that of all steps together.
    pub(super) fn throughput(gauge: Gauge, bytes: u64, limit: Limit) -> Measured {
        let limit = limit * (1.0 / gauge.steps_ns.len().max(1) as f64);
        Measured { gauge, bytes: Some(bytes), limit: Some(limit) }
    }
}
