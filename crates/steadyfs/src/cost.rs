//! Costs, bounds and envelopes: limits of calls, in numbers of operations and as time.

use crate::media::{Flash, Timing};
use crate::processor;

/// Numbers of operations on the medium, and of instructions of the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Number of reads of whole pages.
    pub reads: u32,
    /// Number of reads of tags alone, including the tag reads before copies on the chip.
    pub tag_reads: u32,
    /// Number of page programs.
    pub programs: u32,
    /// Number of programs of a page that the chip's buffer already holds
    /// ([`Flash::program_loaded`](crate::media::Flash::program_loaded)).
    pub copies: u32,
    /// Number of block erases.
    pub erases: u32,
    /// Largest number of instructions of the processor, beside the instructions of each operation
    /// ([`Processor`](crate::Processor)). Observed costs leave it at 0.
    pub instructions: u32,
}

impl Cost {
    /// Returns the larger number for each kind of operation.
    #[must_use]
    pub fn most(&self, other: &Cost) -> Cost {
        Cost {
            reads: self.reads.max(other.reads),
            tag_reads: self.tag_reads.max(other.tag_reads),
            programs: self.programs.max(other.programs),
            copies: self.copies.max(other.copies),
            erases: self.erases.max(other.erases),
            instructions: self.instructions.max(other.instructions),
        }
    }

    /// Returns the time of these operations, in nanoseconds.
    pub const fn time_ns(&self, timing: &Timing) -> u64 {
        let copy_ns = timing.copy_ns.saturating_sub(timing.read_tag_ns);
        self.reads as u64 * timing.read_ns
            + self.tag_reads as u64 * timing.read_tag_ns
            + self.programs as u64 * timing.program_ns
            + self.copies as u64 * copy_ns
            + self.erases as u64 * timing.erase_ns
            + processor::time_ns(self.instructions, timing.instruction_ps)
    }

    /// Returns the sum of both costs.
    #[must_use]
    pub const fn plus(&self, other: &Cost) -> Cost {
        Cost {
            reads: self.reads.saturating_add(other.reads),
            tag_reads: self.tag_reads.saturating_add(other.tag_reads),
            programs: self.programs.saturating_add(other.programs),
            copies: self.copies.saturating_add(other.copies),
            erases: self.erases.saturating_add(other.erases),
            instructions: self.instructions.saturating_add(other.instructions),
        }
    }

    /// Returns this cost multiplied by `count`.
    #[must_use]
    pub const fn times(&self, count: u32) -> Cost {
        Cost {
            reads: self.reads.saturating_mul(count),
            tag_reads: self.tag_reads.saturating_mul(count),
            programs: self.programs.saturating_mul(count),
            copies: self.copies.saturating_mul(count),
            erases: self.erases.saturating_mul(count),
            instructions: self.instructions.saturating_mul(count),
        }
    }

    /// Returns the part of this cost that exceeds another cost, for each kind of operation.
    fn beyond(&self, other: &Cost) -> Cost {
        Cost {
            reads: self.reads.saturating_sub(other.reads),
            tag_reads: self.tag_reads.saturating_sub(other.tag_reads),
            programs: self.programs.saturating_sub(other.programs),
            copies: self.copies.saturating_sub(other.copies),
            erases: self.erases.saturating_sub(other.erases),
            instructions: self.instructions.saturating_sub(other.instructions),
        }
    }

    /// Returns true if `self` does not exceed `limit` in any kind of operation.
    pub const fn is_within(&self, limit: &Cost) -> bool {
        self.reads <= limit.reads
            && self.tag_reads <= limit.tag_reads
            && self.programs <= limit.programs
            && self.copies <= limit.copies
            && self.erases <= limit.erases
            && self.instructions <= limit.instructions
    }
}

/// The worst case of a call, as three alternatives. The call costs at most *one* of them.
///
/// A call that erases moves fewer frames in return, and so does a call that writes leaves of the
/// map or a root. So no call reaches more than one of the three alternatives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// The worst case of a call that only moves frames.
    pub moving: Cost,
    /// The worst case of a call that writes leaves of the map or a root.
    pub folding: Cost,
    /// The worst case of a call with an erase.
    pub erasing: Cost,
}

impl Bound {
    /// Returns the three alternatives.
    const fn all(&self) -> [&Cost; 3] {
        [&self.moving, &self.folding, &self.erasing]
    }

    /// Returns the maximum of each kind of operation over the three alternatives.
    pub fn most(&self) -> Cost {
        self.moving.most(&self.folding).most(&self.erasing)
    }

    /// Returns the time of the longest alternative, in nanoseconds.
    pub fn time_ns(&self, timing: &Timing) -> u64 {
        self.all().map(|cost| cost.time_ns(timing)).into_iter().max().unwrap_or(0)
    }

