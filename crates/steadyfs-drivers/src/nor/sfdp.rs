//! The parameters that a chip reports: JEDEC JESD216B, "Serial Flash Discoverable Parameters", 6.2
//! to 6.4.
//!
//! ```text
//! 0   "SFDP", revision, headers - 1, 0xFF
//! 8   the first header: 0x00, revision, length in words, three bytes of address, 0xFF
//! …   at that address the words of the basic table, little-endian
//! ```

/// Bytes of the header and of the first parameter header.
pub(super) const HEADER_BYTES: usize = 16;
/// Words of the basic table that the driver reads.
pub(super) const TABLE_WORDS: usize = 16;
/// Words of the basic table in the first edition of the standard. That edition defines no times.
const WORDS_MIN: usize = 9;

/// An erase command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EraseType {
    /// Code of the command that takes three address bytes.
    pub opcode: u8,
    /// Number of bytes that the command erases, a power of two. If it is 0, the chip does not have
    /// this command.
    pub bytes: u32,
    /// Typical time of the erase, in milliseconds.
    pub typical_ms: u32,
    /// Longest time of the erase, in milliseconds.
    pub maximum_ms: u32,
}

/// The way in which a chip of more than 16 MiB takes four address bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LongAddress {
    /// The chip does not take four address bytes, or needs none.
    #[default]
    No,
    /// The chip has separate commands for four address bytes: 0x0C, 0x12, 0x21, 0x5C, 0xDC.
    Commands,
    /// The chip has a mode for four address bytes, which the command 0xB7 sets.
    Mode,
    /// The chip has a mode for four address bytes, which the commands 0x06 and then 0xB7 set.
    EnabledMode,
    /// The chip always takes four address bytes.
    Always,
}

/// Description of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NorInfo {
    /// Codes of the maker and the device: the answer to the command 0x9F.
    pub id: [u8; 3],
    /// Number of bytes of the chip.
    pub bytes: u32,
    /// Number of bytes of a program page, a power of two.
    pub page_bytes: u32,
    /// Typical time of a program of a page, in microseconds.
    pub program_typical_us: u32,
    /// Longest time of a program of a page, in microseconds.
    pub program_maximum_us: u32,
    /// Erase commands of the chip.
    pub erases: [EraseType; 4],
    /// The way in which the chip takes four address bytes.
    pub long_address: LongAddress,
}

impl NorInfo {
    /// ST's and Micron's M25P16: it has only sectors of 64 KiB, and no SFDP parameters. The times
    /// come from its datasheet.
    pub const M25P16: Self = Self {
        id: [0x20, 0x20, 0x15],
        bytes: 2 << 20,
        page_bytes: 256,
        program_typical_us: 640,
        program_maximum_us: 5000,
        erases: [
            EraseType { opcode: 0xD8, bytes: 64 << 10, typical_ms: 600, maximum_ms: 3000 },
            EraseType { opcode: 0, bytes: 0, typical_ms: 0, maximum_ms: 0 },
            EraseType { opcode: 0, bytes: 0, typical_ms: 0, maximum_ms: 0 },
            EraseType { opcode: 0, bytes: 0, typical_ms: 0, maximum_ms: 0 },
        ],
        long_address: LongAddress::No,
    };

    /// Iterates over the erase commands of the chip.
    pub fn erase_types(&self) -> impl Iterator<Item = &EraseType> {
        self.erases.iter().filter(|erase| erase.bytes > 0)
    }

    /// Returns true if sizes and times are in the ranges that the driver supports.
    pub(super) fn is_sound(&self) -> bool {
        let is_erase = |erase: &EraseType| {
            (256..=1 << 24).contains(&erase.bytes)
                && erase.bytes.is_power_of_two()
                && self.bytes.is_multiple_of(erase.bytes)
        };
        self.bytes >= 4096
            && (8..=4096).contains(&self.page_bytes)
            && self.page_bytes.is_power_of_two()
            && self.erase_types().count() > 0
            && self.erase_types().all(|erase| is_erase(erase) && self.page_bytes <= erase.bytes)
            && self.program_maximum_us >= self.program_typical_us
            && self
                .erase_types()
                .all(|erase| erase.maximum_ms >= erase.typical_ms && erase.maximum_ms <= 1_000_000)
    }
}

