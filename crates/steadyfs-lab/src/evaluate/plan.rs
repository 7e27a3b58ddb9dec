//! What a workload writes, and how much of it.

use super::options::Workload;

/// What a workload writes, and how much of it.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// What is written.
    pub workload: Workload,
    /// Seed of the places.
    pub seed: u64,
    /// Bytes of the volume to be used, in whole logical pages.
    pub fill_bytes: u64,
    /// Bytes of each write that fills.
    pub write_bytes: u64,
}
