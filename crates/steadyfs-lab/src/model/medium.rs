//! A chip or a device of any kind, so that one test runs on all.

use steadyfs::media::groups::Groups;
use steadyfs::media::nor::NorPages;
use steadyfs::media::sectors::{SectorLayout, SectorPages};
use steadyfs::media::{
    BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};
use steadyfs_sim::fault::{BitErrorModel, BitErrors, Survivors, WriteCache};
use steadyfs_sim::{Counters, Metered, Nand, NandTiming, Nor, NorTiming, Sectors, Tearable, Torn};

/// A chip with bit errors, below a write cache that may be unused.
type Layers<C> = WriteCache<BitErrors<C>>;

/// The chip.
#[derive(Clone)]
enum Kind {
    Nand(Layers<Nand>),
    Nor(Layers<NorPages<Groups<Nor>>>),
    /// Managed flash, with a cache of its own.
    Sectors(Box<SectorPages<Sectors>>),
}

/// Returns layers that pass everything on.
fn layers<C: Tearable>(chip: C, seed: u64) -> Layers<C> {
    WriteCache::new(BitErrors::new(chip), seed)
}

/// A simulated chip that panics if it is read more often than a test allows.
#[derive(Clone)]
pub struct Medium {
    kind: Kind,
    /// Number of reads that are left.
    pub reads_left: u64,
    /// The program, counted from now, that the chip reports as done but does not make.
    pub lie_in: Option<u64>,
}

/// Evaluates one expression for each kind of chip.
macro_rules! any {
    ($self:ident, $chip:ident => $act:expr) => {
        match &$self.kind {
            Kind::Nand($chip) => $act,
            Kind::Nor($chip) => $act,
            Kind::Sectors($chip) => $act,
        }
    };
    (mut $self:ident, $chip:ident => $act:expr) => {
        match &mut $self.kind {
            Kind::Nand($chip) => $act,
            Kind::Nor($chip) => $act,
            Kind::Sectors($chip) => $act,
        }
    };
}

impl Medium {
    pub fn nand(geometry: Geometry, copy: bool, seed: u64) -> Self {
        Self::new(Kind::Nand(layers(
            Nand::with_geometry(geometry, NandTiming::ROUND, seed).with_on_chip_copy(copy),
            seed,
        )))
    }

    /// Returns a NOR chip. A block is one erase sector, or several.
    pub fn nor(
        block_bytes: u32,
        block_count: u32,
        page_bytes: u32,
        sectors: u32,
        seed: u64,
    ) -> Self {
        let chip = Nor::with_geometry(
            block_bytes / sectors,
            block_count * sectors,
            NorTiming::ROUND,
            seed,
        );
        Self::new(Kind::Nor(layers(NorPages::new(Groups::new(chip, sectors), page_bytes), seed)))
    }

    /// Returns managed flash with exactly the sectors that the layout divides.
    pub fn sectors(layout: SectorLayout, seed: u64) -> Self {
        let device = Sectors::new(layout.first + layout.sectors, Sectors::ROUND, seed);
        Self::new(Kind::Sectors(Box::new(
            SectorPages::new(device, layout).expect("a layout that is possible"),
        )))
    }

    fn new(kind: Kind) -> Self {
        Self { kind, reads_left: u64::MAX, lie_in: None }
    }

    /// Returns an erased NAND chip with `count` bad blocks from the factory. Other media have no
    /// such blocks, and stay unchanged.
    #[must_use]
    pub fn with_bad_blocks(self, count: u32, seed: u64) -> Self {
        match self.kind {
            Kind::Nand(chip) => Self::new(Kind::Nand(layers(
                chip.inner().inner().clone().with_bad_blocks(count),
                seed,
            ))),
            Kind::Nor(_) | Kind::Sectors(_) => self,
        }
    }

    /// Puts a write cache before the chip. It holds up to `operations_max` programs and erases. The
    /// caches of chips lose only the last operations; only managed flash uses `survivors`.
    #[must_use]
    pub fn with_write_cache(self, survivors: Survivors, operations_max: usize) -> Self {
        let kind = match self.kind {
            Kind::Nand(chip) => {
                Kind::Nand(chip.with_cache(Survivors::InOrder, operations_max).with_shorn_writes())
            }
            Kind::Nor(chip) => {
                Kind::Nor(chip.with_cache(Survivors::InOrder, operations_max).with_shorn_writes())
            }
            Kind::Sectors(pages) => {
                let layout = *pages.layout();
                let cached = pages
                    .into_device()
                    .with_cache(survivors, operations_max * (layout.page_bytes as usize / 512 + 1));
                Kind::Sectors(Box::new(
                    SectorPages::new(cached, layout).expect("the layout of before"),
                ))
            }
        };
        Self { kind, ..self }
    }

