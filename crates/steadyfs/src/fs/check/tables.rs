//! The file system's own pages: the root page with its lists, the allocation map, the file table.

use super::super::inode::InodeKind;
use super::findings::{Count, Finding};
use super::rounds::{CheckMode, Checker};
use crate::error::Error;
use crate::logical::edit::Edit;
use crate::media::Flash;

/// Number of pages that one change frees.
const PAGES_PER_CHANGE: u32 = 8;

impl<F: Flash> Checker<'_, '_, F> {
    /// Checks the root page, the allocation map and the file table. Rewrites their unreadable parts
    /// with zeros. Zeros in the allocation map mark no page or inode as in use.
    pub fn tables(&mut self) -> Result<(), Error> {
        for logical in 0..self.fs.volume.plan().data {
            if !self.is_readable(logical)? {
                let is_file_table = logical >= self.fs.volume.plan().table;
                // An inode must be wholly old or wholly lost, so small changes of the page are
                // dropped with it.
                let edit = if is_file_table {
                    Edit::SalvageWhole
                } else {
                    Edit::Salvage { fill: 0, until: 0 }
                };
                self.salvage(Finding::UnreadableTable { logical }, logical, edit)?;
            }
        }
        Ok(())
    }

    /// Rewrites a page. `edit` fills the parts that cannot be read.
    pub fn salvage(&mut self, finding: Finding, logical: u32, edit: Edit) -> Result<(), Error> {
        self.fault(finding, Count::Tables, |fs| {
            fs.volume.store.logical.write_edited(logical, logical, edit)
        })
    }

    /// Checks the list of removed files and the list of removed files that are open.
    pub fn lists(&mut self) -> Result<(), Error> {
        let is_sound = self.fs.seen(|fs| fs.lists.load(&mut fs.volume))?.is_some();
        if !is_sound && !self.is_readable(0)? {
            // The root page is already a finding, and no list can be read from it.
            return Ok(());
        }
        let (trim, (orphan_first, orphan_last)) = (self.fs.lists.trim(), self.fs.lists.orphans());
        if is_sound
            && self.list_ends(trim, None)?
            && self.list_ends(orphan_first, Some(orphan_last))?
        {
            return Ok(());
        }
        // Inodes of the cleared lists have no name, so they are freed later.
        self.fault(Finding::BadList, Count::Counts, |fs| fs.lists.clear(&mut fs.volume))
    }

    /// Returns true if a list ends and holds only inodes of its kind. The list of orphans must
    /// end at `last`.
    fn list_ends(&mut self, first: u32, last: Option<u32>) -> Result<bool, Error> {
        let (mut number, mut before) = (first, 0);
        while let Some(inode) = number.checked_sub(1) {
            // If an inode was visited before, the list forms a circle.
            if inode >= self.fs.volume.plan().inode_count
                || self.marks.name(inode)
                || !self.is_taken(inode)?
            {
                return Ok(false);
            }
            let Some(header) = self.header(inode)? else { return Ok(false) };
            let is_right = match last {
                Some(_) => header.kind == InodeKind::Orphan && header.parent == before,
                None => matches!(header.kind, InodeKind::Removed | InodeKind::Orphan),
            };
            if !is_right {
                return Ok(false);
            }
            (number, before) = (header.next, number);
        }
        Ok(last.is_none_or(|last| last == before))
    }

    /// Marks owned data pages as in use, if the allocation map marks them as free.
    pub fn marks(&mut self) -> Result<(), Error> {
        for index in 0..self.fs.volume.plan().data_count {
            let logical = self.fs.volume.plan().data + index;
            if self.marks.is_owned(logical)
                && self.fs.seen(|fs| fs.volume.page_is_taken(logical))? == Some(false)
            {
                self.fault(Finding::UnmarkedPage { logical }, Count::PagesMarked, |fs| {
                    fs.volume.mark_page(logical)
                })?;
            }
        }
        Ok(())
    }

    /// Frees pages without an owner that the allocation map marks as in use. A repair also
    /// discards old content of free pages, because an allocated page must be empty.
    pub fn leaked_pages(&mut self) -> Result<(), Error> {
        let (table, end) = (
            self.fs.volume.plan().table,
            self.fs.volume.plan().data + self.fs.volume.plan().data_count,
        );
        // The page of the file table that holds the root's inode stays.
        for logical in table + 1..self.fs.volume.plan().data {
            if self.is_leaked_table(logical)? {
                self.fault(Finding::LeakedPage { logical }, Count::PagesFreed, |fs| {
                    fs.volume.store.logical.discard(logical)
                })?;
            }
        }
        let mut first = self.fs.volume.plan().data;
        while first < end {
            let mut count = 0;
            while first + count < end
                && count < PAGES_PER_CHANGE
                && self.is_leaked(first + count)?
            {
                count += 1;
            }
            match (count, self.mode) {
                (0, _) => {}
                (_, CheckMode::Look) => (first..first + count)
                    .for_each(|logical| self.tell(Finding::LeakedPage { logical })),
                (_, CheckMode::Mend) => self.free_leaked(first, count)?,
            }
            first += count.max(1);
        }
        Ok(())
    }

    fn is_leaked(&mut self, logical: u32) -> Result<bool, Error> {
        Ok(!self.marks.is_owned(logical)
            && (self.fs.seen(|fs| fs.volume.page_is_taken(logical))? == Some(true)
                || self.is_to_be_emptied(logical)?))
    }

    /// Returns true if a page of the file table has content, but none of its inodes is in use.
    fn is_leaked_table(&mut self, logical: u32) -> Result<bool, Error> {
        let per_page = self.fs.volume.store.layout().inodes_per_page();
        let first = (logical - self.fs.volume.plan().table) * per_page;
        for inode in first..(first + per_page).min(self.fs.volume.plan().inode_count) {
            if self.fs.seen(|fs| fs.volume.inode_is_taken(inode))? != Some(false) {
                return Ok(false);
            }
        }
        self.is_to_be_emptied(logical)
    }

    /// Returns true if this page, which has no owner, must be emptied.
    ///
    /// A look does not report such a page. A failed call may have left it, and it does no harm. But
    /// a repair empties it for safety.
    fn is_to_be_emptied(&mut self, logical: u32) -> Result<bool, Error> {
        Ok(self.mode == CheckMode::Mend && self.holds_something(logical)?)
    }

    /// Returns true if a page was written. Also returns true if the leaf with its map entry cannot
    /// be read.
    pub fn holds_something(&mut self, logical: u32) -> Result<bool, Error> {
        Ok(self.fs.seen(|fs| fs.volume.store.logical.is_written(logical))?.unwrap_or(true))
    }

    /// Returns true if a page that must have content has none, and small changes or frames were
    /// lost. The content may be among the lost ones.
    pub fn has_lost_content(&mut self, logical: u32) -> Result<bool, Error> {
        Ok(self.fs.volume.store.status().is_in_doubt() && !self.holds_something(logical)?)
    }

    /// Frees neighbouring pages in one change.
    fn free_leaked(&mut self, first: u32, count: u32) -> Result<(), Error> {
        let before = self.checked.mended.pages_freed;
        self.fault(Finding::LeakedPage { logical: first }, Count::PagesFreed, |fs| {
            fs.volume.free_pages(first, count)
        })?;
        // The change may have failed because of other damage.
        if self.checked.mended.pages_freed > before {
            for logical in first + 1..first + count {
                self.fault(Finding::LeakedPage { logical }, Count::PagesFreed, |_| Ok(()))?;
            }
        }
        Ok(())
    }
}
