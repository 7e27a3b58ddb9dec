//! Counts the pages of an inode.

use super::Volume;
use crate::error::Error;
use crate::fs::inode::{AREA_BYTES, InodeHeader, InodeKind, REGIONS, Region};
use crate::media::Flash;

impl<F: Flash> Volume<'_, F> {
    pub fn pages_of_inode(&mut self, inode: u32, header: &InodeHeader) -> Result<u32, Error> {
        if header.inline || (header.kind == InodeKind::Directory && header.extra == 0) {
            return Ok(0);
        }
        let mut area = [0; AREA_BYTES];
        self.read_area(inode, &mut area)?;
        // The entries before this one belong to the file from which this end was truncated.
        let mut shared = if header.kind == InodeKind::Removed { header.extra } else { 0 };
        let mut pages = 0;
        for region in (0..REGIONS).map(|number| Region::of(&area, number)) {
            pages += region.count;
            if region.index != 0 {
                pages += 1 + self.pages_of_index(region.index, core::mem::take(&mut shared))?;
            }
        }
        Ok(pages)
    }

    /// Counts the pages that an index names from entry `from` on, including pages of entries.
    fn pages_of_index(&mut self, index: u32, from: u32) -> Result<u32, Error> {
        if !self.plan.index_is_deep {
            return self.count_entries(index, from);
        }
        let (first, mut within) = (from / self.plan.index_entries, from % self.plan.index_entries);
        let mut pages = self.count_entries(index, first)?;
        for entry in first..self.plan.index_entries {
            if let Some(page) = self.index_entry(index, entry)? {
                pages += self.count_entries(page, within)?;
            }
            // Only the first page of entries may have entries of two files.
            within = 0;
        }
        Ok(pages)
    }

    /// Counts the entries of an index page, from entry `from` on, that name a page.
    fn count_entries(&mut self, page: u32, from: u32) -> Result<u32, Error> {
        self.check_data_pages(page, 1)?;
        let width = self.plan.index_bytes();
        let per_page = self.store.layout().geometry.page_bytes / width;
        let unit = u32::from(self.store.layout().config.pages_per_logical_page);
        let mut taken = 0;
        for part in from / per_page..unit {
            let skipped = from.saturating_sub(part * per_page) as usize;
            taken += self.store.logical.with_page(page, part, |bytes| {
                let entries = bytes.chunks_exact(width as usize).skip(skipped);
                entries.filter(|entry| entry.iter().any(|&byte| byte != 0)).count() as u32
            })?;
        }
        Ok(taken)
    }
}
