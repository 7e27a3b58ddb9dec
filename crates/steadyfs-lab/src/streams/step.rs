//! A step of a workload: a command for the disk.

/// A step of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A job writes a page.
    Write { page: u32, job: u8 },
    /// Pages are no longer needed.
    Trim { page: u32, count: u32 },
}
