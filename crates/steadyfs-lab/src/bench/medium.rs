//! The chip that cases run on: a whole chip of a profile, or its first part.

use std::ops::Range;
use steadyfs::media::nor::{NorFlash, NorPages, page_bytes_for};
use steadyfs::media::{Failure, Flash, Geometry, TAG_BYTES};
use steadyfs_sim::{Metered, Nand, NandTiming, Nor, NorTiming, PowerCut, Tearable};

/// A chip with two interfaces. The core uses pages with tags, and other file systems use the
/// bytes of erase blocks. With both, the same chip charges the same times.
pub trait BenchChip: Flash + Metered {
    /// Returns the erase count of each erase block.
    fn erase_counts(&self) -> Vec<u32>;

    /// Returns the shape of the chip as bytes.
    fn plain(&self) -> Plain;

    /// Reads bytes of an erase block. It takes one command on NOR. On NAND it takes one command
    /// for each page, and transfers only the requested bytes.
    ///
    /// # Errors
    /// [`Failure`].
    fn read_plain(&mut self, block: u32, offset: u32, data: &mut [u8]) -> Result<(), Failure>;

    /// Programs bytes of an erase block; on NAND these are whole pages.
    ///
    /// # Errors
    /// [`Failure`].
    fn program_plain(&mut self, block: u32, offset: u32, data: &[u8]) -> Result<(), Failure>;

    /// Copies a page within the chip, if the chip can do that.
    ///
    /// # Errors
    /// [`Failure::Device`] if it cannot.
    fn copy_plain(&mut self, from: u32, to: u32) -> Result<(), Failure> {
        let _ = (from, to);
        Err(Failure::Device)
    }
}

/// The shape of a chip as a sequence of bytes in erase blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain {
    /// Minimum bytes of a program: a page on NAND, 1 on NOR.
    pub unit_bytes: u32,
    /// Bytes of an erase block.
    pub block_bytes: u32,
    /// Number of erase blocks.
    pub block_count: u32,
}

impl Plain {
    /// Returns the shape of a NAND chip.
    fn of_nand(geometry: Geometry) -> Plain {
        let Geometry { page_bytes, pages_per_block, block_count, .. } = geometry;
        Plain { unit_bytes: page_bytes, block_bytes: page_bytes * pages_per_block, block_count }
    }

    /// Returns the shape of a NOR chip.
    fn of_nor(chip: &impl NorFlash) -> Plain {
        Plain { unit_bytes: 1, block_bytes: chip.block_bytes(), block_count: chip.block_count() }
    }
}

/// Splits a range of bytes at the pages of NAND: page, offset in the page, and place among the
/// bytes.
fn pieces(
    geometry: Geometry,
    block: u32,
    offset: u32,
    bytes: usize,
) -> impl Iterator<Item = (u32, usize, Range<usize>)> {
    let Geometry { page_bytes, pages_per_block, .. } = geometry;
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u32;
        let skip = at % page_bytes;
        let range = done..bytes.min(done + (page_bytes - skip) as usize);
        done = range.end;
        (!range.is_empty()).then_some((
            block * pages_per_block + at / page_bytes,
            skip as usize,
            range,
        ))
    })
}

/// Copies a page within a NAND chip.
fn copy_page(chip: &mut impl Flash, from: u32, to: u32) -> Result<(), Failure> {
    chip.read_tag(from, &mut [0; TAG_BYTES])?;
    chip.program_loaded(to, &[0xFF; TAG_BYTES])
}

/// Programs pages of NAND with empty tags.
fn program_pages(
    chip: &mut impl Flash,
    block: u32,
    offset: u32,
    data: &[u8],
) -> Result<(), Failure> {
    let Geometry { page_bytes, pages_per_block, .. } = chip.geometry();
    assert!(
        offset.is_multiple_of(page_bytes),
        "a program at {offset}: pages have {page_bytes} bytes"
    );
    let first = block * pages_per_block + offset / page_bytes;
    let mut pages = (first..).zip(data.chunks(page_bytes as usize));
    pages.try_for_each(|(page, data)| chip.program(page, data, &[0xFF; TAG_BYTES]))
}

/// A NAND chip, plain or with a planned power cut.
trait NandChip: Flash + Metered {
    fn counts(&self) -> Vec<u32>;

    fn part(&mut self, page: u32, skip: usize, data: &mut [u8]) -> Result<(), Failure>;
}

impl NandChip for Nand {
    fn counts(&self) -> Vec<u32> {
        self.erase_counts()
    }

    fn part(&mut self, page: u32, skip: usize, data: &mut [u8]) -> Result<(), Failure> {
        self.read_part(page, skip, data)
    }
}

