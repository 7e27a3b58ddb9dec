//! Recognition of a volume by a superblock with the right checksum, as `docs/format.md` defines it.
//! One copy of the superblock is enough.
//!
//! ```text
//! 0            8         10           14                18            22         40            44
//! | "SteadyFS" | version | page_bytes | pages_per_block | block_count | settings | second copy |
//! ```
//!
//! - The field `second copy` contains the number of the block of the second copy.
//! - The first copy lies at byte 0 on NAND, and behind the tag table on NOR.
//! - If the first copy is damaged, the second copy is searched. It is accepted if it lies at the
//!   offset that is computed from its own fields and the length of the file.
//!
//! This module only returns the shape of the file. The mount reads the superblock again.

use super::content::Bytes;
use super::shape::{TAG_OFFSET, is_page_size};
use super::{ImageError, Shape};
use steadyfs::media::{Geometry, TAG_BYTES, Tag};

/// The bytes with which every superblock begins.
const MAGIC: &[u8; 8] = b"SteadyFS";
const VERSION: u16 = steadyfs::FORMAT_VERSION;
/// Number of bytes up to the end of the last field that this module reads.
const BYTES: usize = 44;
/// Bytes of the smallest page. A tag table grows in steps of this size.
const STEP_BYTES: usize = 256;
/// Bytes of the largest tag table. A tag table is a whole number of pages, so it may have one page
/// of the largest size. The tags of 256 pages take only 4 KiB.
const TABLE_BYTES_MAX: usize = 16_384;
/// Number of bytes at the start of a chip that contain the first copy.
const HEAD_BYTES: usize = TABLE_BYTES_MAX + BYTES;
/// Offset at which the search for the second copy ends: 32 blocks of 256 pages of 16 KiB. Each page
/// has a spare area of a quarter of the page.
const SEARCH_BYTES: u64 = 32 * 256 * (16_384 + 4096);
/// Number of bytes that are searched at once.
const CHUNK_BYTES: usize = 1 << 20;
/// Number of blocks in which a root may lie.
const ROOT_BLOCKS: u32 = 65;

/// The fields of a superblock that this module reads.
struct Fields {
    version: u16,
    geometry: Geometry,
    /// Number of the block of the second copy.
    copy: u32,
}

impl Fields {
    /// Parses the fields. Returns `None` if the bytes do not begin as a superblock, or are too few.
    fn of(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<BYTES>().filter(|bytes| bytes.starts_with(MAGIC))?;
        let number = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let geometry = Geometry {
            page_bytes: number(10),
            pages_per_block: number(14),
            block_count: number(18),
            programs_bytes: false,
        };
        Some(Self { version: u16::from_le_bytes([bytes[8], bytes[9]]), geometry, copy: number(40) })
    }
}

/// Reads the shape of a volume's chip from one of the two copies of its superblock.
pub(crate) fn recognise(bytes: &mut dyn Bytes) -> Result<Shape, ImageError> {
    let length = bytes.length().map_err(ImageError::Io)?;
    if length == 0 {
        return Err(ImageError::Empty);
    }
    let mut head = vec![0; HEAD_BYTES.min(length as usize)];
    bytes.read_at(0, &mut head).map_err(ImageError::Io)?;
    let mut chip = Chip { bytes, length };
    let at = (0..=TABLE_BYTES_MAX)
        .step_by(STEP_BYTES)
        .find(|&at| head.get(at..).is_some_and(|rest| rest.starts_with(MAGIC)));
    let (refused, first_version) = match at {
        None => (ImageError::NoSuperblock, None),
        Some(at) => {
            let fields = Fields::of(&head[at..]).ok_or_else(|| cut_off(at, length))?;
            let is_sound =
                chip.is_superblock(at as u64, if at == 0 { None } else { Some(0) }, &fields);
            match chip.first_shape(at as u64, &fields) {
                Ok(shape) if is_sound => return chip.with_right_spare(shape, fields.copy),
                // The superblock defines the sizes of the chip, but the file has another length.
                Err(error @ (ImageError::Truncated { .. } | ImageError::Length { .. }))
                    if is_sound =>
                {
                    return Err(error);
                }
                Ok(_) => (wrong_checksum(at as u64), Some(fields.version)),
                Err(error) => (error, Some(fields.version)),
            }
        }
    };
    match chip.find_second(first_version)? {
        Second::Whole(shape) => Ok(shape),
        // Both copies contain the same unsupported version. Their checksum may be of another kind,
        // so it is not checked.
        Second::OfVersion(found) => {
            Err(ImageError::Version { offset: at.unwrap_or_default() as u64, found })
        }
        Second::None => Err(match refused {
            ImageError::Version { offset, .. } if !chip.is_page_at(offset) => {
                wrong_checksum(offset)
            }
            refused => refused,
        }),
    }
}

fn cut_off(at: usize, length: u64) -> ImageError {
    let what = format!("the end of the superblock at byte {at}");
    ImageError::Truncated { found: length, expected: (at + BYTES) as u64, what }
}

