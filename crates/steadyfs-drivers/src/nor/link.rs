//! Commands and addresses.

use super::sfdp::{self, HEADER_BYTES, LongAddress, NorInfo, TABLE_WORDS};
use super::{NorError, Settings};
use crate::bus::Bus;
use embedded_hal::delay::DelayNs;
use embedded_hal::spi::SpiDevice;

/// Commands that all chips have.
pub(super) mod command {
    pub const WRITE_STATUS: u8 = 0x01;
    pub const PROGRAM: u8 = 0x02;
    pub const STATUS: u8 = 0x05;
    pub const FAST_READ: u8 = 0x0B;
    pub const PARAMETERS: u8 = 0x5A;
    pub const ID: u8 = 0x9F;
    pub const LONG_ADDRESSES: u8 = 0xB7;
}

/// Returns the bits of block protection in the status register. All chips have three such bits. If
/// the next two bits also protect blocks depends on the maker.
const fn protection_bits(id: [u8; 3]) -> u8 {
    match id[0] {
        0xC2 => 0x3C,        // Macronix: BP0 to BP3
        0xC8 => 0x7C,        // GigaDevice: BP0 to BP4
        0x20 => 0x1C | 0x40, // Micron: bit 5 selects top or bottom
        _ => 0x1C,
    }
}

/// Assumed longest time of an erase, in microseconds, before the chip is identified. The start
/// gives up after twice this time.
const UNKNOWN_US: u32 = 4_000_000;
/// Longest time of a write to the status register, in microseconds. The write takes up to 15 ms
/// on Winbond's chips, and 40 ms on Macronix'. The start gives up after twice this time.
const STATUS_US: u32 = 100_000;

/// The bits in which a chip reports a failed program or erase. The identification of the chip
/// selects them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ErrorBits {
    /// The register.
    pub register: u8,
    /// Bit that reports a failed program.
    pub program: u8,
    pub erase: u8,
    /// Command that clears the bits. It is 0 if the next operation clears them.
    pub clear: u8,
}

impl ErrorBits {
    pub fn of(id: [u8; 3]) -> Option<Self> {
        match id {
            // Macronix: the security register.
            [0xC2, ..] => Some(Self { register: 0x2B, program: 0x20, erase: 0x40, clear: 0 }),
            // Micron N25Q and MT25Q: the flag status register.
            [0x20, 0xBA | 0xBB, _] => {
                Some(Self { register: 0x70, program: 0x10, erase: 0x20, clear: 0x50 })
            }
            // Infineon S25FL-S: the status register. The chip reports busy until the bits are
            // cleared.
            [0x01, 0x02 | 0x20, _] => {
                Some(Self { register: command::STATUS, program: 0x40, erase: 0x20, clear: 0x30 })
            }
            _ => None,
        }
    }

    const fn any(&self) -> u8 {
        self.program | self.erase
    }
}

/// The wires to a chip.
#[derive(Debug)]
pub(super) struct Link<S, D> {
    bus: Bus<S, D>,
    pub errors: Option<ErrorBits>,
    protection: u8,
    pub long_address: LongAddress,
}

impl<S: SpiDevice, D: DelayNs> Link<S, D> {
    pub fn new(spi: S, delay: D) -> Self {
        Self {
            bus: Bus::new(spi, delay, &[command::STATUS]),
            errors: None,
            protection: 0x1C,
            long_address: LongAddress::No,
        }
    }

    pub fn into_parts(self) -> (S, D) {
        self.bus.into_parts()
    }

    /// Encodes a command with its address. Returns the array and the number of its used bytes.
    fn addressed(&self, command: u8, address: u32) -> ([u8; 6], usize) {
        let [top, high, middle, low] = address.to_be_bytes();
        let command = match (self.long_address, command) {
            (LongAddress::Commands, command::FAST_READ) => 0x0C,
            (LongAddress::Commands, command::PROGRAM) => 0x12,
            (LongAddress::Commands, 0x20) => 0x21,
            (LongAddress::Commands, 0x52) => 0x5C,
            (LongAddress::Commands, 0xD8) => 0xDC,
            _ => command,
        };
        match self.long_address {
            LongAddress::No => ([command, high, middle, low, 0, 0], 4),
            _ => ([command, top, high, middle, low, 0], 5),
        }
    }

