//! Commands, registers, busy and write enable.

use super::families::{NandInfo, Times};
use super::parameters::{self, COPIES, PAGE_BYTES};
use super::{NandError, Settings};
use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{Operation, SpiDevice};
use steadyfs::media::PageIndex;

/// Commands of all families.
pub(super) mod command {
    pub const LOAD: u8 = 0x02;
    pub const READ: u8 = 0x03;
    pub const WRITE_ENABLE: u8 = 0x06;
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

const BUSY: u8 = 1;
const ENABLED: u8 = 2;
pub(super) const ERASE_FAILED: u8 = 4;
pub(super) const PROGRAM_FAILED: u8 = 8;
/// Bits of the protection register that lock blocks.
const LOCKS: u8 = 0x78;
/// Bits of the configuration register.
const BUFFER_READS: u8 = 0x08;
const ECC: u8 = 0x10;
const OTP: u8 = 0x40;

/// How many times the longest time is waited for.
const PATIENCE: u32 = 2;
/// A reset in the middle of an erase takes 500 microseconds at most.
const RESET_US: u32 = 500;
/// The page of the one-time programmable area that has the parameters.
const PARAMETER_PAGE: PageIndex = 1;

/// The wires to a chip.
#[derive(Debug)]
pub(super) struct Link<S, D> {
    spi: S,
    delay: D,
    /// The chip did not get ready in the last call.
    is_late: bool,
}

impl<S: SpiDevice, D: DelayNs> Link<S, D> {
    pub fn new(spi: S, delay: D) -> Self {
        Self { spi, delay, is_late: false }
    }

    pub fn into_parts(self) -> (S, D) {
        (self.spi, self.delay)
    }

    pub fn receive(&mut self, command: &[u8], data: &mut [u8]) -> Result<(), NandError> {
        self.spi.transaction(&mut [Operation::Write(command), Operation::Read(data)]).map_err(|_| NandError::Bus)
    }

    pub fn send(&mut self, command: &[u8], data: &[u8]) -> Result<(), NandError> {
        self.spi.transaction(&mut [Operation::Write(command), Operation::Write(data)]).map_err(|_| NandError::Bus)
    }

    pub fn register(&mut self, address: u8) -> Result<u8, NandError> {
        let mut value = [0];
        self.receive(&[command::GET, address], &mut value)?;
        Ok(value[0])
    }

    fn set(&mut self, address: u8, value: u8) -> Result<(), NandError> {
        self.send(&[command::SET, address, value], &[])
    }

    /// Waits for what takes so long, typically and at most; the status then.
    fn wait(&mut self, (typical_us, maximum_us): (u32, u32)) -> Result<u8, NandError> {
        let limit_us = maximum_us.saturating_mul(PATIENCE);
        let pause_us = Self::pause_us(typical_us, maximum_us);
        let mut waited_us = typical_us.min(limit_us);
        self.delay.delay_us(waited_us);
        self.is_late = true;
        loop {
            let status = self.register(register::STATUS)?;
            if status & BUSY == 0 {
                self.is_late = false;
                return Ok(status);
            }
            if waited_us >= limit_us {
                return Err(NandError::Busy { waited_us });
            }
            self.delay.delay_us(pause_us);
            waited_us = waited_us.saturating_add(pause_us);
        }
    }

    /// Between two looks at a chip: the most by which the end of an operation is noticed late. There are some two thousand looks at most.
    pub const fn pause_us(typical_us: u32, maximum_us: u32) -> u32 {
        typical_us / 8 + maximum_us / 1024 + 1
    }

    /// Makes sure that a chip that was busy at the end of the last call takes commands now.
    pub fn settle(&mut self) -> Result<(), NandError> {
        if self.is_late && self.register(register::STATUS)? & BUSY != 0 {
            return Err(NandError::Busy { waited_us: 0 });
        }
        self.is_late = false;
        Ok(())
    }

    fn at(command: u8, page: PageIndex) -> [u8; 4] {
        let [_, high, middle, low] = page.to_be_bytes();
        [command, high, middle, low]
    }

    /// Loads a page into the buffer; the status then.
    pub fn load(&mut self, page: PageIndex, times: &Times) -> Result<u8, NandError> {
        self.settle()?;
        self.send(&Self::at(command::PAGE_READ, page), &[])?;
        self.wait(times.read_us)
    }

    /// Enables a program or an erase.
    pub fn enable(&mut self) -> Result<(), NandError> {
        self.settle()?;
        self.send(&[command::WRITE_ENABLE], &[])?;
        match self.register(register::STATUS)? {
            status if status & (BUSY | ENABLED) == ENABLED => Ok(()),
            status => {
                // One that is busy, whatever with, is looked at before the next command.
                self.is_late = true;
                Err(NandError::NotEnabled { status })
            }
        }
    }

    /// Programs or erases; whether the chip has said that it failed. A locked block fails too.
    pub fn change(&mut self, command: u8, page: PageIndex, failed: u8, times: (u32, u32)) -> Result<bool, NandError> {
        self.send(&Self::at(command, page), &[])?;
        if self.wait(times)? & failed == 0 {
            return Ok(false);
        }
        match self.register(register::PROTECTION)? {
            protection if protection & LOCKS != 0 => Err(NandError::Locked { protection }),
            _ => Ok(true),
        }
    }

    /// Resets the chip and asks it what it is.
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

    /// Reads the parameter page, as far as there is one, and sets the configuration.
    fn parameters(&mut self, info: NandInfo) -> Result<NandInfo, NandError> {
        let usual = ECC | if info.reads_on { BUFFER_READS } else { 0 };
        self.set(register::CONFIGURATION, usual | OTP)?;
        let found = self.load(PARAMETER_PAGE, &info.times).and_then(|_| self.copies());
        self.set(register::CONFIGURATION, usual)?;
        if self.register(register::CONFIGURATION)? & (ECC | OTP) != ECC {
            return Err(NandError::BadParameters);
        }
        found?.map_or(Ok(info), |page| parameters::merge(info, &page).ok_or(NandError::BadParameters))
    }

    /// The first copy of the parameter page that arrives well.
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
