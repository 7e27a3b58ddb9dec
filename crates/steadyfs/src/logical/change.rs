//! Changing logical pages within a transaction.

use super::Logical;
use super::compose::Source;
use super::edit::{Edit, Piece};
use crate::error::Error;
use crate::journal::{Full, RecordsAhead};
use crate::media::{Flash, TagKind};

impl<F: Flash> Logical<'_, F> {
    /// Writes bytes of a logical page; `bytes` lie within the page, and the rest of the page stays.
    /// The page is written as a new frame. If `bytes` are less than the whole page and a cache may
    /// be used, they are written into the cache instead. Nothing that can fail may follow this
    /// write in the call, except the call's commit.
    ///
    /// If this write is the only change of the transaction and a commit follows, the write is
    /// durable on return, without a journal page. The caller still calls [`commit`](Self::commit),
    /// which then has nothing to do.
    ///
    /// # Cost
    /// `pages_per_logical_page` programs. A write of less than the whole page also needs the same
    /// number of reads, and one read for the map.
    pub(super) fn write(&mut self, piece: &Piece<'_>) -> Result<(), Error> {
        let Piece { logical, bytes, stream, commits, .. } = *piece;
        let source = if bytes.len() as u32 == self.ftl.layout.logical_bytes {
            Source::Whole { bytes, stream }
        } else if self.caches(commits) {
            return self.write_back(piece);
        } else {
            Source::Merged { base: self.frame_of(logical)?, piece: *piece }
        };
        // The page is the whole transaction, so its own tag can commit it.
        if commits && self.is_only_change(logical) {
            self.commit_page(logical, &source)
        } else {
            self.write_source(logical, &source)
        }
    }

    /// Writes logical page `of`, with `edit` applied to each of its program pages, as logical page
    /// `logical`. `of` and `logical` may be the same page. The cost is the cost of
    /// [`write`](Self::write).
    pub fn write_edited(&mut self, logical: u32, of: u32, edit: Edit) -> Result<(), Error> {
        let base = match edit {
            Edit::Salvage { .. } | Edit::SalvageWhole | Edit::Lost => self.frame_or_lost(of)?,
            _ => self.frame_of(of)?,
        };
        self.write_source(logical, &Source::Edited { of, base, edit })
    }

    /// Writes a logical page as a frame that commits itself.
    pub(super) fn commit_page(&mut self, logical: u32, source: &Source<'_>) -> Result<(), Error> {
        self.ftl.check_logical(logical)?;
        self.ftl.call.frames += 1;
        // No leaf may be written between the commit and its overlay entry.
        self.make_room(1)?;
        self.ftl.call.in_doubt = false;
        let programmed = self.program_frame(TagKind::DataCommit, logical, source);
        let frame = self.make_certain(programmed)?;
        self.ftl.transaction.end();
        self.cache.drop(logical);
        self.ftl.map_set(logical, frame);
        self.ftl.release_old(logical);
        Ok(())
    }

    /// Programs a frame that waits for the commit.
    fn program_pending(&mut self, logical: u32, source: &Source<'_>) -> Result<u32, Error> {
        self.ftl.check_logical(logical)?;
        self.check_pending_room(logical)?;
        self.ftl.call.frames += 1;
        let before = self.ftl.space.sequence();
        self.program_frame(TagKind::Data, logical, source).inspect_err(|_| {
            // A sequence number was used, so the medium may hold the page although the call fails.
            if self.ftl.space.sequence() != before {
                self.ftl.transaction.mark_stale(logical);
            }
        })
    }

    /// Programs the stale pages once more. The medium may hold a later frame of such a page, which
    /// does not count. A stale page without content is programmed and then discarded, so that it
    /// has no frame when it is used again.
    pub fn rewrite_stale(&mut self) -> Result<(), Error> {
        self.ftl.transaction.restart_if_empty();
        for index in 0..self.ftl.transaction.len() {
            if self.ftl.transaction.is_stale(index) {
                let logical = self.ftl.transaction.entry(index).0;
                let is_beside = self.journal.patches(logical) || self.cache.find(logical).is_some();
                // A page without content must not keep a frame.
                let is_empty = !is_beside && self.frame_or_lost(logical)? == 0;
                self.flush_page(logical)?;
                if is_empty
                    && self.commit_room() > 0
                    && self.journal.insert_discard(logical).is_ok()
                {
                    self.journal.accept();
                    self.ftl.transaction.set(logical, 0, true, &mut self.ftl.space);
                }
            }
        }
        Ok(())
    }

    /// Writes a logical page as a new frame.
    fn write_source(&mut self, logical: u32, source: &Source<'_>) -> Result<(), Error> {
        let is_first = self.ftl.transaction.note_replaced(logical)?;
        let before = self.ftl.space.sequence();
        let programmed = self.program_pending(logical, source);
        // No program was begun, so the call has not replaced the page.
        if programmed.is_err() && is_first && self.ftl.space.sequence() == before {
            self.ftl.transaction.drop_note();
        }
        let frame = programmed?;
        // The new frame supersedes the page's patches, its discard, and its copy in the cache.
        self.journal.supersede(logical);
        self.cache.replace(logical);
        self.ftl.transaction.set(logical, frame, !is_first, &mut self.ftl.space);
        Ok(())
    }

    /// Writes a logical page as a new frame with its content from before the call. The frame
    /// stays if the call is undone.
    pub(super) fn write_same(&mut self, logical: u32, source: &Source<'_>) -> Result<(), Error> {
        let frame = self.program_pending(logical, source)?;
        self.journal.remove_earlier(logical);
        self.cache.drop(logical);
        self.ftl.transaction.set(logical, frame, true, &mut self.ftl.space);
        Ok(())
    }

    /// Changes a few bytes of a logical page. One journal page holds this patch and all other
    /// patches of the transaction.
    ///
    /// # Cost
    /// Nothing while the journal buffer has room, and at most two frames if it has none. To make
    /// room, the logical page with the most bytes of patches is written. If that frees too little,
    /// the patched page itself is written.
    pub fn patch(&mut self, logical: u32, offset: u32, bytes: &[u8]) -> Result<(), Error> {
        self.patch_piece(&Piece { logical, offset, bytes, stream: 0, commits: false })
    }

    /// Changes a few bytes of a logical page as [`patch`](Self::patch) does. The piece names the
    /// stream of the page, in case the page is written.
    fn patch_piece(&mut self, piece: &Piece<'_>) -> Result<(), Error> {
        let Piece { logical, offset, bytes, .. } = *piece;
        debug_assert!(bytes.len() <= self.journal.patch_bytes_max());
        self.ftl.check_logical(logical)?;
        // The page in the cache has the newest content, so further bytes are written into the
        // cache.
        if self.cache.find_dirty(logical).is_some() {
            return self.write(piece);
        }
        let most = self.ftl.layout.patched_pages_max();
        // Pages are written out of the buffer in turn, so that small patches do not fill the buffer
        // for good.
        if !self.journal.patches(logical) && self.journal.patched_pages() >= most {
            self.flush_next()?;
        }
        let needed = self.journal.patch_room(bytes.len()) as u32;
        while let Err(Full) = self.journal.insert(logical, offset, bytes) {
            match self.journal.largest() {
                // The page with the most bytes in the buffer frees the most room.
                Some((largest, room))
                    if self.journal.room() + room as u32 >= needed
                        || self.ftl.transaction.is_undo_full() =>
                {
                    self.flush_page(largest)?;
                    self.flush_small()?;
                }
                // The patched page is written together with these bytes. Before that, a page with
                // few patches is written, because such pages must not fill the buffer for good.
                _ => {
                    self.flush_small()?;
                    return self.write_through(piece);
                }
            }
        }
        Ok(())
    }

    /// Changes bytes of a logical page in the cheaper way: as a [`patch`](Self::patch) or by a
    /// [`write`](Self::write). The page is written in three cases:
    ///
    /// - The bytes are too many for a patch.
    /// - The journal buffer is full, and this page's patches take the most room in it.
    /// - `grows` is true, so the page's content ends with these bytes. They also complete the page,
    ///   under the conditions of `may_complete`.
    ///
    /// Nothing that can fail may follow in the call, except the call's commit.
    pub fn write_or_patch(&mut self, piece: &Piece<'_>, grows: bool) -> Result<(), Error> {
        let Piece { logical, offset, bytes, .. } = *piece;
        if bytes.len() > self.patch_bytes_max() {
            return self.write(piece);
        }
        let length = bytes.len() as u32;
        let is_full = self.journal.room() < self.journal.patch_room(bytes.len()) as u32;
        // This page would be written out of the buffer next, so it is written with these bytes at
        // once.
        let is_own =
            is_full && self.journal.largest().is_some_and(|(largest, _)| largest == logical);
        let completes = grows
            && offset + length == self.ftl.layout.logical_bytes
            && self.may_complete(self.journal.bytes_of(logical), length);
        if !is_own && !completes {
            return self.patch_piece(piece);
        }
        // A write into the cache cannot be undone, so nothing that can fail may follow it.
        let flushes = is_own && !self.caches(piece.commits);
        self.write(piece)?;
        if flushes { self.flush_small() } else { Ok(()) }
    }

    /// Changes bytes of a logical page as a [`patch`](Self::patch). On media that program bytes, it
    /// writes the page instead if the next commit would program at least half of the page's bytes.
    /// It never writes into the cache, because a change of inodes there could not be undone.
    pub fn patch_or_write_through(
        &mut self,
        logical: u32,
        offset: u32,
        bytes: &[u8],
    ) -> Result<(), Error> {
        // The next commit programs only bytes that the medium does not have.
        let fresh = self.journal.fresh_bytes_of(logical) + bytes.len() as u32;
        let writes = self.ftl.layout.programs_bytes()
            && 2 * fresh >= self.ftl.layout.logical_bytes
            && !self.ftl.transaction.is_undo_full()
            && self.pending_room() > 0;
        let piece = Piece { logical, offset, bytes, stream: 0, commits: false };
        if writes { self.write_through(&piece) } else { self.patch_piece(&piece) }
    }

    /// Writes a page with its content after the call in progress, because its patches take much
    /// room in the journal buffer.
    fn write_through(&mut self, piece: &Piece<'_>) -> Result<(), Error> {
        let source = Source::Merged { base: self.frame_of(piece.logical)?, piece: *piece };
        self.write_source(piece.logical, &source)
    }

    /// Writes large pages out of the journal buffer until it has room for records.
    ///
    /// A page that is discarded, or written as a whole, keeps its records until the end of the
    /// call. So the room for a call that discards many pages is made before.
    pub fn make_journal_room(&mut self, ahead: RecordsAhead) -> Result<(), Error> {
        let least = self.journal.large_page_bytes();
        while !self.journal.has_room_for(ahead)
            && !self.ftl.transaction.is_undo_full()
            && self.pending_room() > 0
        {
            let Some((largest, _)) = self.journal.largest().filter(|&(_, size)| size >= least)
            else {
                break;
            };
            self.flush_page(largest)?;
            self.flush_small()?;
        }
        Ok(())
    }

    /// Writes a page with its content before the call. This makes room in the journal buffer.
    fn flush_page(&mut self, logical: u32) -> Result<(), Error> {
        let source = Source::Earlier { base: self.frame_or_lost(logical)? };
        self.write_same(logical, &source)
    }

    /// Writes one of the pages with few patches in the journal buffer, at most once in a call.
    /// Called after, or together with, the write of another page that makes room in the buffer.
    fn flush_small(&mut self) -> Result<(), Error> {
        if !self.journal.note_flush() || self.ftl.call.flushed_small || self.pending_room() < 2 {
            return Ok(());
        }
        self.ftl.call.flushed_small = true;
        self.flush_next()
    }

    /// Writes one of the logical pages that had patches in the journal buffer before the call.
    /// Successive calls take these pages in turn.
    fn flush_next(&mut self) -> Result<(), Error> {
        match self.journal.take_turn() {
            Some(logical) => self.flush_page(logical),
            None => Ok(()),
        }
    }

    /// Discards a logical page: it reads as zeros, and its frame is released.
    pub fn discard(&mut self, logical: u32) -> Result<(), Error> {
        self.ftl.check_logical(logical)?;
        if self.commit_room() == 0 && !self.journal.is_discarded(logical) {
            return Err(Error::TransactionTooLarge);
        }
        if self.ftl.transaction.knows(logical) {
            let is_first = self.ftl.transaction.note_replaced(logical)?;
            // The page keeps its slot in the table until the commit. A mount that reads the records
            // again uses the same slots.
            self.ftl.transaction.set(logical, 0, !is_first, &mut self.ftl.space);
        }
        // The patches are kept, because an undo restores them.
        self.journal.supersede(logical);
        self.cache.replace(logical);
        while let Err(Full) = self.journal.insert_discard(logical) {
            match (self.journal.largest(), self.journal.largest_own()) {
                (Some((largest, _)), _) => self.flush_page(largest)?,
                // Only pages that the call itself has patched are left to make room.
                (None, Some((own, _))) => self.write_through(&Piece {
                    logical: own,
                    offset: 0,
                    bytes: &[],
                    stream: 0,
                    commits: false,
                })?,
                (None, None) => return Err(Error::TransactionTooLarge),
            }
        }
        Ok(())
    }
}
