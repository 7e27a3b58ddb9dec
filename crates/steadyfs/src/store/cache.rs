//! Write-back: logical pages that were written in part stay in RAM until the commit, or until another page needs the place.
//!
//! Without a cache every such write programs a frame at once (write-through), so that four writes of 1 KiB to a page of 4 KiB
//! cost four frames; with one they cost a single frame. A page in the cache is whole: the journal's patches of it are in it, and
//! further ones go there. Small patches that no such write preceded stay in the journal, where a commit costs one program for all.

use super::Store;
use super::program::Source;
use super::transaction::Piece;
use crate::error::Error;
use crate::features::CACHE;
use crate::media::Flash;
use crate::space::NONE;

/// Bytes of an entry beside the page: logical page, and whether it is dirty.
pub(crate) const ENTRY_BYTES: usize = 4;
const DIRTY: u32 = 1 << 31;
/// The call in progress has written or discarded the page otherwise; the place has it as it was before.
const REPLACED: u32 = 1 << 30;
/// Two bits: the stream that the page goes to.
const STREAM_SHIFT: u32 = 24;
/// The logical page.
const LOGICAL: u32 = (1 << STREAM_SHIFT) - 1;

/// The pages and their entries.
pub(super) struct Cache<'m> {
    entries: &'m mut [u8],
    pages: &'m mut [u8],
    logical_bytes: usize,
    /// The place that is given up next.
    hand: usize,
    dirty: u32,
}

impl<'m> Cache<'m> {
    /// Divides `memory` into as many places as it holds.
    pub fn new(memory: &'m mut [u8], logical_bytes: u32) -> Self {
        let logical_bytes = logical_bytes as usize;
        let count = memory.len() / (logical_bytes + ENTRY_BYTES);
        let (entries, pages) = memory.split_at_mut(count * ENTRY_BYTES);
        entries.fill(0xFF);
        Self { entries, pages, logical_bytes, hand: 0, dirty: 0 }
    }

    /// Places.
    pub fn len(&self) -> u32 {
        if !CACHE {
            return 0;
        }
        (self.entries.len() / ENTRY_BYTES) as u32
    }

    /// Pages that are not written yet.
    pub fn dirty(&self) -> u32 {
        if CACHE { self.dirty } else { 0 }
    }

    fn entry(&self, slot: usize) -> u32 {
        let b = &self.entries[slot * ENTRY_BYTES..(slot + 1) * ENTRY_BYTES];
        u32::from_le_bytes([b[0], b[1], b[2], b[3]])
    }

    fn set_entry(&mut self, slot: usize, entry: u32) {
        let is_dirty = |entry: u32| u32::from(entry != NONE && entry & (DIRTY | REPLACED) == DIRTY);
        self.dirty = self.dirty + is_dirty(entry) - is_dirty(self.entry(slot));
        self.entries[slot * ENTRY_BYTES..(slot + 1) * ENTRY_BYTES].copy_from_slice(&entry.to_le_bytes());
    }

    /// The place of a logical page.
    pub fn find(&self, logical: u32) -> Option<usize> {
        (0..self.len() as usize).find(|&slot| self.entry(slot) & REPLACED == 0 && self.entry(slot) & LOGICAL == logical)
    }

    fn is_dirty(&self, slot: usize) -> bool {
        self.entry(slot) != NONE && self.entry(slot) & (DIRTY | REPLACED) == DIRTY
    }

    fn is_replaced(&self, slot: usize) -> bool {
        self.entry(slot) != NONE && self.entry(slot) & REPLACED != 0
    }

    /// Whether the call in progress has replaced a page that was not written yet.
    pub fn has_replaced(&self) -> bool {
        (0..self.len() as usize).any(|slot| self.is_replaced(slot))
    }

    /// Lets a page count no more, because the call in progress writes or discards it as a whole.
    pub fn replace(&mut self, logical: u32) {
        if let Some(slot) = self.find(logical) {
            let kept = if self.is_dirty(slot) { self.entry(slot) | REPLACED } else { NONE };
            self.set_entry(slot, kept);
        }
    }

    /// Forgets the pages that the call has replaced.
    pub fn drop_replaced(&mut self) {
        for slot in 0..self.len() as usize {
            if self.is_replaced(slot) {
                self.set_entry(slot, NONE);
            }
        }
    }

    /// Undoes what the call has replaced.
    pub fn restore_replaced(&mut self) {
        for slot in 0..self.len() as usize {
            if self.is_replaced(slot) {
                self.set_entry(slot, self.entry(slot) & !REPLACED);
            }
        }
    }

    /// The place of a logical page that is not written yet.
    pub fn find_dirty(&self, logical: u32) -> Option<usize> {
        self.find(logical).filter(|&slot| self.is_dirty(slot))
    }

    /// The stream of a page that is not written yet.
    pub fn stream(&self, slot: usize) -> u8 {
        (self.entry(slot) >> STREAM_SHIFT & 3) as u8
    }

    /// Bytes of a page.
    pub fn page(&self, slot: usize) -> &[u8] {
        &self.pages[slot * self.logical_bytes..(slot + 1) * self.logical_bytes]
    }

