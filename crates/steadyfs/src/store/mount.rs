//! Format, mount and repair: what a [mount](crate::mount) finds becomes the state of the volume.

use super::Store;
use super::status::Status;
use crate::config::{Config, Layout};
use crate::error::{Error, MountError};
use crate::media::{BlockIndex, Flash, Geometry, Kinds};
use crate::mount::{Access, Damage, Forward, Last, find_superblock};
use crate::pages::TRIES;
use crate::root::SEQUENCE_MAX;
use crate::space::{Frame, Space, State};

impl<'m, F: Flash> Store<'m, F> {
    /// Makes an empty volume. Everything on the medium is lost.
    ///
    /// # Cost
    /// One look at each block's mark and one read; where the medium programs bytes, and a block begins with no page, reads of one or two records; `ring_count + 2` erases; `root_programs + 2` programs.
    ///
    /// # Power loss
    /// The medium is not formatted until the last program.
    pub fn format(
        flash: F,
        config: &Config,
        memory: &'m mut [u8],
        erasing: Option<&mut dyn FnMut(u32, u32)>,
    ) -> Result<F, MountError> {
        // Changed in place: a copy of a store costs code and stack.
        let mut result = Self::empty(flash, config, memory);
        if let Ok(store) = &mut result {
            store.write_empty(erasing)?;
        }
        result.map(Self::into_flash)
    }

    /// Writes the superblocks and the root of an empty volume.
    fn write_empty(&mut self, erasing: Option<&mut dyn FnMut(u32, u32)>) -> Result<(), MountError> {
        let must_go = self.pass_earlier_volume()?;
        self.choose_own_blocks()?;
        match erasing {
            Some(told) => self.erase_all(told)?,
            None if must_go => self.erase_all(&mut |_, _| {})?,
            None => {}
        }
        self.in_ring(|roots, said, _| roots.write_first(said).and_then(|()| roots.program_superblocks()))?;
        Ok(self.pages.flash_mut().sync()?)
    }

    /// Erases the blocks for data, and tells after each how many are done, of how many. The root that ends the format says that they are erased.
    fn erase_all(&mut self, told: &mut dyn FnMut(u32, u32)) -> Result<(), MountError> {
        let block_count = self.layout.geometry.block_count;
        for block in 0..block_count {
            if self.space.blocks().state(block) == State::Free && self.erase(block)? {
                self.space.blocks_mut().set_state(block, State::Clean);
            }
            told(block + 1, block_count);
        }
        Ok(())
    }

    /// Notes bad blocks, and chooses a first sequence: pages of an earlier volume stay until their blocks are erased. Roll-forward takes
    /// them for old ones if all sequences of this volume are higher: that of the newest first page of a block, and of what was
    /// programmed after it. Returns whether none is high enough, so that all blocks must be erased: no chip lives so long, whatever wrote that.
    fn pass_earlier_volume(&mut self) -> Result<bool, MountError> {
        let Geometry { block_count, pages_per_block, .. } = self.layout.geometry;
        let mut newest = 0;
        for block in 0..block_count {
            let state = if self.pages.flash_mut().is_bad(block)? { State::Bad } else { State::Free };
            self.space.blocks_mut().set_state(block, state);
            if state == State::Free {
                // No volume lives to see half of them.
                let tag = self.pages.read_tagged(block * pages_per_block, Kinds::ALL)?;
                newest = newest.max(match tag {
                    Some(tag) => tag.sequence,
                    None => self.first_of_chain(block)?,
                });
            }
        }
        let must_go = newest >= SEQUENCE_MAX / 2;
        if newest > 0 && !must_go {
            self.space.set_sequence(newest + u64::from(block_count * pages_per_block) * 4 + 0x1_0000);
        }
        Ok(must_go)
    }

    /// The sequence of the first record of a chain in a block that can be read; 0 when there is none.
    fn first_of_chain(&mut self, block: BlockIndex) -> Result<u64, Error> {
        if !self.layout.programs_bytes() {
            return Ok(0);
        }
        let places = 0..2 * self.layout.journal_record_places() + 1;
        let (_, found) = self.records().find_chain_record(block, places)?;
        Ok(found.map_or(0, |record| record.tag.sequence))
    }

    /// Erases the first good blocks for superblocks and ring. Whatever roots an earlier volume had in other blocks: nobody looks there.
    fn choose_own_blocks(&mut self) -> Result<(), MountError> {
        let Layout { ring_count, config, geometry, .. } = self.layout;
        let mut taken = 0;
        for block in 0..geometry.block_count.min(65) {
            if taken == ring_count || self.space.blocks().state(block) != State::Free || !self.erase(block)? {
                continue;
            }
            self.space.blocks_mut().set_state(block, State::Reserved);
            taken = self.ring.take_block(block);
        }
        let (found, allowed) = (self.space.blocks().count(State::Bad), u32::from(config.bad_blocks_max));
        let first_is_good = self.space.blocks().state(0) == State::Reserved;
        match () {
            () if !first_is_good || taken < ring_count => {
                Err(MountError::OwnBlocksBad { found: taken, needed: ring_count, first_is_good })
            }
            () if found > allowed => Err(MountError::TooManyBadBlocks { found, allowed }),
            () => Ok(()),
        }
    }

