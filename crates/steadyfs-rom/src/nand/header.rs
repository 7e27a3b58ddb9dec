//! The header page of an image on NAND: its length and the bad blocks.
//!
//! ```text
//! 0          8         10      12     16      24    28             28 + 4n
//! | SteadyRO | version | flags | zero | bytes | n   | n bad blocks | CRC-32 | 0xFF …
//! ```

use crate::fields::{u16_at, u32_at, u64_at};
use steadyfs::media::BlockIndex;

/// The eight bytes with which a header begins.
pub const MAGIC: &[u8; 8] = b"SteadyRO";
/// Version that this module writes.
pub const VERSION: u16 = 1;
/// Flag: the header lists the bad blocks. Without this flag, the bad-block marks of the chip decide
/// which blocks are bad.
pub const LISTED: u16 = 1;
/// Offset of the list of bad blocks.
pub const LIST: usize = 28;
/// Number of good blocks at the start of the chip that contain a header. The header is the only
/// page of such a block.
pub const COPIES: u32 = 2;
/// Number of blocks at the start of the chip that are searched for a readable header.
pub const BLOCKS_MAX: BlockIndex = 32;

/// Content of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of bytes of the image.
    pub bytes: u64,
    /// Number of listed bad blocks. `None` means that the bad-block marks of the chip decide.
    pub listed: Option<u32>,
}

/// Returns the number of bad blocks that fit into the list of one page.
pub const fn list_max(page_bytes: usize) -> usize {
    (page_bytes - LIST - 4) / 4
}

/// Parses a page. Returns `None` if it is not a header of this version.
pub fn parse(page: &[u8], crc32: impl FnOnce(&[u8]) -> u32) -> Option<Header> {
    if page.len() < LIST + 4 || &page[..8] != MAGIC || u16_at(page, 8) != VERSION {
        return None;
    }
    let count = u32_at(page, 24);
    if count as usize > list_max(page.len()) {
        return None;
    }
    let end = LIST + 4 * count as usize;
    let listed = (u16_at(page, 10) & LISTED != 0).then_some(count);
    (u32_at(page, end) == crc32(&page[..end])).then_some(Header { bytes: u64_at(page, 16), listed })
}

/// Returns the listed blocks in ascending order, four bytes for each block.
pub fn list(page: &[u8], count: u32) -> &[u8] {
    &page[LIST..LIST + 4 * count as usize]
}

/// Writes a header page. `bad` contains the listed blocks in ascending order, four bytes for each
/// block. Returns true if they fit into the page.
pub fn emit(
    page: &mut [u8],
    bytes: u64,
    bad: Option<&[u8]>,
    crc32: impl FnOnce(&[u8]) -> u32,
) -> bool {
    let list = bad.unwrap_or(&[]);
    if list.len() / 4 > list_max(page.len()) {
        return false;
    }
    let end = LIST + list.len();
    page.fill(0xFF);
    page[..8].copy_from_slice(MAGIC);
    page[8..10].copy_from_slice(&VERSION.to_le_bytes());
    page[10..12].copy_from_slice(&(if bad.is_some() { LISTED } else { 0 }).to_le_bytes());
    page[12..16].fill(0);
    page[16..24].copy_from_slice(&bytes.to_le_bytes());
    page[24..28].copy_from_slice(&((list.len() / 4) as u32).to_le_bytes());
    page[LIST..end].copy_from_slice(list);
    let sum = crc32(&page[..end]);
    page[end..end + 4].copy_from_slice(&sum.to_le_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(bytes: &[u8]) -> u32 {
        bytes.iter().fold(7, |sum, &byte| sum.wrapping_mul(31) ^ u32::from(byte))
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let mut page = [0; 512];
        assert!(emit(&mut page, 12_345_678_901, Some(&[3, 0, 0, 0, 9, 1, 0, 0]), sum));
        assert_eq!(parse(&page, sum), Some(Header { bytes: 12_345_678_901, listed: Some(2) }));
        assert_eq!(list(&page, 2), [3, 0, 0, 0, 9, 1, 0, 0]);
        assert!(emit(&mut page, 5, None, sum));
        assert_eq!(parse(&page, sum), Some(Header { bytes: 5, listed: None }));
    }

    #[test]
    fn what_is_damaged_or_too_long_is_no_header() {
        let mut page = [0; 512];
        assert!(!emit(&mut page, 5, Some(&[0; 4 * 121]), sum));
        assert!(emit(&mut page, 5, Some(&[0; 4 * 120]), sum));
        for at in 0..512 {
            let mut page = page;
            page[at] ^= 0x10;
            assert_eq!(parse(&page, sum), None, "byte {at}");
        }
        assert_eq!(parse(&[0xFF; 512], sum), None);
    }
}
