//! Journal records on the medium: pages, or chains where it programs bytes.
//!
//! A *page* is the whole journal buffer. A longer buffer takes several, each with its number as logical page; only the ring has such ones.
//!
//! ```text
//! block of a chain:  | tag, whole buffer | tag, delta | tag, delta | … |
//! ```
//!
//! A record of a chain begins at a *slot* of 8 bytes: its tag of 16, and behind that what a journal page would hold. The first record of a block is the
//! whole journal buffer, each later one what a commit has changed in it. So a commit programs little more than what its caller wrote, and what
//! is committed at a record is said by its block alone, from the first record to that one. A chain never leaves its block: a mount after a power
//! cut, or a program that failed, begins with another one. What a mount copies into the ring is a page there, as on other media.

use super::Journal;
use crate::config::{Layout, SLOT_BYTES};
use crate::error::Error;
use crate::media::{BlockIndex, Flash, Geometry, Kinds, PageIndex, TAG_BYTES, Tag};
use crate::pages::{Pages, TRIES, UNSTEADY_TRIES};
use crate::root::Ring;
use crate::space::{Head, HeadIndex, NONE, Space};
use core::ops::Range;

/// A record of a chain that is in the page buffer.
#[derive(Clone, Copy)]
pub(crate) struct ChainRecord {
    pub tag: Tag,
    bytes: usize,
}

impl ChainRecord {
    /// Slots of the record.
    pub fn places(&self) -> u32 {
        slots(self.bytes)
    }
}

/// Slots of a record with so many bytes behind its tag.
fn slots(bytes: usize) -> u32 {
    ((bytes + TAG_BYTES) as u32).div_ceil(SLOT_BYTES)
}

/// Slots of a record that changes nothing in the journal buffer.
pub(crate) fn empty_places() -> u32 {
    slots(2)
}

/// The journal buffer, and its records on the medium. See the [module](self).
pub(crate) struct Records<'s, 'm, F> {
    pub layout: &'s Layout,
    pub pages: &'s mut Pages<'m, F>,
    pub space: &'s mut Space<'m>,
    pub ring: &'s Ring,
    pub journal: &'s mut Journal<'m>,
}

impl<F: Flash> Records<'_, '_, F> {
    /// Whether journal records are a chain in this block; on other media, and in the ring, they are pages.
    pub fn is_chain(&self, block: BlockIndex) -> bool {
        self.layout.programs_bytes() && !self.ring.has(block)
    }

    /// Slots of the next record, as the whole buffer or as a delta.
    pub fn next_places(&mut self, is_delta: bool) -> u32 {
        slots(self.compose(is_delta))
    }

    /// Makes what the next record holds in the page buffer, behind the room for its tag; its bytes.
    fn compose(&mut self, is_delta: bool) -> usize {
        let mut record = self.journal.accepted_in(&mut self.pages.long_mut()[TAG_BYTES..]);
        record.make_record(is_delta);
        record.page().len()
    }

    /// Programs the next record at a place of the head that takes it.
    pub fn program(&mut self, place: u32, tag: &Tag) -> Result<(), Error> {
        if self.layout.programs_bytes() { self.program_chain_record(place, tag) } else { self.program_page(place, tag) }
    }

    /// Programs what the journal buffer will be when the call in progress has succeeded, as a page; it stays as it is.
    pub fn program_page(&mut self, page: PageIndex, tag: &Tag) -> Result<(), Error> {
        let (page_bytes, pages) = (self.layout.geometry.page_bytes as usize, self.layout.journal_pages());
        let used = self.journal.accepted_in(self.pages.long_mut()).page().len();
        for index in 0..pages {
            let bytes = used.saturating_sub(index as usize * page_bytes).min(page_bytes);
            let tag = Tag { logical: tag.logical + index, ..*tag };
            self.pages.program_part(page + index, index, bytes, &tag)?;
        }
        Ok(())
    }

    /// Programs the next record of a chain.
    fn program_chain_record(&mut self, place: u32, tag: &Tag) -> Result<(), Error> {
        let (block, offset) = self.chain_place(place);
        let bytes = self.compose(offset > 0);
        let check = self.pages.check_of(TAG_BYTES..TAG_BYTES + bytes);
        self.pages.long_mut()[..TAG_BYTES].copy_from_slice(&tag.emit(check));
        Ok(self.pages.program_bytes(block, offset, 0..TAG_BYTES + bytes)?)
    }

    /// Programs a record of a chain that changes nothing in the journal buffer.
    pub fn program_empty(&mut self, place: u32, tag: &Tag) -> Result<(), Error> {
        let (block, offset) = self.chain_place(place);
        let mut record = [0; TAG_BYTES + 2];
        record[TAG_BYTES] = 2;
        let check = self.pages.checksum(&record[TAG_BYTES..], 0);
        record[..TAG_BYTES].copy_from_slice(&tag.emit(check));
        Ok(self.pages.program_mark(block, offset, &record)?)
    }

