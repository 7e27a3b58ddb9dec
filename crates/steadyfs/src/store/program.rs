//! Programming frames and journal pages: heads, allocation, and retries after a failed program.

use super::Store;
use super::edit::{Edit, Piece};
use crate::commit::Transaction;
use crate::error::Error;
use crate::journal::Records;
use crate::map::Map;
use crate::media::{Flash, Kind, Kinds, PageIndex, TAG_BYTES, Tag};
use crate::pages::{LOST_CHECK, TRIES, UNSTEADY_TRIES, Wanted};
use crate::space::{Choice, FAILURE_JUMP, Frame, HeadIndex, NONE, State};

/// Where the content of a frame comes from. Every source can be read again when a program fails.
#[derive(Clone, Copy)]
pub(super) enum Source<'s> {
    /// The caller's bytes, a whole logical page of a stream.
    Whole { bytes: &'s [u8], stream: u8 },
    /// What `base` holds and the journal says, with the caller's piece laid over it.
    Merged { base: Frame, piece: Piece<'s> },
    /// What `base` holds and the journal said before the call in progress.
    Earlier { base: Frame },
    /// Each program page of logical page `of`, which `base` and the journal hold, as `edit` changes it.
    Edited { of: u32, base: Frame, edit: Edit },
    /// A copy of another frame, checksums carried along. The operation before has read the tag of its first page.
    Copy { from: Frame, loaded: &'s [u8; TAG_BYTES] },
    /// A page of the cache.
    Cached { slot: usize },
    /// The leaf with its overlay entries.
    Leaf,
}

/// Where a page lies that is ready to be programmed.
#[derive(Clone, Copy)]
enum Content {
    /// Where the source says.
    Source,
    /// In the page buffer; its checksum.
    Buffer(u32),
    /// In the chip's page register; its checksum.
    Register(u32),
}

/// Why a place that was taken does not hold what it should.
pub(super) enum Failed {
    /// A later page of the frame could not be made.
    Unmade(Error),
    /// A program failed, and whether it was the last one, with which the record may be there all the same.
    Program(Error, bool),
}

impl<'m, F: Flash> Store<'m, F> {
    /// What a page must be: one that may be unsteady is looked at until it is.
    pub(super) fn wanted(&self, kinds: Kinds, logical: u32) -> Wanted {
        Wanted { kinds, logical, tries: self.status.looks() }
    }

    /// Reads more that a call may need for that: of the one frame that was programmed last.
    pub fn unsteady_reads(&self) -> u32 {
        if self.status.is_unsteady() { UNSTEADY_TRIES * u32::from(self.layout.config.unit_pages) } else { 0 }
    }

    /// Programs the next frame of the head that `kind` belongs to.
    ///
    /// A place is taken when its first page is made and its program begins, so that an error before leaves no hole in the sequence. An
    /// error behind that uses the place up.
    ///
    /// # Power loss
    /// The frame counts as written only when its last page is.
    pub(super) fn program_frame(&mut self, kind: Kind, logical: u32, source: &Source<'_>) -> Result<Frame, Error> {
        self.note_weak();
        let head = self.head_for(logical, source);
        let mut again = false;
        loop {
            self.ready_head(head)?;
            let content = self.prepare(source, logical, 0, again)?;
            let (frame, tag) = self.take_frame(head, kind, logical, source);
            match self.program_pages(frame, tag, source, content) {
                Ok(()) => {
                    self.space.blocks_mut().set_live(frame, true);
                    return Ok(frame);
                }
                Err(error) => self.survive_failure(head, error, kind == Kind::DataCommit)?,
            }
            again = true;
        }
    }

    /// Takes the next frame of a head, and the sequences of its pages.
    fn take_frame(&mut self, head: HeadIndex, kind: Kind, logical: u32, source: &Source<'_>) -> (Frame, Tag) {
        let frame = self.space.take_places(head, 1);
        let unit = u32::from(self.layout.config.unit_pages);
        let sequence = self.space.take_sequences(unit.into());
        self.space.count_programs(unit);
        let aux = match *source {
            _ if kind == Kind::Data => (sequence - self.transaction.start_at(sequence)) as u32,
            Source::Copy { from, .. } => from,
            _ => 0,
        };
        let aux = Tag::aux_of(head.stream(), aux);
        (frame, Tag { sequence, logical, kind, aux })
    }

    /// Programs the pages of one frame; `content` is the first one's.
    fn program_pages(&mut self, frame: Frame, mut tag: Tag, source: &Source<'_>, content: Content) -> Result<(), Failed> {
        let first = self.layout.frame_page(frame);
        let last = u32::from(self.layout.config.unit_pages) - 1;
        let mut content = content;
        for index in 0..=last {
            if index > 0 {
                content = self.prepare(source, tag.logical, index, true).map_err(Failed::Unmade)?;
            }
            self.program_content(first + index, &tag, source, index, content)
                .map_err(|error| Failed::Program(error, index == last))?;
            tag.sequence += 1;
        }
        Ok(())
    }

    /// Makes page `index` of a frame ready to be programmed, perhaps again.
    fn prepare(&mut self, source: &Source<'_>, logical: u32, index: u32, again: bool) -> Result<Content, Error> {
        match *source {
            Source::Whole { .. } | Source::Cached { .. } => return Ok(Content::Source),
            Source::Copy { from, loaded } => {
                let loaded = if again || index > 0 { None } else { Some(loaded) };
                return self.load_copy(self.layout.frame_page(from) + index, loaded);
            }
            Source::Merged { base, piece } => self.compose_page(logical, base, index, piece.offset, piece.bytes)?,
            Source::Earlier { base } => {
                if !self.load_base_anyhow(logical, base, index)? {
                    return Ok(self.lost_content());
                }
                self.journal.apply_earlier(logical, index * self.layout.geometry.page_bytes, self.pages.bytes_mut());
            }
            Source::Edited { edit: Edit::Lost, .. } => return Ok(self.lost_content()),
            Source::Edited { of, base, edit: Edit::Salvage { fill, until } } => {
                if !self.load_base_anyhow(of, base, index)? {
                    self.pages.bytes_mut().fill(fill);
                    Edit::Cut { keep: until }.apply(index, self.pages.bytes_mut());
                }
                self.journal.apply(of, index * self.layout.geometry.page_bytes, self.pages.bytes_mut());
            }
            Source::Edited { of, base, edit } => {
                self.compose_page(of, base, index, 0, &[])?;
                edit.apply(index, self.pages.bytes_mut());
            }
            Source::Leaf => self.compose_leaf_page(logical, index)?,
        }
        Ok(Content::Buffer(self.pages.check()))
    }

    /// Makes a copy of a page ready. Damage stays recognisable: the checksum of the data is carried over, not computed.
    fn load_copy(&mut self, from: PageIndex, loaded: Option<&[u8; TAG_BYTES]>) -> Result<Content, Error> {
        let mut old = *loaded.unwrap_or(&[0; TAG_BYTES]);
        if self.pages.flash().can_copy() && (loaded.is_some() || self.pages.read_tag_anyhow(from, &mut old)?) {
            return Ok(Content::Register(Tag::carried_check(&old)));
        }
        for _ in 0..TRIES {
            if self.pages.read_page(from, &mut old)? {
                return Ok(Content::Buffer(Tag::carried_check(&old)));
            }
        }
        Ok(self.lost_content())
    }

    /// The content of a page whose data is lost: it says so by its checksum.
    fn lost_content(&mut self) -> Content {
        self.pages.fill_lost();
        Content::Buffer(LOST_CHECK)
    }

    /// Makes a page in the page buffer that leaves the journal, without its patches, in several tries; `false` when it can be read no more, or nobody knows
    /// where it is. Its
    /// patches must not take the journal's room for ever.
    fn load_base_anyhow(&mut self, logical: u32, base: Frame, index: u32) -> Result<bool, Error> {
        if base == NONE {
            return Ok(false);
        }
        for _ in 0..TRIES {
            match self.load_base(logical, base, index) {
                Err(Error::Corrupt) => {}
                result => return result.map(|()| true),
            }
        }
        Ok(false)
    }

    /// Programs a page that was made ready.
    fn program_content(
        &mut self,
        page: PageIndex,
        tag: &Tag,
        source: &Source<'_>,
        index: u32,
        content: Content,
    ) -> Result<(), Error> {
        match content {
            Content::Register(check) => return self.pages.program_loaded(page, check, tag),
            Content::Buffer(check) => return self.pages.program_made(page, check, tag),
            Content::Source => {}
        }
        let page_bytes = self.layout.geometry.page_bytes as usize;
        let here = index as usize * page_bytes..(index as usize + 1) * page_bytes;
        let data = match *source {
            Source::Whole { bytes, .. } => &bytes[here],
            Source::Cached { slot } => &self.cache.page(slot)[here],
            _ => return self.pages.program_buffer(page, tag),
        };
        self.pages.program(page, data, 0, None, tag)
    }

    /// Programs the journal buffer, which commits the open transaction.
    ///
    /// # Power loss
    /// The transaction is committed only when the page is complete; the journal page before it stays where it is.
    pub(super) fn program_journal(&mut self) -> Result<(), Error> {
        loop {
            let joins = self.layout.commits_join() && self.transaction.len() > 0;
            let head = if joins { HeadIndex::USER } else { HeadIndex::JOURNAL };
            let places = if joins { self.ready_head(head).map(|()| 1) } else { self.ready_journal() }?;
            let place = self.space.take_places(head, places);
            self.call.frames += u32::from(joins);
            let sequence = self.space.take_sequences(1);
            // A long record takes the room of two.
            self.space.count_programs((places * self.layout.journal_pages()).div_ceil(self.layout.journal_record_places()));
            let start = self.transaction.start().min(sequence);
            debug_assert_eq!(self.transaction.owed_pages(), 0);
            let kind = if self.journal.discard_count() > 0 { Kind::JournalDiscard } else { Kind::Journal };
            let tag = Tag {
                sequence,
                logical: self.transaction.len(),
                kind,
                aux: Tag::aux_of(joins.into(), (sequence - start) as u32),
            };
            match self.records().program(place, &tag) {
                Ok(()) => {
                    self.space.move_journal(place);
                    return Ok(());
                }
                Err(error) => self.survive_failure(head, Failed::Program(error, true), true)?,
            }
        }
    }

    /// The journal buffer, and its records on the medium. Not inlined: a call is shorter.
    #[inline(never)]
    pub(super) fn records(&mut self) -> Records<'_, 'm, F> {
        self.forward_parts().0
    }

    /// The same, and the other rooms that records change.
    pub(super) fn forward_parts(&mut self) -> (Records<'_, 'm, F>, &mut Map<'m>, &mut Transaction<'m>) {
        let records = Records {
            layout: &self.layout,
            pages: &mut self.pages,
            space: &mut self.space,
            ring: &self.ring,
            journal: &mut self.journal,
        };
        (records, &mut self.map, &mut self.transaction)
    }

    /// Makes sure that the journal's head has room for the next record, and tells its slots.
    pub(super) fn ready_journal(&mut self) -> Result<u32, Error> {
        if !self.layout.programs_bytes() {
            return self.ready_head(HeadIndex::JOURNAL).map(|()| 1);
        }
        if self.space.rest(HeadIndex::JOURNAL) < self.space.capacity(HeadIndex::JOURNAL) {
            let delta = self.records().next_places(true);
            if self.space.rest(HeadIndex::JOURNAL) >= delta {
                return Ok(delta);
            }
            self.space.close(HeadIndex::JOURNAL);
        }
        self.ready_head(HeadIndex::JOURNAL)?;
        Ok(self.records().next_places(false))
    }

    /// After a place was taken and not programmed as it should be: uses it up, and lets the caller try elsewhere, as often as the settings say.
    ///
    /// A block that failed goes out of use. One whose device did not answer is left as well: its place may be blank, and what lies behind a
    /// blank place would be taken for nothing by a mount, or for a loss. A commit is repeated after whatever failure, because it may be there.
    pub(super) fn survive_failure(&mut self, head: HeadIndex, failed: Failed, commits: bool) -> Result<(), Error> {
        self.space.take_sequences(FAILURE_JUMP);
        let (error, may_be_there) = match failed {
            Failed::Unmade(error) => {
                // A mount takes a record with another one behind it for whole.
                self.give_up_block(head);
                return Err(error);
            }
            Failed::Program(error, is_last) => (self.refused(error), is_last && error != Error::ReadOnly),
        };
        self.call.in_doubt |= commits && may_be_there;
        if error == Error::MediaFailing {
            self.space.retire_head(head);
        } else {
            self.give_up_block(head);
        }
        self.call.failures = self.call.failures.saturating_add(1);
        let (failures, most) = (u32::from(self.call.failures), u32::from(self.layout.config.failures));
        let repeats = if commits {
            error != Error::ReadOnly && failures <= most + 1
        } else {
            error == Error::MediaFailing && failures <= most
        };
        if repeats { Ok(()) } else { Err(error) }
    }

    /// After a record that commits nothing could not be programmed: leaves the journal's block.
    pub(super) fn lose_record(&mut self, error: Error) -> Result<(), Error> {
        // Nobody waits for it.
        let _ = self.survive_failure(HeadIndex::JOURNAL, Failed::Program(error, true), false);
        if self.status.is_read_only() { Err(Error::ReadOnly) } else { Ok(()) }
    }

    /// Makes sure that a head has room, so that taking its next place touches no flash.
    pub(super) fn ready_head(&mut self, head: HeadIndex) -> Result<(), Error> {
        if self.space.rest(head) == 0 {
            self.space.close(head);
            self.space.close_full_streams();
            // Data that moves is data that rests: it goes to the blocks that have had most.
            self.open_head(head, head.is_moved())?;
        }
        Ok(())
    }

    /// Gives a head a block: the least worn that is erased, or the most worn. Reclamation keeps a stock of them; should it be empty, this erases one.
    pub(super) fn open_head(&mut self, head: HeadIndex, worn: bool) -> Result<(), Error> {
        if self.space.blocks().count(State::Erased) == 0 {
            if self.space.blocks().count(State::Listed) == 0 {
                self.write_root()?;
            }
            self.erase_listed()?;
        }
        if self.space.open_head(head, worn) { Ok(()) } else { Err(Error::NoSpace) }
    }

    /// Erases listed blocks until one is erased.
    pub(super) fn erase_listed(&mut self) -> Result<(), Error> {
        while let Some(block) = self.space.blocks().choose(State::Listed, Choice::LeastWorn) {
            if self.erase(block)? {
                self.space.blocks_mut().set_state(block, State::Erased);
                break;
            }
        }
        Ok(())
    }
}
