//! The plan of a workload: the kind of its writes, and their amount.

use super::options::Workload;

/// The plan of a workload: the kind of its writes, and their amount.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Kind of the writes.
    pub workload: Workload,
    /// Seed of the places.
    pub seed: u64,
    /// Bytes of the volume to use, in whole logical pages.
    pub fill_bytes: u64,
    /// Bytes of each write of the fill.
    pub write_bytes: u64,
}
