//! Writes, and the stream that stays open between them.
//!
//! ```text
//!            CMD25            sector · sector · …             stop token
//!  Closed ───────────▶ Open ──────────────────────▶ Open ───────────────────▶ Closed, and CMD13 tells whether all was written
//!                       │ a sector is refused: CMD12, CMD13, ACMD22 ────────▶ Closed, and it is
//!                       sent once more
//!                       │ no answer, too long busy                            ▼
//!                       └──────────────────────────▶ Broken ── sector filled up, stop token, CMD13 ──▶ Closed
//! ```

use super::error::{SdError, Wait};
use super::limits::{Settings, WRITE_MS, stop_ms};
use super::link::{
    Link, RETRIES, TOKEN_DATA, TOKEN_STOP, TOKEN_WRITE_MULTIPLE, Taken, command, is_error,
};
use super::registers::{CardInfo, Kind};
use crate::parts;
use embedded_hal::delay::DelayNs;
use embedded_hal::digital::OutputPin;
use embedded_hal::spi::SpiBus;
use steadyfs::media::sectors::SECTOR_BYTES;

/// Smallest number of sectors that the driver announces to the card before a write (ACMD23).
const PRE_ERASE_MIN: u32 = 8;

/// State of the stream of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Closed,
    /// The card expects the sector `next`. The stream began with the sector `first`.
    Open {
        first: u32,
        next: u32,
    },
    /// The card may still expect bytes of an aborted transfer.
    Broken,
}

/// The part of the driver that writes: the wires to the card, and the state of the stream.
#[derive(Debug)]
pub(super) struct Writer<B, P, D> {
    pub link: Link<B, P, D>,
    pub info: CardInfo,
    pub settings: Settings,
    stream: Stream,
    /// True if data of an acknowledged write is lost. A flush reports and clears this state.
    is_lost: bool,
    /// True if a stream failed at its end, and the failed sector is unknown. From then on each
    /// write opens and ends its own stream.
    confirms: bool,
}

impl<B: SpiBus, P: OutputPin, D: DelayNs> Writer<B, P, D> {
    pub fn new(link: Link<B, P, D>, info: CardInfo, settings: Settings) -> Self {
        Self { link, info, settings, stream: Stream::Closed, is_lost: false, confirms: false }
    }

    /// Returns true if the card waits for another sector.
    pub fn is_open(&self) -> bool {
        matches!(self.stream, Stream::Open { .. })
    }

    /// Returns true if data of an acknowledged write is lost, and clears this state. The caller
    /// must report the loss.
    pub fn take_loss(&mut self) -> bool {
        core::mem::take(&mut self.is_lost)
    }

    /// Returns the argument that addresses a sector in a command.
    pub fn address(&self, sector: u32) -> u32 {
        if self.info.kind == Kind::Standard { sector * SECTOR_BYTES as u32 } else { sector }
    }

    /// Writes sectors that exist on the card.
    pub fn write_sectors(&mut self, first: u32, data: &[&[u8]], count: u32) -> Result<(), SdError> {
        if !matches!(self.stream, Stream::Open { next, .. } if next == first) {
            self.end_stream()?;
        }
        if self.is_lost {
            return Err(SdError::Lost);
        }
        let keeps_stream = self.settings.keep_stream && !self.confirms;
        if count == 1 && !keeps_stream {
            return self.write_single(first, data);
        }
        if keeps_stream {
            return self.send(first, data, count);
        }
        // Only data of this call can be lost, and this call reports the loss.
        match self.send_and_end(first, data, count) {
            Err(SdError::WriteFailed { .. }) => match self.send_and_end(first, data, count) {
                Err(SdError::WriteFailed { status }) => {
                    Err(SdError::WriteRejected { sector: first, status })
                }
                result => result,
            },
            result => result,
        }
    }

    /// Opens a stream, sends sectors into it, and ends the stream.
    fn send_and_end(&mut self, first: u32, data: &[&[u8]], count: u32) -> Result<(), SdError> {
        self.send(first, data, count)?;
        self.end_stream().inspect_err(|_| self.is_lost = false)
    }

    /// Sends sectors into the stream. If that fails, the stream breaks.
    fn send(&mut self, first: u32, data: &[&[u8]], count: u32) -> Result<(), SdError> {
        let result = self.append(first, data, count);
        if result.is_err() && self.is_open() {
            // Sectors that the card received but has not confirmed may be lost with the stream.
            (self.stream, self.is_lost) = (Stream::Broken, true);
        }
        result
    }