    /// Reads what a volume is. The store has its content after [`recover`](Self::recover).
    ///
    /// Neither is inlined: what one needs is off the stack when the other runs, and a store behind a pointer takes less code
    /// than one in the frame of the function that makes it.
    #[inline(never)]
    pub fn open(mut flash: F, access: Access, memory: &'m mut [u8]) -> Result<Self, MountError> {
        let superblock = find_superblock(&mut flash, memory)?;
        // Changed in place: a copy of a store costs code and stack.
        let mut result = Self::empty(flash, &superblock.config, memory);
        if let Ok(store) = &mut result {
            if !store.ring.adopt(superblock.ring, superblock.copy, &store.layout) {
                return Err(MountError::NotFormatted);
            }
            store.status = Status::new(access);
        }
        result
    }

    /// Brings the store to the state that was committed last, and the medium as well with `SETTLE`; `false` when there is no
    /// readable root.
    ///
    /// A firmware that only reads links nothing that programs: so `SETTLE` is known to the compiler.
    ///
    /// # Cost
    /// See [`bounds`](crate::pace).
    #[inline(never)]
    pub fn recover<const SETTLE: bool>(&mut self) -> Result<bool, Error> {
        let Some(last) = self.find_state()? else { return Ok(false) };
        self.status.settle(self.ring.is_closed());
        if self.ring.is_closed() && self.status.damage().is_none() {
            if self.status.is_worn_out() {
                self.status.lock();
            }
            if SETTLE {
                self.search().know_blank_places()?;
                self.records().leave_touched_chain()?;
            }
            // What can wait does so: the first calls are as short as others.
            self.pace.wait();
            return Ok(true);
        }
        if SETTLE && !self.status.is_worn_out() && self.status.damage().is_none() {
            match self.settle(last) {
                // The medium takes no more. What there is can still be read: from the same root, for this mount's is not complete.
                Err(Error::MediaFailing | Error::ReadOnly) => {}
                result => return result.map(|()| true),
            }
            if self.find_state()?.is_none() {
                return Ok(false);
            }
        }
        self.status.lock();
        Ok(true)
    }

    /// Accepts what a mount found missing, but none of the first `tables` logical pages. Until [`end_repair`](Self::end_repair) every mount finds
    /// that it was begun.
    ///
    /// # Cost
    /// That of a mount.
    pub fn begin_repair(&mut self, tables: u32) -> Result<(), Error> {
        let Some(before) = self.status.repairable()? else { return Ok(()) };
        let last = self.find_state().and_then(|last| last.ok_or(Error::Corrupt)).inspect_err(|_| {
            self.forget_state();
            self.status.find(before);
        })?;
        let damage = self.status.damage();
        if damage == Some(Damage::Leaf) {
            (0..tables).try_for_each(|logical| self.frame_of(logical).map(drop))?;
        }
        self.status.begin_repair();
        let result = self.settle(last).and_then(|()| if damage == Some(Damage::Leaf) { self.replace_leaves() } else { Ok(()) });
        result.inspect_err(|_| self.status.abandon_repair(damage))
    }

    /// Knows of no page any more where it is: the tables may hold half of a state.
    fn forget_state(&mut self) {
        self.map.forget_all();
        self.transaction.clear();
        self.journal.clear();
        self.pages.forget();
    }

    /// Whether a loss was accepted whose repair has not ended.
    pub fn is_unchecked(&self) -> bool {
        self.status.is_unchecked()
    }

    /// Ends a repair: with `mended` the volume is as any other, or else it can only be read.
    pub fn end_repair(&mut self, mended: bool) -> Result<(), Error> {
        self.status.end_repair(mended);
        let result = if mended { self.write_root() } else { Ok(()) };
        if !mended || result.is_err() {
            self.status.abandon_repair(Some(Damage::Repair));
        }
        result
    }

    /// Writes the leaves anew of which a page is lost; what it mapped is missing. Only then are the blocks free in which that lay: it may be
    /// readable tomorrow.
    fn replace_leaves(&mut self) -> Result<(), Error> {
        self.begin()?;
        self.status.replace_leaves(true);
        for leaf in 0..self.layout.leaf_count {
            if !self.leaf_can_be_read(leaf)? {
                self.fold_leaf(leaf)?;
            }
        }
        self.write_root()?;
        self.status.replace_leaves(false);
        (0..self.space.blocks().block_count()).for_each(|block| self.space.settle_empty(block));
        Ok(())
    }

