//! The used room of the buffer, and the choice of the page that is written to make more room.

use super::Journal;
use super::list::RecordList;
use super::record::{Header, Record, START};
use crate::config::Layout;
use core::cell::OnceCell;
use core::ops::Range;

/// Number of sizes that one pass over the buffer finds.
const SIZES_AT_ONCE: usize = 16;

/// Maximum length of a patch with which a call frees pages.
const FREEING_BYTES_MAX: usize = 16;

/// Records that a call will add to the buffer.
#[derive(Clone, Copy, Debug)]
pub struct RecordsAhead {
    /// Number of records.
    pub count: u32,
    /// Number of bytes of their content, without headers.
    pub bytes: u32,
}

impl RecordsAhead {
    /// Returns the records of a call that frees `pages` neighbouring pages and `inodes` inodes:
    /// discards, and bits of the allocation map.
    pub fn freeing(pages: u32, inodes: u32) -> Self {
        // The bits of eight neighbouring pages lie in two bytes.
        let bits = pages.min(2) + inodes;
        Self { count: pages + inodes + bits, bytes: bits }
    }
}

/// Numbers of the records in the buffer, all counted in one pass.
#[derive(Clone, Copy)]
struct Census {
    /// Number of logical pages that the buffer patches.
    patched_pages: u32,
    /// Number of records without bytes.
    kept_records: u32,
    /// Number of records that discard a page.
    discards: u32,
}

/// The numbers of the buffer's records. They are counted when they are first used.
pub(crate) struct BufferCounts<'s> {
    journal: &'s Journal<'s>,
    census: OnceCell<Census>,
    sizes: OnceCell<Sizes<'s>>,
}

impl<'s> BufferCounts<'s> {
    fn census(&self) -> &Census {
        self.census.get_or_init(|| self.journal.census())
    }

    /// Returns the number of logical pages that the buffer patches.
    pub fn patched_pages(&self) -> u32 {
        self.census().patched_pages
    }

    /// Returns the number of records that stay until the commit: discards, and notes of dropped
    /// pages.
    pub fn kept_records(&self) -> u32 {
        self.census().kept_records
    }

    /// Returns the number of logical pages that the open transaction discards.
    pub fn discards(&self) -> u32 {
        self.census().discards
    }

    /// Returns the sizes of the patches of each logical page that was patched before the call, the
    /// largest first. A size is the number of bytes that a write of the page frees.
    pub fn sizes(&self) -> Sizes<'s> {
        self.sizes.get_or_init(|| Sizes::of(&self.journal.list)).clone()
    }
}

/// See [`BufferCounts::sizes`].
#[derive(Clone)]
pub(crate) struct Sizes<'s> {
    list: &'s RecordList<'s>,
    /// Some of the sizes, the largest first. Zeros follow the smallest size in the buffer.
    found: [u16; SIZES_AT_ONCE],
    /// Index of the next size.
    next: usize,
    /// Of the pages with the last size, the number of pages found so far.
    as_last: usize,
}

impl Iterator for Sizes<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.next == SIZES_AT_ONCE {
            self.find();
        }
        let size = self.found[self.next];
        self.next += usize::from(size > 0);
        (size > 0).then_some(size.into())
    }
}

impl<'s> Sizes<'s> {
    fn of(list: &'s RecordList<'s>) -> Self {
        let mut sizes = Self { list, found: [u16::MAX; SIZES_AT_ONCE], next: 0, as_last: 0 };
        sizes.find();
        sizes
    }

    /// Finds the next largest sizes in one pass over the buffer.
    #[inline(never)]
    fn find(&mut self) {
        let last = self.found[SIZES_AT_ONCE - 1];
        let mut passed = 0;
        self.found = [0; SIZES_AT_ONCE];
        for (_, bytes) in page_sizes(self.list) {
            let size = bytes as u16;
            passed += usize::from(size == last);
            if size > last || (size == last && passed <= self.as_last) {
                continue;
            }
            let place = self.found.iter().position(|&found| found < size);
            if let Some(found) = place.and_then(|place| self.found.get_mut(place..)) {
                found.rotate_right(1);
                found[0] = size;
            }
        }
        let before = if self.found[SIZES_AT_ONCE - 1] == last { self.as_last } else { 0 };
        let last = self.found[SIZES_AT_ONCE - 1];
        self.as_last = before + self.found.iter().filter(|&&found| found == last).count();
        self.next = 0;
    }
}

