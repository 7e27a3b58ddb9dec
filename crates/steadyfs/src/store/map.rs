//! Logical page → frame.
//!
//! Leaves hold the map on the medium, the root (in RAM) says where they are, and the overlay (in RAM) holds what has changed
//! since each leaf was written. When the overlay is full, the leaf with most changes is written anew ("folded").
//!
//! An entry of the overlay whose *settled* bit is not set still has a live mark at the frame that the leaf names: the old frame
//! is looked up when the leaf is folded and needs no read before. Until then the frame cannot be used again, because
//! its block is not empty.

use super::Store;
use super::program::Source;
use crate::config::COPIED_MAX;
use crate::error::Error;
use crate::media::{Flash, Kind, Kinds};
use crate::space::{Frame, NONE};
use crate::table::{read_word, write_word};

/// The last few look-ups in leaves: a program that looks at the same pages again saves the reads of the map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recent {
    entries: [(u32, Frame); 4],
    next: u8,
}

impl Default for Recent {
    fn default() -> Self {
        Self { entries: [(NONE, 0); 4], next: 0 }
    }
}

impl Recent {
    fn find(&self, logical: u32) -> Option<Frame> {
        self.entries.iter().find(|entry| entry.0 == logical).map(|entry| entry.1)
    }

    fn insert(&mut self, logical: u32, frame: Frame) {
        self.entries[usize::from(self.next)] = (logical, frame);
        self.next = (self.next + 1) % 4;
    }

    /// Forgets a page whose frame changes.
    fn remove(&mut self, logical: u32) {
        for entry in self.entries.iter_mut().filter(|entry| entry.0 == logical) {
            entry.0 = NONE;
        }
    }
}

