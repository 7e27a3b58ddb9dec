//! The ring of roots.
//!
//! A *root* is all that a mount begins with. It is written whole, and then again (its *copies*), before anything that an older root needs
//! is destroyed:
//!
//! ```text
//! a ring block of a mount:      | root | frames and journal page that a cut may have touched | copies | root | copies | …
//! any other ring block:         | root | copies | root | copies | …
//! ```
//!
//! The copies are the root's *seals*: each of their pages proves that the root was complete when it was begun. So a root *counts* when a
//! page of a copy can be read, and is *certain* when another page lies behind that one. What can be read may be metastable, what is
//! certain is not: that is why a root that was cut, and reads as whole today and as damaged tomorrow, does no harm. A root that lost a page
//! is read from its copy. Where a block is too small for copies, the seals are the first two pages of one.
//!
//! The ring's blocks are chosen by `format` and named in the superblocks for good. A root's number, modulo their number, is its place in
//! the ring. One that has gone bad is left out; every root says which.

use super::Store;
use crate::commit::IDLE;
use crate::config::{Layout, RING_MIN};
use crate::error::Error;
use crate::format::root::{BYTES, Header};
use crate::format::superblock::Superblock;
use crate::media::{BlockIndex, Flash, Kind, PageIndex, TAG_BYTES, Tag};
use crate::pages::was_read;
use crate::space::{Head, HeadIndex, NONE, Space, State};
use core::num::NonZeroU32;

/// Sequences that a root may say: a tag has 36 bits, and what a mount and its session add must fit as well.
pub(super) const SEQUENCE_MAX: u64 = (1 << 36) - (1 << 24);
/// The heads that every volume has, whose places are in the header of a root.
const HEADER_HEADS: [HeadIndex; 3] = [HeadIndex::USER, HeadIndex::MOVED, HeadIndex::JOURNAL];
/// Numbers of roots are below this.
pub(super) const NUMBER_MAX: u32 = 1 << 31;

/// Where roots are, and where the next one goes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ring {
    /// The blocks of the ring: bit 0 is block 1.
    pub blocks: u64,
    /// Block of the second superblock.
    pub superblock_copy: BlockIndex,
    /// No number is larger than this: of a root that is complete, that was seen, or that was begun.
    pub number: u32,
    /// Place in the ring of the newest complete root.
    pub complete: u32,
    /// Number of the newest root that counts, which the next root names. While a mount looks for the root to begin with: what that one names.
    pub follows: u32,
    /// Place in the ring of the next root, and its page in that block.
    pub place: u32,
    pub next: u32,
    /// The place whose block is erased and comes next.
    pub prepared: Option<u8>,
    /// After a mount, until its own root is complete: a bit for each place that may not be erased.
    pub kept: u32,
    /// After a mount: a bit for each place where no root can be read, and something is.
    pub unknown: u32,
    /// Number of the root that a mount begins with, if it is not certain.
    pub uncertain: Option<NonZeroU32>,
    /// The newest root ends the use of the volume, and nothing was changed since.
    pub closed: bool,
    /// The page behind the newest root, where the volume is closed and a mark says that it was opened; [`NONE`] where none can be.
    pub mark: PageIndex,
    /// Blocks were freed or listed, and no root says so yet.
    pub owes_root: bool,
}

impl Ring {
    /// The block at a place of the ring.
    #[inline(never)]
    pub fn block(&self, place: u32) -> BlockIndex {
        let mut bits = self.blocks;
        for _ in 0..place {
            bits &= bits.wrapping_sub(1);
        }
        bits.trailing_zeros() + 1
    }

    /// The block of the next root.
    pub fn current(&self) -> BlockIndex {
        self.block(self.place)
    }

    /// Whether a block is one of the ring.
    pub fn has(&self, block: BlockIndex) -> bool {
        (1..=64).contains(&block) && self.blocks >> (block - 1) & 1 != 0
    }

