//! Journal records on the medium: pages, or chains on media that program bytes.
//!
//! A *page* is the whole journal buffer. If the buffer is longer than a page, its record takes
//! several pages. Each page then has its index in the tag's field for the logical page. Only the
//! ring has such records.
//!
//! ```text
//! block of a chain:  | tag, whole buffer | tag, delta | tag, delta | … |
//! ```
//!
//! A block is divided into *slots* of 8 bytes, and each record of a chain begins at a slot. A
//! record is its tag of 16 bytes and, behind the tag, the content of a journal page. The first
//! record of a block is the whole journal buffer. Each later record holds the changes that a commit
//! made in the buffer. So a commit programs little more than the caller's data.
//!
//! The committed state at a record depends only on the records of its block, from the first record
//! to this one. A chain never continues in another block. After a power cut or a failed program, a
//! new chain starts in another block. A mount copies the journal into the ring as a page, as on
//! other media.

use super::Journal;
use crate::config::{Layout, SLOT_BYTES};
use crate::error::Error;
use crate::media::{BlockIndex, Flash, Geometry, PageIndex, TAG_BYTES, Tag, TagKinds};
use crate::pages::{Pages, TRIES, UNSTEADY_TRIES};
use crate::root::Ring;
use crate::space::{Head, HeadIndex, NONE, Space};
use core::ops::Range;

/// A record of a chain that is in the page buffer.
#[derive(Clone, Copy)]
pub(crate) struct ChainRecord {
    pub tag: Tag,
    /// Number of bytes behind the tag.
    bytes: usize,
    /// Place of the tag in the page buffer, in bytes.
    start: usize,
    /// End of the bytes of the block in the page buffer. The next records may lie before it.
    read_end: usize,
}

impl ChainRecord {
    /// Returns the number of slots of the record.
    pub fn places(&self) -> u32 {
        slots(self.bytes)
    }

    /// Returns the place of the record's content in the page buffer.
    fn content(&self) -> Range<usize> {
        self.start + TAG_BYTES..self.end()
    }

    /// Returns the end of the record in the page buffer.
    fn end(&self) -> usize {
        self.start + TAG_BYTES + self.bytes
    }
}

/// Returns the number of slots of a record with `bytes` bytes behind its tag.
fn slots(bytes: usize) -> u32 {
    ((bytes + TAG_BYTES) as u32).div_ceil(SLOT_BYTES)
}