    /// Block and first byte of a place of the journal's head.
    fn chain_place(&self, place: u32) -> (BlockIndex, u32) {
        let capacity = self.space.capacity(HeadIndex::JOURNAL);
        (place / capacity, place % capacity * SLOT_BYTES)
    }

    /// Reads a record of a chain into the page buffer, several times if it is damaged; `None` when there is none that is sound.
    pub fn read_chain_record(&mut self, tries: u32, place: u32) -> Result<Option<ChainRecord>, Error> {
        for _ in 0..tries {
            let record = self.try_read_chain_record(place)?;
            if record.is_some() || self.page_buffer_is_blank() {
                return Ok(record);
            }
        }
        Ok(None)
    }

    /// The first record of a chain that can be read at some places of a block, and its place there; none lies behind a blank one, and where there is
    /// none the search ends at such a place.
    pub fn find_chain_record(&mut self, block: BlockIndex, places: Range<u32>) -> Result<(u32, Option<ChainRecord>), Error> {
        let capacity = self.space.capacity(HeadIndex::JOURNAL);
        let end = places.end.min(capacity);
        for place in places.start..end {
            let record = self.read_chain_record(TRIES, block * capacity + place)?;
            if record.is_some() || self.page_buffer_is_blank() {
                return Ok((place, record));
            }
        }
        Ok((end, None))
    }

    /// Ends a chain to which no delta may be added: its records cannot be read, so the ring's copy
    /// of the journal took their place; or the bits behind it are not erased, so a record there
    /// could not be read.
    pub fn leave_touched_chain(&mut self) -> Result<(), Error> {
        let Head { block, next, .. } = self.space.heads().get(HeadIndex::JOURNAL);
        let capacity = self.space.capacity(HeadIndex::JOURNAL);
        if self.layout.programs_bytes() && block != NONE && next < capacity {
            let is_left = !self.space.holds_journal(block);
            self.read_chain_record(1, block * capacity + next)?;
            if is_left || !self.page_buffer_is_blank() {
                self.space.close(HeadIndex::JOURNAL);
            }
        }
        Ok(())
    }

    /// Whether the page buffer has nothing but ones.
    fn page_buffer_is_blank(&self) -> bool {
        self.pages.bytes().iter().all(|&byte| byte == 0xFF)
    }

    fn try_read_chain_record(&mut self, place: u32) -> Result<Option<ChainRecord>, Error> {
        let (block, offset) = self.chain_place(place);
        let Geometry { page_bytes, pages_per_block, .. } = self.layout.geometry;
        let room = (pages_per_block * page_bytes - offset).min(self.layout.journal_bytes) as usize;
        // Few records are longer than a page. A second read takes the rest of a longer one.
        let mut near = room.min(page_bytes as usize);
        self.pages.bytes_mut()[near..].fill(0xFF);
        if !self.read_piece(block, offset, 0..near)? {
            // The second page may be lost. It must not take the records that end in the first one.
            let first = (page_bytes - offset % page_bytes) as usize;
            if first >= near || !self.read_piece(block, offset, 0..first)? {
                return Ok(None);
            }
            near = first;
        }
        if near <= TAG_BYTES + 1 {
            return Ok(None);
        }
        let page = self.pages.bytes();
        let bytes = usize::from(u16::from_le_bytes([page[TAG_BYTES], page[TAG_BYTES + 1]]));
        let end = TAG_BYTES + bytes;
        let mut tag = [0; TAG_BYTES];
        tag.copy_from_slice(&page[..TAG_BYTES]);
        let may_be_one = bytes >= 2 && end <= room && Tag::parse(&tag).is_some_and(|tag| Kinds::JOURNAL.has(tag.kind));
        if !may_be_one || (end > near && !self.read_piece(block, offset, near..end)?) {
            return Ok(None);
        }
        let check = self.pages.check_of(TAG_BYTES..end);
        Ok(Tag::checked(&tag, check).map(|tag| ChainRecord { tag, bytes }))
    }

    /// Reads some bytes of what may be a record; `false` when they cannot be read.
    fn read_piece(&mut self, block: BlockIndex, offset: u32, part: Range<usize>) -> Result<bool, Error> {
        let at = offset + part.start as u32;
        let is_read = self.pages.read_bytes(block, at, part)?;
        if !is_read {
            // What cannot be read is not blank.
            self.pages.bytes_mut().fill(0);
        }
        Ok(is_read)
    }

