//! The tag: 16 bytes beside each program page that identify its contents.
//!
//! ```text
//! 0        5       8      9        12       16
//! | sequence | logical | kind | aux    | check |
//! |  36 bits | 24 bits | 4 b  | 24 bits| CRC-32 of the data ⊕ CRC-32 of bytes 0..12
//! ```
//!
//! The high halves of bytes 4 and 8 hold a checksum of the tag alone, for a mount that reads a
//! tag without its page. It is a CRC-8 of bytes 0..12, with zeros in place of the checksum
//! itself.
//!
//! The tag combines the two CRC-32 checksums by exclusive or. So a page that is copied on the chip
//! can get a new tag without a read of its data. The tag's new check is `old check ⊕ CRC(old bytes
//! 0..12) ⊕ CRC(new bytes 0..12)`. If the data was damaged, the copy is recognisable as damaged
//! too.

use super::crc::{crc8, crc32};

/// Bytes of a tag.
pub const TAG_BYTES: usize = 16;

/// Bytes of a tag before the checksum of the page.
const FIELDS_BYTES: usize = 12;

/// Highest value of the 24-bit fields.
pub(crate) const FIELD_MAX: u32 = 0xFF_FFFF;

/// Number of bits of `aux` below the stream.
const STREAM_SHIFT: u32 = 22;

/// Contents of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum TagKind {
    /// Superblock: geometry, configuration, ring.
    Super = 1,
    /// One page of a root or of a copy of it. `sequence` is the number of the root, `logical` is
    /// the index of the page in the root. `aux` holds the number of pages of a root (8 bits) and
    /// the number of the copy (0: the root itself).
    Root = 2,
    /// Program page of a logical page that an open transaction wrote. `aux` holds the stream and,
    /// below it, the distance to the sequence number of the transaction's first program.
    Data = 3,
    /// Program page of the only logical page that its transaction wrote. This page commits the
    /// transaction. `aux` holds the stream.
    DataCommit = 4,
    /// Journal page, which commits its transaction. `logical` is the number of pending pages. `aux`
    /// is the distance to the sequence number of the transaction's first program.
    Journal = 5,
    /// Journal page that also discards logical pages.
    JournalDiscard = 6,
    /// A committed logical page that reclamation moved. `aux` holds the stream and, below it,
    /// the source frame.
    Moved = 7,
    /// A pending logical page that reclamation moved. `aux` holds the same as for `Moved`.
    MovedPending = 8,
    /// A leaf of the map, written with its changes; `logical` is the leaf.
    Leaf = 9,
    /// A leaf that was moved unchanged; `logical` is the leaf, and `aux` is the source frame.
    MovedLeaf = 10,
    /// Record of the journal's chain. The log of the leaf contains all changes of the leaf up to
    /// this record. `logical` is the leaf.
    LeafChanged = 11,
    /// A copy of the first leaf with its changes; `logical` is 0.
    LeafCopy = 12,
}

impl TagKind {
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
            11 => Self::LeafChanged,
            12 => Self::LeafCopy,
            _ => return None,
        })
    }
}

/// A set of kinds.
#[derive(Clone, Copy)]
pub(crate) struct TagKinds(u16);

impl TagKinds {
    /// Pages that hold logical pages.
    pub const DATA: Self =
        Self::of(&[TagKind::Data, TagKind::DataCommit, TagKind::Moved, TagKind::MovedPending]);
    /// Pages that hold leaves of the map.
    pub const LEAF: Self = Self::of(&[TagKind::Leaf, TagKind::MovedLeaf, TagKind::LeafCopy]);
    /// Journal pages.
    pub const JOURNAL: Self =
        Self::of(&[TagKind::Journal, TagKind::JournalDiscard, TagKind::LeafChanged]);
    /// Copies that reclamation has made.
    pub const MOVED: Self = Self::of(&[TagKind::Moved, TagKind::MovedPending, TagKind::MovedLeaf]);

    /// Every kind.
    pub const ALL: Self = Self(!0);

    /// Returns the set as bits, with one bit for each kind.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Returns the union of both sets.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the set of these kinds.
    pub const fn of(kinds: &[TagKind]) -> Self {
        let (mut bits, mut index) = (0, 0);
        while index < kinds.len() {
            bits |= 1 << kinds[index] as u8;
            index += 1;
        }
        Self(bits)
    }

    /// Returns true if the set contains the kind.
    pub const fn has(self, kind: TagKind) -> bool {
        self.0 >> kind as u8 & 1 != 0
    }
}

/// Returns true if two sequence numbers are the start of the same transaction. It compares only as
/// many low bits as a tag has room for.
pub(crate) const fn is_same_start(a: u64, b: u64) -> bool {
    (a ^ b) << (64 - STREAM_SHIFT) == 0
}

/// A parsed tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Number of this program in the life of the volume; 36 bits.
    pub(crate) sequence: u64,
    /// Logical page, leaf, or a count: see [`TagKind`]. 24 bits.
    pub(crate) logical: u32,
    pub(crate) kind: TagKind,
    /// See [`TagKind`]. 24 bits.
    pub(crate) aux: u32,
}

impl Tag {
    /// Returns `aux` for a page of a stream: the stream in the two highest bits, and `low`
    /// below.
    pub(crate) const fn aux_of(stream: u8, low: u32) -> u32 {
        (stream as u32) << STREAM_SHIFT | low & ((1 << STREAM_SHIFT) - 1)
    }

    /// Returns the stream whose head programmed this logical page; 0 for all other kinds of pages.
    pub(crate) fn stream(&self) -> u8 {
        if TagKinds::DATA.has(self.kind) { (self.aux >> STREAM_SHIFT) as u8 } else { 0 }
    }

