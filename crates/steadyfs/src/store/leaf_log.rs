//! Changes of a leaf where the medium programs bytes: in the rest of each of its pages, which its checksum takes for blank.
//!
//! ```text
//! page of a leaf:  | entries … | change 0 | change 1 | … | blank |
//! ```
//!
//! Instead of writing a leaf anew, a fold programs its entries of the overlay there, and then a record into the journal's chain that says that they are.
//! A later change of an entry counts before an earlier one. A leaf is written anew when its log is full.
//! After a power cut what seems blank in a log may have been touched, by that cut or by one before: the leaf is written anew then. Which logs are
//! known not to have been touched is a part of the root.
//!
//! # A change that cannot be read
//!
//! One bit that has flipped is put right ([`change`](super::change)). Where more have, it matters whether the log is known:
//!
//! - If so, every change was programmed whole. Without one of them the page of the leaf says what was before, so it cannot be read.
//! - If not, the last program of the log may have been cut. All that it was to say is in the overlay, and stays there until the leaf is written anew.
//!   So changes may be unreadable as long as they and all behind them are no more than the overlay has entries of the page, and those behind them that
//!   can be read are of such entries.

use super::Store;
use super::change::{Change, Changes, Place};
use crate::error::Error;
use crate::media::{Failure, Flash, Kind, Tag};
use crate::space::{HeadIndex, NONE};
use crate::table::write_word;

