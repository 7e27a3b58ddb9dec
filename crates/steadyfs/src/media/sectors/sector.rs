//! Contents of a header and of a tag's sector: kind, generation, volume and checksum.

use core::ops::Range;

use super::device::SECTOR_BYTES;
use crate::fields::Fields;
use crate::media::Failure;
use crate::media::crc::crc32;

/// First bytes of a header.
pub(super) const HEADER: &[u8; 8] = b"SteadyBk";
/// First bytes of a tag's sector.
pub(super) const PAGE: &[u8; 8] = b"SteadyPg";
/// Offset of the checksum in a header or a tag's sector. The rest of the sector is zeros.
const CHECK_AT: usize = 36;
/// Offset of the volume's number.
pub(super) const VOLUME_AT: usize = CHECK_AT - 4;
/// End of the used bytes of a tag's sector.
pub(super) const TAG_END: usize = CHECK_AT + 4;
/// Bytes at the end of a page that its tag takes, if tags lie [within](super::TagPlace::Within)
/// pages.
pub const TAG_ROOM_BYTES: u32 = 32;
/// Part of a tag's sector that the end of a page holds, if tags lie within pages. The part omits
/// [`PAGE`], which is equal in all tags.
pub(super) const TAG_PART: Range<usize> = PAGE.len()..TAG_END;
const _: () = assert!(TAG_PART.end - TAG_PART.start == TAG_ROOM_BYTES as usize);

/// Number of a generation of a block, larger than the number of any earlier generation of the
/// block; 0: no generation.
pub(super) type Generation = u32;

/// Returns true if a read succeeded, and false if the sector cannot be read. Other failures are
/// errors.
pub(super) fn was_read(result: Result<(), Failure>) -> Result<bool, Failure> {
    match result {
        Ok(()) => Ok(true),
        Err(Failure::Uncorrectable) => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// Returns the 32-bit number at the offset `at` of a sector.
pub(super) fn word(sector: &[u8; SECTOR_BYTES], at: usize) -> u32 {
    Fields::new(&sector[at..]).get32()
}

/// Writes kind, generation, volume and checksum into a sector.
pub(super) fn seal(
    sector: &mut [u8; SECTOR_BYTES],
    magic: &[u8; 8],
    generation: Generation,
    volume: u32,
) {
    sector[..8].copy_from_slice(magic);
    sector[8..12].copy_from_slice(&generation.to_le_bytes());
    sector[VOLUME_AT..VOLUME_AT + 4].copy_from_slice(&volume.to_le_bytes());
    let check = crc32(&sector[..CHECK_AT], 0);
    sector[CHECK_AT..CHECK_AT + 4].copy_from_slice(&check.to_le_bytes());
}

/// Returns true if a sector is of the kind `magic`, and has the right checksum.
pub(super) fn is_sound(sector: &[u8; SECTOR_BYTES], magic: &[u8; 8]) -> bool {
    &sector[..8] == magic && word(sector, CHECK_AT) == crc32(&sector[..CHECK_AT], 0)
}