fn wrong_checksum(offset: u64) -> ImageError {
    let found = "its checksum is wrong, and no whole copy of it was found".to_string();
    ImageError::Superblock {
        offset,
        found,
        expected: "a whole superblock here or in the second block",
    }
}

/// The result of a search for the second copy.
enum Second {
    /// The copy is intact, and describes this shape.
    Whole(Shape),
    /// No intact copy was found. But a second superblock has the same unsupported version as the
    /// first copy.
    OfVersion(u16),
    None,
}

/// The bytes of a chip, and their number.
struct Chip<'b> {
    bytes: &'b mut dyn Bytes,
    length: u64,
}

impl Chip<'_> {
    /// Returns true if a page can be read and its checksum matches its tag.
    fn is_page(&mut self, page_bytes: u32, offset: u64, tag_offset: u64) -> bool {
        let (mut page, mut tag) = (vec![0; page_bytes as usize], [0; TAG_BYTES]);
        let is_read = self
            .bytes
            .read_at(offset, &mut page)
            .and_then(|()| self.bytes.read_at(tag_offset, &mut tag));
        is_read.is_ok() && Tag::is_of(&tag, &page)
    }

    /// Returns true if a superblock at an offset has the right checksum. Its tag lies at byte
    /// `table`, or in the spare area if `table` is `None`.
    fn is_superblock(&mut self, offset: u64, table: Option<u64>, fields: &Fields) -> bool {
        let page_bytes = fields.geometry.page_bytes;
        let tag_offset = table.unwrap_or(offset + u64::from(page_bytes) + u64::from(TAG_OFFSET));
        is_page_size(page_bytes) && self.is_page(page_bytes, offset, tag_offset)
    }

    /// Returns true if the first copy at an offset has the right checksum.
    fn is_page_at(&mut self, offset: u64) -> bool {
        let mut head = [0; BYTES];
        let fields = self.bytes.read_at(offset, &mut head).ok().and_then(|()| Fields::of(&head));
        fields.is_some_and(|fields| self.is_superblock(offset, (offset > 0).then_some(0), &fields))
    }

    /// Returns the shape from the first copy at an offset.
    fn first_shape(&self, offset: u64, fields: &Fields) -> Result<Shape, ImageError> {
        if fields.version != VERSION {
            return Err(ImageError::Version { offset, found: fields.version });
        }
        if fields.copy == 0 || fields.copy >= fields.geometry.block_count {
            let found = format!("the second copy is in block {}", fields.copy);
            return Err(ImageError::Superblock {
                offset,
                found,
                expected: "another block of the chip",
            });
        }
        match offset {
            0 => Shape::of_nand_file(fields.geometry, self.length),
            _ => Shape::of_nor_file(fields.geometry, offset, self.length),
        }
    }

    /// Searches the second copy.
    fn find_second(&mut self, first_version: Option<u16>) -> Result<Second, ImageError> {
        let (mut found, mut from) = (Second::None, 1);
        let end = self.length.min(SEARCH_BYTES);
        let mut chunk = vec![0; CHUNK_BYTES + BYTES - 1];
        while from < end {
            let count = (end - from).min(chunk.len() as u64) as usize;
            self.bytes.read_at(from, &mut chunk[..count]).map_err(ImageError::Io)?;
            let places = 0..count.saturating_sub(BYTES - 1);
            for at in places.filter(|&at| chunk[at] == MAGIC[0] && chunk[at..].starts_with(MAGIC)) {
                let Some(fields) = Fields::of(&chunk[at..count]) else { continue };
                match self.second_shape(from + at as u64, &fields) {
                    Some(shape) => return Ok(Second::Whole(shape)),
                    None if fields.version != VERSION
                        && Some(fields.version) == first_version
                        && self.is_other(from + at as u64) =>
                    {
                        found = Second::OfVersion(fields.version);
                    }
                    None => {}
                }
            }
            from += CHUNK_BYTES as u64;
        }
        Ok(found)
    }

    /// Returns true if the first copy cannot lie at an offset.
    fn is_other(&self, offset: u64) -> bool {
        offset > TABLE_BYTES_MAX as u64 || !offset.is_multiple_of(STEP_BYTES as u64)
    }

    /// Returns the shape from an intact second copy at an offset. Returns `None` if there is no
    /// such copy.
    fn second_shape(&mut self, offset: u64, fields: &Fields) -> Option<Shape> {
        let &Fields { version: VERSION, geometry, copy: copy @ 1.. } = fields else { return None };
        if copy >= geometry.block_count {
            return None;
        }
        let pages = u64::from(copy) * u64::from(geometry.pages_per_block);
        let nand = Shape::of_nand_file(geometry, self.length).ok().filter(|shape| match *shape {
            Shape::Nand { spare_bytes, .. } => {
                offset == pages * u64::from(geometry.page_bytes + spare_bytes)
            }
            Shape::Nor { .. } => false,
        });
        if nand.is_some() && self.is_superblock(offset, None, fields) {
            return nand;
        }
        let block_bytes = self.length.checked_div(geometry.block_count.into())?;
        let table = offset
            .checked_sub(u64::from(copy) * block_bytes)
            .filter(|table| (1..=TABLE_BYTES_MAX as u64).contains(table))?;
        let nor = Shape::of_nor_file(geometry, table, self.length).ok();
        nor.filter(|_| self.is_superblock(offset, Some(offset - table), fields))
    }

    /// Refuses NAND whose real spare areas differ from the size that is computed from the length of
    /// the file. A truncated file may have the length of a file with smaller spare areas. An intact
    /// page in another block proves that the computed size is right.
    fn with_right_spare(&mut self, shape: Shape, copy: u32) -> Result<Shape, ImageError> {
        let Shape::Nand { geometry, spare_bytes } = shape else { return Ok(shape) };
        let stride = u64::from(geometry.page_bytes + spare_bytes);
        let offset_of =
            |block: u32| u64::from(block) * u64::from(geometry.pages_per_block) * stride;
        let tag_at = u64::from(geometry.page_bytes + TAG_OFFSET);
        let mut blocks = std::iter::once(copy).chain(1..geometry.block_count.min(ROOT_BLOCKS));
        let is_right = blocks.any(|block| {
            self.is_page(geometry.page_bytes, offset_of(block), offset_of(block) + tag_at)
        });
        let misplaced =
            || ImageError::SecondSuperblock { offset: offset_of(copy), block: copy, spare_bytes };
        if is_right { Ok(shape) } else { Err(misplaced()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    impl Bytes for Vec<u8> {
        fn length(&self) -> io::Result<u64> {
            Ok(self.len() as u64)
        }

        fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
            let found = self.get(offset as usize..).and_then(|rest| rest.get(..bytes.len()));
            bytes.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        }
    }

    fn superblock(version: u16, numbers: [u32; 3]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(version.to_le_bytes());
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.resize(40, 0);
        bytes.extend(1u32.to_le_bytes());
        bytes
    }

    /// Returns a chip with a superblock at an offset. The checksum of the superblock is wrong.
    fn at(offset: usize, superblock: Vec<u8>, length: usize) -> Vec<u8> {
        let mut head = vec![0xFF; offset];
        head.extend(superblock);
        head.resize(length, 0xFF);
        head
    }

    #[test]
    fn a_superblock_with_a_wrong_checksum_is_none() {
        for (offset, numbers, length) in
            [(0, [2048, 64, 64], 64 * 64 * 2112), (512, [512, 7, 64], 64 * 4096)]
        {
            let error =
                recognise(&mut at(offset, superblock(VERSION, numbers), length)).unwrap_err();
            assert!(
                error.to_string().contains("its checksum is wrong, and no whole copy"),
                "{error}"
            );
            let error = recognise(&mut at(offset, superblock(20, numbers), length)).unwrap_err();
            assert!(
                error.to_string().contains("its checksum is wrong, and no whole copy"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_nor_superblock_at_the_wrong_place_is_damaged() {
        let error =
            recognise(&mut at(1024, superblock(VERSION, [512, 7, 64]), 4096 * 64)).unwrap_err();
        assert!(matches!(error, ImageError::Superblock { offset: 1024, .. }), "{error}");
    }

    #[test]
    fn a_version_that_both_copies_have_is_named() {
        let other = VERSION + 1;
        let mut chip = at(0, superblock(other, [2048, 64, 64]), 64 * 64 * 2112);
        chip[64 * 2112..64 * 2112 + BYTES].copy_from_slice(&superblock(other, [2048, 64, 64]));
        let error = recognise(&mut chip).unwrap_err();
        let named = format!(
            "the superblock at byte 0 has format version {other}; expected {VERSION}: copy the \
             files with "
        );
        assert!(error.to_string().starts_with(&named), "{error}");
    }

    #[test]
    fn absurd_geometries_are_damaged_superblocks() {
        for numbers in [
            [0, 64, 1024],
            [2048, 0, 1024],
            [2048, 64, 0],
            [u32::MAX; 3],
            [2048, 64, u32::MAX],
            [1 << 31; 3],
        ] {
            for offset in [0, 512, 4096] {
                let error =
                    recognise(&mut at(offset, superblock(VERSION, numbers), 1 << 20)).unwrap_err();
                assert!(matches!(error, ImageError::Superblock { .. }), "{error}");
            }
        }
    }

    #[test]
    fn every_cut_of_a_superblock_has_a_named_error() {
        let whole = superblock(VERSION, [2048, 64, 1024]);
        for bytes in 1..whole.len() {
            let error = recognise(&mut whole[..bytes].to_vec()).unwrap_err();
            match bytes {
                0..8 => assert!(matches!(error, ImageError::NoSuperblock), "{bytes}: {error}"),
                _ => assert!(matches!(error, ImageError::Truncated { .. }), "{bytes}: {error}"),
            }
        }
        assert!(matches!(recognise(&mut Vec::new()), Err(ImageError::Empty)));
    }
}