/// See [`page_sizes`].
struct PageSizes<'s> {
    list: &'s RecordList<'s>,
    at: usize,
}

impl Iterator for PageSizes<'_> {
    type Item = (u32, usize);

    /// Returns the next page. Not inlined: the loop should exist only once.
    #[inline(never)]
    fn next(&mut self) -> Option<(u32, usize)> {
        let (shape, end) = (self.list.shape(), self.list.mark());
        let page = &self.list.page()[..end];
        let (mut logical, mut bytes, mut is_known) = (0, 0, false);
        while self.at < end {
            let header = Header::read(shape, page, self.at);
            if bytes > 0 && header.logical(shape) != logical {
                break;
            }
            if header.length(shape) > 0 && !header.is_superseded() {
                logical = header.logical(shape);
                bytes += header.bytes(shape);
                is_known |= header.is_known();
            }
            self.at += header.bytes(shape);
        }
        // If the medium has patches of the page, a note that the page was dropped stays.
        let note = if self.list.is_chain() && is_known { shape.header_bytes() } else { 0 };
        (bytes > 0).then(|| (logical, bytes - note))
    }
}

/// Returns the logical pages that were patched before the call. Each page comes with the number of
/// bytes that a write of the page frees in the buffer.
fn page_sizes<'s>(list: &'s RecordList<'s>) -> PageSizes<'s> {
    PageSizes { list, at: START }
}

