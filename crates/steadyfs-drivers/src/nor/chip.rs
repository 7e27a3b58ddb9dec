//! A chip as erase blocks and programmable bytes.

use super::link::{Link, command};
use super::sfdp::{EraseType, LongAddress, NorInfo};
use super::{NorError, Settings};
use crate::bus::pause_us;
use embedded_hal::delay::DelayNs;
use embedded_hal::spi::SpiDevice;
use steadyfs::Config;
use steadyfs::media::nor::{NorFlash, NorPages, page_bytes_for};
use steadyfs::media::{BlockIndex, Failure};

/// Bytes of one read in a read-back.
const LOOK_BYTES: usize = 64;

/// An SPI NOR chip. See the [module](super).
#[derive(Debug)]
pub struct NorChip<S, D> {
    link: Link<S, D>,
    info: NorInfo,
    settings: Settings,
    bytes: u32,
    block_bytes: u32,
    erase: EraseType,
    last_error: Option<NorError>,
}

impl<S: SpiDevice, D: DelayNs> NorChip<S, D> {
    /// Identifies a chip and reads its parameters. A block is the unit of the smallest erase
    /// command.
    ///
    /// The processor may have been reset in the middle of an operation of the chip. If an erase is
    /// running, the start waits until it ends.
    ///
    /// # Errors
    /// [`NorError`].
    pub fn start(spi: S, delay: D, settings: Settings) -> Result<Self, NorError> {
        let mut link = Link::new(spi, delay);
        let info = link.start(&settings)?;
        let erase =
            *info.erase_types().min_by_key(|erase| erase.bytes).ok_or(NorError::BadParameters)?;
        let bytes = settings.bytes.unwrap_or(info.bytes.saturating_sub(settings.first_byte));
        let end = settings.first_byte.checked_add(bytes).ok_or(NorError::Range)?;
        let is_whole = [settings.first_byte, bytes].iter().all(|at| at.is_multiple_of(erase.bytes));
        if end > info.bytes || bytes == 0 || !is_whole {
            return Err(NorError::Range);
        }
        Ok(Self { link, info, settings, bytes, block_bytes: erase.bytes, erase, last_error: None })
    }

    /// Returns the description of the chip.
    pub fn info(&self) -> &NorInfo {
        &self.info
    }

    /// Returns the last error. A call that succeeds does not clear this error.
    pub fn last_error(&self) -> Option<NorError> {
        self.last_error
    }

    /// Sets the bytes of a block. The driver then uses the largest erase command whose size divides
    /// both `block_bytes` and the address of the first used byte.
    ///
    /// # Errors
    /// [`NorError::Range`] if there is no such command, or if the used bytes are not a whole
    /// number of blocks.
    pub fn set_block_bytes(&mut self, block_bytes: u32) -> Result<(), NorError> {
        let fits = |erase: &&EraseType| {
            block_bytes.is_multiple_of(erase.bytes)
                && self.settings.first_byte.is_multiple_of(erase.bytes)
        };
        let erase = *self
            .info
            .erase_types()
            .filter(fits)
            .max_by_key(|erase| erase.bytes)
            .ok_or(NorError::Range)?;
        if block_bytes == 0 || !self.bytes.is_multiple_of(block_bytes) {
            return Err(NorError::Range);
        }
        (self.block_bytes, self.erase) = (block_bytes, erase);
        Ok(())
    }

    /// Makes a block of as many smallest sectors as the [usual settings
    /// need](Config::group_sectors), and divides the blocks into pages. Returns the chip as the
    /// flash of a volume.
    ///
    /// # Errors
    /// [`NorError::Range`] if the used part of the chip is too small for a volume.
    pub fn into_pages(mut self) -> Result<NorPages<Self>, NorError> {
        let sectors = Config::group_sectors(self.block_bytes, self.bytes / self.block_bytes)
            .ok_or(NorError::Range)?;
        self.set_block_bytes(self.block_bytes * sectors)?;
        let page_bytes = page_bytes_for(self.block_bytes);
        Ok(NorPages::new(self, page_bytes))
    }

    /// Returns the bus and the delay.
    pub fn into_parts(self) -> (S, D) {
        self.link.into_parts()
    }

    /// Returns true if the driver reads back each program and erase.
    fn verifies(&self) -> bool {
        self.settings.verify.unwrap_or(self.link.errors.is_none())
    }

    fn keep(&mut self, result: Result<(), NorError>) -> Result<(), Failure> {
        result.map_err(|error| {
            self.last_error = Some(error);
            error.failure()
        })
    }

    /// Converts an address in the used part of the chip into an address in the chip. Returns an
    /// error for bytes beyond the used part.
    fn address(&self, address: u32, bytes: usize) -> Result<u32, NorError> {
        let end = u64::from(address) + bytes as u64;
        if end > u64::from(self.bytes) {
            Err(NorError::Range)
        } else {
            Ok(self.settings.first_byte + address)
        }
    }

    /// Returns the result of a program or an erase. If the operation failed, the error is
    /// `Protected` if blocks are protected, and `error` otherwise.
    fn conclude(
        &mut self,
        has_failed: bool,
        is_right: bool,
        error: NorError,
    ) -> Result<(), NorError> {
        if !has_failed && is_right {
            return Ok(());
        }
        match self.link.protection()? {
            Some(status) => Err(NorError::Protected { status }),
            None => Err(error),
        }
    }

