//! The effect of each request of the kernel on a disk, which is the only file of its directory.
//!
//! | file | idea |
//! |---|---|
//! | [`bridge`] | requests of the kernel as jobs, and answers |
//! | [`sectors`] | bytes at any place, on a medium of sectors |
//!
//! The size of the file never changes. The file stores neither owner nor times: the mount provides
//! them.

mod bridge;
mod sectors;
#[cfg(test)]
mod tests;

pub(crate) use bridge::DiskBridge;

use crate::mount::Kept;
use crate::options::Options;
use crate::upkeep::{Timer, Upkeep};
use crate::volume::Node;
use fuser::{Errno, FileAttr, FileType, Generation, INodeNo, TimeOrNow};
use rustix::fs::FallocateFlags;
use rustix::process::{getgid, getuid};
use sectors::Sectors;
use std::time::SystemTime;
use steadyfs::disk::{Disk, SECTOR_BYTES};
use steadyfs::media::Flash;
use steadyfs::{CommitLimits, CommitOn};

/// The name of the file.
pub(crate) const NAME: &str = "disk";
/// The kernel's number of the file. The directory has number 1.
const FILE: INodeNo = INodeNo(2);

/// A disk that serves the kernel.
pub(crate) struct DiskVolume<'v, 'm, F> {
    sectors: Sectors<'v, 'm, F>,
    timer: Timer,
    commit_on: CommitOn,
    limits: CommitLimits,
    /// Number and bytes of the changes that wait for a commit.
    waiting: CommitLimits,
    modified: SystemTime,
    owner: (u32, u32),
    /// True if changes of mode and owner are accepted without an effect.
    quiet_permissions: bool,
}

/// Attributes that `setattr` shall change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Set {
    pub changes_owner: bool,
    pub mode: Option<u32>,
    pub size: Option<u64>,
    pub modified: Option<TimeOrNow>,
}

impl<'v, 'm, F: Flash> DiskVolume<'v, 'm, F> {
    pub fn new(disk: &'v mut Disk<'m, F>, options: &Options) -> Self {
        Self {
            sectors: Sectors::new(disk, options.commit_on),
            timer: Timer::new(options.commit_interval),
            commit_on: options.commit_on,
            limits: options.commit_limits,
            waiting: CommitLimits::default(),
            modified: SystemTime::now(),
            owner: (getuid().as_raw(), getgid().as_raw()),
            quiet_permissions: options.quiet_permissions,
        }
    }

    pub fn lookup(&self, parent: INodeNo, name: &str) -> Result<Node, Errno> {
        if parent == INodeNo::ROOT && name == NAME { self.stat(FILE) } else { Err(Errno::ENOENT) }
    }

    pub fn stat(&self, number: INodeNo) -> Result<Node, Errno> {
        let (kind, perm, nlink, size) = match number {
            INodeNo::ROOT => (FileType::Directory, 0o555, 2, 0),
            FILE => (FileType::RegularFile, 0o644, 1, self.sectors.bytes()),
            _ => return Err(Errno::ENOENT),
        };
        let attr = FileAttr {
            ino: number,
            size,
            blocks: size / u64::from(SECTOR_BYTES),
            atime: self.modified,
            mtime: self.modified,
            ctime: self.modified,
            crtime: self.modified,
            kind,
            perm,
            nlink,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: self.sectors.page_bytes(),
            flags: 0,
        };
        Ok(Node { attr, generation: Generation(0) })
    }

    /// Sets the time of modification. Size, mode and owner cannot change, so a value other than the
    /// present one is refused. If `quiet_permissions` is set, other values of mode and owner are
    /// ignored.
    pub fn set(&mut self, number: INodeNo, set: Set) -> Result<Node, Errno> {
        let old = self.stat(number)?.attr;
        let changes_mode = set.mode.is_some_and(|mode| mode & 0o7777 != u32::from(old.perm));
        if (changes_mode || set.changes_owner) && !self.quiet_permissions {
            return Err(Errno::EPERM);
        }
        match set.size {
            Some(size) if size > old.size => return Err(Errno::EFBIG),
            Some(size) if size < old.size => return Err(Errno::EPERM),
            _ => {}
        }
        match set.modified {
            Some(TimeOrNow::Now) => self.modified = SystemTime::now(),
            Some(TimeOrNow::SpecificTime(time)) => self.modified = time,
            None => {}
        }
        self.stat(number)
    }

