//! Writes roots.

use super::{Ring, RootState, VolumeFlags};
use crate::error::Error;
use crate::format::superblock::Superblock;
use crate::media::{BlockIndex, Flash, PageIndex, TAG_BYTES, Tag, TagKind};
use crate::pages::Group;
use crate::space::NONE;

/// Number of roots of a call that failed because the device did not answer.
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
    /// Erases the next ring block ahead of time, unless it is blank. If the device does not answer
    /// for a block, the next ring block is tried. The setting `failures` limits these retries; one
    /// retry is always permitted.
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
                // The block is bad now, so the next ring block is tried.
                Ok(false) => {}
                // Another block is tried, so that not every root meets the block that does not
                // answer.
                Err(Error::Device) if failures < layout.config.failures.max(1) => failures += 1,
                Err(error) => return Err(error),
            }
        }
        Err(Error::MediaFailing)
    }

    /// Erases the ring blocks whose content cannot be determined. Such a block may hold the root of
    /// an interrupted mount, which may be readable tomorrow, with a larger number than the newest
    /// root.
    ///
    /// If the device does not answer, a root is written and the erase is repeated. If the device
    /// programs the root, but still does not answer for this block, the block is bad.
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
                    // A programmed root proves that the device answers again. If the second erase
                    // fails too, the fault is in this block.
                    self.write(flags, lost)?;
                    // The root may have been written into this very block.
                    result = if self.ring.rests(place, self.tables.space) {
                        self.erase_place(place)
                    } else {
                        Ok(false)
                    };
                }
                if result? {
                    // The erased block is used for the next root.
                    self.ring.prepared = Some(place as u8);
                }
            }
            self.ring.unknown &= !bit;
        }
        // On a device that reorders, the erases must be durable before the mount answers.
        self.tables.pages.keep_order()
    }

    /// Erases the block at a place.
    fn erase_place(&mut self, place: u32) -> Result<bool, Error> {
        self.tables.space.erase(self.tables.pages, self.ring.block(place))
    }

    /// Makes the next ring block the current one.
    pub fn advance(&mut self) -> Result<(), Error> {
        if self.ring.needs_block() {
            self.prepare_block()?;
        }
        if let Some(place) = self.ring.prepared.take() {
            (self.ring.place, self.ring.next) = (place, 0);
        }
        Ok(())
    }

    /// Makes the next ring block the current one if the current block has no room for `pages`
    /// pages.
    pub fn find_room(&mut self, pages: u32) -> Result<(), Error> {
        if self.ring.pages_left(self.tables.layout) < pages { self.advance() } else { Ok(()) }
    }

    /// Writes a root with its copies. If a block goes bad, the root is written into another ring
    /// block. The same happens if the device does not answer; the setting `failures` limits these
    /// retries in a call.
    ///
    /// # Cost
    /// `root_programs` programs, and one erase if a new ring block is needed and was not prepared.
    ///
    /// # Power loss
    /// The previous root stays the newest until a page of the new root's copies can be read.
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

    /// Programs the first page of a root into each ring block except the first block. The number of
    /// this page is smaller than the numbers of all real roots. So one read of the block shows a
    /// mount that the block holds no newer root. On media that program bytes nothing is programmed,
    /// because the first round through the ring uses the blank blocks without an erase.
    fn number_blocks(&mut self, flags: VolumeFlags) -> Result<(), Error> {
        let count = self.tables.layout.ring_count;
        let end = if self.tables.layout.programs_bytes() { 1 } else { count };
        let mut has_failed = false;
        for place in 1..end {
            (self.ring.place, self.ring.next) = (place as u8, 0);
            match self.program_page(place, flags, 0) {
                Ok(()) => has_failed = false,
                Err(Error::MediaFailing) => self.tables.space.lose(self.ring.current()),
                // The block is erased before a root is written there.
                Err(Error::Device) if !has_failed => has_failed = true,
                Err(error) => return Err(error),
            }
        }
        // The first real root gets a number above the numbers of these pages.
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
    /// Returns the number of the root to write.
    pub fn begin(&mut self) -> u32 {
        // From here on, RAM counts blocks as free that the newest root still needs.
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
                // The blocks that the root frees may be erased only when the root is durable.
                self.tables.pages.flush()?;
                self.tables.space.begin_after_root();
                self.ring.complete = self.ring.place;
                // No mount needs an older root any more.
                (self.ring.kept, self.ring.needs_root) = (0, false);
                self.ring.is_overtaken = false;
                Ok(true)
            }
            Err(Error::MediaFailing) => {
                self.tables.space.lose(self.ring.current());
                self.ring.leave_block(self.tables.layout);
                Ok(false)
            }
            // The root may or may not be on the medium. Another root must be written before a block
            // is used that this root lists. The other root is written into the next ring block,
            // because a page of the current block may have stayed blank.
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
    /// If the program fails behind the first page of the copies, the root counts at every mount,
    /// and may be certain at some mounts. So the next root names this root.
    pub fn program_copies(&mut self, number: u32, flags: VolumeFlags) -> Result<(), Error> {
        let pages = self.tables.layout.root_pages;
        // A seal proves that the root is complete, so the root must be durable before the seal.
        self.tables.pages.keep_order()?;
        self.program_pages(number, flags, pages, self.tables.layout.root_programs)
    }

    /// Programs pages `from..to` of a root and its copies: one by one, or in groups if the device
    /// takes groups.
    ///
    /// The second seal proves that the first seal was complete. So on raw flash the copies are
    /// programmed one by one. If they were programmed in one command, a driver that does not keep
    /// the order of pages would leave a false proof.
    fn program_pages(
        &mut self,
        number: u32,
        flags: VolumeFlags,
        from: u32,
        to: u32,
    ) -> Result<(), Error> {
        // Only the copies are a proof, so the root itself may be programmed in groups.
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
            // The failed program is behind the first page of the copies, or in one command with
            // that page.
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

    /// Programs the second superblock. It is programmed before the first superblock.
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

    /// Opens the volume for the first change after a clean end, before anything is programmed
    /// outside the ring. Returns true if it has written a root into a fresh ring block. On media
    /// that program bytes, a mark may suffice: then it returns false.
    ///
    /// A page that reads as blank may have been touched by an earlier start that a power cut ended.
    /// Without the root or the mark, several such starts in a row would program a page twice.
    ///
    /// # Cost
    /// Once after a mount that settled nothing: one erase and `root_programs` programs. In
    /// addition, one erase of each ring block in which power cuts have left unreadable pages. If
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

    /// Writes a root into another ring block. Then erases all unreadable ring blocks, so that no
    /// other root can outrank this root at a later mount.
    fn begin_new_block(&mut self, flags: VolumeFlags, lost: &mut Lost) -> Result<(), Error> {
        self.ring.untouched = false;
        self.prepare_last()?;
        self.advance()?;
        self.write(flags, lost)?;
        self.erase_unknown(flags, lost)
    }

    /// In the first round through the ring, erases the last ring block for the next root. If a cut
    /// hides this start from the next one, the next start may use all other blocks without an
    /// erase.
    fn prepare_last(&mut self) -> Result<(), Error> {
        if !self.tables.layout.programs_bytes() || !self.ring.needs_block() {
            return Ok(());
        }
        let Some(last) = self.ring.last_blank(self.tables.space) else { return Ok(()) };
        match self.erase_place(last) {
            Ok(true) => self.ring.prepared = Some(last as u8),
            // Another block is tried.
            Ok(false) | Err(Error::Device) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Completes the mark of an opened volume, because a power cut may have interrupted it. An
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

    /// Programs the mark, on media that program bytes. The mark is a row of zero bytes behind the
    /// closed root; it proves that the volume was opened. Until the mark is complete nothing else
    /// is programmed, so the mark can be programmed again.
    fn mark_opened(&mut self, page: PageIndex) -> Result<(), Error> {
        let pages = self.tables.layout.geometry.pages_per_block;
        let offset = page % pages * self.tables.layout.geometry.page_bytes;
        Ok(self.tables.pages.program_mark(page / pages, offset, &[0; TAG_BYTES])?)
    }
}
