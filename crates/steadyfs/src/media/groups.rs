//! Several erase sectors of a NOR chip as one block.
//!
//! ```text
//! block:  | sector 0: tags, pages … | sector 1: pages … | … |
//! erase:    first                     second              …
//! ```
//!
//! A block holds a root with its copies, a root has a byte and a half for each block, and RAM has some four: in sectors of 4 KiB a chip of 16 MiB
//! would take roots of 7 KiB and 20 KiB of RAM. So the blocks of a larger chip are groups of sectors.

use super::nor::NorFlash;
use super::{BlockIndex, Failure};

/// A [`NorFlash`] whose blocks are groups of erase sectors of another one.
///
/// [`Config::group_sectors`](crate::Config::group_sectors) says how many a chip needs.
///
/// # Power loss
/// An erase that is cut has erased some of the sectors. The first one, with the tags, goes first: what is left behind it has none.
///
/// # Cost
/// An erase is one of each sector. A driver whose chip has a command that erases as much at once needs none of this: it says that its blocks are so large.
#[derive(Clone, Debug)]
pub struct Groups<N> {
    chip: N,
    sectors: u32,
}

impl<N: NorFlash> Groups<N> {
    /// Groups so many sectors of `chip` to a block, one at least. Sectors behind the last whole group are not used.
    pub const fn new(chip: N, sectors: u32) -> Self {
        Self { chip, sectors: if sectors == 0 { 1 } else { sectors } }
    }

    /// Sectors of a block.
    pub const fn sectors(&self) -> u32 {
        self.sectors
    }

    /// The chip underneath.
    pub const fn chip(&self) -> &N {
        &self.chip
    }

    /// The chip underneath, mutable.
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
