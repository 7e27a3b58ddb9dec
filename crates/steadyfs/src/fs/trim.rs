//! Freeing the pages of removed files and of the ends that were cut off files, a few per call.
//!
//! Removing a file only puts its inode on the *trim list*; cutting one gives the pages behind the new end to an inode without a
//! name, which goes on the list. Every later call that opens a transaction first frees up to [`PAGES_PER_STEP`] pages of the
//! first inode of the list, so that no call waits for a large file. The list starts in the root page and goes on through the
//! inodes.

use super::FileSystem;
use super::file::region;
use super::inode::{AREA_AT, AREA_BYTES, Header, InodeKind, REGION_BYTES, REGIONS, Region, TRIM_AT};
use crate::error::Error;
use crate::media::Flash;

/// Pages freed by one call.
pub(super) const PAGES_PER_STEP: u32 = 8;

impl<F: Flash> FileSystem<'_, F> {
    fn set_trim_head(&mut self, number: u32) -> Result<(), Error> {
        self.store.patch(0, 0, &number.to_le_bytes())?;
        self.trim_head = number;
        Ok(())
    }

    /// Puts an inode on the trim list.
    pub(super) fn start_trim(&mut self, inode: u32) -> Result<(), Error> {
        let (page, at) = self.inode_place(inode);
        self.store.patch(page, at + TRIM_AT, &self.trim_head.to_le_bytes())?;
        self.set_trim_head(inode + 1)
    }

    /// Takes the pages from page `keep` on off a file, and puts them on the trim list under an inode of their own.
    pub(super) fn cut_regions(&mut self, inode: u32, keep: u32) -> Result<(), Error> {
        let (page, at) = self.inode_place(inode);
        let mut kept = [0; AREA_BYTES];
        let mut tail = [0; AREA_BYTES];
        self.store.read(page, at + AREA_AT, &mut kept)?;
        let (first, within) = (keep / self.plan.region_pages, keep % self.plan.region_pages);
        for index in first..REGIONS {
            let keep = if index == first { within } else { 0 };
            let (head, rest) = match region(&kept, index) {
                Region::Run { logical, count } if keep == 0 => (Region::Empty, Region::Run { logical, count }),
                Region::Run { logical, count } if count > keep => {
                    (Region::Run { logical, count: keep }, Region::Run { logical: logical + keep, count: count - keep })
                }
                Region::Index { logical, .. } if keep == 0 => (Region::Empty, Region::Index { logical, from: 0 }),
                Region::Index { logical, .. } => {
                    let copy = self.allocate_spare_page()?;
                    self.store.write_cut(copy, logical, keep * self.plan.index_bytes)?;
                    (Region::Index { logical: copy, from: 0 }, Region::Index { logical, from: keep })
                }
                region => (region, Region::Empty),
            };
            let place = (index * REGION_BYTES) as usize..((index + 1) * REGION_BYTES) as usize;
            kept[place.clone()].copy_from_slice(&head.emit());
            tail[place].copy_from_slice(&rest.emit());
        }
        if (0..REGIONS).all(|index| region(&tail, index) == Region::Empty) {
            return Ok(());
        }
        let from = (first * REGION_BYTES) as usize;
        self.store.patch(page, at + AREA_AT + from as u32, &kept[from..])?;
        let tail_inode = self.allocate_inode(self.plan.inode_count)?;
        let generation = self.next_generation(tail_inode)?;
        let header = Header { kind: InodeKind::Removed, name_bytes: 0, size: 0, generation, next_trim: 0 };
        let (page, at) = self.inode_place(tail_inode);
        self.store.patch(page, at, &header.emit())?;
        self.store.patch(page, at + AREA_AT, &tail)?;
        self.start_trim(tail_inode)
    }

    /// Frees the last few pages of the first inode of the list; when it has none, frees the inode.
    pub(super) fn trim_step(&mut self) -> Result<(), Error> {
        let inode = self.trim_head - 1;
        if self.free_some(inode)? {
            return Ok(());
        }
        let header = self.read_header(inode)?;
        if header.kind != InodeKind::Removed || header.next_trim > self.plan.inode_count {
            return Err(Error::Corrupt);
        }
        let (page, at) = self.inode_place(inode);
        self.set_trim_head(header.next_trim)?;
        self.store.patch(page, at, &[0])?;
        self.free_inode(inode)
    }

    /// Frees pages of an inode; `false` when there are none.
    fn free_some(&mut self, inode: u32) -> Result<bool, Error> {
        let (page, at) = self.inode_place(inode);
        let mut area = [0; AREA_BYTES];
        self.store.read(page, at + AREA_AT, &mut area)?;
        let Some(index) = (0..REGIONS).rev().find(|&index| region(&area, index) != Region::Empty) else {
            return Ok(false);
        };
        match region(&area, index) {
            Region::Run { logical, count } => {
                self.check_data_pages(logical, count)?;
                let freed = count.min(PAGES_PER_STEP);
                let left = count - freed;
                let region = if left == 0 { Region::Empty } else { Region::Run { logical, count: left } };
                self.write_region(inode, index, region)?;
                self.free_pages(logical + left, freed)?;
            }
            Region::Index { logical, from } => {
                if !self.free_indexed(logical, from)? {
                    self.check_data_pages(logical, 1)?;
                    self.write_region(inode, index, Region::Empty)?;
                    self.free_pages(logical, 1)?;
                }
            }
            Region::Empty => {}
        }
        Ok(true)
    }

    /// Frees pages that an index page names from entry `kept` on; `false` when there are none.
    fn free_indexed(&mut self, index_page: u32, kept: u32) -> Result<bool, Error> {
        let width = self.plan.index_bytes;
        let per_page = self.store.layout().geometry.page_bytes / width;
        let unit = u32::from(self.store.layout().config.unit_pages);
        for part in (kept / per_page..unit).rev() {
            let base = part * per_page;
            let last = self.store.with_page(index_page, part, |bytes| {
                let taken = |entry: &u32| {
                    let at = ((entry - base) * width) as usize;
                    bytes[at..at + width as usize].iter().any(|&byte| byte != 0)
                };
                (kept.max(base)..base + per_page).rev().find(taken)
            })?;
            let Some(last) = last else { continue };
            let from = (last + 1).saturating_sub(PAGES_PER_STEP / 2).max(kept).max(base);
            for entry in from..=last {
                if let Some(page) = self.index_entry(index_page, entry)? {
                    self.free_pages(page, 1)?;
                    self.set_index_entry(index_page, entry, None)?;
                }
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Refuses pages that are none of a file, which only a damaged inode can name.
    pub(super) fn check_data_pages(&self, logical: u32, count: u32) -> Result<(), Error> {
        let sound = count > 0 && logical >= self.plan.data && logical + count <= self.plan.data + self.plan.data_count;
        if sound { Ok(()) } else { Err(Error::Corrupt) }
    }
}
