//! Calls that change the volume.
//!
//! One that fails has changed nothing, and what earlier ones did waits for its commit as before: so nothing that programs were told of
//! as done is undone behind their backs. A commit that fails is made again with the next `fsync`, which says so if it fails too. Where
//! nobody knows whether a commit is there, the volume refuses every change from then on, and every `fsync` of what waits.

use crate::errno::errno;
use crate::upkeep::Upkeep;
use fuser::Errno;
use std::time::{SystemTime, UNIX_EPOCH};
use steadyfs::media::{BlockIndex, Flash};
use steadyfs::{BlockInfo, Budget, CommitOn, Description, Error, FileSystem, Health};

/// The volume, for calls that change it.
pub(crate) struct Changes<'v, 'm, F> {
    fs: &'v mut FileSystem<'m, F>,
    has_changed: bool,
    /// Half of something is in the open transaction: nothing else is done before that is rolled back.
    must_roll_back: bool,
}

/// The time of the host, in nanoseconds since 1970; 0 if its clock is before that.
pub(super) fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

impl<'v, 'm, F: Flash> Changes<'v, 'm, F> {
    pub fn new(fs: &'v mut FileSystem<'m, F>) -> Self {
        Self { fs, has_changed: false, must_roll_back: false }
    }

    /// The volume, for calls that change nothing.
    pub fn fs(&mut self) -> &mut FileSystem<'m, F> {
        self.fs
    }

    /// Makes a change, stamped with the time of the host.
    pub fn make<T>(&mut self, change: impl FnOnce(&mut FileSystem<'m, F>) -> Result<T, Error>) -> Result<T, Errno> {
        self.fs.set_time(now_ns());
        self.has_changed = true;
        if self.must_roll_back {
            self.fs.rollback().map_err(errno)?;
            self.must_roll_back = false;
        }
        change(self.fs).map_err(errno)
    }

    /// Lets nothing be done, and nothing be committed, before the open transaction is rolled back.
    pub fn roll_back_first(&mut self) {
        self.must_roll_back = true;
    }
}

impl<F: Flash> Upkeep for Changes<'_, '_, F> {
    fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    fn waits_for_timer(&self) -> bool {
        self.fs.commit_on().contains(CommitOn::TIMED) && self.fs.has_changes()
    }

    fn has_changes(&self) -> bool {
        self.fs.has_changes()
    }

    fn commit(&mut self) -> Result<(), Errno> {
        self.make(FileSystem::commit)
    }

    fn maintain(&mut self, budget: Budget) -> Result<bool, Error> {
        self.fs.maintain(budget, 0)
    }

    fn used_bytes(&self) -> u64 {
        self.fs.usage().used_bytes
    }

    fn scrub(&mut self, budget: Budget) -> Result<bool, Error> {
        self.fs.scrub(budget)
    }

    fn health(&self) -> Health {
        self.fs.health()
    }

    fn describe(&self) -> Description {
        self.fs.describe()
    }

    fn block(&self, block: BlockIndex) -> Option<BlockInfo> {
        self.fs.block(block)
    }
}
