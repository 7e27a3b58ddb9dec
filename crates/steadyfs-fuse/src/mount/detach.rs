//! Taking a mount away.

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Takes a file system away from the tree of files; it ends when nobody has a file of it open any more.
pub(super) fn detach(mountpoint: &Path) -> io::Result<()> {
    match unmount(mountpoint, UnmountFlags::DETACH) {
        Ok(()) => Ok(()),
        // Users who are not root have a helper for that.
        Err(Errno::PERM) => fusermount(mountpoint),
        Err(error) => Err(error.into()),
    }
}

fn fusermount(mountpoint: &Path) -> io::Result<()> {
    let status = Command::new("fusermount3").args(["-u", "-z", "--"]).arg(mountpoint).stderr(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other("fusermount3 could not unmount it")) }
}

/// Takes a mount away when it is dropped, unless it is known to be gone.
pub(super) struct Detach(Option<PathBuf>);

impl Detach {
    pub fn new(mountpoint: PathBuf) -> Self {
        Self(Some(mountpoint))
    }

    pub fn forget(&mut self) {
        self.0 = None;
    }
}

impl Drop for Detach {
    fn drop(&mut self) {
        if let Some(mountpoint) = &self.0 {
            let _ = detach(mountpoint);
        }
    }
}
