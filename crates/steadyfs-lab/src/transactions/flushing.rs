//! A device with a write cache: each commit waits until it is empty.

use steadyfs::media::{BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs_sim::{Counters, Metered};

/// A chip behind a cache that takes a fixed time to be emptied.
pub struct Flushing<C> {
    chip: C,
    flush_ns: u64,
    flushes: u64,
}

impl<C: Flash + Metered> Flushing<C> {
    /// Wraps a chip.
    pub fn new(chip: C, flush_ns: u64) -> Flushing<C> {
        Flushing { chip, flush_ns, flushes: 0 }
    }
}

impl<C: Flash + Metered> Metered for Flushing<C> {
    fn counters(&self) -> Counters {
        let mut counters = self.chip.counters();
        counters.time_ns += self.flushes * self.flush_ns;
        counters
    }
}

impl<C: Flash + Metered> Flash for Flushing<C> {
    fn geometry(&self) -> Geometry {
        self.chip.geometry()
    }

    fn timing(&self) -> Timing {
        self.chip.timing()
    }

    fn read(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.chip.read(page, data, tag)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.chip.read_tag(page, tag)
    }

    fn corrected(&mut self) -> Corrected {
        self.chip.corrected()
    }

    fn program(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        self.chip.program(page, data, tag)
    }

    fn program_many(&mut self, first: PageIndex, data: &[u8], tags: &[[u8; TAG_BYTES]]) -> Result<(), Failure> {
        self.chip.program_many(first, data, tags)
    }

    fn can_copy(&self) -> bool {
        self.chip.can_copy()
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        self.chip.program_loaded(page, tag)
    }

    fn read_bytes(&mut self, block: BlockIndex, offset: u32, data: &mut [u8]) -> Result<(), Failure> {
        self.chip.read_bytes(block, offset, data)
    }

    fn program_bytes(&mut self, block: BlockIndex, offset: u32, data: &[u8]) -> Result<(), Failure> {
        self.chip.program_bytes(block, offset, data)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.erase(block)
    }

    fn sync(&mut self) -> Result<(), Failure> {
        self.flushes += 1;
        self.chip.sync()
    }

    fn reorders(&self) -> bool {
        self.chip.reorders()
    }

    fn hides_damage(&self) -> bool {
        self.chip.hides_damage()
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.chip.is_bad(block)
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.mark_bad(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadyfs_sim::{Nand, NandTiming, Trace};

    #[test]
    fn each_sync_takes_the_time_of_a_flush_also_through_a_trace() {
        let geometry = Geometry { page_bytes: 512, pages_per_block: 8, block_count: 4, programs_bytes: false };
        let chip = Flushing::new(Nand::with_geometry(geometry, NandTiming::ROUND, 1), 5_000);
        let mut trace = Trace::new(chip);
        trace.erase(0).unwrap();
        trace.sync().unwrap();
        trace.sync().unwrap();
        assert_eq!((trace.time_ns(), trace.counts().time_ns), (2_010_000, 2_010_000));
    }
}
