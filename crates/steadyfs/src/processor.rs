//! The work of the processor: a limit for the instructions of each call.
//!
//! Each operation of the medium limits the instructions around it, and each kind of call has a
//! base:
//!
//! ```text
//! base of the call
//!   + reads     · (12,000 + 4.4 · page)     page: bytes of a program page, for the checksum
//!   + tag reads ·   1,000
//!   + programs  · ( 4,000 + 4.4 · page)
//!   + copies    ·   4,000
//!   + erases    · (50,000 + 20 · blocks)
//! ```
//!
//! The numbers of operations are proved. These numbers of instructions are measured:
//! `tools/footprint.sh` counts each of some 50,000 random calls in an emulated Cortex-M3, and fails
//! if a call exceeds the sum of its own operations. The longest calls leave a tenth of the sum. A
//! program of a few bytes counts as a program of a page.

use crate::config::Layout;
use crate::media::{Geometry, Timing};

/// A processor, for bounds that contain its time: [`Timing::with_processor`].
///
/// The instructions are those of a Cortex-M3 (Thumb-2) with `opt-level = "z"` and the table for
/// checksums (feature `fast-checksum`). Other settings and processors take more or fewer of them:
/// see [`measured`](Self::measured).
///
/// ```
/// # use steadyfs::{Call, FileSystem, Processor, media::Flash};
/// # fn longest(fs: &FileSystem<'_, impl Flash>) -> (u64, u64) {
/// let timing = fs.flash().timing();
/// let with_processor = timing.with_processor(Processor::cortex_m3(72_000_000), &fs.flash().geometry());
/// let bound = fs.bounds().of(Call::Write(64));
/// // The first is flash time alone. The second also contains the time of the processor.
/// (bound.time_ns(&timing), bound.time_ns(&with_processor))
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor {
    instruction_ps: u32,
}

impl Processor {
    /// The processor of bounds without processor time.
    pub const NONE: Self = Self::of_instruction_ps(0);

    /// Returns a processor on which an instruction takes this number of picoseconds on average.
    pub const fn of_instruction_ps(instruction_ps: u32) -> Self {
        Self { instruction_ps }
    }

    /// Returns a processor of `hz` Hz that takes `cycles` cycles for 100 instructions.
    pub const fn new(hz: u32, cycles: u32) -> Self {
        Self::of_ps(10_000_000_000_u64.saturating_mul(cycles as u64), hz as u64)
    }

    /// Returns a Cortex-M3 or Cortex-M4 that takes 1.3 cycles for an instruction. Wait states of
    /// the memory that holds the code are not included.
    pub const fn cortex_m3(hz: u32) -> Self {
        Self::new(hz, 130)
    }

    /// Returns a processor on which calls of `instructions` instructions took `ns` nanoseconds,
    /// without the time of the flash. `docs/results/footprint.md` has the mean numbers of
    /// instructions of usual calls.
    pub const fn measured(instructions: u32, ns: u64) -> Self {
        Self::of_ps(ns.saturating_mul(1000), instructions as u64)
    }

    /// Divides, and rounds up. A divisor of 0 counts as 1.
    const fn of_ps(ps: u64, divisor: u64) -> Self {
        let ps = ps.div_ceil(if divisor == 0 { 1 } else { divisor });
        Self { instruction_ps: if ps > u32::MAX as u64 { u32::MAX } else { ps as u32 } }
    }

    /// Returns the time of `instructions` instructions, in nanoseconds.
    pub const fn time_ns(self, instructions: u32) -> u64 {
        time_ns(instructions, self.instruction_ps)
    }
}

/// Returns the time of `instructions` instructions of `instruction_ps` picoseconds, in nanoseconds.
pub(crate) const fn time_ns(instructions: u32, instruction_ps: u32) -> u64 {
    (instructions as u64 * instruction_ps as u64).div_ceil(1000)
}

impl Timing {
    /// Returns these times with the time of a processor. Bounds then contain flash, driver and
    /// processor.
    ///
    /// A driver may return the result from [`Flash::timing`](crate::media::Flash::timing). Then the
    /// budgets of [`maintain`](crate::FileSystem::maintain) contain the processor, too.
    #[must_use]
    pub const fn with_processor(self, processor: Processor, geometry: &Geometry) -> Self {
        let checksum = geometry.page_bytes / 5 * 22;
        let tag = processor.time_ns(TAG_READ);
        Self {
            read_ns: self.read_ns + processor.time_ns(READ + checksum),
            read_tag_ns: self.read_tag_ns + tag,
            program_ns: self.program_ns + processor.time_ns(PROGRAM + checksum),
            copy_ns: self.copy_ns + tag + processor.time_ns(COPY),
            erase_ns: self.erase_ns + processor.time_ns(ERASE + 20 * geometry.block_count),
            instruction_ps: processor.instruction_ps,
        }
    }
}

