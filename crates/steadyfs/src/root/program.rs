//! Writes roots.

use super::{Ring, RootState, VolumeFlags};
use crate::error::Error;
use crate::format::superblock::Superblock;
use crate::media::{BlockIndex, Flash, PageIndex, TAG_BYTES, Tag, TagKind};
use crate::pages::Group;
use crate::space::NONE;

/// Number of roots that a call has lost because the device did not answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lost {
    roots: u8,
}

/// The ring, and the roots that are written there.
pub(crate) struct Roots<'s, 'm, F> {
    pub ring: &'s mut Ring,
    pub tables: RootState<'s, 'm, F>,
    pub group: &'s mut Group<'m>,
}

impl<F: Flash> Roots<'_, '_, F> {
    /// Erases the next ring block ahead of time, unless it is blank. If the device does not
    /// answer, the block behind it is tried. This happens at most `failures` times, and once in
    /// any case.
    pub fn prepare_block(&mut self) -> Result<(), Error> {
        let (count, mut failures) = (self.tables.layout.ring_count, 0);
        for step in 1..count {
            let place = (u32::from(self.ring.place) + step) % count;
            let RootState { space, pages, layout, .. } = &mut self.tables;
            // A mount may still need this block.
            if !self.ring.rests(place, space) {
                continue;
            }
            match if self.ring.is_blank(place, space) {
                Ok(true)
            } else {
                space.erase(pages, self.ring.block(place))
            } {
                Ok(true) => {
                    self.ring.prepared = Some(place as u8);
                    return Ok(());
                }
                // The block is bad now, and the next one takes its place.
                Ok(false) => {}
                // The ring must not meet the same silent block at every root.
                Err(Error::Device) if failures < layout.config.failures.max(1) => failures += 1,
                Err(error) => return Err(error),
            }
        }
        Err(Error::MediaFailing)
    }

    /// Erases the ring blocks with undetermined content. The root of a mount that was cut there
    /// may be readable tomorrow, with a larger number than the newest root.
    ///
    /// If the device does not answer, a root is written and the erase is repeated. A device that
    /// took the root, and does not answer for this block, has a bad block.
    pub fn erase_unknown(&mut self, flags: VolumeFlags, lost: &mut Lost) -> Result<(), Error> {
        if self.ring.unknown == 0 {
            return Ok(());
        }
        for place in 0..self.tables.layout.ring_count {
            let bit = 1 << place;
            let is_due = self.ring.unknown & bit != 0 && self.ring.rests(place, self.tables.space);
            if is_due {
                let mut result = self.erase_place(place);
                if result == Err(Error::Device) {
                    // A root that the device takes shows that the fault is in the block.
                    self.write(flags, lost)?;
                    // The root may have gone into this very block.
                    result = if self.ring.rests(place, self.tables.space) {
                        self.erase_place(place)
                    } else {
                        Ok(false)
                    };
                }
                if result? {
                    // The erased block serves the next root.
                    self.ring.prepared = Some(place as u8);
                }
            }
            self.ring.unknown &= !bit;
        }
        // On a loose medium the erases must be durable before the answer.
        self.tables.pages.keep_order()
    }