    /// Returns the longest alternative, and its index among the three.
    pub(crate) fn longest(&self, timing: &Timing) -> (usize, &Cost) {
        let cases = self.all().into_iter().enumerate();
        cases.max_by_key(|(_, cost)| cost.time_ns(timing)).unwrap_or((0, &self.moving))
    }

    /// Returns true if an observed cost is within the bound.
    pub fn holds(&self, observed: &Cost) -> bool {
        self.all().iter().any(|cost| observed.is_within(cost))
    }

    /// Returns the bound of a call that is either of two calls.
    pub(crate) fn or(&self, other: &Bound) -> Bound {
        Bound {
            moving: self.moving.most(&other.moving),
            folding: self.folding.most(&other.folding),
            erasing: self.erasing.most(&other.erasing),
        }
    }

    /// Returns a bound with a single alternative.
    pub(crate) const fn single(cost: Cost) -> Self {
        Self { moving: cost, folding: cost, erasing: cost }
    }

    /// Returns the bound of this call with another cost added to it.
    #[must_use]
    pub const fn plus(&self, cost: &Cost) -> Bound {
        Bound {
            moving: self.moving.plus(cost),
            folding: self.folding.plus(cost),
            erasing: self.erasing.plus(cost),
        }
    }
}

/// The parts of a bound. Their sum is the longest of the three alternatives of the [`Bound`].
/// Operations that belong to no other part count as part of the call. In a write of several logical
/// pages, these are all operations of the further pages, with their erases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BoundBreakdown {
    /// The look-ups of the call, its pages, and the commit.
    pub call: Cost,
    /// Work for small changes of earlier calls: pages that the journal buffer or the cache writes
    /// to make room, and steps that free the pages of removed files.
    pub earlier: Cost,
    /// Moves of frames and leaf write-backs, which make a block empty in time.
    pub reclamation: Cost,
    /// Programs of roots, including the root that the first change after a mount writes.
    pub root: Cost,
    /// Erases.
    pub erase: Cost,
    /// Failed programs, their repetition in other blocks, and the mark of a bad block.
    pub failures: Cost,
}

impl BoundBreakdown {
    /// Returns the parts, each with a name.
    pub const fn each(&self) -> [(&'static str, Cost); 6] {
        [
            ("call", self.call),
            ("earlier changes", self.earlier),
            ("reclamation", self.reclamation),
            ("root", self.root),
            ("erase", self.erase),
            ("failures", self.failures),
        ]
    }

    /// Returns the sum of all parts.
    pub fn total(&self) -> Cost {
        let each =
            [&self.call, &self.earlier, &self.reclamation, &self.root, &self.erase, &self.failures];
        each.into_iter().fold(Cost::default(), |sum, cost| sum.plus(cost))
    }

    /// Adds operations to the part `call`, until the sum of all parts is `whole`.
    #[must_use]
    pub(crate) fn filled(self, whole: &Cost) -> Self {
        Self { call: self.call.plus(&whole.beyond(&self.total())), ..self }
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

impl Envelope {
    /// Returns the envelope of calls that are each of one of two kinds.
    pub(crate) fn or(&self, other: &Envelope) -> Envelope {
        Envelope {
            burst_ns: self.burst_ns.max(other.burst_ns),
            rate_ns: self.rate_ns.max(other.rate_ns),
        }
    }
}

/// The limit for idle work: [`FileSystem::maintain`](crate::FileSystem::maintain) and
/// [`FileSystem::scrub`](crate::FileSystem::scrub).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// Time of the medium in nanoseconds, according to its [`Timing`](crate::media::Timing).
    TimeNs(u64),
    /// Number of operations of any kind.
    Operations(u32),
}

impl Budget {
    /// Returns the budget that is left after a cost, or `None` if the budget is too small.
    pub(crate) fn after(self, cost: &Cost, flash: &impl Flash) -> Option<Self> {
        match self {
            Self::TimeNs(left) => left.checked_sub(cost.time_ns(&flash.timing())).map(Self::TimeNs),
            Self::Operations(left) => {
                let count = cost.reads + cost.tag_reads + cost.programs + cost.copies + cost.erases;
                left.checked_sub(count).map(Self::Operations)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_holds_for_each_alternative_and_no_mixture() {
        let bound = Bound {
            moving: Cost { programs: 5, ..Cost::default() },
            folding: Cost { programs: 4, reads: 2, ..Cost::default() },
            erasing: Cost { programs: 2, erases: 1, ..Cost::default() },
        };
        assert!(bound.holds(&Cost { programs: 5, ..Cost::default() }));
        assert!(bound.holds(&Cost { programs: 2, erases: 1, ..Cost::default() }));
        assert!(bound.holds(&Cost { programs: 4, reads: 2, ..Cost::default() }));
        assert!(!bound.holds(&Cost { programs: 3, erases: 1, ..Cost::default() }));
        assert!(!bound.holds(&Cost { programs: 5, reads: 1, ..Cost::default() }));
        assert_eq!(bound.most(), Cost { programs: 5, reads: 2, erases: 1, ..Cost::default() });
    }
}
