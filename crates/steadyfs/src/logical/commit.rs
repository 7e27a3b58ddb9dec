//! The end of a transaction: commit or rollback.

use super::Logical;
use crate::error::Error;
use crate::media::Flash;

impl<F: Flash> Logical<'_, F> {
    /// Accepts the changes of a call that succeeded, or of a part of a call. A later undo of the
    /// call does not undo these changes.
    pub fn accept(&mut self) {
        self.ftl.transaction.accept(&mut self.ftl.space);
        self.cache.drop_replaced();
        self.journal.begin();
    }

    /// Undoes the changes of the call in progress that are not accepted. Reads nothing and cannot
    /// fail.
    pub fn undo(&mut self) {
        self.journal.undo();
        self.cache.restore_replaced();
        self.ftl.transaction.undo(&mut self.ftl.space);
    }

    /// Makes everything since the last commit durable.
    ///
    /// # Cost
    /// One program, or none if nothing has changed.
    ///
    /// # Power loss
    /// After a power cut, all of the transaction is on the medium, or nothing of it.
    pub fn commit(&mut self) -> Result<(), Error> {
        // Dirty pages in the cache are part of the transaction, so they are written before its
        // commit.
        self.write_cache()?;
        // The last page may have committed itself.
        if !self.ftl.transaction.has_pages() && !self.journal.is_dirty() {
            self.ftl.transaction.end();
            return Ok(());
        }
        // No leaf may be written between the commit and its overlay entries.
        self.make_room(self.ftl.transaction.len() + self.journal.discard_count())?;
        self.ftl.call.in_doubt = false;
        let programmed = self.program_journal();
        self.make_certain(programmed)?;
        self.carry_out();
        Ok(())
    }

    /// Flushes the device's cache after the last program of a commit. If it is then unknown whether
    /// the commit is on the medium, the volume becomes read-only until the next mount. No later
    /// program may change whether the commit counts.
    pub(super) fn make_certain<T>(&mut self, programmed: Result<T, Error>) -> Result<T, Error> {
        if programmed.is_ok() {
            if self.ftl.pages.flush().is_ok() {
                self.ftl.call.flushed = true;
                return programmed;
            }
            // After a failed flush the device may have lost the commit.
            self.ftl.call.in_doubt = true;
        }
        if self.ftl.call.in_doubt {
            self.ftl.status.lose_certainty();
            return Err(Error::Unknown);
        }
        programmed
    }

    /// Applies a durable commit to the tables in RAM.
    fn carry_out(&mut self) {
        // The commit is durable, so nothing can fail or be undone from here on.
        self.accept();
        self.ftl.transaction.end();
        let mut from = 0;
        while let Some(logical) = self.journal.next_discard(from) {
            self.ftl.map_set(logical, 0);
            from = logical + 1;
        }
        for index in 0..self.ftl.transaction.len() {
            let (logical, frame) = self.ftl.transaction.entry(index);
            self.ftl.map_set(logical, frame);
        }
        // The tables still list the pages of the transaction, whose old frames are released here.
        self.release_superseded();
        self.ftl.transaction.clear();
        self.journal.finish_commit();
        self.accept();
    }

    /// Releases the old frames of all pages of the applied transaction, if few frames are left.
    /// Each page then costs a read.
    fn release_superseded(&mut self) {
        let mut from = 0;
        while let Some(logical) = self.journal.next_discard(from) {
            self.ftl.release_old(logical);
            from = logical + 1;
        }
        for index in 0..self.ftl.transaction.len() {
            self.ftl.release_old(self.ftl.transaction.entry(index).0);
        }
    }

    /// Undoes everything since the last commit. If it returns an error, nothing was undone.
    ///
    /// # Cost
    /// One read. On media that program bytes, it reads the journal records of a block twice.
    pub fn rollback(&mut self) -> Result<(), Error> {
        if self.ftl.status.is_unknown() {
            return Err(Error::Unknown);
        }
        // The page buffer may show a page as the transaction has changed it.
        self.ftl.pages.invalidate_resident();
        // The journal is restored first, because only its read can fail.
        if self.journal.is_dirty() {
            self.records().restore().inspect_err(|&error| {
                if error == Error::Unknown {
                    self.ftl.status.lose_certainty();
                }
            })?;
        }
        self.cache.clear();
        self.ftl.transaction.roll_back(&mut self.ftl.space);
        Ok(())
    }

    /// Marks every page as lost, because the tables may hold only a part of a state.
    pub fn forget_state(&mut self) {
        self.ftl.map.forget_all();
        self.ftl.transaction.clear();
        self.journal.clear();
        self.ftl.pages.forget();
    }
}
