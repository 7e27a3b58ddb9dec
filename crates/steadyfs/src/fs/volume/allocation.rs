//! Takes pages and inodes, and frees them.

use super::Volume;
use super::plan::MAP;
use super::space::{Room, SpaceCounts};
use crate::config::{INODE_BYTES, LOGICAL_BYTES_MAX};
use crate::error::Error;
use crate::fs::inode::ROOT;
use crate::media::Flash;

/// Maximum length of the run of free bits that RAM keeps, as a number of empty bytes of the
/// allocation map.
const RUN_BYTES: u32 = 64;

/// Number of bytes in the map for the inodes of the largest logical page.
const PAGE_BITS_MAX: usize = LOGICAL_BYTES_MAX as usize / INODE_BYTES as usize / 8;

/// Returns true if none of the `count` inodes of a page of the file table is in use. The page
/// begins with inode `first`. `bits` begins with the byte that holds the bit of this inode.
fn page_is_free(bits: &[u8], first: u32, count: u32) -> bool {
    (first % 8..first % 8 + count).all(|bit| bits[bit as usize / 8] >> (bit % 8) & 1 == 0)
}

/// Returns the bits of the first program page of the file table if the second program page has
/// fewer inodes, and 0 if not.
///
/// `bits` is the first byte of the map of inodes. If a page has eight inodes or more, the bits of
/// both pages lie in different bytes, and the result is 0.
fn fuller_page(bits: u8, page_inodes: u32) -> u8 {
    if page_inodes > 4 {
        return 0;
    }
    let first = (1 << page_inodes) - 1;
    let second = first << page_inodes;
    if (bits & first).count_ones() > (bits & second).count_ones() { first } else { 0 }
}

/// Returns the number of inodes of the page of the file table that begins with inode `first`. The
/// last page may have fewer inodes than the others. The bits of data pages then follow its bits.
fn inodes_there(first: u32, per_page: u32, inode_count: u32) -> u32 {
    per_page.min(inode_count.saturating_sub(first))
}

