//! Changes of a leaf where the medium programs bytes: in the rest of each of its pages, which its checksum takes for blank.
//!
//! ```text
//! page of a leaf:  | entries … | change 0 | change 1 | … | blank |
//! change:          | entry 16 | frame 16 or 32 | check 16 |
//! ```
//!
//! Instead of writing a leaf anew, a fold programs its entries of the overlay there, and then a record into the journal's chain that says that they are.
//! A later change of an entry counts before an earlier one, and one with a wrong check not at all. A leaf is written anew when its log is full.
//! After a power cut what seems blank in a log may have been touched, by that cut or by one before: the leaf is written anew then. Which logs are
//! known not to have been touched is a part of the root.

use super::table::{read_word, write_word};
use super::{HeadIndex, NONE, State, Store};
use crate::config::LEAF_LOG_BYTES;
use crate::error::Error;
use crate::media::{Failure, Flash, Kind, Kinds, Tag};

/// Bytes of a change before its check.
const CHECK_BYTES: usize = 2;

impl<F: Flash> Store<'_, F> {
    /// Bytes of a change.
    fn change_bytes(&self) -> usize {
        2 + self.layout.entry_bytes as usize + CHECK_BYTES
    }

    /// Changes that a page of a leaf holds.
    fn changes_max(&self) -> usize {
        self.layout.leaf_log_bytes() as usize / self.change_bytes()
    }

    /// First byte of the log in a page of a leaf.
    fn log_start(&self) -> usize {
        (self.layout.geometry.page_bytes - self.layout.leaf_log_bytes()) as usize
    }

    /// The checksum of the page buffer under a tag: that of a leaf takes its log for blank.
    pub(super) fn page_check(&mut self, kind: Option<Kind>) -> u32 {
        let logged = kind.is_some_and(|kind| Kinds::LEAF.has(kind));
        let missing = if logged { self.layout.leaf_log_bytes() as usize } else { 0 };
        self.flash.checksum(&self.page[..self.page.len() - missing], missing)
    }

    fn check_of_change(&mut self, leaf: u32, change: &[u8]) -> u32 {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&leaf.to_le_bytes());
        bytes[4..4 + change.len()].copy_from_slice(change);
        self.flash.checksum(&bytes, 0) & 0xFFFF
    }

    /// Lets the entries in the page buffer, which holds a page of a leaf, be what its log says.
    pub(super) fn apply_log(&mut self, leaf: u32) {
        let (size, start, width) = (self.change_bytes(), self.log_start(), self.layout.entry_bytes as usize);
        for index in 0..self.changes_max() {
            let at = start + index * size;
            let mut change = [0; 8];
            change[..size].copy_from_slice(&self.page[at..at + size]);
            if is_blank(&change[..size]) {
                continue;
            }
            let check = self.check_of_change(leaf, &change[..size - CHECK_BYTES]);
            let (entry, frame) = (read_word(&change, 0, 2), read_word(&change, 2, width));
            if read_word(&change, size - CHECK_BYTES, 2) == check && entry < self.layout.leaf_page_entries() {
                write_word(&mut self.page, entry as usize * width, width, frame);
            }
        }
    }

    /// Makes the log in the page buffer blank: its entries are those of a leaf that is written anew.
    pub(super) fn clear_log(&mut self) {
        let start = self.log_start();
        self.page[start..].fill(0xFF);
    }

    /// Where the page buffer, which holds a page of a leaf, takes its next change.
    fn next_change(&self) -> usize {
        let (size, start) = (self.change_bytes(), self.log_start());
        let is_used = |&change: &usize| !is_blank(&self.page[start + change * size..][..size]);
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

    /// The entries of the overlay that belong to page `index` of a leaf.
    pub(super) fn overlay_of_page(&self, leaf: u32, index: u32) -> core::ops::Range<u32> {
        let first = leaf * self.layout.leaf_entries + index * self.layout.leaf_page_entries();
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
        let head = self.heads.get(HeadIndex::JOURNAL);
        let has_place = head.block != NONE && head.next > 0 && self.head_rest(HeadIndex::JOURNAL) >= self.empty_record_places();
        if self.layout.leaf_log_bytes() == 0
            || frame == 0
            || !has_place
            || !self.is_log_known(leaf)
            || self.is_of_ring(self.frame_block(frame))
        {
            return Ok(false);
        }
        for index in 0..u32::from(self.layout.config.unit_pages) {
            let entries = self.overlay_of_page(leaf, index);
            if !entries.is_empty() {
                self.load_leaf_page(leaf, index)?;
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
        let (size, start, width) = (self.change_bytes(), self.log_start(), self.layout.entry_bytes as usize);
        let next = self.next_change();
        let (entries, settled) = (self.overlay_of_page(leaf, index), self.settled_bit());
        let first = leaf * self.layout.leaf_entries + index * self.layout.leaf_page_entries();
        let mut bytes = [0xFF; LEAF_LOG_BYTES as usize];
        let length = entries.len() * size;
        for (change, entry) in bytes.chunks_exact_mut(size).zip(entries) {
            write_word(change, 0, 2, self.overlay.key(entry) - first);
            write_word(change, 2, width, self.overlay.value(entry) & !settled);
            let check = self.check_of_change(leaf, &change[..size - CHECK_BYTES]);
            write_word(change, size - CHECK_BYTES, 2, check);
        }
        let page = self.frame_page(self.root.get(leaf)) + index;
        let (block, pages) = (self.frame_block(self.root.get(leaf)), self.layout.geometry.pages_per_block);
        let offset = page % pages * self.layout.geometry.page_bytes + (start + next * size) as u32;
        self.cached = NONE;
        match self.flash.program_bytes(block, offset, &bytes[..length]) {
            Ok(()) => Ok(true),
            Err(failure) => {
                self.known_logs[leaf as usize / 8] &= !(1 << (leaf % 8));
                if failure == Failure::BadBlock {
                    self.retire(block);
                }
                self.refused(failure.into());
                Ok(false)
            }
        }
    }

    /// Programs the record that says that a leaf has its overlay entries; `false` when that failed.
    fn program_leaf_changed(&mut self, leaf: u32) -> Result<bool, Error> {
        let places = self.empty_record_places();
        let place = self.take_places(HeadIndex::JOURNAL, places);
        let tag = Tag { sequence: self.sequence, logical: leaf, kind: Kind::LeafChanged, aux: 0 };
        self.sequence += 1;
        self.programs_since_root += 1;
        match self.program_empty_record(place, &tag) {
            Ok(()) => {
                self.move_journal(place);
                Ok(true)
            }
            Err(error) => self.lose_record(error).map(|()| false),
        }
    }

    /// Lets the data of a block in which a program failed move.
    fn retire(&mut self, block: u32) {
        for head in self.heads.of_frames() {
            if self.heads.get(head).block == block {
                self.close(head);
            }
        }
        if matches!(self.blocks.state(block), State::Used | State::Weak) {
            self.blocks.set_state(block, State::Retiring);
        }
    }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0xFF)
}
