//! The table of volumes: one record for each volume, at the index of its number.
//!
//! | bytes | record |
//! |---|---|
//! | 0..4 | logical erase blocks that are reserved, 0 for a number without volume |
//! | 4..8 | alignment |
//! | 8..12 | unused bytes at the end of each block |
//! | 12 | 1 for a dynamic volume, 2 for a static one |
//! | 13 | 1 while an update runs |
//! | 14..16, 16..144 | length of the name, name |
//! | 144 | flags |
//! | 168..172 | CRC of 0..168 |
//!
//! Source: drivers/mtd/ubi/ubi-media.h of Linux.

use super::header::crc;

const RECORD_BYTES: usize = 172;
const VOLUMES_MAX: usize = 128;

/// Entry of a volume in the table.
pub(super) struct Record {
    pub id: u32,
    pub name: String,
    pub is_static: bool,
    pub is_update_cut: bool,
    pub pad_bytes: u32,
}

/// Parses a table. Returns `None` if one of its checksums is wrong.
pub(super) fn parse(data: &[u8]) -> Option<Vec<Record>> {
    let records = data.chunks_exact(RECORD_BYTES).take(VOLUMES_MAX).enumerate();
    let found: Option<Vec<Option<Record>>> =
        records.map(|(id, bytes)| record(id as u32, bytes)).collect();
    let found = found?;
    (!found.is_empty()).then(|| found.into_iter().flatten().collect())
}

/// Parses a record. Returns `None` if the record is damaged. Returns `Some(None)` if there is no
/// volume with this number.
fn record(id: u32, bytes: &[u8]) -> Option<Option<Record>> {
    let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    if crc(&bytes[..168]) != word(168) {
        return None;
    }
    if word(0) == 0 {
        return Some(None);
    }
    let name_bytes = usize::from(u16::from_be_bytes([bytes[14], bytes[15]])).min(127);
    let name = String::from_utf8_lossy(&bytes[16..16 + name_bytes]).into_owned();
    Some(Some(Record {
        id,
        name,
        is_static: bytes[12] == 2,
        is_update_cut: bytes[13] != 0,
        pad_bytes: word(8),
    }))
}