    /// Whether superblocks name a block: one of theirs, or of the ring.
    pub fn owns(&self, block: BlockIndex) -> bool {
        block == 0 || block == self.superblock_copy || self.has(block)
    }

    /// Blocks of the ring, in the order of their places.
    pub fn all(&self) -> impl Iterator<Item = BlockIndex> + use<> {
        let bits = self.blocks;
        (1..=64).filter(move |block| bits >> (block - 1) & 1 != 0)
    }

    /// Roots that the current block still takes.
    pub fn roots_left(&self, layout: &Layout) -> u32 {
        layout.geometry.pages_per_block.saturating_sub(self.next) / layout.root_programs
    }

    /// Whether the last of `parts` parts of the current block is begun.
    pub fn is_used(&self, layout: &Layout, parts: u32) -> bool {
        let pages = layout.geometry.pages_per_block;
        self.roots_left(layout) == 0 || self.next + pages / parts > pages
    }

    /// Whether the block that comes next is not erased yet.
    pub fn needs_block(&self) -> bool {
        self.prepared.is_none()
    }

    /// Whether nobody needs what is in the block at a place.
    fn rests(&self, place: u32, space: &Space<'_>) -> bool {
        let block = self.block(place);
        place != self.place
            && place != self.complete
            && self.kept >> place & 1 == 0
            && space.blocks().state(block) == State::Reserved
            && space.blocks().live(block) == 0
            && !space.holds_journal(block)
    }

    /// Erases that the first change after a mount may need.
    pub fn opening_erases(&self) -> u32 {
        if self.closed { 1 + self.unknown.count_ones() } else { 0 }
    }

    /// Whether so few good blocks are left that the volume is to be read only.
    pub fn is_worn_out(&self, space: &Space<'_>, layout: &Layout) -> bool {
        let good = self.all().filter(|&block| space.blocks().state(block) != State::Bad).count();
        (good as u32) < RING_MIN.min(layout.ring_count) - 1
    }

    /// The number of the next root: the smallest one beyond all others that belongs to its place.
    pub fn take_number(&mut self, layout: &Layout) -> u32 {
        let (count, least) = (layout.ring_count, self.number + 1);
        self.number = least + (self.place + count - least % count) % count;
        self.number
    }
}

