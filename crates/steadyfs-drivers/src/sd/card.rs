//! A started card, as a device of sectors.

use super::error::{SdError, Wait};
use super::limits::{Settings, WRITE_MS, erase_ms, times_max};
use super::link::{Link, RETRIES, command, is_error};
use super::registers::CardInfo;
use super::stream::Writer;
use crate::parts;
use embedded_hal::delay::DelayNs;
use embedded_hal::digital::OutputPin;
use embedded_hal::spi::SpiBus;
use steadyfs::media::Failure;
use steadyfs::media::sectors::{SECTOR_BYTES, SectorDevice, SectorTimes};

/// A started card: the device that [`SectorPages`](steadyfs::media::sectors::SectorPages) takes.
///
/// # Power loss
/// A write returns when the card has received the data. The card may program the data later. A
/// power cut may lose or tear any data written since the last flush. If [`Settings::reorders`] is
/// `false`, it may lose only the data that was written last. Some cards lose more data than the
/// specification allows. No driver can prevent this.
#[derive(Debug)]
pub struct SdCard<B, P, D> {
    writer: Writer<B, P, D>,
    last_error: Option<SdError>,
}

impl<B: SpiBus, P: OutputPin, D: DelayNs> SdCard<B, P, D> {
    pub(super) fn new(link: Link<B, P, D>, info: CardInfo, settings: Settings) -> Self {
        Self { writer: Writer::new(link, info, settings), last_error: None }
    }

    /// Returns the description of the card, from its registers.
    pub fn info(&self) -> &CardInfo {
        &self.writer.info
    }

    /// Returns the bytes of the card's allocation unit: the block of a
    /// [`SectorLayout`](steadyfs::media::sectors::SectorLayout).
    pub fn unit_bytes(&self) -> u32 {
        self.writer.info.unit_bytes
    }

    /// Returns the settings of the driver.
    pub fn settings(&self) -> &Settings {
        &self.writer.settings
    }

    /// Returns the last error, or [`None`] if no call has failed. A call that succeeds does not
    /// clear it.
    pub fn last_error(&self) -> Option<SdError> {
        self.last_error
    }

    /// Ends an open stream of writes, so that other devices may use the bus until the next call.
    ///
    /// # Errors
    /// [`Failure::Device`] if the card does not end the stream, or could not program its data.
    pub fn release(&mut self) -> Result<(), Failure> {
        let result = self.writer.end_stream();
        self.conclude(result)
    }

    /// Ends an open stream of writes, and returns the link. Unflushed data may be lost without an
    /// error.
    pub(super) fn into_link(mut self) -> Link<B, P, D> {
        let _ = self.release();
        self.writer.link
    }

    /// Returns the number of sectors of a transfer from `first` on. Refuses incomplete sectors,
    /// and sectors beyond the end of the card.
    fn count(&self, first: u32, bytes: usize) -> Result<u32, SdError> {
        if !bytes.is_multiple_of(SECTOR_BYTES) {
            return Err(SdError::NotSectors);
        }
        let count = u32::try_from(bytes / SECTOR_BYTES).map_err(|_| SdError::OutOfRange)?;
        let is_there = first.checked_add(count).is_some_and(|end| end <= self.writer.info.sectors);
        if is_there { Ok(count) } else { Err(SdError::OutOfRange) }
    }