/// Returns the number of slots of a record that changes nothing in the journal buffer.
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
    /// Returns true if the journal records of this block are a chain. This is so on media that
    /// program bytes, except in the ring. In all other blocks, journal records are whole pages.
    pub fn is_chain(&self, block: BlockIndex) -> bool {
        self.layout.programs_bytes() && !self.ring.has(block)
    }

    /// Returns the number of slots of the next record. The record is a delta if `is_delta` is true,
    /// and the whole buffer if not.
    pub fn next_places(&mut self, is_delta: bool) -> u32 {
        slots(self.compose(is_delta))
    }

    /// Makes the content of the next record in the page buffer, behind the room for its tag.
    /// Returns the number of bytes of the content.
    fn compose(&mut self, is_delta: bool) -> usize {
        let mut record = self.journal.accepted_in(&mut self.pages.long_mut()[TAG_BYTES..]);
        record.make_record(is_delta);
        record.page().len()
    }

    /// Programs the next record at a place that the caller reserved for it.
    pub fn program(&mut self, place: u32, tag: &Tag) -> Result<(), Error> {
        if self.layout.programs_bytes() {
            self.program_chain_record(place, tag)
        } else {
            self.program_page(place, tag)
        }
    }

    /// Programs the journal buffer as a page, in the state as if the call in progress had
    /// succeeded. The buffer itself does not change.
    pub fn program_page(&mut self, page: PageIndex, tag: &Tag) -> Result<(), Error> {
        let (page_bytes, pages) =
            (self.layout.geometry.page_bytes as usize, self.layout.journal_pages());
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

    /// Returns the block of a place of the journal's head, and the offset of the place in the
    /// block, in bytes.
    fn chain_place(&self, place: u32) -> (BlockIndex, u32) {
        let capacity = self.space.capacity(HeadIndex::JOURNAL);
        (place / capacity, place % capacity * SLOT_BYTES)
    }

    /// Reads a record of a chain into the page buffer, several times if it is damaged. Returns
    /// `None` if no read finds a sound record.
    pub fn read_chain_record(
        &mut self,
        tries: u32,
        place: u32,
    ) -> Result<Option<ChainRecord>, Error> {
        for _ in 0..tries {
            let record = self.try_read_chain_record(place)?;
            // A blank place has no record, so further reads are of no use.
            if record.is_some() || self.page_buffer_is_blank() {
                return Ok(record);
            }
        }
        Ok(None)
    }

    /// Searches some places of a block for the first readable record of a chain. Returns its place
    /// in the block, and the record. No record lies behind a blank place. So the search ends at the
    /// first blank place.
    pub fn find_chain_record(
        &mut self,
        block: BlockIndex,
        places: Range<u32>,
    ) -> Result<(u32, Option<ChainRecord>), Error> {
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

    /// A clean end copies the newest chain into the ring, as a page. Returns the place of this
    /// copy, or [`NONE`].
    pub fn copy_of_chain(&self) -> u32 {
        let (newest, copy) = (self.space.journal_at(), self.space.journal_copy());
        let is_copied = self.ring.is_closed()
            && newest != NONE
            && copy != NONE
            && self.is_chain(self.space.journal_block(newest))
            && !self.is_chain(self.space.journal_block(copy));
        if is_copied { copy } else { NONE }
    }

    /// Verifies the newest chain, if a mount has read the chain's copy instead. If a record of the
    /// chain cannot be read, the copy becomes the newest journal record.
    pub fn verify_copied_chain(&mut self) -> Result<(), Error> {
        let copy = self.copy_of_chain();
        if copy == NONE {
            return Ok(());
        }
        match self.walk_chain(TRIES, NONE, self.space.journal_at(), false) {
            Err(Error::Corrupt) => self.space.adopt_journal(copy),
            result => result.map(drop)?,
        }
        Ok(())
    }

    /// Ends a chain to which no delta may be added. There are two such cases:
    ///
    /// - Its records cannot be read, so the ring's copy of the journal is used instead of the
    ///   chain.
    /// - The bits behind its last record are not erased, so a record programmed there would be
    ///   unreadable.
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

    /// Returns true if the page buffer has only ones.
    fn page_buffer_is_blank(&self) -> bool {
        self.pages.bytes().iter().all(|&byte| byte == 0xFF)
    }

    fn try_read_chain_record(&mut self, place: u32) -> Result<Option<ChainRecord>, Error> {
        let (block, offset) = self.chain_place(place);
        let Geometry { page_bytes, pages_per_block, .. } = self.layout.geometry;
        let room = (pages_per_block * page_bytes - offset).min(self.layout.journal_bytes) as usize;
        // Few records are longer than a page. A second read reads the rest of a longer record.
        let mut near = room.min(page_bytes as usize);
        self.pages.bytes_mut()[near..].fill(0xFF);
        if !self.read_piece(block, offset, 0..near)? {
            // The bytes may lie in two pages, and the second page may be unreadable. Records that
            // end in the first page must be readable in that case too.
            let first = (page_bytes - offset % page_bytes) as usize;
            if first >= near || !self.read_piece(block, offset, 0..first)? {
                return Ok(None);
            }
            near = first;
        }
        let Some(end) = self.possible_end(0, near).filter(|&end| end <= room) else {
            return Ok(None);
        };
        // The stored length may be any number, so impossible lengths are rejected before this read.
        if end > near && !self.read_piece(block, offset, near..end)? {
            return Ok(None);
        }
        Ok(self.checked_record(0..end, near.max(end)))
    }

    /// Returns the end of the record that begins at byte `start` of the page buffer. Returns `None`
    /// if no record can begin there, or if its tag or its length is not in the `read_end` bytes
    /// that were read.
    fn possible_end(&self, start: usize, read_end: usize) -> Option<usize> {
        let content = start + TAG_BYTES;
        let length = self.pages.long()[..read_end].get(content..content + 2)?;
        let bytes = usize::from(u16::from_le_bytes([length[0], length[1]]));
        let tag = Tag::parse(&self.tag_bytes(start))?;
        (bytes >= 2 && TagKinds::JOURNAL.has(tag.kind)).then_some(content + bytes)
    }

    /// Returns the bytes of the tag at byte `start` of the page buffer.
    fn tag_bytes(&self, start: usize) -> [u8; TAG_BYTES] {
        let mut tag = [0; TAG_BYTES];
        tag.copy_from_slice(&self.pages.long()[start..start + TAG_BYTES]);
        tag
    }

    /// Returns the record in a part of the page buffer, if its checksum is right.
    fn checked_record(&mut self, part: Range<usize>, read_end: usize) -> Option<ChainRecord> {
        let content = part.start + TAG_BYTES..part.end;
        let (bytes, check) = (content.len(), self.pages.check_of(content));
        let tag = Tag::checked(&self.tag_bytes(part.start), check)?;
        Some(ChainRecord { tag, bytes, start: part.start, read_end })
    }

    /// Reads the record of a chain that follows the record in the page buffer. If the page buffer
    /// already has the next record, as it often does, nothing is read.
    fn read_next_record(
        &mut self,
        tries: u32,
        place: u32,
        before: Option<ChainRecord>,
    ) -> Result<Option<ChainRecord>, Error> {
        if let Some(before) = before {
            let (start, read_end) =
                (before.end().next_multiple_of(SLOT_BYTES as usize), before.read_end);
            let end = self.possible_end(start, read_end).filter(|&end| end <= read_end);
            let next = end.and_then(|end| self.checked_record(start..end, read_end));
            if next.is_some() {
                return Ok(next);
            }
        }
        self.read_chain_record(tries, place)
    }

    /// Reads some bytes of a possible record. Returns `false` if they cannot be read.
    fn read_piece(
        &mut self,
        block: BlockIndex,
        offset: u32,
        part: Range<usize>,
    ) -> Result<bool, Error> {
        let at = offset + part.start as u32;
        let is_read = self.pages.read_bytes(block, at, part)?;
        if !is_read {
            // Unreadable bytes are not blank.
            self.pages.bytes_mut().fill(0);
        }
        Ok(is_read)
    }

    /// Brings the journal buffer to its state at the record `to` of a chain, including the discards
    /// of that record. If the buffer already has its state at the record `after`, the function
    /// starts at that record.
    ///
    /// # Cost
    /// Reads the block's records up to the record `to`.
    fn read_chain(&mut self, after: u32, to: u32) -> Result<Tag, Error> {
        self.walk_chain(TRIES, after, to, true)
    }

    /// Replaces the journal buffer by its state at the record `to` of a chain, after the whole
    /// chain was read and verified. Returns [`Error::Unknown`] if the buffer may hold only a part
    /// of this state. Then only a mount can restore the buffer.
    fn restore_chain(&mut self, to: u32) -> Result<(), Error> {
        // The buffer changes only if the whole chain can be read.
        self.walk_chain(1, NONE, to, false)?;
        for _ in 0..TRIES {
            if self.walk_chain(UNSTEADY_TRIES, NONE, to, true).is_ok() {
                return Ok(());
            }
        }
        Err(Error::Unknown)
    }

    /// Returns true if all records of a chain before the record `to` can be read.
    pub fn chain_reaches(&mut self, to: u32) -> Result<bool, Error> {
        let (mut at, mut before) = (self.space.journal_start(to), None);
        while at < to {
            before = self.read_next_record(TRIES, at, before)?;
            match before {
                Some(record) => at += record.places(),
                None => return Ok(false),
            }
        }
        Ok(at == to)
    }

    /// Returns the place behind a record of a chain. Returns `None` if the record cannot be read
    /// any more; the next record then begins a new chain.
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
        let mut before = None;
        while at <= to {
            let record = self.read_next_record(tries, at, before)?.ok_or(Error::Corrupt)?;
            before = Some(record);
            let page = &self.pages.long()[record.content()];
            let is_sound = match at {
                // The buffer already has the state at this record.
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

    /// Replaces the journal buffer by the newest record, after it was read and verified. Returns
    /// [`Error::Unknown`] if the buffer may hold only a part of the record's state.
    pub fn restore(&mut self) -> Result<(), Error> {
        match self.space.journal_at() {
            NONE => self.journal.clear(),
            place if self.is_chain(self.space.journal_block(place)) => self.restore_chain(place)?,
            place => self.read_page(self.layout.journal_page(place)).map(drop)?,
        }
        self.journal.remove_discards();
        Ok(())
    }

    /// Reads the newest record into the journal buffer. The record is at `place`, or there is
    /// none.
    pub fn load(&mut self, place: u32) -> Result<(), Error> {
        if place == NONE {
            self.journal.clear();
            return Ok(());
        }
        self.read(NONE, place)?;
        // The discards can stay, because a mount that changes nothing does not use them.
        if !self.pages.flash().is_clean() {
            self.journal.remove_discards();
        }
        Ok(())
    }

    /// Brings the journal buffer to its state at the record at `place`, including the discards of
    /// that record. The buffer may already have its state at the record `after`.
    pub fn read(&mut self, after: u32, place: u32) -> Result<Tag, Error> {
        let is_chain = self.is_chain(self.space.journal_block(place));
        let result = if is_chain {
            self.read_chain(after, place)
        } else {
            self.read_page(self.layout.journal_page(place))
        };
        if result.is_err() {
            self.journal.clear();
        }
        result
    }

    /// Replaces the journal buffer by a journal page that was read and verified.
    fn read_page(&mut self, page: PageIndex) -> Result<Tag, Error> {
        let pages = self.layout.journal_pages();
        let mut first = None;
        for index in 0..pages {
            let mut bytes = [0; TAG_BYTES];
            let check = self.pages.read_part(page + index, index, &mut bytes)?;
            let tag = Tag::checked(&bytes, check).filter(|tag| TagKinds::JOURNAL.has(tag.kind));
            let tag = tag.filter(|tag| pages == 1 || tag.logical == index).ok_or(Error::Corrupt)?;
            first = first.or(Some(tag));
        }
        let (logical_count, logical_bytes) = (self.layout.logical_count, self.layout.logical_bytes);
        let is_sound = self.journal.replace(self.pages.long(), logical_count, logical_bytes);
        first.filter(|_| is_sound).ok_or(Error::Corrupt)
    }
}
