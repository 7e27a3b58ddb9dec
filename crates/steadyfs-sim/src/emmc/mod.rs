//! The command interface of an eMMC over a [disk](steadyfs::disk::Disk). It receives commands, and
//! makes calls of the disk.
//!
//! An eMMC is a disk behind commands with an argument of 32 bits. The command SET_BLOCK_COUNT has
//! four bits for a *context*. Vishwakarma, Sharma and Kodase (*Enhancing eMMC using Multi-Stream
//! technique*, 2019) use these bits as the number of a stream. [`Emmc`] maps these bits to the
//! streams of a SteadyFS disk. A host's hints about its data then become visible in the blocks of
//! the simulated chip. A firmware that contains the disk would do the same. [`Emmc`] has no buffer
//! of its own.
//!
//! ```
//! use steadyfs::disk::Disk;
//! use steadyfs::{Access, Config};
//! use steadyfs_sim::emmc::{BlockCount, Emmc, State, command};
//! # let small = steadyfs::media::Geometry {
//! #     page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false,
//! # };
//! # let flash = steadyfs_sim::Nand::with_geometry(small, steadyfs_sim::NandTiming::ROUND, 1);
//! let geometry = steadyfs::media::Flash::geometry(&flash);
//! let config = Config { streams: 4, ..Config::for_disk(&geometry) };
//! let mut memory = vec![0; config.memory_bytes(&geometry)];
//! let flash = Disk::format(flash, &config, &mut memory)?;
//! let mut emmc = Emmc::new(Disk::mount(flash, Access::ReadWrite, &mut memory)?);
//!
//! // Two sectors from the eighth on, durable, of stream 3.
//! let count = BlockCount { blocks: 2, reliable: true, context: 3, ..BlockCount::default() };
//! emmc.command(command::SET_BLOCK_COUNT, count.emit());
//! emmc.command(command::WRITE_MULTIPLE_BLOCK, 8);
//! let status = emmc.send(&[1; 1024]);
//! assert!(!status.is_error() && status.state() == State::Transfer);
//!
//! let mut sector = [0; 512];
//! emmc.command(command::READ_SINGLE_BLOCK, 9);
//! emmc.receive(&mut sector);
//! assert_eq!(sector, [1; 512]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Commands
//! Numbers and bits are as in JESD84-B51. The device is selected, in the state *transfer*, from
//! the start.
//!
//! | command | argument | here |
//! |---|---|---|
//! | CMD6 SWITCH | [`switch`] | sets, clears bits of, or writes a byte of the [register](#register) |
//! | CMD8 SEND_EXT_CSD | | [`receive`](Emmc::receive) then returns the register, 512 bytes |
//! | CMD12 STOP_TRANSMISSION | | ends a transfer; a transfer whose length was announced needs it only after an error |
//! | CMD13 SEND_STATUS | | |
//! | CMD16 SET_BLOCKLEN | bytes | accepts only 512 |
//! | CMD17, CMD18 | sector | reads one sector, several |
//! | CMD23 SET_BLOCK_COUNT | [`BlockCount`] | sets the count of the next command if that is CMD18 or CMD25; without it, or with 0 blocks, these go on until CMD12 |
//! | CMD24, CMD25 | sector | writes one sector, several |
//! | CMD35, CMD36 | sector | first and last sector to be erased |
//! | CMD38 ERASE | [`ERASE`], [`TRIM`], [`DISCARD`] | see there |
//!
//! A *reliable* or *forced* write is [durable](steadyfs::disk::WriteOptions::durable). A *tag
//! request* is ignored. A *packed* command is refused. EXT_CSD reports that the device supports
//! neither tag requests nor packed commands.
//!
//! # Streams
//! The register's byte 133 selects the meaning of the number in CMD23. The paper uses this byte to
//! choose between "context" and "stream", but defines no values. In this device:
//!
//! - 1 selects a stream. This is the value after the start if the disk has several streams.
//!   [`context_stream`] maps the number to a stream. 0 is data without a stream, and 1 to 3 are the
//!   streams 1 to 3. If the disk has no stream with a number (up to 15), the number means its last
//!   stream. No configuration is needed.
//! - 0 selects a context of the standard. This is the value after the start if the disk has one
//!   stream. A host may write this value on every disk. The context must be open for the direction
//!   of the transfer (CONTEXT_CONF), and selects no stream.
//!
//! The paper calls byte 133 reserved. In eMMC 5.1 it is PRODUCTION_STATE_AWARENESS. A host that
//! reads the value 1 would interpret it as "before soldering".
//!
//! # Register
//! Besides byte 133, a host may write these bytes of EXT_CSD:
//!
//! - FLUSH_CACHE (32): 1 [flushes](steadyfs::disk::Disk::flush).
//! - CACHE_CTRL (33): 1 lets writes wait for that flush. 0 makes each write durable before the next
//!   command, as the standard requires. The value after the start is 0.
//! - CONTEXT_CONF (37 to 51): direction and reliability of each context. Closing a context
//!   flushes. Large units are refused.
//!
//! # Left out
//! The device does not support identification and selection, partitions, protection, the boot area,
//! the command queue, passwords, power classes, and all timing on the bus.

