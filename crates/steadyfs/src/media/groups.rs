//! Several erase sectors of a NOR chip as one block.
//!
//! ```text
//! block:  | sector 0: tags, pages … | sector 1: pages … | … |
//! erase:    first                     second              …
//! ```
//!
//! A block holds a root with its copies. For each block, a root needs one and a half bytes, and the
//! RAM needs about four bytes. If each sector of 4 KiB were a block, a chip of 16 MiB would need
//! roots of 7 KiB and 20 KiB of RAM. So the blocks of a large chip are groups of sectors.

use super::nor::NorFlash;
use super::{BlockIndex, Failure};

/// A [`NorFlash`] whose blocks are groups of erase sectors of another `NorFlash`.
///
/// [`Config::group_sectors`](crate::Config::group_sectors) returns the size of the groups that a
/// chip needs.
///
/// # Power loss
/// A power cut during an erase leaves some of the sectors erased and the others not. The first
/// sector, which contains the tags, is erased first. So the data that remains in later sectors has
/// no tags.
///
/// # Cost
/// An erase of a block takes one erase of each sector. If one command of a chip erases as many
/// bytes, its driver does not need this type. The driver then reports blocks of that size.
#[derive(Clone, Debug)]
pub struct Groups<N> {
    chip: N,
    sectors: u32,
}

impl<N: NorFlash> Groups<N> {
    /// Groups `sectors` sectors of `chip` into each block. If `sectors` is 0, each sector is a
    /// block. Sectors behind the last whole group are not used.
    pub const fn new(chip: N, sectors: u32) -> Self {
        Self { chip, sectors: if sectors == 0 { 1 } else { sectors } }
    }

    /// Returns the number of sectors of a block.
    pub const fn sectors(&self) -> u32 {
        self.sectors
    }

    /// Returns the chip underneath.
    pub const fn chip(&self) -> &N {
        &self.chip
    }

    /// Returns the chip underneath, mutable.
    pub const fn chip_mut(&mut self) -> &mut N {
        &mut self.chip
    }

    /// Gives the chip back.
    pub fn into_chip(self) -> N {
        self.chip
    }
}

impl<N: NorFlash> NorFlash for Groups<N> {
    fn block_bytes(&self) -> u32 {
        self.chip.block_bytes() * self.sectors
    }

    fn block_count(&self) -> u32 {
        self.chip.block_count() / self.sectors
    }

    fn times_ns(&self, bytes: u32) -> (u64, u64, u64) {
        let (read_ns, program_ns, erase_ns) = self.chip.times_ns(bytes);
        (read_ns, program_ns, erase_ns * u64::from(self.sectors))
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        self.chip.read(address, data)
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        self.chip.program(address, data)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let first = block * self.sectors;
        (first..first + self.sectors).try_for_each(|sector| self.chip.erase(sector))
    }
}
