//! Logical pages that can be rewritten in place, patched and discarded, with an atomic commit over any of them.
//!
//! A logical page is what its frame holds, with the patches of the journal over it, or what the cache has. [`Logical`] reads it as the open transaction sees
//! it, and programs it, frames and records alike, wherever the [translation layer](crate::ftl) has a place.
//!
//! | file | idea |
//! |---|---|
//! | `read` | reading |
//! | `compose` | what a program page of a logical page is made of |
//! | `program` | frames are programmed, and again after a failed program |
//! | `record` | journal records are |
//! | `fold` | leaves of the map are written back |
//! | `moves` | frames move |
//! | `change` | write, patch, discard within a transaction |
//! | `commit` | commit and rollback |
//! | `write_back` | what the cache brings with it |
//! | [`edit`] | what a page may become while it is copied |

mod change;
mod commit;
mod compose;
pub(crate) mod edit;
mod fold;
mod moves;
mod program;
mod read;
mod record;
mod write_back;

pub(crate) use edit::Piece;

use crate::commit::Cache;
use crate::error::Error;
use crate::ftl::Ftl;
use crate::journal::Journal;
use crate::media::Flash;
use crate::space::{Frame, NONE};

/// The logical pages. See the [module](self).
pub(crate) struct Logical<'m, F> {
    pub ftl: Ftl<'m, F>,
    pub journal: Journal<'m>,
    pub cache: Cache<'m>,
}

impl<F: Flash> Logical<'_, F> {
    /// The frame of a logical page as the open transaction sees it; 0 when it has none.
    ///
    /// # Cost
    /// At most one read.
    pub fn frame_of(&mut self, logical: u32) -> Result<Frame, Error> {
        self.ftl.check_logical(logical)?;
        if !self.ftl.pages.flash().is_clean() {
            if let Some(frame) = self.ftl.transaction.frame_of(logical) {
                return Ok(frame);
            }
            if self.journal.is_discarded(logical) {
                return Ok(0);
            }
        }
        let (map, look) = self.ftl.map_and_look();
        map.find(look, logical)
    }

    /// The frame of a logical page that a caller reads; 0 if the page has none and reads as zeros.
    /// Before a repair of a file system it is an error if such a page may have lost its content.
    pub(super) fn shown_frame(&mut self, logical: u32) -> Result<Frame, Error> {
        let frame = self.frame_of(logical)?;
        let is_hidden = frame == 0
            && !self.ftl.pages.flash().is_clean()
            && self.ftl.status.hides_blank_pages()
            && !self.ftl.layout.config.is_disk()
            && !self.journal.patches(logical);
        if is_hidden { Err(Error::Corrupt) } else { Ok(frame) }
    }

    /// The place of a logical page in the cache.
    fn cached(&self, logical: u32) -> Option<usize> {
        if self.ftl.pages.flash().is_clean() { None } else { self.cache.find(logical) }
    }

    /// The frame of a logical page, or [`NONE`] where nobody knows it any more.
    pub(super) fn frame_or_lost(&mut self, logical: u32) -> Result<u32, Error> {
        match self.frame_of(logical) {
            Err(Error::Corrupt) if self.ftl.is_missing(logical)? => Ok(NONE),
            frame => frame,
        }
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
        if !self.ftl.transaction.knows(logical) && !self.journal.is_discarded(logical) {
            self.ftl.map.know_unwritten(logical);
        }
    }

    /// Whether nothing waits for a commit beside a logical page that is written as a whole.
    pub(super) fn is_alone(&self, logical: u32) -> bool {
        let cached = u32::from(self.cache.find_dirty(logical).is_some());
        self.cache.dirty() == cached
            && self.ftl.transaction.len() == 0
            && !self.journal.is_dirty()
            && !self.journal.patches(logical)
    }

    /// Whether anything waits for a commit, or logical pages from `first` on have patches in the journal buffer.
    pub fn waits_beside(&self, first: u32) -> bool {
        self.is_open() || self.journal.patched_from(first).is_some()
    }

    /// Whether anything waits for a commit.
    pub fn is_open(&self) -> bool {
        self.ftl.transaction.has_pages() || self.journal.is_dirty() || self.cache.dirty() > 0
    }

    /// Logical pages that the open transaction may still write.
    pub fn pending_room(&self) -> u32 {
        self.ftl.transaction.capacity().saturating_sub(self.ftl.transaction.places(&self.cache)).min(self.commit_room())
    }

    /// Changes of the map that the commit of the open transaction may make beside those that it has: an empty overlay has room for all of them.
    pub(super) fn commit_room(&self) -> u32 {
        self.ftl.map.changes_max().saturating_sub(self.ftl.transaction.places(&self.cache) + self.journal.discard_count())
    }

    /// Whether so many logical pages may be discarded, and as many be written behind them as a transaction has at most. What says so in the journal buffer stays until the
    /// commit, and takes a quarter of it at most.
    pub fn has_room_to_discard(&self, count: u32) -> bool {
        let records = (self.journal.discard_count() + count) as usize;
        self.commit_room() >= count + self.ftl.transaction.capacity()
            && records * self.journal.patch_room(0) <= self.journal.patch_bytes_max() / 4
    }

    /// Refuses one more page when the table of pending pages has no place for it, those that wait in the cache counted.
    pub(super) fn check_pending_room(&self, logical: u32) -> Result<(), Error> {
        let has_place = self.ftl.transaction.knows(logical) || self.cache.find_dirty(logical).is_some();
        if has_place || self.pending_room() > 0 { Ok(()) } else { Err(Error::TransactionTooLarge) }
    }

    /// Longest patch that is worth a place in the journal; longer changes write their logical page.
    pub fn patch_bytes_max(&self) -> usize {
        self.journal.small_patch_bytes_max(&self.ftl.layout)
    }

    /// Whether a page is written at once when bytes at its end complete it, with so many in the journal buffer: where pages are small, with a
    /// quarter of it. What grows on does so elsewhere, and would only fill the buffer here. Where pages are large that gains little, and
    /// the bound of every append would be higher.
    pub(super) fn may_complete(&self, patched: u32, bytes: u32) -> bool {
        self.ftl.layout.programs_bytes() && patched + bytes >= self.ftl.layout.logical_bytes / 4
    }

    /// Whether a patch of so many bytes of any page may complete it, as the journal buffer is now.
    pub fn may_be_completed(&self, bytes: u32) -> bool {
        self.may_complete(self.journal.largest().map_or(0, |(_, patched)| patched as u32), bytes)
    }
}