    /// Lets bits flip from now on.
    #[must_use]
    pub fn with_bit_errors(self, model: BitErrorModel, seed: u64) -> Self {
        fn over<C: Tearable + Clone>(
            layers: &Layers<C>,
            model: BitErrorModel,
            seed: u64,
        ) -> Layers<C> {
            WriteCache::new(layers.inner().clone().with_model(model, seed), seed)
        }
        let kind = match &self.kind {
            Kind::Nand(chip) => Kind::Nand(over(chip, model, seed)),
            Kind::Nor(chip) => Kind::Nor(over(chip, model, seed)),
            // A device corrects bit errors itself.
            Kind::Sectors(pages) => Kind::Sectors(pages.clone()),
        };
        Self { kind, ..self }
    }

    /// Returns the erase count of each block; empty for managed flash, which does not report it.
    pub fn erase_counts(&self) -> Vec<u32> {
        match &self.kind {
            Kind::Nand(chip) => chip.inner().inner().erase_counts(),
            Kind::Nor(pages) => {
                let groups = pages.inner().inner().chip();
                groups
                    .chip()
                    .erase_counts()
                    .into_iter()
                    .step_by(groups.sectors() as usize)
                    .collect()
            }
            Kind::Sectors(_) => Vec::new(),
        }
    }

    /// Counts a program, and returns true if the chip lies about it.
    fn lies(&mut self) -> bool {
        self.lie_in = self.lie_in.map(|n| n.saturating_sub(1));
        let lies = self.lie_in == Some(0);
        if lies {
            self.lie_in = None;
        }
        lies
    }

    fn count_read(&mut self) {
        self.reads_left = self.reads_left.checked_sub(1).expect("a call reads without end");
    }
}

impl Flash for Medium {
    fn corrected(&mut self) -> Corrected {
        any!(mut self, chip => chip.corrected())
    }

    fn sync(&mut self) -> Result<(), Failure> {
        any!(mut self, chip => chip.sync())
    }

    fn reorders(&self) -> bool {
        any!(self, chip => chip.reorders())
    }

    fn hides_damage(&self) -> bool {
        any!(self, chip => chip.hides_damage())
    }

    fn geometry(&self) -> Geometry {
        any!(self, chip => chip.geometry())
    }

    fn timing(&self) -> Timing {
        any!(self, chip => chip.timing())
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.count_read();
        any!(mut self, chip => chip.read(page, data, tag))
    }

    fn reads_many(&self) -> bool {
        any!(self, chip => chip.reads_many())
    }

    fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        tags.iter().for_each(|_| self.count_read());
        any!(mut self, chip => chip.read_many(first, data, tags))
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.count_read();
        any!(mut self, chip => chip.read_tag(page, tag))
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        if self.lies() {
            return Ok(());
        }
        any!(mut self, chip => chip.program(page, data, tag))
    }

    fn program_many(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Failure> {
        if self.lies() {
            return Ok(());
        }
        any!(mut self, chip => chip.program_many(first, data, tags))
    }

    fn can_copy(&self) -> bool {
        any!(self, chip => chip.can_copy())
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        if self.lies() {
            return Ok(());
        }
        any!(mut self, chip => chip.program_loaded(page, tag))
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.count_read();
        any!(mut self, chip => chip.read_bytes(block, offset, data))
    }

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        if self.lies() {
            return Ok(());
        }
        any!(mut self, chip => chip.program_bytes(block, offset, data))
    }

    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        steadyfs_sim::checksum(data, missing)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        any!(mut self, chip => chip.erase(block))
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        any!(mut self, chip => chip.is_bad(block))
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        any!(mut self, chip => chip.mark_bad(block))
    }
}

impl Tearable for Medium {
    fn program_torn(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES], torn: Torn) {
        any!(mut self, chip => chip.program_torn(page, data, tag, torn))
    }

    fn joins_programs(&self) -> bool {
        any!(self, chip => chip.joins_programs())
    }

    fn program_many_torn(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
        torn: Torn,
    ) {
        any!(mut self, chip => chip.program_many_torn(first, data, tags, torn))
    }

    fn program_loaded_torn(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES], torn: Torn) {
        any!(mut self, chip => chip.program_loaded_torn(page, tag, torn))
    }

    fn program_bytes_torn(&mut self, block: BlockIndex, offset: u32, data: &[u8], torn: Torn) {
        any!(mut self, chip => chip.program_bytes_torn(block, offset, data, torn))
    }

    fn erase_torn(&mut self, block: BlockIndex, torn: Torn) {
        any!(mut self, chip => chip.erase_torn(block, torn))
    }

    fn power_on(&mut self) {
        any!(mut self, chip => chip.power_on())
    }
}

impl Metered for Medium {
    fn counters(&self) -> Counters {
        any!(self, chip => chip.counters())
    }
}
