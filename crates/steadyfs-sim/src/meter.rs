//! Counters of the operations of a chip, reachable through every wrapper.
//!
//! [`Metered::counters`] returns them. The difference of two counters is the cost of the calls
//! between them.

use steadyfs::media::groups::Groups;
use steadyfs::media::nor::{NorFlash, NorPages};
use steadyfs::media::sectors::{SectorDevice, SectorPages};

/// The operations of a chip since the chip was created.
///
/// Operations that failed, and operations torn by a power cut, are counted too, with their full
/// time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Number of reads of a page with its tag (NAND), or of read commands of any length (NOR,
    /// sectors).
    pub reads: u64,
    /// Number of reads of a tag without its page (NAND). On NOR, `reads` includes such reads.
    pub tag_reads: u64,
    /// Number of programs of a page (NAND), of program commands within one program page of 256
    /// bytes (NOR), or of write commands of any length (sectors).
    pub programs: u64,
    /// Number of on-chip copies, which are programs of the page register. `programs` does not
    /// include them.
    pub copies: u64,
    /// Number of erases of a block, or of discards (sectors).
    pub erases: u64,
    /// Number of flushes of a write cache (sectors).
    pub flushes: u64,
    /// Number of bytes that the chip sent over the bus. It includes tags.
    pub bytes_read: u64,
    /// Number of bytes that were sent to the chip to be programmed. It includes tags. An on-chip
    /// copy sends only its tag.
    pub bytes_programmed: u64,
    /// Virtual time in nanoseconds: the sum of the times of all operations.
    pub time_ns: u64,
}

impl Counters {
    /// Subtracts an earlier state of the same counters.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            reads: self.reads - earlier.reads,
            tag_reads: self.tag_reads - earlier.tag_reads,
            programs: self.programs - earlier.programs,
            copies: self.copies - earlier.copies,
            erases: self.erases - earlier.erases,
            flushes: self.flushes - earlier.flushes,
            bytes_read: self.bytes_read - earlier.bytes_read,
            bytes_programmed: self.bytes_programmed - earlier.bytes_programmed,
            time_ns: self.time_ns - earlier.time_ns,
        }
    }

    /// Adds the operations of another counter.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            reads: self.reads + other.reads,
            tag_reads: self.tag_reads + other.tag_reads,
            programs: self.programs + other.programs,
            copies: self.copies + other.copies,
            erases: self.erases + other.erases,
            flushes: self.flushes + other.flushes,
            bytes_read: self.bytes_read + other.bytes_read,
            bytes_programmed: self.bytes_programmed + other.bytes_programmed,
            time_ns: self.time_ns + other.time_ns,
        }
    }
}

/// A medium that has [`Counters`], or wraps such a medium.
pub trait Metered {
    /// Returns the operations of the chip since it was made.
    fn counters(&self) -> Counters;

    /// Returns the virtual time of the chip, in nanoseconds.
    fn time_ns(&self) -> u64 {
        self.counters().time_ns
    }
}

impl<M: Metered + ?Sized> Metered for &mut M {
    fn counters(&self) -> Counters {
        (**self).counters()
    }
}

impl<N: NorFlash + Metered> Metered for NorPages<N> {
    fn counters(&self) -> Counters {
        self.chip().counters()
    }
}

impl<N: NorFlash + Metered> Metered for Groups<N> {
    fn counters(&self) -> Counters {
        self.chip().counters()
    }
}

impl<D: SectorDevice + Metered> Metered for SectorPages<D> {
    fn counters(&self) -> Counters {
        self.device().counters()
    }
}

/// Returns the smallest, mean and largest erase count of some blocks. Returns zeros if there are no
/// blocks.
pub(crate) fn spread(counts: impl Iterator<Item = u32>) -> (u32, f64, u32) {
    let (mut min, mut sum, mut max, mut blocks) = (u32::MAX, 0u64, 0, 0u32);
    for count in counts {
        min = min.min(count);
        max = max.max(count);
        sum += u64::from(count);
        blocks += 1;
    }
    if blocks == 0 {
        return (0, 0.0, 0);
    }
    (min, sum as f64 / f64::from(blocks), max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FailOps, Nand, NandTiming, Nor, NorTiming, PowerCut, Trace};
    use steadyfs::media::{Flash, Geometry};

    #[test]
    fn since_takes_away_what_plus_adds() {
        let earlier = Counters { reads: 1, time_ns: 10, ..Counters::default() };
        let later = Counters { reads: 3, erases: 2, time_ns: 25, ..Counters::default() };
        let between = Counters { reads: 2, erases: 2, time_ns: 15, ..Counters::default() };
        assert_eq!(later.since(&earlier), between);
        assert_eq!(earlier.plus(&between), later);
    }

    #[test]
    fn counters_are_reachable_through_every_wrapper() {
        fn of<M: Metered>(metered: M) -> Counters {
            metered.counters()
        }
        let geometry =
            Geometry { page_bytes: 256, pages_per_block: 8, block_count: 4, programs_bytes: false };
        let nand = Nand::with_geometry(geometry, NandTiming::ROUND, 1);
        let mut nested = PowerCut::new(FailOps::new(Trace::new(nand), 1), 1);
        nested.erase(0).unwrap();
        assert_eq!(of(&mut nested).erases, 1);
        let mut nor = NorPages::new(Nor::with_geometry(4096, 4, NorTiming::ROUND, 1), 256);
        nor.erase(0).unwrap();
        assert_eq!((of(&mut nor).erases, nor.time_ns()), (1, 100_000_000));
    }

    #[test]
    fn spread_of_nothing_is_zero() {
        assert_eq!(spread([].into_iter()), (0, 0.0, 0));
        assert_eq!(spread([1, 2, 6].into_iter()), (1, 3.0, 6));
    }
}