impl<F: Flash> Store<'_, F> {
    /// The bit of an overlay value that says that the leaf's frame is not marked as live any more. Not inlined: a
    /// call is shorter.
    #[inline(never)]
    pub(super) fn settled_bit(&self) -> u32 {
        1 << (self.layout.entry_bytes * 8 - 1)
    }

    /// The frame that the overlay names for a logical page; 0 when it was discarded.
    pub(super) fn overlay_frame(&self, logical: u32) -> Option<Frame> {
        self.overlay.find(logical).map(|index| self.overlay.value(index) & !self.settled_bit())
    }

    /// The frame of a logical page as the open transaction sees it; 0 when it has none.
    ///
    /// # Cost
    /// At most one read.
    pub(super) fn frame_of(&mut self, logical: u32) -> Result<Frame, Error> {
        self.check_logical(logical)?;
        if let Some(frame) = self.pending_of(logical) {
            return Ok(frame);
        }
        if self.journal.is_discarded(logical) {
            return Ok(0);
        }
        if let Some(frame) = self.overlay_frame(logical).or_else(|| self.recent.find(logical)) {
            return Ok(frame);
        }
        let frame = self.leaf_entry(logical)?;
        self.recent.insert(logical, frame);
        Ok(frame)
    }

    /// Whether a logical page holds anything as the open transaction sees it.
    ///
    /// # Cost
    /// At most one read.
    pub fn is_written(&mut self, logical: u32) -> Result<bool, Error> {
        Ok(self.frame_of(logical)? != 0 || self.journal.patches(logical) || self.cache.find(logical).is_some())
    }

    /// Notes that a page that the caller takes into use has no frame in the committed map, which saves the look. One that the open
    /// transaction has discarded may have one, which a rollback brings back.
    pub fn know_unwritten(&mut self, logical: u32) {
        if self.pending.find(logical).is_none() && !self.journal.is_discarded(logical) {
            self.recent.insert(logical, 0);
        }
    }

    /// Refuses a logical page that there is not: only damaged data can name one.
    pub(super) fn check_logical(&self, logical: u32) -> Result<(), Error> {
        if logical < self.layout.logical_count { Ok(()) } else { Err(Error::Corrupt) }
    }

    /// The frame that the leaf on the medium names.
    pub(super) fn leaf_entry(&mut self, logical: u32) -> Result<Frame, Error> {
        let frame = self.raw_leaf_entry(logical)?;
        if frame >= self.layout.frame_count() { Err(Error::Corrupt) } else { Ok(frame) }
    }

    /// Whether a repair has found that nobody knows the frame of a logical page any more, because the leaf that named it was lost.
    pub(super) fn is_missing(&mut self, logical: u32) -> Result<bool, Error> {
        self.check_logical(logical)?;
        Ok(self.raw_leaf_entry(logical)? == self.missing_entry())
    }

    fn raw_leaf_entry(&mut self, logical: u32) -> Result<Frame, Error> {
        let (leaf, entry) = (logical / self.layout.leaf_entries, logical % self.layout.leaf_entries);
        let width = self.layout.entry_bytes;
        let per_page = self.layout.leaf_page_entries();
        let (index, at) = (entry / per_page, entry % per_page * width);
        if self.load_leaf_page(leaf, index)? { Ok(read_word(self.pages.bytes(), at as usize, width as usize)) } else { Ok(0) }
    }

    /// Reads a page of a leaf into the page buffer; `false` when the leaf was never written.
    pub(super) fn load_leaf_page(&mut self, leaf: u32, index: u32) -> Result<bool, Error> {
        let frame = self.root.get(leaf);
        match frame {
            0 => return Ok(false),
            _ if frame >= self.layout.frame_count() => return Err(Error::Corrupt),
            _ => {}
        }
        let page = self.layout.frame_page(frame) + index;
        if !self.pages.holds(page) {
            self.pages.load(page, self.wanted(Kinds::LEAF, leaf))?;
            if !self.apply_log(leaf, index) {
                // Half of its log is applied.
                return Err(Error::Corrupt);
            }
        }
        Ok(true)
    }

    /// Changes the committed map. A commit that is durable is carried out with this: it reads nothing and cannot fail.
    pub(super) fn map_set(&mut self, logical: u32, frame: Frame) {
        self.recent.remove(logical);
        self.call.changes += 1;
        let settled = self.settled_bit();
        if let Some(index) = self.overlay.find(logical) {
            let old = self.overlay.value(index);
            self.overlay.set_value(index, frame | (old & settled));
            if old & !settled != frame {
                self.space.release(old & !settled);
            }
            return;
        }
        let inserted = self.overlay.insert(logical, frame);
        debug_assert!(inserted, "make_room was not called");
    }

    /// Where few frames are left: releases the frame that the leaf still names for a page that was changed, for the price of a read.
    /// A read that fails does no harm: the mark stays until the leaf is written.
    pub(super) fn release_old(&mut self, logical: u32) {
        let settled = self.settled_bit();
        let Some(index) = self.overlay.find(logical).filter(|_| self.space.near_full(&self.layout, 0)) else { return };
        let value = self.overlay.value(index);
        if value & settled == 0
            && let Ok(old) = self.leaf_entry(logical)
        {
            self.overlay.set_value(index, value | settled);
            if old != value {
                self.space.release(old);
            }
        }
    }

    /// Changes the committed map because reclamation moved a frame.
    pub(super) fn map_move(&mut self, logical: u32, to: Frame) {
        self.recent.remove(logical);
        self.call.changes += 1;
        let settled = self.settled_bit();
        match self.overlay.find(logical) {
            Some(index) => {
                let old = self.overlay.value(index);
                self.overlay.set_value(index, to | (old & settled));
            }
            None => {
                let inserted = self.overlay.insert(logical, to | settled);
                debug_assert!(inserted, "make_room was not called");
            }
        }
    }

    /// Forgets a look-up whose page has another frame now.
    pub(super) fn forget_recent(&mut self, logical: u32) {
        self.recent.remove(logical);
    }

    /// Folds until the overlay takes `entries` more, and those that a mount may add. Folds are paced so that this seldom has anything to do.
    ///
    /// Called before the program that commits: a leaf written between a commit and its entry in the overlay would be taken,
    /// after a power cut, for one that holds the entry.
    pub(super) fn make_room(&mut self, entries: u32) -> Result<(), Error> {
        while self.overlay.len() + entries + COPIED_MAX > self.overlay.capacity() && self.overlay.len() > 0 {
            self.fold()?;
        }
        Ok(())
    }

    /// Writes the leaf with most overlay entries anew.
    ///
    /// # Cost
    /// `unit_pages` reads and programs.
    ///
    /// # Power loss
    /// The old leaf stays until the new one is complete.
    pub(super) fn fold(&mut self) -> Result<(), Error> {
        match self.fullest_leaf() {
            Some(leaf) if self.log_leaf(leaf)? => Ok(()),
            Some(leaf) => self.fold_leaf(leaf),
            None => Ok(()),
        }
    }

    fn fullest_leaf(&self) -> Option<u32> {
        let (mut best, mut best_count) = (None, 0);
        let mut from = 0;
        while from < self.overlay.len() {
            let leaf = self.overlay.key(from) / self.layout.leaf_entries;
            let to = self.overlay.lower_bound((leaf + 1) * self.layout.leaf_entries);
            if to - from > best_count {
                (best, best_count) = (Some(leaf), to - from);
            }
            from = to;
        }
        best
    }

    /// Writes one leaf with its overlay entries.
    pub(super) fn fold_leaf(&mut self, leaf: u32) -> Result<(), Error> {
        let frame = self.program_frame(Kind::Leaf, leaf, &Source::Leaf)?;
        self.adopt_leaf(leaf, frame);
        self.know_log(leaf);
        Ok(())
    }

    /// Makes a written leaf the current one: its overlay entries are in it.
    pub(super) fn adopt_leaf(&mut self, leaf: u32, frame: Frame) {
        let old = self.root.get(leaf);
        self.root.set(leaf, frame);
        self.space.release(old);
        self.forget_overlay(leaf);
    }

    /// Removes the overlay entries of a leaf that has them.
    pub(super) fn forget_overlay(&mut self, leaf: u32) {
        let from = self.overlay.lower_bound(leaf * self.layout.leaf_entries);
        let to = self.overlay.lower_bound((leaf + 1) * self.layout.leaf_entries);
        self.overlay.remove(from, to - from);
    }

    /// What a leaf has in place of a frame that nobody knows any more, because the page of an earlier leaf was lost. No frame has this number.
    pub(super) fn missing_entry(&self) -> u32 {
        self.settled_bit() | (self.settled_bit() - 1)
    }

    /// Makes a page of a leaf, as it is on the medium, in the page buffer. While a volume is repaired the entries of one that is lost are missing.
    /// Otherwise a leaf that no look can read any more makes the volume read-only: the overlay cannot be emptied without it.
    fn load_leaf_base(&mut self, leaf: u32, index: u32) -> Result<(), Error> {
        let repairs = self.status.replaces_leaves();
        match self.load_leaf_page_anyhow(leaf, index) {
            Ok(true) => {}
            Ok(false) => self.pages.bytes_mut().fill(0),
            Err(Error::Corrupt) if repairs => self.pages.bytes_mut().fill(0xFF),
            Err(Error::Corrupt) => {
                self.status.lose_leaf();
                return Err(Error::Corrupt);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Makes one page of a leaf in the page buffer, and releases the frames that its old entries name.
    ///
    /// Releasing before the leaf is durable is safe: the overlay's mapping is durable already, and no block is used again
    /// before the next root.
    pub(super) fn compose_leaf_page(&mut self, leaf: u32, index: u32) -> Result<(), Error> {
        self.load_leaf_base(leaf, index)?;
        self.settle_entries(leaf, index);
        let (width, settled) = (self.layout.entry_bytes, self.settled_bit());
        let first = leaf * self.layout.leaf_entries + index * self.layout.leaf_page_entries();
        for entry in self.overlay_of_page(leaf, index) {
            let at = (self.overlay.key(entry) - first) * width;
            write_word(self.pages.bytes_mut(), at as usize, width as usize, self.overlay.value(entry) & !settled);
        }
        self.clear_log();
        Ok(())
    }

    /// Releases the frames that the page of a leaf in the page buffer names, and the overlay does not name any more.
    pub(super) fn settle_entries(&mut self, leaf: u32, index: u32) {
        let (width, settled) = (self.layout.entry_bytes, self.settled_bit());
        let first = leaf * self.layout.leaf_entries + index * self.layout.leaf_page_entries();
        for entry in self.overlay_of_page(leaf, index) {
            let (logical, value) = (self.overlay.key(entry), self.overlay.value(entry));
            let old = read_word(self.pages.bytes(), ((logical - first) * width) as usize, width as usize);
            if value & settled == 0 {
                self.overlay.set_value(entry, value | settled);
                if old < self.layout.frame_count() && old != value {
                    self.space.release(old);
                }
            }
        }
    }

    /// Checks every page of a frame and tells whether it is complete.
    pub(super) fn frame_is_complete(&mut self, frame: Frame, kinds: Kinds, logical: u32) -> Result<bool, Error> {
        let first = self.layout.frame_page(frame);
        for page in first..first + u32::from(self.layout.config.unit_pages) {
            if !self.pages.read_sound(page, self.wanted(kinds, logical))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
