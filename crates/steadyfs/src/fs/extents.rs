//! The parts of a file that take room: written or reserved pages, and the holes between them.

use super::filesystem::FileSystem;
use super::handle::File;
use super::lists::WITHOUT_PAGES;
use super::path::Location;
use crate::error::Error;
use crate::media::Flash;

/// The kind of bytes that [`FileSystem::seek`] looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SeekTo {
    /// Bytes that were written or reserved.
    Data,
    /// Bytes without room, which read as zeros. The end of the file is a hole.
    Hole,
}

impl<F: Flash> FileSystem<'_, F> {
    /// Returns the number of bytes of all pages of a file or directory. The pages of its indexes
    /// and the pages that were reserved behind its end are included. If the data lies in the inode,
    /// the result is 0.
    ///
    /// # Cost
    /// [`Call::Open`](super::Call::Open), and a look at each index page of the file.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn allocated<'p>(&mut self, place: impl Into<Location<'p>>) -> Result<u64, Error> {
        let (inode, header) = self.located(place.into())?;
        Ok(u64::from(self.volume.pages_of_inode(inode, &header)?)
            * u64::from(self.volume.store.layout().logical_bytes))
    }

    /// Returns the number of bytes of the pages that removed files and truncated ends still hold.
    /// Later calls free these pages, a few pages in each call, before they need room themselves. So
    /// a write can use them like free pages.
    ///
    /// If files were removed but still open when power failed, their pages are included after the
    /// next mount. A call frees at most eight such files that have no pages. So pages behind more
    /// than eight such files are included only after a few calls.
    ///
    /// # Cost
    /// The cost of [`allocated`](Self::allocated) for each of these files. There are at most
    /// [`files_max`](crate::Config::files_max) such files.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the list of removed files is damaged.
    pub fn pending_free_bytes(&mut self) -> Result<u64, Error> {
        self.reload()?;
        let mut orphans = if self.has_abandoned_orphans() { self.lists.orphans().0 } else { 0 };
        let (mut pages, mut number, used) =
            (0, self.lists.trim(), u64::from(self.volume.space().used));
        let mut without_pages = 0;
        // A damaged list may have no end, and may name the same pages again and again.
        for _ in 0..self.volume.plan().inode_count {
            if number == 0 {
                number = core::mem::take(&mut orphans);
            }
            let Some(inode) = number.checked_sub(1).filter(|_| pages < used) else { break };
            let header = self.volume.read_header(inode)?;
            let count = self.volume.pages_of_inode(inode, &header)?;
            without_pages += u32::from(count == 0);
            if without_pages > WITHOUT_PAGES {
                break;
            }
            pages += u64::from(count);
            number = header.next;
        }
        // A damaged map may count more pages than the volume has.
        let bytes = pages.min(used) * u64::from(self.volume.store.layout().logical_bytes);
        Ok(bytes.min(self.usage().used_bytes))
    }

    /// Returns the number of bytes that are available to writes: free pages, and the pages of
    /// removed files ([`pending_free_bytes`](Self::pending_free_bytes)). If it is 0, no write finds
    /// a page.
    ///
    /// Some of these pages are needed for indexes and tables, so one file may get less:
    /// [`available`](Self::available). When the last removed file in a page of the file table is
    /// freed, this page becomes available too.
    ///
    /// # Cost
    /// As [`pending_free_bytes`](Self::pending_free_bytes). [`usage`](Self::usage) costs nothing,
    /// but it counts the pages of removed files as used.
    ///
    /// # Errors
    /// As [`pending_free_bytes`](Self::pending_free_bytes).
    pub fn free_bytes(&mut self) -> Result<u64, Error> {
        let leaving = self.pending_free_bytes()?;
        let usage = self.usage();
        Ok(usage.usable_bytes - usage.used_bytes + leaving)
    }

    /// Returns the number of bytes that one file can get for certain: a write of this many bytes at
    /// its end finds room.
    ///
    /// The pages that are needed to find the data are subtracted from the [free](Self::free_bytes)
    /// room. These are indexes of the file, a page of its directory, and a page of the file table.
    /// So the result is 0 if only a few pages are free, though a write may find room. If many files
    /// are written at once, each of them needs an index. Pages that the open transaction frees can
    /// be written only after its commit.
    ///
    /// # Cost
    /// As [`pending_free_bytes`](Self::pending_free_bytes).
    ///
    /// # Errors
    /// As [`pending_free_bytes`](Self::pending_free_bytes).
    pub fn available(&mut self) -> Result<u64, Error> {
        let page = u64::from(self.volume.store.layout().logical_bytes);
        let free = self.free_bytes()? / page;
        // Both a region that is begun and a new region have an index, and there may be an index of
        // indexes.
        let indexes = free / u64::from(self.volume.plan().index_entries)
            + 2
            + u64::from(self.volume.plan().index_is_deep);
        let names = 2;
        Ok(free.saturating_sub(indexes + names) * page)
    }

    /// Returns the offset of the first byte from `offset` on that is [data](SeekTo::Data), or that
    /// is in a [hole](SeekTo::Hole). Returns `None` if no such byte exists, or if `offset` is not
    /// before the end of the file.
    ///
    /// # Cost
    /// A look for each skipped page that is not in a run.
    ///
    /// # Errors
    /// [`Error::Stale`].
    pub fn seek(
        &mut self,
        file: &mut File,
        offset: u64,
        part: SeekTo,
    ) -> Result<Option<u64>, Error> {
        self.refresh(file)?;
        if offset >= file.size {
            return Ok(None);
        }
        if file.inline {
            return Ok(Some(if part == SeekTo::Data { offset } else { file.size }));
        }
        let mut page = self.volume.split(offset).0;
        let (last, end) = self.volume.split(file.size);
        let pages = last + u32::from(end > 0);
        let logical_bytes = u64::from(self.volume.store.layout().logical_bytes);
        let start = page;
        while page < pages {
            let is_there = self.volume.page_of(&mut file.node, page)?.is_some();
            if is_there == (part == SeekTo::Data) {
                return Ok(Some(
                    if page == start { offset } else { u64::from(page) * logical_bytes }
                        .min(file.size),
                ));
            }
            // A run is one step. In a hole, each page is a step.
            page = if is_there { file.node.run_end(page).max(page + 1) } else { page + 1 };
        }
        Ok((part == SeekTo::Hole).then_some(file.size))
    }
}
