//! Open files.

use fuser::{Errno, FileHandle};
use std::collections::HashMap;
use steadyfs::media::Flash;
use steadyfs::{FileSystem, InodeNumber};
use steadyfs_host::plain::PlainFile;

/// A file that a program has open.
#[derive(Debug)]
pub(super) struct Handle {
    pub file: PlainFile,
    pub may_write: bool,
}

/// The open files, by their numbers for the kernel.
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

    /// Makes the other handles of a file discard their cached chunk, because the file was changed.
    pub fn forget(&mut self, inode: InodeNumber) {
        self.open
            .values_mut()
            .filter(|handle| handle.file.inode() == inode)
            .for_each(|handle| handle.file.forget());
    }

    /// Makes the handles of a file determine its form again, because one of them converted it to a
    /// compressed file. If this fails for a handle, the handle is closed, because it would read the
    /// stored bytes.
    pub fn look_again<F: Flash>(&mut self, inode: InodeNumber, fs: &mut FileSystem<'_, F>) {
        let failed = |_: &u64, handle: &mut Handle| {
            handle.file.inode() == inode && handle.file.look_again(fs, handle.may_write).is_err()
        };
        let failed: Vec<Handle> = self.open.extract_if(failed).map(|(_, handle)| handle).collect();
        for handle in failed {
            let _ = handle.file.close(fs);
        }
    }

    pub fn remove(&mut self, number: FileHandle) -> Result<Handle, Errno> {
        self.open.remove(&number.0).ok_or(Errno::EBADF)
    }

    pub fn take_all(&mut self) -> Vec<Handle> {
        self.open.drain().map(|(_, handle)| handle).collect()
    }
}
