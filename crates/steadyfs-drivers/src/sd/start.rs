//! The start of a card, from power-on until it accepts commands (specification, 4.2 and 7.2.1).
//!
//! ```text
//! 74 clocks, CMD0, CMD8, CMD59, ACMD41 until ready, CMD58, (CMD16), CMD9, faster clock, CMD10, ACMD13
//! ```

use super::limits::{START_HZ_MAX, START_MS, TRANSFER_HZ_MAX, WRITE_MS};
use super::link::{Link, R1_IDLE, R1_ILLEGAL, R2_LOCKED, TOKEN_STOP, command};
use super::registers::{self, CardInfo, Kind};
use super::{SdError, Settings, Wait};
use embedded_hal::delay::DelayNs;
use embedded_hal::digital::OutputPin;
use embedded_hal::spi::SpiBus;

/// Number of bytes whose clocks precede the first command. A card needs at least 74 clocks.
const WAKE_BYTES: usize = 10;
/// Number of attempts to reset a card.
const RESETS: u32 = 5;
/// Argument of CMD8: a voltage of 2.7 to 3.6 V, and a pattern that the card must repeat.
const CONDITION: u32 = 0x1AA;
/// In ACMD41 this bit means that the host supports cards that are addressed by sectors. In the OCR
/// it means that the card is addressed by sectors.
const HIGH_CAPACITY: u32 = 1 << 30;
/// Pause between two commands ACMD41.
const PAUSE_MS: u32 = 2;

impl<B: SpiBus, P: OutputPin, D: DelayNs> Link<B, P, D> {
    /// Starts a card. Returns its description.
    pub(super) fn start(
        &mut self,
        settings: &Settings,
        mut set_clock: impl FnMut(&mut B, u32) -> u32,
    ) -> Result<CardInfo, SdError> {
        // The clock is slow until the card is ready.
        let clock_hz = set_clock(&mut self.bus, START_HZ_MAX);
        self.set_pace(clock_hz, settings.patience);
        self.delay.delay_ms(1); // 6.4.1.1: after the supply is stable
        self.deselect()?;
        self.clocks(WAKE_BYTES)?;
        self.reset()?;
        let is_version_2 = self.check_voltage()?;
        self.crc_on()?;
        self.get_ready(is_version_2, settings.patience)?;
        let is_by_sector = is_version_2 && self.ocr()? & HIGH_CAPACITY != 0;
        if !is_by_sector {
            self.accepted(command::SET_BLOCK_LENGTH, 512)?;
        }
        // Reads the registers: first the CSD, then the CID and the SD status at the fast clock.
        let csd = self.register(false, command::SEND_CSD)?;
        let clock_hz = set_clock(&mut self.bus, TRANSFER_HZ_MAX);
        self.set_pace(clock_hz, settings.patience);
        let cid = self.register(false, command::SEND_CID)?;
        if self.status()? & R2_LOCKED != 0 {
            return Err(SdError::Locked);
        }
        // Some cards have no SD status. The size of the allocation unit is then derived from the
        // size of the card.
        let status = match self.register(true, command::APP_STATUS) {
            Err(SdError::Refused { .. }) => [0; 64],
            status => status?,
        };
        self.deselect()?;
        if !registers::is_sound(&csd) || !registers::is_sound(&cid) {
            return Err(SdError::UnknownRegister);
        }
        let info = CardInfo::parse(&cid, &csd, &status, clock_hz)?;
        // OCR and CSD both report how the card is addressed, and must agree.
        if is_by_sector == (info.kind != Kind::Standard) {
            Ok(info)
        } else {
            Err(SdError::UnknownRegister)
        }
    }

    /// Sends CMD0 until the card is idle. The processor may have been reset in the middle of an
    /// operation while the card kept its power.
    fn reset(&mut self) -> Result<(), SdError> {
        // The card may still program data that it received before the reset.
        self.wait_ready(WRITE_MS, Wait::Command)?;
        for _ in 0..RESETS {
            match self.command_once(command::GO_IDLE, 0) {
                Ok(R1_IDLE) => return self.deselect(),
                Ok(_) | Err(SdError::NoAnswer { .. }) => self.recover()?,
                Err(error) => return Err(error),
            }
            self.deselect()?;
            self.delay.delay_ms(1);
        }
        Err(SdError::NoCard)
    }

    /// Ends a transfer that the card may still expect: first the rest of a sector, then a stream of
    /// writes.
    pub(super) fn recover(&mut self) -> Result<(), SdError> {
        self.select()?;
        self.clocks(512 + 2 + 16)?;
        self.wait_ready(WRITE_MS, Wait::Write)?;
        self.send(&[TOKEN_STOP])?;
        // A card may interpret the token as the beginning of a command. It then sends an answer.
        self.clocks(16)?;
        self.wait_ready(WRITE_MS, Wait::Stop)
    }

    /// Sends CMD8. Returns true if the card is of version 2 or later.
    fn check_voltage(&mut self) -> Result<bool, SdError> {
        let answer = self.command(command::SEND_IF_COND, CONDITION)?;
        if answer & R1_ILLEGAL != 0 {
            return Ok(false);
        }
        let echo: [u8; 4] = self.rest()?;
        if answer & !R1_IDLE != 0 || u32::from_be_bytes(echo) & 0xFFF != CONDITION {
            return Err(SdError::Unusable);
        }
        Ok(true)
    }

    fn crc_on(&mut self) -> Result<(), SdError> {
        match self.command(command::CRC_ON_OFF, 1)? {
            0 | R1_IDLE => Ok(()),
            answer => Err(SdError::Refused { command: command::CRC_ON_OFF, answer }),
        }
    }

    /// Sends ACMD41 until the card is ready.
    fn get_ready(&mut self, is_version_2: bool, patience: u8) -> Result<(), SdError> {
        let argument = if is_version_2 { HIGH_CAPACITY } else { 0 };
        for _ in 0..START_MS * u32::from(patience.max(1)) / PAUSE_MS {
            match self.app_command(command::APP_START, argument)? {
                0 => return Ok(()),
                R1_IDLE => self.delay.delay_ms(PAUSE_MS),
                answer => return Err(SdError::Refused { command: command::APP_START, answer }),
            }
        }
        Err(SdError::NotStarted)
    }

    fn ocr(&mut self) -> Result<u32, SdError> {
        self.accepted(command::READ_OCR, 0)?;
        Ok(u32::from_be_bytes(self.rest()?))
    }
}
