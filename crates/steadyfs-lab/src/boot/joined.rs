//! Several erase blocks of a NAND chip as one block.
//!
//! A root of SteadyFS has one and a half bytes for each block, and lies in one block with its
//! copies. The K9F1208 has 4,096 blocks of 16 KiB, which are too many and too small. The pages
//! stay the same.

use crate::blocks::join_nand;
use steadyfs::media::{
    BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};
use steadyfs_sim::{Counters, Metered};

/// A chip whose blocks are groups of blocks of another chip. One bad block makes its whole group
/// bad.
pub struct Joined<F> {
    chip: F,
    blocks: u32,
}

impl<F: Flash> Joined<F> {
    /// Joins as few blocks as SteadyFS needs; one if SteadyFS can use the chip as it is.
    pub fn new(chip: F) -> Self {
        let (blocks, _) = join_nand(&chip.geometry());
        Self { chip, blocks }
    }

    /// Returns the number of blocks of the chip that form one block here.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    fn each(&self, block: BlockIndex) -> impl Iterator<Item = BlockIndex> + use<F> {
        (block * self.blocks..).take(self.blocks as usize)
    }
}

impl<F: Flash> Flash for Joined<F> {
    fn geometry(&self) -> Geometry {
        let chip = self.chip.geometry();
        let (pages_per_block, block_count) =
            (chip.pages_per_block * self.blocks, chip.block_count / self.blocks);
        Geometry { pages_per_block, block_count, ..chip }
    }

    fn timing(&self) -> Timing {
        let timing = self.chip.timing();
        Timing { erase_ns: timing.erase_ns * u64::from(self.blocks), ..timing }
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.chip.read(page, data, tag)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.chip.read_tag(page, tag)
    }

    fn corrected(&mut self) -> Corrected {
        self.chip.corrected()
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.chip.program(page, data, tag)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.each(block).try_for_each(|block| self.chip.erase(block))
    }

    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        self.chip.checksum(data, missing)
    }

    fn sync(&mut self) -> Result<(), Failure> {
        self.chip.sync()
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        for block in self.each(block) {
            if self.chip.is_bad(block)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.each(block).try_for_each(|block| self.chip.mark_bad(block))
    }
}

impl<F: Metered> Metered for Joined<F> {
    fn counters(&self) -> Counters {
        self.chip.counters()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadyfs::Config;
    use steadyfs_sim::{Nand, NandTiming};

    fn chip(pages_per_block: u32, block_count: u32, page_bytes: u32) -> Nand {
        let geometry = Geometry { page_bytes, pages_per_block, block_count, programs_bytes: false };
        Nand::with_geometry(geometry, NandTiming::ROUND, 1)
    }

    #[test]
    fn small_blocks_are_joined_and_large_ones_stay() {
        assert_eq!(Joined::new(chip(64, 1024, 2048)).blocks(), 1);
        let joined = Joined::new(chip(32, 4096, 512));
        assert!(
            joined.blocks() > 1
                && Config::for_geometry(&joined.geometry()).check(&joined.geometry()).is_ok()
        );
    }

    #[test]
    fn one_bad_block_makes_all_bad_that_are_joined() {
        let mut joined = Joined::new(chip(32, 4096, 512).with_bad_blocks_at(&[77]));
        let bad = 77 / joined.blocks();
        let all: Vec<_> = (0..joined.geometry().block_count)
            .filter(|&block| joined.is_bad(block).unwrap())
            .collect();
        assert_eq!(all, [bad]);
        joined.erase(0).unwrap();
        assert_eq!(joined.counters().erases, u64::from(joined.blocks()));
    }
}
