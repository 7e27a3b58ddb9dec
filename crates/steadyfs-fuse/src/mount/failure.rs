//! The failures of mounting, serving and unmounting.

use super::place::Refusal;
use std::fmt;
use std::io;
use steadyfs::{Error, MountError};

/// Reason why a volume could not be mounted, served or unmounted.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The volume on the medium cannot be mounted, or the medium has no volume.
    Volume(MountError),
    /// The last commit failed.
    Commit(Error),
    /// The directory is not suitable. Nothing was changed.
    Mountpoint(Refusal),
    /// The kernel did not mount or serve the volume.
    Kernel(io::Error),
    /// The volume could not be unmounted without harm to other mounts, and is still mounted.
    Kept(io::Error),
    /// The thread that served the volume panicked.
    Panicked,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Volume(error) => write!(f, "the volume cannot be mounted: {error}"),
            Failure::Commit(error) => write!(f, "the last commit failed: {error}"),
            Failure::Mountpoint(refusal) => refusal.fmt(f),
            Failure::Kernel(error) => write!(f, "the kernel: {error}"),
            Failure::Kept(error) => write!(f, "the mount is still there: {error}"),
            Failure::Panicked => f.write_str("the thread that served the volume panicked"),
        }
    }
}

impl std::error::Error for Failure {}
