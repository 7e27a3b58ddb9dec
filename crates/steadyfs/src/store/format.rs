//! Format: writes an empty volume to a medium with any content.

use super::Store;
use crate::config::{Config, Layout};
use crate::error::{Error, MountError};
use crate::ftl::Ftl;
use crate::media::{BlockIndex, Flash, Geometry, TagKinds};
use crate::mount::Access;
use crate::root::SEQUENCE_MAX;
use crate::space::State;

impl<'m, F: Flash> Store<'m, F> {
    /// Makes an empty volume. Everything on the medium is lost.
    ///
    /// # Cost
    /// - For each block, one look at its bad block mark and one read.
    /// - If the medium programs bytes: reads of one or two records for each block whose first page
    ///   is not readable as a page.
    /// - `ring_count + 2` erases, and one erase of each block that the first calls use. Without
    ///   streams these are six blocks.
    /// - `root_programs + 2` programs. If the medium programs whole pages, another `ring_count - 1`
    ///   programs.
    ///
    /// # Power loss
    /// Until the root is complete, the medium counts as not formatted. While the first two blocks
    /// of an earlier volume are not erased, a mount may also find that volume.
    pub fn format(
        flash: F,
        config: &Config,
        memory: &'m mut [u8],
        erasing: Option<&mut dyn FnMut(u32, u32)>,
    ) -> Result<F, MountError> {
        // The store is changed in place, because a copy of a store costs code and stack.
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
        // The first superblock is programmed last. If a mount finds neither this superblock nor a
        // root, the format was interrupted.
        self.logical.ftl.in_ring(|roots, said, _| {
            roots.write_first(said).and_then(|()| roots.program_superblock(0))
        })?;
        Ok(self.logical.ftl.pages.flash_mut().sync()?)
    }

    /// Erases up to `most` blocks for data. After each block, calls `told` with the number of
    /// finished blocks and the number of all blocks. The root that ends the format contains the
    /// states of the erased blocks. With this root, heads may program the first
    /// `Layout::first_blocks` of them.
    fn erase_for_data(
        &mut self,
        most: u32,
        must_go: bool,
        mut told: impl FnMut(u32, u32),
    ) -> Result<(), MountError> {
        let ftl = &mut self.logical.ftl;
        let (block_count, first) = (ftl.layout.geometry.block_count, ftl.layout.first_blocks());
        // If all blocks must be erased, no block may be skipped.
        let (mut erased, mut passes) = (0, !must_go);
        for block in 0..block_count {
            if erased == most {
                break;
            }
            passes &= !must_go;
            if ftl.space.blocks().state(block) == State::Free
                && erase_or_pass(ftl, block, &mut passes)?
            {
                ftl.space
                    .blocks_mut()
                    .set_state(block, if erased < first { State::Erased } else { State::Clean });
                erased += 1;
            }
            told(block + 1, block_count);
        }
        Ok(())
    }

    /// Records bad blocks, and chooses the first sequence number. Pages of an earlier volume stay
    /// until their blocks are erased. Roll-forward ignores them if all sequence numbers of this
    /// volume are larger. So the first number is larger than the number of each block's first page,
    /// and of everything that was programmed after it.
    ///
    /// Returns true if no sequence number is large enough, so that all blocks must be erased. No
    /// volume reaches such numbers in the life of a chip, but another program may have written the
    /// old pages.
    fn pass_earlier_volume(&mut self) -> Result<bool, MountError> {
        let Geometry { block_count, pages_per_block, .. } = self.logical.ftl.layout.geometry;
        let mut newest = 0;
        for block in 0..block_count {
            let ftl = &mut self.logical.ftl;
            let state = if ftl.pages.flash_mut().is_bad(block)? { State::Bad } else { State::Free };
            ftl.space.blocks_mut().set_state(block, state);
            if state == State::Free {
                // No volume lives long enough to use half of the sequence numbers.
                let tag = ftl.pages.read_tagged(block * pages_per_block, TagKinds::ALL)?;
                newest = newest.max(match tag {
                    Some(tag) => tag.sequence,
                    None => self.first_of_chain(block)?,
                });
            }
        }
        let must_go = newest >= SEQUENCE_MAX / 2;
        if newest > 0 && !must_go {
            self.logical
                .ftl
                .space
                .set_sequence(newest + u64::from(block_count * pages_per_block) * 4 + 0x1_0000);
        }
        Ok(must_go)
    }