    /// Waits for an operation that has the given typical and longest time. Returns the status.
    fn wait(&mut self, typical_us: u32, maximum_us: u32) -> Result<u8, NorError> {
        // If the status register reports errors, the chip reports busy until the errors are
        // cleared.
        let failed = self
            .errors
            .filter(|bits| bits.register == command::STATUS)
            .map_or(0, |bits| bits.any());
        Ok(self.bus.wait(typical_us, maximum_us, |status| status & failed != 0)?)
    }

    /// Reads bytes.
    pub fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), NorError> {
        self.bus.settle()?;
        let (command, length) = self.addressed(command::FAST_READ, address);
        Ok(self.bus.receive(&command[..=length], data)?)
    }

    /// Executes a program or an erase. Returns true if the chip reported a failure.
    pub fn change(
        &mut self,
        command: u8,
        address: u32,
        data: &[u8],
        typical_us: u32,
        maximum_us: u32,
    ) -> Result<bool, NorError> {
        self.bus.settle()?;
        self.bus.enable()?;
        let (command, length) = self.addressed(command, address);
        self.bus.send(&command[..length], data)?;
        let status = self.wait(typical_us, maximum_us)?;
        let Some(bits) = self.errors else { return Ok(false) };
        let found = if bits.register == command::STATUS {
            status
        } else {
            self.bus.register(&[bits.register])?
        };
        if found & bits.any() == 0 {
            return Ok(false);
        }
        if bits.clear != 0 {
            self.bus.send(&[bits.clear], &[])?;
        }
        Ok(true)
    }

    /// Returns the status register if blocks are protected.
    pub fn protection(&mut self) -> Result<Option<u8>, NorError> {
        let status = self.bus.status()?;
        Ok((status & self.protection != 0).then_some(status))
    }

    /// Identifies the chip, removes its protection if the settings require that, and sets the
    /// length of addresses.
    pub fn start(&mut self, settings: &Settings) -> Result<NorInfo, NorError> {
        self.wait(0, UNKNOWN_US)?;
        let mut id = [0; 3];
        self.bus.receive(&[command::ID], &mut id)?;
        if id == [0; 3] || id == [0xFF; 3] {
            return Err(NorError::NoChip { id });
        }
        let info = match settings.info {
            Some(info) if info.id != id => return Err(NorError::OtherChip { id }),
            Some(info) if !info.is_sound() => return Err(NorError::BadParameters),
            Some(info) => info,
            None => self.parameters(id)?,
        };
        (self.errors, self.protection) = (ErrorBits::of(id), protection_bits(id));
        if settings.unlock && self.protection()?.is_some() {
            self.bus.enable()?;
            self.bus.send(&[command::WRITE_STATUS, 0], &[])?;
            self.wait(0, STATUS_US)?;
        }
        self.set_addresses(&info)?;
        Ok(info)
    }

    fn parameters(&mut self, id: [u8; 3]) -> Result<NorInfo, NorError> {
        let mut header = [0; HEADER_BYTES];
        self.bus.receive(&[command::PARAMETERS, 0, 0, 0, 0], &mut header)?;
        let (address, words) = sfdp::table(&header).ok_or(NorError::NoParameters)?;
        let mut table = [0; 4 * TABLE_WORDS];
        let [_, high, middle, low] = address.to_be_bytes();
        self.bus.receive(&[command::PARAMETERS, high, middle, low, 0], &mut table[..4 * words])?;
        sfdp::parse(id, &table[..4 * words]).ok_or(NorError::BadParameters)
    }

    /// Sets the length of addresses. Chips of up to 16 MiB take three address bytes, unless they
    /// support only four.
    fn set_addresses(&mut self, info: &NorInfo) -> Result<(), NorError> {
        let is_long = info.bytes > 1 << 24 || info.long_address == LongAddress::Always;
        self.long_address = if is_long { info.long_address } else { LongAddress::No };
        match self.long_address {
            LongAddress::Mode => Ok(self.bus.send(&[command::LONG_ADDRESSES], &[])?),
            LongAddress::EnabledMode => {
                self.bus.enable()?;
                Ok(self.bus.send(&[command::LONG_ADDRESSES], &[])?)
            }
            _ => Ok(()),
        }
    }
}
