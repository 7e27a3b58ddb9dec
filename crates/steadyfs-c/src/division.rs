//! Recognition of a volume on NOR whose division differs from the driver and the settings.
//!
//! A mount looks for the superblock behind the table of tags of its own block 0. The length of the
//! table depends on the bytes of a block, which are computed from `erase_bytes` and
//! `group_sectors`. If these numbers differ from the format, the mount looks at the wrong address.
//! The chip then looks as if it was never formatted.

use crate::config::{Config, Driver};
use crate::driver::NorChip;
use crate::error::Code;
use steadyfs::media::Geometry;
use steadyfs::media::nor::NorFlash;

/// The bytes with which a superblock begins.
const MAGIC: &[u8; 8] = b"SteadyFS";
/// Bytes of the smallest block, which has 7 pages of 256 bytes.
const BLOCK_BYTES_MIN: u32 = 1 << 11;
/// Bytes of the largest block. A block of twice this size has more than 4,096 pages.
const BLOCK_BYTES_MAX: u32 = 1 << 21;

impl Config {
    /// Returns the error of a mount that failed with `code`. If the chip contains a volume with
    /// another division, ErrNotformatted becomes ErrGeometry, because the caller should not format
    /// then.
    ///
    /// # Safety
    /// The conditions of [`Config::driver`].
    #[inline(never)]
    pub(crate) unsafe fn explain(&self, code: Code) -> Code {
        if !cfg!(feature = "nor") || code != Code::ErrNotformatted {
            return code;
        }
        // SAFETY: The caller meets the conditions of this function.
        match unsafe { self.driver() } {
            Ok(Driver::Nor(pages)) => {
                match is_of_another(*pages.chip().chip(), pages.chip().block_bytes()) {
                    Ok(true) => Code::ErrGeometry,
                    Ok(false) => code,
                    Err(other) => other,
                }
            }
            _ => code,
        }
    }
}

/// Returns the address of the superblock for blocks of `block_bytes` bytes.
fn superblock_address(block_bytes: u32) -> u32 {
    let geometry = Geometry::of_nor(block_bytes, 1);
    block_bytes - geometry.pages_per_block * geometry.page_bytes
}

/// Returns true if the chip has a superblock at the address for blocks of another size. Does not
/// verify the superblock's checksum: the result only prevents a caller from formatting.
///
/// # Cost
/// The call makes at most ten reads of eight bytes.
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
        assert_eq!(
            [1 << 12, 1 << 13, 1 << 16, 1 << 17].map(superblock_address),
            [256, 512, 2048, 4096]
        );
    }
}
