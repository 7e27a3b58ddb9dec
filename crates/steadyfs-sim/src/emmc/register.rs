//! EXT_CSD: the properties that the device reports, and the settings of the host.

use super::status::Status;
use super::words::{Access, parse_switch};
use steadyfs::disk::Disk;
use steadyfs::media::Flash;

/// Bytes of the register.
pub const EXT_CSD_BYTES: usize = 512;

const FLUSH_CACHE: usize = 32;
const CACHE_CTRL: usize = 33;
const CONTEXT_CONF: usize = 37;
/// Index of the byte that selects the meaning of the number in CMD23: 0 for a context, 1 for a
/// stream. In the standard it is PRODUCTION_STATE_AWARENESS.
const NUMBERS_ARE_STREAMS: usize = 133;
const WR_REL_PARAM: usize = 166;
const REVISION: usize = 192;
const STRUCTURE: usize = 194;
const SEC_COUNT: usize = 212;
const REL_WR_SEC_C: usize = 222;
const SEC_FEATURE_SUPPORT: usize = 231;
const CACHE_SIZE: usize = 249;
const CONTEXT_CAPABILITIES: usize = 496;
const S_CMD_SET: usize = 504;

/// Number of contexts. It does not include context 0, which stands for data without a context.
const CONTEXTS: usize = 15;
/// Direction of a context: bit 0 for writing, bit 1 for reading.
const DIRECTION: u8 = 3;
const WRITES: u8 = 1;
const READS: u8 = 2;
/// Reliability of a context. Any value is accepted, because flushed data is always complete.
const RELIABILITY: u8 = 0xC0;

/// The work that must be done after a byte was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Switched {
    Flush,
    Only,
}

/// The settings of the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Register {
    caches: bool,
    names_streams: bool,
    contexts: [u8; CONTEXTS],
}

impl Register {
    pub fn new(streams: u8) -> Self {
        Self { caches: false, names_streams: streams > 1, contexts: [0; CONTEXTS] }
    }

    /// Returns true if writes wait for a flush.
    pub fn caches(&self) -> bool {
        self.caches
    }

    /// Returns true if the number in CMD23 is a stream.
    pub fn names_streams(&self) -> bool {
        self.names_streams
    }

    /// Returns true if a context accepts writes.
    pub fn may_write(&self, context: u8) -> bool {
        self.is_open(context, WRITES)
    }

    /// Returns true if a context accepts reads.
    pub fn may_read(&self, context: u8) -> bool {
        self.is_open(context, READS)
    }

    fn is_open(&self, context: u8, direction: u8) -> bool {
        context == 0
            || self.contexts.get(usize::from(context) - 1).is_some_and(|conf| conf & direction != 0)
    }

    /// Executes the change that CMD6 requests, on a disk with `streams` streams.
    pub fn switch(&mut self, argument: u32, streams: u8) -> Result<Switched, Status> {
        let (access, index, value) = parse_switch(argument).ok_or(Status::SWITCH_ERROR)?;
        let index = usize::from(index);
        let old = self.byte(index).ok_or(Status::SWITCH_ERROR)?;
        let new = match access {
            Access::SetBits => old | value,
            Access::ClearBits => old & !value,
            Access::Write => value,
        };
        let flush = |does| if does { Switched::Flush } else { Switched::Only };
        match index {
            FLUSH_CACHE if new <= 1 => Ok(flush(new == 1)),
            CACHE_CTRL if new <= 1 => {
                self.caches = new == 1;
                Ok(flush(new == 0))
            }
            NUMBERS_ARE_STREAMS if new == 0 || (new == 1 && streams > 1) => {
                self.names_streams = new == 1;
                Ok(Switched::Only)
            }
            _ if (CONTEXT_CONF..CONTEXT_CONF + CONTEXTS).contains(&index)
                && new & !(DIRECTION | RELIABILITY) == 0 =>
            {
                self.contexts[index - CONTEXT_CONF] = new;
                Ok(flush(new & DIRECTION == 0 && old & DIRECTION != 0))
            }
            _ => Err(Status::SWITCH_ERROR),
        }
    }

    /// Returns the present value of a byte that the host may write.
    fn byte(&self, index: usize) -> Option<u8> {
        match index {
            FLUSH_CACHE => Some(0),
            CACHE_CTRL => Some(u8::from(self.caches)),
            NUMBERS_ARE_STREAMS => Some(u8::from(self.names_streams)),
            _ => self.contexts.get(index.checked_sub(CONTEXT_CONF)?).copied(),
        }
    }

    /// Returns the whole register. All bytes that are not set here are 0. For most of these bytes 0
    /// means that the device does not have the feature. For ERASED_MEM_CONT it means that erased
    /// sectors are zeros.
    pub fn emit<F: Flash>(&self, disk: &Disk<'_, F>) -> [u8; EXT_CSD_BYTES] {
        let cache_bytes = u32::from(disk.config().transaction_pages)
            * disk.page_sectors()
            * steadyfs::disk::SECTOR_BYTES;
        let mut bytes = [0; EXT_CSD_BYTES];
        (0..EXT_CSD_BYTES)
            .filter_map(|index| Some((index, self.byte(index)?)))
            .for_each(|(index, byte)| bytes[index] = byte);
        bytes[WR_REL_PARAM] = 1 << 2; // reliable writes of any number of sectors
        bytes[REVISION] = 8; // 5.1
        bytes[STRUCTURE] = 2;
        bytes[SEC_COUNT..SEC_COUNT + 4].copy_from_slice(&disk.sectors().to_le_bytes());
        bytes[REL_WR_SEC_C] = 1;
        bytes[SEC_FEATURE_SUPPORT] = 1 << 4; // trim
        bytes[CACHE_SIZE..CACHE_SIZE + 4].copy_from_slice(&(cache_bytes / 128).to_le_bytes());
        bytes[CONTEXT_CAPABILITIES] = CONTEXTS as u8;
        bytes[S_CMD_SET] = 1;
        bytes
    }
}
