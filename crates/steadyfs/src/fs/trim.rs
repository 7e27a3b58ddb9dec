//! Freeing the pages of removed files and of the ends that were cut off files, a few per call.
//!
//! Removing a file only puts its inode on the *trim list*; cutting one gives the pages behind the new end to an inode without a
//! name, which goes on the list. Every later call that opens a transaction first frees up to [`PAGES_PER_STEP`] pages of the
//! first inode of the list, so that no call waits for a large file. The list starts in the root page and goes on through the
//! inodes, as does that of the orphans:
//!
//! ```text
//! 0      4              8             12
//! | trim | first orphan | last orphan |      each an inode plus one, or 0
//! ```

use super::FileSystem;
use super::inode::{AREA_AT, AREA_BYTES, Header, InodeKind, NEXT_AT, REGION_BYTES, REGIONS, Region};
use crate::error::Error;
use crate::media::Flash;
use crate::store::edit::Edit;

/// Pages freed by one call.
pub(super) const PAGES_PER_STEP: u32 = 8;
const LISTS_BYTES: usize = 12;
/// Looks at a page before it is taken for lost.
const LOOKS: u32 = 3;

/// Where the lists of the root page start and end: inodes plus one, or 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lists {
    pub trim: u32,
    pub orphan_first: u32,
    pub orphan_last: u32,
}

