//! The floor for a run: the same writes, in the same order, through a log whose map is free.
//!
//! A unit of the floor is one write, in whole pages of the chip; where writes are smaller than a page it is a page, which
//! the floor programs for each of them, because durable data cannot wait for more. Writes of more than a quarter of a block
//! are taken apart into pages. A ring of files is to the floor a ring of units: at its end it begins again. All blocks of
//! the chip hold data.

use crate::floor::{FloorConfig, FloorError, floor};
use std::ops::Range;
use steadyfs::media::{Geometry, Timing};

/// The writes of a run, as units of the floor.
pub struct Comparison {
    config: FloorConfig,
    unit_bytes: u64,
    /// Units of a measured write.
    units_per_write: u64,
    writes: Vec<u32>,
    warm_up: usize,
}

impl Comparison {
    /// For writes of `write_bytes` among `used_bytes`.
    ///
    /// A chip that has too little room for these units, because writes that are no whole pages are rounded up or because of
    /// what blocks cannot hold, is given fewer of them: that makes the floor faster, not slower.
    pub fn new(geometry: &Geometry, timing: &Timing, write_bytes: u64, used_bytes: u64) -> Comparison {
        let page_bytes = u64::from(geometry.page_bytes);
        let quarter_bytes = page_bytes * u64::from(geometry.pages_per_block / 4);
        let unit_bytes = if write_bytes > quarter_bytes { page_bytes } else { write_bytes.max(page_bytes) };
        let unit_pages = unit_bytes.div_ceil(page_bytes);
        let mut config = FloorConfig {
            block_count: geometry.block_count,
            units_per_block: (u64::from(geometry.pages_per_block) / unit_pages) as u32,
            logical_units: 0,
            program_ns: unit_pages * timing.program_ns,
            copy_ns: unit_pages * timing.copy_ns,
            erase_ns: timing.erase_ns,
        };
        let units = used_bytes.div_ceil(unit_bytes).max(1);
        config.logical_units = units.min(u64::from(config.most_logical_units())) as u32;
        let units_per_write = write_bytes.div_ceil(unit_bytes);
        Comparison { config, unit_bytes, units_per_write, writes: Vec::new(), warm_up: 0 }
    }

    /// Notes bytes written before the measurement: all units that they touch.
    pub fn warm_up(&mut self, bytes: Range<u64>) {
        let units = bytes.start / self.unit_bytes..bytes.end.div_ceil(self.unit_bytes);
        let count = u64::from(self.config.logical_units).max(1);
        self.writes.extend(units.map(|unit| (unit % count) as u32));
        self.warm_up = self.writes.len();
    }

    /// Notes a measured write.
    pub fn measure(&mut self, offset: u64) {
        let first = offset / self.unit_bytes;
        let count = u64::from(self.config.logical_units).max(1);
        self.writes.extend((first..first + self.units_per_write).map(|unit| (unit % count) as u32));
    }

    /// Access times of the floor, in nanoseconds.
    pub fn access_ns(self) -> Result<Vec<u64>, FloorError> {
        if self.config.logical_units == 0 {
            return Err(FloorError::TooFull { logical_units: 1, most: 0 });
        }
        let unit_ns = floor(&self.config, self.warm_up, self.writes.into_iter())?;
        Ok(unit_ns.chunks(self.units_per_write as usize).map(|units| units.iter().sum()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEOMETRY: Geometry = Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 32, programs_bytes: false };
    const TIMING: Timing = Timing { read_ns: 1, read_tag_ns: 1, program_ns: 100, copy_ns: 110, erase_ns: 1_000 };

    #[test]
    fn unit_is_a_write_and_at_least_a_page() {
        let mut writes = Comparison::new(&GEOMETRY, &TIMING, 4096, 1 << 20);
        writes.warm_up(0..8192);
        writes.measure(4096);
        assert_eq!((&writes.writes[..], writes.warm_up), (&[0, 1, 1][..], 2));
        assert_eq!(writes.access_ns().unwrap(), [200]);
        let mut records = Comparison::new(&GEOMETRY, &TIMING, 64, 1 << 20);
        records.warm_up(0..4096);
        records.measure(4096);
        records.measure(4160);
        assert_eq!(records.writes, [0, 1, 2, 2]);
        assert_eq!(records.access_ns().unwrap(), [100; 2]);
    }

    #[test]
    fn large_writes_are_taken_apart_and_summed() {
        let mut writes = Comparison::new(&GEOMETRY, &TIMING, 100 << 10, 1 << 20);
        writes.measure(100 << 10);
        assert_eq!(writes.writes, (50..100).collect::<Vec<_>>());
        assert_eq!(writes.access_ns().unwrap(), [50 * 100]);
    }

    #[test]
    fn ring_begins_again_and_too_many_units_are_cut() {
        let mut writes = Comparison::new(&GEOMETRY, &TIMING, 4096, 64 << 20);
        assert_eq!(writes.config.logical_units, 27 * 30);
        writes.measure(27 * 30 * 4096 + 4096);
        assert_eq!(writes.writes, [1]);
    }
}
