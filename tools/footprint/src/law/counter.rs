//! Counts the operations of a medium as the bounds count them.

use board::meter::{Meter, Spent};
use steadyfs::media::{
    BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};
use steadyfs::{Cost, Processor};

/// A medium whose operations are counted.
pub struct Counter<F> {
    medium: F,
    spent: Cost,
    /// The processor that the times of the medium contain.
    processor: Processor,
}

impl<F: Meter> Counter<F> {
    /// Wraps a medium, with all counters at zero.
    pub fn new(medium: F) -> Self {
        Self { medium, spent: Cost::default(), processor: Processor::NONE }
    }

    /// Wraps a medium whose times contain a processor. Budgets of idle work then contain it, too.
    pub fn with_processor(medium: F, processor: Processor) -> Self {
        Self { processor, ..Self::new(medium) }
    }

    /// Returns the times of the medium alone.
    pub fn flash_timing(&self) -> Timing {
        self.medium.timing()
    }

    /// Returns true if the times of the medium contain a processor.
    pub fn has_processor(&self) -> bool {
        self.processor != Processor::NONE
    }

    /// Returns the operations since the start.
    pub fn operations(&self) -> Cost {
        self.spent
    }

    /// Returns the ticks of the chip and of checksums since the start.
    pub fn ticks(&self) -> Spent {
        self.medium.spent()
    }
}

impl<F: Flash> Flash for Counter<F> {
    fn geometry(&self) -> Geometry {
        self.medium.geometry()
    }

    fn timing(&self) -> Timing {
        self.medium.timing().with_processor(self.processor, &self.geometry())
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.spent.reads += 1;
        self.medium.read(page, data, tag)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.spent.tag_reads += 1;
        self.medium.read_tag(page, tag)
    }

    fn reads_many(&self) -> bool {
        self.medium.reads_many()
    }

    fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        let count = self.medium.read_many(first, data, tags)?;
        self.spent.reads += count as u32;
        Ok(count)
    }

    fn corrected(&mut self) -> Corrected {
        self.medium.corrected()
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.spent.programs += 1;
        self.medium.program(page, data, tag)
    }

    fn can_copy(&self) -> bool {
        self.medium.can_copy()
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        self.spent.copies += 1;
        self.medium.program_loaded(page, tag)
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.spent.reads += 1;
        self.medium.read_bytes(block, offset, data)
    }

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        self.spent.programs += 1;
        self.medium.program_bytes(block, offset, data)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.spent.erases += 1;
        self.medium.erase(block)
    }

    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        self.medium.checksum(data, missing)
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.medium.is_bad(block)
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.medium.mark_bad(block)
    }
}