/// Returns the address of the basic table and its number of words. Returns `None` if the header is
/// not an SFDP header.
pub(super) fn table(header: &[u8; HEADER_BYTES]) -> Option<(u32, usize)> {
    let is_basic = header[8] == 0x00 && matches!(header[15], 0xFF | 0x00);
    let words = usize::from(header[11]);
    if header[..4] != *b"SFDP" || header[5] != 1 || !is_basic || words < WORDS_MIN {
        return None;
    }
    let address = u32::from_le_bytes([header[12], header[13], header[14], 0]);
    Some((address, words.min(TABLE_WORDS)))
}

/// Parses the basic table. Returns `None` if a word is missing or the description is not sound.
pub(super) fn parse(id: [u8; 3], table: &[u8]) -> Option<NorInfo> {
    // The standard counts words from 1.
    let word = |number: usize| {
        let bytes = table.get(4 * (number - 1)..4 * number)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let (times, program) = (word(10), word(11));
    let mut erases = [EraseType::default(); 4];
    for (index, erase) in erases.iter_mut().enumerate() {
        let half = word(8 + index / 2)? >> (16 * (index % 2));
        if (8..25).contains(&(half & 0xFF)) {
            let (typical_ms, maximum_ms) = erase_times(times, index, 1 << (half & 0xFF));
            *erase = EraseType {
                opcode: (half >> 8) as u8,
                bytes: 1 << (half & 0xFF),
                typical_ms,
                maximum_ms,
            };
        }
    }
    let (page_bytes, program_typical_us, program_maximum_us) = program_times(program);
    let long_address = long_address(word(1)?, word(16));
    let info = NorInfo {
        id,
        bytes: bytes(word(2)?, long_address)?,
        page_bytes,
        program_typical_us,
        program_maximum_us,
        erases,
        long_address,
    };
    info.is_sound().then_some(info)
}

/// Computes the number of bytes of the chip from word 2. The result does not include bytes that
/// cannot be addressed.
fn bytes(word: u32, long_address: LongAddress) -> Option<u32> {
    let bits =
        if word >> 31 == 0 { u64::from(word) + 1 } else { 1u64.checked_shl(word & 0x7FFF_FFFF)? };
    let bytes = u32::try_from(bits / 8).unwrap_or(1 << 31);
    Some(if long_address == LongAddress::No { bytes.min(1 << 24) } else { bytes.min(1 << 31) })
}

/// Computes the typical and longest erase time in milliseconds from word 10. If the table has no
/// word 10, returns the long times of chips of that age.
fn erase_times(word: Option<u32>, index: usize, bytes: u32) -> (u32, u32) {
    let Some(word) = word else { return if bytes <= 4096 { (60, 800) } else { (600, 4000) } };
    let field = word >> (4 + 7 * index);
    let typical_ms = ((field & 31) + 1) * [1, 16, 128, 1000][field as usize >> 5 & 3];
    (typical_ms, typical_ms * 2 * ((word & 15) + 1))
}

/// Computes the bytes of a page from word 11, and the typical and longest time of its program in
/// microseconds.
fn program_times(word: Option<u32>) -> (u32, u32, u32) {
    let Some(word) = word else { return (256, 800, 5000) };
    let typical_us = ((word >> 8 & 31) + 1) * if word >> 13 & 1 == 0 { 8 } else { 64 };
    (1 << (word >> 4 & 15), typical_us, typical_us * 2 * ((word & 15) + 1))
}

/// Derives from words 1 and 16 how the chip takes four address bytes.
fn long_address(first: u32, last: Option<u32>) -> LongAddress {
    let ways = last.unwrap_or(0);
    match first >> 17 & 3 {
        2 => LongAddress::Always,
        1 if ways >> 29 & 1 != 0 => LongAddress::Commands,
        1 if ways >> 24 & 1 != 0 => LongAddress::Mode,
        1 if ways >> 25 & 1 != 0 => LongAddress::EnabledMode,
        _ => LongAddress::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first header and the table of Macronix' MX25R6435F, as the chip returns them. The device
    /// trees of Nordic's boards contain these bytes (Zephyr, `nrf54l15dk`).
    const HEADER: [u8; 16] = *b"SFDP\x06\x01\x02\xFF\x00\x06\x01\x10\x30\x00\x00\xFF";
    const TABLE: [u8; 64] = [
        0xE5, 0x20, 0xF1, 0xFF, 0xFF, 0xFF, 0xFF, 0x03, 0x44, 0xEB, 0x08, 0x6B, 0x08, 0x3B, 0x04,
        0xBB, 0xEE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0xFF, 0xFF, 0xFF, 0x00, 0xFF, 0x0C, 0x20,
        0x0F, 0x52, 0x10, 0xD8, 0x00, 0xFF, 0x23, 0x72, 0xF5, 0x00, 0x82, 0xED, 0x04, 0xCC, 0x44,
        0x83, 0x48, 0x44, 0x30, 0xB0, 0x30, 0xB0, 0xF7, 0xC4, 0xD5, 0x5C, 0x00, 0xBE, 0x29, 0xFF,
        0xF0, 0xD0, 0xFF, 0xFF,
    ];

    /// The datasheet of the chip defines 8 MiB and pages of 256 bytes. A program has a typical time
    /// of 0.9 ms and a longest time of 5.4 ms. The three erases have 48 / 384 ms, 240 / 1,920 ms
    /// and 480 / 3,840 ms.
    #[test]
    fn the_parameters_of_a_real_chip_are_those_of_its_datasheet() {
        assert_eq!(table(&HEADER), Some((0x30, 16)));
        let info = parse([0xC2, 0x28, 0x17], &TABLE).unwrap();
        assert_eq!((info.bytes, info.page_bytes), (8 << 20, 256));
        assert_eq!((info.program_typical_us, info.program_maximum_us), (896, 5376));
        let erase = |opcode, kib: u32, typical_ms, maximum_ms| EraseType {
            opcode,
            bytes: kib << 10,
            typical_ms,
            maximum_ms,
        };
        let found: std::vec::Vec<_> = info.erase_types().copied().collect();
        assert_eq!(
            found,
            [erase(0x20, 4, 48, 384), erase(0x52, 32, 240, 1920), erase(0xD8, 64, 480, 3840)]
        );
        assert_eq!(info.long_address, LongAddress::No);
    }

    #[test]
    fn a_table_of_the_first_edition_has_cautious_times() {
        let info = parse([0; 3], &TABLE[..36]).unwrap();
        assert_eq!((info.program_typical_us, info.program_maximum_us), (800, 5000));
        assert_eq!(info.erases[0].maximum_ms, 800);
    }

    #[test]
    fn hostile_parameters_do_not_panic() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..200_000 {
            let mut found = TABLE;
            for _ in 0..rng.usize(1..8) {
                found[rng.usize(..64)] = rng.u8(..);
            }
            if let Some(info) = parse([0; 3], &found[..4 * rng.usize(9..17)]) {
                assert!(info.is_sound());
            }
            let mut header = HEADER;
            header[rng.usize(..16)] = rng.u8(..);
            let _ = table(&header);
        }
        assert_eq!(parse([0; 3], &[0xFF; 64]), None);
        assert_eq!(parse([0; 3], &[0; 64]), None);
        assert!(NorInfo::M25P16.is_sound());
    }
}
