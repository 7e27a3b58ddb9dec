//! The floor for a run: the same writes, in the same order, through a log whose map is free.
//!
//! A unit of the floor is one write, in whole pages of the chip. Other cases:
//! - If writes are smaller than a page, a unit is a page. The floor programs it for each write,
//!   because durable data cannot wait for more.
//! - On chips that program bytes, a unit is the bytes of the write.
//! - Writes of more than a quarter of a block are split into pages.
//!
//! The floor treats a ring of files as a ring of units: at its end it begins again. All blocks
//! of the chip hold data.
//!
//! The floor moves and erases at most as much as the run did. A short run may need fewer erases
//! than average. Work that the run did not need is not part of its limit.

use crate::floor::{FloorConfig, FloorError, Reclaim, reclaims};
use std::ops::Range;
use steadyfs::media::{Geometry, Timing};

/// Minimum bytes of a unit: a record of one byte has a tag beside it.
const LEAST_UNIT_BYTES: u64 = 16;

/// The writes of a run, as units of the floor.
pub struct Comparison {
    config: FloorConfig,
    unit_bytes: u64,
    /// Bytes of a block that a unit takes.
    taken_bytes: u64,
    page_bytes: u64,
    /// Number of units of a measured write.
    units_per_write: u64,
    writes: Vec<u32>,
    warm_up: usize,
}

impl Comparison {
    /// Makes a comparison for writes of `write_bytes` among `used_bytes`.
    ///
    /// A chip may have too little room for these units. One reason is that writes of partial
    /// pages are rounded up; another is that blocks cannot be filled completely. Then the floor
    /// has fewer units, which makes it faster, not slower.
    pub fn new(
        geometry: &Geometry,
        timing: &Timing,
        write_bytes: u64,
        used_bytes: u64,
    ) -> Comparison {
        let page_bytes = u64::from(geometry.page_bytes);
        let block_bytes = page_bytes * u64::from(geometry.pages_per_block);
        let is_large = write_bytes > page_bytes * u64::from(geometry.pages_per_block / 4);
        let unit_bytes = match geometry.programs_bytes {
            _ if is_large => page_bytes,
            true => write_bytes.max(LEAST_UNIT_BYTES),
            false => write_bytes.max(page_bytes),
        };
        let units_per_write = write_bytes.div_ceil(unit_bytes);
        // The bytes that a unit takes and programs are whole pages. On chips that program bytes,
        // they are the bytes of the write alone.
        let (taken_bytes, programmed_bytes) = match geometry.programs_bytes {
            true => (unit_bytes, write_bytes / units_per_write),
            false => {
                (unit_bytes.next_multiple_of(page_bytes), unit_bytes.next_multiple_of(page_bytes))
            }
        };
        let mut config = FloorConfig {
            block_count: geometry.block_count,
            units_per_block: (block_bytes / taken_bytes) as u32,
            logical_units: 0,
            program_ns: timing.program_ns * programmed_bytes / page_bytes,
            copy_ns: timing.copy_ns * programmed_bytes / page_bytes,
            erase_ns: timing.erase_ns,
        };
        let units = used_bytes.div_ceil(taken_bytes).max(1);
        config.logical_units = units.min(u64::from(config.most_logical_units())) as u32;
        Comparison {
            config,
            unit_bytes,
            taken_bytes,
            page_bytes,
            units_per_write,
            writes: Vec::new(),
            warm_up: 0,
        }
    }

    /// Records bytes that were written before the measurement: all units that they touch.
    pub fn warm_up(&mut self, bytes: Range<u64>) {
        let units = bytes.start / self.unit_bytes..bytes.end.div_ceil(self.unit_bytes);
        let count = u64::from(self.config.logical_units).max(1);
        self.writes.extend(units.map(|unit| (unit % count) as u32));
        self.warm_up = self.writes.len();
    }

    /// Records a measured write.
    pub fn measure(&mut self, offset: u64) {
        let first = offset / self.unit_bytes;
        let count = u64::from(self.config.logical_units).max(1);
        self.writes.extend((first..first + self.units_per_write).map(|unit| (unit % count) as u32));
    }

