//! Locks of images: one process writes an image, or any number read it. Two writers would destroy
//! it.

use crate::Failure;
use std::fs::File;
use std::path::Path;
use steadyfs::Access;

/// Keeps other processes off an image until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: Option<File>,
}

impl Lock {
    /// Takes an image, shared for reading or alone for writing.
    ///
    /// # Errors
    /// Another process holds the image. On file systems without locks, every process gets it.
    pub fn take(path: &Path, access: Access) -> Result<Self, Failure> {
        let Ok(file) = File::open(path) else { return Ok(Self { _file: None }) };
        if is_held_by_others(&file, access) {
            let what = if access == Access::ReadWrite { "uses" } else { "changes" };
            return Err(Failure::at(
                path.display(),
                format!("another process {what} the image; expected it to be free"),
            ));
        }
        Ok(Self { _file: Some(file) })
    }
}

#[cfg(unix)]
fn is_held_by_others(file: &File, access: Access) -> bool {
    use rustix::fs::{FlockOperation, flock};
    let operation = match access {
        Access::ReadOnly => FlockOperation::NonBlockingLockShared,
        Access::ReadWrite => FlockOperation::NonBlockingLockExclusive,
    };
    flock(file, operation) == Err(rustix::io::Errno::WOULDBLOCK)
}

#[cfg(not(unix))]
fn is_held_by_others(_file: &File, _access: Access) -> bool {
    false
}