    /// Returns true if the call requests another owner or group.
    pub fn changes_owner(&self, uid: Option<u32>, gid: Option<u32>) -> bool {
        uid.is_some_and(|uid| uid != self.owner.0) || gid.is_some_and(|gid| gid != self.owner.1)
    }

    pub fn read(&mut self, offset: u64, size: u32) -> Result<Vec<u8>, Errno> {
        let end = self.sectors.bytes().min(offset.saturating_add(size.into()));
        if offset >= end {
            Ok(Vec::new())
        } else {
            self.sectors.read(offset, (end - offset) as usize)
        }
    }

    /// Writes up to the end of the disk. Returns the number of written bytes.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> Result<u32, Errno> {
        let left = self.sectors.bytes().saturating_sub(offset);
        if left == 0 && !data.is_empty() {
            return Err(Errno::ENOSPC);
        }
        let data = &data[..data.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
        self.begin_change(data.len() as u64);
        self.sectors.write(offset, data)?;
        self.was_changed()?;
        Ok(data.len() as u32)
    }

    /// Fills a part of the disk with zeros, and frees the whole logical pages in this part. A
    /// request to reserve space does nothing, because all space of a disk is reserved from the
    /// beginning.
    pub fn allocate(&mut self, offset: u64, length: u64, mode: i32) -> Result<(), Errno> {
        let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
        let (punches, zeros) = (FallocateFlags::PUNCH_HOLE, FallocateFlags::ZERO_RANGE);
        if !(FallocateFlags::KEEP_SIZE | punches | zeros).contains(mode)
            || mode.contains(punches | zeros)
        {
            return Err(Errno::EOPNOTSUPP);
        }
        let end = offset.checked_add(length).ok_or(Errno::EFBIG)?;
        if end > self.sectors.bytes() && !mode.contains(punches) {
            return Err(Errno::ENOSPC);
        }
        if !mode.intersects(punches | zeros) {
            return Ok(());
        }
        self.begin_change(0);
        self.sectors.zero(offset, end.min(self.sectors.bytes()))?;
        self.was_changed()
    }

    /// Counts a change of `bytes` bytes. Call it before the change is made.
    fn begin_change(&mut self, bytes: u64) {
        if !self.sectors.has_changes() {
            self.waiting = CommitLimits::default();
        }
        self.waiting.add(u32::try_from(bytes).unwrap_or(u32::MAX));
    }

    /// Ends a change. Commits if `CommitOn::WRITE` is set. Also commits if `CommitOn::MANY` is set
    /// and the waiting changes reach the limits.
    fn was_changed(&mut self) -> Result<(), Errno> {
        self.modified = SystemTime::now();
        let is_many =
            self.commit_on.contains(CommitOn::MANY) && self.limits.are_reached(&self.waiting);
        if is_many || self.commit_on.contains(CommitOn::WRITE) {
            self.sectors.commit()
        } else {
            Ok(())
        }
    }

    /// Makes all written data durable.
    pub fn sync(&mut self) -> Result<(), Errno> {
        self.sectors.commit()
    }

    /// Handles the close of one descriptor by a program. Commits if `CommitOn::CLOSE` is set.
    pub fn close_descriptor(&mut self) -> Result<(), Errno> {
        if self.commit_on.contains(CommitOn::CLOSE) { self.sectors.commit() } else { Ok(()) }
    }

    /// Returns the number of bytes of a logical page, and the number of logical pages of the disk.
    pub fn pages(&self) -> (u32, u64) {
        let page_bytes = self.sectors.page_bytes();
        (page_bytes, self.sectors.bytes() / u64::from(page_bytes))
    }
}

impl<'v, 'm, F: Flash> Kept for DiskVolume<'v, 'm, F> {
    type Store = Sectors<'v, 'm, F>;

    fn upkeep(&mut self) -> (&mut Timer, &mut Self::Store) {
        (&mut self.timer, &mut self.sectors)
    }

    /// Does nothing, because the disk stores no state for an open file.
    fn close_all(&mut self) {}
}
