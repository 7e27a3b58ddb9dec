//! Freeing pages behind the end of files, a few per call.
//!
//! Removing or cutting a file only puts its inode on the *trim list*. Every later call that changes the volume frees up to
//! [`PAGES_PER_STEP`] pages of the first file of the list, in its own transaction, so that no call waits for a large file.
//! The list starts in the root page and goes on through the inodes.

use super::FileSystem;
use super::file::File;
use super::inode::{InodeKind, REGIONS, Region, TRIM_AT};
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

    /// Puts a file on the trim list, unless it is there.
    pub(super) fn start_trim(&mut self, inode: u32) -> Result<(), Error> {
        let header = self.read_header(inode)?;
        if header.next_trim != 0 || self.trim_head == inode + 1 {
            return Ok(());
        }
        // The last file of the list names itself, so that no number stands for "not on the list" twice.
        let next = if self.trim_head == 0 { inode + 1 } else { self.trim_head };
        let (page, at) = self.inode_place(inode);
        self.store.patch(page, at + TRIM_AT, &next.to_le_bytes())?;
        self.set_trim_head(inode + 1)
    }

    /// Frees the last few pages of the first file of the list.
    pub(super) fn trim_step(&mut self) -> Result<(), Error> {
        let Some(inode) = self.trim_head.checked_sub(1).filter(|&inode| inode < self.plan.files_max) else {
            return Ok(());
        };
        let header = self.read_header(inode)?;
        let page_bytes = u64::from(self.store.layout().logical_bytes);
        let keep = if header.kind == InodeKind::Removed { 0 } else { header.size.div_ceil(page_bytes) as u32 };
        self.stamp = self.stamp.wrapping_add(1);
        if self.free_some(inode, keep)? {
            return Ok(());
        }
        let (page, at) = self.inode_place(inode);
        let next = if header.next_trim == inode + 1 { 0 } else { header.next_trim };
        self.store.patch(page, at + TRIM_AT, &[0; 4])?;
        self.set_trim_head(next)?;
        if header.kind == InodeKind::Removed {
            self.store.patch(page, at, &[0])?;
            self.free_inode(inode)?;
        }
        Ok(())
    }

    /// Frees pages of a file from page `keep` on; `false` when there are none.
    fn free_some(&mut self, inode: u32, keep: u32) -> Result<bool, Error> {
        let region_pages = self.plan.region_pages;
        let first_region = keep / region_pages;
        for index in (first_region..REGIONS).rev() {
            let kept = if index == first_region { keep % region_pages } else { 0 };
            match self.read_region(inode, index)? {
                Region::Empty => {}
                Region::Run { logical, count } if count > kept => {
                    let freed = (count - kept).min(PAGES_PER_STEP);
                    let left = count - freed;
                    let region = if left == 0 { Region::Empty } else { Region::Run { logical, count: left } };
                    self.check_data_pages(logical, count)?;
                    self.free_pages(logical + left, freed)?;
                    self.write_region(inode, index, region)?;
                    return Ok(true);
                }
                Region::Run { .. } => {}
                Region::Index { logical } => {
                    if self.free_indexed(logical, kept)? {
                        return Ok(true);
                    }
                    if kept == 0 {
                        self.check_data_pages(logical, 1)?;
                        self.write_region(inode, index, Region::Empty)?;
                        self.free_pages(logical, 1)?;
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
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
    fn check_data_pages(&self, logical: u32, count: u32) -> Result<(), Error> {
        let sound = logical >= self.plan.data && logical + count <= self.plan.data + self.plan.data_count;
        if sound { Ok(()) } else { Err(Error::Corrupt) }
    }

    /// Frees what is left behind the end of a file that is about to grow: old pages must not reappear.
    pub(super) fn finish_trim(&mut self, file: &mut File) -> Result<(), Error> {
        let inode = file.inode();
        if self.trim_head == 0 || self.read_header(inode)?.next_trim == 0 {
            return Ok(());
        }
        let page_bytes = u64::from(self.store.layout().logical_bytes);
        let keep = self.size(file)?.div_ceil(page_bytes) as u32;
        while self.free_some(inode, keep)? {
            self.store.commit()?;
        }
        Ok(())
    }
}
