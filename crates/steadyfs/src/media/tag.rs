//! The tag: 16 bytes beside each program page that say what the page is.
//!
//! ```text
//! 0        5       8      9        12       16
//! | sequence | logical | kind | aux    | check |
//! |  40 bits | 24 bits | 8 b  | 24 bits| CRC-32 of the data ⊕ CRC-32 of bytes 0..12
//! ```
//!
//! The two checksums are combined by exclusive or, so that a page copied on the chip can be given a new tag without
//! reading its data: `new check = old check ⊕ CRC(old bytes 0..12) ⊕ CRC(new bytes 0..12)`. A page whose data was damaged
//! stays recognisably damaged.

use super::crc::crc32;

/// Bytes of a tag.
pub const TAG_BYTES: usize = 16;

/// Highest value of the 24-bit fields.
pub(crate) const FIELD_MAX: u32 = 0xFF_FFFF;

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Superblock: geometry, configuration, ring.
    Super = 1,
    /// One page of a root or of a copy of it: `sequence` is the root's number, `logical` the place of the page in it, `aux` the pages of
    /// a root (8 bits) and which copy this is (0: the root itself).
    Root = 2,
    /// Page of a logical page written by an open transaction; `aux` is the distance to the transaction's first sequence.
    Data = 3,
    /// The same, alone in its transaction and thereby committed.
    DataCommit = 4,
    /// Journal page, which commits its transaction; `logical` is the number of pending pages, `aux` the distance to its start.
    Journal = 5,
    /// Journal page that also discards logical pages.
    JournalDiscard = 6,
    /// A committed logical page moved by reclamation; `aux` is the frame it came from.
    Moved = 7,
    /// A pending logical page moved by reclamation; `aux` is the frame it came from.
    MovedPending = 8,
    /// A leaf of the map, written with its changes; `logical` is the leaf.
    Leaf = 9,
    /// A leaf moved as it was; `logical` is the leaf, `aux` the frame it came from.
    MovedLeaf = 10,
}

impl Kind {
    fn parse(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::Super,
            2 => Self::Root,
            3 => Self::Data,
            4 => Self::DataCommit,
            5 => Self::Journal,
            6 => Self::JournalDiscard,
            7 => Self::Moved,
            8 => Self::MovedPending,
            9 => Self::Leaf,
            10 => Self::MovedLeaf,
            _ => return None,
        })
    }
}

/// A set of kinds.
#[derive(Clone, Copy)]
pub(crate) struct Kinds(u16);

impl Kinds {
    /// Pages that hold logical pages.
    pub const DATA: Self = Self::of(&[Kind::Data, Kind::DataCommit, Kind::Moved, Kind::MovedPending]);
    /// Pages that hold leaves of the map.
    pub const LEAF: Self = Self::of(&[Kind::Leaf, Kind::MovedLeaf]);
    /// Journal pages.
    pub const JOURNAL: Self = Self::of(&[Kind::Journal, Kind::JournalDiscard]);
    /// What the moved head programs.
    pub const MOVED: Self = Self::of(&[Kind::Moved, Kind::MovedPending, Kind::MovedLeaf]);

    /// Every kind.
    pub const ALL: Self = Self(!0);

    /// These and others.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These kinds.
    pub const fn of(kinds: &[Kind]) -> Self {
        let (mut bits, mut index) = (0, 0);
        while index < kinds.len() {
            bits |= 1 << kinds[index] as u8;
            index += 1;
        }
        Self(bits)
    }

    /// Whether a kind is one of them.
    pub const fn has(self, kind: Kind) -> bool {
        self.0 >> kind as u8 & 1 != 0
    }
}

/// A parsed tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Number of this program in the life of the volume; 40 bits.
    pub(crate) sequence: u64,
    /// Logical page, leaf, or a count: see [`Kind`]. 24 bits.
    pub(crate) logical: u32,
    pub(crate) kind: Kind,
    /// See [`Kind`]. 24 bits.
    pub(crate) aux: u32,
}

impl Tag {
    /// Reads a tag. `None` when blank or of no known kind; the checksum is not looked at.
    pub(crate) fn parse(bytes: &[u8; TAG_BYTES]) -> Option<Self> {
        let kind = Kind::parse(bytes[8])?;
        let mut sequence = [0; 8];
        sequence[..5].copy_from_slice(&bytes[..5]);
        Some(Self {
            sequence: u64::from_le_bytes(sequence),
            logical: u32::from_le_bytes([bytes[5], bytes[6], bytes[7], 0]),
            kind,
            aux: u32::from_le_bytes([bytes[9], bytes[10], bytes[11], 0]),
        })
    }

    /// Whether a page that was read has the checksum of its data, whatever it holds: pages of other versions have it in the same place.
    pub(crate) fn is_sound(bytes: &[u8; TAG_BYTES], data: &[u8]) -> bool {
        !is_blank(bytes) && Self::carried_check(bytes) == crc32(data, 0)
    }

    /// The tag of a page that was read; `None` also when its checksum is not that of the data.
    pub(crate) fn checked(bytes: &[u8; TAG_BYTES], data: &[u8]) -> Option<Self> {
        Self::parse(bytes).filter(|_| Self::carried_check(bytes) == crc32(data, 0))
    }

    /// Writes the tag for data whose checksum is `data_check`.
    pub(crate) fn emit(&self, data_check: u32) -> [u8; TAG_BYTES] {
        debug_assert!(self.logical <= FIELD_MAX && self.aux <= FIELD_MAX && self.sequence < 1 << 40);
        let mut bytes = [0; TAG_BYTES];
        bytes[..5].copy_from_slice(&self.sequence.to_le_bytes()[..5]);
        bytes[5..8].copy_from_slice(&self.logical.to_le_bytes()[..3]);
        bytes[8] = self.kind as u8;
        bytes[9..12].copy_from_slice(&self.aux.to_le_bytes()[..3]);
        let check = data_check ^ crc32(&bytes[..12], 0);
        bytes[12..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// The data checksum that a tag carries.
    pub(crate) fn carried_check(bytes: &[u8; TAG_BYTES]) -> u32 {
        let check = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]);
        check ^ crc32(&bytes[..12], 0)
    }
}

/// Whether a tag reads as erased.
pub(crate) fn is_blank(bytes: &[u8; TAG_BYTES]) -> bool {
    bytes.iter().all(|&byte| byte == 0xFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emit_then_parse_returns_the_tag_and_the_check() {
        let tag = Tag { sequence: 0x12_3456_789A, logical: 0xABCDEF, kind: Kind::Moved, aux: 0x13579B };
        let bytes = tag.emit(0xDEAD_BEEF);
        assert_eq!(Tag::parse(&bytes), Some(tag));
        assert_eq!(Tag::carried_check(&bytes), 0xDEAD_BEEF);
    }

    #[test]
    fn blank_and_unknown_tags_are_refused() {
        assert!(is_blank(&[0xFF; TAG_BYTES]));
        assert_eq!(Tag::parse(&[0xFF; TAG_BYTES]), None);
        assert_eq!(Tag::parse(&[0; TAG_BYTES]), None);
    }

    #[test]
    fn short_data_checks_as_if_filled_with_erased_bytes() {
        let mut page = [0xFF; 64];
        page[..10].copy_from_slice(b"0123456789");
        assert_eq!(crc32(&page, 0), crc32(&page[..10], 54));
    }
}