    fn read_sectors(&mut self, first: u32, data: &mut [&mut [u8]]) -> Result<(), SdError> {
        let count = self.count(first, parts::bytes(data))?;
        if count > 0 {
            // If the end of the stream reports a loss, this read fails, because it may read the
            // lost sectors. Later reads do not fail: otherwise the volume could not be mounted
            // again.
            self.writer.end_stream()?;
        }
        let (mut done, mut tries) = (0, 0);
        while done < count {
            let before = done;
            match self.read_run(first, &mut done, count, data) {
                Ok(()) => {}
                Err(SdError::ReadCrc { .. }) if done > before => tries = 0,
                Err(SdError::ReadCrc { .. }) if tries < RETRIES => tries += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads the sectors from `done` on with one command. Advances `done` by each sector that
    /// arrived with a right checksum.
    fn read_run(
        &mut self,
        first: u32,
        done: &mut u32,
        count: u32,
        data: &mut [&mut [u8]],
    ) -> Result<(), SdError> {
        let is_single = count - *done == 1;
        let command = if is_single { command::READ_SINGLE } else { command::READ_MULTIPLE };
        self.writer.link.accepted(command, self.writer.address(first + *done))?;
        let result = self.read_blocks(first, done, count, data);
        if !is_single {
            let stopped = self.stop_read(first + count == self.writer.info.sectors);
            // The read can be repeated only if the card has stopped it.
            stopped.and(result)?;
        } else {
            result?;
        }
        self.writer.link.deselect()
    }

    fn read_blocks(
        &mut self,
        first: u32,
        done: &mut u32,
        count: u32,
        data: &mut [&mut [u8]],
    ) -> Result<(), SdError> {
        while *done < count {
            let sector = first + *done;
            self.writer.link.begin_block(sector)?;
            parts::sector_mut(data, *done as usize)
                .try_for_each(|piece| self.writer.link.take(piece))?;
            if !self.writer.link.end_block()? {
                return Err(SdError::ReadCrc { sector });
            }
            *done += 1;
        }
        Ok(())
    }

    /// Sends CMD12 after CMD18. At the end of the card, a card may read ahead beyond its last
    /// sector and report an address out of range. The call reads and discards this report.
    fn stop_read(&mut self, is_at_end: bool) -> Result<(), SdError> {
        self.writer.link.stop()?;
        self.writer.link.wait_ready(WRITE_MS, Wait::Command)?;
        if is_at_end {
            self.writer.link.status()?;
        }
        Ok(())
    }

    /// Erases the part of the range that consists of whole erase units. Does nothing if the card
    /// cannot erase, or if [`Settings::erase`] is `false`.
    fn erase_sectors(&mut self, first: u32, count: u32) -> Result<(), SdError> {
        let end = first
            .checked_add(count)
            .filter(|end| *end <= self.writer.info.sectors)
            .ok_or(SdError::OutOfRange)?;
        let unit = self.writer.info.erase_sectors;
        if unit == 0 || !self.writer.settings.erase {
            return Ok(());
        }
        let (first, end) = (first.next_multiple_of(unit), end - end % unit);
        if first >= end {
            return Ok(());
        }
        if self.is_protected() {
            return Err(SdError::WriteProtected);
        }
        self.writer.end_stream()?;
        self.writer.link.accepted(command::ERASE_FIRST, self.writer.address(first))?;
        self.writer.link.accepted(command::ERASE_LAST, self.writer.address(end - 1))?;
        self.writer.link.accepted(command::ERASE, 0)?;
        self.writer.link.clocks(1)?; // some cards report busy one byte late
        self.writer.link.wait_ready(erase_ms(&self.writer.info, end - first), Wait::Erase)?;
        let status = self.writer.link.status()?;
        self.writer.link.deselect()?;
        if is_error(status) { Err(SdError::EraseFailed { status }) } else { Ok(()) }
    }

    fn is_protected(&self) -> bool {
        self.writer.settings.read_only || self.writer.info.is_write_protected
    }

    /// Stores an error and converts it for the file system. After an error the card is deselected,
    /// unless a stream is open.
    fn conclude(&mut self, result: Result<(), SdError>) -> Result<(), Failure> {
        result.map_err(|error| {
            self.last_error = Some(error);
            if !self.writer.is_open() {
                let _ = self.writer.link.deselect();
            }
            error.failure()
        })
    }
}

impl<B: SpiBus, P: OutputPin, D: DelayNs> SectorDevice for SdCard<B, P, D> {
    fn sector_count(&self) -> u32 {
        self.writer.info.sectors
    }

    fn times(&self) -> SectorTimes {
        self.writer
            .settings
            .times
            .unwrap_or_else(|| times_max(&self.writer.info, &self.writer.settings))
    }

    /// Reads one sector with CMD17, or several sectors with CMD18. Data that arrives with a bad
    /// checksum is read again, up to three times.
    ///
    /// # Errors
    /// - [`Failure::Uncorrectable`] if the card reports that it cannot read a sector.
    /// - [`Failure::Device`] for all other errors. One of them is a late report of the card that an
    ///   earlier write is lost.
    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure> {
        let result = self.read_sectors(first, parts);
        self.conclude(result)
    }

    /// Writes sectors, and returns when the card has received them. If they directly follow the
    /// open stream, the call adds them to it. Otherwise it opens a new stream.
    ///
    /// # Errors
    /// [`Failure::BadBlock`] if the card refuses a sector twice. Any other error may come from an
    /// earlier write. The first call then reports [`SdError::WriteFailed`], and later calls report
    /// [`SdError::Lost`]. Writes fail until the next flush, which fails too.
    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure> {
        let result = self.count(first, parts::bytes(parts)).and_then(|count| match count {
            0 => Ok(()),
            _ if self.is_protected() => Err(SdError::WriteProtected),
            _ => self.writer.write_sectors(first, parts, count),
        });
        self.conclude(result)
    }

    /// Ends the stream, waits until the card has programmed it, and reads the card's status. A card
    /// has no further cache unless the host switches on a cache (specification 6.0, 5.8.2). This
    /// driver never does so.
    fn flush(&mut self) -> Result<(), Failure> {
        let result = self.writer.end_stream();
        let was_lost = self.writer.take_loss();
        let result = result.and(if was_lost { Err(SdError::Lost) } else { Ok(()) });
        self.conclude(result)
    }

    /// Erases the sectors of the range that the card can erase, if [`Settings::erase`] is set.
    fn discard(&mut self, first: u32, count: u32) -> Result<(), Failure> {
        let result = self.erase_sectors(first, count);
        self.conclude(result)
    }

    fn reorders(&self) -> bool {
        self.writer.settings.reorders
    }
}
