//! What a sector says that is a header, or has a tag: of what kind it is, of which generation and volume, and whether it is sound.

use core::ops::Range;

use super::device::SECTOR_BYTES;
use crate::fields::Fields;
use crate::media::Failure;
use crate::media::crc::crc32;

/// First bytes of a header and of a tag's sector.
pub(super) const HEADER: &[u8; 8] = b"SteadyBk";
pub(super) const PAGE: &[u8; 8] = b"SteadyPg";
/// Where the checksum of a header or of a tag's sector lies; the rest of the sector is zeros.
const CHECK_AT: usize = 36;
/// Where the number of the volume lies.
pub(super) const VOLUME_AT: usize = CHECK_AT - 4;
/// Where what a tag's sector says ends.
pub(super) const TAG_END: usize = CHECK_AT + 4;
/// Bytes at the end of a page that its tag takes, where tags lie [within](super::TagPlace::Within) pages.
pub const TAG_ROOM_BYTES: u32 = 32;
/// The part of a tag's sector that the end of a page holds, where tags lie within: all but the first bytes, which are known.
pub(super) const TAG_PART: Range<usize> = PAGE.len()..TAG_END;
const _: () = assert!(TAG_PART.end - TAG_PART.start == TAG_ROOM_BYTES as usize);

/// The number of a generation of a block; larger than that of any before. 0: none.
pub(super) type Generation = u32;

/// Whether a read brought anything. Only a device that does not answer is an error.
pub(super) fn was_read(result: Result<(), Failure>) -> Result<bool, Failure> {
    match result {
        Ok(()) => Ok(true),
        Err(Failure::Uncorrectable) => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// Number at a place of a sector.
pub(super) fn word(sector: &[u8; SECTOR_BYTES], at: usize) -> u32 {
    Fields::new(&sector[at..]).get32()
}

/// Makes a sector one of a kind, a generation and a volume.
pub(super) fn seal(sector: &mut [u8; SECTOR_BYTES], magic: &[u8; 8], generation: Generation, volume: u32) {
    sector[..8].copy_from_slice(magic);
    sector[8..12].copy_from_slice(&generation.to_le_bytes());
    sector[VOLUME_AT..VOLUME_AT + 4].copy_from_slice(&volume.to_le_bytes());
    let check = crc32(&sector[..CHECK_AT], 0);
    sector[CHECK_AT..CHECK_AT + 4].copy_from_slice(&check.to_le_bytes());
}

/// Whether a sector is one of a kind, and as it was written.
pub(super) fn is_sound(sector: &[u8; SECTOR_BYTES], magic: &[u8; 8]) -> bool {
    &sector[..8] == magic && word(sector, CHECK_AT) == crc32(&sector[..CHECK_AT], 0)
}
