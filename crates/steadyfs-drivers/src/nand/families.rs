//! The supported chips: shape, ECC, spare area, times.
//!
//! Identifications and encodings of the ECC status come from the makers' datasheets; Linux
//! (`drivers/mtd/nand/spi`) uses the same values. The times and their sources are in `profiles/` of
//! `steadyfs-sim`.

use steadyfs::media::{Geometry, TAG_BYTES};

/// Encoding of the ECC result of a page read, in the status register (0xC0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ecc {
    /// Bits 4 and 5 contain the result: 0 for no errors, 1 for corrected errors, other values for
    /// uncorrectable errors. One bit of each codeword can be corrected (Winbond W25N01GV).
    OneBit,
    /// Bits 4 to 6 contain the result (Micron). The value 0 stands for no errors. The values 1, 3
    /// and 5 stand for up to 3, 6 and 8 corrected bits. Other values stand for uncorrectable
    /// errors.
    Steps,
    /// Bits 4 and 5 contain the result: 0 for no errors, 1 for corrected errors, other values for
    /// uncorrectable errors. Bits 4 and 5 of register 0xF0 contain the number of corrected bits
    /// minus one. Four bits can be corrected (GigaDevice GD5F1GQ5).
    Counted,
    /// Bits 4 and 5 contain the result (GigaDevice GD5F1GQ4). The value 0 stands for no errors, 1
    /// for corrected errors, 2 for uncorrectable errors, and 3 for eight corrected bits. If the
    /// value is 1, bits 4 and 5 of register 0xF0 contain the number of corrected bits minus four.
    CountedAbove,
    /// Bits 4 and 5 contain the result: 0 for no errors, 1 and 3 for corrected errors, 2 for
    /// uncorrectable errors. The upper half of register 0x30 contains the number of corrected bits
    /// (Winbond W25N01KV, W25N02KV).
    Register {
        /// Number of bits that can be corrected in a codeword.
        strength: u8,
    },
}

impl Ecc {
    /// Returns the number of bits that can be corrected in a codeword.
    pub const fn strength(self) -> u8 {
        match self {
            Self::OneBit => 1,
            Self::Counted => 4,
            Self::Steps | Self::CountedAbove => 8,
            Self::Register { strength } => strength,
        }
    }

    /// Returns the address of the register that contains the number of corrected bits. Returns
    /// `None` if the ECC status `status` needs no such register.
    pub(super) const fn detail(self, status: u8) -> Option<u8> {
        match (self, status >> 4 & 3) {
            (Self::Counted | Self::CountedAbove, 1) => Some(0xF0),
            (Self::Register { .. }, 1 | 3) => Some(0x30),
            _ => None,
        }
    }

    /// Returns the largest number of corrected bits in a codeword. Returns `None` if too many bits
    /// were wrong, or if the chip cannot have this status.
    pub(super) const fn corrected(self, status: u8, detail: u8) -> Option<u8> {
        match (self, status >> 4 & 3, status >> 4 & 7) {
            (Self::Steps, _, 0) => Some(0),
            (Self::Steps, _, 1) => Some(3),
            (Self::Steps, _, 3) => Some(6),
            (Self::Steps, _, 5) => Some(8),
            (Self::Steps, ..) => None,
            (_, 0, _) => Some(0),
            (Self::OneBit, 1, _) => Some(1),
            (Self::Counted, 1, _) => Some((detail >> 4 & 3) + 1),
            (Self::CountedAbove, 1, _) => Some((detail >> 4 & 3) + 4),
            (Self::CountedAbove, 3, _) => Some(8),
            (Self::Register { strength }, 1 | 3, _) => {
                let bits = detail >> 4;
                Some(if bits == 0 || bits > strength { strength } else { bits })
            }
            _ => None,
        }
    }
}

/// Place of the sixteen bytes of a tag in the spare area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagPlace {
    /// Sixteen consecutive bytes, from this spare byte on.
    Row(u8),
    /// Four bytes in each of four sections of sixteen bytes, from this byte of the section on.
    Sections(u8),
}

impl TagPlace {
    /// Returns the spare byte for byte `index` of a tag.
    pub(super) const fn byte(self, index: usize) -> usize {
        match self {
            Self::Row(first) => first as usize + index,
            Self::Sections(first) => index / 4 * 16 + first as usize + index % 4,
        }
    }

