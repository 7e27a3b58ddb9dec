//! Searches each block for its next record, by reads of tags.

use super::super::cursor::{HORIZON, RecordCursor, RecordCursors};
use super::super::evidence::TornEvidence;
use super::Forward;
use crate::error::Error;
use crate::media::{BlockIndex, Flash, PageIndex, TAG_BYTES, Tag, TagKinds, is_blank};
use crate::space::{Head, HeadIndex, NONE, Space, State};

/// The kind of a page's content, which its tag shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TagProbe {
    Blank,
    /// The page is not blank, and its content cannot be determined.
    Unknown,
    Tag(Tag),
}

impl<F: Flash> Forward<'_, '_, F> {
    /// Makes a cursor for each block in which new records may be.
    pub(super) fn begin_cursors(
        &mut self,
        cursors: &mut RecordCursors,
        evidence: &mut TornEvidence,
    ) -> Result<(), Error> {
        let mut count = 0;
        // The root contains the next places of these heads.
        for head in self.records.space.heads().all() {
            let Head { block, next } = self.records.space.heads().get(head);
            if block != NONE && count < cursors.len() {
                let is_other = self.look(&mut cursors[count], evidence, Some(head), block, next)?;
                evidence.note(head, is_other);
                count += 1;
            }
        }
        // Since the root, a head may have programmed any listed block.
        for block in 0..self.records.space.blocks().block_count() {
            if self.records.space.blocks().state(block) == State::Listed && count < cursors.len() {
                if self.look(&mut cursors[count], evidence, None, block, 0)? {
                    // The block may begin with a lost record, which may be the first record of a
                    // power cycle.
                    evidence.note_use();
                }
                count += usize::from(cursors[count].is_some());
            }
        }
        Ok(())
    }

    /// Reads the tag of a page. Does not verify the checksum of the page.
    fn sight_of(&mut self, page: PageIndex) -> Result<TagProbe, Error> {
        let mut tag = [0; TAG_BYTES];
        // An unreadable tag does not prove that the page is blank.
        if !self.records.pages.read_tag_with_retry(page, &mut tag)? {
            return Ok(TagProbe::Unknown);
        }
        Ok(match Tag::parse(&tag) {
            Some(tag) => TagProbe::Tag(tag),
            None if is_blank(&tag) => TagProbe::Blank,
            None => TagProbe::Unknown,
        })
    }

    /// Reads the first page's tag and verifies all checksums. If a listed block is not erased yet,
    /// an earlier power cut may have torn its first page. The tag of that page may hold any value.
    fn sight_of_listed(&mut self, page: PageIndex) -> Result<TagProbe, Error> {
        Ok(match self.records.pages.record_tag(page, TagKinds::ALL)? {
            Some(tag) => TagProbe::Tag(tag),
            None if self.records.pages.is_blank(page)? => TagProbe::Blank,
            None => TagProbe::Unknown,
        })
    }

    /// Makes a cursor if a new record is at a place, or right behind it. If `head` is given, the
    /// place lies in this head's block. If not, the place is the start of a listed block, and any
    /// head may have programmed this block since the root.
    ///
    /// Returns true if the place holds something else: a torn page, or a lost record with nothing
    /// behind it.
    fn look(
        &mut self,
        cursor: &mut Option<RecordCursor>,
        evidence: &mut TornEvidence,
        head: Option<HeadIndex>,
        block: u32,
        next: u32,
    ) -> Result<bool, Error> {
        *cursor = None;
        if next >= self.records.space.capacity(head.unwrap_or(HeadIndex::USER)) {
            return Ok(false);
        }
        // Records of a chain begin at slots, not at pages.
        if head == Some(HeadIndex::JOURNAL) && self.records.is_chain(block) {
            return self.look_in_chain(cursor, block, next);
        }
        let page = self.place_page(head, block, next);
        // A listed block may begin with an old torn page, so its first page must verify.
        let sight = if head.is_some() { self.sight_of(page)? } else { self.sight_of_listed(page)? };
        match sight {
            TagProbe::Tag(tag) if self.is_new(&tag, head) => {
                *cursor = Some(self.cursor(&tag, block, next))
            }
            // The page was programmed in an earlier use of the block.
            TagProbe::Tag(_) if head.is_none() => return Ok(false),
            // A head programs the first page of a block first, so no head has used this block.
            TagProbe::Blank if head.is_none() => {}
            _ => self.look_behind(cursor, evidence, head, block, next)?,
        }
        // The journal's head may have begun a chain in the listed block.
        if head.is_none() && cursor.is_none() && self.records.is_chain(block) {
            return self.look_in_chain(cursor, block, 0);
        }
        Ok(cursor.is_none() && sight != TagProbe::Blank)
    }