    /// Returns the access times of the floor, in nanoseconds, with at most the page moves and
    /// erases of `most`.
    pub fn access_ns(self, most: Reclaim) -> Result<Vec<u64>, FloorError> {
        if self.config.logical_units == 0 {
            return Err(FloorError::TooFull { logical_units: 1, most: 0 });
        }
        let moves = most.moves.saturating_mul(self.page_bytes) / self.taken_bytes;
        let mut left = Reclaim { moves, ..most };
        let mut access_ns = |reclaim: Reclaim| {
            let done = Reclaim {
                moves: reclaim.moves.min(left.moves),
                erases: reclaim.erases.min(left.erases),
            };
            left = Reclaim { moves: left.moves - done.moves, erases: left.erases - done.erases };
            self.config.access_ns(done)
        };
        let units = reclaims(&self.config, self.warm_up, self.writes.into_iter())?;
        let units_ns: Vec<u64> = units.into_iter().map(&mut access_ns).collect();
        Ok(units_ns.chunks(self.units_per_write as usize).map(|units| units.iter().sum()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEOMETRY: Geometry =
        Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 32, programs_bytes: false };
    const TIMING: Timing = Timing {
        read_ns: 1,
        read_tag_ns: 1,
        program_ns: 100,
        copy_ns: 110,
        erase_ns: 1_000,
        instruction_ps: 0,
    };

    const ANY: Reclaim = Reclaim { moves: u64::MAX, erases: u64::MAX };

    /// A run of 300 writes was reported as faster than the chip. The floor took room for whole
    /// pages of partial writes, and erased more than the run had to.
    #[test]
    fn floor_reclaims_no_more_than_the_run_and_parts_of_pages_take_no_room() {
        let run = |most| {
            let mut writes = Comparison::new(&GEOMETRY, &TIMING, 5000, 5_000 * 200);
            assert_eq!(writes.config.logical_units, (5_000 * 200_u32).div_ceil(3 * 2048));
            writes.warm_up(0..5_000 * 200);
            let mut state = 1_u64;
            for _ in 0..2_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                writes.measure(5_000 * ((state >> 33) % 200));
            }
            writes.access_ns(most).unwrap().iter().sum::<u64>()
        };
        let programs_ns = 2_000 * 300;
        assert_eq!(run(Reclaim::default()), programs_ns);
        assert_eq!(run(Reclaim { moves: 0, erases: 7 }), programs_ns + 7 * TIMING.erase_ns);
        assert!(run(ANY) > programs_ns + 50 * TIMING.erase_ns);
    }

    /// A log of 64 B on NOR was reported as three times as fast as the chip. The floor
    /// programmed a page for each record.
    #[test]
    fn chips_that_program_bytes_program_those_of_the_write() {
        let mut records =
            Comparison::new(&Geometry { programs_bytes: true, ..GEOMETRY }, &TIMING, 512, 1 << 20);
        assert_eq!(records.config.units_per_block, 256);
        records.measure(512);
        assert_eq!(records.access_ns(ANY).unwrap(), [25]);
    }

    #[test]
    fn unit_is_a_write_and_at_least_a_page() {
        let mut writes = Comparison::new(&GEOMETRY, &TIMING, 4096, 1 << 20);
        writes.warm_up(0..8192);
        writes.measure(4096);
        assert_eq!((&writes.writes[..], writes.warm_up), (&[0, 1, 1][..], 2));
        assert_eq!(writes.access_ns(ANY).unwrap(), [200]);
        let mut records = Comparison::new(&GEOMETRY, &TIMING, 64, 1 << 20);
        records.warm_up(0..4096);
        records.measure(4096);
        records.measure(4160);
        assert_eq!(records.writes, [0, 1, 2, 2]);
        assert_eq!(records.access_ns(ANY).unwrap(), [100; 2]);
    }

    #[test]
    fn large_writes_are_taken_apart_and_summed() {
        let mut writes = Comparison::new(&GEOMETRY, &TIMING, 100 << 10, 1 << 20);
        writes.measure(100 << 10);
        assert_eq!(writes.writes, (50..100).collect::<Vec<_>>());
        assert_eq!(writes.access_ns(ANY).unwrap(), [50 * 100]);
    }

    #[test]
    fn ring_begins_again_and_too_many_units_are_cut() {
        let mut writes = Comparison::new(&GEOMETRY, &TIMING, 4096, 64 << 20);
        assert_eq!(writes.config.logical_units, 27 * 30);
        writes.measure(27 * 30 * 4096 + 4096);
        assert_eq!(writes.writes, [1]);
    }
}
