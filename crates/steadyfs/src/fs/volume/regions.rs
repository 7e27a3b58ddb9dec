//! Page of a file → logical page: runs and indexes in the regions of its inode.
//!
//! A file that was written in order is one run of any length, and its pages are found by one
//! look-up. If a page is outside the run of its region, it has an entry in the region's index. The
//! index is a page of entries. If the volume has more pages than such indexes can map, an index has
//! two levels: its page names pages of entries. An entry is a data page plus one, or 0 for a hole.
//! An index page that was never written reads as zeros, so a new index need not be written.

use super::Volume;
use super::space::Room;
use crate::error::Error;
use crate::fs::inode::{AREA_AT, AREA_BYTES, REGION_BYTES, REGIONS, Region};
use crate::media::Flash;

/// An inode whose pages are looked up.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub inode: u32,
    /// The run that was used last: pages `first..first + count` of the file. Their logical pages
    /// are consecutive, and begin at `logical`.
    first: u32,
    count: u32,
    logical: u32,
}

impl Node {
    pub const fn new(inode: u32) -> Self {
        Self { inode, first: 0, count: 0, logical: 0 }
    }

    /// If the last run holds `page`, returns the page behind the run. If not, returns `page`.
    pub fn run_end(&self, page: u32) -> u32 {
        if page.wrapping_sub(self.first) < self.count { self.first + self.count } else { page }
    }

    /// Discards the last run.
    pub fn forget(&mut self) {
        self.count = 0;
    }
}