    /// Makes the journal buffer hold what a chain says at a record, the discards of that record included. It may hold already what the
    /// chain says at the record `after`.
    ///
    /// # Cost
    /// Reads the block's records up to that one.
    fn read_chain(&mut self, after: u32, to: u32) -> Result<Tag, Error> {
        self.walk_chain(TRIES, after, to, true)
    }

    /// Puts what a chain says at a record in the place of the journal buffer, once all of it was read and checked. [`Error::Unknown`] where half of it is
    /// there, which only a mount makes whole.
    fn restore_chain(&mut self, to: u32) -> Result<(), Error> {
        self.walk_chain(1, NONE, to, false)?;
        for _ in 0..TRIES {
            if self.walk_chain(UNSTEADY_TRIES, NONE, to, true).is_ok() {
                return Ok(());
            }
        }
        Err(Error::Unknown)
    }

    /// Whether every record of a chain before one can be read.
    pub fn chain_reaches(&mut self, to: u32) -> Result<bool, Error> {
        let mut at = self.space.journal_start(to);
        while at < to {
            match self.read_chain_record(TRIES, at)? {
                Some(record) => at += record.places(),
                None => return Ok(false),
            }
        }
        Ok(at == to)
    }

    /// The place behind a record of a chain; `None` where that can be read no more, and the next record begins another chain then.
    #[cfg(feature = "scrub")]
    pub fn look_at(&mut self, at: u32) -> Result<Option<u32>, Error> {
        let record = self.read_chain_record(TRIES, at)?;
        if record.is_none() {
            self.space.close(HeadIndex::JOURNAL);
        }
        Ok(record.map(|record| at + record.places()))
    }

    fn walk_chain(&mut self, tries: u32, after: u32, to: u32, applies: bool) -> Result<Tag, Error> {
        let first = self.space.journal_start(to);
        let (logical_count, logical_bytes) = (self.layout.logical_count, self.layout.logical_bytes);
        let mut at = if (first..to).contains(&after) { after } else { first };
        while at <= to {
            let record = self.read_chain_record(tries, at)?.ok_or(Error::Corrupt)?;
            let page = &self.pages.long()[TAG_BYTES..TAG_BYTES + record.bytes];
            let is_sound = match at {
                _ if !applies || at == after => true,
                _ if at == first => self.journal.replace(page, logical_count, logical_bytes),
                _ => self.journal.apply_delta(page, logical_count, logical_bytes),
            };
            if !is_sound {
                return Err(Error::Corrupt);
            }
            if at == to {
                return Ok(record.tag);
            }
            at += record.places();
        }
        Err(Error::Corrupt)
    }

    /// Puts what the newest record says in the place of the journal buffer, once it was read and checked. [`Error::Unknown`] where half of it is there.
    pub fn restore(&mut self) -> Result<(), Error> {
        match self.space.journal_at() {
            NONE => self.journal.clear(),
            place if self.is_chain(self.space.journal_block(place)) => self.restore_chain(place)?,
            place => self.read_page(self.layout.journal_page(place)).map(drop)?,
        }
        self.journal.remove_discards();
        Ok(())
    }

    /// Reads the newest record into the journal buffer.
    pub fn load(&mut self) -> Result<(), Error> {
        if self.space.journal_at() == NONE {
            self.journal.clear();
            return Ok(());
        }
        self.read(NONE, self.space.journal_at())?;
        // Where nothing changes nobody asks for them.
        if !self.pages.flash().is_clean() {
            self.journal.remove_discards();
        }
        Ok(())
    }

    /// Makes the journal buffer hold what a record says, its discards included. It may hold what the record `after` says.
    pub fn read(&mut self, after: u32, place: u32) -> Result<Tag, Error> {
        let is_chain = self.is_chain(self.space.journal_block(place));
        let result = if is_chain { self.read_chain(after, place) } else { self.read_page(self.layout.journal_page(place)) };
        if result.is_err() {
            self.journal.clear();
        }
        result
    }

    /// Takes a journal page over, once it was read and checked.
    fn read_page(&mut self, page: PageIndex) -> Result<Tag, Error> {
        let pages = self.layout.journal_pages();
        let mut first = None;
        for index in 0..pages {
            let mut bytes = [0; TAG_BYTES];
            let check = self.pages.read_part(page + index, index, &mut bytes)?;
            let tag = Tag::checked(&bytes, check).filter(|tag| Kinds::JOURNAL.has(tag.kind));
            let tag = tag.filter(|tag| pages == 1 || tag.logical == index).ok_or(Error::Corrupt)?;
            first = first.or(Some(tag));
        }
        let (logical_count, logical_bytes) = (self.layout.logical_count, self.layout.logical_bytes);
        let is_sound = self.journal.replace(self.pages.long(), logical_count, logical_bytes);
        first.filter(|_| is_sound).ok_or(Error::Corrupt)
    }
}
