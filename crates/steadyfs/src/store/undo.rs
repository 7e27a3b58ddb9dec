//! Undoing one call, so that the open transaction survives a call that fails.
//!
//! The [journal](super::journal) and the [cache](super::cache) undo their own part. This is about frames: a page that the call writes or
//! discards as a whole has another pending frame from then on, and the one before stays live until the call ends.
//!
//! What was programmed stays on the medium, and roll-forward will count it as part of the transaction. So after an undo the pages of that are *owed*:
//! their pending entry names what counts, and each of them is programmed once more when the next call begins. An owed entry without
//! a frame only keeps its place in the table, which roll-forward needs as well. When nothing else is pending the transaction starts anew instead: its
//! commit then names a later start, and roll-forward forgets what came before.

use super::{IDLE, Store};
use crate::error::Error;
use crate::media::Flash;
use crate::space::{Frame, NONE};

/// Pages that a call may write or discard which wait for the commit already, and those that it writes for want of room.
const PAGES_MAX: usize = 12;

/// What the call in progress replaced.
#[derive(Clone, Copy, Default)]
pub(super) struct Undo {
    /// Logical page, and its pending entry before; [`NONE`] where there was none.
    pages: [(u32, u32); PAGES_MAX],
    len: u8,
}

impl Undo {
    fn pages(&self) -> &[(u32, u32)] {
        &self.pages[..usize::from(self.len)]
    }

    pub fn is_full(&self) -> bool {
        usize::from(self.len) == PAGES_MAX
    }

    pub fn has(&self, logical: u32) -> bool {
        self.pages().iter().any(|page| page.0 == logical)
    }

    /// Notes what a page had before; `false` when there is no place for it.
    fn note(&mut self, logical: u32, before: u32) -> bool {
        if self.is_full() {
            return false;
        }
        self.pages[usize::from(self.len)] = (logical, before);
        self.len += 1;
        true
    }
}

impl<F: Flash> Store<'_, F> {
    /// The bit of a pending entry that says that the medium holds something later of the page, which does not count. Tables have it in common.
    fn owed_bit(&self) -> u32 {
        self.map.settled_bit()
    }

    /// The pending frame of an entry; 0 where the page was discarded, or only its place is kept.
    pub(super) fn pending_frame(&self, index: u32) -> Frame {
        self.pending.value(index) & !self.owed_bit()
    }

    /// The frame that the open transaction has of a logical page; 0 when it was discarded, `None` when it has none.
    pub(super) fn pending_of(&self, logical: u32) -> Option<Frame> {
        let index = self.pending.find(logical)?;
        (self.pending.value(index) != self.owed_bit()).then(|| self.pending_frame(index))
    }

    /// Whether pages wait for the commit.
    pub(super) fn has_pending(&self) -> bool {
        (0..self.pending.len()).any(|index| self.pending.value(index) != self.owed_bit())
    }

    /// Pages that are to be programmed once more.
    pub(super) fn owed_pages(&self) -> u32 {
        (0..self.pending.len()).filter(|&index| self.pending.value(index) & self.owed_bit() != 0).count() as u32
    }

    /// Changes the frame of a pending entry because reclamation moved it.
    pub(super) fn move_pending(&mut self, index: u32, to: Frame) {
        let owed = self.pending.value(index) & self.owed_bit();
        self.pending.set_value(index, to | owed);
    }

    /// Notes that the call replaces the pending entry of a page; whether it is the first time.
    pub(super) fn note_replaced(&mut self, logical: u32) -> Result<bool, Error> {
        if self.undo.has(logical) {
            return Ok(false);
        }
        let before = self.pending.find(logical).map_or(NONE, |index| self.pending.value(index));
        if self.undo.note(logical, before) { Ok(true) } else { Err(Error::TransactionTooLarge) }
    }

    /// Takes back the note of a page that was not programmed after all.
    pub(super) fn drop_note(&mut self) {
        self.undo.len -= 1;
    }

    /// A program of a pending page failed, and may be there all the same.
    pub(super) fn owe(&mut self, logical: u32) {
        let owed = self.owed_bit();
        match self.pending.find(logical) {
            Some(index) => self.pending.set_value(index, self.pending.value(index) | owed),
            // There is a place: it was looked for before the program.
            None => drop(self.pending.insert(logical, owed)),
        }
    }

    /// Ends the changes of a call, or of a step of it, that succeeded: from here on they are not undone with it any more.
    pub fn accept(&mut self) {
        let undo = core::mem::take(&mut self.undo);
        for &(logical, before) in undo.pages() {
            if before != NONE && self.pending_of(logical) != Some(before & !self.owed_bit()) {
                self.space.release(before & !self.owed_bit());
            }
        }
        self.cache.drop_replaced();
        self.journal.begin();
    }

    /// Undoes the changes of the call in progress. Reads nothing and cannot fail.
    pub fn undo(&mut self) {
        self.journal.undo();
        self.cache.restore_replaced();
        let undo = core::mem::take(&mut self.undo);
        let owed = self.owed_bit();
        for &(logical, before) in undo.pages().iter().rev() {
            let before = if before == NONE { 0 } else { before & !owed };
            let Some(index) = self.pending.find(logical) else { continue };
            let frame = self.pending_frame(index);
            self.pending.set_value(index, before | owed);
            if frame != before {
                self.space.release(frame);
            }
        }
        self.restart_if_empty();
    }

    /// Lets the transaction start anew when nothing of it was programmed that counts.
    fn restart_if_empty(&mut self) {
        if !self.has_pending() {
            self.pending.clear();
            self.transaction_start = IDLE;
        }
    }

    /// Programs the pages once more of which the medium holds something later that does not count.
    pub(super) fn write_owed(&mut self) -> Result<(), Error> {
        self.restart_if_empty();
        for index in 0..self.pending.len() {
            if self.pending.value(index) & self.owed_bit() != 0 {
                self.flush_page(self.pending.key(index))?;
            }
        }
        Ok(())
    }
}
