//! Kind and sizes of the chip in an image, and the length of its file.

use super::ImageError;
use steadyfs::media::nor::{NorPages, page_bytes_for};
use steadyfs::media::{Geometry, TAG_BYTES};
use steadyfs_sim::{Chip, Profile};

use super::nor::NorImage;

/// Offset of the tag in a NAND page's spare area, behind the two bytes of the bad-block mark.
///
/// If a chip has 64 spare bytes and Linux uses its Hamming ECC, Linux also places the first user
/// bytes at this offset.
pub const TAG_OFFSET: u32 = 2;

/// Minimum spare bytes of a NAND page: bad-block mark and tag.
pub const SPARE_BYTES_MIN: u32 = TAG_OFFSET + TAG_BYTES as u32;

/// Text that describes limits of [`Shape::check`] and of the superblock.
const PAGE_BYTES: &str = "a power of two from 256 to 16,384";
const PAGES_PER_BLOCK: &str = "4 to 256";
const BLOCK_COUNT: &str = "16 to 1,048,576";

/// An invalid size: the value that was found, and the expected values.
pub(super) type Misfit = (String, &'static str);

/// Kind and sizes of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// NAND: pages with spare areas.
    Nand {
        /// Sizes and numbers of pages and blocks.
        geometry: Geometry,
        /// Number of spare bytes of each page, at least [`SPARE_BYTES_MIN`] and at most a quarter
        /// of the page.
        spare_bytes: u32,
    },
    /// NOR: a chip that programs bytes.
    Nor {
        /// Number of data bytes of a page. The file system divides blocks into pages: see
        /// [`NorPages`].
        page_bytes: u32,
        /// Bytes of an erase block, a multiple of `page_bytes`.
        block_bytes: u32,
        /// Number of erase blocks. The chip has at most 4 GiB.
        block_count: u32,
    },
}

impl Shape {
    /// Returns NAND with the usual spare area: 64 bytes for each 2 KiB of a page, and at least
    /// [`SPARE_BYTES_MIN`].
    pub fn nand(geometry: Geometry) -> Self {
        Self::Nand { geometry, spare_bytes: (geometry.page_bytes / 32).max(SPARE_BYTES_MIN) }
    }

    /// Returns the shape of a profile's chip. For NOR, a block has the profile's default erase
    /// size, and pages have a suitable size.
    pub fn of(profile: &Profile) -> Self {
        match &profile.chip {
            Chip::Nand(nand) => {
                Self::Nand { geometry: nand.geometry(), spare_bytes: nand.spare_bytes }
            }
            Chip::Nor(nor) => {
                let block_bytes = nor.default_erase_bytes;
                Self::Nor {
                    page_bytes: page_bytes_for(block_bytes),
                    block_bytes,
                    block_count: nor.size_bytes / block_bytes,
                }
            }
        }
    }

    /// Returns sizes and numbers of pages and blocks.
    ///
    /// # Errors
    /// [`ImageError::Shape`] if no chip has this shape.
    pub fn geometry(&self) -> Result<Geometry, ImageError> {
        self.check()?;
        Ok(match *self {
            Self::Nand { geometry, .. } => geometry,
            Self::Nor { page_bytes, block_bytes, block_count } => {
                let pages_per_block =
                    NorPages::<NorImage>::pages_per_block(block_bytes, page_bytes);
                Geometry { page_bytes, pages_per_block, block_count, programs_bytes: true }
            }
        })
    }

