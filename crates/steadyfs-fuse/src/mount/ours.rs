//! The mount that this process created. Only this mount is ever unmounted.

use super::table::{self, Entry};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags, open, statx};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::process::{Command, Stdio};

/// `STATX_MNT_ID_UNIQUE`, since Linux 6.8: the number of a mount, which no other mount ever gets.
const UNIQUE: StatxFlags = StatxFlags::from_bits_retain(0x4000);

/// A mount that this process created. The struct identifies the mount by numbers and not by a path,
/// because other processes may move it, unmount it, mount over it, or mount something else in its
/// place.
#[derive(Clone, Debug)]
pub(super) struct Ours {
    number: Number,
    device: String,
}

/// Numbers that distinguish a mount from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number {
    /// Number of the mount in the table of mounts.
    id: u64,
    /// Unique number of the mount, if the kernel reports it.
    unique: Option<u64>,
}

impl Number {
    /// Returns the number of the mount that contains an open directory. Queries only the kernel,
    /// never the server of the file system.
    fn of(directory: impl AsFd) -> io::Result<Self> {
        let info = format!("/proc/self/fdinfo/{}", directory.as_fd().as_raw_fd());
        let text = fs::read_to_string(&info)?;
        let id = text.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
        let id = id.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{info}: expected a line with mnt_id"),
            )
        })?;
        let unique = statx(&directory, "", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, UNIQUE)
            .ok()
            .filter(|status| StatxFlags::from_bits_retain(status.stx_mask).contains(UNIQUE))
            .map(|status| status.stx_mnt_id);
        Ok(Self { id, unique })
    }

    /// Returns the number of the mount to which a path leads.
    fn at(path: &Path) -> io::Result<Self> {
        Self::of(open_place(path)?)
    }
}

/// Opens a directory only as a location (`O_PATH`), without a request to its file system.
pub(super) fn open_place(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?)
}

impl Ours {
    /// Returns the mount that contains an open directory. It must be a mount of FUSE.
    pub fn of(directory: impl AsFd) -> io::Result<Self> {
        let number = Number::of(directory)?;
        let entry = table::read()?
            .into_iter()
            .find(|entry| entry.id == number.id && entry.kind.starts_with("fuse"));
        let entry = entry
            .ok_or_else(|| io::Error::other("it was unmounted again, or mounted over, at once"))?;
        Ok(Self { number, device: entry.device })
    }

    /// Detaches the mount from the tree of files, if it is still attached. The mount ends when its
    /// last open file is closed. Returns true if files are still open.
    ///
    /// # Errors
    /// Returns an error if another mount lies on this mount or covers its path, because that mount
    /// would be unmounted instead or as well. Nothing was changed.
    pub fn take_away(&self) -> io::Result<bool> {
        // The first try is refused if the mount is in use. A mount that another process created on
        // it after the check above also counts as use.
        for is_lazy in [false, true] {
            let table = table::read()?;
            let Some(entry) = self.find(&table) else { return Ok(false) };
            self.check_way(entry, &table)?;
            match take(&entry.point, is_lazy) {
                Err(error) if is_lazy && self.find(&table::read()?).is_some() => return Err(error),
                Err(_) => {}
                Ok(()) => return Ok(is_lazy),
            }
        }
        Ok(false)
    }

    fn find<'t>(&self, table: &'t [Entry]) -> Option<&'t Entry> {
        table.iter().find(|entry| entry.id == self.number.id && entry.device == self.device)
    }

    /// Checks that the path of the mount leads to this mount, and that no other mount lies on it.
    fn check_way(&self, entry: &Entry, table: &[Entry]) -> io::Result<()> {
        let point = entry.point.display();
        if let Some(other) = table.iter().find(|other| other.parent == entry.id) {
            let (other, kind) = (other.point.display(), &other.kind);
            return Err(busy(format!(
                "another mount ({kind}) lies on it, at {other}; unmount that first, then {point}"
            )));
        }
        match Number::at(&entry.point) {
            Ok(number) if number == self.number => Ok(()),
            _ => Err(busy(format!(
                "{point} leads to another mount now; unmount that first, then {point}"
            ))),
        }
    }
}

fn busy(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, what)
}

/// Unmounts the mount at a path. A lazy unmount succeeds even if files of the mount are open.
fn take(point: &Path, is_lazy: bool) -> io::Result<()> {
    let lazy = if is_lazy { UnmountFlags::DETACH } else { UnmountFlags::empty() };
    match unmount(point, lazy | UnmountFlags::NOFOLLOW) {
        // Users who are not root need a helper to unmount.
        Err(Errno::PERM) => fusermount(point, is_lazy),
        result => Ok(result?),
    }
}

fn fusermount(point: &Path, is_lazy: bool) -> io::Result<()> {
    let options: &[&str] = if is_lazy { &["-u", "-z", "--"] } else { &["-u", "--"] };
    let status =
        Command::new("fusermount3").args(options).arg(point).stderr(Stdio::null()).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other("fusermount3 could not unmount it"))
    }
}

/// A guard that unmounts its mount when the guard is dropped, unless the mount is already gone.
#[derive(Debug)]
pub(super) struct Guard(Option<Ours>);

impl Guard {
    pub fn new(ours: Ours) -> Self {
        Self(Some(ours))
    }

    /// Notes that the mount is gone. Its numbers may soon belong to another mount.
    pub fn forget(&mut self) {
        self.0 = None;
    }

    pub fn take_away(mut self) -> io::Result<()> {
        self.0.take().map_or(Ok(()), |ours| ours.take_away().map(drop))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(ours) = &self.0 {
            let _ = ours.take_away();
        }
    }
}
