//! Format: an empty volume, wherever the medium has been.

use super::Store;
use crate::config::{Config, Layout};
use crate::error::{Error, MountError};
use crate::ftl::Ftl;
use crate::media::{BlockIndex, Flash, Geometry, Kinds};
use crate::mount::Access;
use crate::root::SEQUENCE_MAX;
use crate::space::State;

impl<'m, F: Flash> Store<'m, F> {
    /// Makes an empty volume. Everything on the medium is lost.
    ///
    /// # Cost
    /// One look at each block's mark and one read; where the medium programs bytes, and a block begins with no page, reads of one or two records; `ring_count + 2` erases, and
    /// one of each block that the first calls use, six without streams; `root_programs + 2` programs, and
    /// `ring_count - 1` where the medium programs no bytes.
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
        let mut result = Self::empty(flash, config, None, Access::ReadWrite, memory);
        if let Ok(store) = &mut result {
            store.write_empty(erasing)?;
        }
        result.map(Self::into_flash)
    }

    /// Writes the superblocks and the root of an empty volume.
    fn write_empty(&mut self, erasing: Option<&mut dyn FnMut(u32, u32)>) -> Result<(), MountError> {
        let must_go = self.pass_earlier_volume()?;
        let mut has_failed = false;
        while !self.begin_own_blocks(&mut has_failed)? {}
        match erasing {
            Some(told) => self.erase_for_data(u32::MAX, must_go, told)?,
            None => {
                let first = self.logical.ftl.layout.first_blocks();
                self.erase_for_data(if must_go { u32::MAX } else { first }, must_go, |_, _| {})?;
            }
        }
        self.logical.ftl.in_ring(|roots, said, _| roots.write_first(said).and_then(|()| roots.program_superblock(0)))?;
        Ok(self.logical.ftl.pages.flash_mut().sync()?)
    }

    /// Erases blocks for data, `most` of them, and tells after each block how many are done, of how many. The root that ends the format says that they are erased;
    /// the first ones may be programmed from then on.
    fn erase_for_data(&mut self, most: u32, must_go: bool, mut told: impl FnMut(u32, u32)) -> Result<(), MountError> {
        let ftl = &mut self.logical.ftl;
        let (block_count, first) = (ftl.layout.geometry.block_count, ftl.layout.first_blocks());
        // If all blocks must be erased, no block is passed over.
        let (mut erased, mut passes) = (0, !must_go);
        for block in 0..block_count {
            if erased == most {
                break;
            }
            passes &= !must_go;
            if ftl.space.blocks().state(block) == State::Free && erase_or_pass(ftl, block, &mut passes)? {
                ftl.space.blocks_mut().set_state(block, if erased < first { State::Erased } else { State::Clean });
                erased += 1;
            }
            told(block + 1, block_count);
        }
        Ok(())
    }

    /// Notes bad blocks, and chooses a first sequence: pages of an earlier volume stay until their blocks are erased. Roll-forward takes
    /// them for old ones if all sequences of this volume are higher: that of the newest first page of a block, and of what was
    /// programmed after it. Returns whether none is high enough, so that all blocks must be erased: no chip lives so long, whatever wrote that.
    fn pass_earlier_volume(&mut self) -> Result<bool, MountError> {
        let Geometry { block_count, pages_per_block, .. } = self.logical.ftl.layout.geometry;
        let mut newest = 0;
        for block in 0..block_count {
            let ftl = &mut self.logical.ftl;
            let state = if ftl.pages.flash_mut().is_bad(block)? { State::Bad } else { State::Free };
            ftl.space.blocks_mut().set_state(block, state);
            if state == State::Free {
                // No volume lives to see half of them.
                let tag = ftl.pages.read_tagged(block * pages_per_block, Kinds::ALL)?;
                newest = newest.max(match tag {
                    Some(tag) => tag.sequence,
                    None => self.first_of_chain(block)?,
                });
            }
        }
        let must_go = newest >= SEQUENCE_MAX / 2;
        if newest > 0 && !must_go {
            self.logical.ftl.space.set_sequence(newest + u64::from(block_count * pages_per_block) * 4 + 0x1_0000);
        }
        Ok(must_go)
    }

    /// The sequence of the first record of a chain in a block that can be read; 0 when there is none.
    fn first_of_chain(&mut self, block: BlockIndex) -> Result<u64, Error> {
        if !self.logical.ftl.layout.programs_bytes() {
            return Ok(0);
        }
        let places = 0..2 * self.logical.ftl.layout.journal_record_places() + 1;
        let (_, found) = self.logical.records().find_chain_record(block, places)?;
        Ok(found.map_or(0, |record| record.tag.sequence))
    }

    /// Chooses blocks for superblocks and ring, and programs the second superblock. `false` if its
    /// block is bad, or the device did not answer for the first time: then blocks are to be chosen
    /// again.
    fn begin_own_blocks(&mut self, has_failed: &mut bool) -> Result<bool, MountError> {
        self.choose_own_blocks()?;
        let ftl = &mut self.logical.ftl;
        let result = ftl.in_ring(|roots, _, _| roots.program_superblock_copy());
        let is_bad = result == Err(Error::MediaFailing);
        if is_bad || (result == Err(Error::Device) && !core::mem::replace(has_failed, true)) {
            let copy = ftl.ring.release_blocks();
            ftl.reserve_own_blocks();
            if is_bad {
                ftl.space.lose(copy);
            }
            return Ok(false);
        }
        Ok(result.map(|()| true)?)
    }

    /// Erases the first good blocks for superblocks and ring. Whatever roots an earlier volume had in other blocks: nobody looks there.
    fn choose_own_blocks(&mut self) -> Result<(), MountError> {
        let ftl = &mut self.logical.ftl;
        let Layout { ring_count, config, geometry, .. } = ftl.layout;
        let (mut taken, mut passes) = (0, true);
        for block in 0..geometry.block_count.min(65) {
            if taken == ring_count || ftl.space.blocks().state(block) != State::Free || !erase_or_pass(ftl, block, &mut passes)? {
                continue;
            }
            ftl.space.blocks_mut().set_state(block, State::Reserved);
            taken = ftl.ring.take_block(block);
        }
        let (found, allowed) = (ftl.space.blocks().count(State::Bad), u32::from(config.bad_blocks_max));
        let first_is_good = ftl.space.blocks().state(0) == State::Reserved;
        match () {
            () if !first_is_good || taken < ring_count => {
                Err(MountError::OwnBlocksBad { found: taken, needed: ring_count, first_is_good })
            }
            // The settings of a device that replaces bad blocks itself allow for none.
            () if found > allowed && (config.wear_spread > 0 || !ftl.layout.has_room(found)) => {
                Err(MountError::TooManyBadBlocks { found, allowed })
            }
            () => Ok(()),
        }
    }
}

/// Erases a block. `false` if it takes no erase, or if the device does not answer.
///
/// # Errors
/// [`Error::Device`] at block 0, and at the second block in a row: then the device is gone.
fn erase_or_pass<F: Flash>(ftl: &mut Ftl<'_, F>, block: BlockIndex, passes: &mut bool) -> Result<bool, Error> {
    let result = ftl.erase(block);
    if result == Err(Error::Device) && block > 0 && core::mem::take(passes) {
        return Ok(false);
    }
    *passes |= result == Ok(true);
    result
}