impl<F: Flash> Volume<'_, F> {
    /// Counts the pages and inodes in use, at mount.
    pub fn count_space(&mut self) -> Result<(), Error> {
        self.space = SpaceCounts { depth: self.space.depth, ..self.count_taken()?.0 };
        Ok(())
    }

    /// Counts the pages and inodes in use. Also returns the number behind the last inode in use.
    pub fn count_taken(&mut self) -> Result<(SpaceCounts, u32), Error> {
        let per_page = self.inodes_of_page();
        let page_bits = self.store.layout().geometry.page_bytes * 8;
        let unit = u32::from(self.store.layout().config.pages_per_logical_page);
        let (files, bits) = (self.plan.data_bit(), self.plan.data_bit() + self.plan.data_count);
        let (mut space, mut end, mut last_page) =
            (SpaceCounts { table_pages: 1, ..SpaceCounts::default() }, 1, 0);
        for page in 0..bits.div_ceil(page_bits) {
            let base = page * page_bits;
            self.store.logical.with_page(MAP + page / unit, page % unit, |bytes| {
                for (first, &word) in (base..).step_by(32).zip(bytes.as_chunks().0) {
                    let mut word = u32::from_le_bytes(word);
                    // Most words have only bits of data pages.
                    if (files..bits.saturating_sub(31)).contains(&first) {
                        space.used += word.count_ones();
                        continue;
                    }
                    while word != 0 {
                        let number = first + word.trailing_zeros();
                        word &= word - 1;
                        // The bits of the data pages follow the bits of the inodes.
                        if number >= files {
                            space.used += u32::from(number < bits);
                            continue;
                        }
                        (space.inodes, end) = (space.inodes + 1, number + 1);
                        space.table_pages += u32::from(number / per_page != last_page);
                        last_page = number / per_page;
                    }
                }
            })?;
        }
        Ok((space, end))
    }

    /// Returns the number of logical pages that may hold file data, with the present size of the
    /// file table.
    pub fn capacity(&self) -> u32 {
        self.plan.capacity(self.store.usable(), self.space.table_pages)
    }

    /// Returns the number of logical pages that may hold file data on this volume without files.
    pub fn capacity_empty(&self) -> u32 {
        self.plan.capacity(self.store.usable(), 1)
    }

    /// Returns the number of inodes of a page of the file table.
    fn inodes_of_page(&self) -> u32 {
        self.store.layout().inodes_per_page()
    }

    fn bit_place(&self, bit: u32) -> (u32, u32) {
        let page_bytes = self.store.layout().logical_bytes;
        (MAP + bit / 8 / page_bytes, bit / 8 % page_bytes)
    }

    /// Takes a free data page. Successive calls return neighbouring pages if possible.
    ///
    /// # Cost
    /// One patch. If the last run of free bits is used up, the call also reads the allocation map.
    pub fn allocate_page(&mut self, room: Room) -> Result<u32, Error> {
        self.space.check_room(self.capacity(), room)?;
        if self.space.count == 0 {
            self.look_for_free()?;
        }
        self.take(1)
    }

    /// Takes up to `most` consecutive free pages. If `at` is given, the first page must be `at`.
    /// Returns the first page and the number of pages.
    ///
    /// # Cost
    /// The same as [`allocate_page`](Self::allocate_page), for all pages together.
    pub fn allocate_run(&mut self, at: Option<u32>, most: u32) -> Result<(u32, u32), Error> {
        let room = self.capacity().saturating_sub(self.space.used);
        if room == 0 {
            return Err(Error::NoSpace);
        }
        if self.space.count == 0 {
            self.look_for_free()?;
        }
        let first = self.plan.data + self.space.next - self.plan.data_bit();
        // Only the page right behind a run can extend the run.
        if at.is_some_and(|at| at != first) {
            return Ok((first, 0));
        }
        let count = u32::from(self.space.count).min(most).min(room);
        Ok((self.take(count)?, count))
    }

    /// Takes the next `count` pages of the run of free bits.
    fn take(&mut self, count: u32) -> Result<u32, Error> {
        let (first, end) = (self.space.next, self.space.next + count);
        let mut bytes = [0u8; RUN_BYTES as usize + 1];
        bytes[0] = self.space.byte;
        for bit in first..end {
            bytes[(bit / 8 - first / 8) as usize] |= 1 << (bit % 8);
        }
        let length = ((end - 1) / 8 - first / 8 + 1) as usize;
        let (page, at) = self.bit_place(first);
        // A run does not cross a program page of the map.
        self.store.logical.patch(page, at, &bytes[..length])?;
        (self.space.next, self.space.count) = (end, self.space.count - count as u16);
        // The search found all bytes of the run behind its first byte empty.
        self.space.byte = if end.is_multiple_of(8) { 0 } else { bytes[length - 1] };
        self.space.used += count;
        Ok(self.plan.data + first - self.plan.data_bit())
    }

    /// Finds free bits of data pages: a run of empty bytes. The search begins at the end of the
    /// last run. If there is no empty byte, finds the free bits of one byte.
    fn look_for_free(&mut self) -> Result<(), Error> {
        let page_bytes = self.store.layout().geometry.page_bytes;
        let unit = u32::from(self.store.layout().config.pages_per_logical_page);
        let (first, bits) = (self.plan.data_bit() / 8, self.plan.data_bit() + self.plan.data_count);
        let last = bits / 8;
        let start = (self.space.end() / 8).clamp(first, last);
        let pages = last / page_bytes + 1;
        let mut single = None;
        // The last step covers the bits of the first page before the start.
        for step in 0..=pages {
            let page = (start / page_bytes + step) % pages;
            let base = page * page_bytes;
            let from = if step == 0 { start } else { first.max(base) };
            let (run, other) =
                self.store.logical.with_page(MAP + page / unit, page % unit, |bytes| {
                    let limit = last.min(base + page_bytes);
                    let at = |byte: u32| bytes[(byte - base) as usize];
                    let run = (from..limit).find(|&byte| at(byte) == 0).map(|byte| {
                        let end = (byte..limit.min(byte + RUN_BYTES)).find(|&b| at(b) != 0);
                        (byte, end.unwrap_or(limit.min(byte + RUN_BYTES)))
                    });
                    // Some bits of the byte after the last whole byte have no page, so all its bits
                    // count as taken.
                    let other =
                        (from..limit).find(|&byte| at(byte) != 0xFF).map(|byte| (byte, at(byte)));
                    (run, other)
                })?;
            // A run of empty bytes lets a file lie in one piece.
            if let Some((from, to)) = run {
                self.space = SpaceCounts {
                    next: from * 8,
                    count: ((to - from) * 8) as u16,
                    byte: 0,
                    ..self.space
                };
                return Ok(());
            }
            single = single.or(other);
        }
        let (byte, value) = single.ok_or(Error::NoSpace)?;
        let bit = value.trailing_ones();
        let free = (value >> bit).trailing_zeros().min(8 - bit);
        self.space =
            SpaceCounts { next: byte * 8 + bit, count: free as u16, byte: value, ..self.space };
        Ok(())
    }

    /// Frees neighbouring data pages: clears their bits and discards their content. Refuses pages
    /// that are not data pages.
    pub fn free_pages(&mut self, first: u32, count: u32) -> Result<(), Error> {
        self.check_data_pages(first, count)?;
        // The last run of free bits may touch the same bytes.
        self.space.forget_run();
        let base = first - self.plan.data + self.plan.data_bit();
        let mut bit = base;
        while bit < base + count {
            let here = (8 - bit % 8).min(base + count - bit);
            let mask = ((1u32 << here) - 1) << (bit % 8);
            let (page, at) = self.bit_place(bit);
            let mut byte = [0];
            self.store.logical.read(page, at, &mut byte)?;
            self.store.logical.patch(page, at, &[byte[0] & !(mask as u8)])?;
            bit += here;
        }
        // A free page must read as zeros.
        for logical in first..first + count {
            self.store.logical.discard(logical)?;
        }
        self.space.used -= count.min(self.space.used);
        Ok(())
    }

    /// Returns true if a data page is in use.
    pub fn page_is_taken(&mut self, logical: u32) -> Result<bool, Error> {
        let bit = logical - self.plan.data + self.plan.data_bit();
        let (page, at) = self.bit_place(bit);
        let mut byte = [0];
        self.store.logical.read(page, at, &mut byte)?;
        Ok(byte[0] >> (bit % 8) & 1 != 0)
    }

    /// Marks a data page as in use.
    pub fn mark_page(&mut self, logical: u32) -> Result<(), Error> {
        let bit = logical - self.plan.data + self.plan.data_bit();
        let (page, at) = self.bit_place(bit);
        let mut byte = [0];
        self.store.logical.read(page, at, &mut byte)?;
        // The last run of free bits may hold this page.
        self.space.forget_run();
        self.space.used += 1;
        self.store.logical.patch(page, at, &[byte[0] | 1 << (bit % 8)])
    }

    /// Marks an inode as in use.
    pub fn mark_inode(&mut self, inode: u32) -> Result<(), Error> {
        let (page, at) = self.bit_place(inode);
        let mut byte = [0];
        self.store.logical.read(page, at, &mut byte)?;
        self.space.inodes += 1;
        self.store.logical.patch(page, at, &[byte[0] | 1 << (inode % 8)])
    }

    /// Returns true if an inode is in use.
    pub fn inode_is_taken(&mut self, inode: u32) -> Result<bool, Error> {
        let (page, at) = self.bit_place(inode);
        let mut byte = [0];
        self.store.logical.read(page, at, &mut byte)?;
        Ok(inode == ROOT || byte[0] >> (inode % 8) & 1 != 0)
    }

    /// Takes the first free inode below `inode_limit`. If the inode is the first one of its page of
    /// the file table, there must be room for this page.
    ///
    /// Of the first two program pages of the file table, it prefers the page with fewer inodes.
    /// So on a volume with few files, no page holds all of them.
    pub fn allocate_inode(&mut self, inode_limit: u32, room: Room) -> Result<u32, Error> {
        let page_bytes = self.store.layout().geometry.page_bytes;
        let unit = u32::from(self.store.layout().config.pages_per_logical_page);
        let (last, per_page, inode_count) =
            (inode_limit.div_ceil(8), self.inodes_of_page(), self.plan.inode_count);
        let page_inodes = self.store.layout().inodes_per_program() as usize;
        let whole_bytes = (inode_limit / 8).min(page_bytes) as usize;
        for page in 0..last.div_ceil(page_bytes) {
            let base = page * page_bytes;
            let found = self.store.logical.with_page(MAP + page / unit, page % unit, |bytes| {
                let limit = (last.min(base + page_bytes) - base) as usize;
                // The root's bit is never set.
                let taken = |index: usize| bytes[index] | u8::from(base == 0 && index == 0);
                (0..limit).find(|&index| taken(index) != 0xFF).map(|index| {
                    let is_emptier =
                        |other: usize| taken(other).count_ones() < taken(index).count_ones();
                    let other = index + page_inodes / 8;
                    let spreads = base == 0
                        && index < page_inodes / 8
                        && other < whole_bytes
                        && is_emptier(other);
                    let index = if spreads { other } else { index };
                    let (byte, value) = (base + index as u32, taken(index));
                    let passed = if byte == 0 && inode_limit >= 8 {
                        fuller_page(value, page_inodes as u32)
                    } else {
                        0
                    };
                    let inode = byte * 8 + (value | passed).trailing_ones();
                    let first = inode - inode % per_page;
                    let here = inodes_there(first, per_page, inode_count);
                    let is_first = first != ROOT
                        && page_is_free(&bytes[(first / 8 - base) as usize..], first, here);
                    (byte, value, inode, is_first)
                })
            })?;
            let Some((byte, value, inode, is_first)) = found else { continue };
            if inode >= inode_limit {
                break;
            }
            if is_first {
                self.space.check_room(self.capacity(), room)?;
            }
            let (page, at) = self.bit_place(inode);
            // The search counts the root directory's inode as taken, but the bit of this inode is
            // never set.
            let root = u8::from(byte == 0);
            self.store.logical.patch(page, at, &[(value | 1 << (inode % 8)) & !root])?;
            self.space.inodes += 1;
            self.space.table_pages += u32::from(is_first);
            return Ok(inode);
        }
        Err(Error::TooManyFiles)
    }

    /// Frees an inode. If it was the last inode of its page of the file table, frees this page too.
    /// The caller must not write to the inode any more. Refuses an inode that is free.
    pub fn free_inode(&mut self, inode: u32) -> Result<(), Error> {
        let first = inode - inode % self.inodes_of_page();
        let (page, at) = self.bit_place(first);
        let mut bits = [0; PAGE_BITS_MAX];
        let bits = &mut bits[..self.inodes_of_page().div_ceil(8) as usize];
        self.store.logical.read(page, at, bits)?;
        let (index, bit) = (inode / 8 - first / 8, 1 << (inode % 8));
        if bits[index as usize] & bit == 0 {
            // A damaged list may name the same inode several times.
            return Err(Error::Corrupt);
        }
        bits[index as usize] &= !bit;
        self.space.inodes = self.space.inodes.saturating_sub(1);
        self.store.logical.patch(page, at + index, &[bits[index as usize]])?;
        let here = inodes_there(first, self.inodes_of_page(), self.plan.inode_count);
        // The root's page always stays.
        if first == ROOT || !page_is_free(bits, first, here) {
            return Ok(());
        }
        self.space.table_pages = self.space.table_pages.saturating_sub(1);
        self.store.logical.discard(self.plan.table + first / self.inodes_of_page())
    }
}
