//! Costs, bounds and envelopes: what a call may take, as numbers of operations and as time.

use crate::media::Timing;

/// Numbers of operations on the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Reads of whole pages.
    pub reads: u32,
    /// Reads of tags alone, those before a copy on the chip included.
    pub tag_reads: u32,
    /// Programs of pages.
    pub programs: u32,
    /// Programs of a page that the chip holds already ([`Flash::program_loaded`](crate::media::Flash::program_loaded)).
    pub copies: u32,
    /// Erases of blocks.
    pub erases: u32,
}

impl Cost {
    /// Time of these operations, in nanoseconds.
    pub const fn time_ns(&self, timing: &Timing) -> u64 {
        let copy_ns = timing.copy_ns.saturating_sub(timing.read_tag_ns);
        self.reads as u64 * timing.read_ns
            + self.tag_reads as u64 * timing.read_tag_ns
            + self.programs as u64 * timing.program_ns
            + self.copies as u64 * copy_ns
            + self.erases as u64 * timing.erase_ns
    }

    /// Both costs together.
    #[must_use]
    pub const fn plus(&self, other: &Cost) -> Cost {
        Cost {
            reads: self.reads + other.reads,
            tag_reads: self.tag_reads + other.tag_reads,
            programs: self.programs + other.programs,
            copies: self.copies + other.copies,
            erases: self.erases + other.erases,
        }
    }

    /// This cost `count` times.
    #[must_use]
    pub const fn times(&self, count: u32) -> Cost {
        Cost {
            reads: self.reads * count,
            tag_reads: self.tag_reads * count,
            programs: self.programs * count,
            copies: self.copies * count,
            erases: self.erases * count,
        }
    }

    /// Whether no kind of operation is more often in `self` than in `limit`.
    pub const fn is_within(&self, limit: &Cost) -> bool {
        self.reads <= limit.reads
            && self.tag_reads <= limit.tag_reads
            && self.programs <= limit.programs
            && self.copies <= limit.copies
            && self.erases <= limit.erases
    }
}

/// Worst case of a call: it costs at most one *or* the other.
///
/// A call that erases does not move pages where it can, so the two maxima never meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// Worst case of a call without an erase.
    pub moving: Cost,
    /// Worst case of a call with an erase.
    pub erasing: Cost,
}

impl Bound {
    /// Time of the worst case, in nanoseconds.
    pub const fn time_ns(&self, timing: &Timing) -> u64 {
        let (moving, erasing) = (self.moving.time_ns(timing), self.erasing.time_ns(timing));
        if moving > erasing { moving } else { erasing }
    }

    /// Whether an observed cost lies within the bound.
    pub const fn holds(&self, observed: &Cost) -> bool {
        observed.is_within(&self.moving) || observed.is_within(&self.erasing)
    }

    /// The bound of this call with something else before it.
    #[must_use]
    pub const fn plus(&self, cost: &Cost) -> Bound {
        Bound { moving: self.moving.plus(cost), erasing: self.erasing.plus(cost) }
    }
}

/// A service curve: any `n` consecutive writes take at most `burst_ns + n · rate_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Time that does not grow with the number of writes, in nanoseconds.
    pub burst_ns: u64,
    /// Time per write, in nanoseconds.
    pub rate_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_holds_for_either_alternative_and_no_mixture() {
        let bound = Bound {
            moving: Cost { programs: 5, ..Cost::default() },
            erasing: Cost { programs: 2, erases: 1, ..Cost::default() },
        };
        assert!(bound.holds(&Cost { programs: 5, ..Cost::default() }));
        assert!(bound.holds(&Cost { programs: 2, erases: 1, ..Cost::default() }));
        assert!(!bound.holds(&Cost { programs: 3, erases: 1, ..Cost::default() }));
    }
}