    /// Returns the number of bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        match *self {
            Self::Nand { geometry, spare_bytes } => {
                page_count(&geometry) * u64::from(geometry.page_bytes + spare_bytes)
            }
            Self::Nor { block_bytes, block_count, .. } => {
                u64::from(block_bytes) * u64::from(block_count)
            }
        }
    }

    /// Returns the shape of a NAND image. It is computed from the superblock, which lies at byte 0,
    /// and from the length of the file. The length determines the spare bytes.
    pub(super) fn of_nand_file(geometry: Geometry, length: u64) -> Result<Self, ImageError> {
        check_geometry(&geometry).map_err(|(found, expected)| ImageError::Superblock {
            offset: 0,
            found,
            expected,
        })?;
        let (pages, page_bytes) = (page_count(&geometry), geometry.page_bytes);
        let least = pages * u64::from(page_bytes + SPARE_BYTES_MIN);
        if length < least {
            let what = format!(
                "{pages} pages of {page_bytes} bytes with at least {SPARE_BYTES_MIN} spare bytes \
                 each"
            );
            return Err(ImageError::Truncated { found: length, expected: least, what });
        }
        let spare_bytes = length / pages - u64::from(page_bytes);
        let most = spare_bytes_max(page_bytes);
        if !length.is_multiple_of(pages) || spare_bytes > u64::from(most) {
            let expected = format!(
                "{pages} pages of {page_bytes} bytes with {SPARE_BYTES_MIN} to {most} spare bytes \
                 each, the same for all"
            );
            return Err(ImageError::Length { found: length, expected });
        }
        Ok(Self::Nand { geometry, spare_bytes: spare_bytes as u32 })
    }

    /// Returns the shape of a NOR image. It is computed from the superblock, which lies at byte
    /// `offset`, and from the length of the file. Returns an error if no chip of the geometry has
    /// its first page at this offset.
    pub(super) fn of_nor_file(
        geometry: Geometry,
        offset: u64,
        length: u64,
    ) -> Result<Self, ImageError> {
        let damaged = |(found, expected)| ImageError::Superblock { offset, found, expected };
        check_geometry(&geometry).map_err(damaged)?;
        let Geometry { page_bytes, pages_per_block, block_count, .. } = geometry;
        // The first page begins behind the tag table, so its offset is the size of the table.
        let block_bytes = offset as u32 + pages_per_block * page_bytes;
        let shape = Self::Nor { page_bytes, block_bytes, block_count };
        shape.find_misfit().map_err(damaged)?;
        if NorPages::<NorImage>::pages_per_block(block_bytes, page_bytes) != pages_per_block {
            return Err(damaged((
                format!(
                    "{pages_per_block} pages of {page_bytes} bytes behind a tag table of {offset}"
                ),
                "as many pages as a block takes",
            )));
        }
        shape.check_length(length)?;
        Ok(shape)
    }

    /// Refuses a file whose length differs from the chip.
    pub(super) fn check_length(&self, found: u64) -> Result<(), ImageError> {
        let expected = self.file_bytes();
        let what = match *self {
            Self::Nand { geometry, spare_bytes } => {
                format!(
                    "{} pages of {} + {spare_bytes} bytes",
                    page_count(&geometry),
                    geometry.page_bytes
                )
            }
            Self::Nor { block_bytes, block_count, .. } => {
                format!("{block_count} blocks of {block_bytes} bytes")
            }
        };
        match found {
            0 => Err(ImageError::Empty),
            _ if found < expected => Err(ImageError::Truncated { found, expected, what }),
            _ if found > expected => {
                Err(ImageError::Length { found, expected: format!("{expected}, {what}") })
            }
            _ => Ok(()),
        }
    }

    /// Refuses sizes that no chip has.
    pub(super) fn check(&self) -> Result<(), ImageError> {
        self.find_misfit().map_err(|(found, expected)| ImageError::Shape { found, expected })
    }

    fn find_misfit(&self) -> Result<(), Misfit> {
        match *self {
            Self::Nand { geometry, spare_bytes } => {
                check_geometry(&geometry)?;
                let most = spare_bytes_max(geometry.page_bytes);
                demand(
                    (SPARE_BYTES_MIN..=most).contains(&spare_bytes),
                    "spare_bytes",
                    spare_bytes,
                    "18 to a quarter of the page",
                )
            }
            Self::Nor { page_bytes, block_bytes, block_count } => {
                check_page(page_bytes)?;
                let whole = block_bytes.is_multiple_of(page_bytes) && block_bytes / page_bytes > 4;
                demand(
                    whole,
                    "block_bytes",
                    block_bytes,
                    "a multiple of page_bytes, at least 5 of them",
                )?;
                demand(
                    self.file_bytes() <= 1 << 32,
                    "block_count",
                    block_count,
                    "at most 4 GiB in all",
                )?;
                let pages_per_block =
                    NorPages::<NorImage>::pages_per_block(block_bytes, page_bytes);
                check_geometry(&Geometry {
                    page_bytes,
                    pages_per_block,
                    block_count,
                    programs_bytes: false,
                })
            }
        }
    }
}

/// Returns the largest accepted number of spare bytes. Real chips have up to an eighth of a page.
/// The limit is larger, but a file of twice the chip's length still exceeds it.
const fn spare_bytes_max(page_bytes: u32) -> u32 {
    page_bytes / 4
}

fn page_count(geometry: &Geometry) -> u64 {
    u64::from(geometry.pages_per_block) * u64::from(geometry.block_count)
}

/// Returns true if a chip may have pages of this size.
pub(super) fn is_page_size(page_bytes: u32) -> bool {
    page_bytes.is_power_of_two() && (256..=16_384).contains(&page_bytes)
}

fn check_page(page_bytes: u32) -> Result<(), Misfit> {
    demand(is_page_size(page_bytes), "page_bytes", page_bytes, PAGE_BYTES)
}

