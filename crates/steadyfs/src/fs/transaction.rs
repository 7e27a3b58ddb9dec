//! Calls that change something: their first steps, commit and undo.

use super::call::{Call, first_steps};
#[cfg(feature = "groups")]
use super::commits::CommitLimits;
use super::commits::CommitOn;
use super::filesystem::{Change, FileSystem};
use super::room::TransactionRoom;
use crate::error::Error;
use crate::media::Flash;
use crate::reclaim::Work;

/// Maximum number of pages of data and of the file table, and maximum number of inodes, that one
/// call takes. If fewer are left, the call may fail.
pub(super) const PAGES_PER_CALL: u32 = 8;
const INODES_PER_CALL: u32 = 3;

impl<'m, F: Flash> FileSystem<'m, F> {
    /// Chooses the events after which the volume commits. The choice may change at any time.
    /// [`CommitOn::ON_SYNC`] is the default.
    pub fn set_commit_on(&mut self, events: CommitOn) {
        self.commits.set_events(events);
    }

    /// Returns the events after which the volume commits.
    pub fn commit_on(&self) -> CommitOn {
        self.commits.events()
    }

    /// Sets the limits of waiting changes, for [`CommitOn::MANY`]. By default there is no
    /// limit.
    #[cfg(feature = "groups")]
    pub fn set_commit_limits(&mut self, limits: CommitLimits) {
        self.commits.set_limits(limits);
    }

    /// Sets the longest time that a change waits for a commit if [`CommitOn::TIMED`] is chosen,
    /// in the unit of the caller's clock. One second (in nanoseconds) is the default.
    pub fn set_commit_interval(&mut self, interval_ns: u64) {
        self.commits.set_interval(interval_ns);
    }

    /// Sets the time: nanoseconds since 1970, or the time of any clock that does not go back. Later
    /// changes get this time as their time stamp. If the time is never set, changes get no time
    /// stamp. Then an overwrite through a durable handle costs one program less.
    pub fn set_time(&mut self, now_ns: u64) {
        self.volume.set_time(now_ns);
    }

    /// Sets the time, and makes the timed commit if it is due. If changes wait, returns the time at
    /// which to call `poll` again.
    ///
    /// # Power loss
    /// If the call commits, as in [`commit`](Self::commit).
    ///
    /// # Cost
    /// Nothing, or [`Call::Sync`](super::Call::Sync).
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn poll(&mut self, now_ns: u64) -> Result<Option<u64>, Error> {
        self.set_time(now_ns);
        if !self.commits.events().contains(CommitOn::TIMED) || !self.volume.store.logical.is_open()
        {
            return Ok(None);
        }
        let due = self.commits.due_ns();
        if now_ns < due {
            return Ok(Some(due));
        }
        self.commit()?;
        Ok(None)
    }

    /// Lends memory for write-back: [`Config::cache_bytes`](crate::Config::cache_bytes) for a
    /// number of logical pages. Partly written pages then wait in this memory for the commit. Each
    /// of these pages costs one frame for any number of writes. Without such memory
    /// (write-through), each write of a part of a page costs one frame.
    ///
    /// More pages save programs if several files are written in small pieces in long transactions.
    /// But a commit may have to write all these pages.
    ///
    /// # Power loss
    /// Committed data stays, and an open transaction stays open.
    ///
    /// # Cost
    /// A frame for each page that waits in a cache that was lent earlier.
    ///
    /// # Errors
    /// The errors of [every call](FileSystem#errors-of-every-call) that changes something.
    #[cfg(feature = "cache")]
    pub fn lend_cache(&mut self, memory: &'m mut [u8]) -> Result<(), Error> {
        if self.volume.store.logical.has_cached() {
            self.begin(Call::Sync)?;
            let result = self.volume.store.logical.lend_cache(memory);
            return self.finish(result, CommitOn::NONE, false);
        }
        self.volume.store.logical.lend_cache(memory)
    }

