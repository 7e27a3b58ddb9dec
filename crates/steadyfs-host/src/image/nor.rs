//! NOR in a file, which contains the bytes of the chip.

use super::Refusal;
use super::content::Content;
use steadyfs::media::nor::NorFlash;
use steadyfs::media::{BlockIndex, Failure};
use steadyfs_sim::{Counters, Metered, NorTiming};

/// A NOR chip whose content is a file.
#[derive(Debug)]
pub(super) struct NorImage {
    content: Content,
    block_bytes: u32,
    block_count: u32,
    timing: NorTiming,
    counters: Counters,
    refusal: Option<Refusal>,
}

impl NorImage {
    pub fn new(content: Content, block_bytes: u32, block_count: u32, timing: NorTiming) -> Self {
        Self {
            content,
            block_bytes,
            block_count,
            timing,
            counters: Counters::default(),
            refusal: None,
        }
    }

    pub fn set_timing(&mut self, timing: NorTiming) {
        self.timing = timing;
    }

    pub fn content(&self) -> &Content {
        &self.content
    }

    pub fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_ref()
    }

    fn demand_range(&self, address: u32, bytes: usize) -> Result<(), Refusal> {
        let count = u64::from(self.block_bytes) * u64::from(self.block_count);
        let end = u64::from(address) + bytes as u64;
        if end <= count {
            Ok(())
        } else {
            Err(Refusal::OutOfRange { what: "byte", index: end - 1, count })
        }
    }

    fn read_bytes(&mut self, address: u32, data: &mut [u8]) -> Result<(), Refusal> {
        self.demand_range(address, data.len())?;
        self.counters.reads += 1;
        self.counters.bytes_read += data.len() as u64;
        self.counters.time_ns += self.timing.read_ns(data.len());
        self.content.read(address.into(), data)
    }

    fn program_bytes(&mut self, address: u32, data: &[u8]) -> Result<(), Refusal> {
        self.content.demand_writable()?;
        self.demand_range(address, data.len())?;
        self.demand_clears(address, data)?;
        self.count_commands(address, data.len() as u32);
        self.content.write(address.into(), data)
    }

    /// Refuses a program that would set a bit. Only an erase sets bits.
    fn demand_clears(&mut self, address: u32, data: &[u8]) -> Result<(), Refusal> {
        let mut held = vec![0; data.len()];
        self.content.read(address.into(), &mut held)?;
        match held.iter().zip(data).position(|(&old, &new)| new & !old != 0) {
            None => Ok(()),
            Some(at) => Err(Refusal::SetsBit {
                address: u64::from(address) + at as u64,
                old: held[at],
                new: data[at],
            }),
        }
    }

    /// Counts a program: one command for each program page that it touches.
    fn count_commands(&mut self, mut address: u32, bytes: u32) {
        self.counters.bytes_programmed += u64::from(bytes);
        let page = self.timing.program_page_bytes;
        let mut left = bytes;
        while left > 0 {
            let part = left.min(page - address % page);
            self.counters.programs += 1;
            self.counters.time_ns += self.timing.command_ns(part as usize);
            address = address.wrapping_add(part);
            left -= part;
        }
    }

    fn erase_block(&mut self, block: BlockIndex) -> Result<(), Refusal> {
        self.content.demand_writable()?;
        if block >= self.block_count {
            return Err(Refusal::OutOfRange {
                what: "block",
                index: block.into(),
                count: self.block_count.into(),
            });
        }
        self.counters.erases += 1;
        self.counters.time_ns += self.timing.erase_ns();
        self.content.write(
            u64::from(block) * u64::from(self.block_bytes),
            &vec![0xFF; self.block_bytes as usize],
        )
    }

    /// Does one operation. If the operation is refused, stores the reason.
    fn act(
        &mut self,
        operation: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Failure> {
        operation(self).map_err(|refusal| {
            let failure = refusal.failure();
            self.refusal = Some(refusal);
            failure
        })
    }
}

impl NorFlash for NorImage {
    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn block_count(&self) -> u32 {
        self.block_count
    }

    fn times_ns(&self, bytes: u32) -> (u64, u64, u64) {
        let bytes = bytes as usize;
        (self.timing.read_ns(bytes), self.timing.program_ns(bytes), self.timing.erase_ns())
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        self.act(|chip| chip.read_bytes(address, data))
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        self.act(|chip| chip.program_bytes(address, data))
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.act(|chip| chip.erase_block(block))
    }
}

impl Metered for NorImage {
    fn counters(&self) -> Counters {
        self.counters
    }
}