    /// Reads bytes of the chip. Returns true if `is_right` accepts all of them.
    fn look(
        &mut self,
        address: u32,
        bytes: u32,
        is_right: impl Fn(usize, u8) -> bool,
    ) -> Result<bool, NorError> {
        let mut found = [0; LOOK_BYTES];
        for done in (0..bytes).step_by(LOOK_BYTES) {
            let found = &mut found[..LOOK_BYTES.min((bytes - done) as usize)];
            self.link.read(address + done, found)?;
            if !found.iter().enumerate().all(|(index, byte)| is_right(done as usize + index, *byte))
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Programs bytes within one program page.
    fn program_part(&mut self, address: u32, data: &[u8]) -> Result<(), NorError> {
        let (typical_us, maximum_us) = (self.info.program_typical_us, self.info.program_maximum_us);
        // A program of few bytes is faster, but no parameter guarantees it. So the status is read
        // earlier than after a typical time.
        let typical_us = if data.len() < 64 { typical_us / 8 } else { typical_us };
        let has_failed =
            self.link.change(command::PROGRAM, address, data, typical_us, maximum_us)?;
        // Zeros of earlier programs remain zeros.
        let is_right = !self.verifies()
            || self.look(address, data.len() as u32, |index, found| found & !data[index] == 0)?;
        self.conclude(has_failed, is_right, NorError::ProgramFailed { address })
    }

    fn program_parts(&mut self, address: u32, data: &[u8]) -> Result<(), NorError> {
        let (mut address, mut data) = (self.address(address, data.len())?, data);
        while !data.is_empty() {
            // A program that runs over the end of a page continues at the beginning of the page.
            let room = (self.info.page_bytes - address % self.info.page_bytes) as usize;
            let (part, rest) = data.split_at(data.len().min(room));
            self.program_part(address, part)?;
            (address, data) = (address + part.len() as u32, rest);
        }
        Ok(())
    }

    fn erase_parts(&mut self, block: BlockIndex) -> Result<(), NorError> {
        let (erase, block_bytes) = (self.erase, self.block_bytes);
        let start = block.checked_mul(block_bytes).ok_or(NorError::Range)?;
        let start = self.address(start, block_bytes as usize)?;
        for address in (start..start + block_bytes).step_by(erase.bytes as usize) {
            let (typical_us, maximum_us) = (erase.typical_ms * 1000, erase.maximum_ms * 1000);
            let has_failed =
                self.link.change(erase.opcode, address, &[], typical_us, maximum_us)?;
            let is_right =
                !self.verifies() || self.look(address, erase.bytes, |_, found| found == 0xFF)?;
            self.conclude(has_failed, is_right, NorError::EraseFailed { address })?;
        }
        Ok(())
    }

    /// Returns the nanoseconds of a transfer of `bytes` bytes on the bus.
    fn transfer_ns(&self, bytes: u32) -> u64 {
        u64::from(bytes) * (8_000_000_000 / u64::from(self.settings.bus_hz.max(1)))
    }

    /// Returns the nanoseconds of a read with its command, and the processor's time.
    fn read_ns(&self, bytes: u32) -> u64 {
        self.transfer_ns(bytes + if self.link.long_address == LongAddress::No { 5 } else { 6 })
            + self.call_ns()
    }

    /// Returns the processor's time for a command.
    fn call_ns(&self) -> u64 {
        u64::from(self.settings.call_us) * 1000
    }

    fn look_ns(&self, bytes: u32) -> u64 {
        let whole = bytes / LOOK_BYTES as u32;
        if self.verifies() { u64::from(whole + 1) * self.read_ns(LOOK_BYTES as u32) } else { 0 }
    }

    /// Returns the longest time of a program or an erase with its commands, in nanoseconds. The
    /// constant of 20 bytes consists of 6 bytes to enable writes, 5 bytes for the command, and some
    /// reads of the status.
    fn change_ns(&self, bytes: u32, typical_us: u32, maximum_us: u32) -> u64 {
        let inside_us = u64::from(maximum_us) + u64::from(pause_us(typical_us, maximum_us));
        inside_us * 1000 + self.transfer_ns(bytes + 20) + self.call_ns() + self.look_ns(bytes)
    }
}

impl<S: SpiDevice, D: DelayNs> NorFlash for NorChip<S, D> {
    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn block_count(&self) -> u32 {
        self.bytes / self.block_bytes
    }

    fn times_ns(&self, bytes: u32) -> (u64, u64, u64) {
        let (info, page) = (&self.info, self.info.page_bytes);
        let part_ns =
            |bytes| self.change_ns(bytes, info.program_typical_us, info.program_maximum_us);
        let rest_ns = if bytes.is_multiple_of(page) { 0 } else { part_ns(bytes % page) };
        let program_ns = u64::from(bytes / page) * part_ns(page) + rest_ns;
        let erase = &self.erase;
        let erase_ns = self.change_ns(0, erase.typical_ms * 1000, erase.maximum_ms * 1000)
            + self.look_ns(erase.bytes);
        (self.read_ns(bytes), program_ns, u64::from(self.block_bytes / erase.bytes) * erase_ns)
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        let result =
            self.address(address, data.len()).and_then(|address| self.link.read(address, data));
        self.keep(result)
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        let result = self.program_parts(address, data);
        self.keep(result)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let result = self.erase_parts(block);
        self.keep(result)
    }
}
