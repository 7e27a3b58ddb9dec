//! NOR behind MTD.

use super::nand::trouble;
use super::{MtdError, abi};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Instant;
use steadyfs::media::nor::NorFlash;
use steadyfs::media::{BlockIndex, Failure};
use steadyfs_sim::{Counters, Metered};

// Durations of typical serial NOR: a bus of 10 MB/s, program pages of 256 bytes, blocks of 64 KiB.
const READ_NS_PER_BYTE: u64 = 100;
const PROGRAM_PAGE_BYTES: u32 = 256;
const PROGRAM_PAGE_NS: u64 = 700_000;
const ERASE_NS: u64 = 150_000_000;

/// A NOR device.
#[derive(Debug)]
pub(super) struct NorDevice {
    file: File,
    block_bytes: u32,
    block_count: u32,
    counters: Counters,
    error: Option<MtdError>,
}

impl NorDevice {
    /// # Errors
    /// [`MtdError::Sizes`].
    pub fn new(file: File, info: &abi::Info, size: u64) -> Result<Self, MtdError> {
        let (erase_bytes, write_bytes) = (info.erase_bytes, info.write_bytes);
        let refuse = |expected| Err(MtdError::Sizes { size, erase_bytes, write_bytes, expected });
        if erase_bytes == 0 || !size.is_multiple_of(erase_bytes.into()) || size > 1 << 32 {
            return refuse("whole blocks, and at most 4 GiB");
        }
        // Tags are programmed one by one, so the device must program single bytes.
        if write_bytes != 1 {
            return refuse("write units of one byte");
        }
        let block_count = (size / u64::from(erase_bytes)) as u32;
        Ok(Self {
            file,
            block_bytes: erase_bytes,
            block_count,
            counters: Counters::default(),
            error: None,
        })
    }

    pub fn error(&self) -> Option<&MtdError> {
        self.error.as_ref()
    }

    /// Does one operation and measures its time. If the operation fails, stores the error.
    fn act(
        &mut self,
        verb: &'static str,
        offset: u64,
        operation: impl FnOnce(&File) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let result = operation(&self.file);
        self.counters.time_ns += start.elapsed().as_nanos() as u64;
        result.map_err(|source| {
            let (failure, error) = trouble(verb, offset, source);
            self.error = Some(error);
            failure
        })
    }
}

impl NorFlash for NorDevice {
    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn block_count(&self) -> u32 {
        self.block_count
    }

    fn times_ns(&self, bytes: u32) -> (u64, u64, u64) {
        let commands = u64::from(bytes.div_ceil(PROGRAM_PAGE_BYTES));
        (u64::from(bytes) * READ_NS_PER_BYTE, commands * PROGRAM_PAGE_NS, ERASE_NS)
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        self.counters.reads += 1;
        self.counters.bytes_read += data.len() as u64;
        self.act("read", address.into(), |file| file.read_exact_at(data, address.into()))
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        self.counters.programs += 1;
        self.counters.bytes_programmed += data.len() as u64;
        self.act("program", address.into(), |file| file.write_all_at(data, address.into()))
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.counters.erases += 1;
        let bytes = u64::from(self.block_bytes);
        let offset = u64::from(block) * bytes;
        self.act("erase", offset, |file| abi::erase(file, offset, bytes))
    }
}

impl Metered for NorDevice {
    fn counters(&self) -> Counters {
        self.counters
    }
}
