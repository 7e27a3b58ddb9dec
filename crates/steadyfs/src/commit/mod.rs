//! The open transaction: the pages that wait for its commit, and what a call that fails leaves of it, which is all.
//!
//! The [journal](crate::journal) and the cache undo their own part. This is about frames: a page that the call writes or
//! discards as a whole has another pending frame from then on, and the one before stays live until the call ends.
//!
//! What was programmed stays on the medium, and roll-forward will count it as part of the transaction. So after an undo the pages of that are *stale*:
//! their pending entry names what counts, and each of them is programmed once more when the next call begins. A stale entry without
//! a frame only keeps its place in the table, which roll-forward needs as well. When nothing else is pending the transaction starts anew instead: its
//! commit then names a later start, and roll-forward forgets what came before.

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
    /// Logical pages, and their frames; 0 for one that was discarded.
    pages: Pairs<'m>,
    undo: Undo,
    /// Sequence of its first program.
    start: u64,
    /// The same of the transaction that roll-forward committed last.
    committed_start: u64,
}

impl<'m> Transaction<'m> {
    /// With a table for its pages.
    pub fn new(pages: Pairs<'m>) -> Self {
        Self { pages, undo: Undo::default(), start: IDLE, committed_start: IDLE }
    }

    /// The bit of a frame that says that the medium holds something later of the page, which does not count.
    fn stale_bit(&self) -> u32 {
        1 << (self.pages.width() * 8 - 1)
    }

    /// Pages that have a place in the table.
    pub fn len(&self) -> u32 {
        self.pages.len()
    }

    /// Pages that the table has places for.
    pub fn capacity(&self) -> u32 {
        self.pages.capacity()
    }

    /// Places of the table that are taken, those that pages of the cache will take included.
    pub fn places(&self, cache: &Cache<'_>) -> u32 {
        self.len() + cache.waiting_pages().filter(|&logical| !self.knows(logical)).count() as u32
    }

    /// Whether a page has a place in the table.
    pub fn knows(&self, logical: u32) -> bool {
        self.pages.find(logical).is_some()
    }

    /// A place of the table: the logical page, and its frame; 0 where it was discarded, or only its place is kept.
    pub fn entry(&self, index: u32) -> (u32, Frame) {
        (self.pages.key(index), self.pages.value(index) & !self.stale_bit())
    }

    /// The frame of a logical page; 0 when it was discarded, `None` when the transaction has none.
    pub fn frame_of(&self, logical: u32) -> Option<Frame> {
        let value = self.pages.value(self.pages.find(logical)?);
        (value != self.stale_bit()).then_some(value & !self.stale_bit())
    }

    /// The frame of a page as its place in the table has it.
    fn placed(&self, logical: u32) -> Option<(u32, Frame)> {
        let index = self.pages.find(logical)?;
        Some((index, self.pages.value(index) & !self.stale_bit()))
    }

    /// Whether a frame is that of a page.
    pub fn holds(&self, logical: u32, frame: Frame) -> bool {
        self.placed(logical).is_some_and(|(_, held)| held == frame)
    }

    /// Whether pages wait for the commit.
    pub fn has_pages(&self) -> bool {
        (0..self.pages.len()).any(|index| self.pages.value(index) != self.stale_bit())
    }

    /// Pages that are to be programmed once more.
    pub fn stale_pages(&self) -> u32 {
        (0..self.pages.len()).filter(|&index| self.is_stale(index)).count() as u32
    }

    /// Whether the page at a place of the table is to be programmed once more.
    pub fn is_stale(&self, index: u32) -> bool {
        self.pages.value(index) & self.stale_bit() != 0
    }

    /// Lets the transaction have another frame of a page; the one before is released where it `releases` that, because no undo needs it.
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

    /// Changes the frame of a page because reclamation moved it; `false` when the transaction does not know the page.
    pub fn move_page(&mut self, logical: u32, to: Frame) -> bool {
        let Some(index) = self.pages.find(logical) else { return false };
        self.pages.set_value(index, to | self.pages.value(index) & self.stale_bit());
        true
    }

    /// A program of a page failed, and may be there all the same.
    pub fn mark_stale(&mut self, logical: u32) {
        match self.pages.find(logical) {
            Some(index) => self.pages.set_value(index, self.pages.value(index) | self.stale_bit()),
            // There is a place: it was looked for before the program.
            None => drop(self.pages.insert(logical, self.stale_bit())),
        }
    }