impl<F: Flash> Volume<'_, F> {
    /// Returns the largest size of a file, in bytes.
    pub fn size_max(&self) -> u64 {
        u64::from(REGIONS)
            * u64::from(self.plan.region_pages)
            * u64::from(self.store.layout().logical_bytes)
    }

    /// Reads the regions of an inode.
    pub fn read_area(&mut self, inode: u32, area: &mut [u8; AREA_BYTES]) -> Result<(), Error> {
        let (page, at) = self.inode_place(inode);
        self.store.logical.read(page, at + AREA_AT, area)
    }

    /// Reads a region of an inode.
    ///
    /// Not inlined, so the other regions are not on the stack when the caller continues.
    #[inline(never)]
    fn read_region(&mut self, inode: u32, number: u32) -> Result<Region, Error> {
        let mut area = [0; AREA_BYTES];
        self.read_area(inode, &mut area)?;
        Ok(Region::of(&area, number))
    }

    /// Patches bytes of an inode. The patch contains only the range from the first to the last byte
    /// that differs from the stored bytes. This range is usually shorter than `bytes`.
    pub fn patch_what_differs(&mut self, page: u32, at: u32, bytes: &[u8]) -> Result<(), Error> {
        let Some((first, last)) = self.differing(page, at, bytes)? else { return Ok(()) };
        self.store.logical.patch(page, at + first as u32, &bytes[first..=last])
    }

    /// Returns the first and the last index at which `bytes` differs from the stored bytes.
    ///
    /// Not inlined, so the stored bytes are not on the stack when the caller patches.
    #[inline(never)]
    fn differing(
        &mut self,
        page: u32,
        at: u32,
        bytes: &[u8],
    ) -> Result<Option<(usize, usize)>, Error> {
        let mut old = [0; AREA_BYTES];
        let old = &mut old[..bytes.len()];
        self.store.logical.read(page, at, old)?;
        let differs = |index: &usize| old[*index] != bytes[*index];
        let first = (0..bytes.len()).find(differs);
        Ok(first.map(|first| (first, (first..bytes.len()).rfind(differs).unwrap_or(first))))
    }

    /// Writes a region of an inode.
    pub fn write_region(&mut self, inode: u32, index: u32, region: Region) -> Result<(), Error> {
        let (page, at) = self.inode_place(inode);
        self.store.logical.patch(page, at + AREA_AT + index * REGION_BYTES, &region.emit())
    }

    /// Returns the logical page of a page of a file, or `None` if the page is a hole.
    ///
    /// # Cost
    /// Nothing if the last run holds the page. One look at the inode if another run holds it. If no
    /// run holds the page, one look at the inode and one at each level of the index.
    #[inline(always)]
    pub fn page_of(&mut self, node: &mut Node, file_page: u32) -> Result<Option<u32>, Error> {
        if file_page.wrapping_sub(node.first) < node.count {
            return Ok(Some(node.logical + file_page - node.first));
        }
        self.look_up_page(node, file_page)
    }

    fn look_up_page(&mut self, node: &mut Node, file_page: u32) -> Result<Option<u32>, Error> {
        let region_pages = self.plan.region_pages;
        let (number, within) = (file_page / region_pages, file_page % region_pages);
        if number >= REGIONS {
            return Ok(None);
        }
        let region = self.find_run(node, number, within)?;
        if within >= region.count {
            return self.indexed_page(region.index, within);
        }
        Ok(Some(node.logical + file_page - node.first))
    }

    /// Reads the region that holds a page. If a run holds the page, stores this run in `node`.
    ///
    /// Not inlined, so the other regions are not on the stack during a look at an index.
    #[inline(never)]
    fn find_run(&mut self, node: &mut Node, number: u32, within: u32) -> Result<Region, Error> {
        let region_pages = self.plan.region_pages;
        let mut area = [0; AREA_BYTES];
        self.read_area(node.inode, &mut area)?;
        let found = Region::of(&area, number);
        // A page outside of the run has an entry in the index.
        if within >= found.count {
            return Ok(found);
        }
        // A damaged inode must not lead to tables of the file system.
        self.check_data_pages(found.logical, found.count)?;
        (node.first, node.logical, node.count) =
            (number * region_pages, found.logical, found.count);
        if self.store.flash().is_clean() {
            // The loop looks at the inode once for each region, because this takes less code.
            return Ok(found);
        }
        // Merge full regions whose pages follow each other into one run.
        for next in number + 1..REGIONS {
            let region = Region::of(&area, next);
            if node.count != (next - number) * region_pages
                || region.count == 0
                || region.logical != node.logical + node.count
            {
                break;
            }
            self.check_data_pages(region.logical, region.count)?;
            node.count += region.count;
        }
        for before in (0..number).rev() {
            let region = Region::of(&area, before);
            if region.count != region_pages || region.logical + region.count != node.logical {
                break;
            }
            self.check_data_pages(region.logical, region.count)?;
            (node.first, node.logical, node.count) =
                (node.first - region.count, region.logical, node.count + region.count);
        }
        Ok(found)
    }

    /// Returns the page that an index names for page `within` of its region.
    fn indexed_page(&mut self, index: u32, within: u32) -> Result<Option<u32>, Error> {
        if index == 0 {
            return Ok(None);
        }
        self.check_data_pages(index, 1)?;
        let entries = self.plan.index_entries;
        if !self.plan.index_is_deep {
            return self.index_entry(index, within);
        }
        match self.index_entry(index, within / entries)? {
            Some(page) => self.index_entry(page, within % entries),
            None => Ok(None),
        }
    }

    /// Reads an entry of an index page.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the number in the entry is out of range. If an entry was lost with a
    /// part of the page, all its bits are ones, and the number is out of range.
    pub fn index_entry(&mut self, page: u32, entry: u32) -> Result<Option<u32>, Error> {
        let number = self.raw_entry(page, entry)?;
        if number > self.plan.data_count {
            return Err(Error::Corrupt);
        }
        Ok(number.checked_sub(1).map(|number| self.plan.data + number))
    }

    pub fn raw_entry(&mut self, page: u32, entry: u32) -> Result<u32, Error> {
        let width = self.plan.index_bytes();
        let mut bytes = [0; 4];
        self.store.logical.read(page, entry * width, &mut bytes[..width as usize])?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Writes an entry of an index page.
    pub fn set_index_entry(
        &mut self,
        page: u32,
        entry: u32,
        target: Option<u32>,
    ) -> Result<(), Error> {
        let width = self.plan.index_bytes();
        let number = target.map_or(0, |target| target - self.plan.data + 1);
        self.store.logical.patch(page, entry * width, &number.to_le_bytes()[..width as usize])
    }

    /// Gives a file a new page in place of a hole.
    ///
    /// # Cost
    /// One look at the inode and one at the allocation map. It takes up to three pages, and writes
    /// none of these pages.
    pub fn add_page(&mut self, node: &mut Node, file_page: u32, room: Room) -> Result<u32, Error> {
        let (number, within) =
            (file_page / self.plan.region_pages, file_page % self.plan.region_pages);
        let mut region = self.read_region(node.inode, number)?;
        let logical = self.allocate_page(room)?;
        // If the page is right behind the run, the run grows, and the page needs no entry.
        let follows = if region.count == 0 {
            within == 0
        } else {
            within == region.count && logical == region.logical + within
        };
        node.forget();
        if follows {
            region = Region { logical: logical - within, count: within + 1, ..region };
            self.write_region(node.inode, number, region)?;
            return Ok(logical);
        }
        // An index page that was never written reads as zeros, so it need not be written.
        if region.index == 0 {
            region.index = self.allocate_page(room)?;
            self.write_region(node.inode, number, region)?;
        }
        self.check_data_pages(region.index, 1)?;
        let (mut page, mut entry) = (region.index, within);
        if self.plan.index_is_deep {
            let (top, upper) = (page, within / self.plan.index_entries);
            entry = within % self.plan.index_entries;
            page = match self.index_entry(top, upper)? {
                Some(page) => page,
                None => {
                    let page = self.allocate_page(room)?;
                    self.set_index_entry(top, upper, Some(page))?;
                    page
                }
            };
        }
        self.set_index_entry(page, entry, Some(logical))?;
        Ok(logical)
    }

    /// Takes as many consecutive free pages as possible for a file, behind the run of a region.
    /// Returns their number, or 0 if the run cannot be extended.
    pub fn extend_run(&mut self, node: &mut Node, file_page: u32, most: u32) -> Result<u32, Error> {
        let (number, within) =
            (file_page / self.plan.region_pages, file_page % self.plan.region_pages);
        let region = self.read_region(node.inode, number)?;
        // The index may have entries for pages behind the run. A longer run would hide these
        // entries.
        if within != region.count || region.index != 0 {
            return Ok(0);
        }
        let behind = (region.count > 0).then(|| region.logical + region.count);
        let (first, count) =
            self.allocate_run(behind, most.min(self.plan.region_pages - within))?;
        if count == 0 {
            return Ok(0);
        }
        node.forget();
        let region = Region { logical: first - within, count: within + count, ..region };
        self.write_region(node.inode, number, region)?;
        Ok(count)
    }

    /// Refuses pages that are not data pages. Only a damaged inode names such pages.
    pub fn check_data_pages(&self, logical: u32, count: u32) -> Result<(), Error> {
        let (first, end) = (self.plan.data, self.plan.data + self.plan.data_count);
        if count > 0 && logical >= first && logical + count <= end {
            Ok(())
        } else {
            Err(Error::Corrupt)
        }
    }
}