impl Journal<'_> {
    /// Returns the logical page whose patches from before the call take the most room, and the
    /// number of bytes of these patches.
    pub fn largest(&self) -> Option<(u32, usize)> {
        let mut best = None;
        for page in page_sizes(&self.list) {
            if best.is_none_or(|(_, bytes)| page.1 > bytes) {
                best = Some(page);
            }
        }
        best
    }

    /// Returns the logical page with the most bytes of patches of the call itself, and the number of
    /// these bytes.
    pub fn largest_own(&self) -> Option<(u32, usize)> {
        let own = || self.list.records_from(self.list.mark()).filter(Record::is_patch);
        let size = |logical: u32| {
            own()
                .filter(|record| record.logical == logical)
                .map(|record| record.bytes())
                .sum::<usize>()
        };
        own().map(|record| (record.logical, size(record.logical))).max_by_key(|&(_, bytes)| bytes)
    }

    /// Returns true if the buffer has room for these records.
    pub fn has_room_for(&self, ahead: RecordsAhead) -> bool {
        self.room() >= ahead.count * self.patch_room(0) as u32 + ahead.bytes
    }

    /// Returns the least number of bytes of a large page in the buffer. A write of a large page
    /// makes room for any record of a call that frees pages.
    pub fn large_page_bytes(&self) -> usize {
        self.patch_room(FREEING_BYTES_MAX)
    }

    /// Returns the number of bytes that all records together may take.
    pub fn capacity(&self) -> u32 {
        (self.list.size() - START) as u32
    }

    /// Returns the number of free bytes.
    pub fn room(&self) -> u32 {
        (self.list.size() - self.list.used()) as u32
    }

    /// Returns the numbers of the buffer. They hold as long as the buffer does not change.
    pub fn counts(&self) -> BufferCounts<'_> {
        BufferCounts { journal: self, census: OnceCell::new(), sizes: OnceCell::new() }
    }

    /// Returns the number of logical pages that the buffer patches.
    pub fn patched_pages(&self) -> u32 {
        self.census().patched_pages
    }

    /// BufferCounts the records of the buffer.
    fn census(&self) -> Census {
        let (list, shape, mark) = (&self.list, self.list.shape(), self.list.mark());
        let mut census = Census { patched_pages: 0, kept_records: 0, discards: 0 };
        let (mut at, mut last) = (START, u32::MAX);
        while at < list.used() {
            let header = Header::read(shape, list.page(), at);
            let (logical, is_patch) = (header.logical(shape), header.length(shape) > 0);
            if header.is_superseded() {
                // The record does not count.
            } else if !is_patch {
                census.kept_records += 1;
                census.discards += u32::from(header.offset(shape) == 0);
            // Before the mark, the records of a page follow each other. Behind it, the first patch
            // of a page is searched.
            } else if at < mark && logical != last {
                census.patched_pages += 1;
                last = logical;
            } else if at >= mark {
                let first = list.records_of(logical).find(Record::is_patch);
                census.patched_pages += u32::from(first.is_some_and(|first| first.at == at));
            }
            at += header.bytes(shape);
        }
        census
    }

    /// Returns the number of bytes that a patch of `bytes` bytes takes in the buffer.
    pub fn patch_room(&self, bytes: usize) -> usize {
        self.list.shape().header_bytes() + bytes
    }

    /// Returns the first logical page, from `from` on, that was patched before the call.
    pub fn patched_from(&self, from: u32) -> Option<u32> {
        self.list.first_patched(from)
    }

    /// Returns true if the buffer patches this logical page.
    pub fn patches(&self, logical: u32) -> bool {
        self.list.records_of(logical).any(|record| record.is_patch())
    }

    /// Returns true if there are patches of some of these bytes of a logical page.
    pub fn patches_within(&self, logical: u32, bytes: Range<u32>) -> bool {
        let is_there = |record: Record| {
            record.is_patch() && record.offset < bytes.end && record.stop() > bytes.start
        };
        self.list.records_of(logical).any(is_there)
    }

    /// Returns the number of bytes of a logical page in the patches that the buffer had before the
    /// call.
    pub fn bytes_of(&self, logical: u32) -> u32 {
        self.list.earlier_patches_of(logical).map(|patch| patch.length).sum()
    }

    /// Returns the number of bytes in a logical page's patches that were in the buffer before the
    /// call and are not on the medium.
    pub fn fresh_bytes_of(&self, logical: u32) -> u32 {
        self.list
            .earlier_patches_of(logical)
            .filter(|patch| patch.fresh)
            .map(|patch| patch.length)
            .sum()
    }

    /// BufferCounts a write of a page that made room in the buffer. Returns true if a page with few
    /// patches must be written as well.
    ///
    /// Small patches that never change again would keep their room for ever. So one such page is
    /// written
    ///
    /// - after every such write if patches still use more than half of the buffer,
    /// - after every fourth such write if patches still use more than a 36th of the buffer. A 36th
    ///   of 2 KiB is 56 bytes: the size of the patches that each append to a file replaces.
    pub fn note_flush(&mut self) -> bool {
        let (used, capacity) = (self.counting_bytes(), self.patch_bytes_max());
        self.flushes = self.flushes.wrapping_add(1);
        used > capacity / 2 || (used > capacity / 36 && self.flushes.is_multiple_of(4))
    }

    /// Returns the next logical page that had patches before the call. The pages take turns in the
    /// order of their numbers.
    pub fn take_turn(&mut self) -> Option<u32> {
        let next = self.patched_from(self.turn + 1).or_else(|| self.patched_from(0));
        self.turn = next.unwrap_or(self.turn);
        next
    }

    /// Returns the number of bytes of the records that are not superseded.
    pub fn counting_bytes(&self) -> usize {
        self.list.records().map(|record| record.bytes()).sum()
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
            self.list.size() / 4
        }
    }

    /// Returns the length of the largest patch that an empty buffer holds.
    pub fn patch_bytes_max(&self) -> usize {
        self.list.size() - START - self.list.shape().header_bytes()
    }
}