    /// Lends memory for pages that are read again and again, such as the pages of directories,
    /// inodes and the map: [`Config::read_cache_bytes`](crate::Config::read_cache_bytes) for a
    /// number of program pages. A page in this memory is not read from the medium again. It is read
    /// again only after it was changed on the medium, or was found in the memory 255 times.
    ///
    /// If a read covers more than a program page, it reads its whole pages from the medium, and
    /// keeps none of them in the memory. Pages that are [not verified](crate::Verify) are not kept
    /// either. Memory that was lent earlier is not used any more.
    ///
    /// # Power loss
    /// Nothing changes: the pages in this memory are also on the medium.
    ///
    /// # Cost
    /// None. The bounds stay the same, because no page is certain to be in this memory.
    #[cfg(feature = "read-cache")]
    pub fn lend_read_cache(&mut self, memory: &'m mut [u8]) {
        self.volume.store.logical.ftl.pages.lend_read_cache(memory);
    }

    /// Makes all changes durable, whichever events are chosen.
    ///
    /// # Power loss
    /// After a power cut, either all changes since the last commit are there, or none of them.
    ///
    /// # Cost
    /// [`Call::Sync`](super::Call::Sync): one program, or no program if nothing has changed. In
    /// addition, the share of reclamation.
    ///
    /// # Errors
    /// The errors of [every call](FileSystem#errors-of-every-call) that changes something.
    pub fn commit(&mut self) -> Result<(), Error> {
        if !self.volume.store.logical.is_open() {
            return Ok(());
        }
        self.volume.store.begin()?;
        let result = self.volume.store.logical.commit();
        if result.is_ok() {
            self.volume.store.end();
        }
        result
    }

    /// Makes all changes durable if `event` is among the [chosen events](Self::set_commit_on).
    /// An application calls it with [`CommitOn::FSYNC`] when it has completed a file, and with
    /// [`CommitOn::SYNC`] for the volume. Both are chosen by default.
    ///
    /// # Errors, cost, power loss
    /// As [`commit`](Self::commit).
    pub fn sync(&mut self, event: CommitOn) -> Result<(), Error> {
        if self.commits.events().contains(event) { self.commit() } else { Ok(()) }
    }