    /// Returns true if the page is a journal page that lies behind the caller's pages in their
    /// block. In the tag of such a page, the bits of the stream are not 0.
    pub(crate) fn is_among_data(&self) -> bool {
        TagKinds::JOURNAL.has(self.kind) && self.aux >> STREAM_SHIFT > 0
    }

    /// Returns the source frame of a moved page.
    pub(crate) fn source(&self) -> u32 {
        self.aux & ((1 << STREAM_SHIFT) - 1)
    }

    /// Returns the source frame, which the caller knows to lie at `first` or behind it. The tag
    /// contains only the low bits of the frame, because a large medium has more frames than the
    /// field can number.
    pub(crate) fn source_from(&self, first: u32) -> u32 {
        first + (self.source().wrapping_sub(first) & ((1 << STREAM_SHIFT) - 1))
    }

    /// Returns the sequence number of the first program of a transaction. It is the transaction
    /// that the page belongs to or, for a journal page, the transaction that the page commits.
    pub(crate) fn transaction_start(&self) -> u64 {
        self.sequence - u64::from(self.aux & ((1 << STREAM_SHIFT) - 1)).min(self.sequence)
    }

    /// Parses a tag. Returns `None` if the tag is blank, of no known kind, or has a wrong
    /// checksum of its own. It does not check the checksum of the page.
    pub(crate) fn parse(bytes: &[u8; TAG_BYTES]) -> Option<Self> {
        let mut fields = [0; FIELDS_BYTES];
        fields.copy_from_slice(&bytes[..FIELDS_BYTES]);
        let own_check = fields[4] & 0xF0 | fields[8] >> 4;
        (fields[4], fields[8]) = (fields[4] & 0x0F, fields[8] & 0x0F);
        let kind = TagKind::parse(fields[8]).filter(|_| crc8(&fields) == own_check)?;
        let mut sequence = [0; 8];
        sequence[..5].copy_from_slice(&fields[..5]);
        Some(Self {
            sequence: u64::from_le_bytes(sequence),
            logical: u32::from_le_bytes([bytes[5], bytes[6], bytes[7], 0]),
            kind,
            aux: u32::from_le_bytes([bytes[9], bytes[10], bytes[11], 0]),
        })
    }

    /// Returns true if the tag holds the checksum of the page's data, whatever the page
    /// contains. Pages of other versions have the checksum in the same place.
    pub(crate) fn is_sound(bytes: &[u8; TAG_BYTES], data_check: u32) -> bool {
        !is_blank(bytes) && Self::carried_check(bytes) == data_check
    }

    /// Returns true if the tag has the checksum of the page. For tools that read a chip without
    /// its driver.
    pub fn is_of(bytes: &[u8; TAG_BYTES], page: &[u8]) -> bool {
        Self::is_sound(bytes, crc32(page, 0))
    }

    /// Parses the tag of a page that was read. Returns `None` also if the checksum of the page does
    /// not match the data.
    pub(crate) fn checked(bytes: &[u8; TAG_BYTES], data_check: u32) -> Option<Self> {
        Self::parse(bytes).filter(|_| Self::carried_check(bytes) == data_check)
    }

    /// Returns the bytes of the tag, for data whose checksum is `data_check`.
    pub(crate) fn emit(&self, data_check: u32) -> [u8; TAG_BYTES] {
        debug_assert!(
            self.logical <= FIELD_MAX && self.aux <= FIELD_MAX && self.sequence < 1 << 36
        );
        let mut bytes = [0; TAG_BYTES];
        bytes[..5].copy_from_slice(&self.sequence.to_le_bytes()[..5]);
        bytes[5..8].copy_from_slice(&self.logical.to_le_bytes()[..3]);
        bytes[8] = self.kind as u8;
        bytes[9..12].copy_from_slice(&self.aux.to_le_bytes()[..3]);
        let own_check = crc8(&bytes[..FIELDS_BYTES]);
        bytes[4] |= own_check & 0xF0;
        bytes[8] |= own_check << 4;
        let check = data_check ^ crc32(&bytes[..FIELDS_BYTES], 0);
        bytes[12..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// Returns the checksum of the page's data that a tag contains.
    pub(crate) fn carried_check(bytes: &[u8; TAG_BYTES]) -> u32 {
        let check = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]);
        check ^ crc32(&bytes[..FIELDS_BYTES], 0)
    }
}

/// Returns true if a tag reads as erased.
pub(crate) fn is_blank(bytes: &[u8; TAG_BYTES]) -> bool {
    bytes.iter().all(|&byte| byte == 0xFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emit_then_parse_returns_the_tag_and_the_check() {
        let tag =
            Tag { sequence: 0x2_3456_789A, logical: 0xABCDEF, kind: TagKind::Moved, aux: 0x13579B };
        let bytes = tag.emit(0xDEAD_BEEF);
        assert_eq!(Tag::parse(&bytes), Some(tag));
        assert_eq!(Tag::carried_check(&bytes), 0xDEAD_BEEF);
    }

    /// A mount read only the tag of a page. One byte of the tag was damaged, and the mount took the
    /// tag for the tag of another record.
    #[test]
    fn a_tag_with_one_damaged_byte_is_refused() {
        let good =
            Tag { sequence: 0x1_2345_6789, logical: 0xABCDEF, kind: TagKind::Data, aux: 7 }.emit(0);
        for (at, flips) in
            (0..FIELDS_BYTES).flat_map(|at| (1..=255u8).map(move |flips| (at, flips)))
        {
            let mut bytes = good;
            bytes[at] ^= flips;
            // Bytes 4 and 8 each hold a part of the checksum.
            if at != 4 && at != 8 || flips.count_ones() <= 2 {
                assert_eq!(Tag::parse(&bytes), None, "byte {at} ^ {flips:#x}");
            }
        }
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
