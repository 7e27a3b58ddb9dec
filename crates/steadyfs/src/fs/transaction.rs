//! When changes become durable: events that commit, explicit commits, rollback.

#[cfg(feature = "groups")]
use super::commits::CommitLimits;
use super::open::File;
use super::space::Space;
use super::trim::Lists;
use super::{Call, Change, FileSystem};
use crate::error::Error;
use crate::media::Flash;

/// Events after which a volume commits by itself: any of the constants, joined by [`with`](Self::with).
///
/// ```
/// use steadyfs::CommitOn;
/// let events = CommitOn::ON_FLUSH.with(CommitOn::CREATE).without(CommitOn::SYNC);
/// assert!(events.contains(CommitOn::CREATE) && !events.contains(CommitOn::SYNC));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitOn(u16);

impl CommitOn {
    /// Never.
    pub const NONE: Self = Self(0);
    /// The volume is unmounted. Without it, an unmount drops what was not committed.
    pub const UNMOUNT: Self = Self(1);
    /// A file was created.
    pub const CREATE: Self = Self(1 << 1);
    /// A file or directory was removed.
    pub const REMOVE: Self = Self(1 << 2);
    /// A directory was made.
    pub const MKDIR: Self = Self(1 << 3);
    /// A file or directory was renamed.
    pub const RENAME: Self = Self(1 << 4);
    /// A handle that may write was closed.
    pub const CLOSE: Self = Self(1 << 5);
    /// Bytes of a file (one logical page of a long write), or attributes, were written.
    pub const WRITE: Self = Self(1 << 6);
    /// [`FileSystem::flush`] was called for a file.
    pub const FSYNC: Self = Self(1 << 7);
    /// A file was cut or made larger.
    pub const TRUNCATE: Self = Self(1 << 8);
    /// The next call may not find room in the transaction, or on the volume, without a commit.
    pub const FULL: Self = Self(1 << 9);
    /// [`FileSystem::sync`] was called.
    pub const SYNC: Self = Self(1 << 10);
    /// The [interval](FileSystem::set_commit_interval) has passed since the first change of the transaction.
    pub const TIMED: Self = Self(1 << 11);
    /// So many changes, or so many bytes, wait as the [limits](FileSystem::set_commit_limits) allow, which a build without the feature `groups` does not have.
    pub const MANY: Self = Self(1 << 12);

    /// Preset: every change is durable when its call returns.
    pub const EVERY_WRITE: Self = Self(0x7FF);
    /// Preset: when a file is closed, and with names.
    pub const ON_CLOSE: Self = Self(0x7FF & !Self::WRITE.0 & !Self::TRUNCATE.0);
    /// Preset, the default: with [`flush`](FileSystem::flush) and [`sync`](FileSystem::sync), and where room runs out.
    pub const ON_FLUSH: Self = Self(Self::UNMOUNT.0 | Self::FSYNC.0 | Self::FULL.0 | Self::SYNC.0);
    /// Preset: after an interval, and as [`ON_FLUSH`](Self::ON_FLUSH).
    pub const TIMED_AND_ON_FLUSH: Self = Self(Self::ON_FLUSH.0 | Self::TIMED.0);
    /// Preset: after an interval, after many changes or bytes, whichever comes first, and as [`ON_FLUSH`](Self::ON_FLUSH). A device that charges for a
    /// commit rather than for bytes, as cards do, takes several times as much.
    pub const IN_GROUPS: Self = Self(Self::TIMED_AND_ON_FLUSH.0 | Self::MANY.0);
    /// Preset: [`commit`](FileSystem::commit) only. A transaction that outgrows its limit is refused.
    pub const MANUAL: Self = Self(0);

    /// These events and others.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These events without others.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether an event is one of them; never for [`NONE`](Self::NONE).
    pub const fn contains(self, event: Self) -> bool {
        self.0 & event.0 != 0
    }
}

/// What RAM kept before the call in progress.
#[derive(Clone, Copy, Default)]
pub(super) struct Mark {
    space: Space,
    lists: Lists,
    /// The entry of an open file that the call has removed.
    pub orphaned: Option<u16>,
}

/// Pages of data and of the file table, and inodes, that one call may take. With fewer left it may fail.
const PAGES_PER_CALL: u32 = 8;
const INODES_PER_CALL: u32 = 3;
/// Pending pages that a call may need which frees pages of removed files first.
const PENDING_PER_CALL: u32 = 8;

