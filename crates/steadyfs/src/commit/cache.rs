//! Write-back: logical pages that were written in part stay in RAM until the commit, or until
//! another page needs its slot.
//!
//! Without a cache, every such write programs a frame at once (write-through). Four writes of 1 KiB
//! to a page of 4 KiB then cost four frames. With a cache, they cost a single frame. A page in the
//! cache is complete: it includes the journal's patches of the page, and later patches are written
//! into it. A small patch of a page that is not in the cache stays in the journal. There one
//! program commits all patches.

use crate::features::CACHE;
use crate::space::NONE;

/// Bytes of an entry beside the page: logical page, stream and flags.
pub(crate) const ENTRY_BYTES: usize = 4;
const DIRTY: u32 = 1 << 31;
/// The call in progress has written or discarded the page as a whole. The slot holds the page as it
/// was before the call.
const REPLACED: u32 = 1 << 30;
/// Shift of the two bits that hold the stream of the page.
const STREAM_SHIFT: u32 = 24;
/// Mask of the logical page.
const LOGICAL: u32 = (1 << STREAM_SHIFT) - 1;

/// The pages and their entries.
pub(crate) struct Cache<'m> {
    entries: &'m mut [u8],
    pages: &'m mut [u8],
    logical_bytes: usize,
    /// Slot of the next eviction.
    hand: usize,
    dirty: u32,
}

impl<'m> Cache<'m> {
    /// Divides `memory` into as many slots as it has room for.
    pub fn new(memory: &'m mut [u8], logical_bytes: u32) -> Self {
        let logical_bytes = logical_bytes as usize;
        let count = memory.len() / (logical_bytes + ENTRY_BYTES);
        let (entries, pages) = memory.split_at_mut(count * ENTRY_BYTES);
        entries.fill(0xFF);
        Self { entries, pages, logical_bytes, hand: 0, dirty: 0 }
    }

    /// Returns the number of slots.
    pub fn len(&self) -> u32 {
        if !CACHE {
            return 0;
        }
        (self.entries.len() / ENTRY_BYTES) as u32
    }

    /// Returns the number of pages that are not written yet.
    pub fn dirty(&self) -> u32 {
        if CACHE { self.dirty } else { 0 }
    }

    fn entry(&self, slot: usize) -> u32 {
        let b = &self.entries[slot * ENTRY_BYTES..(slot + 1) * ENTRY_BYTES];
        u32::from_le_bytes([b[0], b[1], b[2], b[3]])
    }

    /// Returns true if a slot holds the logical page.
    pub fn holds(&self, slot: usize, logical: u32) -> bool {
        self.entry(slot) & LOGICAL == logical
    }

    /// Returns the logical page in a slot that is not free.
    pub fn logical(&self, slot: usize) -> u32 {
        self.entry(slot) & LOGICAL
    }

    /// Assigns a slot to a page that is not written yet, and stores the stream of the page.
    pub fn set_dirty(&mut self, slot: usize, logical: u32, stream: u8) {
        self.set_entry(slot, logical | u32::from(stream) << STREAM_SHIFT | DIRTY);
    }

    /// Marks the page in a slot as written.
    pub fn set_written(&mut self, slot: usize, logical: u32) {
        self.set_entry(slot, logical);
    }

    /// Frees a slot.
    pub fn free(&mut self, slot: usize) {
        self.set_entry(slot, NONE);
    }

    /// Returns the slot of the next eviction. The slots are evicted in turn.
    pub fn take_slot(&mut self) -> usize {
        let slot = self.hand;
        self.hand = (slot + 1) % self.len() as usize;
        slot
    }

    fn set_entry(&mut self, slot: usize, entry: u32) {
        let is_dirty = |entry: u32| u32::from(entry != NONE && entry & (DIRTY | REPLACED) == DIRTY);
        self.dirty = self.dirty + is_dirty(entry) - is_dirty(self.entry(slot));
        self.entries[slot * ENTRY_BYTES..(slot + 1) * ENTRY_BYTES]
            .copy_from_slice(&entry.to_le_bytes());
    }

