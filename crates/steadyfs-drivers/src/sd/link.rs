//! Bytes, commands and blocks on the bus (specification, 7.2 to 7.5).

use super::crc::{crc7, crc16};
use super::limits::{PAUSE_US, READ_MS, WRITE_MS};
use super::{SdError, Wait};
use embedded_hal::delay::DelayNs;
use embedded_hal::digital::OutputPin;
use embedded_hal::spi::SpiBus;

/// Numbers of commands. A command whose name begins with `APP_` follows CMD55.
pub(super) mod command {
    pub const GO_IDLE: u8 = 0;
    pub const SEND_IF_COND: u8 = 8;
    pub const SEND_CSD: u8 = 9;
    pub const SEND_CID: u8 = 10;
    pub const STOP: u8 = 12;
    pub const SEND_STATUS: u8 = 13;
    pub const SET_BLOCK_LENGTH: u8 = 16;
    pub const READ_SINGLE: u8 = 17;
    pub const READ_MULTIPLE: u8 = 18;
    pub const WRITE_SINGLE: u8 = 24;
    pub const WRITE_MULTIPLE: u8 = 25;
    pub const ERASE_FIRST: u8 = 32;
    pub const ERASE_LAST: u8 = 33;
    pub const ERASE: u8 = 38;
    pub const APP: u8 = 55;
    pub const READ_OCR: u8 = 58;
    pub const CRC_ON_OFF: u8 = 59;
    pub const APP_STATUS: u8 = 13;
    pub const APP_WELL_WRITTEN: u8 = 22;
    pub const APP_PRE_ERASE: u8 = 23;
    pub const APP_START: u8 = 41;
}

/// Tokens before data (7.3.3).
pub(super) const TOKEN_DATA: u8 = 0xFE;
pub(super) const TOKEN_WRITE_MULTIPLE: u8 = 0xFC;
pub(super) const TOKEN_STOP: u8 = 0xFD;

/// Bits of R1 (7.3.2.1).
pub(super) const R1_IDLE: u8 = 0x01;
pub(super) const R1_ILLEGAL: u8 = 0x04;
const R1_CRC: u8 = 0x08;
/// Bits of R2 (7.3.2.3). All bits are errors except these three:
///
/// - The card is locked.
/// - An erase was begun and not executed.
/// - An erase skipped protected sectors.
///
/// The idle bit is an error, because a card becomes idle only if it lost its power.
pub(super) const R2_LOCKED: u16 = 0x0001;
const R2_ERRORS: u16 = 0x7DFC;

/// Number of repetitions of a transfer with a bad checksum.
pub(super) const RETRIES: u8 = 3;
/// Number of bytes within which an answer comes (7.5.1, N_CR).
const ANSWER_BYTES: usize = 9;
/// Number of polls of a busy card before the first pause.
const QUICK_LOOKS: u32 = 32;

/// Answer of the card to a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Yes,
    BadCrc,
    WriteError,
}

/// The wires to a card.
#[derive(Debug)]
pub(super) struct Link<B, P, D> {
    pub bus: B,
    select: P,
    pub delay: D,
    byte_ns: u32,
    patience: u8,
    is_selected: bool,
    /// Checksum of the bytes of the block that is being read.
    crc: u16,
}

impl<B: SpiBus, P: OutputPin, D: DelayNs> Link<B, P, D> {
    pub fn new(bus: B, select: P, delay: D) -> Self {
        Self { bus, select, delay, byte_ns: 1, patience: 1, is_selected: true, crc: 0 }
    }

    pub fn into_parts(self) -> (B, P, D) {
        (self.bus, self.select, self.delay)
    }

    /// Sets the patience, and the time of a byte on the bus. The limits of waits are measured with
    /// this time.
    pub fn set_pace(&mut self, clock_hz: u32, patience: u8) {
        self.byte_ns = (8_000_000_000 / u64::from(clock_hz.max(2))) as u32;
        self.patience = patience.max(1);
    }

    /// Sends `bytes` bytes of ones, because the card needs their clocks.
    pub fn clocks(&mut self, bytes: usize) -> Result<(), SdError> {
        (0..bytes).try_for_each(|_| self.byte().map(|_| ()))
    }

    /// Reads a byte from the card.
    pub fn byte(&mut self) -> Result<u8, SdError> {
        let mut byte = [0xFF];
        self.bus.transfer_in_place(&mut byte).map_err(|_| SdError::Bus)?;
        Ok(byte[0])
    }

