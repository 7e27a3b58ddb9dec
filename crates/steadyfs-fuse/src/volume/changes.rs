//! Calls that change the volume, and what their failure undoes.
//!
//! A call that fails half-way makes the volume undo everything that was not committed, also what earlier calls did. Programs were told
//! that those had succeeded, so:
//! - a volume with little room left commits before each call, so that a call that finds none undoes itself alone;
//! - what a failing medium undoes all the same is counted as a *loss*, and the next `fsync` of each file that was open then tells
//!   of it.

use crate::errno::errno;
use fuser::Errno;
use std::time::{SystemTime, UNIX_EPOCH};
use steadyfs::media::Flash;
use steadyfs::{Error, FileSystem};

/// Pages, files and directories below which room is short: more than any call takes.
const SHORT: u32 = 16;

/// The volume, for calls that change it.
pub(super) struct Changes<'v, 'm, F> {
    fs: &'v mut FileSystem<'m, F>,
    losses: u64,
    has_changed: bool,
}

/// The time of the host, in nanoseconds since 1970; 0 if its clock is before that.
pub(super) fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

impl<'v, 'm, F: Flash> Changes<'v, 'm, F> {
    pub fn new(fs: &'v mut FileSystem<'m, F>) -> Self {
        Self { fs, losses: 0, has_changed: false }
    }

    /// The volume, for calls that change nothing.
    pub fn fs(&mut self) -> &mut FileSystem<'m, F> {
        self.fs
    }

    /// How often changes were lost that programs had been told of as done.
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// Whether anything was changed or committed since this was asked last.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// Whether a change of `bytes` more bytes may find no room.
    pub fn room_is_short(&self, bytes: u64) -> bool {
        let usage = self.fs.usage();
        let room = usage.usable_bytes.saturating_sub(usage.used_bytes);
        room < bytes + u64::from(SHORT * usage.logical_bytes) || usage.files + SHORT > usage.files_max
    }

    /// Makes a change, stamped with the time of the host.
    pub fn make<T>(&mut self, change: impl FnOnce(&mut FileSystem<'m, F>) -> Result<T, Error>) -> Result<T, Errno> {
        self.fs.set_time(now_ns());
        if self.room_is_short(0) && self.fs.has_changes() {
            self.commit()?;
        }
        self.counting_losses(change)
    }

    /// Makes everything durable that was done so far.
    pub fn commit(&mut self) -> Result<(), Errno> {
        self.counting_losses(FileSystem::commit)
    }

    fn counting_losses<T>(&mut self, call: impl FnOnce(&mut FileSystem<'m, F>) -> Result<T, Error>) -> Result<T, Errno> {
        self.has_changed = true;
        let result = call(self.fs);
        // Any other error leaves what waits for a commit as it was.
        if matches!(result, Err(Error::Unknown)) {
            self.losses += 1;
        }
        result.map_err(errno)
    }
}
