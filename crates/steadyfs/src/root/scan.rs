//! Search for the root that a mount begins with.
//!
//! The first page of each ring block contains the number of the block's first root. The search
//! begins with the block that has the largest number. It reads backwards from the end of the block
//! until it finds a root that *counts*: a seal, which is a page of its copies, can be read. The
//! root is *certain* if this seal is not the one that was programmed first. A power cut can leave
//! only the first seal in doubt: a later seal proves that the seals before it were complete.
//!
//! If only one seal can be read, an interrupted erase may have left it in the block. Then the root
//! counts only if all pages that it names in its own block can be read.
//!
//! The newest root that counts is the base. There is one exception: this root is not certain, and
//! it names a root as its predecessor that is older than the newest certain root. Then the newest
//! certain root is the base.
//!
//! A root that counts for this mount may not count for the next mount. So until this mount has
//! written its own root, it erases neither of these roots:
//!
//! - the base
//! - the newest certain root, or, if there is none, the oldest root that counts

use super::{NUMBER_MAX, Ring, RootState, VolumeFlags};
use crate::config::{COPIED_MAX, Layout, RING_MAX};
use crate::error::Error;
use crate::format::root::{BYTES, RootHeader};
use crate::media::{Flash, PageIndex, TAG_BYTES, Tag, TagKind, TagKinds};
use crate::pages::was_read;
use crate::space::{Frame, NONE};
use core::num::NonZeroU32;

/// Largest number of pages that are read behind a page that looks blank or cannot be read.
const LOOKS_BEHIND: u32 = 8;
/// Largest number of instances of a root: the root and its copies.
const INSTANCES: usize = 3;

/// The root that a mount begins with. Its tables are already read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Base {
    /// True if a newer root was complete, but can no longer be read as a whole.
    pub lost: bool,
    /// The status of the volume in this root.
    pub flags: VolumeFlags,
}

/// A root that was found in the ring.
#[derive(Clone, Copy, Debug)]
struct FoundRoot {
    number: u32,
    place: u32,
    /// First page of the root and of each copy; [`NONE`] for an instance of which no page was seen.
    starts: [PageIndex; INSTANCES],
    /// A bit for each page of the root that can be read in any copy.
    pages: u64,
    /// A bit for each readable seal. Each index of a seal counts once, because a page that a power
    /// cut has left may have the index of another seal.
    seals: u64,
    /// Index of the last readable seal, counted over all copies.
    last_seal: u32,
}

/// The ring, and a search of it.
pub(crate) struct Search<'s, 'm, F> {
    pub ring: &'s mut Ring,
    pub tables: RootState<'s, 'm, F>,
}

impl<F: Flash> Search<'_, '_, F> {
    /// Returns the tag of page `index` of a ring block, if it is a page of a root that may lie
    /// there.
    pub(super) fn root_page(&mut self, place: u32, index: u32) -> Result<Option<Tag>, Error> {
        let page = self.ring.block(place) * self.tables.layout.geometry.pages_per_block + index;
        let (count, pages) = (self.tables.layout.ring_count, self.tables.layout.root_pages);
        let of_place = |tag: &Tag| {
            tag.sequence < NUMBER_MAX.into()
                && number_of(tag) % count == place
                && tag.aux & 0xFF == pages & 0xFF
                && tag.logical < pages
                // All pages of the root lie in its block.
                && tag.logical <= index
                && index - tag.logical + pages <= self.tables.layout.geometry.pages_per_block
                && (tag.aux >> 8) as usize <= INSTANCES
        };
        Ok(self.tables.pages.read_tagged(page, TagKinds::of(&[TagKind::Root]))?.filter(of_place))
    }

