//! A volume on NOR that is there, and is divided otherwise than the driver and the settings say.
//!
//! A mount looks for the superblock behind the table of tags of its own block 0. How long the table is follows from the bytes of a block, which
//! `erase_bytes` and `group_sectors` make; with other numbers the superblock lies elsewhere, and the chip seems never to have been formatted.

use crate::config::{Config, Driver};
use crate::driver::NorChip;
use crate::error::Code;
use steadyfs::media::Geometry;
use steadyfs::media::nor::NorFlash;

/// What a superblock begins with.
const MAGIC: &[u8; 8] = b"SteadyFS";
/// Bytes of the smallest block, of 7 pages of 256 bytes.
const BLOCK_BYTES_MIN: u32 = 1 << 11;
/// Bytes of the largest block: twice as many have more than 4,096 pages.
const BLOCK_BYTES_MAX: u32 = 1 << 21;

impl Config {
    /// What a mount says that has failed so: a volume that is divided otherwise is no reason to format.
    ///
    /// # Safety
    /// As [`Config::driver`].
    #[inline(never)]
    pub(crate) unsafe fn explain(&self, code: Code) -> Code {
        if !cfg!(feature = "nor") || code != Code::ErrNotformatted {
            return code;
        }
        // SAFETY: As the caller says.
        match unsafe { self.driver() } {
            Ok(Driver::Nor(pages)) => match is_of_another(*pages.chip().chip(), pages.chip().block_bytes()) {
                Ok(true) => Code::ErrGeometry,
                Ok(false) => code,
                Err(other) => other,
            },
            _ => code,
        }
    }
}

/// The address of the superblock in blocks of so many bytes.
fn superblock_address(block_bytes: u32) -> u32 {
    let geometry = Geometry::of_nor(block_bytes, 1);
    block_bytes - geometry.pages_per_block * geometry.page_bytes
}

/// Looks for a superblock where blocks of other sizes have it. Its checksum is not looked at: this only keeps a caller from formatting.
///
/// # Cost
/// Reads of eight bytes: at most ten.
fn is_of_another(mut chip: NorChip, block_bytes: u32) -> Result<bool, Code> {
    let own = superblock_address(block_bytes);
    let end = u64::from(chip.block_bytes()) * u64::from(chip.block_count());
    for bits in BLOCK_BYTES_MIN.ilog2()..=BLOCK_BYTES_MAX.ilog2() {
        let address = superblock_address(1 << bits);
        if address == own || u64::from(address) + MAGIC.len() as u64 > end {
            continue;
        }
        let mut found = [0; MAGIC.len()];
        chip.read(address, &mut found)?;
        if found == *MAGIC {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_superblock_lies_where_the_format_says() {
        assert_eq!([1 << 12, 1 << 13, 1 << 16, 1 << 17].map(superblock_address), [256, 512, 2048, 4096]);
    }
}