mod register;
mod status;
#[cfg(test)]
mod tests;
mod words;

pub use register::EXT_CSD_BYTES;
pub use status::{State, Status};
pub use words::{BlockCount, DISCARD, ERASE, TRIM, command, switch};

use register::{Register, Switched};
use steadyfs::Error;
use steadyfs::disk::{Disk, SECTOR_BYTES, WriteOptions};
use steadyfs::media::Flash;
use steadyfs::streams::context_stream;

const BLOCK_BYTES: usize = SECTOR_BYTES as usize;

/// The state of a transfer of sectors over the bus.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    next: u32,
    /// Number of sectors that are still to come. `None` means that the transfer goes on until the
    /// host stops it.
    left: Option<u32>,
    options: WriteOptions,
}

/// The event that the device waits for.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Command,
    Receive(Transfer),
    Send(Transfer),
    SendRegister,
}

/// Progress of the three commands of an erase.
#[derive(Clone, Copy, Debug)]
enum EraseRange {
    None,
    From(u32),
    Whole(u32, u32),
}

/// An eMMC whose content is a disk.
pub struct Emmc<'m, F> {
    disk: Disk<'m, F>,
    register: Register,
    phase: Phase,
    /// The block count that the previous command set for the next command.
    count: Option<BlockCount>,
    erase: EraseRange,
    /// Errors that the next answer reports.
    errors: Status,
}

impl<'m, F: Flash> Emmc<'m, F> {
    /// Creates an eMMC on a disk, in the state after power-on: the cache is off, and no context is
    /// open.
    pub fn new(disk: Disk<'m, F>) -> Self {
        let register = Register::new(disk.config().streams);
        Self {
            disk,
            register,
            phase: Phase::Command,
            count: None,
            erase: EraseRange::None,
            errors: Status::NONE,
        }
    }

    /// Executes a command. The answer (R1) contains the errors of the command, earlier errors that
    /// were not reported yet, and the state.
    ///
    /// CMD6 and CMD38 do their work after their answer. The next answer reports the errors of that
    /// work; CMD13 requests it. A command that the device does not support, or that is illegal in
    /// the present state, changes nothing and returns [`Status::ILLEGAL_COMMAND`]. On a real bus
    /// such a command would get no answer.
    pub fn command(&mut self, index: u8, argument: u32) -> Status {
        if index == command::SEND_STATUS {
            return self.answer();
        }
        let count = self.count.take();
        self.end_erase_before(index);
        let may = match self.phase {
            Phase::Command => self.execute(index, argument, count),
            _ if index == command::STOP_TRANSMISSION => {
                self.phase = Phase::Command;
                Ok(())
            }
            _ => Err(Status::ILLEGAL_COMMAND),
        };
        self.fail(may);
        let answer = self.answer();
        // The answer is on the bus before the work begins.
        let done = may.and_then(|()| self.work_after(index, argument));
        if may.is_ok() {
            self.fail(done);
        }
        answer
    }

    /// Receives whole sectors that the host writes. One call may transfer any number of the
    /// announced sectors.
    ///
    /// # Power loss
    /// If the write is reliable or forced, or the cache is off, all of the data is durable when
    /// an answer without an error returns.
    pub fn send(&mut self, data: &[u8]) -> Status {
        let Phase::Receive(transfer) = self.phase else {
            return self.refuse(Status::ILLEGAL_COMMAND);
        };
        let blocks = match self.blocks_of(&transfer, data.len()) {
            Ok(blocks) => blocks,
            Err(error) => return self.refuse(error),
        };
        let options = WriteOptions {
            durable: transfer.options.durable || !self.register.caches(),
            ..transfer.options
        };
        let result = self.disk.write_with(transfer.next, data, options);
        self.step(Phase::Receive, transfer, blocks, result)
    }

    /// Returns whole sectors to the host that reads them, or the register. After an error `data`
    /// may hold any bytes.
    pub fn receive(&mut self, data: &mut [u8]) -> Status {
        let transfer = match self.phase {
            Phase::Send(transfer) => transfer,
            Phase::SendRegister if data.len() == EXT_CSD_BYTES => {
                data.copy_from_slice(&self.register.emit(&self.disk));
                self.phase = Phase::Command;
                return self.answer();
            }
            Phase::SendRegister => return self.refuse(Status::BLOCK_LEN_ERROR),
            _ => return self.refuse(Status::ILLEGAL_COMMAND),
        };
        let blocks = match self.blocks_of(&transfer, data.len()) {
            Ok(blocks) => blocks,
            Err(error) => return self.refuse(error),
        };
        let result = self.disk.read(transfer.next, data);
        self.step(Phase::Send, transfer, blocks, result)
    }

