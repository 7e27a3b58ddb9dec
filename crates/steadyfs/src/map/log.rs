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

use super::log_entry::{Change, Changes, Place};
use super::{Look, Map};
use crate::config::Layout;
use crate::error::Error;
use crate::media::{Failure, Flash};
use crate::pages::Pages;
use crate::space::Space;
use crate::table::write_word;

/// What the changes of a leaf have in common.
fn changes_of(layout: &Layout, leaf: u32) -> Changes {
    let (entries, frames) = (layout.leaf_page_entries(), layout.frame_count());
    Changes { leaf, width: layout.entry_bytes as usize, entries, frames }
}

/// Changes that a page of a leaf holds.
fn changes_max(layout: &Layout) -> usize {
    layout.leaf_log_bytes() as usize / changes_of(layout, 0).bytes()
}

/// First byte of the log in a page of a leaf.
fn log_start(layout: &Layout) -> usize {
    (layout.geometry.page_bytes - layout.leaf_log_bytes()) as usize
}

/// Where a page of a leaf takes its next change.
fn next_change(page: &[u8], layout: &Layout) -> usize {
    let (size, start) = (changes_of(layout, 0).bytes(), log_start(layout));
    let is_used = |&change: &usize| !is_blank(&page[start + change * size..][..size]);
    (0..changes_max(layout)).rev().find(is_used).map_or(0, |last| last + 1)
}

impl Map<'_> {
    /// Lets the entries in the page buffer, which holds page `index` of a leaf, be what its log says; `false` when they cannot be known.
    pub(super) fn apply_log<F: Flash>(&self, pages: &mut Pages<'_, F>, layout: &Layout, leaf: u32, index: u32) -> bool {
        let (changes, start) = (changes_of(layout, leaf), log_start(layout));
        let (flash, page) = pages.complete_mut();
        let mut unreadable = None;
        for place in 0..changes_max(layout) {
            let bytes = &page[start + place * changes.bytes()..][..changes.bytes()];
            match changes.read(bytes, &mut |bytes| flash.checksum(bytes, 0)) {
                Place::Blank => {}
                Place::Unreadable => unreadable = unreadable.or(Some(place)),
                Place::Change(Change { entry, frame }) => {
                    if unreadable.is_some() && self.overlay.find(self.first_of_page(layout, leaf, index) + entry).is_none() {
                        return false;
                    }
                    write_word(page, entry as usize * changes.width, changes.width, frame);
                }
            }
        }
        unreadable.is_none_or(|first| {
            // Those of a program that was cut are no more than the overlay has.
            !self.is_log_known(leaf) && next_change(page, layout) - first <= self.overlay_of_page(layout, leaf, index).len()
        })
    }

    /// Makes the log in the page buffer blank: its entries are those of a leaf that is written anew.
    pub(super) fn clear_log<F: Flash>(&self, pages: &mut Pages<'_, F>, layout: &Layout) {
        pages.bytes_mut()[log_start(layout)..].fill(0xFF);
    }

    /// Whether no power cut has touched the log of a leaf.
    pub(super) fn is_log_known(&self, leaf: u32) -> bool {
        self.known_logs[leaf as usize / 8] >> (leaf % 8) & 1 != 0
    }

    /// Notes that a leaf lies in a frame that was programmed in this power cycle.
    pub fn know_log(&mut self, leaf: u32, layout: &Layout) {
        if layout.leaf_log_bytes() > 0 {
            self.known_logs[leaf as usize / 8] |= 1 << (leaf % 8);
        }
    }

    /// Lets the log of a leaf take no changes, until the leaf is written anew.
    pub(super) fn forget_log(&mut self, leaf: u32) {
        if let Some(byte) = self.known_logs.get_mut(leaf as usize / 8) {
            *byte &= !(1 << (leaf % 8));
        }
    }

    /// After a power cut: any log may have been touched.
    pub fn know_no_log(&mut self) {
        self.known_logs.fill(0);
    }

    /// Whether the log of a leaf takes its overlay entries.
    ///
    /// # Cost
    /// A read for each page of the leaf that changes.
    pub fn log_has_room<F: Flash>(&self, mut look: Look<'_, '_, F>, leaf: u32) -> Result<bool, Error> {
        let layout = look.layout;
        if layout.leaf_log_bytes() == 0 || self.leaves.get(leaf) == 0 || !self.is_log_known(leaf) {
            return Ok(false);
        }
        for index in 0..u32::from(layout.config.unit_pages) {
            let entries = self.overlay_of_page(layout, leaf, index);
            if !entries.is_empty() {
                match self.load_leaf_page(&mut look, leaf, index) {
                    // What becomes of a leaf that cannot be read is for whoever writes it anew to say.
                    Err(Error::Corrupt) => return Ok(false),
                    result => result?,
                };
                if next_change(look.pages.bytes(), layout) + entries.len() > changes_max(layout) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Programs the overlay entries of a leaf into its log, which has room for them. What became of the first program that failed, if one did: the log is not
    /// known then.
    ///
    /// # Cost
    /// A read and a program for each page of the leaf that changes.
    pub fn program_log<F: Flash>(
        &mut self,
        mut look: Look<'_, '_, F>,
        space: &mut Space<'_>,
        leaf: u32,
    ) -> Result<Result<(), Failure>, Error> {
        let layout = look.layout;
        for index in 0..u32::from(layout.config.unit_pages) {
            if self.overlay_of_page(layout, leaf, index).is_empty() {
                continue;
            }
            self.load_leaf_page(&mut look, leaf, index)?;
            self.release_entries(look.pages, space, layout, leaf, index);
            let failed = self.program_changes(look.pages, layout, leaf, index);
            if failed.is_err() {
                self.forget_log(leaf);
                return Ok(failed);
            }
        }
        Ok(Ok(()))
    }

    /// Programs the overlay entries of a page of a leaf, which the page buffer holds, into its log.
    fn program_changes<F: Flash>(&self, pages: &mut Pages<'_, F>, layout: &Layout, leaf: u32, index: u32) -> Result<(), Failure> {
        let (changes, released) = (changes_of(layout, leaf), self.released_bit());
        let (entries, first) = (self.overlay_of_page(layout, leaf, index), self.first_of_page(layout, leaf, index));
        let (size, length) = (changes.bytes(), entries.len() * changes.bytes());
        let at = log_start(layout) + next_change(pages.bytes(), layout) * size;
        let (flash, page) = pages.complete_mut();
        for (bytes, entry) in page[at..].chunks_exact_mut(size).zip(entries) {
            let change = Change { entry: self.overlay.key(entry) - first, frame: self.overlay.value(entry) & !released };
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