    /// Undoes all changes since the last commit. If a file was created since then, its handles
    /// become [stale](Error::Stale).
    ///
    /// # Power loss
    /// A power cut undoes the same changes.
    ///
    /// # Cost
    /// [`CallBounds::rollback`](super::CallBounds::rollback): one read of the journal page. On
    /// media that program bytes, two reads of all records of the journal's block. Then reads of the
    /// allocation map, and two looks for each open file. If one of the reads after the journal
    /// fails, a later call repeats it.
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::Corrupt`], [`Error::Unknown`]. After these errors, nothing has
    /// changed.
    pub fn rollback(&mut self) -> Result<(), Error> {
        self.volume.store.logical.rollback()?;
        self.volume.outdate_handles();
        self.directories.forget();
        self.lists.set_outdated(true);
        // The rollback is complete, so a failed read does not make it fail.
        let _ = self.reload();
        self.notify(Change::RolledBack);
        Ok(())
    }

    /// After a rollback, reads the tables in RAM again from the volume's own pages, if this was not
    /// done yet.
    pub(super) fn reload(&mut self) -> Result<(), Error> {
        if !self.lists.are_outdated() {
            return Ok(());
        }
        self.lists.load_with_space(&mut self.volume)?;
        self.open.check(&mut self.volume)?;
        self.lists.set_outdated(false);
        Ok(())
    }

    /// Returns the room that is left in the open transaction.
    ///
    /// A call that needs more room may return [`Error::TransactionTooLarge`]. A call within one
    /// logical page then has changed nothing. If [`CommitOn::FULL`] is chosen, the volume commits a
    /// full transaction instead. A larger [`transaction_pages`](crate::Config::transaction_pages)
    /// gives more room.
    ///
    /// The room assumes the worst. On a volume in use it may be 0 bytes even after a
    /// [commit](Self::commit), although a write then fits. So do not wait for more room: try the
    /// call.
    ///
    /// [`Error::TransactionTooLarge`]: crate::Error::TransactionTooLarge
    ///
    /// # Cost
    /// No operation of the medium.
    pub fn transaction_room(&self) -> TransactionRoom {
        // The call may free pages of removed files first.
        let steps = self.lists.steps(&self.volume, self.has_abandoned_orphans());
        TransactionRoom::of(&self.volume, &first_steps(&self.volume, steps, false))
    }

    /// Returns true if changes wait for a commit. The changes of a call that returns an error do
    /// not count. But such a call may have freed pages of removed files first, or written small
    /// changes of earlier calls into their pages. These changes count.
    pub fn has_changes(&self) -> bool {
        self.volume.store.logical.is_open()
    }

    /// Starts a call that changes the volume. If the call fails, its first steps are not undone:
    /// each step that succeeded stays.
    pub(super) fn begin(&mut self, call: Call) -> Result<(), Error> {
        self.begin_named(call, true)
    }

    /// Starts a call as [`begin`](Self::begin) does. If `is_long` is false, every name of the call
    /// fits in an inode.
    pub(super) fn begin_named(&mut self, call: Call, is_long: bool) -> Result<(), Error> {
        // After a rollback, the counts in RAM must be right: they decide if the call has room.
        self.reload()?;
        self.volume.store.begin()?;
        // An undo of this call must not undo earlier calls.
        self.accept();
        // Commit first, so that the call cannot be refused halfway.
        self.commit_if(self.commits_first(call, is_long))?;
        if !self.volume.store.logical.is_open() {
            self.commits.begin(self.volume.now_ns());
        }
        self.commits.count(call);
        // The move of the orphans is committed, so a rollback cannot bring the orphans back. If a
        // transaction is open, only the caller may commit it.
        if self.has_abandoned_orphans() && !self.volume.store.logical.is_open() {
            let result = self
                .lists
                .collect_orphans(&mut self.volume)
                .and_then(|()| self.volume.store.logical.commit());
            self.step(result)?;
        }
        let trims = self.lists.steps(&self.volume, false);
        let commits = self.trims_commit(call, is_long, trims);
        let mut left = trims;
        // Each step frees a few pages of removed files.
        while left > 0 {
            // A step needs room in the transaction as well.
            let lacks_room = self.volume.store.logical.is_open()
                && self.volume.store.bounds().lacks_room(&first_steps(&self.volume, 1, false));
            if !self.lists.trims_first(&self.volume) || (lacks_room && !commits) {
                break;
            }
            self.commit_if(lacks_room)?;
            if left == trims {
                let ahead = first_steps(&self.volume, trims, false).ahead();
                let result = self.volume.store.logical.make_journal_room(ahead);
                self.step(result)?;
            }
            let before = self.volume.space().pages();
            self.trim()?;
            let freed = before.saturating_sub(self.volume.space().pages());
            // The entry of an index was lost. The next call goes on.
            if freed == 0 && !self.lists.may_have_orphans() {
                break;
            }
            left = left.saturating_sub(freed.max(1));
        }
        self.commit_if(commits && self.lacks_room(call, is_long, 0))
    }

    /// Commits, as a step at the beginning of a call.
    fn commit_if(&mut self, commits: bool) -> Result<(), Error> {
        if !commits {
            return Ok(());
        }
        let result = self.volume.store.logical.commit();
        self.step(result)
    }

    /// Returns true if the next call begins with a commit. Not inlined: its stack is free again
    /// while the call works.
    #[inline(never)]
    pub(super) fn commits_first(&self, call: Call, is_long: bool) -> bool {
        // Pages that the open transaction frees can be used only after its commit.
        let last_pages = self.volume.space().used + PAGES_PER_CALL >= self.volume.capacity();
        let last_inodes =
            self.volume.space().inodes + INODES_PER_CALL >= self.volume.plan().files_max();
        // A new transaction first frees pages of removed files. The room for these steps counts
        // here, so that the open transaction is committed early enough.
        let lacks_room = || self.lacks_room(call, is_long, self.lists.steps(&self.volume, false));
        self.commits.events().contains(CommitOn::FULL)
            && self.volume.store.logical.is_open()
            && (last_pages || last_inodes || lacks_room())
    }

    /// Returns true if the open transaction may lack room for a call and for the patches of
    /// `trims` steps of the trim list.
    fn lacks_room(&self, call: Call, is_long: bool, trims: u32) -> bool {
        let first = Work { discards: 0, ..first_steps(&self.volume, trims, false) };
        let bounds = self.volume.store.bounds();
        let lacks_room = |work: Work| bounds.lacks_room(&work.plus(&first));
        call.works(&self.volume, is_long).into_iter().flatten().any(lacks_room)
    }

    /// Returns true if the `trims` steps of the trim list and the call may need more room than one
    /// transaction has. Then commits may come behind the steps.
    #[inline(never)]
    pub(super) fn trims_commit(&self, call: Call, is_long: bool, trims: u32) -> bool {
        if trims == 0 || !self.commits.events().contains(CommitOn::FULL) {
            return false;
        }
        let first = first_steps(&self.volume, trims, false);
        let bounds = self.volume.store.bounds();
        let outgrows = |work: Work| bounds.outgrows_transaction(&work.plus(&first));
        call.works(&self.volume, is_long).into_iter().flatten().any(outgrows)
    }

    /// Ends a step at the beginning of a call.
    fn step(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        match result {
            Ok(()) => self.accept(),
            Err(error) => self.undo(error),
        }
        result
    }

    /// Ends a call that changes the volume. If the call is `durable` or if `event` is chosen,
    /// commits. If the call failed, undoes it: half of a change must not become part of the open
    /// transaction.
    pub(super) fn finish<T>(
        &mut self,
        result: Result<T, Error>,
        event: CommitOn,
        durable: bool,
    ) -> Result<T, Error> {
        // A commit that fails undoes the call as well.
        let result = result.and_then(|value| {
            if durable || self.commits.commits_on(event) {
                self.volume.store.logical.commit()?;
            }
            Ok(value)
        });
        match &result {
            Ok(_) => self.volume.store.end(),
            Err(error) => self.undo(*error),
        }
        result
    }

    /// Makes the present state the target of [`undo`](Self::undo).
    pub(super) fn accept(&mut self) {
        self.volume.accept();
        self.lists.accept();
        self.open.accept();
    }

    /// Undoes the changes of the call since the mark. It reads nothing and cannot fail.
    fn undo(&mut self, error: Error) {
        if error == Error::Unknown {
            // The volume is read-only now. Until the next mount it shows the state that the call
            // would have made.
            return;
        }
        self.volume.undo();
        self.lists.undo();
        self.open.undo();
        // Handles and the directory that was used last read their inodes again.
        self.volume.outdate_handles();
        self.directories.forget();
    }

    /// Makes a step of freeing, and ends it. If an inode or an index cannot be read, it is read
    /// again. If a further read succeeds, the call fails, and can be repeated. If no read succeeds,
    /// the pages stay in use until a repair, and the call does not fail.
    fn trim(&mut self) -> Result<(), Error> {
        let result = self.lists.trim_step(&mut self.volume, false);
        match self.step(result) {
            Err(Error::Corrupt) if !self.volume.pages_can_be_freed(self.lists.trim() - 1)? => {}
            result => return result,
        }
        // The failed step was undone, so pages in RAM may be stale.
        self.volume.store.begin()?;
        let given_up = match self.lists.trim_step(&mut self.volume, true) {
            Err(Error::Corrupt) => self.lists.give_up_trim(&mut self.volume),
            result => result,
        };
        self.step(given_up)
    }
}
