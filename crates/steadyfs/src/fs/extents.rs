//! Which parts of a file take room: pages that were written or reserved, and holes between them.

use super::inode::{InodeKind, REGIONS, Region};
use super::open::File;
use super::{FileSystem, InodeNumber};
use crate::error::Error;
use crate::media::Flash;

/// What [`FileSystem::seek`] looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Bytes that were written, or for which room was reserved.
    Data,
    /// Bytes for which there is no room, and which read as zeros; the end of the file is one.
    Hole,
}

impl<F: Flash> FileSystem<'_, F> {
    /// Bytes of the pages that a file or directory has, those of its indexes and those reserved behind its end included; none where its data lies in the
    /// inode.
    ///
    /// # Cost
    /// Two looks, and one at each index page of the file.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn allocated(&mut self, inode: InodeNumber) -> Result<u64, Error> {
        let header = self.header_of(inode)?;
        let mut pages = 0;
        if !header.inline && (header.kind != InodeKind::Directory || header.extra > 0) {
            let area = self.read_area(inode)?;
            for region in (0..REGIONS).map(|number| Region::of(&area, number)) {
                pages += region.count;
                if region.index != 0 {
                    pages += 1 + self.pages_of_index(region.index)?;
                }
            }
        }
        Ok(u64::from(pages) * u64::from(self.store.layout().logical_bytes))
    }

    /// Pages that an index names, with the pages of entries in it.
    fn pages_of_index(&mut self, index: u32) -> Result<u32, Error> {
        let mut pages = self.entries_of(index)?;
        if self.plan.index_is_deep {
            for entry in 0..self.plan.index_entries {
                if let Some(page) = self.index_entry(index, entry)? {
                    pages += self.entries_of(page)?;
                }
            }
        }
        Ok(pages)
    }

    /// Entries of an index page that name a page.
    fn entries_of(&mut self, page: u32) -> Result<u32, Error> {
        self.check_data_pages(page, 1)?;
        let mut taken = 0;
        for entry in 0..self.plan.index_entries {
            taken += u32::from(self.index_entry(page, entry)?.is_some());
        }
        Ok(taken)
    }

    /// The first byte from `offset` on that is [data](Part::Data), or in a [hole](Part::Hole); `None` where there is none, and behind the end of
    /// the file.
    ///
    /// # Cost
    /// A look for each page that is passed by and does not lie in a run.
    ///
    /// # Errors
    /// [`Error::Stale`].
    pub fn seek(&mut self, file: &mut File, offset: u64, part: Part) -> Result<Option<u64>, Error> {
        self.refresh(file)?;
        if offset >= file.size {
            return Ok(None);
        }
        if file.inline {
            return Ok(Some(if part == Part::Data { offset } else { file.size }));
        }
        let mut page = self.split(offset).0;
        let (last, end) = self.split(file.size);
        let pages = last + u32::from(end > 0);
        let logical_bytes = u64::from(self.store.layout().logical_bytes);
        let start = page;
        while page < pages {
            let is_there = self.page_of(&mut file.node, page)?.is_some();
            if is_there == (part == Part::Data) {
                return Ok(Some(if page == start { offset } else { u64::from(page) * logical_bytes }.min(file.size)));
            }
            page = if is_there { file.node.run_end(page).max(page + 1) } else { page + 1 };
        }
        Ok((part == Part::Hole).then_some(file.size))
    }
}