    /// Sends sectors into the stream. Opens a stream if there is none.
    fn append(&mut self, first: u32, data: &[&[u8]], count: u32) -> Result<(), SdError> {
        let (mut done, mut tries, mut was_refused) = (0, 0, false);
        while done < count {
            let sector = first + done;
            let opened = match self.stream {
                Stream::Open { first, .. } => first,
                _ => self.open_stream(sector, count - done)?,
            };
            self.link.wait_ready(WRITE_MS, Wait::Write)?;
            match self.link.block(TOKEN_WRITE_MULTIPLE, parts::sector(data, done as usize))? {
                Taken::Yes => {
                    self.stream = Stream::Open { first: opened, next: sector + 1 };
                    (done, tries) = (done + 1, 0);
                }
                // After a refusal the stream ends. The transfer then continues behind the last
                // written sector.
                Taken::BadCrc => {
                    let (well, _) = self.abort(opened, sector)?;
                    tries += 1;
                    if self.is_lost_before(well, first) {
                        return Err(SdError::Lost);
                    }
                    if tries > RETRIES {
                        return Err(SdError::WriteCrc { sector });
                    }
                    done = well - first;
                }
                Taken::WriteError => {
                    let (well, status) = self.abort(opened, sector)?;
                    if self.is_lost_before(well, first) {
                        return Err(SdError::Lost);
                    }
                    if core::mem::replace(&mut was_refused, true) {
                        return Err(SdError::WriteRejected { sector, status });
                    }
                    done = well - first;
                }
            }
        }
        Ok(())
    }

    /// Returns true if sectors of earlier calls are lost. The card has written only the sectors
    /// before `well`.
    fn is_lost_before(&mut self, well: u32, first: u32) -> bool {
        self.is_lost |= well < first;
        self.is_lost
    }

    fn open_stream(&mut self, sector: u32, count: u32) -> Result<u32, SdError> {
        // An announced sector that is not written afterwards may hold any bytes (4.3.4). So the
        // driver announces only the sectors of this call.
        if count >= PRE_ERASE_MIN {
            self.link.app_command(command::APP_PRE_ERASE, count & 0x7F_FFFF)?;
        }
        let answer = self
            .link
            .command(command::WRITE_MULTIPLE, self.address(sector))
            .inspect_err(|_| self.stream = Stream::Broken)?;
        if answer != 0 {
            return Err(SdError::Refused { command: command::WRITE_MULTIPLE, answer });
        }
        self.stream = Stream::Open { first: sector, next: sector };
        Ok(sector)
    }

    /// Ends a stream in which the card refused the sector `next`. Returns the first sector that is
    /// not written, and the status.
    fn abort(&mut self, opened: u32, next: u32) -> Result<(u32, u16), SdError> {
        self.link.stop()?;
        self.link.wait_ready(stop_ms(self.info.kind), Wait::Stop)?;
        let status = self.link.status()?;
        let well = self.link.register(true, command::APP_WELL_WRITTEN)?;
        self.link.deselect()?;
        self.stream = Stream::Closed;
        Ok((opened + u32::from_be_bytes(well).min(next - opened), status))
    }

    /// Writes one sector with a command of its own.
    fn write_single(&mut self, sector: u32, data: &[&[u8]]) -> Result<(), SdError> {
        let mut was_refused = false;
        for _ in 0..=RETRIES {
            self.stream = Stream::Broken;
            self.link.accepted(command::WRITE_SINGLE, self.address(sector))?;
            let taken = self.link.block(TOKEN_DATA, parts::sector(data, 0))?;
            self.link.wait_ready(WRITE_MS, Wait::Write)?;
            self.stream = Stream::Closed;
            let status = self.link.status()?;
            self.link.deselect()?;
            match taken {
                Taken::Yes if !is_error(status) => return Ok(()),
                Taken::BadCrc => {}
                Taken::Yes | Taken::WriteError if was_refused => {
                    return Err(SdError::WriteRejected { sector, status });
                }
                Taken::Yes | Taken::WriteError => was_refused = true,
            }
        }
        Err(SdError::WriteCrc { sector })
    }

    /// Ends the stream if a stream is open.
    ///
    /// # Errors
    /// [`SdError::WriteFailed`], or the error of a card that does not answer. In both cases
    /// unflushed data may be lost, and later writes fail too.
    pub fn end_stream(&mut self) -> Result<(), SdError> {
        let was = self.stream;
        if was == Stream::Closed {
            return Ok(());
        }
        self.stream = Stream::Broken;
        let status = self.stop(was == Stream::Broken).inspect_err(|_| self.is_lost = true)?;
        self.stream = Stream::Closed;
        if is_error(status) {
            (self.is_lost, self.confirms) = (true, true);
            return Err(SdError::WriteFailed { status });
        }
        Ok(())
    }

    fn stop(&mut self, is_broken: bool) -> Result<u16, SdError> {
        if is_broken {
            self.link.recover()?;
        } else {
            self.link.wait_ready(WRITE_MS, Wait::Write)?;
            // The byte after the token does not yet show if the card is busy (7.5.3.2, N_BR).
            self.link.send(&[TOKEN_STOP, 0xFF])?;
            self.link.wait_ready(stop_ms(self.info.kind), Wait::Stop)?;
        }
        let status = self.link.status()?;
        self.link.deselect()?;
        Ok(status)
    }
}
