//! Tells the driver's time and that of checksums from the file system's.

use crate::host::now;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};

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

impl<F: Flash> Metered<F> {
    /// Operates the chip.
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

    fn read(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.operate(|chip| chip.read(page, data, tag))
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.operate(|chip| chip.read_tag(page, tag))
    }

    fn program(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
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