impl<F: Flash> Store<'_, F> {
    /// What the changes of a leaf have in common.
    fn changes_of(&self, leaf: u32) -> Changes {
        let (entries, frames) = (self.layout.leaf_page_entries(), self.layout.frame_count());
        Changes { leaf, width: self.layout.entry_bytes as usize, entries, frames }
    }

    /// Bytes of a change.
    fn change_bytes(&self) -> usize {
        self.changes_of(0).bytes()
    }

    /// Changes that a page of a leaf holds.
    fn changes_max(&self) -> usize {
        self.layout.leaf_log_bytes() as usize / self.change_bytes()
    }

    /// First byte of the log in a page of a leaf.
    fn log_start(&self) -> usize {
        (self.layout.geometry.page_bytes - self.layout.leaf_log_bytes()) as usize
    }

    /// Lets the entries in the page buffer, which holds page `index` of a leaf, be what its log says; `false` when they cannot be known.
    pub(super) fn apply_log(&mut self, leaf: u32, index: u32) -> bool {
        let (changes, start) = (self.changes_of(leaf), self.log_start());
        let mut unreadable = None;
        for place in 0..self.changes_max() {
            let (flash, page) = self.pages.complete_mut();
            let bytes = &page[start + place * changes.bytes()..][..changes.bytes()];
            match changes.read(bytes, &mut |bytes| flash.checksum(bytes, 0)) {
                Place::Blank => {}
                Place::Unreadable => unreadable = unreadable.or(Some(place)),
                Place::Change(Change { entry, frame }) => {
                    if unreadable.is_some() && self.overlay.find(self.first_of_page(leaf, index) + entry).is_none() {
                        return false;
                    }
                    write_word(self.pages.complete_mut().1, entry as usize * changes.width, changes.width, frame);
                }
            }
        }
        unreadable.is_none_or(|first| self.may_be_cut(leaf, index, first))
    }

    /// Whether the changes of a page of a leaf from one on may be those of a program that was cut.
    fn may_be_cut(&self, leaf: u32, index: u32, first: usize) -> bool {
        !self.is_log_known(leaf) && self.next_change() - first <= self.overlay_of_page(leaf, index).len()
    }

    /// Makes the log in the page buffer blank: its entries are those of a leaf that is written anew.
    pub(super) fn clear_log(&mut self) {
        let start = self.log_start();
        self.pages.bytes_mut()[start..].fill(0xFF);
    }

    /// Where the page buffer, which holds a page of a leaf, takes its next change.
    fn next_change(&self) -> usize {
        let (size, start) = (self.change_bytes(), self.log_start());
        let is_used = |&change: &usize| !is_blank(&self.pages.bytes()[start + change * size..][..size]);
        (0..self.changes_max()).rev().find(is_used).map_or(0, |last| last + 1)
    }

    /// Whether no power cut has touched the log of a leaf.
    fn is_log_known(&self, leaf: u32) -> bool {
        self.known_logs[leaf as usize / 8] >> (leaf % 8) & 1 != 0
    }

    /// Notes that a leaf lies in a frame that was programmed in this power cycle.
    pub(super) fn know_log(&mut self, leaf: u32) {
        if self.layout.leaf_log_bytes() > 0 {
            self.known_logs[leaf as usize / 8] |= 1 << (leaf % 8);
        }
    }

    /// The first logical page that page `index` of a leaf maps.
    fn first_of_page(&self, leaf: u32, index: u32) -> u32 {
        leaf * self.layout.leaf_entries + index * self.layout.leaf_page_entries()
    }

    /// The entries of the overlay that belong to page `index` of a leaf.
    pub(super) fn overlay_of_page(&self, leaf: u32, index: u32) -> core::ops::Range<u32> {
        let first = self.first_of_page(leaf, index);
        self.overlay.lower_bound(first)..self.overlay.lower_bound(first + self.layout.leaf_page_entries())
    }

    /// Programs the overlay entries of a leaf into its log; `false` when they are to be written with it.
    ///
    /// # Cost
    /// A read and a program for each page of the leaf that changes, and a program of the journal's head.
    ///
    /// # Power loss
    /// The overlay has the entries until a mount finds the record that says that the leaf has them.
    pub(super) fn log_leaf(&mut self, leaf: u32) -> Result<bool, Error> {
        let frame = self.root.get(leaf);
        let head = self.space.heads().get(HeadIndex::JOURNAL);
        let has_place = head.block != NONE && head.next > 0 && self.space.rest(HeadIndex::JOURNAL) >= self.empty_record_places();
        if self.layout.leaf_log_bytes() == 0
            || frame == 0
            || !has_place
            || !self.is_log_known(leaf)
            || self.is_of_ring(self.space.block_of(frame))
        {
            return Ok(false);
        }
        for index in 0..u32::from(self.layout.config.unit_pages) {
            let entries = self.overlay_of_page(leaf, index);
            if !entries.is_empty() {
                match self.load_leaf_page(leaf, index) {
                    // What becomes of a leaf that cannot be read is for whoever writes it anew to say.
                    Err(Error::Corrupt) => return Ok(false),
                    result => result?,
                };
                if self.next_change() + entries.len() > self.changes_max() {
                    return Ok(false);
                }
            }
        }
        for index in 0..u32::from(self.layout.config.unit_pages) {
            if !self.overlay_of_page(leaf, index).is_empty() && !self.log_page(leaf, index)? {
                return Ok(false);
            }
        }
        if !self.program_leaf_changed(leaf)? {
            return Ok(false);
        }
        self.forget_overlay(leaf);
        Ok(true)
    }

    /// Programs the overlay entries of a page of a leaf into its log; `false` when that failed.
    fn log_page(&mut self, leaf: u32, index: u32) -> Result<bool, Error> {
        self.load_leaf_page(leaf, index)?;
        self.settle_entries(leaf, index);
        let (changes, start, next) = (self.changes_of(leaf), self.log_start(), self.next_change());
        let (entries, settled, first) = (self.overlay_of_page(leaf, index), self.settled_bit(), self.first_of_page(leaf, index));
        let (size, length) = (changes.bytes(), entries.len() * changes.bytes());
        let at = start + next * size;
        let (flash, page) = self.pages.complete_mut();
        for (bytes, entry) in page[at..].chunks_exact_mut(size).zip(entries) {
            let change = Change { entry: self.overlay.key(entry) - first, frame: self.overlay.value(entry) & !settled };
            changes.emit(change, bytes, &mut |bytes| flash.checksum(bytes, 0));
        }
        let page = self.layout.frame_page(self.root.get(leaf)) + index;
        let (block, pages) = (self.space.block_of(self.root.get(leaf)), self.layout.geometry.pages_per_block);
        let offset = page % pages * self.layout.geometry.page_bytes + at as u32;
        match self.pages.program_bytes(block, offset, at..at + length) {
            Ok(()) => Ok(true),
            Err(failure) => {
                self.known_logs[leaf as usize / 8] &= !(1 << (leaf % 8));
                if failure == Failure::BadBlock {
                    self.space.retire(block);
                }
                self.refused(failure.into());
                Ok(false)
            }
        }
    }

    /// Programs the record that says that a leaf has its overlay entries; `false` when that failed.
    fn program_leaf_changed(&mut self, leaf: u32) -> Result<bool, Error> {
        let places = self.empty_record_places();
        let place = self.space.take_places(HeadIndex::JOURNAL, places);
        let tag = Tag { sequence: self.space.sequence(), logical: leaf, kind: Kind::LeafChanged, aux: 0 };
        self.space.take_sequences(1);
        self.space.count_programs(1);
        match self.program_empty_record(place, &tag) {
            Ok(()) => {
                self.space.move_journal(place);
                Ok(true)
            }
            Err(error) => self.lose_record(error).map(|()| false),
        }
    }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0xFF)
}
