//! How a volume is recognised: the fields of its superblock that tell the shape, as in `docs/format.md`.
//!
//! ```text
//! 0            8         10           14                18            22         40                         44
//! | "SteadyFS" | version | page_bytes | pages_per_block | block_count | settings | block of the second copy |
//! ```
//!
//! The mount reads the superblock again, with its checksum; here it only has to tell the shape of the file.

use super::{ImageError, Shape};
use steadyfs::media::Geometry;

/// First bytes of every superblock.
pub(super) const MAGIC: &[u8; 8] = b"SteadyFS";
const VERSION: u16 = steadyfs::FORMAT_VERSION;
/// Bytes up to the last field that is read here.
const BYTES: usize = 44;

/// What the first superblock says about the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recognised {
    pub shape: Shape,
    /// Block of the second copy.
    pub copy: u32,
}

/// Smallest page, and so the steps in which a tag table grows.
const STEP_BYTES: usize = 256;
/// Largest tag table: one page of the largest size. 256 tags have only 4 KiB.
const TABLE_BYTES_MAX: usize = 16_384;

/// Bytes at the start of a file among which a superblock is searched.
pub(super) const SEARCH_BYTES: u64 = (TABLE_BYTES_MAX + BYTES) as u64;

/// Tells the shape of an image from its first [`SEARCH_BYTES`] and its length.
pub(super) fn recognise(head: &[u8], length: u64) -> Result<Recognised, ImageError> {
    if head.is_empty() {
        return Err(ImageError::Empty);
    }
    for offset in (0..=TABLE_BYTES_MAX).step_by(STEP_BYTES) {
        let found = head.get(offset..).unwrap_or_default();
        if found.starts_with(MAGIC) {
            let (geometry, copy) = parse(found, offset, length)?;
            let shape = match offset {
                0 => Shape::of_nand_file(geometry, length)?,
                _ => Shape::of_nor_file(geometry, offset as u64, length)?,
            };
            return Ok(Recognised { shape, copy });
        }
    }
    Err(ImageError::NoSuperblock)
}

/// Reads version, geometry and block of the second copy of the superblock that begins at `bytes`.
fn parse(bytes: &[u8], offset: usize, length: u64) -> Result<(Geometry, u32), ImageError> {
    let offset = offset as u64;
    let Some(bytes) = bytes.first_chunk::<BYTES>() else {
        let what = format!("the end of the superblock at byte {offset}");
        return Err(ImageError::Truncated { found: length, expected: offset + BYTES as u64, what });
    };
    let found = u16::from_le_bytes([bytes[8], bytes[9]]);
    if found != VERSION {
        return Err(ImageError::Version { offset, found });
    }
    let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let geometry =
        Geometry { page_bytes: number(10), pages_per_block: number(14), block_count: number(18), programs_bytes: false };
    let copy = number(40);
    if copy >= geometry.block_count {
        let found = format!("the second copy is in block {copy}");
        return Err(ImageError::Superblock { offset, found, expected: "a block of the chip" });
    }
    Ok((geometry, copy))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn superblock(version: u16, numbers: [u32; 3]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(version.to_le_bytes());
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.resize(40, 0);
        bytes.extend(1u32.to_le_bytes());
        bytes
    }

    /// A head with a superblock at an offset.
    fn at(offset: usize, superblock: Vec<u8>) -> Vec<u8> {
        let mut head = vec![0xFF; offset];
        head.extend(superblock);
        head.resize(SEARCH_BYTES as usize, 0xFF);
        head
    }

    #[test]
    fn a_superblock_at_byte_0_is_that_of_nand() {
        let head = at(0, superblock(VERSION, [2048, 64, 1024]));
        let geometry = Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 1024, programs_bytes: false };
        assert_eq!(recognise(&head, 65_536 * 2112).unwrap(), Recognised { shape: Shape::nand(geometry), copy: 1 });
    }

    #[test]
    fn a_superblock_behind_a_tag_table_is_that_of_nor() {
        for (page_bytes, block_bytes, table) in
            [(512, 4096, 512), (256, 65_536, 4096), (512, 65_536, 2048), (16_384, 1 << 20, 16_384)]
        {
            let pages_per_block = (block_bytes - table) / page_bytes;
            let head = at(table as usize, superblock(VERSION, [page_bytes, pages_per_block, 64]));
            let Recognised { shape, .. } = recognise(&head, u64::from(block_bytes) * 64).unwrap();
            assert_eq!(shape, Shape::Nor { page_bytes, block_bytes, block_count: 64 });
        }
    }

    #[test]
    fn a_nor_superblock_at_the_wrong_place_is_damaged() {
        let head = at(1024, superblock(VERSION, [512, 7, 64]));
        let error = recognise(&head, 4096 * 64).unwrap_err();
        assert!(matches!(error, ImageError::Superblock { offset: 1024, .. }), "{error}");
    }

    #[test]
    fn other_versions_are_named() {
        let other = VERSION + 1;
        let error = recognise(&at(0, superblock(other, [2048, 64, 1024])), 65_536 * 2112).unwrap_err();
        let named = format!("the superblock at byte 0 has format version {other}; expected {VERSION}: copy its files with ");
        assert!(error.to_string().starts_with(&named), "{error}");
    }

    #[test]
    fn absurd_geometries_are_damaged_superblocks() {
        for numbers in [[0, 64, 1024], [2048, 0, 1024], [2048, 64, 0], [u32::MAX; 3], [2048, 64, u32::MAX], [1 << 31; 3]] {
            for offset in [0, 512, 4096] {
                let error = recognise(&at(offset, superblock(VERSION, numbers)), 1 << 27).unwrap_err();
                assert!(matches!(error, ImageError::Superblock { .. }), "{error}");
            }
        }
    }

    #[test]
    fn every_cut_of_a_superblock_has_a_named_error() {
        let whole = superblock(VERSION, [2048, 64, 1024]);
        for bytes in 1..whole.len() {
            let error = recognise(&whole[..bytes], bytes as u64).unwrap_err();
            match bytes {
                0..8 => assert!(matches!(error, ImageError::NoSuperblock), "{bytes}: {error}"),
                _ => assert!(matches!(error, ImageError::Truncated { .. }), "{bytes}: {error}"),
            }
        }
        assert!(matches!(recognise(&[], 0), Err(ImageError::Empty)));
    }
}
