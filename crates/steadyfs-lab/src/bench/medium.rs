//! The chip that cases run on: all of a profile's, or its first part.

use super::{BenchError, Options};
use crate::units::format_size;
use std::ops::Range;
use steadyfs::media::nor::{NorFlash, NorPages, page_bytes_for};
use steadyfs::media::{Failure, Flash, Geometry, TAG_BYTES};
use steadyfs_sim::{Chip, Metered, Nand, NandTiming, Nor, NorProfile, NorTiming, PowerCut, Profile, Tearable};

/// Blocks below which a chip of several erase sizes is taken with the smallest of them.
const BLOCKS_MIN: u64 = 64;

/// What a file system is given: pages with tags, as the core wants them, or the bytes of erase blocks, as others do. Whichever it takes, the
/// same chip charges the same times.
pub trait BenchChip: Flash + Metered {
    /// How often each erase block was erased.
    fn erase_counts(&self) -> Vec<u32>;

    /// The chip as bytes.
    fn plain(&self) -> Plain;

    /// Reads bytes of an erase block: one command on NOR, one for each page on NAND, of which these bytes are sent.
    ///
    /// # Errors
    /// [`Failure`].
    fn read_plain(&mut self, block: u32, offset: u32, data: &mut [u8]) -> Result<(), Failure>;

    /// Programs bytes of an erase block, on NAND whole pages.
    ///
    /// # Errors
    /// [`Failure`].
    fn program_plain(&mut self, block: u32, offset: u32, data: &[u8]) -> Result<(), Failure>;

    /// Moves a page within the chip, where it can do that.
    ///
    /// # Errors
    /// [`Failure::Device`] where it cannot.
    fn copy_plain(&mut self, from: u32, to: u32) -> Result<(), Failure> {
        let _ = (from, to);
        Err(Failure::Device)
    }
}

/// The shape of a chip that is a run of bytes in erase blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain {
    /// Bytes that are programmed together at least: a page on NAND, one on NOR.
    pub unit_bytes: u32,
    /// Bytes of an erase block.
    pub block_bytes: u32,
    /// Erase blocks.
    pub block_count: u32,
}

impl Plain {
    /// That of a NAND chip.
    fn of_nand(geometry: Geometry) -> Plain {
        let Geometry { page_bytes, pages_per_block, block_count, .. } = geometry;
        Plain { unit_bytes: page_bytes, block_bytes: page_bytes * pages_per_block, block_count }
    }

    /// That of a NOR chip.
    fn of_nor(chip: &impl NorFlash) -> Plain {
        Plain { unit_bytes: 1, block_bytes: chip.block_bytes(), block_count: chip.block_count() }
    }
}

/// The pieces of a run of bytes in the pages of NAND: page, offset in it, and place among the bytes.
fn pieces(geometry: Geometry, block: u32, offset: u32, bytes: usize) -> impl Iterator<Item = (u32, usize, Range<usize>)> {
    let Geometry { page_bytes, pages_per_block, .. } = geometry;
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u32;
        let skip = at % page_bytes;
        let range = done..bytes.min(done + (page_bytes - skip) as usize);
        done = range.end;
        (!range.is_empty()).then_some((block * pages_per_block + at / page_bytes, skip as usize, range))
    })
}

/// Moves a page within a NAND chip.
fn copy_page(chip: &mut impl Flash, from: u32, to: u32) -> Result<(), Failure> {
    chip.read_tag(from, &mut [0; TAG_BYTES])?;
    chip.program_loaded(to, &[0xFF; TAG_BYTES])
}

/// Programs pages of NAND; nothing is in their tags.
fn program_pages(chip: &mut impl Flash, block: u32, offset: u32, data: &[u8]) -> Result<(), Failure> {
    let Geometry { page_bytes, pages_per_block, .. } = chip.geometry();
    assert!(offset.is_multiple_of(page_bytes), "a program at {offset}: pages have {page_bytes} bytes");
    let first = block * pages_per_block + offset / page_bytes;
    let mut pages = (first..).zip(data.chunks(page_bytes as usize));
    pages.try_for_each(|(page, data)| chip.program(page, data, &[0xFF; TAG_BYTES]))
}

/// NAND, whole or with a power cut ahead.
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

