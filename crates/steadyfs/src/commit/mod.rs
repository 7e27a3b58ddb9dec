//! The open transaction: its pages are pending until the commit. A call that fails does not change
//! the transaction.
//!
//! The [journal](crate::journal) and the cache undo their own part of a failed call. This module
//! restores the frames of pages. A page that the call writes or discards as a whole gets another
//! pending frame, and its earlier frame stays live until the call ends.
//!
//! The pages that the failed call programmed stay on the medium, and roll-forward will count them
//! as part of the transaction. So after an undo these pages are *stale*. The pending entry of a
//! stale page names its valid frame, and the page is programmed once more when the next call
//! begins. If a stale entry has no frame, it only keeps its place in the table, because
//! roll-forward needs this place as well. If only entries without a frame are left, the transaction
//! starts anew instead. Its commit then names a later start, and roll-forward discards the pages
//! that were programmed before that start.

mod cache;
mod undo;

pub(crate) use cache::{Cache, ENTRY_BYTES as CACHE_ENTRY_BYTES};

use crate::config::Layout;
use crate::error::Error;
use crate::media::is_same_start;
use crate::space::{Frame, NONE, Space};
use crate::table::Pairs;
use undo::Undo;

pub(crate) use undo::PAGES_MAX as UNDO_PAGES;

/// No transaction is open.
pub(crate) const IDLE: u64 = u64::MAX;

/// The open transaction. See the [module](self).
pub(crate) struct Transaction<'m> {
    /// Logical pages and their frames; 0 for a discarded page.
    pages: Pairs<'m>,
    undo: Undo,
    /// Sequence number of the transaction's first program.
    start: u64,
    /// Sequence number of the first program of the transaction that roll-forward committed last.
    committed_start: u64,
}

impl<'m> Transaction<'m> {
    /// Returns a transaction with a table for its pages.
    pub fn new(pages: Pairs<'m>) -> Self {
        Self { pages, undo: Undo::default(), start: IDLE, committed_start: IDLE }
    }

    /// Returns the bit of a frame that marks a stale page. The medium holds a later version of such
    /// a page, but that version is not valid.
    fn stale_bit(&self) -> u32 {
        1 << (self.pages.width() * 8 - 1)
    }

    /// Returns the number of pages with a place in the table.
    pub fn len(&self) -> u32 {
        self.pages.len()
    }

    /// Returns the number of places in the table.
    pub fn capacity(&self) -> u32 {
        self.pages.capacity()
    }

    /// Returns the number of used places in the table. It includes the places that pages of the
    /// cache will use.
    pub fn places(&self, cache: &Cache<'_>) -> u32 {
        self.len() + cache.waiting_pages().filter(|&logical| !self.knows(logical)).count() as u32
    }

    /// Returns true if a page has a place in the table.
    pub fn knows(&self, logical: u32) -> bool {
        self.pages.find(logical).is_some()
    }

    /// Returns the logical page at a place of the table, and its frame. The frame is 0 if the
    /// page was discarded, or only its place is kept.
    pub fn entry(&self, index: u32) -> (u32, Frame) {
        (self.pages.key(index), self.pages.value(index) & !self.stale_bit())
    }

    /// Returns the frame of a logical page: 0 if the page was discarded, `None` if the transaction
    /// has no frame for the page.
    pub fn frame_of(&self, logical: u32) -> Option<Frame> {
        let value = self.pages.value(self.pages.find(logical)?);
        (value != self.stale_bit()).then_some(value & !self.stale_bit())
    }

    /// Returns the place of a page in the table, and the frame there.
    fn placed(&self, logical: u32) -> Option<(u32, Frame)> {
        let index = self.pages.find(logical)?;
        Some((index, self.pages.value(index) & !self.stale_bit()))
    }

    /// Returns true if `frame` is the frame of the page in the table.
    pub fn holds(&self, logical: u32, frame: Frame) -> bool {
        self.placed(logical).is_some_and(|(_, held)| held == frame)
    }

