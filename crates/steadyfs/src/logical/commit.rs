//! A transaction ends: it is committed as a whole, or rolled back.

use super::Logical;
use crate::error::Error;
use crate::media::Flash;

impl<F: Flash> Logical<'_, F> {
    /// Ends the changes of a call, or of a step of it, that succeeded: from here on they are not undone with it any more.
    pub fn accept(&mut self) {
        self.ftl.transaction.accept(&mut self.ftl.space);
        self.cache.drop_replaced();
        self.journal.begin();
    }

    /// Undoes the changes of the call in progress. Reads nothing and cannot fail.
    pub fn undo(&mut self) {
        self.journal.undo();
        self.cache.restore_replaced();
        self.ftl.transaction.undo(&mut self.ftl.space);
    }

    /// Makes everything since the last commit durable.
    ///
    /// # Cost
    /// One program, or none when nothing has changed.
    ///
    /// # Power loss
    /// All of the transaction or nothing of it is there.
    pub fn commit(&mut self) -> Result<(), Error> {
        self.write_cache()?;
        if !self.ftl.transaction.has_pages() && !self.journal.is_dirty() {
            self.ftl.transaction.end();
            return Ok(());
        }
        self.make_room(self.ftl.transaction.len() + self.journal.discard_count())?;
        self.ftl.call.in_doubt = false;
        let programmed = self.program_journal();
        self.make_certain(programmed)?;
        self.carry_out();
        Ok(())
    }

    /// After the last program of a commit: empties the device's cache. When nobody knows whether the commit is there, nothing may be programmed any
    /// more that would decide it.
    pub(super) fn make_certain<T>(&mut self, programmed: Result<T, Error>) -> Result<T, Error> {
        if programmed.is_ok() {
            if self.ftl.pages.flush().is_ok() {
                self.ftl.call.flushed = true;
                return programmed;
            }
            self.ftl.call.in_doubt = true;
        }
        if self.ftl.call.in_doubt {
            self.ftl.status.lose_certainty();
            return Err(Error::Unknown);
        }
        programmed
    }

    /// Carries a durable commit out in RAM.
    fn carry_out(&mut self) {
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
        self.release_superseded();
        self.ftl.transaction.clear();
        self.journal.was_committed();
        self.accept();
    }

    /// Releases the old frames of all pages of the transaction that was just carried out, where that is worth a read each.
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

    /// Undoes everything since the last commit. An error leaves everything as it is.
    ///
    /// # Cost
    /// One read; where the medium programs bytes, the records of a block twice.
    pub fn rollback(&mut self) -> Result<(), Error> {
        if self.ftl.status.is_unknown() {
            return Err(Error::Unknown);
        }
        self.ftl.pages.hide();
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

    /// Knows of no page any more where it is: the tables may hold half of a state.
    pub fn forget_state(&mut self) {
        self.ftl.map.forget_all();
        self.ftl.transaction.clear();
        self.journal.clear();
        self.ftl.pages.forget();
    }
}