impl<F: Flash> FileSystem<'_, F> {
    /// Reads the lists of the root page.
    pub(super) fn load_lists(&mut self) -> Result<(), Error> {
        let mut bytes = [0; LISTS_BYTES];
        self.store.read(0, 0, &mut bytes)?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        self.lists = Lists { trim: word(0), orphan_first: word(4), orphan_last: word(8) };
        let count = self.plan.inode_count;
        let sound = self.lists.trim <= count && self.lists.orphan_first <= count && self.lists.orphan_last <= count;
        if sound { Ok(()) } else { Err(Error::Corrupt) }
    }

    /// Writes the lists of the root page.
    pub(super) fn write_lists(&mut self, lists: Lists) -> Result<(), Error> {
        let mut bytes = [0; LISTS_BYTES];
        for (place, word) in bytes.chunks_exact_mut(4).zip([lists.trim, lists.orphan_first, lists.orphan_last]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        self.store.patch(0, 0, &bytes)?;
        self.lists = lists;
        Ok(())
    }

    /// Puts an inode on the trim list.
    pub(super) fn start_trim(&mut self, inode: u32) -> Result<(), Error> {
        let (page, at) = self.inode_place(inode);
        self.store.patch(page, at, &[InodeKind::Removed as u8])?;
        self.store.patch(page, at + NEXT_AT, &self.lists.trim.to_le_bytes())?;
        self.write_lists(Lists { trim: inode + 1, ..self.lists })
    }

    /// Takes the pages from page `keep` on off a file, and puts them on the trim list under an inode of their own.
    pub(super) fn cut_regions(&mut self, inode: u32, keep: u32) -> Result<(), Error> {
        let mut kept = self.read_area(inode)?;
        let mut tail = [0; AREA_BYTES];
        let (first, within) = (keep / self.plan.region_pages, keep % self.plan.region_pages);
        for number in first..REGIONS {
            let region = Region::of(&kept, number);
            if region == Region::EMPTY {
                continue;
            }
            let keep = if number == first { within } else { 0 };
            let here = region.count.min(keep);
            let mut head = Region { count: here, logical: if here > 0 { region.logical } else { 0 }, index: 0 };
            let count = region.count - here;
            let rest = Region { logical: if count > 0 { region.logical + here } else { 0 }, count, index: region.index };
            if region.index != 0 && keep > 0 {
                head.index = self.copy_index(region.index, keep)?;
            }
            let place = (number * REGION_BYTES) as usize..((number + 1) * REGION_BYTES) as usize;
            kept[place.clone()].copy_from_slice(&head.emit());
            tail[place].copy_from_slice(&rest.emit());
        }
        if tail == [0; AREA_BYTES] {
            return Ok(());
        }
        let (page, at) = self.inode_place(inode);
        self.patch_what_differs(page, at + AREA_AT, &kept)?;
        let tail_inode = self.allocate_inode(self.plan.inode_count)?;
        let shared = if Region::of(&tail, first).index != 0 { within } else { 0 };
        let header = Header { inline: false, extra: shared, ..Header::new(InodeKind::Removed, 0) };
        let (page, at) = self.inode_place(tail_inode);
        self.patch_what_differs(page, at, &header.emit())?;
        self.patch_what_differs(page, at + AREA_AT, &tail)?;
        self.start_trim(tail_inode)
    }

    /// Copies the entries of an index before `keep`, for a file that was cut there.
    ///
    /// # Cost
    /// A frame for each level of the index.
    fn copy_index(&mut self, index: u32, keep: u32) -> Result<u32, Error> {
        self.check_data_pages(index, 1)?;
        let (entries, width) = (self.plan.index_entries, self.plan.index_bytes);
        let copy = self.allocate_spare_page()?;
        if !self.plan.index_is_deep {
            self.copy_cut(copy, index, keep * width)?;
            return Ok(copy);
        }
        self.copy_cut(copy, index, keep / entries * width)?;
        if !keep.is_multiple_of(entries)
            && let Some(page) = self.index_entry(index, keep / entries)?
        {
            let copy_of_page = self.allocate_spare_page()?;
            self.copy_cut(copy_of_page, page, keep % entries * width)?;
            self.set_index_entry(copy, keep / entries, Some(copy_of_page))?;
        }
        Ok(copy)
    }

    /// Writes the first `keep` bytes of logical page `of` as `logical`, zeros behind; both may be the same page.
    pub(super) fn copy_cut(&mut self, logical: u32, of: u32, keep: u32) -> Result<(), Error> {
        self.store.write_edited(logical, of, Edit::Cut { keep })
    }

    /// Takes a step of freeing, and ends it. What cannot be read, also by several looks, stays taken until a repair, and no call fails for it; a look that
    /// fails once costs the call.
    pub(super) fn trim(&mut self) -> Result<(), Error> {
        let result = self.trim_step(false);
        match self.step(result) {
            Err(Error::Corrupt) if !self.trim_can_be_read()? => {}
            result => return result,
        }
        self.store.begin()?;
        let given_up = match self.trim_step(true) {
            Err(Error::Corrupt) => self.write_lists(Lists { trim: 0, ..self.lists }),
            result => result,
        };
        self.step(given_up)
    }

    /// Whether several looks find the first inode of the list, and its indexes.
    fn trim_can_be_read(&mut self) -> Result<bool, Error> {
        let inode = self.lists.trim - 1;
        if !self.looks_readable(self.inode_place(inode).0)? {
            return Ok(false);
        }
        let area = self.read_area(inode)?;
        for number in 0..REGIONS {
            let index = Region::of(&area, number).index;
            if index == 0 {
                continue;
            }
            if self.check_data_pages(index, 1).is_err() || !self.looks_readable(index)? {
                return Ok(false);
            }
            for entry in 0..if self.plan.index_is_deep { self.plan.index_entries } else { 0 } {
                let number = self.raw_entry(index, entry)?;
                if let Some(Ok(page)) = self.named_by(number)
                    && !self.looks_readable(page)?
                {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn looks_readable(&mut self, logical: u32) -> Result<bool, Error> {
        for _ in 0..LOOKS {
            if self.store.verify(logical)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Frees the last few pages of the first inode of the list; when it has none, frees the inode. An index that cannot be read names none, once nobody
    /// expects to read it any more.
    pub(super) fn trim_step(&mut self, gives_up: bool) -> Result<(), Error> {
        let inode = self.lists.trim - 1;
        let header = self.read_header(inode)?;
        if !matches!(header.kind, InodeKind::Removed | InodeKind::Orphan) || header.next > self.plan.inode_count {
            return Err(Error::Corrupt);
        }
        if !header.inline && self.free_some(inode, header.extra, gives_up)? {
            // The inode goes in the same step when nothing is left: a list whose newest inode is freed first would grow for ever.
            if self.read_area(inode)? != [0; AREA_BYTES] {
                return Ok(());
            }
        }
        self.write_lists(Lists { trim: header.next, ..self.lists })?;
        match self.free_extensions(&header) {
            // They are none.
            Err(Error::Corrupt) if gives_up => {}
            result => result?,
        }
        self.free_inode(inode)
    }

    /// Frees the inodes that hold the rest of a name, and attributes.
    pub(super) fn free_extensions(&mut self, header: &Header) -> Result<(), Error> {
        self.remove_extension(header.name_more)?;
        self.remove_extension(header.attributes)
    }

    /// Frees pages of the last region of an inode that has some; `false` when there are none. Entries of the first index before
    /// `kept` belong to somebody else.
    fn free_some(&mut self, inode: u32, kept: u32, gives_up: bool) -> Result<bool, Error> {
        let area = self.read_area(inode)?;
        let taken = |number: &u32| Region::of(&area, *number) != Region::EMPTY;
        let Some(number) = (0..REGIONS).rev().find(taken) else { return Ok(false) };
        let mut region = Region::of(&area, number);
        if region.index != 0 {
            let kept = if (0..REGIONS).find(taken) == Some(number) { kept } else { 0 };
            if self.free_index_step(region.index, kept, gives_up)? {
                return Ok(true);
            }
            let index = core::mem::take(&mut region.index);
            self.write_region(inode, number, region)?;
            self.free_pages(index, 1)?;
            return Ok(true);
        }
        self.check_data_pages(region.logical, region.count)?;
        let freed = region.count.min(PAGES_PER_STEP);
        let end = region.logical + region.count;
        region.count -= freed;
        if region.count == 0 {
            region.logical = 0;
        }
        self.write_region(inode, number, region)?;
        self.free_pages(end - freed, freed)?;
        Ok(true)
    }

    /// Frees pages that an index names from entry `kept` on; `false` when there are none, or none that can be read.
    fn free_index_step(&mut self, index: u32, kept: u32, gives_up: bool) -> Result<bool, Error> {
        match self.try_free_index_step(index, kept, gives_up) {
            Err(Error::Corrupt) if gives_up => Ok(false),
            result => result,
        }
    }

    fn try_free_index_step(&mut self, index: u32, kept: u32, gives_up: bool) -> Result<bool, Error> {
        self.check_data_pages(index, 1)?;
        if !self.plan.index_is_deep {
            return self.free_indexed(index, kept);
        }
        let entries = self.plan.index_entries;
        let Some((entry, page)) = self.last_entry(index, kept / entries)? else { return Ok(false) };
        let kept = if entry == kept / entries { kept % entries } else { 0 };
        let Some(page) = page else {
            self.set_index_entry(index, entry, None)?;
            return Ok(true);
        };
        let is_freed = match self.free_indexed(page, kept) {
            Err(Error::Corrupt) if gives_up => false,
            result => result?,
        };
        if !is_freed {
            // The page of entries itself; one of which some entries belong to the file that was cut is here only for the rest.
            self.set_index_entry(index, entry, None)?;
            self.free_pages(page, 1)?;
        }
        Ok(true)
    }

    /// The last entry of an index page that is in use, from entry `kept` on, and the page that it names, if that can be one.
    fn last_entry(&mut self, page: u32, kept: u32) -> Result<Option<(u32, Option<u32>)>, Error> {
        let width = self.plan.index_bytes;
        let per_page = self.store.layout().geometry.page_bytes / width;
        let unit = u32::from(self.store.layout().config.unit_pages);
        for part in (kept / per_page..unit).rev() {
            let base = part * per_page;
            let last = self.store.with_page(page, part, |bytes| {
                let taken = |entry: &u32| {
                    let at = ((entry - base) * width) as usize;
                    bytes[at..at + width as usize].iter().any(|&byte| byte != 0)
                };
                (kept.max(base)..base + per_page).rev().find(taken)
            })?;
            if let Some(last) = last {
                // An entry that was lost with a part of the index names none; one that cannot be read is not taken for lost.
                let number = self.raw_entry(page, last)?;
                return Ok(Some((last, self.named_by(number).and_then(Result::ok))));
            }
        }
        Ok(None)
    }

    /// Frees some of the pages that an index page names from entry `kept` on; `false` when there are none.
    fn free_indexed(&mut self, page: u32, kept: u32) -> Result<bool, Error> {
        self.check_data_pages(page, 1)?;
        for step in 0..PAGES_PER_STEP / 2 {
            let Some((entry, target)) = self.last_entry(page, kept)? else { return Ok(step > 0) };
            self.set_index_entry(page, entry, None)?;
            if let Some(target) = target.filter(|&target| self.check_data_pages(target, 1).is_ok()) {
                self.free_pages(target, 1)?;
            }
        }
        Ok(true)
    }
}
