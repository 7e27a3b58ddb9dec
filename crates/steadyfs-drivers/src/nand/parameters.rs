//! The parameter page of a chip: Open NAND Flash Interface Specification 1.0, 5.4.
//!
//! ```text
//! 0     "ONFI"
//! 80    data bytes of a page, 4 bytes      92   pages of a block, 4
//! 96    blocks, 4                          100  units, 1
//! 133   longest program, erase and read in microseconds, 2 each
//! 254   CRC-16 of what is before it
//! ```

use super::families::NandInfo;

/// Bytes of a parameter page. The chip has at least three copies.
pub(super) const PAGE_BYTES: usize = 256;
/// Number of copies that the driver reads.
pub(super) const COPIES: usize = 3;

/// Computes a CRC-16: polynomial 0x8005, beginning with 0x4F4E.
fn crc16(bytes: &[u8]) -> u16 {
    let mut crc = 0x4F4E;
    for byte in bytes {
        crc ^= u16::from(*byte) << 8;
        for _ in 0..8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x8005 };
        }
    }
    crc
}

/// Returns true if this is a parameter page with a right checksum.
pub(super) fn is_sound(page: &[u8; PAGE_BYTES]) -> bool {
    page[..4] == *b"ONFI" && crc16(&page[..254]) == u16::from_le_bytes([page[254], page[255]])
}

/// Merges a parameter page into the description of a chip: takes the number of blocks, and each
/// time that is longer than before. Returns `None` if the page describes pages or blocks of another
/// size, or if the result is not sound.
pub(super) fn merge(info: NandInfo, page: &[u8; PAGE_BYTES]) -> Option<NandInfo> {
    let long = |at: usize| u32::from_le_bytes([page[at], page[at + 1], page[at + 2], page[at + 3]]);
    let short = |at: usize| u32::from(u16::from_le_bytes([page[at], page[at + 1]]));
    if (long(80), long(92)) != (info.page_bytes, info.pages_per_block) {
        return None;
    }
    let mut merged = NandInfo { block_count: long(96).checked_mul(u32::from(page[100]))?, ..info };
    let times = &mut merged.times;
    for ((_, maximum), at) in
        [(&mut times.program_us, 133), (&mut times.erase_us, 135), (&mut times.read_us, 137)]
    {
        *maximum = short(at).max(*maximum);
    }
    merged.is_sound().then_some(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_pages_do_not_panic() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..20_000 {
            let page: [u8; 256] = core::array::from_fn(|_| rng.u8(..));
            assert!(!is_sound(&page));
            let mut page = page;
            page[80..84].copy_from_slice(&2048u32.to_le_bytes());
            page[92..96].copy_from_slice(&64u32.to_le_bytes());
            if let Some(info) = merge(NandInfo::CHIPS[0], &page) {
                assert!(info.is_sound());
            }
        }
    }
}
