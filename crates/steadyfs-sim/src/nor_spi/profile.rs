//! The properties of a chip, and the parameters that it reports: JESD216B, 6.2 to 6.4.

use crate::nor::NorTiming;

/// An erase command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EraseCommand {
    /// Code of the command that takes three address bytes.
    pub opcode: u8,
    /// Number of bytes that the command erases, a power of two.
    pub bytes: u32,
    /// Typical time of the erase, in milliseconds.
    pub ms: u32,
}

/// The register in which a chip reports that a program or an erase failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorBits {
    /// The chip has no such register (Winbond, GigaDevice).
    None,
    /// Bits 5 and 6 of the security register, 0x2B (Macronix).
    Security,
    /// Bits 4 and 5 of the flag status register, 0x70; cleared by 0x50 (Micron N25Q, MT25Q).
    Flags,
    /// Bits 6 and 5 of the status register, cleared by 0x30; the chip stays busy until then
    /// (Infineon S25FL-S).
    Status,
}

/// The way a chip takes four bytes of address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FourByte {
    /// The chip does not support four address bytes.
    No,
    /// The chip has separate commands for four address bytes.
    Commands,
    /// The chip takes four address bytes after the command 0xB7.
    Mode,
    /// The chip takes four address bytes after the commands 0x06 and 0xB7.
    EnabledMode,
}

/// A chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NorSpiProfile {
    /// Answer to 0x9F.
    pub id: [u8; 3],
    /// Bytes of the chip.
    pub bytes: u32,
    /// Erase commands, the smallest first.
    pub erases: Vec<EraseCommand>,
    /// Typical time of a program of 256 bytes, in microseconds.
    pub program_us: u32,
    /// Ratio of the longest to the typical program times: 2, 4, … 32.
    pub program_factor: u32,
    /// Ratio of the longest to the typical erase times: 2, 4, … 32.
    pub erase_factor: u32,
    /// The register of the errors.
    pub error_bits: ErrorBits,
    /// The way the chip takes four bytes of address.
    pub four_byte: FourByte,
    /// True if the chip answers 0x5A.
    pub has_sfdp: bool,
}

impl NorSpiProfile {
    /// Returns Winbond W25Q128JV, from its datasheet.
    pub fn w25q128jv() -> Self {
        let erase = |opcode, kib: u32, ms| EraseCommand { opcode, bytes: kib << 10, ms };
        Self {
            id: [0xEF, 0x40, 0x18],
            bytes: 16 << 20,
            erases: vec![erase(0x20, 4, 45), erase(0x52, 32, 120), erase(0xD8, 64, 150)],
            program_us: 700,
            program_factor: 6,
            erase_factor: 14,
            error_bits: ErrorBits::None,
            four_byte: FourByte::No,
            has_sfdp: true,
        }
    }

    /// Returns Macronix MX25R6435F, from its datasheet. Its programs and erases report errors.
    pub fn mx25r6435f() -> Self {
        let erase = |opcode, kib: u32, ms| EraseCommand { opcode, bytes: kib << 10, ms };
        Self {
            id: [0xC2, 0x28, 0x17],
            bytes: 8 << 20,
            erases: vec![erase(0x20, 4, 48), erase(0x52, 32, 240), erase(0xD8, 64, 480)],
            program_us: 896,
            program_factor: 6,
            erase_factor: 8,
            error_bits: ErrorBits::Security,
            ..Self::w25q128jv()
        }
    }

    /// Returns Micron M25P16, from its datasheet. It has only 64 KiB sectors, and no parameters
    /// to be read.
    pub fn m25p16() -> Self {
        Self {
            id: [0x20, 0x20, 0x15],
            bytes: 2 << 20,
            erases: vec![EraseCommand { opcode: 0xD8, bytes: 64 << 10, ms: 600 }],
            program_us: 640,
            program_factor: 8,
            erase_factor: 6,
            has_sfdp: false,
            ..Self::w25q128jv()
        }
    }

    /// Returns the chip with another size.
    #[must_use]
    pub fn with_bytes(self, bytes: u32) -> Self {
        Self { bytes, ..self }
    }

    /// Returns the times inside the chip.
    pub(super) fn timing(&self) -> NorTiming {
        NorTiming {
            bus_read_ps_per_byte: 0,
            bus_program_ps_per_byte: 0,
            program_page_ns: u64::from(self.program_us) * 1000,
            array_erase_ns: u64::from(self.erases[0].ms) * 1_000_000,
            ..NorTiming::ROUND
        }
    }

    /// Returns the parameters: header, one parameter header, 16 double words.
    pub(super) fn sfdp(&self) -> Vec<u8> {
        let mut table = b"SFDP\x06\x01\x00\xFF\x00\x06\x01\x10\x30\x00\x00\xFF".to_vec();
        table.resize(0x30, 0xFF);
        self.words().iter().for_each(|word| table.extend_from_slice(&word.to_le_bytes()));
        table
    }

    fn words(&self) -> [u32; 16] {
        let mut words = [0xFFFF_FFFF; 16];
        let address = if self.four_byte == FourByte::No { 0 } else { 1 };
        words[0] = 0xFFF0_20E5 & !(3 << 17) | address << 17;
        words[1] = if self.bytes > 256 << 20 {
            1 << 31 | (self.bytes.ilog2() + 3)
        } else {
            self.bytes * 8 - 1
        };
        let mut types = [0; 4];
        let mut times = u32::from(self.erase_factor as u8) / 2 - 1;
        for (index, erase) in self.erases.iter().enumerate() {
            types[index] = u32::from(erase.opcode) << 8 | erase.bytes.ilog2();
            let (unit, count) = time(erase.ms, &[1, 16, 128, 1000]);
            times |= (unit << 5 | count) << (4 + 7 * index);
        }
        words[7] = types[1] << 16 | types[0];
        words[8] = types[3] << 16 | types[2];
        words[9] = times;
        let (unit, count) = time(self.program_us, &[8, 64]);
        words[10] = (unit << 5 | count) << 8 | 8 << 4 | (self.program_factor / 2 - 1);
        words[15] = match self.four_byte {
            FourByte::No => 0,
            FourByte::Commands => 1 << 29,
            FourByte::Mode => 1 << 24,
            FourByte::EnabledMode => 1 << 25,
        };
        words
    }
}

/// Encodes a time as a unit and a count from 0 to 31, rounded up.
fn time(value: u32, units: &[u32]) -> (u32, u32) {
    let unit = units
        .iter()
        .position(|unit| value.div_ceil(*unit) <= 32)
        .expect("a time that no table can tell");
    (unit as u32, value.div_ceil(units[unit]).max(1) - 1)
}