    /// Notes that the call replaces what there is of a page; whether it is the first time.
    pub fn note_replaced(&mut self, logical: u32) -> Result<bool, Error> {
        if self.undo.has(logical) {
            return Ok(false);
        }
        let before = self.pages.find(logical).map_or(NONE, |index| self.pages.value(index));
        if self.undo.note(logical, before) { Ok(true) } else { Err(Error::TransactionTooLarge) }
    }

    /// Takes back the note of a page that was not programmed after all.
    pub fn drop_note(&mut self) {
        self.undo.take_last();
    }

    /// Whether the call may note no further page.
    pub fn is_undo_full(&self) -> bool {
        self.undo.is_full()
    }

    /// Ends the changes of a call, or of a step of it, that succeeded: from here on they are not undone with it any more.
    pub fn accept(&mut self, space: &mut Space<'_>) {
        for &(logical, before) in self.undo.pages() {
            if before != NONE && self.frame_of(logical) != Some(before & !self.stale_bit()) {
                space.release(before & !self.stale_bit());
            }
        }
        self.undo.clear();
    }

    /// Undoes the changes of the call in progress: the medium holds something later of their pages, which are stale. Reads nothing and cannot fail.
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

    /// Lets the transaction start anew when nothing of it was programmed that counts.
    pub fn restart_if_empty(&mut self) {
        if !self.has_pages() {
            self.clear();
        }
    }

    /// Sequence of the first program, which is this one if there is none yet.
    pub fn start_at(&mut self, sequence: u64) -> u64 {
        if self.start == IDLE {
            self.start = sequence;
        }
        self.start
    }

    /// Sequence of the first program; [`IDLE`] where nothing was programmed.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The transaction is committed, or comes to nothing; its pages stay for whoever carries the commit out.
    pub fn end(&mut self) {
        self.start = IDLE;
    }

    /// Begins with no page.
    pub fn clear(&mut self) {
        self.pages.clear();
        self.start = IDLE;
    }

    /// Forgets the pages, and what the call in progress would undo.
    pub fn roll_back(&mut self, space: &mut Space<'_>) {
        self.undo.clear();
        self.drop_pages(space);
    }

    /// Forgets the pages.
    pub fn drop_pages(&mut self, space: &mut Space<'_>) {
        while self.pages.len() > 0 {
            let last = self.pages.len() - 1;
            let (_, frame) = self.entry(last);
            self.pages.remove(last, 1);
            space.release(frame);
        }
        self.start = IDLE;
    }

    /// What a root has of it.
    pub fn table_mut(&mut self) -> &mut [u8] {
        self.pages.bytes_mut()
    }

    /// Makes the bytes of the table blank that hold no page.
    pub fn blank_rest(&mut self) {
        self.pages.blank_rest();
    }

    /// Takes over a table that was read; `false` where it names something that there is not.
    pub fn adopt(&mut self, len: u32, layout: &Layout) -> bool {
        let is_there = |(logical, frame): (u32, Frame)| logical < layout.logical_count && frame < layout.frame_count();
        self.pages.adopt(len) && (0..len).all(|index| is_there(self.entry(index)))
    }

    /// Goes on from where a root says that it began.
    pub fn resume(&mut self, start: u64) {
        self.start = start;
    }

    /// Roll-forward begins.
    pub fn begin_replay(&mut self) {
        self.committed_start = IDLE;
    }

    /// A record of a page that waits for the commit of the transaction that began at `start`; pages of another one are nobody's.
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

    /// A record says where a page lies now that waits for the commit; 0 where it is discarded.
    pub fn replay_place(&mut self, logical: u32, frame: Frame) {
        if let Some(index) = self.pages.find(logical) {
            self.pages.set_value(index, frame);
        }
    }

    /// A record commits the transaction that began at `start`: its pages are left in the table.
    pub fn replay_commit(&mut self, start: u64) {
        if self.is_other(start) {
            self.pages.clear();
        }
        self.start = IDLE;
    }

    /// Pages of it have been committed.
    pub fn was_replayed(&mut self, start: u64) {
        self.committed_start = start;
    }

    /// Whether a transaction is open that did not begin at `start`.
    pub fn is_other(&self, start: u64) -> bool {
        self.start != IDLE && !is_same_start(start, self.start)
    }

    /// Whether a commit of the transaction that began at `start` was replayed already: one whose program failed may read as complete, and is followed by the
    /// same one elsewhere.
    pub fn is_replayed(&self, start: u64) -> bool {
        self.pages.len() == 0 && self.committed_start != IDLE && is_same_start(start, self.committed_start)
    }
}