    /// Reads bytes from the card. The trait does not define the bytes that `SpiBus::read` sends,
    /// but a card requires ones. So this call sends ones.
    fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), SdError> {
        bytes.fill(0xFF);
        self.bus.transfer_in_place(bytes).map_err(|_| SdError::Bus)
    }

    pub fn send(&mut self, bytes: &[u8]) -> Result<(), SdError> {
        self.bus.write(bytes).map_err(|_| SdError::Bus)
    }

    pub fn select(&mut self) -> Result<(), SdError> {
        if !self.is_selected {
            self.bus.flush().map_err(|_| SdError::Bus)?;
            self.select.set_low().map_err(|_| SdError::Select)?;
            self.is_selected = true;
        }
        Ok(())
    }

    /// Deselects the card. The card releases its data line eight clocks later (7.2.1 and 7.5).
    pub fn deselect(&mut self) -> Result<(), SdError> {
        if self.is_selected {
            self.bus.flush().map_err(|_| SdError::Bus)?;
            self.select.set_high().map_err(|_| SdError::Select)?;
            self.is_selected = false;
            self.clocks(1)?;
            self.bus.flush().map_err(|_| SdError::Bus)?;
        }
        Ok(())
    }

    /// Reads bytes until `wanted` accepts a byte, for at most `limit_ms` times the patience. If
    /// `wanted` accepts no byte in this time, the result contains the duration of the wait in
    /// milliseconds.
    ///
    /// The wait is measured by the time of the bus and of the pauses. It does not include the time
    /// of the processor, so a wait may last longer, but never ends too early.
    fn poll<T>(
        &mut self,
        limit_ms: u32,
        wanted: impl Fn(u8) -> Option<T>,
    ) -> Result<Result<T, u32>, SdError> {
        let limit_ms = limit_ms.saturating_mul(u32::from(self.patience));
        let (limit_ns, mut waited_ns) = (u64::from(limit_ms) * 1_000_000, 0);
        for look in 0.. {
            if let Some(found) = wanted(self.byte()?) {
                return Ok(Ok(found));
            }
            waited_ns += u64::from(self.byte_ns);
            if waited_ns >= limit_ns {
                break;
            }
            if look >= QUICK_LOOKS {
                self.delay.delay_us(PAUSE_US);
                waited_ns += u64::from(PAUSE_US) * 1000;
            }
        }
        Ok(Err(limit_ms))
    }

    /// Waits until the card is not busy.
    pub fn wait_ready(&mut self, limit_ms: u32, wait: Wait) -> Result<(), SdError> {
        self.select()?;
        self.poll(limit_ms, |byte| (byte == 0xFF).then_some(()))?
            .map_err(|waited_ms| SdError::Busy { wait, waited_ms })
    }

    /// Sends a command once. Returns R1.
    pub fn command_once(&mut self, command: u8, argument: u32) -> Result<u8, SdError> {
        self.select()?;
        let [a, b, c, d] = argument.to_be_bytes();
        let mut frame = [0x40 | command, a, b, c, d, 0];
        frame[5] = crc7(&frame[..5]) << 1 | 1;
        self.send(&frame)?;
        if command == command::STOP {
            self.byte()?; // belongs to the data that is being stopped
        }
        for _ in 0..ANSWER_BYTES {
            let answer = self.byte()?;
            if answer & 0x80 == 0 {
                return Ok(answer);
            }
        }
        Err(SdError::NoAnswer { command })
    }

    /// Sends a command to a card that is ready. Repeats the command if the card received a bad
    /// checksum. Returns R1.
    pub fn command(&mut self, command: u8, argument: u32) -> Result<u8, SdError> {
        let mut tries = 0;
        loop {
            self.wait_ready(WRITE_MS, Wait::Command)?;
            let answer = self.command_once(command, argument)?;
            if answer & R1_CRC == 0 || tries == RETRIES {
                return Ok(answer);
            }
            tries += 1;
        }
    }

    /// Sends CMD12 in the middle of a transfer until the card has received the command. The bytes
    /// at the position of the answer may still be data. (Zeros in this data look like an answer.
    /// The next command then fails.)
    pub fn stop(&mut self) -> Result<(), SdError> {
        let mut result = Ok(());
        for tries in 0..=RETRIES {
            self.clocks(1)?;
            result = match self.command_once(command::STOP, 0) {
                Ok(0) => return Ok(()),
                // The card received an earlier CMD12, and its answer was lost.
                Ok(R1_ILLEGAL) if tries > 0 => return Ok(()),
                Ok(answer) => Err(SdError::Refused { command: command::STOP, answer }),
                Err(error @ SdError::NoAnswer { .. }) => Err(error),
                Err(error) => return Err(error),
            };
        }
        result
    }

    /// Sends a command that the card must accept.
    pub fn accepted(&mut self, command: u8, argument: u32) -> Result<(), SdError> {
        match self.command(command, argument)? {
            0 => Ok(()),
            answer => Err(SdError::Refused { command, answer }),
        }
    }

    /// Sends an application command. Repeats the command with its prefix CMD55 if the card received
    /// a bad checksum. Returns R1.
    pub fn app_command(&mut self, command: u8, argument: u32) -> Result<u8, SdError> {
        let mut tries = 0;
        loop {
            let answer = self.command(command::APP, 0)?;
            if answer & !R1_IDLE != 0 {
                return Err(SdError::Refused { command: command::APP, answer });
            }
            self.wait_ready(WRITE_MS, Wait::Command)?;
            let answer = self.command_once(command, argument)?;
            if answer & R1_CRC == 0 || tries == RETRIES {
                return Ok(answer);
            }
            tries += 1;
        }
    }

    /// Reads the card's status, R2. The read clears the card's errors.
    pub fn status(&mut self) -> Result<u16, SdError> {
        let first = self.command(command::SEND_STATUS, 0)?;
        Ok(u16::from(first) << 8 | u16::from(self.byte()?))
    }

    /// Reads the bytes after an answer.
    pub fn rest<const N: usize>(&mut self) -> Result<[u8; N], SdError> {
        let mut rest = [0; N];
        self.bytes(&mut rest)?;
        Ok(rest)
    }

    /// Waits for the beginning of a block. `sector` is the number that an error reports.
    pub fn begin_block(&mut self, sector: u32) -> Result<(), SdError> {
        self.crc = 0;
        match self.poll(READ_MS, |byte| (byte != 0xFF).then_some(byte))? {
            Ok(TOKEN_DATA) => Ok(()),
            Ok(token) => Err(SdError::ReadFailed { sector, token }),
            Err(waited_ms) => Err(SdError::NoData { waited_ms }),
        }
    }

    /// Reads a piece of a block.
    pub fn take(&mut self, bytes: &mut [u8]) -> Result<(), SdError> {
        self.bytes(bytes)?;
        self.crc = crc16(self.crc, bytes);
        Ok(())
    }

    /// Reads the end of a block. Returns true if its checksum is right.
    pub fn end_block(&mut self) -> Result<bool, SdError> {
        let crc: [u8; 2] = self.rest()?;
        Ok(u16::from_be_bytes(crc) == self.crc)
    }

    /// Reads a register that comes as a block.
    pub fn register<const N: usize>(
        &mut self,
        is_app: bool,
        command: u8,
    ) -> Result<[u8; N], SdError> {
        let mut tries = 0;
        loop {
            let answer =
                if is_app { self.app_command(command, 0)? } else { self.command(command, 0)? };
            if answer != 0 {
                return Err(SdError::Refused { command, answer });
            }
            if (is_app, command) == (true, command::APP_STATUS) {
                self.byte()?; // R2
            }
            let mut register = [0; N];
            self.begin_block(0)?;
            self.take(&mut register)?;
            if self.end_block()? {
                return Ok(register);
            }
            if tries == RETRIES {
                return Err(SdError::ReadCrc { sector: 0 });
            }
            tries += 1;
        }
    }

    /// Sends a sector, with the gap byte before its token. Returns the card's answer.
    pub fn block<'p>(
        &mut self,
        token: u8,
        pieces: impl Iterator<Item = &'p [u8]>,
    ) -> Result<Taken, SdError> {
        self.send(&[0xFF, token])?;
        let mut crc = 0;
        for piece in pieces {
            self.send(piece)?;
            crc = crc16(crc, piece);
        }
        self.send(&crc.to_be_bytes())?;
        for _ in 0..ANSWER_BYTES {
            match self.byte()? & 0x1F {
                0x05 => return Ok(Taken::Yes),
                0x0B => return Ok(Taken::BadCrc),
                0x0D => return Ok(Taken::WriteError),
                _ => {}
            }
        }
        Err(SdError::NoAnswer { command: command::WRITE_MULTIPLE })
    }
}

/// Returns true if a status contains an error.
pub(super) const fn is_error(status: u16) -> bool {
    status & R2_ERRORS != 0
}