impl<'m, F: Flash> FileSystem<'m, F> {
    /// Chooses the events after which the volume commits. [`CommitOn::ON_FLUSH`] is the default; it may change at any time.
    pub fn set_commit_on(&mut self, events: CommitOn) {
        self.commit_on = events;
    }

    /// The events after which the volume commits.
    pub fn commit_on(&self) -> CommitOn {
        self.commit_on
    }

    /// Whether a call ends with a commit at whose end there is such an event.
    pub(super) fn commits_on(&self, event: CommitOn) -> bool {
        let is_many = event != CommitOn::NONE && self.commit_on.contains(CommitOn::MANY) && self.waiting.is_much();
        is_many || self.commit_on.contains(event)
    }

    /// Sets how much may wait for a commit where [`CommitOn::MANY`] is chosen. By default nothing is a limit.
    #[cfg(feature = "groups")]
    pub fn set_commit_limits(&mut self, limits: CommitLimits) {
        self.waiting.set_limits(limits);
    }

    /// Sets the longest time that a change waits for a commit, in the unit of the caller's clock, where
    /// [`CommitOn::TIMED`] is chosen. One second (in nanoseconds) is the default.
    pub fn set_commit_interval(&mut self, interval_ns: u64) {
        self.waiting.set_interval(interval_ns);
    }

    /// Tells the volume the time: nanoseconds since 1970, or of any clock that does not go back. Changes are stamped with it. Without
    /// it they are not stamped, and an overwrite through a durable handle costs one program less.
    pub fn set_time(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
    }

    /// Tells the time, makes the timed commit if it is due, and returns when to call next, if anything waits.
    ///
    /// # Power loss
    /// As in [`commit`](Self::commit), when it makes one.
    ///
    /// # Cost
    /// Nothing, or [`Call::Sync`](super::Call::Sync).
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn poll(&mut self, now_ns: u64) -> Result<Option<u64>, Error> {
        self.set_time(now_ns);
        if !self.commit_on.contains(CommitOn::TIMED) || !self.store.is_open() {
            return Ok(None);
        }
        let due = self.waiting.due_ns();
        if now_ns < due {
            return Ok(Some(due));
        }
        self.commit()?;
        Ok(None)
    }

    /// Lends memory for write-back: [`Config::cache_bytes`](crate::Config::cache_bytes) for a number of logical pages. Pages that are
    /// written in part then wait there for the commit, and cost one frame however often they are written; without it
    /// (write-through) each such write costs one. More pages: fewer programs where several files are written in small pieces
    /// in long transactions; and a commit may have to write all of them.
    ///
    /// # Power loss
    /// What was committed stays; an open transaction stays open.
    ///
    /// # Cost
    /// A frame for each page that an earlier cache has not written yet.
    ///
    /// # Errors
    /// Those of [every call](FileSystem#errors-of-every-call) that changes something.
    #[cfg(feature = "cache")]
    pub fn lend_cache(&mut self, memory: &'m mut [u8]) -> Result<(), Error> {
        if self.store.has_cached() {
            self.begin(Call::Sync)?;
            let result = self.store.lend_cache(memory);
            return self.finish(result, CommitOn::NONE, false);
        }
        self.store.lend_cache(memory)
    }

    /// Makes all changes durable, whatever events were chosen.
    ///
    /// # Power loss
    /// All changes since the last commit are there, or none.
    ///
    /// # Cost
    /// [`Call::Sync`](super::Call::Sync): one program, or none when nothing has changed; then the share of reclamation.
    ///
    /// # Errors
    /// Those of [every call](FileSystem#errors-of-every-call) that changes something.
    pub fn commit(&mut self) -> Result<(), Error> {
        if !self.store.is_open() {
            return Ok(());
        }
        self.store.begin()?;
        let result = self.store.commit();
        if result.is_ok() {
            self.store.end();
        }
        result
    }

    /// Makes all changes durable, where [`CommitOn::SYNC`] is chosen, as it is by default.
    ///
    /// # Errors, cost, power loss
    /// As [`commit`](Self::commit).
    pub fn sync(&mut self) -> Result<(), Error> {
        if self.commit_on.contains(CommitOn::SYNC) { self.commit() } else { Ok(()) }
    }

    /// Makes the changes of a file durable, and all others with them, where [`CommitOn::FSYNC`] is chosen, as it is by default.
    ///
    /// # Errors, cost, power loss
    /// As [`commit`](Self::commit).
    pub fn flush(&mut self, file: &File) -> Result<(), Error> {
        let _ = file;
        if self.commit_on.contains(CommitOn::FSYNC) { self.commit() } else { Ok(()) }
    }

