//! Writing roots.

use super::{Roots, SEQUENCE_MAX};
use crate::commit::IDLE;
use crate::error::Error;
use crate::format::root::{BYTES, Header};
use crate::format::superblock::Superblock;
use crate::media::{BlockIndex, Flash, Kind, PageIndex, TAG_BYTES, Tag};
use crate::pages::was_read;
use crate::space::{Head, HeadIndex, NONE};

/// The heads that every volume has, whose places are in the header of a root.
const HEADER_HEADS: [HeadIndex; 3] = [HeadIndex::USER, HeadIndex::MOVED, HeadIndex::JOURNAL];

/// Roots that a call has lost because the device did not answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lost {
    roots: u8,
}

/// What a root says of the store itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// The volume can only be read.
    pub worn_out: bool,
    /// A loss was accepted, and what it left is not mended yet.
    pub unchecked: bool,
    /// Frames of the reserve that are there.
    pub credit: u16,
}

impl<F: Flash> Roots<'_, '_, F> {
    /// Erases the ring block that comes next, ahead of time.
    pub fn prepare_block(&mut self) -> Result<(), Error> {
        let count = self.layout.ring_count;
        for step in 1..count {
            let place = (u32::from(self.ring.place) + step) % count;
            if self.ring.rests(place, self.space) && self.space.erase(self.pages, self.ring.block(place))? {
                self.ring.prepared = Some(place as u8);
                return Ok(());
            }
        }
        Err(Error::MediaFailing)
    }

    /// Erases the ring blocks of which nobody can tell what they hold: the root of a mount that was cut there may be readable tomorrow, and
    /// have a larger number than the newest one.
    pub fn erase_unknown(&mut self) -> Result<(), Error> {
        if self.ring.unknown == 0 {
            return Ok(());
        }
        for place in 0..self.layout.ring_count {
            let bit = 1 << place;
            let is_due = self.ring.unknown & bit != 0 && self.ring.rests(place, self.space);
            if is_due && self.space.erase(self.pages, self.ring.block(place))? {
                self.ring.prepared = Some(place as u8);
            }
            self.ring.unknown &= !bit;
        }
        self.pages.keep_order()
    }

    /// Goes on to the next ring block.
    pub fn advance(&mut self) -> Result<(), Error> {
        if self.ring.needs_block() {
            self.prepare_block()?;
        }
        if let Some(place) = self.ring.prepared.take() {
            (self.ring.place, self.ring.next) = (place, 0);
        }
        Ok(())
    }

    /// Writes a root with its copies: in another block of the ring where one has gone bad, and where the device did not answer, which may happen as often
    /// in a call as the settings say.
    ///
    /// # Cost
    /// `root_programs` programs; one erase when the next ring block was not prepared.
    ///
    /// # Power loss
    /// The root before stays the newest until a page of the copies can be read.
    pub fn write(&mut self, said: Said, lost: &mut Lost) -> Result<(), Error> {
        for _ in 0..self.layout.ring_count {
            if self.ring.roots_left(self.layout) == 0 {
                self.advance()?;
            }
            if self.write_here(said, lost)? {
                return Ok(());
            }
        }
        Err(Error::MediaFailing)
    }

    /// Writes a root and its copies at the next page of the ring. `false` when another block is to be tried.
    fn write_here(&mut self, said: Said, lost: &mut Lost) -> Result<bool, Error> {
        let number = self.begin();
        let result = self.program(number, said).and_then(|()| self.program_copies(number, said));
        self.was_written(result, lost)
    }

    /// Writes the first root of a volume that is made, which nothing was done to.
    pub fn write_first(&mut self, said: Said) -> Result<(), Error> {
        (self.ring.place, self.ring.closed) = (0, true);
        while !self.write_here(said, &mut Lost::default())? {
            self.advance()?;
        }
        Ok(())
    }

    /// Writes a root that ends the use of the volume.
    pub fn write_closing(&mut self, said: Said, lost: &mut Lost) -> Result<(), Error> {
        self.ring.closed = true;
        let result = self.write(said, lost);
        self.ring.closed = result.is_ok();
        result
    }

