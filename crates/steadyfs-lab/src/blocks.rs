//! Blocks for SteadyFS: if one erase block of a chip has no room for a root, several form a
//! block.

use steadyfs::Config;
use steadyfs::media::Geometry;
use steadyfs_sim::{NandProfile, NandTiming, NorProfile, NorTiming, TimingChoice};

/// Maximum number of erase blocks of NAND that form one block.
const JOINED_MAX: u32 = 64;

/// Returns the smallest number of erase blocks of a NAND chip that form a block for the usual
/// settings, and the shape of the chip in such blocks. Returns 1 and the chip's own shape if no
/// number suffices.
pub(crate) fn join_nand(chip: &Geometry) -> (u32, Geometry) {
    let joined = |blocks: u32| Geometry {
        pages_per_block: chip.pages_per_block * blocks,
        block_count: chip.block_count / blocks,
        ..*chip
    };
    let fits = |geometry: &Geometry| Config::for_geometry(geometry).check(geometry).is_ok();
    let sizes = (0..).map(|power| 1 << power).take_while(|&blocks| blocks <= JOINED_MAX);
    sizes
        .map(|blocks| (blocks, joined(blocks)))
        .find(|(_, geometry)| fits(geometry))
        .unwrap_or((1, *chip))
}

/// Joins the erase blocks of a NAND chip into blocks for the usual settings. Returns their shape and
/// times.
pub(crate) fn nand(profile: &NandProfile, choice: TimingChoice) -> (Geometry, NandTiming) {
    let (joined, geometry) = join_nand(&profile.geometry());
    let (timing, erases) = (NandTiming::of(profile, choice), u64::from(joined));
    let (array_erase_ns, erase_command_ns) =
        (timing.array_erase_ns * erases, timing.erase_command_ns * erases);
    (geometry, NandTiming { array_erase_ns, erase_command_ns, ..timing })
}

/// Groups the erase sectors of a NOR chip into blocks for the usual settings. Returns the bytes of
/// a block, the number of blocks, and their times. If the chip can erase a block in one command, it
/// does.
pub(crate) fn nor(profile: &NorProfile, choice: TimingChoice) -> (u32, u32, NorTiming) {
    let sector_bytes = profile.default_erase_bytes;
    let sectors = profile.size_bytes / sector_bytes;
    // If no group fits, the check of the volume reports the reason.
    let group = Config::group_sectors(sector_bytes, sectors).unwrap_or(1);
    let block_bytes = sector_bytes * group;
    let timing = NorTiming::of_block(profile, block_bytes, choice)
        .expect("a profile has the times of its default erase size");
    (block_bytes, sectors / group, timing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::Part;
    use steadyfs_sim::{Chip, Profile};

    #[test]
    fn every_raw_chip_is_taken_in_blocks_that_the_usual_settings_fit() {
        for profile in Profile::all() {
            let geometry = match &profile.chip {
                Chip::Nand(chip) => nand(chip, TimingChoice::Typical).0,
                Chip::Nor(chip) => {
                    let (block_bytes, block_count, _) = nor(chip, TimingChoice::Typical);
                    Geometry::of_nor(block_bytes, block_count)
                }
            };
            Config::for_geometry(&geometry)
                .check(&geometry)
                .unwrap_or_else(|rule| panic!("{}: {rule}", profile.name));
        }
    }

    #[test]
    fn small_blocks_are_joined_with_their_times_and_large_ones_stay() {
        let profile = Profile::named("k9f1208u0").unwrap();
        let chip = profile.nand().unwrap();
        let (geometry, timing) = nand(chip, TimingChoice::Typical);
        let joined = geometry.pages_per_block / chip.geometry().pages_per_block;
        assert!(joined > 1 && geometry.block_count == 4096 / joined);
        assert_eq!(
            timing.array_erase_ns,
            NandTiming::of(chip, TimingChoice::Typical).array_erase_ns * u64::from(joined)
        );
        let profile = Profile::named("mt29f1g01abafd").unwrap();
        assert_eq!(
            nand(profile.nand().unwrap(), TimingChoice::Typical).0,
            profile.nand().unwrap().geometry()
        );
        let profile = Profile::named("w25q128jv").unwrap();
        let in_sectors = |sectors: u64| {
            let part = Part {
                size_bytes: Some(sectors * 4096),
                erase_block_bytes: Some(4096),
                ..Part::default()
            };
            let (block_bytes, block_count, _) =
                nor(part.of(&profile).unwrap().nor().unwrap(), TimingChoice::Typical);
            (block_bytes, block_count)
        };
        assert_eq!(in_sectors(256), (4096, 256));
        assert_eq!(in_sectors(4096), (16_384, 1024));
    }
}