    /// Returns the slot of a logical page.
    pub fn find(&self, logical: u32) -> Option<usize> {
        (0..self.len() as usize)
            .find(|&slot| self.entry(slot) & REPLACED == 0 && self.entry(slot) & LOGICAL == logical)
    }

    /// Returns true if the page in a slot is not written yet.
    pub fn is_dirty(&self, slot: usize) -> bool {
        self.entry(slot) != NONE && self.entry(slot) & (DIRTY | REPLACED) == DIRTY
    }

    fn is_replaced(&self, slot: usize) -> bool {
        self.entry(slot) != NONE && self.entry(slot) & REPLACED != 0
    }

    /// Returns true if the call in progress has replaced a page that was not written yet.
    pub fn has_replaced(&self) -> bool {
        (0..self.len() as usize).any(|slot| self.is_replaced(slot))
    }

    /// Marks a page as replaced, because the call in progress writes or discards it as a whole. If
    /// the page was already written to the medium, its slot becomes free instead.
    pub fn replace(&mut self, logical: u32) {
        if let Some(slot) = self.find(logical) {
            let kept = if self.is_dirty(slot) { self.entry(slot) | REPLACED } else { NONE };
            self.set_entry(slot, kept);
        }
    }

    /// Discards the pages that the call has replaced.
    pub fn drop_replaced(&mut self) {
        for slot in 0..self.len() as usize {
            if self.is_replaced(slot) {
                self.set_entry(slot, NONE);
            }
        }
    }

    /// Restores the pages that the call has replaced.
    pub fn restore_replaced(&mut self) {
        for slot in 0..self.len() as usize {
            if self.is_replaced(slot) {
                self.set_entry(slot, self.entry(slot) & !REPLACED);
            }
        }
    }

    /// Returns the slot of a logical page that the cache holds and has not written yet.
    pub fn find_dirty(&self, logical: u32) -> Option<usize> {
        self.find(logical).filter(|&slot| self.is_dirty(slot))
    }

    /// Returns the stream of a page that is not written yet.
    pub fn stream(&self, slot: usize) -> u8 {
        (self.entry(slot) >> STREAM_SHIFT & 3) as u8
    }

    /// Returns the bytes of a page.
    pub fn page(&self, slot: usize) -> &[u8] {
        &self.pages[slot * self.logical_bytes..(slot + 1) * self.logical_bytes]
    }

    /// Returns the bytes of a page, mutable.
    pub fn page_mut(&mut self, slot: usize) -> &mut [u8] {
        &mut self.pages[slot * self.logical_bytes..(slot + 1) * self.logical_bytes]
    }

    /// Discards a page, whether it is written or not.
    pub fn drop(&mut self, logical: u32) {
        if let Some(slot) = self.find(logical) {
            self.set_entry(slot, NONE);
        }
    }

    /// Discards all pages, because a rollback undid their contents.
    pub fn clear(&mut self) {
        self.entries.fill(0xFF);
        self.dirty = 0;
    }

    /// Returns the pages that may still have to be written: dirty pages, and replaced pages. A
    /// replaced page becomes dirty again if the call in progress fails.
    pub fn waiting_pages(&self) -> impl Iterator<Item = u32> + '_ {
        let waits = |&slot: &usize| self.is_dirty(slot) || self.is_replaced(slot);
        (0..self.len() as usize).filter(waits).map(|slot| self.entry(slot) & LOGICAL)
    }

    /// Returns the slot of the first page that is not written yet, and the page.
    pub fn first_dirty(&self) -> Option<(usize, u32)> {
        (0..self.len() as usize)
            .find(|&slot| self.is_dirty(slot))
            .map(|slot| (slot, self.entry(slot) & LOGICAL))
    }
}
