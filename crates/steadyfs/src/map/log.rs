//! Logs of leaves, on media that program bytes. Each page of a leaf ends with a log. The checksum
//! of the page is computed as if the log were blank.
//!
//! ```text
//! page of a leaf:  | entries … | change 0 | change 1 | … | blank |
//! ```
//!
//! A leaf write-back need not write the leaf anew. Instead it programs the leaf's overlay entries
//! into the log. Then it programs a record into the journal's chain, which proves that the leaf has
//! its entries. If two changes concern the same entry, the later change is valid. A leaf is written
//! anew when its log is full.
//!
//! A power cut may have touched places of a log, even if they read as blank afterwards. So no
//! change is programmed into such a log: the leaf is written anew instead. A log is *untouched*
//! (`known` in the code) if no power cut can have touched it. The root contains the list of
//! untouched logs.
//!
//! # A change that cannot be read
//!
//! One flipped bit is corrected ([`change`](super::log_entry)). If more bits have flipped, it
//! matters whether the log is untouched:
//!
//! - If no power cut can have interrupted a program of the log, the log is *untouched*: every
//!   change was programmed as a whole. Without the unreadable change, the page of the leaf would
//!   give an old entry. So the page counts as unreadable.
//! - If the log may have been touched, a power cut may have interrupted its last program. The
//!   overlay contains all entries of that program until the leaf is written anew. So unreadable
//!   changes are accepted under two conditions. First, from the first unreadable change on, the log
//!   has at most as many changes as the overlay has entries of the page. Second, the overlay
//!   contains the entry of each readable change that follows an unreadable change.

use super::log_entry::{LeafChange, LeafChanges, Place};
use super::{LeafReader, Map};
use crate::config::Layout;
use crate::error::Error;
use crate::media::{Failure, Flash};
use crate::pages::Pages;
use crate::space::Space;
use crate::table::write_word;

/// Returns the properties that all changes of a leaf have in common.
fn changes_of(layout: &Layout, leaf: u32) -> LeafChanges {
    let (entries, frames) = (layout.leaf_page_entries(), layout.frame_count());
    LeafChanges { leaf, width: layout.entry_bytes as usize, entries, frames }
}

/// Returns the largest number of changes that the log in one page of a leaf holds.
fn changes_max(layout: &Layout) -> usize {
    layout.leaf_log_bytes() as usize / changes_of(layout, 0).bytes()
}

/// Returns the offset of the log in a page of a leaf.
fn log_start(layout: &Layout) -> usize {
    (layout.geometry.page_bytes - layout.leaf_log_bytes()) as usize
}

/// Returns the index in the log at which the next change of a page of a leaf is programmed.
fn next_change(page: &[u8], layout: &Layout) -> usize {
    let (size, start) = (changes_of(layout, 0).bytes(), log_start(layout));
    let is_used = |&change: &usize| !is_blank(&page[start + change * size..][..size]);
    (0..changes_max(layout)).rev().find(is_used).map_or(0, |last| last + 1)
}

