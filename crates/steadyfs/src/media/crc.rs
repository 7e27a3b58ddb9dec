//! CRC-32 (ISO-HDLC, as in Ethernet and zip), and a CRC-8 (polynomial 0x2F, as in AUTOSAR) for
//! the few bytes of a tag.
//!
//! A table of 16 entries takes 64 bytes; the usual table of 256 entries takes 1 KiB. The small
//! table takes nearly twice the time: on a Cortex-M3 it takes 7 instructions a byte, and the large
//! table takes 4. Only builds without the feature `fast-checksum` for processors of less than 64
//! bits use the small table. Several tables of 256 entries ("slicing") would gain nothing on a
//! processor that executes one instruction at a time.

const ENTRIES: usize =
    if cfg!(any(target_pointer_width = "64", feature = "fast-checksum")) { 256 } else { 16 };

static TABLE: [u32; ENTRIES] = table();

/// Computes the contribution of each value of the lowest bits. A table of 16 entries covers four
/// bits, a table of 256 entries covers eight bits.
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

/// Returns the checksum of `bytes` followed by `missing` bytes of `0xFF`.
pub(crate) fn crc32(bytes: &[u8], missing: usize) -> u32 {
    crc32_by(&TABLE, bytes, missing)
}

fn crc32_by<const ENTRIES: usize>(table: &[u32; ENTRIES], bytes: &[u8], missing: usize) -> u32 {
    static ERASED: [u8; 32] = [0xFF; 32];
    let (mut crc, mut missing) = (add(table, u32::MAX, bytes), missing);
    while missing > 0 {
        let erased = &ERASED[..missing.min(ERASED.len())];
        crc = add(table, crc, erased);
        missing -= erased.len();
    }
    !crc
}

/// Adds bytes to the checksum, four at once. Not inlined: code of this size should exist only once.
#[inline(never)]
fn add<const ENTRIES: usize>(table: &[u32; ENTRIES], crc: u32, bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks();
    let crc = words.iter().fold(crc, |crc, &word| {
        // Unrolled: the counter and the branch of a loop would take as long as the loop's body.
        let crc = four_steps(table, crc ^ u32::from_le_bytes(word));
        if ENTRIES == 16 { four_steps(table, crc) } else { crc }
    });
    rest.iter().fold(crc, |crc, &byte| {
        let crc = step(table, crc ^ u32::from(byte));
        if ENTRIES == 16 { step(table, crc) } else { crc }
    })
}

#[inline(always)]
fn four_steps<const ENTRIES: usize>(table: &[u32; ENTRIES], crc: u32) -> u32 {
    step(table, step(table, step(table, step(table, crc))))
}

/// Processes the lowest bits of the checksum: as many bits as an index of the table has.
#[inline(always)]
fn step<const ENTRIES: usize>(table: &[u32; ENTRIES], crc: u32) -> u32 {
    crc >> ENTRIES.ilog2() ^ table[crc as usize % ENTRIES]
}

/// Returns the CRC-8 of a few bytes.
pub(crate) fn crc8(bytes: &[u8]) -> u8 {
    const POLYNOMIAL: u8 = 0x2F;
    /// Contribution of each value of the highest four bits to the checksum.
    static TABLE: [u8; 16] = {
        let mut table = [0; 16];
        let mut index = 0;
        while index < 16 {
            let mut entry = (index as u8) << 4;
            let mut bit = 0;
            while bit < 4 {
                entry = if entry & 0x80 == 0 { entry << 1 } else { entry << 1 ^ POLYNOMIAL };
                bit += 1;
            }
            table[index] = entry;
            index += 1;
        }
        table
    };
    let step = |crc: u8| crc << 4 ^ TABLE[usize::from(crc >> 4)];
    !bytes.iter().fold(u8::MAX, |crc, &byte| step(step(crc ^ byte)))
}

#[cfg(test)]
mod tests {
    use super::{crc8, crc32_by, table};
    use proptest::prelude::*;

    /// Computes the checksum one bit at a time, as the definition does.
    fn crc32_of_definition(bytes: &[u8]) -> u32 {
        let bit = |crc: u32, _| if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ 0xEDB8_8320 };
        !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), bit))
    }

    fn crc8_of_definition(bytes: &[u8]) -> u8 {
        let bit = |crc: u8, _| if crc & 0x80 == 0 { crc << 1 } else { crc << 1 ^ 0x2F };
        !bytes.iter().fold(u8::MAX, |crc, &byte| (0..8).fold(crc ^ byte, bit))
    }

    proptest! {
        #[test]
        fn tables_give_the_checksum_of_the_definition(
            bytes in proptest::collection::vec(any::<u8>(), 0..100),
            missing in 0_usize..20,
        ) {
            let erased = core::iter::repeat_n(0xFF, missing);
            let filled: std::vec::Vec<u8> = bytes.iter().copied().chain(erased).collect();
            let checksum = crc32_of_definition(&filled);
            prop_assert_eq!(crc32_by(&table::<16>(), &bytes, missing), checksum);
            prop_assert_eq!(crc32_by(&table::<256>(), &bytes, missing), checksum);
            prop_assert_eq!(crc8(&bytes), crc8_of_definition(&bytes));
        }
    }

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
