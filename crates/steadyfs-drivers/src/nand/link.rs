//! Commands and registers.

use super::families::{NandInfo, Times};
use super::parameters::{self, COPIES, PAGE_BYTES};
use super::{NandError, Settings};
use crate::bus::Bus;
use embedded_hal::delay::DelayNs;
use embedded_hal::spi::SpiDevice;
use steadyfs::media::PageIndex;

/// Commands of all families.
pub(super) mod command {
    pub const LOAD: u8 = 0x02;
    pub const READ: u8 = 0x03;
    pub const GET: u8 = 0x0F;
    pub const EXECUTE: u8 = 0x10;
    pub const PAGE_READ: u8 = 0x13;
    pub const SET: u8 = 0x1F;
    pub const LOAD_MORE: u8 = 0x84;
    pub const ID: u8 = 0x9F;
    pub const LINKS: u8 = 0xA5;
    pub const ERASE: u8 = 0xD8;
    pub const RESET: u8 = 0xFF;
}

/// Registers.
mod register {
    pub const PROTECTION: u8 = 0xA0;
    pub const CONFIGURATION: u8 = 0xB0;
    pub const STATUS: u8 = 0xC0;
}

pub(super) const ERASE_FAILED: u8 = 4;
pub(super) const PROGRAM_FAILED: u8 = 8;
/// Bits of the protection register that lock blocks.
const LOCKS: u8 = 0x78;
/// Bits of the configuration register.
const BUFFER_READS: u8 = 0x08;
const ECC: u8 = 0x10;
const OTP: u8 = 0x40;

/// Longest time of a reset in the middle of an erase: 500 microseconds.
const RESET_US: u32 = 500;
/// Page of the one-time programmable area that contains the parameters.
const PARAMETER_PAGE: PageIndex = 1;

/// The wires to a chip.
#[derive(Debug)]
pub(super) struct Link<S, D> {
    bus: Bus<S, D>,
}

impl<S: SpiDevice, D: DelayNs> Link<S, D> {
    pub fn new(spi: S, delay: D) -> Self {
        Self { bus: Bus::new(spi, delay, &[command::GET, register::STATUS]) }
    }

    pub fn into_parts(self) -> (S, D) {
        self.bus.into_parts()
    }

    pub fn receive(&mut self, command: &[u8], data: &mut [u8]) -> Result<(), NandError> {
        Ok(self.bus.receive(command, data)?)
    }

    pub fn send(&mut self, command: &[u8], data: &[u8]) -> Result<(), NandError> {
        Ok(self.bus.send(command, data)?)
    }

    pub fn register(&mut self, address: u8) -> Result<u8, NandError> {
        Ok(self.bus.register(&[command::GET, address])?)
    }

    fn set(&mut self, address: u8, value: u8) -> Result<(), NandError> {
        self.send(&[command::SET, address, value], &[])
    }

    /// Waits for an operation that has the given typical and longest time. Returns the status.
    fn wait(&mut self, (typical_us, maximum_us): (u32, u32)) -> Result<u8, NandError> {
        Ok(self.bus.wait(typical_us, maximum_us, |_| false)?)
    }

    fn at(command: u8, page: PageIndex) -> [u8; 4] {
        let [_, high, middle, low] = page.to_be_bytes();
        [command, high, middle, low]
    }

    /// Loads a page into the buffer. Returns the status.
    pub fn load(&mut self, page: PageIndex, times: &Times) -> Result<u8, NandError> {
        self.bus.settle()?;
        self.send(&Self::at(command::PAGE_READ, page), &[])?;
        self.wait(times.read_us)
    }

    /// Enables a program or an erase.
    pub fn enable(&mut self) -> Result<(), NandError> {
        self.bus.settle()?;
        Ok(self.bus.enable()?)
    }

    /// Executes a program or an erase. Returns true if the chip reported a failure. If the block is
    /// locked, returns the error [`NandError::Locked`].
    pub fn change(
        &mut self,
        command: u8,
        page: PageIndex,
        failed: u8,
        times: (u32, u32),
    ) -> Result<bool, NandError> {
        self.send(&Self::at(command, page), &[])?;
        if self.wait(times)? & failed == 0 {
            return Ok(false);
        }
        match self.register(register::PROTECTION)? {
            protection if protection & LOCKS != 0 => Err(NandError::Locked { protection }),
            _ => Ok(true),
        }
    }

    /// Resets and identifies the chip, reads its parameter page, and unlocks its blocks.
    pub fn start(&mut self, settings: &Settings) -> Result<NandInfo, NandError> {
        self.send(&[command::RESET], &[])?;
        self.wait((RESET_US, 20 * RESET_US))?;
        let mut id = [0; 3];
        self.receive(&[command::ID, 0], &mut id)?;
        if id == [0; 3] || id == [0xFF; 3] {
            return Err(NandError::NoChip { id });
        }
        let mut known = settings.info.into_iter().chain(NandInfo::CHIPS);
        let info = known.find(|info| info.matches(id)).ok_or(NandError::UnknownChip { id })?;
        if !info.is_sound() {
            return Err(NandError::BadParameters);
        }
        let info = self.parameters(info)?;
        self.set(register::PROTECTION, 0)?;
        Ok(info)
    }

    /// Reads the parameter page, if the chip has one, and sets the configuration.
    fn parameters(&mut self, info: NandInfo) -> Result<NandInfo, NandError> {
        let usual = ECC | if info.reads_on { BUFFER_READS } else { 0 };
        self.set(register::CONFIGURATION, usual | OTP)?;
        let found = self.load(PARAMETER_PAGE, &info.times).and_then(|_| self.copies());
        self.set(register::CONFIGURATION, usual)?;
        if self.register(register::CONFIGURATION)? & (ECC | OTP) != ECC {
            return Err(NandError::BadParameters);
        }
        found?
            .map_or(Ok(info), |page| parameters::merge(info, &page).ok_or(NandError::BadParameters))
    }

    /// Returns the first copy of the parameter page with a right checksum.
    fn copies(&mut self) -> Result<Option<[u8; PAGE_BYTES]>, NandError> {
        let mut page = [0; PAGE_BYTES];
        for copy in 0..COPIES {
            let [high, low] = ((copy * PAGE_BYTES) as u16).to_be_bytes();
            self.receive(&[command::READ, high, low, 0], &mut page)?;
            if parameters::is_sound(&page) {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }
}