    /// Undoes all changes since the last commit. Handles of files that were created since become [stale](Error::Stale).
    ///
    /// # Power loss
    /// A cut undoes the same changes.
    ///
    /// # Cost
    /// One read of the journal page (where the medium programs bytes, of all records of its block, twice), those of the allocation map, and two looks for each open file. Where one of the latter fails, later
    /// calls make them.
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::Corrupt`], [`Error::Unknown`]: nothing has changed.
    pub fn rollback(&mut self) -> Result<(), Error> {
        self.store.rollback()?;
        self.stamp = self.stamp.wrapping_add(1);
        self.dir = None;
        self.is_stale = true;
        let _ = self.reload();
        self.notify(Change::RolledBack);
        Ok(())
    }

    /// After a rollback: reads again what RAM keeps of the volume's own pages, unless that is done.
    pub(super) fn reload(&mut self) -> Result<(), Error> {
        if !self.is_stale {
            return Ok(());
        }
        self.load_space()?;
        self.check_open_files()?;
        self.is_stale = false;
        Ok(())
    }

    /// Whether changes wait for a commit. A call that returns an error leaves them as they were.
    pub fn has_changes(&self) -> bool {
        self.store.is_open()
    }

    /// Starts a call that changes the volume. What it does first is not undone with the call: each step that succeeded stays.
    pub(super) fn begin(&mut self, call: Call) -> Result<(), Error> {
        self.begin_named(call, true)
    }

    /// The same, where no name of the call needs more than an inode unless it `is_long`.
    pub(super) fn begin_named(&mut self, call: Call, is_long: bool) -> Result<(), Error> {
        self.reload()?;
        self.store.begin()?;
        self.set_mark();
        if self.commits_first(call, is_long) {
            let result = self.store.commit();
            self.step(result)?;
        }
        if !self.store.is_open() {
            self.waiting.begin(self.now_ns);
        }
        self.waiting.count(call);
        // With a commit, so that no rollback brings them back; an open transaction is not ours to commit.
        if self.has_abandoned_orphans() && !self.store.is_open() {
            let result = self.collect_orphans().and_then(|()| self.store.commit());
            self.step(result)?;
        }
        if self.trims_first() {
            self.trim()?;
        }
        Ok(())
    }

    /// Whether the next call begins with a commit.
    pub(super) fn commits_first(&self, call: Call, is_long: bool) -> bool {
        let last_pages = self.space.used + PAGES_PER_CALL >= self.capacity();
        let last_inodes = self.space.inodes + INODES_PER_CALL >= self.plan.files_max;
        self.commit_on.contains(CommitOn::FULL)
            && self.store.is_open()
            && (self.store.pending_room() < self.pages_of(call, is_long) || last_pages || last_inodes)
    }

    /// Whether the next call begins with freeing pages of removed files.
    pub(super) fn trims_first(&self) -> bool {
        let needed = self.space.used + 2 >= self.capacity() && self.store.pending_room() >= PENDING_PER_CALL;
        self.lists.trim != 0 && (needed || !self.store.is_open()) && !self.store.is_unchecked()
    }

    /// Ends a step that a call begins with.
    pub(super) fn step(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        match result {
            Ok(()) => self.set_mark(),
            Err(error) => self.undo(error),
        }
        result
    }

    /// Ends a call that changes the volume, durably if asked to or if `event` commits. A call that fails is undone: half of a change
    /// must not become part of the open transaction.
    pub(super) fn finish<T>(&mut self, result: Result<T, Error>, event: CommitOn, durable: bool) -> Result<T, Error> {
        let result = result.and_then(|value| {
            if durable || self.commits_on(event) {
                self.store.commit()?;
            }
            Ok(value)
        });
        match &result {
            Ok(_) => self.store.end(),
            Err(error) => self.undo(*error),
        }
        result
    }

    /// Makes the present state the one that [`undo`](Self::undo) goes back to.
    pub(super) fn set_mark(&mut self) {
        self.store.accept();
        self.mark = Mark { space: self.space, lists: self.lists, orphaned: None };
    }

    /// Undoes what the call did since the mark; reads nothing and cannot fail.
    pub(super) fn undo(&mut self, error: Error) {
        if error == Error::Unknown {
            // The volume is locked; what it shows until the next mount is what the call would have left.
            return;
        }
        self.store.undo();
        (self.space, self.lists) = (self.mark.space, self.mark.lists);
        if let Some(slot) = self.mark.orphaned.take() {
            self.open.restore(slot);
        }
        // Handles and the directory that was used last look again.
        self.stamp = self.stamp.wrapping_add(1);
        self.dir = None;
    }
}