    /// Returns the first spare byte of a tag, and the number of spare bytes from there to its last
    /// byte.
    pub(super) const fn span(self) -> (usize, usize) {
        (self.byte(0), self.byte(TAG_BYTES - 1) + 1 - self.byte(0))
    }
}

/// Longest span of a tag, in bytes.
pub(super) const SPAN_MAX: usize = 64;

/// Typical and longest times inside the chip, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Typical and longest time of a read from the array to the page buffer, with ECC.
    pub read_us: (u32, u32),
    /// Typical and longest time of a program from the page buffer to the array, with ECC.
    pub program_us: (u32, u32),
    /// Typical and longest time of the erase of a block.
    pub erase_us: (u32, u32),
}

/// Description of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NandInfo {
    /// Answer to the command 0x9F. A byte of 0xFF here matches any byte of the answer.
    pub id: [u8; 3],
    /// Number of data bytes of a page.
    pub page_bytes: u32,
    /// Number of pages of a block.
    pub pages_per_block: u32,
    /// Number of blocks of the chip.
    pub block_count: u32,
    /// Number of planes, 1 or 2. On chips with 2 planes, the bit above the column address selects
    /// the plane. This bit equals the lowest bit of the block's number.
    pub planes: u32,
    /// Encoding of the ECC result.
    pub ecc: Ecc,
    /// Place of the tags.
    pub tag: TagPlace,
    /// True if pages can be copied inside the chip.
    pub can_copy: bool,
    /// True if bit 3 of the configuration register (0xB0) selects reads of the page buffer
    /// (Winbond).
    pub reads_on: bool,
    /// True if the chip has a table of replaced blocks (0xA5, Winbond W25N01GV). A replaced block
    /// counts as bad.
    pub has_links: bool,
    /// Times inside the chip.
    pub times: Times,
}

const MICRON: NandInfo = NandInfo {
    id: [0x2C, 0x14, 0xFF],
    page_bytes: 2048,
    pages_per_block: 64,
    block_count: 1024,
    planes: 1,
    ecc: Ecc::Steps,
    tag: TagPlace::Row(32),
    can_copy: true,
    reads_on: false,
    has_links: false,
    times: Times { read_us: (46, 70), program_us: (220, 600), erase_us: (2000, 10_000) },
};
const MICRON_2G: NandInfo =
    NandInfo { id: [0x2C, 0x24, 0xFF], block_count: 2048, planes: 2, can_copy: false, ..MICRON };
const WINBOND: NandInfo = NandInfo {
    id: [0xEF, 0xAA, 0x21],
    ecc: Ecc::OneBit,
    tag: TagPlace::Sections(4),
    can_copy: false,
    reads_on: true,
    has_links: true,
    times: Times { read_us: (60, 60), program_us: (250, 700), erase_us: (2000, 10_000) },
    ..MICRON
};
const WINBOND_KV: NandInfo =
    NandInfo { has_links: false, ecc: Ecc::Register { strength: 8 }, block_count: 2048, ..WINBOND };
const GIGADEVICE: NandInfo = NandInfo {
    id: [0xC8, 0x51, 0xFF],
    ecc: Ecc::Counted,
    tag: TagPlace::Sections(4),
    can_copy: false,
    times: Times { read_us: (25, 60), program_us: (380, 600), erase_us: (3200, 10_000) },
    ..MICRON
};
/// The times of these chips are estimates, and rather too long than too short.
const GIGADEVICE_Q4: NandInfo = NandInfo {
    ecc: Ecc::CountedAbove,
    times: Times { read_us: (80, 120), program_us: (400, 700), erase_us: (3000, 10_000) },
    ..GIGADEVICE
};

