//! Programming frames and journal pages: heads, allocation, and retries after a failed program.

use super::blocks::{Choice, State};
use super::edit::Edit;
use super::scan::{TRIES, UNSTEADY_TRIES};
use super::{Frame, Head, HeadIndex, IDLE, NONE, Store};
use crate::error::Error;
use crate::media::{BlockIndex, Failure, Flash, Kind, Kinds, PageIndex, TAG_BYTES, Tag};

/// Distance by which the sequence jumps after a place that was used up. A smaller gap is a record that was lost.
pub(super) const FAILURE_JUMP: u64 = 64;

/// The checksum of a page whose data is lost.
pub(super) const LOST_CHECK: u32 = 0x7473_6F6C;

/// Where the content of a frame comes from. Every source can be read again when a program fails.
#[derive(Clone, Copy)]
pub(super) enum Source<'s> {
    /// The caller's bytes, a whole logical page.
    Whole(&'s [u8]),
    /// What `base` holds and the journal says, with the caller's bytes laid over it at an offset.
    Merged { base: Frame, offset: u32, bytes: &'s [u8] },
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

impl<F: Flash> Store<'_, F> {
    /// Reads a page into the page buffer and checks it.
    pub(super) fn load(&mut self, page: PageIndex, kinds: Kinds, logical: u32) -> Result<(), Error> {
        self.load_as(page, kinds, logical, true)
    }

    /// Reads a page into the page buffer; its checksum is looked at where it `is_checked`.
    pub(super) fn load_as(&mut self, page: PageIndex, kinds: Kinds, logical: u32, is_checked: bool) -> Result<(), Error> {
        if self.cached == page && (self.cached_is_checked || !is_checked) {
            return Ok(());
        }
        let is_sound = if is_checked {
            self.read_sound(page, kinds, logical)?
        } else {
            let mut tag = [0; TAG_BYTES];
            self.read_page(page, &mut tag)? && check_page(None, &tag, kinds, logical).is_ok()
        };
        if !is_sound {
            return Err(Error::Corrupt);
        }
        (self.cached, self.cached_is_checked) = (page, is_checked);
        Ok(())
    }

    /// Reads a page into the page buffer and tells whether it is what it should be. What a power cut left unsteady, and no mount has settled
    /// yet, is read until it is.
    pub(super) fn read_sound(&mut self, page: PageIndex, kinds: Kinds, logical: u32) -> Result<bool, Error> {
        let tries = if self.may_be_unsteady() { UNSTEADY_TRIES } else { 1 };
        for _ in 0..tries {
            let mut tag = [0; TAG_BYTES];
            if self.read_page(page, &mut tag)? && check_page(Some(self.page_check(kind_of(&tag))), &tag, kinds, logical).is_ok() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a page may read differently each time: nothing was settled since a power cut, and nothing can be.
    pub(super) fn may_be_unsteady(&self) -> bool {
        self.read_only && !self.is_settled
    }

    /// Reads more that a call may need for that: of the one frame that was programmed last.
    pub fn unsteady_reads(&self) -> u32 {
        if self.may_be_unsteady() { UNSTEADY_TRIES * u32::from(self.layout.config.unit_pages) } else { 0 }
    }

    /// Reads a page into the page buffer; `false` when it cannot be read.
    pub(super) fn read_page(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<bool, Error> {
        self.cached = NONE;
        let result = self.flash.read(page, &mut self.page, tag);
        was_read(self.watched(page, result))
    }

    /// Reads a tag; `false` when it cannot be read.
    pub(super) fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<bool, Error> {
        let result = self.flash.read_tag(page, tag);
        was_read(self.watched(page, result))
    }

    /// Programs the next frame of the head that `kind` belongs to.
    ///
    /// A place is taken when its first page is made and its program begins, so that an error before leaves no hole in the sequence. An
    /// error behind that uses the place up.
    ///
    /// # Power loss
    /// The frame counts as written only when its last page is.
    pub(super) fn program_frame(&mut self, kind: Kind, logical: u32, source: &Source<'_>) -> Result<Frame, Error> {
        let head = self.head_for(logical, source);
        let mut again = false;
        loop {
            self.ready_head(head)?;
            let content = self.prepare(source, logical, 0, again)?;
            let (frame, tag) = self.take_frame(head, kind, logical, source);
            match self.program_pages(frame, tag, source, content) {
                Ok(()) => {
                    self.blocks.set_live(frame, true);
                    return Ok(frame);
                }
                Err(error) => self.survive_failure(head, error, kind == Kind::DataCommit)?,
            }
            again = true;
        }
    }

    /// Takes the next frame of a head, and the sequences of its pages.
    fn take_frame(&mut self, head: HeadIndex, kind: Kind, logical: u32, source: &Source<'_>) -> (Frame, Tag) {
        let frame = self.take_places(head, 1);
        let (sequence, unit) = (self.sequence, u32::from(self.layout.config.unit_pages));
        self.sequence += u64::from(unit);
        self.programs_since_root += unit;
        if kind == Kind::Data && self.transaction_start == IDLE {
            self.transaction_start = sequence;
        }
        let aux = match *source {
            _ if kind == Kind::Data => (sequence - self.transaction_start) as u32,
            Source::Copy { from, .. } => from,
            _ => 0,
        };
        let aux = Tag::aux_of(head.stream(), aux);
        (frame, Tag { sequence, logical, kind, aux })
    }

    /// Programs the pages of one frame; `content` is the first one's.
    fn program_pages(&mut self, frame: Frame, mut tag: Tag, source: &Source<'_>, content: Content) -> Result<(), Failed> {
        let first = self.frame_page(frame);
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
            Source::Whole(_) | Source::Cached { .. } => return Ok(Content::Source),
            Source::Copy { from, loaded } => {
                let loaded = if again || index > 0 { None } else { Some(loaded) };
                return self.load_copy(self.frame_page(from) + index, loaded);
            }
            Source::Merged { base, offset, bytes } => self.compose_page(logical, base, index, offset, bytes)?,
            Source::Earlier { base } => {
                if !self.load_base_anyhow(logical, base, index)? {
                    return Ok(self.lost_content());
                }
                self.journal.apply_earlier(logical, index * self.layout.geometry.page_bytes, &mut self.page);
            }
            Source::Edited { edit: Edit::Lost, .. } => return Ok(self.lost_content()),
            Source::Edited { of, base, edit: Edit::Salvage { fill, until } } => {
                if !self.load_base_anyhow(of, base, index)? {
                    self.cached = NONE;
                    self.page.fill(fill);
                    Edit::Cut { keep: until }.apply(index, &mut self.page);
                }
                self.journal.apply(of, index * self.layout.geometry.page_bytes, &mut self.page);
            }
            Source::Edited { of, base, edit } => {
                self.compose_page(of, base, index, 0, &[])?;
                edit.apply(index, &mut self.page);
            }
            Source::Leaf => self.compose_leaf_page(logical, index)?,
        }
        Ok(Content::Buffer(self.flash.checksum(&self.page, 0)))
    }

    /// Makes a copy of a page ready. Damage stays recognisable: the checksum of the data is carried over, not computed.
    fn load_copy(&mut self, from: PageIndex, loaded: Option<&[u8; TAG_BYTES]>) -> Result<Content, Error> {
        let mut old = *loaded.unwrap_or(&[0; TAG_BYTES]);
        if self.flash.can_copy() && (loaded.is_some() || self.read_tag_anyhow(from, &mut old)?) {
            return Ok(Content::Register(Tag::carried_check(&old)));
        }
        for _ in 0..TRIES {
            if self.read_page(from, &mut old)? {
                return Ok(Content::Buffer(Tag::carried_check(&old)));
            }
        }
        Ok(self.lost_content())
    }

    /// The content of a page whose data is lost: it says so by its checksum.
    fn lost_content(&mut self) -> Content {
        self.fill_lost();
        Content::Buffer(LOST_CHECK)
    }

    /// Makes a page in the page buffer whose checksum is not that of a lost one.
    pub(super) fn fill_lost(&mut self) {
        self.cached = NONE;
        // No checksum is that of both.
        for byte in [0, 1] {
            self.page.fill(byte);
            if self.flash.checksum(&self.page, 0) != LOST_CHECK {
                break;
            }
        }
    }

    /// Programs a page whose data is lost.
    pub(super) fn program_lost(&mut self, page: PageIndex, tag: &Tag) -> Result<(), Error> {
        self.fill_lost();
        program(&mut self.flash, page, &self.page, 0, Some(LOST_CHECK), tag)
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

    /// Reads a tag, several times if it cannot be read; `false` when it never can.
    pub(super) fn read_tag_anyhow(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<bool, Error> {
        for _ in 0..TRIES {
            if self.read_tag(page, tag)? {
                return Ok(true);
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
        let check = match content {
            Content::Register(check) => return Ok(self.flash.program_loaded(page, &tag.emit(check))?),
            Content::Buffer(check) => Some(check),
            Content::Source => None,
        };
        let page_bytes = self.layout.geometry.page_bytes as usize;
        let here = index as usize * page_bytes..(index as usize + 1) * page_bytes;
        let data = match *source {
            Source::Whole(bytes) => &bytes[here],
            Source::Cached { slot } => &self.cache.page(slot)[here],
            _ => {
                self.cached = NONE;
                &*self.page
            }
        };
        program(&mut self.flash, page, data, 0, check, tag)
    }

    /// Programs the page buffer.
    pub(super) fn program_buffer(&mut self, page: PageIndex, tag: &Tag) -> Result<(), Error> {
        self.cached = NONE;
        let check = self.page_check(Some(tag.kind));
        program(&mut self.flash, page, &self.page, 0, Some(check), tag)
    }

    /// Programs the journal buffer, which commits the open transaction.
    ///
    /// # Power loss
    /// The transaction is committed only when the page is complete; the journal page before it stays where it is.
    pub(super) fn program_journal(&mut self) -> Result<(), Error> {
        loop {
            let joins = self.layout.commits_join() && self.pending.len() > 0;
            let head = if joins { HeadIndex::USER } else { HeadIndex::JOURNAL };
            let places = if joins { self.ready_head(head).map(|()| 1) } else { self.ready_journal() }?;
            let place = self.take_places(head, places);
            self.call.frames += u32::from(joins);
            let sequence = self.sequence;
            self.sequence += 1;
            // A long record takes the room of two.
            self.programs_since_root += (places * self.layout.journal_pages()).div_ceil(self.layout.journal_record_places());
            let start = if self.transaction_start == IDLE { sequence } else { self.transaction_start };
            debug_assert_eq!(self.owed_pages(), 0);
            let kind = if self.journal.discard_count() > 0 { Kind::JournalDiscard } else { Kind::Journal };
            let tag =
                Tag { sequence, logical: self.pending.len(), kind, aux: Tag::aux_of(joins.into(), (sequence - start) as u32) };
            let is_chain = self.layout.programs_bytes();
            match if is_chain { self.program_chain_record(place, &tag) } else { self.program_journal_page(place, &tag) } {
                Ok(()) => {
                    self.move_journal(place);
                    return Ok(());
                }
                Err(error) => self.survive_failure(head, Failed::Program(error, true), true)?,
            }
        }
    }

    /// Programs what the journal buffer will be when the call in progress has succeeded; it stays as it is.
    ///
    /// A longer buffer takes several pages, each with its number as logical page; only the ring has such ones.
    pub(super) fn program_journal_page(&mut self, page: PageIndex, tag: &Tag) -> Result<(), Error> {
        self.cached = NONE;
        let (page_bytes, pages) = (self.layout.geometry.page_bytes as usize, self.layout.journal_pages());
        let settled = self.journal.settled_in(self.page.whole());
        let data = settled.page();
        for index in 0..pages {
            let at = index as usize * page_bytes;
            let here = &data[at.min(data.len())..(at + page_bytes).min(data.len())];
            let tag = Tag { logical: tag.logical + index, ..*tag };
            program(&mut self.flash, page + index, here, page_bytes - here.len(), None, &tag)?;
        }
        Ok(())
    }

    /// Notes the place of the newest journal record; the block of the one before may have become empty.
    pub(super) fn move_journal(&mut self, place: u32) {
        let before = core::mem::replace(&mut self.journal_at, place);
        if before != NONE {
            self.settle_empty(before / self.head_capacity(HeadIndex::JOURNAL));
        }
    }

    /// After a place was taken and not programmed as it should be: uses it up, and lets the caller try elsewhere, as often as the settings say.
    ///
    /// A block that failed goes out of use. One whose device did not answer is left as well: its place may be blank, and what lies behind a
    /// blank place would be taken for nothing by a mount, or for a loss. A commit is repeated after whatever failure, because it may be there.
    pub(super) fn survive_failure(&mut self, head: HeadIndex, failed: Failed, commits: bool) -> Result<(), Error> {
        self.sequence += FAILURE_JUMP;
        let (error, may_be_there) = match failed {
            Failed::Unmade(error) => {
                // A mount takes a record with another one behind it for whole.
                self.give_up_block(head);
                return Err(error);
            }
            Failed::Program(error, is_last) => (self.refused(error), is_last && error != Error::ReadOnly),
        };
        self.call.perhaps |= commits && may_be_there;
        if error == Error::MediaFailing {
            let block = self.heads.replace(head, Head::IDLE).block;
            self.blocks.set_state(block, State::Retiring);
            self.settle_empty(block);
        } else {
            self.give_up_block(head);
        }
        self.call.failures += 1;
        let most = u32::from(self.layout.config.failures);
        let repeats = if commits {
            error != Error::ReadOnly && self.call.failures <= most + 1
        } else {
            error == Error::MediaFailing && self.call.failures <= most
        };
        if repeats { Ok(()) } else { Err(error) }
    }

    /// After a record that commits nothing could not be programmed: leaves the journal's block.
    pub(super) fn lose_record(&mut self, error: Error) -> Result<(), Error> {
        // Nobody waits for it.
        let _ = self.survive_failure(HeadIndex::JOURNAL, Failed::Program(error, true), false);
        if self.read_only { Err(Error::ReadOnly) } else { Ok(()) }
    }

    /// Makes sure that a head has room, so that taking its next place touches no flash.
    pub(super) fn ready_head(&mut self, head: HeadIndex) -> Result<(), Error> {
        if self.head_rest(head) == 0 {
            self.close(head);
            self.close_full_streams();
            // Data that moves is data that rests: it goes to the blocks that have had most.
            self.open_head(head, head.is_moved())?;
        }
        Ok(())
    }

    /// Gives a head a block: the least worn that is erased, or the most worn.
    pub(super) fn open_head(&mut self, head: HeadIndex, worn: bool) -> Result<(), Error> {
        let block = self.take_block(worn)?;
        self.heads.replace(head, Head { block, next: 0 });
        Ok(())
    }

    /// Takes the next frame (or places for a journal record) of a head that has [room](Self::ready_head).
    pub(super) fn take_places(&mut self, head: HeadIndex, places: u32) -> u32 {
        let capacity = self.head_capacity(head);
        let Head { block, next } = self.heads.get(head);
        self.heads.replace(head, Head { block, next: next + places });
        block * capacity + next
    }

    /// Frames (or places of journal records) in a block.
    pub(super) fn head_capacity(&self, head: HeadIndex) -> u32 {
        match head {
            HeadIndex::JOURNAL => self.layout.journal_places(),
            _ => self.layout.frames_per_block,
        }
    }

    /// Gives the block of a head up.
    pub(super) fn close(&mut self, head: HeadIndex) {
        let block = self.heads.replace(head, Head::IDLE).block;
        if block != NONE {
            self.blocks.set_state(block, State::Used);
            self.settle_empty(block);
        }
    }

    /// Takes an erased block. Reclamation keeps a stock of them; should it be empty, this erases one.
    fn take_block(&mut self, worn: bool) -> Result<BlockIndex, Error> {
        if self.blocks.count(State::Erased) == 0 {
            if self.blocks.count(State::Listed) == 0 {
                self.write_root()?;
            }
            self.erase_listed()?;
        }
        let block = self.blocks.choose(State::Erased, if worn { Choice::MostWorn } else { Choice::LeastWorn });
        let block = block.ok_or(Error::NoSpace)?;
        self.blocks.set_state(block, State::Active);
        Ok(block)
    }

    /// Erases listed blocks until one is erased.
    pub(super) fn erase_listed(&mut self) -> Result<(), Error> {
        while let Some(block) = self.blocks.choose(State::Listed, Choice::LeastWorn) {
            if self.erase(block)? {
                self.blocks.set_state(block, State::Erased);
                break;
            }
        }
        Ok(())
    }
}

/// Programs a page, of which `missing` bytes stay erased, under a tag that carries its checksum; computed unless it is known.
fn program<F: Flash>(
    flash: &mut F,
    page: PageIndex,
    data: &[u8],
    missing: usize,
    check: Option<u32>,
    tag: &Tag,
) -> Result<(), Error> {
    let check = check.unwrap_or_else(|| flash.checksum(data, missing));
    Ok(flash.program(page, data, &tag.emit(check))?)
}

/// What a tag says that its page is, checked or not.
pub(super) fn kind_of(tag: &[u8; TAG_BYTES]) -> Option<Kind> {
    Tag::parse(tag).map(|tag| tag.kind)
}

/// Whether a read brought anything. Only a device that does not answer is an error.
pub(super) fn was_read(result: Result<(), Failure>) -> Result<bool, Error> {
    match result {
        Ok(()) => Ok(true),
        Err(Failure::Device) => Err(Error::Device),
        Err(_) => Ok(false),
    }
}

/// Checks a page that was read: the checksum of its data, if that is known, what it is, and of which logical page.
pub(super) fn check_page(data_check: Option<u32>, tag: &[u8; TAG_BYTES], kinds: Kinds, logical: u32) -> Result<(), Error> {
    let found = match data_check {
        Some(check) => Tag::checked(tag, check),
        None => Tag::parse(tag).filter(|_| Tag::carried_check(tag) != LOST_CHECK),
    };
    match found {
        Some(tag) if kinds.has(tag.kind) && tag.logical == logical => Ok(()),
        _ => Err(Error::Corrupt),
    }
}
