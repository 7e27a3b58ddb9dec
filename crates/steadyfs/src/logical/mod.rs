//! Logical pages that can be rewritten in place, patched and discarded, with an atomic commit
//! over any of them.
//!
//! The content of a logical page is its frame, or its page in the cache, with the journal's patches
//! applied. [`Logical`] reads pages with the changes of the open transaction. It programs frames
//! and records at the places that the [translation layer](crate::ftl) assigns.
//!
//! | file | idea |
//! |---|---|
//! | `read` | reading |
//! | `compose` | the content of a program page, made in the page buffer |
//! | `program` | programming frames, and again after a failed program |
//! | `record` | programming journal records |
//! | `fold` | writing leaves of the map back |
//! | `moves` | moving frames |
//! | `change` | write, patch, discard within a transaction |
//! | `commit` | commit and rollback |
//! | `write_back` | the cache: filling places, writing pages out |
//! | [`edit`] | changes of a page while it is copied |

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
    /// Returns the frame of a logical page, including changes of the open transaction. Returns 0 if
    /// the page has no frame.
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
        let (map, reader) = self.ftl.map_and_reader();
        map.find(reader, logical)
    }

    /// Returns the frame of a logical page that a caller reads. Returns 0 if the page has no frame
    /// and reads as zeros. If a file system needs a repair, the page may have lost its content:
    /// then this function returns an error instead of 0.
    pub(super) fn shown_frame(&mut self, logical: u32) -> Result<Frame, Error> {
        let frame = self.frame_of(logical)?;
        let is_hidden = frame == 0
            && !self.ftl.pages.flash().is_clean()
            && self.ftl.status.hides_blank_pages()
            && !self.ftl.layout.config.is_disk()
            && !self.journal.patches(logical);
        if is_hidden { Err(Error::Corrupt) } else { Ok(frame) }
    }

    /// Returns the cache slot of a logical page.
    fn cached(&self, logical: u32) -> Option<usize> {
        if self.ftl.pages.flash().is_clean() { None } else { self.cache.find(logical) }
    }

    /// Returns the frame of a logical page, or [`NONE`] if a repair has marked the page as lost.
    pub(super) fn frame_or_lost(&mut self, logical: u32) -> Result<u32, Error> {
        match self.frame_of(logical) {
            Err(Error::Corrupt) if self.ftl.is_missing(logical)? => Ok(NONE),
            frame => frame,
        }
    }

    /// Returns true if a logical page has content, including changes of the open transaction.
    ///
    /// # Cost
    /// At most one read.
    pub fn is_written(&mut self, logical: u32) -> Result<bool, Error> {
        Ok(self.frame_of(logical)? != 0
            || self.journal.patches(logical)
            || self.cache.find(logical).is_some())
    }

    /// Records that a page has no frame in the committed map. This saves a look-up when the caller
    /// first uses the page. If the open transaction has discarded the page, nothing is recorded:
    /// the page may have a frame, which a rollback restores.
    pub fn mark_unwritten(&mut self, logical: u32) {
        if !self.ftl.transaction.knows(logical) && !self.journal.is_discarded(logical) {
            self.ftl.map.mark_unwritten(logical);
        }
    }

    /// Returns true if a logical page is the only uncommitted change, and has no patches. A write
    /// of the whole page can then commit itself.
    pub(super) fn is_only_change(&self, logical: u32) -> bool {
        let cached = u32::from(self.cache.find_dirty(logical).is_some());
        self.cache.dirty() == cached
            && self.ftl.transaction.len() == 0
            && !self.journal.is_dirty()
            && !self.journal.patches(logical)
    }

    /// Returns true if there are uncommitted changes, or if logical pages from `first` on have
    /// patches in the journal buffer.
    pub fn waits_beside(&self, first: u32) -> bool {
        self.is_open() || self.journal.patched_from(first).is_some()
    }

    /// Returns true if there are uncommitted changes.
    pub fn is_open(&self) -> bool {
        self.ftl.transaction.has_pages() || self.journal.is_dirty() || self.cache.dirty() > 0
    }

    /// Returns the number of logical pages that the open transaction may still write.
    pub fn pending_room(&self) -> u32 {
        self.ftl
            .transaction
            .capacity()
            .saturating_sub(self.ftl.transaction.places(&self.cache))
            .min(self.commit_room())
    }

    /// Returns the number of map changes that the open transaction can still take before its
    /// commit. The limit is the room of an empty overlay.
    pub(super) fn commit_room(&self) -> u32 {
        self.ftl
            .map
            .changes_max()
            .saturating_sub(self.ftl.transaction.places(&self.cache) + self.journal.discard_count())
    }

    /// Returns true if the open transaction can discard `count` logical pages and still write as
    /// many pages as a full transaction. The records of all discards must fit in a quarter of the
    /// journal buffer, because they stay there until the commit.
    pub fn has_room_to_discard(&self, count: u32) -> bool {
        let records = (self.journal.discard_count() + count) as usize;
        self.commit_room() >= count + self.ftl.transaction.capacity()
            && records * self.journal.patch_room(0) <= self.journal.patch_bytes_max() / 4
    }

    /// Returns an error if the table of pending pages has no slot for this page. Dirty pages in the
    /// cache count as pending.
    pub(super) fn check_pending_room(&self, logical: u32) -> Result<(), Error> {
        let has_place =
            self.ftl.transaction.knows(logical) || self.cache.find_dirty(logical).is_some();
        if has_place || self.pending_room() > 0 { Ok(()) } else { Err(Error::TransactionTooLarge) }
    }

    /// Returns the length of the longest change in bytes that is made as a patch in the journal.
    /// For a longer change, the logical page is written.
    pub fn patch_bytes_max(&self) -> usize {
        self.journal.small_patch_bytes_max(&self.ftl.layout)
    }

    /// Returns true if a page is written at once when its last `bytes` bytes are written. `patched`
    /// is the number of its bytes in the journal buffer. On media that program bytes, the page is
    /// written if both numbers together are at least a quarter of the page. A growing file
    /// continues on other pages, so the patches of this page would only fill the buffer.
    ///
    /// On other media the page is never written at once. The gain would be small, and the bound of
    /// every append would be higher.
    pub(super) fn may_complete(&self, patched: u32, bytes: u32) -> bool {
        self.ftl.layout.programs_bytes() && patched + bytes >= self.ftl.layout.logical_bytes / 4
    }

    /// Returns true if `may_complete` may return true for a patch of `bytes` bytes to some page.
    /// The journal buffer has its present content.
    pub fn may_be_completed(&self, bytes: u32) -> bool {
        self.may_complete(self.journal.largest().map_or(0, |(_, patched)| patched as u32), bytes)
    }
}
