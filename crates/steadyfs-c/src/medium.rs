//! One medium for all drivers, so that volumes on different kinds of chips have one type.

use crate::driver;
use steadyfs::Processor;
use steadyfs::media::{
    BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};

/// The medium of a volume, and the processor that its times contain.
pub(crate) struct Medium {
    chip: Chip,
    processor: Processor,
}

impl Medium {
    /// Returns a medium whose times contain no processor.
    pub fn new(chip: Chip) -> Self {
        Self { chip, processor: Processor::NONE }
    }

    pub fn set_processor(&mut self, processor: Processor) {
        self.processor = processor;
    }
}

/// The medium itself.
pub(crate) enum Chip {
    #[cfg(feature = "nand")]
    Nand(driver::NandChip),
    #[cfg(feature = "nor")]
    Nor(steadyfs::media::nor::NorPages<steadyfs::media::groups::Groups<driver::NorChip>>),
    /// This medium lies at the start of the lent memory, because it is larger than the other
    /// variants.
    #[cfg(feature = "sectors")]
    Sectors(&'static mut steadyfs::media::sectors::SectorPages<driver::Card>),
}

#[cfg(not(any(feature = "nand", feature = "nor", feature = "sectors")))]
compile_error!("a library without the features `nand`, `nor` and `sectors` has no medium");

/// Forwards a call to the medium of the variant.
macro_rules! delegate {
    ($medium:expr, $it:ident => $call:expr) => {
        match $medium {
            #[cfg(feature = "nand")]
            Chip::Nand($it) => $call,
            #[cfg(feature = "nor")]
            Chip::Nor($it) => $call,
            #[cfg(feature = "sectors")]
            Chip::Sectors($it) => $call,
        }
    };
}

impl Flash for Medium {
    fn geometry(&self) -> Geometry {
        delegate!(&self.chip, it => it.geometry())
    }

    fn timing(&self) -> Timing {
        let timing = delegate!(&self.chip, it => it.timing());
        timing.with_processor(self.processor, &self.geometry())
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        delegate!(&mut self.chip, it => it.read(page, data, tag))
    }

    fn reads_many(&self) -> bool {
        delegate!(&self.chip, it => it.reads_many())
    }

    fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        delegate!(&mut self.chip, it => it.read_many(first, data, tags))
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        delegate!(&mut self.chip, it => it.read_tag(page, tag))
    }

    fn corrected(&mut self) -> Corrected {
        delegate!(&mut self.chip, it => it.corrected())
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        delegate!(&mut self.chip, it => it.program(page, data, tag))
    }

    fn program_many(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Failure> {
        delegate!(&mut self.chip, it => it.program_many(first, data, tags))
    }

    fn can_copy(&self) -> bool {
        delegate!(&self.chip, it => it.can_copy())
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        delegate!(&mut self.chip, it => it.program_loaded(page, tag))
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        delegate!(&mut self.chip, it => it.read_bytes(block, offset, data))
    }

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        delegate!(&mut self.chip, it => it.program_bytes(block, offset, data))
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        delegate!(&mut self.chip, it => it.erase(block))
    }

    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        delegate!(&mut self.chip, it => it.checksum(data, missing))
    }

    fn sync(&mut self) -> Result<(), Failure> {
        match &mut self.chip {
            // The trait `NorFlash` has no call that flushes a cache, so this calls the driver
            // directly.
            #[cfg(feature = "nor")]
            Chip::Nor(pages) => pages.chip().chip().sync(),
            #[cfg(feature = "nand")]
            Chip::Nand(chip) => chip.sync(),
            #[cfg(feature = "sectors")]
            Chip::Sectors(pages) => pages.sync(),
        }
    }

    fn reorders(&self) -> bool {
        delegate!(&self.chip, it => it.reorders())
    }

    fn hides_damage(&self) -> bool {
        delegate!(&self.chip, it => it.hides_damage())
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        delegate!(&mut self.chip, it => it.is_bad(block))
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        delegate!(&mut self.chip, it => it.mark_bad(block))
    }
}
