//! The properties of a chip: identification, shape, spare area, ECC status, parameter page.

use crate::nand::NandTiming;
use steadyfs::media::{Geometry, TAG_BYTES};

/// The encoding of the ECC result in the status register, 0xC0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EccStatus {
    /// Bit 4 stands for corrected errors, and bit 5 for uncorrectable errors (Winbond W25N01GV).
    OneBit,
    /// Bits 4 to 6 contain 1 for 1 to 3 corrected bits, 3 for 4 to 6, and 5 for 7 to 8. They
    /// contain 2 for uncorrectable errors (Micron).
    Steps,
    /// Bits 4 and 5 contain 1 for corrected errors. Bits 4 and 5 of register 0xF0 contain the
    /// number of corrected bits minus one (GigaDevice GD5F1GQ5).
    Counted,
    /// Bits 4 and 5 contain 1 or 3 for corrected errors. The upper half of register 0x30 contains
    /// the number of corrected bits (Winbond W25N02KV).
    Register,
}

/// A chip.
#[derive(Clone, Debug)]
pub struct NandSpiProfile {
    /// Answer to 0x9F and a byte.
    pub id: [u8; 3],
    /// Pages and blocks.
    pub geometry: Geometry,
    /// Bytes of the spare area.
    pub spare_bytes: usize,
    /// Planes. The lowest bits of a block's number choose its plane.
    pub planes: u32,
    /// The encoding of the ECC result.
    pub ecc: EccStatus,
    /// Spare bytes for users that the ECC covers.
    pub protected: fn(usize) -> bool,
    /// True if there is a parameter page.
    pub has_parameters: bool,
    /// True if buffer reads must be selected (Winbond).
    pub reads_on: bool,
    /// True if the chip has a table of replaced blocks, 0xA5 (Winbond W25N01GV).
    pub has_links: bool,
    /// Times inside the chip.
    pub timing: NandTiming,
}

/// Returns the times inside the chip, from microseconds. The bus takes no time.
const fn timing(read_us: u64, program_us: u64, erase_us: u64) -> NandTiming {
    NandTiming {
        bus_read_ps_per_byte: 0,
        bus_program_ps_per_byte: 0,
        array_read_ns: read_us * 1000,
        array_program_ns: program_us * 1000,
        array_erase_ns: erase_us * 1000,
        ..NandTiming::ROUND
    }
}

impl NandSpiProfile {
    /// Returns Winbond W25N01GV: one bit of ECC, which covers four bytes in each section of 16
    /// spare bytes.
    pub fn w25n01gv() -> Self {
        Self {
            id: [0xEF, 0xAA, 0x21],
            geometry: Geometry {
                page_bytes: 2048,
                pages_per_block: 64,
                block_count: 1024,
                programs_bytes: false,
            },
            spare_bytes: 64,
            planes: 1,
            ecc: EccStatus::OneBit,
            protected: |byte| (4..8).contains(&(byte % 16)),
            has_parameters: true,
            reads_on: true,
            has_links: true,
            timing: timing(60, 250, 2000),
        }
    }

    /// Returns Winbond W25N02KV: eight bits of ECC.
    pub fn w25n02kv() -> Self {
        let usual = Self::w25n01gv();
        Self {
            id: [0xEF, 0xAA, 0x22],
            geometry: Geometry { block_count: 2048, ..usual.geometry },
            spare_bytes: 128,
            ecc: EccStatus::Register,
            protected: |byte| byte < 64 && byte % 16 >= 4,
            has_links: false,
            ..usual
        }
    }

    /// Returns Micron MT29F1G01ABAFD: eight bits of ECC, reported in steps.
    pub fn mt29f1g01() -> Self {
        let usual = Self::w25n01gv();
        Self {
            id: [0x2C, 0x14, 0xFF],
            spare_bytes: 128,
            ecc: EccStatus::Steps,
            protected: |byte| (32..64).contains(&byte),
            reads_on: false,
            has_links: false,
            timing: timing(46, 220, 2000),
            ..usual
        }
    }