    fn page_mut(&mut self, slot: usize) -> &mut [u8] {
        &mut self.pages[slot * self.logical_bytes..(slot + 1) * self.logical_bytes]
    }

    /// Forgets a page, written or not.
    pub fn drop(&mut self, logical: u32) {
        if let Some(slot) = self.find(logical) {
            self.set_entry(slot, NONE);
        }
    }

    /// Forgets all pages, because a rollback undid what they hold.
    pub fn clear(&mut self) {
        self.entries.fill(0xFF);
        self.dirty = 0;
    }

    /// The pages that are not written yet, or will not be again when the call in progress fails.
    pub fn waiting_pages(&self) -> impl Iterator<Item = u32> + '_ {
        let waits = |&slot: &usize| self.is_dirty(slot) || self.is_replaced(slot);
        (0..self.len() as usize).filter(waits).map(|slot| self.entry(slot) & LOGICAL)
    }

    /// The first page that is not written yet: its place, and which it is.
    fn first_dirty(&self) -> Option<(usize, u32)> {
        (0..self.len() as usize).find(|&slot| self.is_dirty(slot)).map(|slot| (slot, self.entry(slot) & LOGICAL))
    }
}

#[cfg(feature = "cache")]
impl<'m, F: Flash> Store<'m, F> {
    /// Whether pages wait to be written.
    pub fn has_cached(&self) -> bool {
        self.cache.dirty() > 0
    }

    /// Takes memory for a cache; what the one before has not written yet is written.
    pub fn lend_cache(&mut self, memory: &'m mut [u8]) -> Result<(), Error> {
        while let Some((slot, logical)) = self.cache.first_dirty() {
            self.write_slot(slot, logical, false)?;
        }
        self.cache = Cache::new(memory, self.layout.logical_bytes);
        Ok(())
    }
}

impl<F: Flash> Store<'_, F> {
    /// Whether bytes may be written into the cache: that cannot be undone, so it is the last thing that a call does, and a call that commits
    /// writes the page.
    pub(super) fn caches(&self) -> bool {
        self.cache.len() > 0 && !self.call.commits && !self.cache.has_replaced()
    }

    /// Writes bytes of a logical page into the cache, where it [may](Self::caches).
    ///
    /// # Cost
    /// As many reads as a logical page has program pages, and one for the map, when it is not there yet; a frame when another page
    /// has to make room.
    pub(super) fn write_back(&mut self, piece: &Piece<'_>) -> Result<(), Error> {
        let Piece { logical, offset, bytes, stream } = *piece;
        self.check_logical(logical)?;
        self.check_pending_room(logical)?;
        let slot = match self.cache.find(logical) {
            Some(slot) => slot,
            None => self.take_slot()?,
        };
        if self.cache.entry(slot) & LOGICAL != logical {
            self.fill_slot(slot, logical)?;
        } else if !self.cache.is_dirty(slot) {
            self.journal.apply(logical, 0, self.cache.page_mut(slot));
        }
        // From now on the page is what counts: patches and a discard of the old one would not be in order with it. No error follows.
        self.journal.remove(logical);
        self.cache.page_mut(slot)[offset as usize..offset as usize + bytes.len()].copy_from_slice(bytes);
        self.cache.set_entry(slot, logical | u32::from(self.layout.stream(stream)) << STREAM_SHIFT | DIRTY);
        Ok(())
    }

    /// Gives up a place, one after the other.
    fn take_slot(&mut self) -> Result<usize, Error> {
        let slot = self.cache.hand;
        self.cache.hand = (slot + 1) % self.cache.len() as usize;
        if self.cache.is_dirty(slot) {
            self.write_slot(slot, self.cache.entry(slot) & LOGICAL, false)?;
        }
        self.cache.set_entry(slot, NONE);
        Ok(slot)
    }

    fn fill_slot(&mut self, slot: usize, logical: u32) -> Result<(), Error> {
        let (base, page_bytes) = (self.frame_of(logical)?, self.layout.geometry.page_bytes as usize);
        for index in 0..u32::from(self.layout.config.unit_pages) {
            self.compose_page(logical, base, index, 0, &[])?;
            let at = index as usize * page_bytes;
            self.cache.page_mut(slot)[at..at + page_bytes].copy_from_slice(self.pages.bytes());
        }
        Ok(())
    }

    /// Writes a page of the cache as a frame; it stays there.
    fn write_slot(&mut self, slot: usize, logical: u32, commit: bool) -> Result<(), Error> {
        let source = Source::Cached { slot };
        if commit && self.is_alone(logical) {
            self.commit_page(logical, &source)?
        } else {
            self.write_same(logical, &source)?
        }
        self.cache.set_entry(slot, logical);
        Ok(())
    }

    /// Writes every page of the cache that is not written yet, because the transaction commits. One that is all of it commits itself.
    pub(super) fn write_cache(&mut self) -> Result<(), Error> {
        while let Some((slot, logical)) = self.cache.first_dirty() {
            // Whether it is alone is known to whoever writes it.
            self.write_slot(slot, logical, true)?;
        }
        Ok(())
    }
}
