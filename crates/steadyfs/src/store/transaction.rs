//! Reading, and changing within a transaction.

use super::Store;
use super::edit::{Edit, Piece};
use super::program::Source;
use crate::config::COPIED_MAX;
use crate::error::Error;
use crate::journal::Full;
use crate::media::{Flash, Kind, Kinds, TAG_BYTES};
use crate::pages::check_page;
use crate::space::{Frame, NONE};

impl<F: Flash> Store<'_, F> {
    /// Starts a call that may change the volume.
    ///
    /// The first one after a mount writes the journal page: after a power cut it proves that the other heads may have been
    /// in use, and its absence that they were not, so that restarts without a write cost no frames.
    pub fn begin(&mut self) -> Result<(), Error> {
        if self.status.is_read_only() {
            return Err(Error::ReadOnly);
        }
        self.call = self.new_call();
        self.pages.hide();
        self.note_weak();
        self.catch_up()?;
        if self.is_worn_out() && !self.is_open() {
            return self.give_up();
        }
        self.patrol()?;
        if self.ring.is_closed() {
            self.open_ring()?;
            self.call.opened = true;
        }
        self.accept();
        self.write_owed()?;
        if self.space.is_unmarked() {
            debug_assert!(self.transaction.len() == 0 && !self.journal.is_dirty());
            self.program_journal()?;
            self.pages.keep_order()?;
            self.space.set_unmarked(false);
        }
        Ok(())
    }

    /// Reads bytes of a logical page as the open transaction sees it; what was never written reads as zero.
    ///
    /// # Cost
    /// One read for the map, where the overlay does not know, and one per program page.
    pub fn read(&mut self, logical: u32, offset: u32, data: &mut [u8]) -> Result<(), Error> {
        if self.read_cached(logical, offset, data) {
            return Ok(());
        }
        let frame = self.frame_of(logical)?;
        self.read_frame(frame, logical, offset, data, true)
    }

    /// The same for what users wrote, which is checked as they [wish](Verify). Small reads of one page after the other copy from the page buffer, without
    /// a look at map, cache and journal, until a call begins that may change something.
    pub fn read_content(&mut self, logical: u32, offset: u32, data: &mut [u8]) -> Result<(), Error> {
        let page_bytes = self.layout.geometry.page_bytes;
        let (index, within) = (offset / page_bytes, (offset % page_bytes) as usize);
        if let Some(page) = self.pages.shown(logical, index)
            && let Some(bytes) = page.get(within..within + data.len())
        {
            data.copy_from_slice(bytes);
            return Ok(());
        }
        if self.read_cached(logical, offset, data) {
            return Ok(());
        }
        let frame = self.frame_of(logical)?;
        let is_unsteady = self.status.is_unsteady();
        let is_checked = self.pages.checks_content() || is_unsteady;
        let is_part = within + data.len() < page_bytes as usize;
        if is_part && !is_unsteady && self.show_page(frame, logical, index, is_checked)? {
            data.copy_from_slice(&self.pages.bytes()[within..within + data.len()]);
            return Ok(());
        }
        self.read_frame(frame, logical, offset, data, is_checked)
    }

    /// Makes page `index` of a logical page, as the caller sees it, what the page buffer shows. One on which patches are to be laid is made only when it is
    /// asked for a second time: it is none of the medium then.
    fn show_page(&mut self, frame: Frame, logical: u32, index: u32, is_checked: bool) -> Result<bool, Error> {
        let page_bytes = self.layout.geometry.page_bytes;
        let start = index * page_bytes;
        let is_whole = frame != 0 && !self.journal.patches_within(logical, start..start + page_bytes);
        if !is_whole && !self.pages.asks_again(logical, index) {
            return Ok(false);
        }
        let page = self.layout.frame_page(frame) + index;
        if frame == 0 {
            self.pages.bytes_mut().fill(0);
        } else {
            self.pages.load_as(page, self.wanted(Kinds::DATA, logical), is_checked)?;
        }
        if is_whole {
            self.pages.show(page, logical, index);
        } else {
            self.journal.apply(logical, start, self.pages.bytes_mut());
            self.pages.show_made(logical, index);
        }
        self.note_weak();
        Ok(true)
    }

    /// Reads bytes of a logical page that the cache has, patches included; `false` where it has not.
    fn read_cached(&mut self, logical: u32, offset: u32, data: &mut [u8]) -> bool {
        let Some(slot) = self.cache.find(logical) else { return false };
        data.copy_from_slice(&self.cache.page(slot)[offset as usize..offset as usize + data.len()]);
        self.journal.apply(logical, offset, data);
        true
    }

    /// Reads bytes of a logical page that lies in a frame, or in none, patches included.
    fn read_frame(&mut self, frame: Frame, logical: u32, offset: u32, data: &mut [u8], is_checked: bool) -> Result<(), Error> {
        if frame == 0 {
            data.fill(0);
        } else {
            let page_bytes = self.layout.geometry.page_bytes as usize;
            let first = self.layout.frame_page(frame);
            let mut done = 0;
            while done < data.len() {
                let at = offset as usize + done;
                let (index, within) = (at / page_bytes, at % page_bytes);
                let length = (page_bytes - within).min(data.len() - done);
                let target = &mut data[done..done + length];
                let page = first + index as u32;
                if length == page_bytes && !self.pages.holds(page) && !self.status.is_unsteady() {
                    let mut tag = [0; TAG_BYTES];
                    self.pages.read_to(page, target, &mut tag)?;
                    let check = is_checked.then(|| self.pages.checksum(target, 0));
                    check_page(check, &tag, Kinds::DATA, logical)?;
                } else {
                    self.pages.load_as(page, self.wanted(Kinds::DATA, logical), is_checked)?;
                    target.copy_from_slice(&self.pages.bytes()[within..within + length]);
                }
                done += length;
            }
        }
        self.journal.apply(logical, offset, data);
        self.note_weak();
        Ok(())
    }

    /// Makes page `index` of a logical page in the page buffer: what `base` holds, the journal's patches, `bytes` at `offset`.
    pub(super) fn compose_page(&mut self, logical: u32, base: u32, index: u32, offset: u32, bytes: &[u8]) -> Result<(), Error> {
        let page_bytes = self.layout.geometry.page_bytes;
        let start = index * page_bytes;
        let (from, to) = (offset.max(start), (offset + bytes.len() as u32).min(start + page_bytes));
        if from < to && to - from == page_bytes {
        } else {
            self.load_base(logical, base, index)?;
        }
        self.journal.apply(logical, start, self.pages.bytes_mut());
        if from < to {
            let source = &bytes[(from - offset) as usize..(to - offset) as usize];
            self.pages.bytes_mut()[(from - start) as usize..(to - start) as usize].copy_from_slice(source);
        }
        Ok(())
    }

    /// Makes page `index` of a logical page in the page buffer, without patches: what the cache has, or `base`.
    pub(super) fn load_base(&mut self, logical: u32, base: u32, index: u32) -> Result<(), Error> {
        let page_bytes = self.layout.geometry.page_bytes;
        let start = index * page_bytes;
        if let Some(slot) = self.cache.find(logical) {
            let cached = &self.cache.page(slot)[start as usize..(start + page_bytes) as usize];
            self.pages.bytes_mut().copy_from_slice(cached);
        } else if base == 0 {
            self.pages.bytes_mut().fill(0);
        } else {
            self.pages.load(self.layout.frame_page(base) + index, self.wanted(Kinds::DATA, logical))?;
        }
        Ok(())
    }

    /// Tells whether the call in progress ends with a commit right after its next [`write`](Self::write) or [`patch`](Self::patch).
    pub fn will_commit(&mut self, commits: bool) {
        self.call.commits = commits;
    }

    /// Writes bytes of a logical page: as a new frame, or into the cache where there is one and they are not the whole page. `bytes`
    /// lie within the page; the rest of it stays. Nothing that can fail follows in the call but its [commit](Self::will_commit).
    ///
    /// A write that is the whole transaction, and that a commit follows, is durable on return without a journal page; the caller still
    /// calls [`commit`](Self::commit), which then has nothing to do.
    ///
    /// # Cost
    /// `unit_pages` programs; as many reads, and one for the map, when the page is not written as a whole.
    fn write(&mut self, piece: &Piece<'_>) -> Result<(), Error> {
        let Piece { logical, bytes, stream, .. } = *piece;
        let source = if bytes.len() as u32 == self.layout.logical_bytes {
            Source::Whole { bytes, stream }
        } else if self.caches() {
            return self.write_back(piece);
        } else {
            Source::Merged { base: self.frame_of(logical)?, piece: *piece }
        };
        let commits = self.call.commits && self.is_alone(logical);
        if commits { self.commit_page(logical, &source) } else { self.write_source(logical, &source) }
    }

    /// Writes logical page `of`, as `edit` changes each program page of it, as logical page `logical`; both may be the same. Costs
    /// what [`write`](Self::write) does.
    pub fn write_edited(&mut self, logical: u32, of: u32, edit: Edit) -> Result<(), Error> {
        let base = match edit {
            Edit::Salvage { .. } | Edit::Lost => self.frame_or_lost(of)?,
            _ => self.frame_of(of)?,
        };
        self.write_source(logical, &Source::Edited { of, base, edit })
    }

    /// Whether nothing waits for a commit beside a logical page that is written as a whole.
    pub(super) fn is_alone(&self, logical: u32) -> bool {
        let cached = u32::from(self.cache.find_dirty(logical).is_some());
        self.cache.dirty() == cached && self.transaction.len() == 0 && !self.journal.is_dirty() && !self.journal.patches(logical)
    }

    /// Whether anything waits for a commit, or logical pages from `first` on have patches in the journal buffer.
    pub fn waits_beside(&self, first: u32) -> bool {
        self.is_open() || self.journal.patched_from(first).is_some()
    }

    /// Writes a logical page as a frame that commits itself.
    pub(super) fn commit_page(&mut self, logical: u32, source: &Source<'_>) -> Result<(), Error> {
        self.check_logical(logical)?;
        self.call.frames += 1;
        self.make_room(1)?;
        self.call.in_doubt = false;
        let programmed = self.program_frame(Kind::DataCommit, logical, source);
        let frame = self.make_certain(programmed)?;
        self.transaction.end();
        self.cache.drop(logical);
        self.map_set(logical, frame);
        self.release_old(logical);
        Ok(())
    }

    /// Programs a frame that waits for the commit.
    fn program_pending(&mut self, logical: u32, source: &Source<'_>) -> Result<u32, Error> {
        self.check_logical(logical)?;
        self.check_pending_room(logical)?;
        self.call.frames += 1;
        let before = self.space.sequence();
        self.program_frame(Kind::Data, logical, source).inspect_err(|_| {
            if self.space.sequence() != before {
                self.transaction.owe(logical);
            }
        })
    }

    /// Ends the changes of a call, or of a step of it, that succeeded: from here on they are not undone with it any more.
    pub fn accept(&mut self) {
        self.transaction.accept(&mut self.space);
        self.cache.drop_replaced();
        self.journal.begin();
    }

    /// Undoes the changes of the call in progress. Reads nothing and cannot fail.
    pub fn undo(&mut self) {
        self.journal.undo();
        self.cache.restore_replaced();
        self.transaction.undo(&mut self.space);
    }

    /// Programs the pages once more of which the medium holds something later that does not count.
    pub(super) fn write_owed(&mut self) -> Result<(), Error> {
        self.transaction.restart_if_empty();
        for index in 0..self.transaction.len() {
            if self.transaction.is_owed(index) {
                self.flush_page(self.transaction.entry(index).0)?;
            }
        }
        Ok(())
    }

    /// Writes a logical page as a new frame.
    fn write_source(&mut self, logical: u32, source: &Source<'_>) -> Result<(), Error> {
        let is_first = self.transaction.note_replaced(logical)?;
        let before = self.space.sequence();
        let programmed = self.program_pending(logical, source);
        if programmed.is_err() && is_first && self.space.sequence() == before {
            self.transaction.drop_note();
        }
        let frame = programmed?;
        // The new page supersedes patches and a discard of the old one, and what the cache has.
        self.journal.supersede(logical);
        self.cache.replace(logical);
        self.transaction.set(logical, frame, !is_first, &mut self.space);
        Ok(())
    }

    /// Writes a logical page as a new frame with the content that it had before the call. That stays so when the call is undone.
    pub(super) fn write_same(&mut self, logical: u32, source: &Source<'_>) -> Result<(), Error> {
        let frame = self.program_pending(logical, source)?;
        self.journal.remove_earlier(logical);
        self.cache.drop(logical);
        self.transaction.set(logical, frame, true, &mut self.space);
        Ok(())
    }

    /// Changes a few bytes of a logical page. They share one journal page with all other patches of the transaction.
    ///
    /// # Cost
    /// Nothing while the journal buffer has room; at most two frames otherwise. The logical page that takes most of the buffer is
    /// written if that makes enough room, or else the patched one.
    pub fn patch(&mut self, logical: u32, offset: u32, bytes: &[u8]) -> Result<(), Error> {
        self.patch_piece(&Piece { logical, offset, bytes, stream: 0 })
    }

    /// The same; of a stream, where the page is written.
    fn patch_piece(&mut self, piece: &Piece<'_>) -> Result<(), Error> {
        let Piece { logical, offset, bytes, .. } = *piece;
        debug_assert!(bytes.len() <= self.journal.patch_bytes_max());
        self.check_logical(logical)?;
        if self.cache.find_dirty(logical).is_some() {
            return self.write(piece);
        }
        let most = self.layout.patched_pages_max();
        if !self.journal.patches(logical) && self.journal.patched_pages() >= most {
            self.flush_next()?;
        }
        let needed = self.journal.patch_room(bytes.len()) as u32;
        while let Err(Full) = self.journal.insert(logical, offset, bytes) {
            match self.journal.largest() {
                Some((largest, room)) if self.journal.room() + room as u32 >= needed || self.transaction.is_undo_full() => {
                    self.flush_page(largest)?;
                    self.flush_small()?;
                }
                // The bytes go with the page.
                _ => return self.write_through(piece),
            }
        }
        Ok(())
    }

    /// Changes bytes of a logical page, in whichever way costs less: as a [`patch`](Self::patch), or by a [`write`](Self::write) of the page where
    /// they are many, where the journal buffer has no room beside what it has of that very page, or where `grows` says that the page's content ends
    /// with these bytes and they complete it. Nothing that can fail follows in the call but its commit.
    pub fn write_or_patch(&mut self, piece: &Piece<'_>, grows: bool) -> Result<(), Error> {
        let Piece { logical, offset, bytes, .. } = *piece;
        if bytes.len() > self.patch_bytes_max() {
            return self.write(piece);
        }
        let length = bytes.len() as u32;
        let is_full = self.journal.room() < self.journal.patch_room(bytes.len()) as u32;
        let is_own = is_full && self.journal.largest().is_some_and(|(largest, _)| largest == logical);
        let completes =
            grows && offset + length == self.layout.logical_bytes && self.may_complete(self.journal.bytes_of(logical), length);
        if !is_own && !completes {
            return self.patch_piece(piece);
        }
        // What is written into the cache cannot be undone: nothing that can fail follows.
        let flushes = is_own && !self.caches();
        self.write(piece)?;
        if flushes { self.flush_small() } else { Ok(()) }
    }

    /// Changes bytes of a logical page as a [`patch`](Self::patch), or writes it where the medium programs bytes and what the next commit would
    /// program of the page is as much as half of it. Never into the cache: a page of inodes there would take what cannot be undone.
    pub fn patch_or_write_through(&mut self, logical: u32, offset: u32, bytes: &[u8]) -> Result<(), Error> {
        let fresh = self.journal.fresh_bytes_of(logical) + bytes.len() as u32;
        let writes = self.layout.programs_bytes()
            && 2 * fresh >= self.layout.logical_bytes
            && !self.transaction.is_undo_full()
            && self.pending_room() > 0;
        let piece = Piece { logical, offset, bytes, stream: 0 };
        if writes { self.write_through(&piece) } else { self.patch_piece(&piece) }
    }

    /// Whether a page is written at once when bytes at its end complete it, with so many in the journal buffer: where pages are small, with a
    /// quarter of it. What grows on does so elsewhere, and would only fill the buffer here. Where pages are large that gains little, and
    /// the bound of every append would be higher.
    fn may_complete(&self, patched: u32, bytes: u32) -> bool {
        self.layout.programs_bytes() && patched + bytes >= self.layout.logical_bytes / 4
    }

    /// Whether a patch of so many bytes of any page may complete it, as the journal buffer is now.
    pub fn may_be_completed(&self, bytes: u32) -> bool {
        self.may_complete(self.journal.largest().map_or(0, |(_, patched)| patched as u32), bytes)
    }

    /// Writes a page as the call in progress leaves it, because that takes much of the journal buffer.
    fn write_through(&mut self, piece: &Piece<'_>) -> Result<(), Error> {
        let source = Source::Merged { base: self.frame_of(piece.logical)?, piece: *piece };
        self.write_source(piece.logical, &source)
    }

    /// The frame of a logical page, or [`NONE`] where nobody knows it any more.
    fn frame_or_lost(&mut self, logical: u32) -> Result<u32, Error> {
        match self.frame_of(logical) {
            Err(Error::Corrupt) if self.is_missing(logical)? => Ok(NONE),
            frame => frame,
        }
    }

    /// Writes a page as the journal buffer had it before the call, which makes room there.
    pub(super) fn flush_page(&mut self, logical: u32) -> Result<(), Error> {
        let source = Source::Earlier { base: self.frame_or_lost(logical)? };
        self.write_same(logical, &source)
    }

    /// After the page with most patches was written: writes one of the pages that have little in the journal, once in a call.
    fn flush_small(&mut self) -> Result<(), Error> {
        if !self.journal.note_flush() || self.call.flushed_small || self.pending_room() < 2 {
            return Ok(());
        }
        self.call.flushed_small = true;
        self.flush_next()
    }

    /// Writes one of the pages that had patches in the journal before the call, each in its turn.
    fn flush_next(&mut self) -> Result<(), Error> {
        match self.journal.take_turn() {
            Some(logical) => self.flush_page(logical),
            None => Ok(()),
        }
    }

    /// Forgets a logical page: it reads as zero and its frame is won back.
    pub fn discard(&mut self, logical: u32) -> Result<(), Error> {
        self.check_logical(logical)?;
        if self.commit_room() == 0 && !self.journal.is_discarded(logical) {
            return Err(Error::TransactionTooLarge);
        }
        if self.transaction.knows(logical) {
            let is_first = self.transaction.note_replaced(logical)?;
            // The place in the table stays taken until the commit, as it does when the records are read again at a mount.
            self.transaction.set(logical, 0, !is_first, &mut self.space);
        }
        self.journal.supersede(logical);
        self.cache.replace(logical);
        while let Err(Full) = self.journal.insert_discard(logical) {
            match (self.journal.largest(), self.journal.largest_own()) {
                (Some((largest, _)), _) => self.flush_page(largest)?,
                (None, Some((own, _))) => self.write_through(&Piece { logical: own, offset: 0, bytes: &[], stream: 0 })?,
                (None, None) => return Err(Error::TransactionTooLarge),
            }
        }
        Ok(())
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
        if !self.transaction.has_pages() && !self.journal.is_dirty() {
            self.transaction.end();
            return Ok(());
        }
        self.make_room(self.transaction.len() + self.journal.discard_count())?;
        self.call.in_doubt = false;
        let programmed = self.program_journal();
        self.make_certain(programmed)?;
        self.carry_out();
        Ok(())
    }

    /// After the last program of a commit: empties the device's cache. When nobody knows whether the commit is there, nothing may be programmed any
    /// more that would decide it.
    fn make_certain<T>(&mut self, programmed: Result<T, Error>) -> Result<T, Error> {
        if programmed.is_ok() {
            if self.pages.flush().is_ok() {
                self.call.flushed = true;
                return programmed;
            }
            self.call.in_doubt = true;
        }
        if self.call.in_doubt {
            self.status.lose_certainty();
            return Err(Error::Unknown);
        }
        programmed
    }

    /// Carries a durable commit out in RAM.
    fn carry_out(&mut self) {
        self.accept();
        self.transaction.end();
        let mut from = 0;
        while let Some(logical) = self.journal.next_discard(from) {
            self.map_set(logical, 0);
            from = logical + 1;
        }
        for index in 0..self.transaction.len() {
            let (logical, frame) = self.transaction.entry(index);
            self.map_set(logical, frame);
        }
        self.release_superseded();
        self.transaction.clear();
        self.journal.was_committed();
        self.accept();
    }

    /// Releases the old frames of all pages of the transaction that was just carried out, where that is worth a read each.
    fn release_superseded(&mut self) {
        let mut from = 0;
        while let Some(logical) = self.journal.next_discard(from) {
            self.release_old(logical);
            from = logical + 1;
        }
        for index in 0..self.transaction.len() {
            self.release_old(self.transaction.entry(index).0);
        }
    }

    /// Undoes everything since the last commit. An error leaves everything as it is.
    ///
    /// # Cost
    /// One read; where the medium programs bytes, the records of a block twice.
    pub fn rollback(&mut self) -> Result<(), Error> {
        if self.status.is_unknown() {
            return Err(Error::Unknown);
        }
        self.pages.hide();
        if self.journal.is_dirty() {
            self.records().restore().inspect_err(|&error| {
                if error == Error::Unknown {
                    self.status.lose_certainty();
                }
            })?;
        }
        self.cache.clear();
        self.transaction.roll_back(&mut self.space);
        Ok(())
    }

    /// Lets `look` see program page `index` of a logical page, as the open transaction has it.
    ///
    /// # Cost
    /// One read, and one for the map where the overlay does not know.
    pub fn with_page<R>(&mut self, logical: u32, index: u32, look: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        let frame = self.frame_of(logical)?;
        if frame == 0 || self.journal.patches(logical) || self.cache.find(logical).is_some() {
            self.compose_page(logical, frame, index, 0, &[])?;
        } else {
            self.pages.load(self.layout.frame_page(frame) + index, self.wanted(Kinds::DATA, logical))?;
        }
        Ok(look(self.pages.bytes()))
    }

    /// Logical pages that the open transaction may still write.
    pub fn pending_room(&self) -> u32 {
        let waiting = self.cache.waiting_pages().filter(|&logical| !self.transaction.knows(logical)).count() as u32;
        (self.transaction.capacity() - self.transaction.len()).min(self.commit_room()).saturating_sub(waiting)
    }

    /// Changes of the map that the commit of the open transaction may make beside those that it has: an empty overlay has room for all of them.
    fn commit_room(&self) -> u32 {
        self.map.capacity().saturating_sub(self.transaction.len() + self.journal.discard_count() + COPIED_MAX)
    }

    /// Refuses one more page when the table of pending pages has no place for it, those that wait in the cache counted.
    pub(super) fn check_pending_room(&self, logical: u32) -> Result<(), Error> {
        let has_place = self.transaction.knows(logical) || self.cache.find_dirty(logical).is_some();
        if has_place || self.pending_room() > 0 { Ok(()) } else { Err(Error::TransactionTooLarge) }
    }

    /// Longest patch that is worth a place in the journal; longer changes write their logical page.
    pub fn patch_bytes_max(&self) -> usize {
        self.journal.small_patch_bytes_max(&self.layout)
    }

    /// Whether anything waits for a commit.
    pub fn is_open(&self) -> bool {
        self.transaction.has_pages() || self.journal.is_dirty() || self.cache.dirty() > 0
    }
}