impl NandChip for PowerCut<Nand> {
    fn counts(&self) -> Vec<u32> {
        self.inner().erase_counts()
    }

    fn part(&mut self, page: u32, skip: usize, data: &mut [u8]) -> Result<(), Failure> {
        self.read_part(page, skip, data)
    }
}

impl<C: NandChip> BenchChip for C {
    fn erase_counts(&self) -> Vec<u32> {
        self.counts()
    }

    fn plain(&self) -> Plain {
        Plain::of_nand(self.geometry())
    }

    fn read_plain(&mut self, block: u32, offset: u32, data: &mut [u8]) -> Result<(), Failure> {
        let mut pieces = pieces(self.geometry(), block, offset, data.len());
        pieces.try_for_each(|(page, skip, range)| self.part(page, skip, &mut data[range]))
    }

    fn copy_plain(&mut self, from: u32, to: u32) -> Result<(), Failure> {
        copy_page(self, from, to)
    }

    fn program_plain(&mut self, block: u32, offset: u32, data: &[u8]) -> Result<(), Failure> {
        program_pages(self, block, offset, data)
    }
}

impl BenchChip for NorPages<Nor> {
    fn erase_counts(&self) -> Vec<u32> {
        self.chip().erase_counts()
    }

    fn plain(&self) -> Plain {
        Plain::of_nor(self.chip())
    }

    fn read_plain(&mut self, block: u32, offset: u32, data: &mut [u8]) -> Result<(), Failure> {
        let address = block * self.plain().block_bytes + offset;
        NorFlash::read(self.chip_mut(), address, data)
    }

    fn program_plain(&mut self, block: u32, offset: u32, data: &[u8]) -> Result<(), Failure> {
        let address = block * self.plain().block_bytes + offset;
        NorFlash::program(self.chip_mut(), address, data)
    }
}

impl BenchChip for PowerCut<NorPages<Nor>> {
    fn erase_counts(&self) -> Vec<u32> {
        self.inner().chip().erase_counts()
    }

    fn plain(&self) -> Plain {
        Plain::of_nor(self)
    }

    fn read_plain(&mut self, block: u32, offset: u32, data: &mut [u8]) -> Result<(), Failure> {
        let address = block * self.plain().block_bytes + offset;
        NorFlash::read(self, address, data)
    }

    fn program_plain(&mut self, block: u32, offset: u32, data: &[u8]) -> Result<(), Failure> {
        let address = block * self.plain().block_bytes + offset;
        NorFlash::program(self, address, data)
    }
}

/// Shape and times of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// NAND.
    Nand {
        /// Shape.
        geometry: Geometry,
        /// Times.
        timing: NandTiming,
        /// True if the chip can copy pages inside.
        on_chip_copy: bool,
    },
    /// NOR.
    Nor {
        /// Bytes of an erase block.
        block_bytes: u32,
        /// Number of erase blocks.
        block_count: u32,
        /// Times.
        timing: NorTiming,
    },
}

impl Medium {
    /// Bytes of an erase block.
    pub fn block_bytes(&self) -> u32 {
        match self {
            Medium::Nand { geometry, .. } => geometry.page_bytes * geometry.pages_per_block,
            Medium::Nor { block_bytes, .. } => *block_bytes,
        }
    }

    /// Bytes of all erase blocks.
    pub fn size_bytes(&self) -> u64 {
        let blocks = match self {
            Medium::Nand { geometry, .. } => geometry.block_count,
            Medium::Nor { block_count, .. } => *block_count,
        };
        u64::from(blocks) * u64::from(self.block_bytes())
    }

    /// Runs a task with a function that makes erased chips of this kind.
    pub fn with_chips<T: OnChips>(&self, seed: u64, task: T) -> T::Output {
        match *self {
            Medium::Nand { geometry, timing, on_chip_copy } => task.run(|| {
                Nand::with_geometry(geometry, timing, seed).with_on_chip_copy(on_chip_copy)
            }),
            Medium::Nor { block_bytes, block_count, timing } => task.run(|| {
                NorPages::new(
                    Nor::with_geometry(block_bytes, block_count, timing, seed),
                    page_bytes_for(block_bytes),
                )
            }),
        }
    }
}

/// A task for chips of any kind.
pub trait OnChips {
    /// Result of the task.
    type Output;

    /// Runs the task. `make` makes an erased chip.
    fn run<C>(self, make: impl Fn() -> C + Sync) -> Self::Output
    where
        C: BenchChip + Tearable + Clone + Send + Sync + 'static,
        PowerCut<C>: BenchChip;
}
