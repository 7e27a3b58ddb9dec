//! The used room of the buffer, and the choice of the page that is written to make more room.

use super::Journal;
use super::record::{Record, START};
use crate::config::Layout;
use core::ops::Range;

impl Journal<'_> {
    /// Returns the logical page whose patches from before the call take the most room, and the
    /// number of bytes of these patches.
    pub fn largest(&self) -> Option<(u32, usize)> {
        let mut best = None;
        for page in self.page_sizes() {
            if best.is_none_or(|(_, bytes)| page.1 > bytes) {
                best = Some(page);
            }
        }
        best
    }

    /// Returns the logical page whose patches of the call itself take the most room, and the number
    /// of bytes of these patches.
    pub fn largest_own(&self) -> Option<(u32, usize)> {
        let own = || self.records_from(self.mark()).filter(Record::is_patch);
        let size = |logical: u32| {
            own()
                .filter(|record| record.logical == logical)
                .map(|record| record.bytes())
                .sum::<usize>()
        };
        own().map(|record| (record.logical, size(record.logical))).max_by_key(|&(_, bytes)| bytes)
    }

    /// Returns the number of records that stay until the commit: discards, and notes of dropped
    /// pages.
    pub fn kept_records(&self) -> u32 {
        if self.has_notes() {
            self.records().filter(|record| !record.is_patch()).count() as u32
        } else {
            0
        }
    }

    /// Returns the number of bytes that all records together may take.
    pub fn capacity(&self) -> u32 {
        (self.bytes.len() - START) as u32
    }

    /// Returns the number of free bytes.
    pub fn room(&self) -> u32 {
        (self.bytes.len() - self.used()) as u32
    }

    /// Returns the sizes of the patches of each logical page that was patched before the call, the
    /// largest first. A size is the number of bytes that a write of the page frees.
    pub fn sizes(&self) -> impl Iterator<Item = u32> + '_ {
        let mut limit = (usize::MAX, u32::MAX);
        core::iter::from_fn(move || {
            // The next smaller page has fewer bytes, or as many bytes and a smaller number.
            limit = self
                .page_sizes()
                .map(|(logical, size)| (size, logical))
                .filter(|&page| page < limit)
                .max()?;
            Some(limit.0 as u32)
        })
    }

    /// Returns the logical pages that were patched before the call. Each page comes with the number
    /// of bytes that a write of the page frees in the buffer.
    fn page_sizes(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        let mut records = self.earlier().filter(Record::is_patch).peekable();
        core::iter::from_fn(move || {
            let first = records.next()?;
            let (mut bytes, mut is_known) = (first.bytes(), first.is_known());
            while let Some(record) = records.next_if(|record| record.logical == first.logical) {
                bytes += record.bytes();
                is_known |= record.is_known();
            }
            // If the medium has patches of the page, a note that the page was dropped stays.
            Some((
                first.logical,
                if self.is_chain() && is_known { bytes - self.shape.header_bytes() } else { bytes },
            ))
        })
    }

    /// Returns the number of logical pages that the buffer patches.
    pub fn patched_pages(&self) -> u32 {
        let is_new = |record: &Record| {
            let before = self.records().take_while(|r| r.at < record.at);
            record.is_patch()
                && !before.filter(Record::is_patch).any(|r| r.logical == record.logical)
        };
        let own = self.records_from(self.mark()).filter(is_new).count();
        (self.page_sizes().count() + own) as u32
    }

    /// Returns the number of bytes that a patch of `bytes` bytes takes in the buffer.
    pub fn patch_room(&self, bytes: usize) -> usize {
        self.shape.header_bytes() + bytes
    }

    /// Returns the first logical page, from `from` on, that was patched before the call.
    pub fn patched_from(&self, from: u32) -> Option<u32> {
        self.first_from(from, false)
    }

    /// Returns true if the buffer patches this logical page.
    pub fn patches(&self, logical: u32) -> bool {
        self.records_of(logical).any(|record| record.is_patch())
    }

    /// Returns true if there are patches of some of these bytes of a logical page.
    pub fn patches_within(&self, logical: u32, bytes: Range<u32>) -> bool {
        let is_there = |record: Record| {
            record.is_patch() && record.offset < bytes.end && record.stop() > bytes.start
        };
        self.records_of(logical).any(is_there)
    }

    /// Returns the number of bytes of a logical page in the patches that the buffer had before the
    /// call.
    pub fn bytes_of(&self, logical: u32) -> u32 {
        self.earlier_patches_of(logical).map(|patch| patch.length).sum()
    }

    /// Returns the number of bytes in a logical page's patches that were in the buffer before the
    /// call and are not on the medium.
    pub fn fresh_bytes_of(&self, logical: u32) -> u32 {
        self.earlier_patches_of(logical).filter(|patch| patch.fresh).map(|patch| patch.length).sum()
    }

    /// Counts a write of a page that made room in the buffer. Returns true if a page with few
    /// patches must be written as well.
    ///
    /// Small patches that never change again would use room for ever. So one such page is written
    ///
    /// - after every such write if patches still use more than half of the buffer,
    /// - after every fourth such write if patches still use more than a 36th of the buffer. A 36th
    ///   of 2 KiB is 56 bytes: the patches that each append to a file replaces.
    pub fn note_flush(&mut self) -> bool {
        let (used, capacity) = (self.counting_bytes(), self.patch_bytes_max());
        self.flushes = self.flushes.wrapping_add(1);
        used > capacity / 2 || (used > capacity / 36 && self.flushes.is_multiple_of(4))
    }

    /// Returns the next logical page that had patches before the call. The pages have their turn in
    /// the order of their numbers.
    pub fn take_turn(&mut self) -> Option<u32> {
        let next = self.patched_from(self.turn + 1).or_else(|| self.patched_from(0));
        self.turn = next.unwrap_or(self.turn);
        next
    }

    /// Returns the number of bytes of the records that are not superseded.
    pub fn counting_bytes(&self) -> usize {
        self.records().map(|record| record.bytes()).sum()
    }

    /// Returns true if the buffer differs from the newest journal page.
    pub fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// Returns the length up to which a change is stored as a patch. For a longer change, the
    /// logical page is written instead.
    pub fn small_patch_bytes_max(&self, layout: &Layout) -> usize {
        let most = self.patch_bytes_max();
        // In a chain, a commit programs only the patch's own bytes, so longer patches are worth
        // their room.
        if layout.programs_bytes() {
            (most / 2).min(layout.logical_bytes as usize / 2)
        } else {
            self.bytes.len() / 4
        }
    }

    /// Returns the length of the largest patch that an empty buffer holds.
    pub fn patch_bytes_max(&self) -> usize {
        self.bytes.len() - START - self.shape.header_bytes()
    }
}
