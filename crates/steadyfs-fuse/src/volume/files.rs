//! Reads, writes, truncation, and reservation of space.

use super::Volume;
use super::handles::Handle;
use super::nodes::inode_of;
use crate::errno::errno;
use crate::upkeep::Upkeep;
use fuser::{Errno, FileHandle, INodeNo};
use rustix::fs::{FallocateFlags, OFlags};
use steadyfs::media::Flash;
use steadyfs::{CommitOn, SeekTo};
use steadyfs_host::plain::{self, PlainFile};

/// Returns the flags with which a program opens a file.
pub(super) fn open_flags(flags: i32) -> OFlags {
    OFlags::from_bits_retain(flags.cast_unsigned())
}

impl<F: Flash> Volume<'_, '_, F> {
    pub fn open(&mut self, number: INodeNo, flags: i32) -> Result<FileHandle, Errno> {
        let inode = inode_of(number)?;
        let flags = open_flags(flags);
        let may_write = flags.intersects(OFlags::WRONLY | OFlags::RDWR);
        if let Some(recorder) = self.recorder.as_mut().filter(|_| !flags.contains(OFlags::WRONLY)) {
            recorder.opened(number);
        }
        // The kernel refuses reads of programs through write-only handles. But the kernel itself
        // reads through such a handle, to fill a page that is written in part. So each handle can
        // read.
        //
        // For programs that append, the kernel computes the end and passes it as the offset. The
        // kernel also writes mapped pages back through such a handle, at offsets before the end. So
        // the flag for appending is ignored.
        let truncate = flags.contains(OFlags::TRUNC);
        if truncate && !may_write {
            self.set_size(number, None, 0)?;
        }
        let (fs, usual) = (self.changes.fs(), self.usual_packing);
        let file = if may_write {
            PlainFile::open_to_write(fs, inode, usual)
        } else {
            PlainFile::open(fs, inode, false)
        };
        let mut file = file.map_err(|error| errno(error.into()))?;
        if truncate
            && may_write
            && let Err(error) = self.changes.make(|fs| Ok(file.truncate(fs, 0)?))
        {
            let _ = file.close(self.changes.fs());
            return Err(error);
        }
        self.handles.forget(inode);
        Ok(self.keep(file, may_write))
    }

    /// Gives a file a number for the kernel.
    pub(super) fn keep(&mut self, file: PlainFile, may_write: bool) -> FileHandle {
        self.nodes.opened(file.inode());
        self.handles.insert(Handle { file, may_write })
    }

    pub fn read(&mut self, handle: FileHandle, offset: u64, size: u32) -> Result<Vec<u8>, Errno> {
        let handle = self.handles.get(handle)?;
        let mut data = vec![0; size as usize];
        let length = handle
            .file
            .read(self.changes.fs(), offset, &mut data)
            .map_err(|error| errno(error.into()))?;
        data.truncate(length);
        Ok(data)
    }

    /// Writes page by page, or chunk by chunk. Returns the number of written bytes. This number is
    /// less than requested only if a later page fails.
    ///
    /// If `whole` is true, such a partial write is an error. The kernel requests this when it
    /// writes mapped pages back, because it then ignores the number of written bytes.
    pub fn write(
        &mut self,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        whole: bool,
    ) -> Result<u32, Errno> {
        let handle = self.handles.get(handle)?;
        let (inode, was_packed) = (handle.file.inode(), handle.file.is_packed());
        let mut is_half_done = false;
        let result = self.changes.make(|fs| {
            let events = fs.commit_on();
            handle
                .file
                .prepare(fs, offset, data)
                .inspect_err(|error| is_half_done = *error == plain::Error::NotUndone)?;
            let (mut done, mut failure) = (0, None);
            while done < data.len() && failure.is_none() {
                let at = offset + done as u64;
                let step = match handle.file.step_end(fs, at) {
                    Ok(end) => ((end - at) as usize).min(data.len() - done),
                    Err(error) => {
                        failure = Some(error);
                        break;
                    }
                };
                // If each write commits, the request commits once, and not once for each step.
                let is_last = done + step == data.len();
                fs.set_commit_on(if is_last { events } else { events.without(CommitOn::WRITE) });
                match handle.file.write(fs, at, &data[done..done + step]) {
                    Ok(()) => done += step,
                    Err(error) => failure = Some(error),
                }
            }
            fs.set_commit_on(events);
            if let Some(error) = failure {
                // The written part of the request becomes durable, as in a request that succeeds.
                if done > 0 && events.contains(CommitOn::WRITE) {
                    fs.commit()?;
                }
                if done == 0 || whole {
                    return Err(error.into());
                }
            }
            Ok(done as u32)
        });
        if is_half_done {
            self.changes.roll_back_first();
        }
        if handle.file.is_packed() == was_packed {
            self.handles.forget(inode);
        } else {
            self.handles.look_again(inode, self.changes.fs());
        }
        result
    }