    /// Frees what is dead, lists the blocks that may be allocated until the next root, and gives that its number.
    pub fn begin(&mut self) -> u32 {
        self.ring.owes_root = true;
        self.space.free_and_list(self.layout.listed_blocks);
        self.ring.take_number(self.layout)
    }

    /// What follows from the programs of a root and its copies: `false` when another block is to be tried.
    pub fn was_written(&mut self, result: Result<(), Error>, lost: &mut Lost) -> Result<bool, Error> {
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
                self.ring.leave_block(self.layout);
                Ok(false)
            }
            // It may be there or not: another one must follow before a block is used that this one lists. In the next ring block, since a
            // page of this one may be blank.
            Err(Error::Device) if lost.roots < self.layout.config.failures.max(1) => {
                lost.roots += 1;
                self.ring.leave_block(self.layout);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Programs a root, without its copies.
    pub fn program(&mut self, number: u32, said: Said) -> Result<(), Error> {
        self.program_pages(number, said, 0, self.layout.root_pages)
    }

    /// Programs the copies of a root that was just programmed, which say the same.
    ///
    /// A root that fails behind the first page of its copies counts at every mount, and may be certain at one: the next root names it.
    pub fn program_copies(&mut self, number: u32, said: Said) -> Result<(), Error> {
        let pages = self.layout.root_pages;
        self.pages.keep_order()?;
        self.program_pages(number, said, pages, self.layout.root_programs)
    }

    /// Programs pages of a root and its copies: one by one, or as many at once as a group takes.
    fn program_pages(&mut self, number: u32, said: Said, from: u32, to: u32) -> Result<(), Error> {
        let many = self.layout.group_pages();
        for first in (from..to).step_by(many.max(1) as usize) {
            let last = to.min(first + many.max(1));
            let result =
                if many > 0 { self.program_group(number, said, first, last) } else { self.program_page(number, said, first) };
            // Behind the first page of a copy, or in a command that has it.
            if last > self.layout.root_pages + 1 && result.is_err() {
                self.ring.follows = number;
            }
            result?;
        }
        Ok(())
    }

    /// Programs the next pages of the ring in one command.
    fn program_group(&mut self, number: u32, said: Said, from: u32, to: u32) -> Result<(), Error> {
        for index in from..to {
            let tag = self.compose_page(number, said, index);
            let check = self.pages.check_as(Some(tag.kind));
            self.group.put(index - from, self.pages.bytes(), &tag.emit(check));
        }
        let first = self.ring.take_pages(to - from, self.layout);
        let (data, tags) = self.group.filled(to - from);
        Ok(self.pages.flash_mut().program_many(first, data, tags)?)
    }

    /// Programs the next page of the ring: page `index` of a root, or, from the number of its pages on, of its copies.
    fn program_page(&mut self, number: u32, said: Said, index: u32) -> Result<(), Error> {
        let tag = self.compose_page(number, said, index);
        let page = self.ring.take_pages(1, self.layout);
        self.pages.program_buffer(page, &tag)
    }

    /// Makes page `index` of a root and its copies in the page buffer.
    fn compose_page(&mut self, number: u32, said: Said, index: u32) -> Tag {
        let pages = self.layout.root_pages;
        self.pages.bytes_mut().fill(0xFF);
        self.map.blank_rest();
        self.transaction.blank_rest();
        let mut header = self.header(said).emit();
        self.exchange(&mut header, index % pages, false);
        Tag { sequence: number.into(), logical: index % pages, kind: Kind::Root, aux: pages | (index / pages) << 8 }
    }

    fn header(&self, said: Said) -> Header {
        Header {
            overlay_len: self.map.len(),
            pending_len: self.transaction.len(),
            unmarked: self.space.is_unmarked(),
            worn_out: said.worn_out,
            closed: self.ring.closed,
            unchecked: said.unchecked,
            sequence: self.space.sequence(),
            transaction_start: self.transaction.start(),
            journal_at: self.space.journal_at(),
            heads: HEADER_HEADS.map(|head| self.space.heads().get(head)).map(|head| (head.block, head.next)),
            credit: said.credit,
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
        let sound = self.map.adopt(header.overlay_len, self.layout)
            && self.transaction.adopt(header.pending_len, self.layout)
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
            (self.ring.closed, self.ring.follows) = (header.closed, header.follows);
        }
        sound
    }

    /// Whether a head may be in a block: where superblocks and roots lie none is.
    fn may_have_head(&self, block: BlockIndex) -> bool {
        block == NONE || (block < self.layout.geometry.block_count && !self.ring.owns(block))
    }

    /// Programs both superblocks, the second one first.
    pub fn program_superblocks(&mut self) -> Result<(), Error> {
        self.program_superblock(self.ring.superblock_copy * self.layout.geometry.pages_per_block)?;
        self.program_superblock(0)
    }

    fn program_superblock(&mut self, page: PageIndex) -> Result<(), Error> {
        let superblock = Superblock {
            geometry: self.layout.geometry,
            config: self.layout.config,
            copy: self.ring.superblock_copy,
            ring: self.ring.blocks,
        };
        superblock.emit(self.pages.bytes_mut());
        self.pages.program_buffer(page, &Tag { sequence: 1, logical: 0, kind: Kind::Super, aux: 0 })
    }

    /// Makes the first change after a clean end possible: erases a ring block and writes a root there, which it tells, before anything is programmed
    /// elsewhere. A place that reads as blank may have been touched by an earlier start that was cut, and a chain of such starts would
    /// use it twice.
    ///
    /// # Cost
    /// One erase and `root_programs` programs, once after a mount that found nothing to settle, and an erase of each ring block in which cuts
    /// have left what nobody can read; one program where the medium programs bytes, and there are no such blocks.
    pub fn open(&mut self, said: Said, lost: &mut Lost) -> Result<bool, Error> {
        self.ring.closed = false;
        let mark = core::mem::replace(&mut self.ring.mark, NONE);
        let is_marked = mark != NONE && self.ring.unknown == 0 && self.mark_opened(mark).is_ok();
        let result = if is_marked { Ok(()) } else { self.begin_new_block(said, lost) };
        self.ring.closed = result.is_err();
        result.map(|()| !is_marked)
    }

    /// Goes on to a root that no other one outranks, today or tomorrow.
    fn begin_new_block(&mut self, said: Said, lost: &mut Lost) -> Result<(), Error> {
        self.advance()?;
        self.write(said, lost)?;
        self.erase_unknown()
    }

    /// Completes the mark of an opened volume that a cut may have begun: it might say tomorrow that nothing was opened, and hide what follows.
    pub fn complete_mark(&mut self) -> Result<(), Error> {
        let mark = core::mem::replace(&mut self.ring.mark, NONE);
        if mark != NONE {
            match self.mark_opened(mark) {
                Err(Error::MediaFailing) => self.space.lose(self.ring.current()),
                result => result?,
            }
        }
        Ok(())
    }

    /// Where the medium programs bytes, zeros behind the closed root say that it was opened. Until they are complete nothing else is touched, so
    /// they can be programmed again.
    fn mark_opened(&mut self, page: PageIndex) -> Result<(), Error> {
        let pages = self.layout.geometry.pages_per_block;
        let offset = page % pages * self.layout.geometry.page_bytes;
        Ok(self.pages.flash_mut().program_bytes(page / pages, offset, &[0; TAG_BYTES])?)
    }

    /// Whether anything was programmed where [`mark_opened`](Self::mark_opened) does. What is not whole may be: a mount rolls forward then, and
    /// finds nothing.
    pub(super) fn is_opened(&mut self, page: PageIndex) -> Result<bool, Error> {
        let pages = self.layout.geometry.pages_per_block;
        let mut mark = [0; TAG_BYTES];
        let offset = page % pages * self.layout.geometry.page_bytes;
        Ok(!was_read(self.pages.flash_mut().read_bytes(page / pages, offset, &mut mark))? || mark != [0xFF; TAG_BYTES])
    }
}