    /// Returns the sequence number of the first readable record of a chain in a block; 0 if there
    /// is no readable record.
    fn first_of_chain(&mut self, block: BlockIndex) -> Result<u64, Error> {
        if !self.logical.ftl.layout.programs_bytes() {
            return Ok(0);
        }
        let places = 0..2 * self.logical.ftl.layout.journal_record_places() + 1;
        let (_, found) = self.logical.records().find_chain_record(block, places)?;
        Ok(found.map_or(0, |record| record.tag.sequence))
    }

    /// Chooses blocks for the superblocks and the ring, and programs the second superblock. Returns
    /// `false` if the blocks must be chosen again: the block of the second superblock is bad, or
    /// the device did not answer for the first time.
    fn begin_own_blocks(&mut self, has_failed: &mut bool) -> Result<bool, MountError> {
        self.choose_own_blocks()?;
        let ftl = &mut self.logical.ftl;
        let result = ftl.in_ring(|roots, _, _| roots.program_superblock_copy());
        let is_bad = result == Err(Error::MediaFailing);
        if is_bad || (result == Err(Error::Device) && !core::mem::replace(has_failed, true)) {
            let copy = ftl.ring.release_blocks();
            // The blocks become free again for the next choice.
            ftl.reserve_own_blocks();
            if is_bad {
                ftl.space.lose(copy);
            }
            return Ok(false);
        }
        Ok(result.map(|()| true)?)
    }

    /// Erases the first good blocks for the superblocks and the ring. An earlier volume may have
    /// left roots in other blocks, but no mount searches these blocks for roots.
    fn choose_own_blocks(&mut self) -> Result<(), MountError> {
        let ftl = &mut self.logical.ftl;
        let Layout { ring_count, config, geometry, .. } = ftl.layout;
        let (mut taken, mut passes) = (0, true);
        let blocks = 0..geometry.block_count.min(65);
        // The block of the second superblock is erased first. So if a power cut hits the erase of
        // block 0, no superblock of an interrupted format is left.
        let is_good = |&block: &BlockIndex| ftl.space.blocks().state(block) == State::Free;
        let second = blocks.clone().skip(1).find(is_good);
        for block in second.into_iter().chain(blocks) {
            if taken == ring_count
                || ftl.space.blocks().state(block) != State::Free
                || !erase_or_pass(ftl, block, &mut passes)?
            {
                continue;
            }
            ftl.space.blocks_mut().set_state(block, State::Reserved);
            taken = ftl.ring.take_block(block);
        }
        let (found, allowed) =
            (ftl.space.blocks().count(State::Bad), u32::from(config.bad_blocks_max));
        let first_is_good = ftl.space.blocks().state(0) == State::Reserved;
        match () {
            () if !first_is_good || taken < ring_count => {
                Err(MountError::OwnBlocksBad { found: taken, needed: ring_count, first_is_good })
            }
            // If the device replaces bad blocks itself (`wear_spread` is 0), the settings permit no
            // bad blocks. On such a device, bad blocks are no error if the other blocks have enough
            // room for the volume.
            () if found > allowed && (config.wear_spread > 0 || !ftl.layout.has_room(found)) => {
                Err(MountError::TooManyBadBlocks { found, allowed })
            }
            () => Ok(()),
        }
    }
}

/// Erases a block. Returns `false` if the erase fails, or if the device does not answer.
///
/// # Errors
/// [`Error::Device`] if the device does not answer for block 0, or for two blocks in a row. The
/// device is then gone.
fn erase_or_pass<F: Flash>(
    ftl: &mut Ftl<'_, F>,
    block: BlockIndex,
    passes: &mut bool,
) -> Result<bool, Error> {
    let result = ftl.erase(block);
    if result == Err(Error::Device) && block > 0 && core::mem::take(passes) {
        return Ok(false);
    }
    *passes |= result == Ok(true);
    result
}