impl NandInfo {
    /// The supported chips.
    pub const CHIPS: [Self; 17] = [
        MICRON,
        Self { id: [0x2C, 0x15, 0xFF], ..MICRON },
        MICRON_2G,
        Self { id: [0x2C, 0x25, 0xFF], ..MICRON_2G },
        WINBOND,
        Self { id: [0xEF, 0xBA, 0x21], ..WINBOND },
        Self {
            id: [0xEF, 0xAE, 0x21],
            ecc: Ecc::Register { strength: 4 },
            block_count: 1024,
            ..WINBOND_KV
        },
        Self { id: [0xEF, 0xAA, 0x22], ..WINBOND_KV },
        Self { id: [0xEF, 0xBA, 0x22], ..WINBOND_KV },
        GIGADEVICE,
        Self { id: [0xC8, 0x41, 0xFF], ..GIGADEVICE },
        Self { id: [0xC8, 0x52, 0xFF], block_count: 2048, ..GIGADEVICE },
        Self { id: [0xC8, 0x42, 0xFF], block_count: 2048, ..GIGADEVICE },
        Self { id: [0xC8, 0xD1, 0xFF], ..GIGADEVICE_Q4 },
        Self { id: [0xC8, 0xC1, 0xFF], ..GIGADEVICE_Q4 },
        Self { id: [0xC8, 0xD2, 0xFF], block_count: 2048, ..GIGADEVICE_Q4 },
        Self { id: [0xC8, 0xC2, 0xFF], block_count: 2048, ..GIGADEVICE_Q4 },
    ];

    /// Returns true if the description matches an identification.
    pub fn matches(&self, id: [u8; 3]) -> bool {
        self.id.iter().zip(id).all(|(known, found)| *known == 0xFF || *known == found)
    }

    /// Returns true if all values are in the ranges that the driver supports.
    pub(super) fn is_sound(&self) -> bool {
        let first = match self.tag {
            TagPlace::Row(first) => (2..=SPAN_MAX - TAG_BYTES).contains(&usize::from(first)),
            TagPlace::Sections(first) => (2..=12).contains(&first),
        };
        let is_time = |(typical, maximum): (u32, u32)| typical <= maximum && maximum <= 10_000_000;
        self.page_bytes.is_power_of_two()
            && (512..=4096).contains(&self.page_bytes)
            && (4..=4096).contains(&self.pages_per_block)
            && (1..=1 << 16).contains(&self.block_count)
            && self.pages_per_block * self.block_count <= 1 << 24
            && matches!(self.planes, 1 | 2)
            && !(self.can_copy && self.planes > 1)
            && first
            && [self.times.read_us, self.times.program_us, self.times.erase_us]
                .into_iter()
                .all(is_time)
    }

    /// Returns the geometry of `block_count` blocks of the chip.
    pub(super) const fn geometry(&self, block_count: u32) -> Geometry {
        Geometry {
            page_bytes: self.page_bytes,
            pages_per_block: self.pages_per_block,
            block_count,
            programs_bytes: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chip_that_is_known_makes_sense_and_is_there_once() {
        for (index, chip) in NandInfo::CHIPS.iter().enumerate() {
            assert!(chip.is_sound(), "{:02x?}", chip.id);
            assert!(
                NandInfo::CHIPS[index + 1..].iter().all(|other| other.id != chip.id),
                "{:02x?}",
                chip.id
            );
        }
    }

    /// Each maker's table, from its datasheet.
    #[test]
    fn the_ecc_status_of_each_family_is_understood() {
        let told =
            |ecc: Ecc| [0u8, 1, 2, 3, 5, 7].map(|bits| ecc.corrected(bits << 4 | 0x0F, 0x20));
        assert_eq!(told(Ecc::OneBit)[..4], [Some(0), Some(1), None, None]);
        assert_eq!(told(Ecc::Steps), [Some(0), Some(3), None, Some(6), Some(8), None]);
        assert_eq!(told(Ecc::Counted)[..4], [Some(0), Some(3), None, None]);
        assert_eq!(told(Ecc::CountedAbove)[..4], [Some(0), Some(6), None, Some(8)]);
        assert_eq!(told(Ecc::Register { strength: 8 })[..4], [Some(0), Some(2), None, Some(2)]);
        assert_eq!(
            Ecc::Register { strength: 4 }.corrected(0x10, 0xF0),
            Some(4),
            "a number beyond the strength"
        );
    }

    #[test]
    fn tags_lie_beside_the_mark_of_a_bad_block() {
        assert_eq!(TagPlace::Sections(4).span(), (4, 52));
        assert_eq!(TagPlace::Row(32).span(), (32, 16));
        assert_eq!([0, 3, 4, 15].map(|index| TagPlace::Sections(4).byte(index)), [4, 7, 20, 55]);
    }
}
