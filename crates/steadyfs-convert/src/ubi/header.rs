//! Parsers of the two headers of a physical erase block. All numbers are big-endian.
//!
//! | bytes | of the erase block | | bytes | of the volume |
//! |---|---|---|---|---|
//! | 0..4 | `UBI#` | | 0..4 | `UBI!` |
//! | 4 | version, 1 | | 4 | version, 1 |
//! | 8..16 | how often it was erased | | 5 | 1 for a dynamic volume, 2 for a static one |
//! | 16..20 | offset of the other header | | 6 | 1 for a copy |
//! | 20..24 | offset of the data | | 7 | what to do with an internal volume that is not known |
//! | 60..64 | CRC of 0..60 | | 8..12, 12..16 | volume, logical erase block |
//! | | | | 20..24 | length of the data |
//! | | | | 24..28 | blocks that a static volume has |
//! | | | | 32..36 | CRC of the data |
//! | | | | 40..48 | sequence number |
//! | | | | 60..64 | CRC of 0..60 |
//!
//! Source: drivers/mtd/ubi/ubi-media.h of Linux.

pub(super) use crate::ubifs::crc;

/// Magic of an erase block's header.
pub(super) const ERASE_MAGIC: &[u8; 4] = b"UBI#";
const VOLUME_MAGIC: &[u8; 4] = b"UBI!";

/// Bytes of each header.
pub(super) const HEADER_BYTES: usize = 64;

/// Number of the volume that holds the table of volumes.
pub(super) const LAYOUT: u32 = 0x7fff_efff;

/// Compatibility of an internal volume. It means that a reader without support for this volume must
/// not read the image.
const REJECT: u8 = 5;

/// Content of the header of a physical erase block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EraseHeader {
    /// Offset of the volume's header in the block.
    pub volume_header: usize,
    /// Offset of the data.
    pub data: usize,
}

/// Description of the data of a physical erase block.
#[derive(Clone, Copy, Debug)]
pub(super) struct VolumeHeader {
    pub volume: u32,
    pub block: u32,
    pub is_copy: bool,
    pub data_bytes: u32,
    pub used_blocks: u32,
    pub data_crc: u32,
    pub sequence: u64,
    compatibility: u8,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// Returns the bytes of a header if its checksum is right.
fn sound<'a>(bytes: &'a [u8], magic: &[u8; 4]) -> Option<&'a [u8]> {
    let head = bytes.get(..HEADER_BYTES).filter(|head| head.starts_with(magic))?;
    (crc(&head[..60]) == u32_at(head, 60)).then_some(head)
}

impl EraseHeader {
    /// Parses the header at the start of a block. Returns `None` if the header is not intact.
    pub fn parse(block: &[u8]) -> Option<Self> {
        let head = sound(block, ERASE_MAGIC)?;
        Some(Self { volume_header: u32_at(head, 16) as usize, data: u32_at(head, 20) as usize })
    }
}

impl VolumeHeader {
    /// Parses a header. Returns `None` if the header is not intact.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let head = sound(bytes, VOLUME_MAGIC)?;
        Some(Self {
            volume: u32_at(head, 8),
            block: u32_at(head, 12),
            is_copy: head[6] == 1,
            data_bytes: u32_at(head, 20),
            used_blocks: u32_at(head, 24),
            data_crc: u32_at(head, 32),
            sequence: u64::from_be_bytes(head[40..48].try_into().expect("eight bytes")),
            compatibility: head[7],
        })
    }

    /// Returns true if a reader without support for this internal volume must not read the image.
    pub fn must_be_known(&self) -> bool {
        self.compatibility == REJECT
    }
}

/// Returns true if a volume is internal to UBI.
pub(super) fn is_internal(volume: u32) -> bool {
    volume >= LAYOUT
}