    /// Removes the set-user-ID and set-group-ID bits of a file that is about to be written.
    pub fn end_privileges_of(&mut self, handle: FileHandle) -> Result<(), Errno> {
        let inode = self.handles.get(handle)?.file.inode();
        self.end_privileges(inode)
    }

    /// Returns the offset of the first byte of data, or of the first byte in a hole, from `offset`
    /// on.
    pub fn seek(&mut self, handle: FileHandle, offset: u64, part: SeekTo) -> Result<u64, Errno> {
        let handle = self.handles.get(handle)?;
        let found = handle
            .file
            .seek(self.changes.fs(), offset, part)
            .map_err(|error| errno(error.into()))?;
        found.ok_or(Errno::ENXIO)
    }

    /// Truncates or extends a file, through a writable handle if the file has such a handle.
    pub(super) fn set_size(
        &mut self,
        number: INodeNo,
        handle: Option<FileHandle>,
        size: u64,
    ) -> Result<(), Errno> {
        if let Some(handle) = handle
            && let Ok(handle) = self.handles.get(handle)
            && handle.may_write
        {
            let (inode, result) =
                (handle.file.inode(), self.changes.make(|fs| Ok(handle.file.truncate(fs, size)?)));
            self.handles.forget(inode);
            return result;
        }
        let inode = inode_of(number)?;
        let result = self.changes.make(|fs| {
            let mut file = PlainFile::open(fs, inode, true)?;
            let result = file.truncate(fs, size);
            Ok(file.close(fs).and(result)?)
        });
        self.handles.forget(inode);
        result
    }

    /// Reserves space for a part of a file, including holes in it. Reserved space behind the end of
    /// the file remains until the file is truncated.
    pub fn allocate(
        &mut self,
        handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
    ) -> Result<(), Errno> {
        let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
        if !FallocateFlags::KEEP_SIZE.contains(mode) {
            return Err(Errno::EOPNOTSUPP);
        }
        let end = offset.checked_add(length).ok_or(Errno::EFBIG)?;
        let handle = self.handles.get(handle)?;
        let size = handle.file.size(self.changes.fs()).map_err(|error| errno(error.into()))?;
        let mut kept = offset;
        while kept < end {
            kept = self.changes.make(|fs| Ok(handle.file.reserve(fs, kept, end)?)).inspect_err(
                |_| {
                    // Truncating a file at its end frees all space reserved behind the end.
                    let _ = self.changes.make(|fs| Ok(handle.file.truncate(fs, size)?));
                },
            )?;
        }
        if end > size && !mode.contains(FallocateFlags::KEEP_SIZE) {
            self.changes.make(|fs| Ok(handle.file.truncate(fs, end)?))?;
        }
        Ok(())
    }

    /// Makes a file durable.
    pub fn sync(&mut self, handle: FileHandle) -> Result<(), Errno> {
        self.handles.get(handle)?;
        self.changes.make(|fs| fs.sync(CommitOn::FSYNC))
    }

    /// Makes a directory durable. The commit also makes all other changes durable.
    pub fn sync_all(&mut self) -> Result<(), Errno> {
        self.changes.make(|fs| fs.sync(CommitOn::SYNC))
    }

    /// If `CommitOn::CLOSE` is set, commits when a program closes one of its descriptors of a file.
    /// The kernel sends a release after the last descriptor, but no program waits for it. So the
    /// commit is made here.
    pub fn close_descriptor(&mut self, handle: FileHandle) -> Result<(), Errno> {
        let may_write = self.handles.get(handle)?.may_write;
        if may_write && self.changes.fs().commit_on().contains(CommitOn::CLOSE) {
            self.changes.commit()
        } else {
            Ok(())
        }
    }

    pub fn release(&mut self, handle: FileHandle) -> Result<(), Errno> {
        let handle = self.handles.remove(handle)?;
        let inode = handle.file.inode();
        let result = self.changes.make(|fs| Ok(handle.file.close(fs)?));
        self.nodes.closed(inode);
        result
    }
}
