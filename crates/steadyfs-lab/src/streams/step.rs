//! A step of a workload: what the disk is told.

/// A step of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A page is written by a job.
    Write { page: u32, job: u8 },
    /// Pages are not needed any more.
    Trim { page: u32, count: u32 },
}