    /// Whether every page of a leaf can be read.
    fn leaf_can_be_read(&mut self, leaf: u32) -> Result<bool, Error> {
        for index in 0..u32::from(self.layout.config.unit_pages) {
            match self.load_leaf_page_anyhow(leaf, index) {
                Ok(_) => {}
                Err(Error::Corrupt) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Finds the state that was committed last. Programs nothing.
    ///
    /// A root that only its first seal names may be left of a block whose erase was cut, and what it names there may read as whole now and
    /// as damaged the next moment: where something is missing, it was never shown to anybody, and the one before is the newest.
    fn find_state(&mut self) -> Result<Option<Last>, Error> {
        let mut below = u32::MAX;
        loop {
            let found = self.find_state_below(below)?;
            match self.ring.uncertain().filter(|_| self.status.damage().is_some()) {
                Some(number) => below = number.get(),
                None => return Ok(found),
            }
        }
    }

    /// Finds the newest root with a number below a limit, applies the records since, and derives which frames are live.
    fn find_state_below(&mut self, below: u32) -> Result<Option<Last>, Error> {
        self.status.begin_search();
        self.transaction.begin_replay();
        self.pages.forget();
        self.map.begin();
        let Some(base) = self.search().find(below)? else { return Ok(None) };
        self.status.adopt(base.said.worn_out, base.said.unchecked);
        self.pace.adopt_credit(base.said.credit, &self.layout);
        self.reserve_own_blocks();
        if base.lost {
            self.status.find(Damage::Root);
        } else if self.status.is_unchecked() {
            self.status.find(Damage::Repair);
        }
        let last = self.roll_forward()?;
        if let Some(damage) = last.damage {
            self.status.find(damage);
        }
        if !self.ring.is_closed() {
            // Any log may have been touched.
            self.map.know_no_log();
        }
        self.load_committed(&last)?;
        match self.derive_live() {
            // Pages of a lost leaf are told of when they are read.
            Err(Error::Corrupt) => self.status.find(Damage::Leaf),
            result => result?,
        }
        Ok(Some(last))
    }

    /// Applies the records since the root. Not inlined, so that what it needs is off the stack when the volume is settled.
    #[inline(never)]
    fn roll_forward(&mut self) -> Result<Last, Error> {
        let (records, map, transaction) = self.forward_parts();
        Forward::new(records, map, transaction).roll_forward()
    }

    /// Makes the journal buffer hold the newest journal page. The one of the last record was read when it was applied, and is not
    /// read again: it may be metastable.
    fn load_committed(&mut self, last: &Last) -> Result<(), Error> {
        self.transaction.clear();
        if last.journal_is_read {
            self.journal.remove_discards();
            return Ok(());
        }
        match (0..TRIES).map(|_| self.records().load()).find(|result| *result != Err(Error::Corrupt)) {
            Some(result) => result,
            None => {
                self.status.find(Damage::Journal);
                Ok(())
            }
        }
    }

    /// Gives the blocks that the superblocks name their state.
    fn reserve_own_blocks(&mut self) {
        for block in 0..self.space.blocks().block_count() {
            let own = self.ring.owns(block);
            match self.space.blocks().state(block) {
                State::Bad => {}
                _ if own => self.space.blocks_mut().set_state(block, State::Reserved),
                State::Reserved => self.space.blocks_mut().set_state(block, State::Free),
                // Only a root that ends the use of a volume proves that an erase was complete.
                State::Erased if !self.ring.is_closed() => self.space.blocks_mut().set_state(block, State::Listed),
                _ => {}
            }
        }
    }

    /// Derives the live frames from the map.
    ///
    /// # Cost
    /// Reads every leaf.
    fn derive_live(&mut self) -> Result<(), Error> {
        self.space.blocks_mut().clear_live();
        let mut result = Ok(());
        for leaf in 0..self.layout.leaf_count {
            for index in 0..u32::from(self.layout.config.unit_pages) {
                match self.load_leaf_page_anyhow(leaf, index) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(Error::Corrupt) => {
                        result = Err(Error::Corrupt);
                        continue;
                    }
                    Err(error) => return Err(error),
                }
                for frame in self.map.frames_in(self.pages.bytes(), &self.layout, leaf, index) {
                    result = claim(&mut self.space, &self.layout, frame).and(result);
                }
            }
            self.note_weak();
            result = claim(&mut self.space, &self.layout, self.map.leaf(leaf)).and(result);
        }
        self.map.settle_all();
        for (_, frame) in self.map.entries() {
            result = claim(&mut self.space, &self.layout, frame).and(result);
        }
        for block in 0..self.space.blocks().block_count() {
            let in_use = self.space.blocks().live(block) > 0 || self.space.holds_journal(block);
            match self.space.blocks().state(block) {
                // The record that took it is lost, or the root contradicts the map: it must not be erased.
                State::Free | State::Listed | State::Erased | State::Clean | State::Dead if in_use => {
                    self.space.blocks_mut().set_state(block, State::Used)
                }
                // It may hold what a lost page of a leaf maps.
                _ if result.is_err() => {}
                // Nothing is marked on the medium: a mount may be for reading only.
                State::Retiring if !in_use => self.space.lose(block),
                _ => self.space.settle_empty(block),
            }
        }
        result
    }
}

/// Marks a frame as live; no frame can be live twice.
fn claim(space: &mut Space<'_>, layout: &Layout, frame: Frame) -> Result<(), Error> {
    if frame == 0 {
        return Ok(());
    }
    if frame >= layout.frame_count() || !space.blocks_mut().set_live(frame, true) {
        return Err(Error::Corrupt);
    }
    Ok(())
}
