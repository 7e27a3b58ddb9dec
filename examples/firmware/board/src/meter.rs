//! Separates the time of the driver and of checksums from the time of the file system.

use crate::timer::now;
use steadyfs::media::nor::{NorFlash, NorPages};
use steadyfs::media::{
    BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};

/// Ticks since the start.
#[derive(Clone, Copy, Default)]
pub struct Spent {
    /// In operations of the chip.
    pub chip: u32,
    /// In checksums.
    pub checksum: u32,
}

/// A chip whose time is counted.
pub struct Metered<F> {
    pub chip: F,
    pub spent: Spent,
}

impl<F> Metered<F> {
    /// Wraps a chip, with all counters at zero.
    pub fn new(chip: F) -> Self {
        Self { chip, spent: Spent::default() }
    }

    /// Operates the chip, and counts its time.
    #[inline(always)]
    fn operate<R>(&mut self, work: impl FnOnce(&mut F) -> R) -> R {
        let start = now();
        let result = work(&mut self.chip);
        self.spent.chip = self.spent.chip.wrapping_add(now().wrapping_sub(start));
        result
    }
}

impl<F: Flash> Flash for Metered<F> {
    fn geometry(&self) -> Geometry {
        self.chip.geometry()
    }

    fn timing(&self) -> Timing {
        self.chip.timing()
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.operate(|chip| chip.read(page, data, tag))
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.operate(|chip| chip.read_tag(page, tag))
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
        self.operate(|chip| chip.program(page, data, tag))
    }

    fn can_copy(&self) -> bool {
        self.chip.can_copy()
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        self.operate(|chip| chip.program_loaded(page, tag))
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.operate(|chip| chip.erase(block))
    }

    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        let start = now();
        let sum = self.chip.checksum(data, missing);
        self.spent.checksum = self.spent.checksum.wrapping_add(now().wrapping_sub(start));
        sum
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.chip.is_bad(block)
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.mark_bad(block)
    }
}

impl<F: NorFlash> NorFlash for Metered<F> {
    fn block_bytes(&self) -> u32 {
        self.chip.block_bytes()
    }

    fn block_count(&self) -> u32 {
        self.chip.block_count()
    }

    fn times_ns(&self, bytes: u32) -> (u64, u64, u64) {
        self.chip.times_ns(bytes)
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        self.operate(|chip| chip.read(address, data))
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        self.operate(|chip| chip.program(address, data))
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.operate(|chip| chip.erase(block))
    }
}

/// A medium that reports the time of its chip.
pub trait Meter: Flash {
    /// Returns the ticks since the start.
    fn spent(&self) -> Spent;
}

impl<F: Flash> Meter for Metered<F> {
    fn spent(&self) -> Spent {
        self.spent
    }
}

impl<N: NorFlash> Meter for NorPages<Metered<N>> {
    fn spent(&self) -> Spent {
        self.chip().spent
    }
}