    /// Returns the number of the first root in the block at a place of the ring. If the block's
    /// first page is lost, the number is read from another page.
    fn first_number(&mut self, place: u32) -> Result<Option<u32>, Error> {
        let first = self.ring.block(place) * self.tables.layout.geometry.pages_per_block;
        for index in 0..self.tables.layout.first_root_pages() {
            if let Some(tag) = self.root_page(place, index)? {
                return Ok(Some(number_of(&tag)));
            }
            // A blank block has no root, so its other pages are not read.
            if self.is_blank_from(first, index)? {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Finds the root to begin with, among the roots with numbers below a limit. Reads this root
    /// into the tables, and records the places that must not be erased. Returns `Ok(None)` if there
    /// is no such root.
    #[inline(never)]
    pub fn find(&mut self, below: u32) -> Result<Option<Base>, Error> {
        // A search with another limit begins from the start.
        (self.ring.kept, self.ring.uncertain) = (0, None);
        let mut flags = VolumeFlags::default();
        // One number for each block shows the newest block, so the other blocks need no search.
        let firsts = self.first_numbers()?;
        let (mut limit, mut base, mut oldest, mut lost) =
            (u32::MAX, None::<FoundRoot>, None::<FoundRoot>, false);
        while let Some((place, first)) = newest_below(&firsts, limit) {
            limit = first;
            // The next root must outrank every number that was seen.
            self.ring.number = self.ring.number.max(first);
            let mut end = NONE;
            while let Some(found) = self.root_before(place, &mut end)? {
                self.ring.number = self.ring.number.max(found.number);
                // Without a readable seal, nothing proves that the root was complete.
                if !found.counts() || found.number >= below {
                    continue;
                }
                // The newest root that counts and can be read as a whole is the base.
                let is_there = self.is_whole_root(&found)
                    && (base.is_some() || self.read_root(&found, &mut flags)?);
                if base.is_none()
                    && is_there
                    // A single seal may be all that an interrupted erase has left.
                    && (found.is_firm() || self.has_its_own(found.place)?)
                {
                    // A later mount may need this base again.
                    base = Some(found);
                    self.ring.kept |= 1 << found.place;
                }
                // If a root was in use and cannot be read now, it is a loss.
                if base.is_none() {
                    lost |= found.is_missed(self.tables.layout.root_pages);
                    continue;
                }
                // If no root turns out to be certain, the oldest of these roots is kept.
                if is_there {
                    oldest = Some(found);
                }
                // The newest certain root ends the search.
                if is_there && found.is_certain() {
                    // A newer root that follows a root older than the certain root is a leftover of
                    // an interrupted erase.
                    if base.is_some_and(|newer| self.is_stale(&newer, &found)) {
                        (base, self.ring.kept) = (Some(found), 0);
                        if !self.read_root(&found, &mut flags)? {
                            return Ok(None);
                        }
                    }
                    // Until this mount's own root is complete, the next mount may begin with this
                    // root.
                    self.ring.kept |= 1 << found.place;
                    return self.begin_with(base, Base { lost, flags });
                }
            }
        }
        // No root is certain, so the oldest root that counts is kept.
        self.ring.kept |= oldest.map_or(0, |found| 1 << found.place);
        self.begin_with(base, Base { lost, flags })
    }

    /// Returns true if the root in the tables is not certain, and was begun before `certain`, which
    /// has a smaller number. The root that it follows is then older than `certain`. An interrupted
    /// erase hid the root in the tables from the mount that began `certain`.
    fn is_stale(&self, newer: &FoundRoot, certain: &FoundRoot) -> bool {
        !newer.is_certain() && self.ring.follows < certain.number && certain.number < newer.number
    }

    fn begin_with(&mut self, found: Option<FoundRoot>, base: Base) -> Result<Option<Base>, Error> {
        let Some(found) = found else { return Ok(None) };
        // If anything is missing behind a root with one readable seal, the store tries an older
        // root.
        self.ring.uncertain = NonZeroU32::new(found.number).filter(|_| !found.is_firm());
        let place = found.place as u8;
        (self.ring.complete, self.ring.place, self.ring.follows) = (place, place, found.number);
        // Nothing is programmed behind this root, because each power cycle begins with a new ring
        // block.
        self.ring.leave_block(self.tables.layout);
        self.ring.prepared = None;
        // This is computed first, because the number jumps below.
        let is_newest = self.ring.number == found.number;
        self.ring.is_overtaken = !is_newest || !found.is_firm();
        // Roots that cannot be read today may be readable tomorrow, so the next number is larger
        // than theirs.
        self.ring.number +=
            self.tables.layout.ring_count * self.tables.layout.geometry.pages_per_block;
        self.ring.mark = NONE;
        if self.ring.closed && self.tables.layout.programs_bytes() {
            let behind = found.end(self.tables.layout);
            // Damaged tags may lead to another block.
            if behind / self.tables.layout.geometry.pages_per_block == self.ring.block(found.place)
            {
                // No mark is used if its root may not count at the next mount, or if a root with a
                // larger number was seen.
                self.ring.mark = if found.is_firm() && is_newest { behind } else { NONE };
                self.ring.closed = !self.is_opened(behind)?;
            }
        }
        Ok(Some(base))
    }

    /// Returns for each ring block the number of its first root, or 0 if no number can be read.
    pub(super) fn first_numbers(&mut self) -> Result<[u32; RING_MAX as usize], Error> {
        self.ring.unknown = 0;
        let mut firsts = [0; RING_MAX as usize];
        for place in 0..self.tables.layout.ring_count {
            match self.first_number(place)? {
                Some(first) => firsts[place as usize] = first,
                None => self.ring.unknown |= 1 << place,
            }
        }
        Ok(firsts)
    }

    /// Clears the `unknown` bit of blank ring blocks, because they hold no root that may be
    /// readable tomorrow.
    pub fn mark_blank_places(&mut self) -> Result<(), Error> {
        for place in 0..self.tables.layout.ring_count {
            if self.ring.unknown >> place & 1 != 0 && self.has_no_root(place)? {
                self.ring.unknown &= !(1 << place);
            }
        }
        Ok(())
    }

    /// Returns true if the first page of a ring block and the pages of the first root's copies are
    /// blank. Without a readable seal no root counts.
    pub(super) fn has_no_root(&mut self, place: u32) -> Result<bool, Error> {
        let first = self.ring.block(place) * self.tables.layout.geometry.pages_per_block;
        for index in core::iter::once(0)
            .chain(self.tables.layout.root_pages..self.tables.layout.root_programs)
        {
            if !self.tables.pages.is_blank(first + index)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the last root before page `end` in the block at a place of the ring. Reads
    /// backwards, and sets `end` to the first page of this root that was read. If `end` is
    /// [`NONE`], it stands for the end of the programmed pages.
    fn root_before(&mut self, place: u32, end: &mut u32) -> Result<Option<FoundRoot>, Error> {
        let first = self.ring.block(place) * self.tables.layout.geometry.pages_per_block;
        // The first call for a block searches the end; later calls continue from there.
        if *end == NONE {
            *end = self.find_end(first)?;
        }
        let mut found = None::<FoundRoot>;
        // These pages contain a whole root, even if a power cut has left other pages behind it.
        let least = end.saturating_sub(ring_window(self.tables.layout));
        while *end > least {
            // A page without the tag of a root is skipped. A mount may have copied other pages
            // between a root and the copies of this root.
            let Some(tag) = self.root_page(place, *end - 1)? else {
                *end -= 1;
                continue;
            };
            // The page belongs to an older root. The next call begins with this page.
            if found.is_some_and(|found| found.number != number_of(&tag)) {
                break;
            }
            *end -= 1;
            let found = found.get_or_insert(FoundRoot::new(number_of(&tag), place));
            found.add(&tag, first + *end, self.tables.layout.root_pages);
            // A page of the copies may read as damaged the next time. So the search continues to
            // the root itself.
            if found.is_certain() && found.starts[0] != NONE && self.is_whole_root(found) {
                break;
            }
        }
        Ok(found)
    }

    /// Returns true if every page of a root can be read in any copy.
    fn is_whole_root(&self, found: &FoundRoot) -> bool {
        found.pages.count_ones() == self.tables.layout.root_pages
    }

    /// Returns the index of the page behind the last programmed page of a ring block.
    pub(super) fn find_end(&mut self, first: PageIndex) -> Result<u32, Error> {
        // Pages are programmed in order, so a bisection finds the end.
        let (mut low, mut high) = (1, self.tables.layout.geometry.pages_per_block);
        while low < high {
            let middle = (low + high) / 2;
            if self.is_blank_from(first, middle)? { high = middle } else { low = middle + 1 }
        }
        Ok(low)
    }

    /// Returns true if a ring block is blank from one of its pages on.
    ///
    /// Behind the root of a mount there may be a gap of blank pages, because the copied frames
    /// begin at a frame boundary. On some media a damaged page may look blank. There, a readable
    /// page behind it must be blank as well. On such media an erase changes no page, so an
    /// unreadable page may be older than the erase. If `page` is unreadable, two readable pages
    /// behind it must be blank.
    fn is_blank_from(&mut self, first: PageIndex, page: u32) -> Result<bool, Error> {
        let (root, frame) = (self.tables.layout.root_pages, self.tables.layout.copied_page());
        let hides = self.tables.pages.flash().hides_damage();
        let is_known = match self.tables.pages.is_blank_with_retry(first + page)? {
            Some(true) => true,
            None if hides => false,
            _ => return Ok(false),
        };
        // A damaged page may look blank, so one blank page does not prove the end.
        if hides && !self.are_blank_behind(first, page, 2 - u32::from(is_known))? {
            return Ok(false);
        }
        // A page in the gap is blank although copied pages may lie behind it.
        let is_at_gap = if is_known { (root..frame).contains(&page) } else { page < frame };
        Ok(!is_at_gap || self.tables.pages.is_blank(first + frame)?)
    }

    /// Returns true if the next `wanted` readable pages behind `page` are blank. If the block has
    /// fewer readable pages behind `page`, all of them must be blank.
    fn are_blank_behind(
        &mut self,
        first: PageIndex,
        page: u32,
        mut wanted: u32,
    ) -> Result<bool, Error> {
        let end = self.tables.layout.geometry.pages_per_block;
        for next in page + 1..(page + 1 + LOOKS_BEHIND).min(end) {
            match self.tables.pages.is_blank_with_retry(first + next)? {
                Some(false) => return Ok(false),
                // Enough readable pages are blank.
                Some(true) if wanted == 1 => return Ok(true),
                // An unreadable page proves nothing, so it is skipped.
                is_blank => wanted -= u32::from(is_blank.is_some()),
            }
        }
        Ok(page + 1 + LOOKS_BEHIND >= end)
    }

    /// Reads a root into the tables. Returns `false` if the root is not valid.
    fn read_root(&mut self, found: &FoundRoot, flags: &mut VolumeFlags) -> Result<bool, Error> {
        let mut header = [0; BYTES];
        for index in 0..self.tables.layout.root_pages {
            if !self.load_root_page(found, index)? {
                return Ok(false);
            }
            self.tables.exchange(&mut header, index, true);
        }
        // The header is checked together with the tables, so all pages are read first.
        let found = self.adopt_root(&header);
        *flags = found.unwrap_or(*flags);
        Ok(found.is_some())
    }

    /// Takes over the header of a root whose tables were read. Returns `None` if the root is not
    /// valid.
    pub(super) fn adopt_root(&mut self, header: &[u8; BYTES]) -> Option<VolumeFlags> {
        if !self.tables.pages.flash().is_clean() {
            // The tables were replaced, even if the header is refused.
            self.tables.space.blocks_mut().recount();
        }
        let header = RootHeader::parse(header)?;
        if !self.tables.adopt(&header, self.ring) {
            return None;
        }
        (self.ring.closed, self.ring.follows) = (header.closed, header.follows);
        Some(VolumeFlags {
            worn_out: header.worn_out,
            unchecked: header.unchecked,
            reserve: header.reserve,
        })
    }

    /// Returns true if all pages that the root in the tables names in its own ring block can be
    /// read.
    fn has_its_own(&mut self, place: u32) -> Result<bool, Error> {
        let (block, fpb) = (self.ring.block(place), self.tables.layout.frames_per_block);
        // A root's own block may hold leaves, data pages and a journal page that its mount has
        // copied.
        for leaf in 0..self.tables.layout.leaf_count {
            let frame = self.tables.map.leaf(leaf);
            if frame / fpb == block && !self.frame_can_be_read(frame, TagKinds::LEAF, leaf)? {
                return Ok(false);
            }
        }
        for index in 0..self.tables.map.len() {
            let (logical, frame) = self.tables.map.entry(index);
            if frame / fpb == block && !self.frame_can_be_read(frame, TagKinds::DATA, logical)? {
                return Ok(false);
            }
        }
        Ok(!self.tables.space.holds_journal(block) || self.journal_copy_can_be_read()?)
    }

    /// Returns true if every page of the journal's copy in the ring can be read.
    fn journal_copy_can_be_read(&mut self) -> Result<bool, Error> {
        let first = self.tables.layout.journal_page(self.tables.space.journal_at());
        for page in first..first + self.tables.layout.journal_pages() {
            if self.tables.pages.read_tagged(page, TagKinds::JOURNAL)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if every page of a frame can be read, and has the right kind and logical
    /// page.
    fn frame_can_be_read(
        &mut self,
        frame: Frame,
        kinds: TagKinds,
        logical: u32,
    ) -> Result<bool, Error> {
        let first = self.tables.layout.frame_page(frame);
        for page in first..first + u32::from(self.tables.layout.config.pages_per_logical_page) {
            if self.tables.pages.read_tagged(page, kinds)?.is_none_or(|tag| tag.logical != logical)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads page `index` of a root into the page buffer, from the root or from a copy. Returns
    /// `false` if it can be read in none of them.
    fn load_root_page(&mut self, found: &FoundRoot, index: u32) -> Result<bool, Error> {
        for start in found.starts.into_iter().rev().filter(|&start| start != NONE) {
            let tag =
                self.tables.pages.read_tagged(start + index, TagKinds::of(&[TagKind::Root]))?;
            if tag.is_some_and(|tag| number_of(&tag) == found.number && tag.logical == index) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns true if anything was programmed at the page where the ring is
    /// [opened](super::Roots::open). An incomplete mark counts as well. A mount then rolls forward,
    /// and finds no records.
    pub(super) fn is_opened(&mut self, page: PageIndex) -> Result<bool, Error> {
        let pages = self.tables.layout.geometry.pages_per_block;
        let mut mark = [0; TAG_BYTES];
        let offset = page % pages * self.tables.layout.geometry.page_bytes;
        Ok(!was_read(self.tables.pages.flash_mut().read_bytes(page / pages, offset, &mut mark))?
            || mark != [0xFF; TAG_BYTES])
    }
}

/// Returns the number of the root to which a page belongs.
fn number_of(tag: &Tag) -> u32 {
    tag.sequence as u32
}

/// Returns the place whose first number is the largest one below a limit, and this number.
pub(super) fn newest_below(firsts: &[u32], limit: u32) -> Option<(u32, u32)> {
    let below = (0u32..).zip(firsts).filter(|&(_, &first)| first > 0 && first < limit);
    below.max_by_key(|&(_, &first)| first).map(|(place, &first)| (place, first))
}

/// Returns the number of pages before the end of a ring block's programmed pages that certainly
/// contain a whole root. There may be an interrupted root, a root before it, and pages that a mount
/// copied.
pub(crate) const fn ring_window(layout: &Layout) -> u32 {
    2 * layout.root_programs
        + (COPIED_MAX + 1) * layout.config.pages_per_logical_page as u32
        + layout.journal_pages()
}

impl FoundRoot {
    fn new(number: u32, place: u32) -> Self {
        Self { number, place, starts: [NONE; INSTANCES], pages: 0, seals: 0, last_seal: 0 }
    }

    /// Returns true if a seal can be read.
    fn counts(&self) -> bool {
        self.seals != 0
    }

    /// Returns true if a seal behind the first one can be read. Then this seal or an earlier one
    /// can be read at every mount.
    fn is_certain(&self) -> bool {
        self.last_seal > 0
    }

    /// Returns true if two seals can be read. A single seal may be all that an interrupted erase
    /// has left of a root.
    fn is_firm(&self) -> bool {
        self.seals & self.seals.wrapping_sub(1) != 0
    }

    /// Returns true if the root was in use, and one of its pages can no longer be read in any copy.
    /// The root was in use only if a seal behind the copy of this page can be read.
    fn is_missed(&self, root_pages: u32) -> bool {
        let missing = (0..root_pages).rev().find(|page| self.pages >> page & 1 == 0);
        self.is_certain() && missing.is_some_and(|page| self.last_seal > page)
    }

    /// Returns the first page behind the root's copies.
    fn end(&self, layout: &Layout) -> PageIndex {
        // The page is computed from the last copy, because a copy of the journal may lie between
        // the root and its copies.
        let known = (0..).zip(self.starts).filter(|&(_, start)| start != NONE).last();
        known.map_or(0, |(copy, start): (u32, _)| {
            start + layout.root_programs - copy * layout.root_pages
        })
    }

    /// Records a page of the root that can be read.
    fn add(&mut self, tag: &Tag, page: PageIndex, root_pages: u32) {
        let copy = tag.aux >> 8;
        self.pages |= 1 << (tag.logical & 63);
        if let Some(start) = self.starts.get_mut(copy as usize) {
            *start = page - tag.logical;
        }
        if copy > 0 {
            let index = (copy - 1) * root_pages + tag.logical;
            self.seals |= 1 << (index & 63);
            self.last_seal = self.last_seal.max(index);
        }
    }
}
