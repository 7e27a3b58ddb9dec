//! The medium of a part of a chip. If one erase block has no room for a root, several form a
//! block.

use super::error::BenchError;
use super::medium::Medium;
use crate::blocks;
use crate::part::Part;
use steadyfs::Config;
use steadyfs::media::Geometry;
use steadyfs_sim::{Chip, Profile};

/// Number of larger block counts to try when a part is too small for a volume.
const BLOCKS_TRIED: u32 = 256;

impl Medium {
    /// Returns the medium for a part of a chip.
    ///
    /// # Errors
    /// [`BenchError::Part`].
    pub fn of(profile: &Profile, part: &Part) -> Result<Medium, BenchError> {
        let choice = part.timing.choice();
        match &part.of(profile)?.chip {
            Chip::Nand(nand) => {
                let (geometry, timing) = blocks::nand(nand, choice);
                Ok(Medium::Nand { geometry, timing, on_chip_copy: nand.on_chip_copy })
            }
            Chip::Nor(nor) => {
                let (block_bytes, block_count, timing) = blocks::nor(nor, choice);
                Ok(Medium::Nor { block_bytes, block_count, timing })
            }
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::PartError;

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
        assert!(matches!(
            medium("w25q128jv", Some(32 << 20), None),
            Err(BenchError::Part(PartError::Size { .. }))
        ));
        assert!(matches!(
            medium("mt29f1g01abafd", Some(1 << 16), None),
            Err(BenchError::Part(PartError::Size { .. }))
        ));
    }
}