    /// Makes a cursor at the first new record of a chain, starting at a place. Returns true if the
    /// place holds something else.
    ///
    /// If the found record lies behind a damaged record, its sequence number shows that something
    /// is lost. A lost page may contain the beginning of the next record.
    fn look_in_chain(
        &mut self,
        cursor: &mut Option<RecordCursor>,
        block: u32,
        next: u32,
    ) -> Result<bool, Error> {
        // The lost page may also hold the beginning of the next record, so the search covers two
        // lost records.
        let end = next + 2 * self.records.layout.journal_record_places() + 1;
        let mut from = next;
        loop {
            let (at, record) = self.records.find_chain_record(block, from..end)?;
            let Some(record) = record else { return Ok(at > next) };
            if self.is_new(&record.tag, Some(HeadIndex::JOURNAL)) {
                *cursor = Some(self.cursor(&record.tag, block, at).of_places(record.places()));
                return Ok(false);
            }
            if at == 0 {
                // An earlier use of the block wrote this chain.
                return Ok(false);
            }
            from = at + 1;
        }
    }

    fn cursor(&self, tag: &Tag, block: u32, next: u32) -> RecordCursor {
        let head = Space::head_of(self.records.layout, tag).unwrap_or(HeadIndex::USER);
        let place = block * self.records.space.capacity(head) + next;
        RecordCursor::new(tag, self.base, place)
    }

    /// Returns the first page of a place in a block.
    fn place_page(&self, head: Option<HeadIndex>, block: u32, next: u32) -> PageIndex {
        let unit = if head == Some(HeadIndex::JOURNAL) {
            1
        } else {
            u32::from(self.records.layout.config.pages_per_logical_page)
        };
        block * self.records.layout.geometry.pages_per_block + next * unit
    }

    /// Returns true if a tag belongs to a record that a head of the volume programmed after the
    /// root. If `head` is given, this head must have programmed it.
    fn is_new(&self, tag: &Tag, head: Option<HeadIndex>) -> bool {
        let of_head = Space::head_of(self.records.layout, tag).is_some_and(|found| {
            self.records.space.heads().has(found) && head.is_none_or(|head| head == found)
        });
        of_head
            && (self.base..self.base + HORIZON).contains(&tag.sequence)
            && self.records.layout.names_something(tag)
    }

    /// Looks for a record right behind a place that holds none. If the place holds a page that a
    /// power cut tore, nothing lies behind it. If a record lies behind the place, the record at the
    /// place was lost, or its program failed. The sequence numbers distinguish these cases.
    fn look_behind(
        &mut self,
        cursor: &mut Option<RecordCursor>,
        evidence: &mut TornEvidence,
        owner: Option<HeadIndex>,
        block: u32,
        next: u32,
    ) -> Result<(), Error> {
        // The head of a listed block is unknown, so both sizes of places are tried: frames and
        // journal pages.
        let heads = match owner {
            Some(head) => [Some(head), None],
            None => [
                Some(HeadIndex::USER),
                Some(HeadIndex::JOURNAL).filter(|_| !self.records.is_chain(block)),
            ],
        };
        for head in heads.into_iter().flatten() {
            if next + 1 >= self.records.space.capacity(head) {
                continue;
            }
            let page = self.place_page(Some(head), block, next + 1);
            let Some(tag) = self
                .records
                .pages
                .record_tag(page, TagKinds::ALL)?
                .filter(|tag| self.is_new(tag, owner))
            else {
                continue;
            };
            // The tag names its head. This head must use places of the size that is tried.
            if let Some(of) = Space::head_of(self.records.layout, &tag)
                && (of == HeadIndex::JOURNAL) == (head == HeadIndex::JOURNAL)
            {
                // In a block of the caller's pages the lost record may be of any kind, so it does
                // not count as a lost move.
                evidence.lose_moves(of.is_moved().into());
                *cursor = Some(self.cursor(&tag, block, next + 1));
                return Ok(());
            }
        }
        Ok(())
    }

    /// Moves a cursor to the next record of its block. Returns the head, the block and the head's
    /// next place, even if no record is there. The last value is true if the next place holds
    /// content that is not a record.
    pub(super) fn step(
        &mut self,
        cursor: &mut Option<RecordCursor>,
        evidence: &mut TornEvidence,
        tag: &Tag,
    ) -> Result<Option<(HeadIndex, BlockIndex, u32, bool)>, Error> {
        let (Some(head), Some(before)) = (Space::head_of(self.records.layout, tag), *cursor) else {
            return Ok(None);
        };
        let capacity = self.records.space.capacity(head);
        let (block, next) =
            (before.place() / capacity, before.place() % capacity + before.places());
        let mut is_other = self.look(cursor, evidence, Some(head), block, next)?;
        // Sequence numbers grow within a block.
        if cursor.is_some_and(|after| after.distance() <= before.distance()) {
            (*cursor, is_other) = (None, true);
        }
        Ok(Some((head, block, next, is_other)))
    }
}
