//! The inode: 256 bytes in the file table that say everything of a file.
//!
//! ```text
//! 0    1          2    4     12          16         20      32    96          256
//! | kind | name len | 0  | size | generation | next trim | zero | name | inline data, or 26 regions of 6 bytes |
//! ```
//!
//! A *region* maps as many pages of the file as an index page has entries:
//!
//! ```text
//! 0     1          4       6
//! | kind | logical | count |     kind 0: no page; 1: `count` pages from `logical` on; 2: `logical` is an index page,
//!                             of which the entries from `count` on belong to the file
//! ```

use crate::config::INODE_BYTES;

/// Bytes of a name at most.
pub const NAME_BYTES_MAX: usize = 64;

pub(super) const SIZE_AT: u32 = 4;
pub(super) const GENERATION_AT: u32 = 12;
pub(super) const TRIM_AT: u32 = 16;
pub(super) const NAME_AT: u32 = 32;
pub(super) const AREA_AT: u32 = NAME_AT + NAME_BYTES_MAX as u32;
/// Bytes for inline data or regions.
pub(super) const AREA_BYTES: usize = (INODE_BYTES - AREA_AT) as usize;
pub(super) const REGION_BYTES: u32 = 6;
/// Regions of a file.
pub(super) const REGIONS: u32 = AREA_BYTES as u32 / REGION_BYTES;
/// Bytes before the name.
pub(super) const HEADER_BYTES: usize = NAME_AT as usize;

/// What an inode is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum InodeKind {
    /// A file whose data lies in the inode.
    Inline = 1,
    /// A file of regions.
    Regions = 2,
    /// A removed file, or the end that was cut off one, whose pages are still being freed.
    Removed = 3,
}

/// The header of an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub kind: InodeKind,
    pub name_bytes: u8,
    pub size: u64,
    /// Counts how often the inode was given to a file, so that a handle of an earlier one is recognised.
    pub generation: u32,
    /// Next inode of the trim list plus one, or 0.
    pub next_trim: u32,
}

impl Header {
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let kind = match bytes[0] {
            1 => InodeKind::Inline,
            2 => InodeKind::Regions,
            3 => InodeKind::Removed,
            _ => return None,
        };
        let size = u64::from(word(4)) | u64::from(word(8)) << 32;
        let sound = usize::from(bytes[1]) <= NAME_BYTES_MAX && (kind != InodeKind::Inline || size <= AREA_BYTES as u64);
        sound.then_some(Self { kind, name_bytes: bytes[1], size, generation: word(12), next_trim: word(16) })
    }

    pub fn emit(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = self.kind as u8;
        bytes[1] = self.name_bytes;
        bytes[4..12].copy_from_slice(&self.size.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.generation.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.next_trim.to_le_bytes());
        bytes
    }
}

/// Where the pages of a region are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    /// Nowhere: the region reads as zeros.
    Empty,
    /// One after the other: the first `count` pages of the region.
    Run { logical: u32, count: u32 },
    /// In the entries of an index page, from entry `from` on.
    Index { logical: u32, from: u32 },
}

impl Region {
    pub fn parse(bytes: &[u8]) -> Self {
        let logical = u32::from_le_bytes([bytes[1], bytes[2], bytes[3], 0]);
        match bytes[0] {
            1 => Self::Run { logical, count: u32::from(u16::from_le_bytes([bytes[4], bytes[5]])) },
            2 => Self::Index { logical, from: u32::from(u16::from_le_bytes([bytes[4], bytes[5]])) },
            _ => Self::Empty,
        }
    }

    pub fn emit(&self) -> [u8; REGION_BYTES as usize] {
        let (kind, logical, count) = match *self {
            Self::Empty => (0, 0, 0),
            Self::Run { logical, count } => (1, logical, count),
            Self::Index { logical, from } => (2, logical, from),
        };
        let (l, c) = (logical.to_le_bytes(), count.to_le_bytes());
        [kind, l[0], l[1], l[2], c[0], c[1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_and_regions_survive_emit_and_parse() {
        let header = Header { kind: InodeKind::Regions, name_bytes: 9, size: 1 << 33, generation: 7, next_trim: 12 };
        assert_eq!(Header::parse(&header.emit()), Some(header));
        for region in [Region::Empty, Region::Run { logical: 70_000, count: 2048 }, Region::Index { logical: 5, from: 9 }] {
            assert_eq!(Region::parse(&region.emit()), region);
        }
    }

    #[test]
    fn impossible_headers_are_refused() {
        assert_eq!(Header::parse(&[0xFF; HEADER_BYTES]), None);
        let mut bytes = [0; HEADER_BYTES];
        (bytes[0], bytes[5]) = (1, 1);
        assert_eq!(Header::parse(&bytes), None, "inline data larger than the inode");
    }
}