    /// Erases the block at a place.
    fn erase_place(&mut self, place: u32) -> Result<bool, Error> {
        self.tables.space.erase(self.tables.pages, self.ring.block(place))
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

    /// Goes on to the next ring block if the current one has no room for `pages` pages.
    pub fn find_room(&mut self, pages: u32) -> Result<(), Error> {
        if self.ring.pages_left(self.tables.layout) < pages { self.advance() } else { Ok(()) }
    }

    /// Writes a root with its copies. If a block has gone bad, the root goes into another block
    /// of the ring. It also does so if the device does not answer, as often in a call as the
    /// settings allow.
    ///
    /// # Cost
    /// `root_programs` programs, and one erase if the next ring block was not prepared.
    ///
    /// # Power loss
    /// The root before stays the newest until a page of the copies can be read.
    pub fn write(&mut self, flags: VolumeFlags, lost: &mut Lost) -> Result<(), Error> {
        for _ in 0..self.tables.layout.ring_count {
            self.find_room(self.tables.layout.root_programs)?;
            if self.write_here(flags, lost)? {
                return Ok(());
            }
        }
        Err(Error::MediaFailing)
    }

    /// Writes a root and its copies at the next page of the ring. Returns `false` if another
    /// block must be tried.
    fn write_here(&mut self, flags: VolumeFlags, lost: &mut Lost) -> Result<bool, Error> {
        let number = self.begin();
        let result = self.program(number, flags).and_then(|()| self.program_copies(number, flags));
        self.finish_write(result, lost)
    }

    /// Programs the first page of a root into each ring block but the first. Its number is
    /// smaller than the number of each real root. So one read of a block shows a mount that
    /// nothing newer is there. On media that program bytes, the first round erases no block, so
    /// these blocks stay blank.
    fn number_blocks(&mut self, flags: VolumeFlags) -> Result<(), Error> {
        let count = self.tables.layout.ring_count;
        let end = if self.tables.layout.programs_bytes() { 1 } else { count };
        let mut has_failed = false;
        for place in 1..end {
            (self.ring.place, self.ring.next) = (place as u8, 0);
            match self.program_page(place, flags, 0) {
                Ok(()) => has_failed = false,
                Err(Error::MediaFailing) => self.tables.space.lose(self.ring.current()),
                // The block is erased before a root goes there.
                Err(Error::Device) if !has_failed => has_failed = true,
                Err(error) => return Err(error),
            }
        }
        // The first real root gets a number above those of the blocks.
        (self.ring.place, self.ring.next, self.ring.number) = (0, 0, count);
        Ok(())
    }

    /// Writes the first root of a new volume. The root is closed, because nothing was changed
    /// yet.
    pub fn write_first(&mut self, flags: VolumeFlags) -> Result<(), Error> {
        self.number_blocks(flags)?;
        self.ring.closed = true;
        while !self.write_here(flags, &mut Lost::default())? {
            self.advance()?;
        }
        Ok(())
    }

    /// Frees the dead blocks, and lists the blocks that may be allocated until the next root.
    /// Returns the number of the root.
    pub fn begin(&mut self) -> u32 {
        // From here on, blocks count as free in RAM that the newest root still needs.
        self.ring.needs_root = true;
        self.tables.space.free_and_list(self.tables.layout.listed_blocks);
        self.ring.take_number(self.tables.layout)
    }

    /// Handles the result of the programs of a root and its copies. Returns `false` if another
    /// block must be tried.
    pub fn finish_write(
        &mut self,
        result: Result<(), Error>,
        lost: &mut Lost,
    ) -> Result<bool, Error> {
        match result {
            Ok(()) => {
                // The next root names this one.
                self.ring.follows = self.ring.number;
                // The blocks that the root frees are erased only when the root is there.
                self.tables.pages.flush()?;
                self.tables.space.begin_after_root();
                self.ring.complete = self.ring.place;
                // No mount needs an older root any more.
                (self.ring.kept, self.ring.needs_root) = (0, false);
                Ok(true)
            }
            Err(Error::MediaFailing) => {
                self.tables.space.lose(self.ring.current());
                self.ring.leave_block(self.tables.layout);
                Ok(false)
            }
            // The root may be there or not. Another root must follow before a block is used that
            // this one lists. It goes into the next ring block, because a page of this one may
            // be blank.
            Err(Error::Device) if lost.roots < self.tables.layout.config.failures.max(1) => {
                lost.roots += 1;
                self.ring.leave_block(self.tables.layout);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Programs a root, without its copies.
    pub fn program(&mut self, number: u32, flags: VolumeFlags) -> Result<(), Error> {
        self.program_pages(number, flags, 0, self.tables.layout.root_pages)
    }

    /// Programs the copies of a root that was just programmed. They have the same content.
    ///
    /// A root that fails behind the first page of its copies counts at every mount, and may be
    /// certain at one. So the next root names it.
    pub fn program_copies(&mut self, number: u32, flags: VolumeFlags) -> Result<(), Error> {
        let pages = self.tables.layout.root_pages;
        // A seal proves the root, so the root must be durable before it.
        self.tables.pages.keep_order()?;
        self.program_pages(number, flags, pages, self.tables.layout.root_programs)
    }

    /// Programs pages of a root and its copies: one by one, or as many at once as a group takes.
    ///
    /// The second copied page proves that the first one was complete. So on raw flash the copies
    /// are programmed one by one. A driver that kept no order in a command would leave a false
    /// proof.
    fn program_pages(
        &mut self,
        number: u32,
        flags: VolumeFlags,
        from: u32,
        to: u32,
    ) -> Result<(), Error> {
        // Only the copies prove anything, so the root itself may go in groups.
        let is_proof =
            from >= self.tables.layout.root_pages && self.tables.pages.takes_pages_once();
        let many = if is_proof { 0 } else { self.tables.layout.group_pages() };
        for first in (from..to).step_by(many.max(1) as usize) {
            let last = to.min(first + many.max(1));
            let result = if many > 0 {
                self.program_group(number, flags, first, last)
            } else {
                self.program_page(number, flags, first)
            };
            // The failure is behind the first page of a copy, or in a command with that page.
            if last > self.tables.layout.root_pages + 1 && result.is_err() {
                self.ring.follows = number;
            }
            result?;
        }
        Ok(())
    }

    /// Programs the next pages of the ring in one command.
    fn program_group(
        &mut self,
        number: u32,
        flags: VolumeFlags,
        from: u32,
        to: u32,
    ) -> Result<(), Error> {
        for index in from..to {
            let tag = self.compose_page(number, flags, index);
            let check = self.tables.pages.check_as(Some(tag.kind));
            self.group.put(index - from, self.tables.pages.bytes(), &tag.emit(check));
        }
        // The pages count as used even if their program fails.
        let first = self.ring.take_pages(to - from, self.tables.layout);
        let (data, tags) = self.group.filled(to - from);
        Ok(self.tables.pages.program_many(first, data, tags)?)
    }

    /// Programs the next page of the ring: page `index` of a root and its copies. The pages of
    /// the copies follow the pages of the root.
    fn program_page(&mut self, number: u32, flags: VolumeFlags, index: u32) -> Result<(), Error> {
        let tag = self.compose_page(number, flags, index);
        let page = self.ring.take_pages(1, self.tables.layout);
        self.tables.pages.program_buffer(page, &tag)
    }

    /// Makes page `index` of a root and its copies in the page buffer. Not inlined, so that its
    /// data is off the stack when the page is programmed.
    #[inline(never)]
    fn compose_page(&mut self, number: u32, flags: VolumeFlags, index: u32) -> Tag {
        let pages = self.tables.layout.root_pages;
        self.tables.pages.bytes_mut().fill(0xFF);
        self.tables.map.blank_rest();
        self.tables.transaction.blank_rest();
        let mut header = self.tables.header(flags, self.ring);
        self.tables.exchange(&mut header, index % pages, false);
        Tag {
            sequence: number.into(),
            logical: index % pages,
            kind: TagKind::Root,
            aux: pages | (index / pages) << 8,
        }
    }

    /// Programs the second superblock. It is programmed before the first one.
    pub fn program_superblock_copy(&mut self) -> Result<(), Error> {
        self.program_superblock(self.ring.superblock_copy)
    }

    /// Programs the superblock in a block.
    pub fn program_superblock(&mut self, block: BlockIndex) -> Result<(), Error> {
        let page = block * self.tables.layout.geometry.pages_per_block;
        let superblock = Superblock {
            geometry: self.tables.layout.geometry,
            config: self.tables.layout.config,
            copy: self.ring.superblock_copy,
            ring: self.ring.blocks,
        };
        superblock.emit(self.tables.pages.bytes_mut());
        self.tables
            .pages
            .program_buffer(page, &Tag { sequence: 1, logical: 0, kind: TagKind::Super, aux: 0 })
    }

    /// Makes the first change after a clean end possible, before anything is programmed
    /// elsewhere. Erases a ring block and writes a root there, and returns true. On media that
    /// program bytes, a mark may replace the root; then it returns false.
    ///
    /// A place that reads as blank may have been touched by an earlier start that was cut.
    /// Without the root or the mark, a chain of such starts would use a place twice.
    ///
    /// # Cost
    /// Once after a mount that found nothing to settle: one erase and `root_programs` programs.
    /// In addition, one erase of each ring block in which cuts have left unreadable pages. If
    /// the medium programs bytes and there are no such blocks, the whole cost is one program.
    pub fn open(&mut self, flags: VolumeFlags, lost: &mut Lost) -> Result<bool, Error> {
        // A root that is written here must not be closed.
        (self.ring.closed, self.ring.untouched) = (false, true);
        let mark = core::mem::replace(&mut self.ring.mark, NONE);
        // A mark erases nothing, so unreadable ring blocks require a root.
        let is_marked = mark != NONE && self.ring.unknown == 0 && self.mark_opened(mark).is_ok();
        let result = if is_marked { Ok(()) } else { self.begin_new_block(flags, lost) };
        // After a failure, the next change must open the ring again.
        self.ring.closed = result.is_err();
        result.map(|()| !is_marked)
    }

    /// Goes on to the next ring block, and writes a root there. No other root outranks it, today
    /// or tomorrow.
    fn begin_new_block(&mut self, flags: VolumeFlags, lost: &mut Lost) -> Result<(), Error> {
        self.ring.untouched = false;
        self.advance()?;
        self.write(flags, lost)?;
        self.erase_unknown(flags, lost)
    }

    /// Completes the mark of an opened volume. A cut may have interrupted the mark. An
    /// incomplete mark might read as blank tomorrow, and hide the changes that follow.
    pub fn complete_mark(&mut self) -> Result<(), Error> {
        let mark = core::mem::replace(&mut self.ring.mark, NONE);
        if mark != NONE {
            match self.mark_opened(mark) {
                Err(Error::MediaFailing) => self.tables.space.lose(self.ring.current()),
                result => result?,
            }
        }
        Ok(())
    }

    /// Programs the mark, on media that program bytes: zeros behind the closed root. They prove
    /// that the volume was opened. Until they are complete nothing else is touched, so they can
    /// be programmed again.
    fn mark_opened(&mut self, page: PageIndex) -> Result<(), Error> {
        let pages = self.tables.layout.geometry.pages_per_block;
        let offset = page % pages * self.tables.layout.geometry.page_bytes;
        Ok(self.tables.pages.program_mark(page / pages, offset, &[0; TAG_BYTES])?)
    }
}
