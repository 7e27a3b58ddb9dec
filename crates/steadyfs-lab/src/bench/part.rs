//! A part of a chip, in erase blocks of a size that may be chosen. If one erase block has no
//! room for a root, several form a block.

use super::error::BenchError;
use super::medium::Medium;
use crate::blocks;
use crate::evaluate::Timing;
use crate::units::format_size;
use steadyfs::Config;
use steadyfs::media::Geometry;
use steadyfs_sim::{Chip, NorProfile, Profile};

/// Minimum number of blocks of the default size. With fewer, a NOR chip with several erase sizes
/// uses the smallest size.
const BLOCKS_MIN: u64 = 64;
/// Number of larger block counts to try when a part is too small for a volume.
const BLOCKS_TRIED: u32 = 256;

/// A part of a chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Bytes of the chip to use, from its beginning. Default all.
    pub size_bytes: Option<u64>,
    /// Bytes of an erase block, if the chip has a choice. Default the profile's size, or the
    /// smallest if the profile's leaves fewer than 64 blocks.
    pub erase_block_bytes: Option<u32>,
    /// Times of the chip. Default typical.
    pub timing: Timing,
}

impl Medium {
    /// Returns the medium for a part of a chip.
    ///
    /// # Errors
    /// [`BenchError::Size`], [`BenchError::EraseBlock`].
    pub fn of(profile: &Profile, part: &Part) -> Result<Medium, BenchError> {
        let choice = part.timing.choice();
        match &profile.chip {
            Chip::Nand(nand) => {
                let whole = nand.geometry();
                let block_bytes = whole.page_bytes * whole.pages_per_block;
                let block_bytes = part.pick_block(&[block_bytes], block_bytes)?;
                let block_count = part.blocks_of(
                    block_bytes,
                    u64::from(block_bytes) * u64::from(whole.block_count),
                )?;
                let (geometry, timing) = blocks::nand(nand, block_count, choice);
                Ok(Medium::Nand { geometry, timing, on_chip_copy: nand.on_chip_copy })
            }
            Chip::Nor(nor) => {
                let sizes: Vec<u32> = nor.erases.iter().map(|erase| erase.bytes).collect();
                let sector_bytes = part.pick_block(&sizes, usual_block(nor, part.size_bytes))?;
                let sectors = part.blocks_of(sector_bytes, nor.size_bytes.into())?;
                let blocks = blocks::nor(nor, sector_bytes, sectors, choice);
                let (block_bytes, block_count, timing) =
                    blocks.ok_or_else(|| no_such_block(sector_bytes, &sizes))?;
                Ok(Medium::Nor { block_bytes, block_count, timing })
            }
        }
    }
}

impl Medium {
    /// Refuses a part of a chip that is too small for a volume with the usual settings.
    ///
    /// # Errors
    /// [`BenchError::TooSmall`], with the size that would suffice.
    pub fn with_volume(self) -> Result<Medium, BenchError> {
        let holds = |block_count: u32| {
            let geometry = match &self {
                Medium::Nand { geometry, .. } => Geometry { block_count, ..*geometry },
                Medium::Nor { block_bytes, .. } => Geometry::of_nor(*block_bytes, block_count),
            };
            Config::for_geometry(&geometry).check(&geometry).is_ok()
        };
        let (asked_bytes, block_bytes) = (self.size_bytes(), u64::from(self.block_bytes()));
        let blocks = (asked_bytes / block_bytes) as u32;
        match (blocks + 1..=blocks + BLOCKS_TRIED).find(|&count| !holds(blocks) && holds(count)) {
            Some(least) => Err(BenchError::TooSmall {
                asked_bytes,
                least_bytes: u64::from(least) * block_bytes,
            }),
            None => Ok(self),
        }
    }
}

/// Returns the default erase size: the profile's, or the smallest if the profile's leaves few
/// blocks.
pub fn usual_block(nor: &NorProfile, size_bytes: Option<u64>) -> u32 {
    let blocks = size_bytes.unwrap_or(nor.size_bytes.into()) / u64::from(nor.default_erase_bytes);
    let smallest = nor.erases.iter().map(|erase| erase.bytes).min();
    if blocks >= BLOCKS_MIN {
        nor.default_erase_bytes
    } else {
        smallest.unwrap_or(nor.default_erase_bytes)
    }
}

fn no_such_block(asked_bytes: u32, sizes: &[u32]) -> BenchError {
    let sizes = sizes.iter().map(|&bytes| format_size(bytes.into())).collect::<Vec<_>>().join(", ");
    BenchError::EraseBlock { asked_bytes, sizes }
}

impl Part {
    /// Returns the requested erase size, if the chip has it.
    fn pick_block(&self, sizes: &[u32], usual: u32) -> Result<u32, BenchError> {
        match self.erase_block_bytes {
            Some(bytes) if !sizes.contains(&bytes) => Err(no_such_block(bytes, sizes)),
            chosen => Ok(chosen.unwrap_or(usual)),
        }
    }

    /// Returns the number of blocks of the requested size.
    fn blocks_of(&self, block_bytes: u32, chip_bytes: u64) -> Result<u32, BenchError> {
        let asked_bytes = self.size_bytes.unwrap_or(chip_bytes);
        if asked_bytes == 0
            || asked_bytes > chip_bytes
            || !asked_bytes.is_multiple_of(block_bytes.into())
        {
            return Err(BenchError::Size { asked_bytes, block_bytes, chip_bytes });
        }
        Ok((asked_bytes / u64::from(block_bytes)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn medium(
        device: &str,
        size_bytes: Option<u64>,
        erase_block_bytes: Option<u32>,
    ) -> Result<Medium, BenchError> {
        Medium::of(
            &Profile::named(device).unwrap(),
            &Part { size_bytes, erase_block_bytes, ..Part::default() },
        )
    }

    #[test]
    fn small_parts_of_a_chip_are_taken_in_its_smallest_blocks() {
        assert_eq!(medium("w25q128jv", None, None).unwrap().block_bytes(), 65_536);
        let small = medium("w25q128jv", Some(1 << 20), None).unwrap();
        assert_eq!((small.block_bytes(), small.size_bytes()), (4096, 1 << 20));
        // A chip with this many sectors takes several sectors to a block.
        assert_eq!(medium("w25q128jv", None, Some(4096)).unwrap().block_bytes(), 16_384);
        assert_eq!(medium("mt29f1g01abafd", Some(16 << 20), None).unwrap().size_bytes(), 16 << 20);
    }

    #[test]
    fn sizes_that_the_chip_does_not_have_are_refused_with_those_it_has() {
        let error = medium("w25q128jv", None, Some(8192)).unwrap_err().to_string();
        assert!(error.contains("4 KiB, 64 KiB"), "{error}");
        let error = medium("mt29f1g01abafd", Some(1 << 20), None)
            .unwrap()
            .with_volume()
            .unwrap_err()
            .to_string();
        assert_eq!(error, "a size of 1 MiB is too small for a volume; expected at least 3.5 MiB");
        assert!(medium("mt29f1g01abafd", Some(7 << 19), None).unwrap().with_volume().is_ok());
        assert!(matches!(medium("w25q128jv", Some(32 << 20), None), Err(BenchError::Size { .. })));
        assert!(matches!(
            medium("mt29f1g01abafd", Some(1 << 16), None),
            Err(BenchError::Size { .. })
        ));
    }
}