    /// Returns the disk inside, for its counters and its maintenance.
    pub fn disk(&self) -> &Disk<'m, F> {
        &self.disk
    }

    /// Returns the disk inside, mutable.
    pub fn disk_mut(&mut self) -> &mut Disk<'m, F> {
        &mut self.disk
    }

    /// Returns the disk, and drops the eMMC. The disk does not flush waiting data.
    pub fn into_disk(self) -> Disk<'m, F> {
        self.disk
    }

    /// Discards the range of an erase if the command is not the next command of the erase sequence.
    fn end_erase_before(&mut self, index: u8) {
        let goes_on =
            matches!(index, command::ERASE_GROUP_START | command::ERASE_GROUP_END | command::ERASE);
        if !goes_on && !matches!(self.erase, EraseRange::None) {
            self.erase = EraseRange::None;
            self.errors = self.errors.with(Status::ERASE_RESET);
        }
    }

    /// Executes the part of a command that comes before its answer.
    fn execute(
        &mut self,
        index: u8,
        argument: u32,
        count: Option<BlockCount>,
    ) -> Result<(), Status> {
        match index {
            // SWITCH and ERASE do their work after the answer.
            command::SWITCH => Ok(()),
            command::ERASE => match self.erase {
                EraseRange::Whole(..) => Ok(()),
                _ => self.reset_erase(Status::ERASE_SEQ_ERROR),
            },
            command::SEND_EXT_CSD => {
                self.phase = Phase::SendRegister;
                Ok(())
            }
            command::SET_BLOCKLEN if argument == SECTOR_BYTES => Ok(()),
            command::SET_BLOCKLEN => Err(Status::BLOCK_LEN_ERROR),
            command::SET_BLOCK_COUNT => {
                let count = BlockCount::parse(argument).ok_or(Status::ERROR)?;
                self.count = Some(count);
                Ok(())
            }
            command::READ_SINGLE_BLOCK | command::READ_MULTIPLE_BLOCK => {
                let transfer = self.transfer(
                    index == command::READ_SINGLE_BLOCK,
                    argument,
                    count,
                    Register::may_read,
                )?;
                self.phase = Phase::Send(transfer);
                Ok(())
            }
            command::WRITE_BLOCK | command::WRITE_MULTIPLE_BLOCK => {
                let transfer = self.transfer(
                    index == command::WRITE_BLOCK,
                    argument,
                    count,
                    Register::may_write,
                )?;
                self.phase = Phase::Receive(transfer);
                Ok(())
            }
            command::ERASE_GROUP_START | command::ERASE_GROUP_END => {
                self.mark_erase(index, argument)
            }
            _ => Err(Status::ILLEGAL_COMMAND),
        }
    }

    /// Executes the part of a command that comes after its answer.
    fn work_after(&mut self, index: u8, argument: u32) -> Result<(), Status> {
        match index {
            command::SWITCH => match self.register.switch(argument, self.disk.config().streams)? {
                Switched::Flush => self.flush(),
                Switched::Only => Ok(()),
            },
            command::ERASE => {
                let range = std::mem::replace(&mut self.erase, EraseRange::None);
                if let EraseRange::Whole(first, last) = range {
                    self.erase_sectors(first, last, argument)
                } else {
                    Ok(())
                }
            }
            _ => Ok(()),
        }
    }

    /// Returns the transfer that a command begins. `may` checks that an open context accepts it.
    fn transfer(
        &self,
        is_single: bool,
        sector: u32,
        count: Option<BlockCount>,
        may: fn(&Register, u8) -> bool,
    ) -> Result<Transfer, Status> {
        // A transfer of one sector needs no block count, and ignores a block count before it.
        let count = count.filter(|_| !is_single).unwrap_or_default();
        let left = if is_single {
            Some(1)
        } else {
            Some(u32::from(count.blocks)).filter(|&blocks| blocks > 0)
        };
        let end = sector.checked_add(left.unwrap_or(1)).filter(|&end| end <= self.disk.sectors());
        if end.is_none() {
            return Err(Status::ADDRESS_OUT_OF_RANGE);
        }
        let stream = if self.register.names_streams() {
            context_stream(count.context, self.disk.config().streams)
        } else if may(&self.register, count.context) {
            0
        } else {
            return Err(Status::ERROR);
        };
        Ok(Transfer {
            next: sector,
            left,
            options: WriteOptions { durable: count.reliable || count.forced, stream },
        })
    }

    /// Returns the number of sectors in `bytes` bytes of a transfer.
    fn blocks_of(&self, transfer: &Transfer, bytes: usize) -> Result<u32, Status> {
        let blocks = u32::try_from(bytes / BLOCK_BYTES).map_err(|_| Status::BLOCK_LEN_ERROR)?;
        if !bytes.is_multiple_of(BLOCK_BYTES) || transfer.left.is_some_and(|left| blocks > left) {
            return Err(Status::BLOCK_LEN_ERROR);
        }
        // A transfer without a block count may reach the end of the disk.
        if blocks > self.disk.sectors() - transfer.next {
            return Err(Status::ADDRESS_OUT_OF_RANGE);
        }
        Ok(blocks)
    }

    /// Advances the transfer behind the sectors that were transferred. A transfer without a count
    /// stays open until the host stops it.
    fn step(
        &mut self,
        phase: fn(Transfer) -> Phase,
        transfer: Transfer,
        blocks: u32,
        result: Result<(), Error>,
    ) -> Status {
        if let Err(error) = result {
            return self.refuse(status_of(error));
        }
        let left = transfer.left.map(|left| left - blocks);
        let next = transfer.next + blocks;
        self.phase = if left == Some(0) {
            Phase::Command
        } else {
            phase(Transfer { next, left, ..transfer })
        };
        self.answer()
    }

    /// Stores the first or the last sector of an erase.
    fn mark_erase(&mut self, index: u8, sector: u32) -> Result<(), Status> {
        if sector >= self.disk.sectors() {
            return self.reset_erase(Status::ADDRESS_OUT_OF_RANGE);
        }
        self.erase = match (index, self.erase) {
            (command::ERASE_GROUP_START, _) => EraseRange::From(sector),
            (_, EraseRange::From(first)) if first <= sector => EraseRange::Whole(first, sector),
            (_, EraseRange::From(_)) => return self.reset_erase(Status::ERASE_PARAM),
            _ => return self.reset_erase(Status::ERASE_SEQ_ERROR),
        };
        Ok(())
    }

    fn reset_erase(&mut self, error: Status) -> Result<(), Status> {
        self.erase = EraseRange::None;
        Err(error)
    }

    /// Erases, trims or discards sectors.
    fn erase_sectors(&mut self, first: u32, last: u32, how: u32) -> Result<(), Status> {
        let per_page = self.disk.page_sectors();
        let (begin, end) = match how {
            // An erase group is a logical page, so the range is extended to whole logical pages.
            ERASE => (first / per_page * per_page, (last / per_page + 1) * per_page),
            TRIM | DISCARD => (first, last + 1),
            _ => return Err(Status::ERASE_PARAM),
        };
        let mut at = begin;
        while at < end {
            at += self.disk.trim(at, end - at).map_err(status_of)?;
        }
        if how == TRIM {
            // The disk trims only whole logical pages.
            let whole = begin.div_ceil(per_page) * per_page..end / per_page * per_page;
            for sector in (begin..end).filter(|sector| !whole.contains(sector)) {
                self.clear(sector)?;
            }
        }
        if self.register.caches() { Ok(()) } else { self.flush() }
    }

    /// Makes a sector read as zeros.
    fn clear(&mut self, sector: u32) -> Result<(), Status> {
        if self.disk.is_written(sector).map_err(status_of)? {
            self.disk.write(sector, &[0; BLOCK_BYTES]).map_err(status_of)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Status> {
        self.disk.flush().map_err(status_of)
    }

    fn fail(&mut self, result: Result<(), Status>) {
        if let Err(error) = result {
            self.errors = self.errors.with(error);
        }
    }

    fn refuse(&mut self, error: Status) -> Status {
        self.errors = self.errors.with(error);
        self.answer()
    }

    /// Returns the errors and the state, and clears the errors.
    fn answer(&mut self) -> Status {
        let state = match self.phase {
            Phase::Command => State::Transfer,
            Phase::Receive(_) => State::ReceiveData,
            Phase::Send(_) | Phase::SendRegister => State::SendData,
        };
        std::mem::replace(&mut self.errors, Status::NONE).in_state(state)
    }
}

/// Returns the error bit for an error of the disk.
fn status_of(error: Error) -> Status {
    match error {
        Error::NoSuchSector => Status::ADDRESS_OUT_OF_RANGE,
        Error::Corrupt => Status::DEVICE_ECC_FAILED,
        Error::ReadOnly => Status::WP_VIOLATION,
        Error::Device | Error::MediaFailing => Status::CC_ERROR,
        _ => Status::ERROR,
    }
}
