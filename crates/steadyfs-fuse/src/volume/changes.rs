//! Calls that change the volume.
//!
//! A call that fails has changed nothing, and the changes of earlier calls still wait for their
//! commit. So no change is undone after its program saw a success. A commit that fails is repeated
//! by the next `fsync`. If the repeated commit fails too, this `fsync` returns an error.
//!
//! If the result of a commit is unknown, the volume refuses every change from then on. It also
//! refuses every `fsync` while changes wait.

use crate::errno::errno;
use crate::upkeep::Upkeep;
use fuser::Errno;
use std::time::{SystemTime, UNIX_EPOCH};
use steadyfs::media::{BlockIndex, Flash};
use steadyfs::{BlockInfo, Budget, CommitOn, Description, Error, FileSystem, Health};

/// The volume as calls that change it use it.
pub(crate) struct Changes<'v, 'm, F> {
    fs: &'v mut FileSystem<'m, F>,
    has_changed: bool,
    /// True if the open transaction contains half of a change. The transaction must be rolled back
    /// before any other change or commit.
    must_roll_back: bool,
}

/// Returns the time of the host, in nanoseconds since 1970, or 0 if its clock shows an earlier
/// time.
pub(super) fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

impl<'v, 'm, F: Flash> Changes<'v, 'm, F> {
    pub fn new(fs: &'v mut FileSystem<'m, F>) -> Self {
        Self { fs, has_changed: false, must_roll_back: false }
    }

    /// Returns the volume, for calls that change nothing.
    pub fn fs(&mut self) -> &mut FileSystem<'m, F> {
        self.fs
    }

    /// Makes a change, stamped with the time of the host.
    pub fn make<T>(
        &mut self,
        change: impl FnOnce(&mut FileSystem<'m, F>) -> Result<T, Error>,
    ) -> Result<T, Errno> {
        self.fs.set_time(now_ns());
        self.has_changed = true;
        if self.must_roll_back {
            self.fs.rollback().map_err(errno)?;
            self.must_roll_back = false;
        }
        change(self.fs).map_err(errno)
    }

    /// Requires a rollback of the open transaction before any other change or commit.
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
