//! Groups: pages that are programmed in one command, and moves that wait to be as many.
//!
//! What a card charges for is the end of a stream of writes, some two milliseconds, and hardly for its bytes: a commit ends one, a read does, a change of
//! the block does. So on such devices a move is not made when it is owed. It waits until there is a group of them; then the victim's frames are read into
//! lent memory, one behind the other, and programmed in one command behind the caller's pages.
//!
//! What waits counts as moved where reclamation [plans](super::plan), so a plan is what it would be otherwise. Nothing is lost by that: a move that is not made
//! yet has not taken its frame either. The call that makes a group of `g` moves does `g − 1` more than it owes itself.
//!
//! A device may leave any of a command's pages behind when power fails. So a mount takes the records up to the first that is missing, unless a commit
//! behind it proves that it was flushed, as behind a cache that reorders; and after a group that failed a root comes before anything else.

use super::program::{Failed, LOST_CHECK, was_read};
use super::scan::TRIES;
use super::{Frame, HeadIndex, Store};
use crate::error::Error;
use crate::media::{Flash, PageIndex, TAG_BYTES, Tag};

/// Lent pages, each with its tag, and the moves that wait.
pub(super) struct Group<'m> {
    pages: &'m mut [u8],
    tags: &'m mut [u8],
    /// Moves that calls owe, and have not made.
    owed: u32,
}

impl<'m> Group<'m> {
    pub fn new(pages: &'m mut [u8], tags: &'m mut [u8]) -> Self {
        Self { pages, tags, owed: 0 }
    }

    /// Moves that wait.
    pub fn owed(&self) -> u32 {
        self.owed
    }

    /// Begins with another victim, to which nothing is owed.
    pub fn forget(&mut self) {
        self.owed = 0;
    }

    /// Adds moves, of a victim with `live` frames, to what is owed. Returns how many are made now: none before they are a group of `many`, unless they empty the victim or cannot wait.
    pub fn owe(&mut self, moves: u32, live: u32, many: u32, is_urgent: bool) -> u32 {
        self.owed += moves;
        if self.owed < many && self.owed < live && !is_urgent { 0 } else { core::mem::take(&mut self.owed) }
    }

    /// Where page `index` of the group lies.
    fn page_mut(&mut self, index: u32) -> &mut [u8] {
        let page_bytes = self.pages.len() / (self.tags.len() / TAG_BYTES);
        &mut self.pages[index as usize * page_bytes..][..page_bytes]
    }

    fn tags_mut(&mut self) -> &mut [[u8; TAG_BYTES]] {
        self.tags.as_chunks_mut().0
    }

    /// The first `count` pages, and their tags.
    fn filled(&self, count: u32) -> (&[u8], &[[u8; TAG_BYTES]]) {
        let (count, tags) = (count as usize, self.tags.as_chunks().0);
        (&self.pages[..count * (self.pages.len() / tags.len())], &tags[..count])
    }
}

impl<F: Flash> Store<'_, F> {
    /// Moves the first live frames of the victim, `most` at most, in one command; how many of them were looked at.
    pub(super) fn move_group(&mut self, most: u32) -> Result<u32, Error> {
        self.make_room(most)?;
        self.ready_head(HeadIndex::USER)?;
        let most = most.min(self.head_rest(HeadIndex::USER));
        let end = (self.pace.victim + 1) * self.layout.frames_per_block;
        let (mut next, mut looked, mut count) = (self.blocks.first_live(self.pace.victim), 0, 0);
        while let Some(frame) = next.filter(|&frame| frame < end && looked < most) {
            count += u32::from(self.read_member(frame, count)?);
            looked += 1;
            next = self.blocks.live_from(frame + 1);
        }
        if count > 0 {
            self.program_group(count)?;
        }
        Ok(looked)
    }

    /// Reads a frame as member `index` of the group, and gives it the tag of a copy; `false` where it need not move.
    fn read_member(&mut self, frame: Frame, index: u32) -> Result<bool, Error> {
        let (unit, from) = (u32::from(self.layout.config.unit_pages), self.frame_page(frame));
        let mut tag = [0; TAG_BYTES];
        let mut check = self.read_to_group(from, index * unit, &mut tag)?;
        let Some((kind, logical)) = self.moves_as(frame, check.and_then(|_| Tag::parse(&tag))) else { return Ok(false) };
        for page in 0..unit {
            let at = index * unit + page;
            if page > 0 {
                check = self.read_to_group(from + page, at, &mut tag)?;
            }
            if check.is_none() {
                self.fill_lost();
                self.group.page_mut(at).copy_from_slice(&self.page);
            }
            let tag = Tag { sequence: self.sequence + u64::from(at), logical, kind, aux: Tag::aux_of(0, frame) };
            self.group.tags_mut()[at as usize] = tag.emit(check.unwrap_or(LOST_CHECK));
        }
        Ok(true)
    }

    /// Reads a page into the group, and its tag. Returns the checksum that its copy carries; `None` where not even the tag can be read.
    fn read_to_group(&mut self, page: PageIndex, index: u32, tag: &mut [u8; TAG_BYTES]) -> Result<Option<u32>, Error> {
        for _ in 0..TRIES {
            let result = self.flash.read(page, self.group.page_mut(index), tag);
            if was_read(self.watched(page, result))? {
                return Ok(Some(Tag::carried_check(tag)));
            }
        }
        if !self.read_tag_anyhow(page, tag)? {
            return Ok(None);
        }
        self.fill_lost();
        self.group.page_mut(index).copy_from_slice(&self.page);
        Ok(Some(LOST_CHECK))
    }

    /// Programs the first `count` frames of the group, and lets the map name them.
    ///
    /// Nobody can tell which of them are there after a program that failed: a root says that none counts, before anything follows them.
    fn program_group(&mut self, count: u32) -> Result<(), Error> {
        let unit = u32::from(self.layout.config.unit_pages);
        let pages = count * unit;
        let first = self.take_places(HeadIndex::USER, count);
        self.sequence += u64::from(pages);
        self.programs_since_root += pages;
        let at = self.frame_page(first);
        let (data, tags) = self.group.filled(pages);
        if let Err(failure) = self.flash.program_many(at, data, tags) {
            let survived = self.survive_failure(HeadIndex::USER, Failed::Program(failure.into(), true), false);
            self.write_root()?;
            return survived;
        }
        let victim = self.pace.victim * self.layout.frames_per_block;
        for index in 0..count {
            if let Some(tag) = Tag::parse(&self.group.tags_mut()[(index * unit) as usize]) {
                self.blocks.set_live(first + index, true);
                self.was_moved(tag.kind, tag.logical, tag.source_from(victim), first + index);
            }
        }
        Ok(())
    }
}
