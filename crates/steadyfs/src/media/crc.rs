//! CRC-32 (ISO-HDLC, the one of Ethernet and zip), and a CRC-8 (polynomial 0x2F, that of AUTOSAR) for the few bytes of a tag.
//!
//! A table of 16 entries takes 64 bytes where the usual one of 256 takes 1 KiB, and nearly twice the time: 17 cycles a byte
//! instead of 10 on a Cortex-M3. Only 64-bit processors, which have the room, use the larger one, and who asks for the feature
//! `fast-checksum`.

const ENTRIES: usize = if cfg!(any(target_pointer_width = "64", feature = "fast-checksum")) { 256 } else { 16 };

static TABLE: [u32; ENTRIES] = table();

/// What each value of the lowest bits adds: of four bits in a table of 16, of eight in one of 256.
const fn table<const ENTRIES: usize>() -> [u32; ENTRIES] {
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    let mut table = [0; ENTRIES];
    let mut index = 0;
    while index < ENTRIES {
        let mut entry = index as u32;
        let mut bit = 0;
        while bit < ENTRIES.ilog2() {
            entry = if entry & 1 == 0 { entry >> 1 } else { entry >> 1 ^ POLYNOMIAL };
            bit += 1;
        }
        table[index] = entry;
        index += 1;
    }
    table
}

/// The checksum of bytes, with `missing` more of `0xFF` after them.
pub(crate) fn crc32(bytes: &[u8], missing: usize) -> u32 {
    crc32_by(&TABLE, bytes, missing)
}

fn crc32_by<const ENTRIES: usize>(table: &[u32; ENTRIES], bytes: &[u8], missing: usize) -> u32 {
    let crc = bytes.iter().fold(u32::MAX, |crc, &byte| add(table, crc, byte));
    !(0..missing).fold(crc, |crc, _| add(table, crc, 0xFF))
}

/// Adds a byte. Inlined, because a call would take longer than what it does.
#[inline(always)]
fn add<const ENTRIES: usize>(table: &[u32; ENTRIES], crc: u32, byte: u8) -> u32 {
    let step = |crc: u32| crc >> ENTRIES.ilog2() ^ table[crc as usize % ENTRIES];
    let crc = step(crc ^ u32::from(byte));
    if ENTRIES == 16 { step(crc) } else { crc }
}

/// A checksum of a few bytes: one bit at a time, and no table.
pub(crate) fn crc8(bytes: &[u8]) -> u8 {
    const POLYNOMIAL: u8 = 0x2F;
    !bytes.iter().fold(u8::MAX, |crc, &byte| {
        (0..8).fold(crc ^ byte, |crc, _| if crc & 0x80 == 0 { crc << 1 } else { crc << 1 ^ POLYNOMIAL })
    })
}

#[cfg(test)]
mod tests {
    use super::{crc8, crc32_by, table};

    #[test]
    fn short_checksum_is_that_of_autosar() {
        assert_eq!(crc8(b"123456789"), 0xDF);
    }

    /// The check value of the catalogue of parametrised CRC algorithms.
    #[test]
    fn checksum_is_that_of_iso_hdlc_with_either_table() {
        assert_eq!(crc32_by(&table::<16>(), b"123456789", 0), 0xCBF4_3926);
        assert_eq!(crc32_by(&table::<256>(), b"123456789", 0), 0xCBF4_3926);
    }
}
