//! A chip of either kind, so that one test runs on both.

use steadyfs::media::nor::NorPages;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs_sim::{Counters, Metered, Nand, NandTiming, Nor, NorTiming, Tearable, Torn};

/// The chip.
#[derive(Clone)]
enum Kind {
    Nand(Nand),
    Nor(NorPages<Nor>),
}

/// A simulated chip that panics when it is read more often than a test allows.
#[derive(Clone)]
pub struct Medium {
    kind: Kind,
    /// Reads that are left.
    pub reads_left: u64,
}

/// Does the same with either chip.
macro_rules! either {
    ($self:ident, $chip:ident => $act:expr) => {
        match &$self.kind {
            Kind::Nand($chip) => $act,
            Kind::Nor($chip) => $act,
        }
    };
    (mut $self:ident, $chip:ident => $act:expr) => {
        match &mut $self.kind {
            Kind::Nand($chip) => $act,
            Kind::Nor($chip) => $act,
        }
    };
}

impl Medium {
    pub fn nand(geometry: Geometry, copy: bool, seed: u64) -> Self {
        Self::new(Kind::Nand(Nand::with_geometry(geometry, NandTiming::ROUND, seed).with_on_chip_copy(copy)))
    }

    pub fn nor(block_bytes: u32, block_count: u32, page_bytes: u32, seed: u64) -> Self {
        Self::new(Kind::Nor(NorPages::new(Nor::with_geometry(block_bytes, block_count, NorTiming::ROUND, seed), page_bytes)))
    }

    fn new(kind: Kind) -> Self {
        Self { kind, reads_left: u64::MAX }
    }

    /// Lets `count` blocks be bad from the factory. NOR has none.
    pub fn with_bad_blocks(self, count: u32) -> Self {
        match self.kind {
            Kind::Nand(chip) => Self::new(Kind::Nand(chip.with_bad_blocks(count))),
            Kind::Nor(_) => self,
        }
    }

    /// How often each block was erased.
    pub fn erase_counts(&self) -> Vec<u32> {
        match &self.kind {
            Kind::Nand(chip) => chip.erase_counts(),
            Kind::Nor(pages) => pages.chip().erase_counts(),
        }
    }

    fn count_read(&mut self) {
        self.reads_left = self.reads_left.checked_sub(1).expect("a call reads without end");
    }
}

impl Flash for Medium {
    fn geometry(&self) -> Geometry {
        either!(self, chip => chip.geometry())
    }

    fn timing(&self) -> Timing {
        either!(self, chip => chip.timing())
    }

    fn read(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.count_read();
        either!(mut self, chip => chip.read(page, data, tag))
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.count_read();
        either!(mut self, chip => chip.read_tag(page, tag))
    }

    fn program(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        either!(mut self, chip => chip.program(page, data, tag))
    }

    fn can_copy(&self) -> bool {
        either!(self, chip => chip.can_copy())
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        either!(mut self, chip => chip.program_loaded(page, tag))
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        either!(mut self, chip => chip.erase(block))
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        either!(mut self, chip => chip.is_bad(block))
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        either!(mut self, chip => chip.mark_bad(block))
    }
}

impl Tearable for Medium {
    fn program_torn(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES], torn: Torn) {
        either!(mut self, chip => chip.program_torn(page, data, tag, torn))
    }

    fn program_loaded_torn(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES], torn: Torn) {
        either!(mut self, chip => chip.program_loaded_torn(page, tag, torn))
    }

    fn erase_torn(&mut self, block: BlockIndex, torn: Torn) {
        either!(mut self, chip => chip.erase_torn(block, torn))
    }

    fn power_on(&mut self) {
        either!(mut self, chip => chip.power_on())
    }
}

impl Metered for Medium {
    fn counters(&self) -> Counters {
        either!(self, chip => chip.counters())
    }
}