impl Map<'_> {
    /// Applies the log to the entries in the page buffer, which holds page `index` of a leaf.
    /// Returns `false` if the entries cannot be determined.
    pub(super) fn apply_log<F: Flash>(
        &self,
        pages: &mut Pages<'_, F>,
        layout: &Layout,
        leaf: u32,
        index: u32,
    ) -> bool {
        let (changes, start) = (changes_of(layout, leaf), log_start(layout));
        let (flash, page) = pages.complete_mut();
        let mut unreadable = None;
        for place in 0..changes_max(layout) {
            let bytes = &page[start + place * changes.bytes()..][..changes.bytes()];
            match changes.read(bytes, &mut |bytes| flash.checksum(bytes, 0)) {
                Place::Blank => {}
                Place::Unreadable => unreadable = unreadable.or(Some(place)),
                Place::Change(LeafChange { entry, frame }) => {
                    if unreadable.is_some()
                        && self
                            .overlay
                            .find(self.first_of_page(layout, leaf, index) + entry)
                            .is_none()
                    {
                        return false;
                    }
                    write_word(page, entry as usize * changes.width, changes.width, frame);
                }
            }
        }
        unreadable.is_none_or(|first| {
            // A program that a power cut interrupted has at most as many changes as the overlay has
            // entries of the page.
            !self.is_log_known(leaf)
                && next_change(page, layout) - first
                    <= self.overlay_of_page(layout, leaf, index).len()
        })
    }

    /// Makes the log in the page buffer blank: the leaf is written anew with the log's entries.
    pub(super) fn clear_log<F: Flash>(&self, pages: &mut Pages<'_, F>, layout: &Layout) {
        pages.bytes_mut()[log_start(layout)..].fill(0xFF);
    }

    /// Returns true if no power cut has touched the log of a leaf.
    pub(super) fn is_log_known(&self, leaf: u32) -> bool {
        self.known_logs[leaf as usize / 8] >> (leaf % 8) & 1 != 0
    }

    /// Marks the log of a leaf as untouched: the leaf's frame was programmed in this power
    /// cycle.
    pub fn mark_log(&mut self, leaf: u32, layout: &Layout) {
        if layout.leaf_log_bytes() > 0 {
            self.known_logs[leaf as usize / 8] |= 1 << (leaf % 8);
        }
    }

    /// Marks the log of a leaf as possibly touched. No more changes are programmed into it until
    /// the leaf is written anew.
    pub(super) fn forget_log(&mut self, leaf: u32) {
        if let Some(byte) = self.known_logs.get_mut(leaf as usize / 8) {
            *byte &= !(1 << (leaf % 8));
        }
    }

    /// Marks all logs as possibly touched.
    pub fn mark_no_log(&mut self) {
        self.known_logs.fill(0);
    }

    /// Returns true if the log of a leaf has room for the leaf's overlay entries.
    ///
    /// # Cost
    /// One read of each page of the leaf that changes.
    pub fn log_has_room<F: Flash>(
        &self,
        mut reader: LeafReader<'_, '_, F>,
        leaf: u32,
    ) -> Result<bool, Error> {
        let layout = reader.layout;
        // No change is programmed into a log that a power cut may have touched.
        if layout.leaf_log_bytes() == 0 || self.leaves.get(leaf) == 0 || !self.is_log_known(leaf) {
            return Ok(false);
        }
        for index in 0..u32::from(layout.config.pages_per_logical_page) {
            let entries = self.overlay_of_page(layout, leaf, index);
            if !entries.is_empty() {
                match self.load_leaf_page(&mut reader, leaf, index) {
                    // The code that writes the leaf anew handles the error.
                    Err(Error::Corrupt) => return Ok(false),
                    result => result?,
                };
                if next_change(reader.pages.bytes(), layout) + entries.len() > changes_max(layout) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Programs the overlay entries of a leaf into its log, which has room for them. If a program
    /// fails, returns its failure, and the log then counts as touched.
    ///
    /// # Cost
    /// One read and one program of each page of the leaf that changes.
    pub fn program_log<F: Flash>(
        &mut self,
        mut reader: LeafReader<'_, '_, F>,
        space: &mut Space<'_>,
        leaf: u32,
    ) -> Result<Result<(), Failure>, Error> {
        let layout = reader.layout;
        for index in 0..u32::from(layout.config.pages_per_logical_page) {
            if self.overlay_of_page(layout, leaf, index).is_empty() {
                continue;
            }
            self.load_leaf_page(&mut reader, leaf, index)?;
            // The page buffer still has the old entries.
            self.release_entries(reader.pages, space, layout, leaf, index);
            let failed = self.program_changes(reader.pages, layout, leaf, index);
            if failed.is_err() {
                self.forget_log(leaf);
                return Ok(failed);
            }
        }
        Ok(Ok(()))
    }

    /// Programs the overlay entries of a leaf's page into the log of that page. The page buffer
    /// must hold the leaf's page.
    fn program_changes<F: Flash>(
        &self,
        pages: &mut Pages<'_, F>,
        layout: &Layout,
        leaf: u32,
        index: u32,
    ) -> Result<(), Failure> {
        let (changes, released) = (changes_of(layout, leaf), self.released_bit());
        let (entries, first) =
            (self.overlay_of_page(layout, leaf, index), self.first_of_page(layout, leaf, index));
        let (size, length) = (changes.bytes(), entries.len() * changes.bytes());
        let at = log_start(layout) + next_change(pages.bytes(), layout) * size;
        let (flash, page) = pages.complete_mut();
        for (bytes, entry) in page[at..].chunks_exact_mut(size).zip(entries) {
            let change = LeafChange {
                entry: self.overlay.key(entry) - first,
                frame: self.overlay.value(entry) & !released,
            };
            changes.emit(change, bytes, &mut |bytes| flash.checksum(bytes, 0));
        }
        let page = layout.frame_page(self.leaves.get(leaf)) + index;
        let in_block = layout.geometry.pages_per_block;
        let offset = page % in_block * layout.geometry.page_bytes + at as u32;
        pages.program_bytes(page / in_block, offset, at..at + length)
    }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0xFF)
}
