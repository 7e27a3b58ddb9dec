//! Frees the pages of removed files, and the pages behind the new end of truncated files. A few
//! pages are freed at once, many pages in several steps.

use super::Volume;
use super::plan::VolumePlan;
use super::space::Room;
use crate::config::INODE_BYTES;
use crate::error::Error;
use crate::fs::inode::{
    AREA_AT, AREA_BYTES, InodeHeader, InodeKind, REGION_BYTES, REGIONS, Region,
};
use crate::journal::RecordsAhead;
use crate::logical::edit::Edit;
use crate::media::Flash;
use core::ops::Range;

/// Maximum number of data pages that one step frees.
const PAGES_PER_STEP: u32 = 8;
/// Maximum number of entries of an index that one step clears. It frees their pages.
const ENTRIES_PER_STEP: usize = PAGES_PER_STEP as usize / 2;

/// Returns the bytes up to the last one that is not zero.
fn without_zeros(bytes: &[u8]) -> &[u8] {
    let mut bytes = bytes;
    // Four bytes at once, because an index page ends with many zeros.
    while let Some((rest, [0, 0, 0, 0])) = bytes.split_last_chunk() {
        bytes = rest;
    }
    &bytes[..bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)]
}

/// Number of reads before a page counts as lost.
const LOOKS: u32 = 3;

/// The pages of a file from a given page on.
pub enum Tail {
    None,
    /// A few pages that no index names. The open transaction has room to discard these pages.
    Run(TailRun),
    Large,
}

impl Tail {
    /// Returns the number of pages of a run.
    fn pages(&self) -> u32 {
        if let Tail::Run(run) = self { run.pages() } else { 0 }
    }
}

/// The tail of the run of a region.
pub struct TailRun {
    number: u32,
    region: Region,
    /// Number of pages of the region before the tail. These pages stay.
    kept: u32,
}

impl TailRun {
    /// Returns the number of pages of the tail.
    fn pages(&self) -> u32 {
        self.region.count - self.kept
    }
}

/// Neighbouring entries of an index page, up to the last used entry.
struct LastEntries {
    /// Index of the first entry.
    first: u32,
    count: usize,
    /// The values of the entries: pages plus one, or 0 for holes.
    numbers: [u32; ENTRIES_PER_STEP],
}

impl LastEntries {
    /// Returns up to `most` entries, up to the last used entry. `bytes` begin with entry `first`,
    /// and an entry has `width` bytes. Returns `None` if no entry is used.
    fn of(bytes: &[u8], first: u32, width: usize, most: usize) -> Option<Self> {
        let used = without_zeros(bytes).len().div_ceil(width);
        let (count, mut numbers) = (used.min(most), [0; ENTRIES_PER_STEP]);
        let entries = bytes.chunks_exact(width).take(used).skip(used - count);
        for (number, entry) in numbers.iter_mut().zip(entries) {
            *number = entry.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte));
        }
        (count > 0).then_some(Self { first: first + (used - count) as u32, count, numbers })
    }

    /// Returns the neighbouring pages that the entries name. A hole names no page, and nor does an
    /// entry that was lost or is out of range.
    fn runs(&self, plan: VolumePlan) -> impl Iterator<Item = Range<u32>> {
        let numbers = self.numbers[..self.count].iter();
        let mut pages = numbers.filter_map(move |&number| plan.named_by(number)?.ok()).peekable();
        core::iter::from_fn(move || {
            let first = pages.next()?;
            let mut end = first + 1;
            while pages.next_if_eq(&end).is_some() {
                end += 1;
            }
            Some(first..end)
        })
    }
}

/// The last region of an inode that has pages.
pub struct LastRegion {
    number: u32,
    region: Region,
    /// True if this is the only region with pages.
    is_first: bool,
}

impl LastRegion {
    /// Returns the last region of an inode that has pages.
    fn of(area: &[u8; AREA_BYTES]) -> Option<Self> {
        let taken = |number: &u32| Region::of(area, *number) != Region::EMPTY;
        let number = (0..REGIONS).rev().find(taken)?;
        let is_first = (0..REGIONS).find(taken) == Some(number);
        Some(Self { number, region: Region::of(area, number), is_first })
    }
}

