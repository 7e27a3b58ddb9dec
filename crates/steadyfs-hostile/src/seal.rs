//! Right checksums around wrong content.

use crate::checksum::{crc, short_crc};
use crate::kind;
use crate::medium::Ram;

/// Bytes of a tag that the checksum of the page covers.
pub const TAG_CONTENT_BYTES: usize = 12;

/// Bytes at the end of a leaf's page that its checksum takes for blank, on media that program
/// bytes.
pub(crate) const LEAF_LOG_BYTES: u8 = 96;

/// Makes both checksums in the tag of a page right.
pub fn seal(ram: &mut Ram, page: usize) {
    let has_logs = ram.programs_bytes();
    let (data, tag) = ram.parts_mut(page);
    let mut data = data.to_vec();
    if has_logs && kind::LEAF.contains(&(tag[8] & 0xF)) {
        let from = data.len() - usize::from(LEAF_LOG_BYTES);
        data[from..].fill(0xFF);
    }
    seal_tag(&data, tag);
}

/// Makes both checksums in a tag right. The checksum of the tag alone lies in the high halves of
/// two bytes. The other one is the checksum of the data.
pub fn seal_tag(data: &[u8], tag: &mut [u8]) {
    (tag[4], tag[8]) = (tag[4] & 0x0F, tag[8] & 0x0F);
    let own = short_crc(&tag[..TAG_CONTENT_BYTES]);
    (tag[4], tag[8]) = (tag[4] | own & 0xF0, tag[8] | own << 4);
    let check = crc(data) ^ crc(&tag[..TAG_CONTENT_BYTES]);
    tag[TAG_CONTENT_BYTES..].copy_from_slice(&check.to_le_bytes());
}

/// Replaces bytes everywhere in the data of a medium, and makes the checksums right again.
/// Returns the number of replacements.
pub fn forge(ram: &mut Ram, from: &[u8], to: &[u8]) -> usize {
    assert_eq!(from.len(), to.len(), "bytes are replaced by as many");
    let mut count = 0;
    for page in 0..ram.page_count() {
        let data = ram.parts_mut(page).0;
        let before = count;
        while let Some(at) = data.windows(from.len()).position(|window| window == from) {
            data[at..at + to.len()].copy_from_slice(to);
            count += 1;
        }
        if count > before {
            seal(ram, page);
        }
    }
    count
}