    /// Returns Micron MT29F2G01ABAGD: as MT29F1G01ABAFD, with two planes.
    pub fn mt29f2g01() -> Self {
        let usual = Self::mt29f1g01();
        let geometry = Geometry { block_count: 2048, ..usual.geometry };
        Self { id: [0x2C, 0x24, 0xFF], geometry, planes: 2, ..usual }
    }

    /// Returns GigaDevice GD5F1GQ5UE: four bits of ECC, counted. Here it has no parameter page.
    pub fn gd5f1gq5() -> Self {
        let usual = Self::mt29f1g01();
        Self {
            id: [0xC8, 0x51, 0xFF],
            ecc: EccStatus::Counted,
            protected: |byte| byte < 64 && byte % 16 >= 4,
            has_parameters: false,
            timing: timing(25, 380, 3200),
            ..usual
        }
    }

    /// Returns the chip with another number of blocks, which its parameter page reports.
    #[must_use]
    pub fn with_blocks(self, block_count: u32) -> Self {
        Self { geometry: Geometry { block_count, ..self.geometry }, ..self }
    }

    /// Returns the status bits and the detail register for `bits` corrected bits; `None` is more
    /// than can be corrected.
    pub(super) fn status(&self, bits: Option<u8>) -> (u8, u8) {
        let Some(bits) = bits else { return (2 << 4, 0) };
        match (self.ecc, bits) {
            (_, 0) => (0, 0),
            (EccStatus::OneBit, _) => (1 << 4, 0),
            (EccStatus::Steps, 1..=3) => (1 << 4, 0),
            (EccStatus::Steps, 4..=6) => (3 << 4, 0),
            (EccStatus::Steps, _) => (5 << 4, 0),
            (EccStatus::Counted, _) => (1 << 4, (bits - 1) << 4),
            (EccStatus::Register, 1..=4) => (1 << 4, bits << 4),
            (EccStatus::Register, _) => (3 << 4, bits << 4),
        }
    }

    /// Returns the parameter page (ONFI 1.0, 5.4), three times.
    pub(super) fn parameters(&self) -> Vec<u8> {
        let Geometry { page_bytes, pages_per_block, block_count, .. } = self.geometry;
        let mut page = vec![0; 256];
        let mut put = |at: usize, bytes: &[u8]| page[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"ONFI");
        put(80, &page_bytes.to_le_bytes());
        put(84, &(self.spare_bytes as u16).to_le_bytes());
        put(92, &pages_per_block.to_le_bytes());
        put(96, &block_count.to_le_bytes());
        put(100, &[1]);
        // The longest times are three times the typical times here.
        for (at, ns) in [
            (133, self.timing.array_program_ns),
            (135, self.timing.array_erase_ns),
            (137, self.timing.array_read_ns),
        ] {
            put(at, &((3 * ns / 1000) as u16).to_le_bytes());
        }
        let crc = crc16(&page[..254]);
        page[254..].copy_from_slice(&crc.to_le_bytes());
        page.repeat(3)
    }
}

/// Returns the CRC-16 of ONFI 1.0, 5.4.1.36.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0x4F4E, |crc, &byte| {
        let step = |crc: u16, _| if crc & 0x8000 != 0 { crc << 1 ^ 0x8005 } else { crc << 1 };
        (0..8).fold(crc ^ u16::from(byte) << 8, step)
    })
}

/// Returns the places of the tag in the protected bytes: its quarters in sections, or one run.
pub(super) fn tag_places(profile: &NandSpiProfile) -> [usize; TAG_BYTES] {
    match profile.id[0] {
        0x2C => std::array::from_fn(|index| 32 + index),
        _ => std::array::from_fn(|index| index / 4 * 16 + 4 + index % 4),
    }
}