    /// Returns true if the transaction has pending pages.
    pub fn has_pages(&self) -> bool {
        (0..self.pages.len()).any(|index| self.pages.value(index) != self.stale_bit())
    }

    /// Returns the number of pages that must be programmed once more.
    pub fn stale_pages(&self) -> u32 {
        (0..self.pages.len()).filter(|&index| self.is_stale(index)).count() as u32
    }

    /// Returns true if the page at a place of the table must be programmed once more.
    pub fn is_stale(&self, index: u32) -> bool {
        self.pages.value(index) & self.stale_bit() != 0
    }

    /// Gives a page another frame. If `releases` is true, no undo needs the earlier frame, so it is
    /// released.
    pub fn set(&mut self, logical: u32, frame: Frame, releases: bool, space: &mut Space<'_>) {
        match self.placed(logical) {
            Some((index, old)) => {
                self.pages.set_value(index, frame);
                if releases {
                    space.release(old);
                }
            }
            None => {
                let inserted = self.pages.insert(logical, frame);
                debug_assert!(inserted, "there was room before the program");
            }
        }
    }

    /// Changes the frame of a page that reclamation moved. Returns `false` if the transaction
    /// does not contain the page.
    pub fn move_page(&mut self, logical: u32, to: Frame) -> bool {
        let Some(index) = self.pages.find(logical) else { return false };
        self.pages.set_value(index, to | self.pages.value(index) & self.stale_bit());
        true
    }

    /// Marks a page as stale: its program failed, but the page may be on the medium all the same.
    pub fn mark_stale(&mut self, logical: u32) {
        match self.pages.find(logical) {
            Some(index) => self.pages.set_value(index, self.pages.value(index) | self.stale_bit()),
            // The table has room: the caller checked this before the program.
            None => drop(self.pages.insert(logical, self.stale_bit())),
        }
    }

    /// Notes the earlier entry of a page that the call replaces. Returns true if the call has not
    /// replaced this page before.
    pub fn note_replaced(&mut self, logical: u32) -> Result<bool, Error> {
        if self.undo.has(logical) {
            return Ok(false);
        }
        let before = self.pages.find(logical).map_or(NONE, |index| self.pages.value(index));
        if self.undo.note(logical, before) { Ok(true) } else { Err(Error::TransactionTooLarge) }
    }

    /// Removes the last note, because its page was not programmed after all.
    pub fn drop_note(&mut self) {
        self.undo.take_last();
    }

    /// Returns true if there is no room for another note.
    pub fn is_undo_full(&self) -> bool {
        self.undo.is_full()
    }

    /// Accepts the changes of a successful call, or of a successful step of a call. A later undo
    /// does not include these changes.
    pub fn accept(&mut self, space: &mut Space<'_>) {
        for &(logical, before) in self.undo.pages() {
            if before != NONE && self.frame_of(logical) != Some(before & !self.stale_bit()) {
                space.release(before & !self.stale_bit());
            }
        }
        self.undo.clear();
    }

    /// Undoes the changes of the call in progress. The medium holds later versions of the changed
    /// pages, so these pages become stale. The function reads nothing and cannot fail.
    pub fn undo(&mut self, space: &mut Space<'_>) {
        while let Some((logical, before)) = self.undo.take_last() {
            let before = if before == NONE { 0 } else { before & !self.stale_bit() };
            let Some((index, frame)) = self.placed(logical) else { continue };
            self.pages.set_value(index, before | self.stale_bit());
            if frame != before {
                space.release(frame);
            }
        }
        self.restart_if_empty();
    }

    /// Lets the transaction start anew if no entry is left except stale entries without a frame.
    pub fn restart_if_empty(&mut self) {
        if !self.has_pages() {
            self.clear();
        }
    }