const READ: u32 = 12_000;
const TAG_READ: u32 = 1_000;
const PROGRAM: u32 = 4_000;
const COPY: u32 = 4_000;
const ERASE: u32 = 50_000;

/// Bytes of a journal buffer up to which the bases hold. A longer buffer takes longer walks.
const BUFFER_BYTES: u32 = 2048;

/// Returns the base of a call on a volume, from the base of a call with a usual buffer.
pub(crate) const fn base(layout: &Layout, instructions: u32) -> u32 {
    instructions * layout.journal_bytes.div_ceil(BUFFER_BYTES)
}

/// Returns the base of a mount: the map of each frame, and the records of a chain.
pub(crate) const fn base_of_mount(layout: &Layout) -> u32 {
    let frames = layout.geometry.block_count * layout.frames_per_block;
    base(layout, 150_000)
        .saturating_add(frames.saturating_mul(30))
        .saturating_add(base_of_chain(layout))
}

/// Returns the base of a rollback: the records of a chain.
pub(crate) const fn base_of_rollback(layout: &Layout) -> u32 {
    base(layout, 50_000).saturating_add(base_of_chain(layout))
}

/// Returns the instructions that apply the records of the longest chain.
const fn base_of_chain(layout: &Layout) -> u32 {
    let Geometry { page_bytes, pages_per_block, .. } = layout.geometry;
    if layout.programs_bytes() { (page_bytes * pages_per_block).saturating_mul(110) } else { 0 }
}

/// Base of an unmount, and of a step of idle work.
pub(crate) const UNMOUNT: u32 = 150_000;
pub(crate) const IDLE_STEP: u32 = 300_000;

#[cfg(test)]
mod tests {
    use super::*;

    const GEOMETRY: Geometry = Geometry {
        page_bytes: 2048,
        pages_per_block: 64,
        block_count: 1024,
        programs_bytes: false,
    };
    const FLASH: Timing = Timing {
        read_ns: 100,
        read_tag_ns: 10,
        program_ns: 200,
        copy_ns: 210,
        erase_ns: 1000,
        instruction_ps: 0,
    };

    #[test]
    fn cycles_and_a_measured_call_give_the_time_of_an_instruction() {
        // 1.3 cycles of 13.9 ns.
        assert_eq!(Processor::cortex_m3(72_000_000), Processor::of_instruction_ps(18_056));
        assert_eq!(Processor::new(100_000_000, 100), Processor::of_instruction_ps(10_000));
        assert_eq!(Processor::measured(70_000, 1_400_000), Processor::of_instruction_ps(20_000));
        assert_eq!(Processor::of_instruction_ps(20_000).time_ns(70_000), 1_400_000);
    }

    #[test]
    fn numbers_that_fit_nowhere_give_the_slowest_processor() {
        let slowest = Processor::of_instruction_ps(u32::MAX);
        assert_eq!([Processor::new(1, u32::MAX), Processor::measured(0, u64::MAX)], [slowest; 2]);
    }

    #[test]
    fn each_operation_takes_the_time_of_its_instructions() {
        assert_eq!(FLASH.with_processor(Processor::NONE, &GEOMETRY), FLASH);
        // One nanosecond for an instruction.
        let processor = Processor::of_instruction_ps(1000);
        let timing = FLASH.with_processor(processor, &GEOMETRY);
        let checksum = 2048 / 5 * 22;
        assert_eq!(timing.read_ns, 100 + 12_000 + checksum);
        assert_eq!(timing.program_ns, 200 + 4_000 + checksum);
        assert_eq!(timing.erase_ns, 1000 + 50_000 + 20 * 1024);
        let copies = crate::Cost { tag_reads: 2, copies: 2, ..crate::Cost::default() };
        assert_eq!(copies.time_ns(&timing), copies.time_ns(&FLASH) + 2 * (1_000 + 4_000));
        let call = crate::Cost { instructions: 70_000, ..crate::Cost::default() };
        assert_eq!((call.time_ns(&timing), call.time_ns(&FLASH)), (70_000, 0));
    }
}