/// Refuses a geometry that no volume has.
fn check_geometry(geometry: &Geometry) -> Result<(), Misfit> {
    let Geometry { page_bytes, pages_per_block, block_count, .. } = *geometry;
    check_page(page_bytes)?;
    demand(
        (4..=256).contains(&pages_per_block),
        "pages_per_block",
        pages_per_block,
        PAGES_PER_BLOCK,
    )?;
    demand((16..=0x10_0000).contains(&block_count), "block_count", block_count, BLOCK_COUNT)
}

fn demand(holds: bool, name: &str, value: u32, expected: &'static str) -> Result<(), Misfit> {
    if holds { Ok(()) } else { Err((format!("{name} is {value}"), expected)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEOMETRY: Geometry = Geometry {
        page_bytes: 2048,
        pages_per_block: 64,
        block_count: 1024,
        programs_bytes: false,
    };

    #[test]
    fn nand_of_2_kib_pages_has_64_spare_bytes() {
        assert_eq!(Shape::nand(GEOMETRY), Shape::Nand { geometry: GEOMETRY, spare_bytes: 64 });
        assert_eq!(Shape::nand(GEOMETRY).file_bytes(), 65_536 * 2112);
    }

    #[test]
    fn small_pages_have_room_for_mark_and_tag() {
        let Shape::Nand { spare_bytes, .. } = Shape::nand(Geometry { page_bytes: 256, ..GEOMETRY })
        else {
            panic!("NAND")
        };
        assert_eq!(spare_bytes, 18);
    }

    #[test]
    fn shapes_of_the_built_in_profiles_hold_the_whole_chip_or_are_refused() {
        for profile in Profile::all() {
            let checked = Shape::of(&profile).check();
            if profile.nand().is_some_and(|nand| nand.spare_bytes < SPARE_BYTES_MIN) {
                // Chips with pages of 512 bytes have 16 spare bytes. These are too few for a tag
                // beside the bad-block mark.
                assert!(matches!(checked, Err(ImageError::Shape { .. })), "{}", profile.name);
            } else {
                checked.unwrap_or_else(|error| panic!("{}: {error}", profile.name));
            }
        }
        assert_eq!(Shape::of(&Profile::named("w25q128jv").unwrap()).file_bytes(), 1 << 24);
    }

    #[test]
    fn the_length_of_a_nand_file_tells_its_spare_bytes() {
        for spare_bytes in [18, 64, 128, 512] {
            let shape = Shape::Nand { geometry: GEOMETRY, spare_bytes };
            assert_eq!(Shape::of_nand_file(GEOMETRY, shape.file_bytes()).unwrap(), shape);
        }
        for length in [65_536 * 2112 + 1, 65_536 * (2048 + 513), 65_536 * 4224] {
            let error = Shape::of_nand_file(GEOMETRY, length).unwrap_err();
            assert!(
                matches!(error, ImageError::Length { found, .. } if found == length),
                "{error}"
            );
        }
        for length in [1, 65_536 * 2048, 65_536 * (2048 + 17)] {
            let error = Shape::of_nand_file(GEOMETRY, length).unwrap_err();
            assert!(
                matches!(error, ImageError::Truncated { found, .. } if found == length),
                "{error}"
            );
        }
    }

    #[test]
    fn sizes_of_no_chip_are_named() {
        let text = |shape: Shape| shape.check().unwrap_err().to_string();
        let shape = Shape::Nand { geometry: GEOMETRY, spare_bytes: 16 };
        assert_eq!(
            text(shape),
            "no chip has this shape: spare_bytes is 16; expected 18 to a quarter of the page"
        );
        let shape = Shape::nand(Geometry { page_bytes: 2000, ..GEOMETRY });
        assert_eq!(
            text(shape),
            "no chip has this shape: page_bytes is 2000; expected a power of two from 256 to 16,384"
        );
        for shape in [
            Shape::Nor { page_bytes: 512, block_bytes: 0, block_count: 16 },
            Shape::Nor { page_bytes: 0, block_bytes: 4096, block_count: 16 },
            Shape::Nor { page_bytes: 512, block_bytes: 4096, block_count: 15 },
            Shape::Nor { page_bytes: 512, block_bytes: u32::MAX, block_count: u32::MAX },
            Shape::Nor { page_bytes: 256, block_bytes: 0x1_0000, block_count: 0x1_0001 },
            Shape::nand(Geometry {
                page_bytes: 512,
                pages_per_block: u32::MAX,
                block_count: u32::MAX,
                programs_bytes: false,
            }),
        ] {
            assert!(matches!(shape.check(), Err(ImageError::Shape { .. })), "{shape:?}");
        }
    }
}