    /// Returns the sequence number of the first program. If nothing was programmed yet, the
    /// transaction starts at `sequence`.
    pub fn start_at(&mut self, sequence: u64) -> u64 {
        if self.start == IDLE {
            self.start = sequence;
        }
        self.start
    }

    /// Returns the sequence number of the first program; [`IDLE`] if nothing was programmed.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Ends the transaction, because it is committed or abandoned. Its pages stay in the table for
    /// the code that carries out the commit.
    pub fn end(&mut self) {
        self.start = IDLE;
    }

    /// Removes all pages, so that a new transaction can begin.
    pub fn clear(&mut self) {
        self.pages.clear();
        self.start = IDLE;
    }

    /// Discards the pages of the transaction, and the undo notes of the call in progress.
    pub fn roll_back(&mut self, space: &mut Space<'_>) {
        self.undo.clear();
        self.drop_pages(space);
    }

    /// Discards the pages of the transaction.
    pub fn drop_pages(&mut self, space: &mut Space<'_>) {
        while self.pages.len() > 0 {
            let last = self.pages.len() - 1;
            let (_, frame) = self.entry(last);
            self.pages.remove(last, 1);
            space.release(frame);
        }
        self.start = IDLE;
    }

    /// Returns the bytes of the table, as a root contains them.
    pub fn table_mut(&mut self) -> &mut [u8] {
        self.pages.bytes_mut()
    }

    /// Fills the bytes of the table that hold no page with `0xFF`.
    pub fn blank_rest(&mut self) {
        self.pages.blank_rest();
    }

    /// Takes over a table that was read from a root. Returns `false` if the table names a page or a
    /// frame that does not exist.
    pub fn adopt(&mut self, len: u32, layout: &Layout) -> bool {
        let is_there = |(logical, frame): (u32, Frame)| {
            logical < layout.logical_count && frame < layout.frame_count()
        };
        self.pages.adopt(len) && (0..len).all(|index| is_there(self.entry(index)))
    }

    /// Continues a transaction that began at `start`, as read from a root.
    pub fn resume(&mut self, start: u64) {
        self.start = start;
    }

    /// Begins roll-forward.
    pub fn begin_replay(&mut self) {
        self.committed_start = IDLE;
    }

    /// Applies a record of a pending page of the transaction that began at `start`. If the table
    /// holds pages of another transaction, these pages are removed.
    pub fn replay(&mut self, logical: u32, frame: Frame, start: u64) -> Result<(), Error> {
        if self.start == IDLE || self.is_other(start) {
            self.pages.clear();
            self.start = start;
        }
        match self.pages.find(logical) {
            Some(index) => self.pages.set_value(index, frame),
            None if !self.pages.insert(logical, frame) => return Err(Error::Corrupt),
            None => {}
        }
        Ok(())
    }

    /// Applies a record that names the present frame of a pending page. The frame is 0 if the page
    /// is discarded.
    pub fn replay_place(&mut self, logical: u32, frame: Frame) {
        if let Some(index) = self.pages.find(logical) {
            self.pages.set_value(index, frame);
        }
    }

    /// Applies a record that commits the transaction that began at `start`. The pages of this
    /// transaction stay in the table.
    pub fn replay_commit(&mut self, start: u64) {
        if self.is_other(start) {
            self.pages.clear();
        }
        self.start = IDLE;
    }

    /// Records that the transaction that began at `start` was committed.
    pub fn finish_replay(&mut self, start: u64) {
        self.committed_start = start;
    }

    /// Returns true if a transaction is open that did not begin at `start`.
    pub fn is_other(&self, start: u64) -> bool {
        self.start != IDLE && !is_same_start(start, self.start)
    }

    /// Returns true if a commit of the transaction that began at `start` was replayed already. If
    /// the program of a commit fails, its page may still read as complete. The same commit is then
    /// programmed at another place as well.
    pub fn is_replayed(&self, start: u64) -> bool {
        self.pages.len() == 0
            && self.committed_start != IDLE
            && is_same_start(start, self.committed_start)
    }
}