/// Shape and times of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// NAND.
    Nand {
        /// Shape.
        geometry: Geometry,
        /// Times.
        timing: NandTiming,
        /// Whether pages move inside the chip.
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
    /// The part of a chip that the options ask for.
    ///
    /// # Errors
    /// [`BenchError::Size`], [`BenchError::EraseBlock`].
    pub fn of(profile: &Profile, options: &Options) -> Result<Medium, BenchError> {
        let choice = options.timing.choice();
        match &profile.chip {
            Chip::Nand(nand) => {
                let whole = nand.geometry();
                let block_bytes = whole.page_bytes * whole.pages_per_block;
                let block_bytes = options.pick_block(&[block_bytes], block_bytes)?;
                let block_count = options.blocks_of(block_bytes, u64::from(block_bytes) * u64::from(whole.block_count))?;
                let geometry = Geometry { block_count, ..whole };
                Ok(Medium::Nand { geometry, timing: NandTiming::of(nand, choice), on_chip_copy: nand.on_chip_copy })
            }
            Chip::Nor(nor) => {
                let sizes: Vec<u32> = nor.erases.iter().map(|erase| erase.bytes).collect();
                let block_bytes = options.pick_block(&sizes, usual_block(nor, options.size_bytes))?;
                let block_count = options.blocks_of(block_bytes, nor.size_bytes.into())?;
                let timing = NorTiming::of(nor, block_bytes, choice);
                let timing = timing.ok_or_else(|| no_such_block(block_bytes, &sizes))?;
                Ok(Medium::Nor { block_bytes, block_count, timing })
            }
        }
    }

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

    /// Does something with makers of erased chips of this kind.
    pub fn with_chips<T: OnChips>(&self, seed: u64, task: T) -> T::Output {
        match *self {
            Medium::Nand { geometry, timing, on_chip_copy } => {
                task.run(|| Nand::with_geometry(geometry, timing, seed).with_on_chip_copy(on_chip_copy))
            }
            Medium::Nor { block_bytes, block_count, timing } => task
                .run(|| NorPages::new(Nor::with_geometry(block_bytes, block_count, timing, seed), page_bytes_for(block_bytes))),
        }
    }
}

/// Something to do with chips of any kind.
pub trait OnChips {
    /// What comes of it.
    type Output;

    /// Does it; `make` makes an erased chip.
    fn run<C>(self, make: impl Fn() -> C + Sync) -> Self::Output
    where
        C: BenchChip + Tearable + Clone + 'static,
        PowerCut<C>: BenchChip;
}

/// The erase size where nobody chooses: the profile's, or the smallest where that would leave few blocks.
fn usual_block(nor: &NorProfile, size_bytes: Option<u64>) -> u32 {
    let blocks = size_bytes.unwrap_or(nor.size_bytes.into()) / u64::from(nor.default_erase_bytes);
    let smallest = nor.erases.iter().map(|erase| erase.bytes).min();
    if blocks >= BLOCKS_MIN { nor.default_erase_bytes } else { smallest.unwrap_or(nor.default_erase_bytes) }
}

fn no_such_block(asked_bytes: u32, sizes: &[u32]) -> BenchError {
    let sizes = sizes.iter().map(|&bytes| format_size(bytes.into())).collect::<Vec<_>>().join(", ");
    BenchError::EraseBlock { asked_bytes, sizes }
}

impl Options {
    /// The erase size asked for, if the chip has it.
    fn pick_block(&self, sizes: &[u32], usual: u32) -> Result<u32, BenchError> {
        match self.erase_block_bytes {
            Some(bytes) if !sizes.contains(&bytes) => Err(no_such_block(bytes, sizes)),
            chosen => Ok(chosen.unwrap_or(usual)),
        }
    }

    /// Blocks of the size asked for.
    fn blocks_of(&self, block_bytes: u32, chip_bytes: u64) -> Result<u32, BenchError> {
        let asked_bytes = self.size_bytes.unwrap_or(chip_bytes);
        if asked_bytes == 0 || asked_bytes > chip_bytes || !asked_bytes.is_multiple_of(block_bytes.into()) {
            return Err(BenchError::Size { asked_bytes, block_bytes, chip_bytes });
        }
        Ok((asked_bytes / u64::from(block_bytes)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn medium(device: &str, size_bytes: Option<u64>, erase_block_bytes: Option<u32>) -> Result<Medium, BenchError> {
        let options = Options { size_bytes, erase_block_bytes, ..Options::default() };
        Medium::of(&Profile::named(device).unwrap(), &options)
    }

    #[test]
    fn small_parts_of_a_chip_are_taken_in_its_smallest_blocks() {
        assert_eq!(medium("w25q128jv", None, None).unwrap().block_bytes(), 65_536);
        let small = medium("w25q128jv", Some(1 << 20), None).unwrap();
        assert_eq!((small.block_bytes(), small.size_bytes()), (4096, 1 << 20));
        assert_eq!(medium("w25q128jv", None, Some(4096)).unwrap().block_bytes(), 4096);
        assert_eq!(medium("mt29f1g01abafd", Some(16 << 20), None).unwrap().size_bytes(), 16 << 20);
    }

    #[test]
    fn sizes_that_the_chip_does_not_have_are_refused_with_those_it_has() {
        let error = medium("w25q128jv", None, Some(8192)).unwrap_err().to_string();
        assert!(error.contains("4 KiB, 64 KiB"), "{error}");
        assert!(matches!(medium("w25q128jv", Some(32 << 20), None), Err(BenchError::Size { .. })));
        assert!(matches!(medium("mt29f1g01abafd", Some(1 << 16), None), Err(BenchError::Size { .. })));
    }
}