impl<F: Flash> Store<'_, F> {
    /// Erases the ring block that comes next, ahead of time.
    pub(super) fn prepare_ring_block(&mut self) -> Result<(), Error> {
        let count = self.layout.ring_count;
        for step in 1..count {
            let place = (self.ring.place + step) % count;
            if self.ring.rests(place, &self.space) && self.erase(self.ring.block(place))? {
                self.ring.prepared = Some(place as u8);
                return Ok(());
            }
        }
        Err(Error::MediaFailing)
    }

    /// Erases the ring blocks of which nobody can tell what they hold: the root of a mount that was cut there may be readable tomorrow, and
    /// have a larger number than the newest one.
    pub(super) fn erase_unknown(&mut self) -> Result<(), Error> {
        if self.ring.unknown == 0 {
            return Ok(());
        }
        for place in 0..self.layout.ring_count {
            let bit = 1 << place;
            if self.ring.unknown & bit != 0 && self.ring.rests(place, &self.space) && self.erase(self.ring.block(place))? {
                self.ring.prepared = Some(place as u8);
            }
            self.ring.unknown &= !bit;
        }
        self.pages.keep_order()
    }

    /// Goes on to the next ring block.
    pub(super) fn advance_ring(&mut self) -> Result<(), Error> {
        if self.ring.needs_block() {
            self.prepare_ring_block()?;
        }
        if let Some(place) = self.ring.prepared.take() {
            (self.ring.place, self.ring.next) = (place.into(), 0);
        }
        Ok(())
    }

    /// Writes a root with its copies.
    ///
    /// # Cost
    /// `root_programs` programs; one erase when the next ring block was not prepared; the mark of a block in which a program failed.
    ///
    /// # Power loss
    /// The root before stays the newest until a page of the copies can be read.
    pub(super) fn write_root(&mut self) -> Result<(), Error> {
        // What the newest root needs must not be destroyed on the word of one that is not there.
        let result = self.try_to_write_root();
        if result.is_err() && self.ring.owes_root {
            self.status.lock();
        }
        result?;
        self.mark_retired();
        Ok(())
    }

    fn try_to_write_root(&mut self) -> Result<(), Error> {
        for _ in 0..self.layout.ring_count {
            if self.ring.roots_left(&self.layout) == 0 {
                self.advance_ring()?;
            }
            if self.write_root_here()? {
                return Ok(());
            }
        }
        Err(Error::MediaFailing)
    }

    /// Writes a root and its copies at the next page of the ring. `false` when the block has gone bad.
    pub(super) fn write_root_here(&mut self) -> Result<bool, Error> {
        self.free_and_list();
        let number = self.ring.take_number(&self.layout);
        let result = self.program_root(number).and_then(|()| self.program_seals(number));
        self.root_was_written(result)
    }

    /// Frees what is dead, and lists the blocks that may be allocated until the next root.
    pub(super) fn free_and_list(&mut self) {
        self.ring.owes_root = true;
        self.space.free_and_list(self.layout.listed_blocks);
    }

    /// What follows from the programs of a root and its copies.
    pub(super) fn root_was_written(&mut self, result: Result<(), Error>) -> Result<bool, Error> {
        match result {
            Ok(()) => {
                self.ring.follows = self.ring.number;
                // The blocks that it frees are erased only when it is there.
                self.pages.flush()?;
                self.space.begin_after_root();
                self.ring.complete = self.ring.place;
                (self.ring.kept, self.ring.owes_root) = (0, false);
                Ok(true)
            }
            Err(Error::MediaFailing) => {
                self.space.lose(self.ring.current());
                self.ring.next = self.layout.geometry.pages_per_block;
                Ok(false)
            }
            // It may be there or not: another one must follow before a block is used that this one lists. In the next ring block, since a
            // page of this one may be blank.
            Err(Error::Device) if self.call.lost_roots < self.layout.config.failures.max(1) => {
                self.call.lost_roots += 1;
                self.ring.next = self.layout.geometry.pages_per_block;
                Ok(false)
            }
            Err(error) => Err(self.refused(error)),
        }
    }

    /// Programs a root, without its copies.
    pub(super) fn program_root(&mut self, number: u32) -> Result<(), Error> {
        self.program_root_pages(number, 0, self.layout.root_pages)
    }

    /// Programs the copies of a root that was just programmed, which say the same.
    ///
    /// A root that fails behind the first page of its copies counts at every mount, and may be certain at one: the next root names it.
    pub(super) fn program_seals(&mut self, number: u32) -> Result<(), Error> {
        let pages = self.layout.root_pages;
        self.pages.keep_order()?;
        self.program_root_pages(number, pages, self.layout.root_programs)
    }

    /// Programs pages of a root and its copies: one by one, or as many at once as a group takes.
    fn program_root_pages(&mut self, number: u32, from: u32, to: u32) -> Result<(), Error> {
        let many = self.layout.group_pages();
        for first in (from..to).step_by(many.max(1) as usize) {
            let last = to.min(first + many.max(1));
            let result =
                if many > 0 { self.program_root_group(number, first, last) } else { self.program_root_page(number, first) };
            // Behind the first page of a copy, or in a command that has it.
            if last > self.layout.root_pages + 1 && result.is_err() {
                self.ring.follows = number;
            }
            result?;
        }
        Ok(())
    }

    /// Programs the next pages of the ring in one command.
    fn program_root_group(&mut self, number: u32, from: u32, to: u32) -> Result<(), Error> {
        let first = self.ring.current() * self.layout.geometry.pages_per_block + self.ring.next;
        for index in from..to {
            let tag = self.compose_root_page(number, index);
            let check = self.pages.check_as(Some(tag.kind));
            self.group.put(index - from, self.pages.bytes(), &tag.emit(check));
        }
        self.ring.next += to - from;
        let (data, tags) = self.group.filled(to - from);
        Ok(self.pages.flash_mut().program_many(first, data, tags)?)
    }

    /// Programs the next page of the ring: page `index` of a root, or, from the number of its pages on, of its copies.
    fn program_root_page(&mut self, number: u32, index: u32) -> Result<(), Error> {
        let page = self.ring.current() * self.layout.geometry.pages_per_block + self.ring.next;
        let tag = self.compose_root_page(number, index);
        // A program that fails may have touched the page.
        self.ring.next += 1;
        self.pages.program_buffer(page, &tag)
    }

    /// Makes page `index` of a root and its copies in the page buffer.
    fn compose_root_page(&mut self, number: u32, index: u32) -> Tag {
        let pages = self.layout.root_pages;
        self.pages.bytes_mut().fill(0xFF);
        self.map.blank_rest();
        self.transaction.blank_rest();
        let mut header = self.header().emit();
        self.exchange(&mut header, index % pages, false);
        Tag { sequence: number.into(), logical: index % pages, kind: Kind::Root, aux: pages | (index / pages) << 8 }
    }

    fn header(&self) -> Header {
        Header {
            overlay_len: self.map.len(),
            pending_len: self.transaction.len(),
            unmarked: self.space.is_unmarked(),
            worn_out: self.status.is_worn_out(),
            closed: self.ring.closed,
            unchecked: self.status.is_unchecked(),
            sequence: self.space.sequence(),
            transaction_start: self.transaction.start(),
            journal_at: self.space.journal_at(),
            heads: HEADER_HEADS.map(|head| self.space.heads().get(head)).map(|head| (head.block, head.next)),
            credit: self.pace.credit as u16,
            wear_base: self.space.blocks().wear_base,
            follows: self.ring.follows,
        }
    }

    /// Copies what page `index` of a root holds to the header and the tables, which follow each other, or from them.
    pub(super) fn exchange(&mut self, header: &mut [u8; BYTES], index: u32, read: bool) {
        let at = (index * self.layout.geometry.page_bytes) as usize;
        let [wear, state, streams] = self.space.tables_mut();
        let [leaves, known_logs, overlay] = self.map.tables_mut();
        let (page, mut start) = (self.pages.bytes_mut(), 0);
        let parts = [header, leaves, wear, state, known_logs, streams, overlay, self.transaction.table_mut()];
        for part in parts {
            let (from, to) = (start.max(at), (start + part.len()).min(at + page.len()));
            if from < to {
                let (part, page) = (&mut part[from - start..to - start], &mut page[from - at..to - at]);
                if read { part.copy_from_slice(page) } else { page.copy_from_slice(part) }
            }
            start += part.len();
        }
    }

    /// Takes over what a root's header says and checks every number that a table may not be trusted with.
    pub(super) fn adopt_header(&mut self, header: &Header) -> bool {
        let geometry = self.layout.geometry;
        let places = geometry.block_count * self.layout.journal_places();
        self.space.blocks_mut().recount();
        let sound = self.map.adopt(header.overlay_len, &self.layout)
            && self.transaction.adopt(header.pending_len, &self.layout)
            && (header.journal_at == NONE || header.journal_at < places)
            && header.heads.iter().all(|&(block, _)| self.may_have_head(block))
            && self.space.heads().of_streams().all(|head| self.may_have_head(self.space.heads().get(head).block))
            && header.sequence < SEQUENCE_MAX
            && header.wear_base < 1 << 31
            && (header.transaction_start == IDLE || header.transaction_start < header.sequence);
        if sound {
            self.space.set_sequence(header.sequence);
            self.transaction.resume(header.transaction_start);
            self.space.find_journal(header.journal_at);
            for (head, (block, next)) in HEADER_HEADS.into_iter().zip(header.heads) {
                self.space.heads_mut().replace(head, Head { block, next });
            }
            self.space.set_unmarked(header.unmarked);
            self.space.blocks_mut().wear_base = header.wear_base;
            self.status.adopt(header.worn_out, header.unchecked);
            (self.ring.closed, self.ring.follows) = (header.closed, header.follows);
            self.pace.credit = u32::from(header.credit).min(2 * self.layout.frames_per_block);
        }
        sound
    }

    /// Whether a head may be in a block: where superblocks and roots lie none is.
    fn may_have_head(&self, block: BlockIndex) -> bool {
        block == NONE || (block < self.layout.geometry.block_count && !self.ring.owns(block))
    }

    /// Programs a superblock.
    pub(super) fn program_superblock(&mut self, page: PageIndex) -> Result<(), Error> {
        let superblock = Superblock {
            geometry: self.layout.geometry,
            config: self.layout.config,
            copy: self.ring.superblock_copy,
            ring: self.ring.blocks,
        };
        superblock.emit(self.pages.bytes_mut());
        self.pages.program_buffer(page, &Tag { sequence: 1, logical: 0, kind: Kind::Super, aux: 0 })
    }

    /// Makes the first change after a clean end possible: erases a ring block and writes a root there, before anything is programmed
    /// elsewhere. A place that reads as blank may have been touched by an earlier start that was cut, and a chain of such starts would
    /// use it twice.
    ///
    /// # Cost
    /// One erase and `root_programs` programs, once after a mount that found nothing to settle, and an erase of each ring block in which cuts
    /// have left what nobody can read; one program where the medium programs bytes, and there are no such blocks.
    pub(super) fn open_ring(&mut self) -> Result<(), Error> {
        self.ring.closed = false;
        let mark = core::mem::replace(&mut self.ring.mark, NONE);
        let is_marked = mark != NONE && self.ring.unknown == 0 && self.mark_opened(mark).is_ok();
        let result = if is_marked { Ok(()) } else { self.begin_new_root() };
        self.ring.closed = result.is_err();
        result
    }

    /// Goes on to a root that no other one outranks, today or tomorrow.
    fn begin_new_root(&mut self) -> Result<(), Error> {
        self.advance_ring()?;
        self.write_root()?;
        self.erase_unknown()
    }

    /// Where the medium programs bytes, zeros behind the closed root say that it was opened. Until they are complete nothing else is touched, so
    /// they can be programmed again.
    pub(super) fn mark_opened(&mut self, page: PageIndex) -> Result<(), Error> {
        let pages = self.layout.geometry.pages_per_block;
        let offset = page % pages * self.layout.geometry.page_bytes;
        let result = self.pages.flash_mut().program_bytes(page / pages, offset, &[0; TAG_BYTES]);
        result.map_err(|failure| self.refused(failure.into()))
    }

    /// Whether anything was programmed where [`mark_opened`](Self::mark_opened) does. What is not whole may be: a mount rolls forward then, and
    /// finds nothing.
    pub(super) fn is_opened(&mut self, page: PageIndex) -> Result<bool, Error> {
        let pages = self.layout.geometry.pages_per_block;
        let mut mark = [0; TAG_BYTES];
        let offset = page % pages * self.layout.geometry.page_bytes;
        Ok(!was_read(self.pages.flash_mut().read_bytes(page / pages, offset, &mut mark))? || mark != [0xFF; TAG_BYTES])
    }

    /// Ends the use of the volume: the next mount begins with this root, and neither searches nor programs.
    ///
    /// # Cost
    /// `root_programs` programs, and one erase where the ring block is full; the mark of a block in which a program failed; nothing where nothing
    /// was changed.
    pub fn end_use(&mut self) -> Result<(), Error> {
        if self.status.is_read_only() || self.ring.closed || self.is_open() {
            return Ok(());
        }
        self.call = self.new_call();
        self.ring.closed = true;
        let result = self.write_root();
        self.ring.closed = result.is_ok();
        result
    }
}
