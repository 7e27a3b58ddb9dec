//! Open files.

use fuser::{Errno, FileHandle};
use std::collections::HashMap;
use steadyfs::InodeNumber;
use steadyfs_host::plain::PlainFile;

/// A file that a program has open.
#[derive(Debug)]
pub(super) struct Handle {
    pub file: PlainFile,
    pub may_write: bool,
}

/// The open files, by the number that the kernel was given.
#[derive(Debug, Default)]
pub(super) struct Handles {
    next: u64,
    open: HashMap<u64, Handle>,
}

impl Handles {
    pub fn insert(&mut self, handle: Handle) -> FileHandle {
        self.next += 1;
        self.open.insert(self.next, handle);
        FileHandle(self.next)
    }

    pub fn get(&mut self, number: FileHandle) -> Result<&mut Handle, Errno> {
        self.open.get_mut(&number.0).ok_or(Errno::EBADF)
    }

    /// Lets the other handles of a file look again: it was changed.
    pub fn forget(&mut self, inode: InodeNumber) {
        self.open.values_mut().filter(|handle| handle.file.inode() == inode).for_each(|handle| handle.file.forget());
    }

    pub fn remove(&mut self, number: FileHandle) -> Result<Handle, Errno> {
        self.open.remove(&number.0).ok_or(Errno::EBADF)
    }

    pub fn take_all(&mut self) -> Vec<Handle> {
        self.open.drain().map(|(_, handle)| handle).collect()
    }
}