impl<F: Flash> Volume<'_, F> {
    /// Truncates the pages of a file from page `keep` on, and gives them to a new inode of kind
    /// `Removed`. Returns this inode, or `None` if there are no such pages.
    #[inline(never)]
    pub fn cut_regions(&mut self, inode: u32, keep: u32) -> Result<Option<u32>, Error> {
        let (first, within) = (keep / self.plan.region_pages, keep % self.plan.region_pages);
        let mut area = [0; AREA_BYTES];
        self.read_area(inode, &mut area)?;
        let cut = if first < REGIONS { Region::of(&area, first) } else { Region::EMPTY };
        let (mut head, rest) = cut.split(within);
        // Both files need entries of this index, so the truncated file gets a copy of the index.
        if cut.index != 0 && within > 0 {
            head.index = self.copy_index(cut.index, within)?;
        }
        // Write the regions of the tail first, then the regions of the remaining file.
        let at_first = (first.min(REGIONS) * REGION_BYTES) as usize;
        area[..at_first].fill(0);
        if let Some(place) = area[at_first..].first_chunk_mut() {
            *place = rest.emit();
        }
        if area == [0; AREA_BYTES] {
            return Ok(None);
        }
        let tail = self.allocate_inode(self.plan.inode_count, Room::Spare)?;
        let header = InodeHeader {
            inline: false,
            // The entries before this one are in the copy.
            extra: if cut.index != 0 { within } else { 0 },
            ..InodeHeader::new(InodeKind::Removed, 0)
        };
        let (page, at) = self.inode_place(tail);
        self.patch_what_differs(page, at, &header.emit())?;
        self.patch_what_differs(page, at + AREA_AT, &area)?;
        area.fill(0);
        if let Some(place) = area[at_first..].first_chunk_mut() {
            *place = head.emit();
        }
        let (page, at) = self.inode_place(inode);
        self.patch_what_differs(page, at + AREA_AT + at_first as u32, &area[at_first..])?;
        Ok(Some(tail))
    }

    /// Copies the entries of an index before `keep`, for a file that is truncated at this entry.
    ///
    /// # Cost
    /// One frame for each level of the index.
    fn copy_index(&mut self, index: u32, keep: u32) -> Result<u32, Error> {
        self.check_data_pages(index, 1)?;
        let (entries, width) = (self.plan.index_entries, self.plan.index_bytes());
        let copy = self.allocate_page(Room::Spare)?;
        if !self.plan.index_is_deep {
            self.copy_cut(copy, index, keep * width)?;
            return Ok(copy);
        }
        self.copy_cut(copy, index, keep / entries * width)?;
        // Both files also need entries of this page.
        if !keep.is_multiple_of(entries)
            && let Some(page) = self.index_entry(index, keep / entries)?
        {
            let copy_of_page = self.allocate_page(Room::Spare)?;
            self.copy_cut(copy_of_page, page, keep % entries * width)?;
            self.set_index_entry(copy, keep / entries, Some(copy_of_page))?;
        }
        Ok(copy)
    }

    /// Writes the first `keep` bytes of logical page `of` to `logical`, followed by zeros. `of` and
    /// `logical` may be the same page.
    pub fn copy_cut(&mut self, logical: u32, of: u32, keep: u32) -> Result<(), Error> {
        self.store.logical.write_edited(logical, of, Edit::Cut { keep })
    }

    fn looks_readable(&mut self, logical: u32) -> Result<bool, Error> {
        for _ in 0..LOOKS {
            if self.store.logical.verify(logical)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the last region of an inode that has pages.
    ///
    /// Not inlined: so the other regions are not on the stack while the pages of this region are
    /// freed.
    #[inline(never)]
    fn last_region(&mut self, inode: u32) -> Result<Option<LastRegion>, Error> {
        let mut area = [0; AREA_BYTES];
        self.read_area(inode, &mut area)?;
        Ok(LastRegion::of(&area))
    }

    /// Returns the tail of an inode: its pages from page `keep` on.
    pub fn tail_of(&mut self, inode: u32, keep: u32) -> Result<Tail, Error> {
        let (first, kept) = (keep / self.plan.region_pages, keep % self.plan.region_pages);
        let Some(LastRegion { number, region, .. }) = self.last_region(inode)? else {
            return Ok(Tail::None);
        };
        if number < first || (number == first && region.index == 0 && region.count <= kept) {
            return Ok(Tail::None);
        }
        // The pages must be freed in the same transaction as the call's own changes.
        let is_few = number == first
            && region.index == 0
            && region.count - kept <= PAGES_PER_STEP
            && self.store.logical.has_room_to_discard(region.count - kept)
            && self.check_data_pages(region.logical, region.count).is_ok();
        Ok(if is_few { Tail::Run(TailRun { number, region, kept }) } else { Tail::Large })
    }

    /// If an inode has few pages, frees the inode and the pages, and returns true.
    pub fn free_at_once(
        &mut self,
        inode: u32,
        header: &InodeHeader,
        has_pages: bool,
    ) -> Result<bool, Error> {
        let tail = if has_pages { self.tail_of(inode, 0)? } else { Tail::None };
        if matches!(tail, Tail::Large) {
            return Ok(false);
        }
        // A discarded page frees no room in the journal buffer before the end of the call. So the
        // room for all changes after the first discard is made now.
        let extensions = u32::from(header.name_more > 0) + u32::from(header.attributes > 0);
        if tail.pages() + extensions > 0 {
            let ahead = RecordsAhead::freeing(tail.pages(), extensions + 1);
            self.store.logical.make_journal_room(ahead)?;
        }
        if let Tail::Run(run) = tail {
            self.free_run(&run)?;
        }
        self.free_extensions(header)?;
        self.free_inode(inode)?;
        Ok(true)
    }

    /// Frees the pages of a run.
    fn free_run(&mut self, run: &TailRun) -> Result<(), Error> {
        self.free_pages(run.region.logical + run.kept, run.pages())
    }

    /// Truncates a run of a file, and frees its pages.
    pub fn cut_run(&mut self, inode: u32, run: &TailRun) -> Result<(), Error> {
        self.write_region(inode, run.number, run.region.split(run.kept).0)?;
        self.store.logical.make_journal_room(RecordsAhead::freeing(run.pages(), 0))?;
        self.free_run(run)
    }

    /// Reads the header and the last region of a removed inode, in one look.
    ///
    /// Not inlined: so the inode is not on the stack while its pages are freed.
    #[inline(never)]
    pub fn removed_inode(
        &mut self,
        inode: u32,
    ) -> Result<(InodeHeader, Option<LastRegion>), Error> {
        if inode >= self.plan.inode_count {
            return Err(Error::Corrupt);
        }
        let (page, at) = self.inode_place(inode);
        let mut bytes = [0; INODE_BYTES as usize];
        self.store.logical.read(page, at, &mut bytes)?;
        let header = bytes.first_chunk().and_then(|bytes| InodeHeader::parse(bytes, inode));
        let area = bytes[AREA_AT as usize..].first_chunk();
        Ok((header.ok_or(Error::Corrupt)?, area.and_then(LastRegion::of)))
    }

    /// Frees some pages of an inode, in its last region. Returns `false` if no page is left.
    ///
    /// Entries of the first index before `kept` belong to the file from which this end was
    /// truncated.
    pub fn free_some(
        &mut self,
        inode: u32,
        last: &LastRegion,
        kept: u32,
        gives_up: bool,
    ) -> Result<bool, Error> {
        let LastRegion { number, mut region, is_first } = *last;
        if region.index != 0 {
            // Only the first index is shared with another file.
            let kept = if is_first { kept } else { 0 };
            if self.free_index_step(region.index, kept, gives_up)? {
                return Ok(true);
            }
            let index = core::mem::take(&mut region.index);
            self.write_region(inode, number, region)?;
            self.free_pages(index, 1)?;
            return Ok(region.count > 0 || !is_first);
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
        Ok(region.count > 0 || !is_first)
    }

    /// Frees some pages of an index. The entries before `kept` keep their pages. Returns `false` if
    /// no page is left to free, or if `gives_up` is set and the index cannot be read.
    fn free_index_step(&mut self, index: u32, kept: u32, gives_up: bool) -> Result<bool, Error> {
        match self.try_free_index_step(index, kept, gives_up) {
            Err(Error::Corrupt) if gives_up => Ok(false),
            result => result,
        }
    }

    fn try_free_index_step(
        &mut self,
        index: u32,
        kept: u32,
        gives_up: bool,
    ) -> Result<bool, Error> {
        self.check_data_pages(index, 1)?;
        if !self.plan.index_is_deep {
            return self.free_indexed(index, kept);
        }
        let entries = self.plan.index_entries;
        let Some(last) = self.last_entries(index, kept / entries, 1)? else { return Ok(false) };
        let kept = if last.first == kept / entries { kept % entries } else { 0 };
        // A lost entry, or an entry that is out of range, names no page.
        let Some(Ok(page)) = self.plan.named_by(last.numbers[0]) else {
            self.clear_entries(index, &last)?;
            return Ok(true);
        };
        let is_freed = match self.free_indexed(page, kept) {
            Err(Error::Corrupt) if gives_up => false,
            result => result?,
        };
        if !is_freed {
            // Free the page of entries itself. The truncated file has a copy of the entries that
            // it keeps.
            self.clear_entries(index, &last)?;
            self.free_pages(page, 1)?;
        }
        Ok(true)
    }

    /// Returns the last used entry of an index page and the entries before it, up to `most` entries
    /// in all. All of them lie in one program page. Ignores the entries before `kept`. Returns
    /// `None` if no entry is used.
    fn last_entries(
        &mut self,
        page: u32,
        kept: u32,
        most: usize,
    ) -> Result<Option<LastEntries>, Error> {
        let width = self.plan.index_bytes();
        let per_page = self.store.layout().geometry.page_bytes / width;
        let unit = u32::from(self.store.layout().config.pages_per_logical_page);
        for part in (kept / per_page..unit).rev() {
            let base = part * per_page;
            let first = kept.max(base);
            let last = self.store.logical.with_page(page, part, |bytes| {
                let bytes = &bytes[((first - base) * width) as usize..(per_page * width) as usize];
                LastEntries::of(bytes, first, width as usize, most)
            })?;
            if last.is_some() {
                return Ok(last);
            }
        }
        Ok(None)
    }

    /// Frees some pages that an index page names. The entries before `kept` keep their pages.
    /// Returns `false` if no page is left to free.
    fn free_indexed(&mut self, page: u32, kept: u32) -> Result<bool, Error> {
        self.check_data_pages(page, 1)?;
        let Some(last) = self.last_entries(page, kept, ENTRIES_PER_STEP)? else {
            return Ok(false);
        };
        self.clear_entries(page, &last)?;
        // Neighbours are freed together: fewer reads and patches of the allocation map.
        for pages in last.runs(self.plan) {
            self.free_pages(pages.start, pages.end - pages.start)?;
        }
        Ok(true)
    }

    /// Clears entries of an index page.
    fn clear_entries(&mut self, page: u32, entries: &LastEntries) -> Result<(), Error> {
        let width = self.plan.index_bytes();
        let bytes = entries.count * width as usize;
        let zeros = [0; 4 * ENTRIES_PER_STEP];
        self.store.logical.patch(page, entries.first * width, &zeros[..bytes])
    }

    /// Returns true if an inode and the pages of its indexes are readable. Tries each page
    /// several times.
    #[inline(never)]
    pub fn pages_can_be_freed(&mut self, inode: u32) -> Result<bool, Error> {
        if !self.looks_readable(self.inode_place(inode).0)? {
            return Ok(false);
        }
        let mut area = [0; AREA_BYTES];
        self.read_area(inode, &mut area)?;
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
                if let Some(Ok(page)) = self.plan.named_by(number)
                    && !self.looks_readable(page)?
                {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
