//! Compares the instructions and the time of calls with their bounds.

use crate::counter::Counter;
use board::host::Output;
use board::meter::{Meter, Spent};
use board::timer::{instructions, now};
use core::fmt::Write;
use steadyfs::media::{Flash, Timing};
use steadyfs::{Bound, Call, Cost, Error, FileSystem, Processor};

pub type Volume<'m, C> = FileSystem<'m, &'m mut Counter<C>>;

/// The kinds of calls.
const NAMES: [&str; 24] = [
    "overwrite of a page",
    "write",
    "write, large file",
    "write, inline",
    "truncate",
    "read",
    "open, stat",
    "create",
    "symlink",
    "remove",
    "rename",
    "exchange",
    "set_attribute",
    "list",
    "commit, close",
    "mount",
    "rollback",
    "unmount",
    "disk: read",
    "disk: write",
    "disk: durable write",
    "disk: trim",
    "disk: flush",
    "maintain, 400 ms",
];
/// Index of the first kind that has no [`Call`].
pub const MOUNT: usize = 15;
pub const ROLLBACK: usize = 16;
pub const UNMOUNT: usize = 17;
/// Index of the first kind of calls of a disk.
pub const DISK: usize = 18;
const MAINTAIN: usize = 23;

/// The processor of the times.
pub const PROCESSOR: Processor = Processor::cortex_m3(72_000_000);
/// A processor that takes a microsecond for an instruction.
const SLOW: Processor = Processor::of_instruction_ps(1_000_000);
const NO_TIME: Timing = Timing {
    read_ns: 0,
    read_tag_ns: 0,
    program_ns: 0,
    copy_ns: 0,
    erase_ns: 0,
    instruction_ps: 0,
};

/// The counters before a call.
pub struct Start {
    operations: Cost,
    ticks: Spent,
    time: u32,
}

impl Start {
    #[inline(always)]
    pub fn of<C: Meter>(chip: &Counter<C>) -> Self {
        Self { operations: chip.operations(), ticks: chip.ticks(), time: now() }
    }

    /// Returns instructions and operations since the start.
    #[inline(always)]
    fn until<C: Meter>(self, chip: &Counter<C>) -> (u32, Cost) {
        let all = now().wrapping_sub(self.time);
        let ticks = all.wrapping_sub(chip.ticks().chip.wrapping_sub(self.ticks.chip));
        let (after, before) = (chip.operations(), self.operations);
        let operations = Cost {
            reads: after.reads - before.reads,
            tag_reads: after.tag_reads - before.tag_reads,
            programs: after.programs - before.programs,
            copies: after.copies - before.copies,
            erases: after.erases - before.erases,
            ..after
        };
        (instructions(ticks), operations)
    }
}

/// The calls of one kind.
#[derive(Clone, Copy, Default)]
struct Kind {
    calls: u32,
    instructions: u64,
    longest: u32,
    /// Largest share of the instructions that the operations of a call permit, in thousandths.
    share: u32,
    longest_ns: u64,
    bound_ns: u64,
    /// Calls with more operations or more instructions than their bound.
    above: u32,
}

impl Kind {
    /// Adds a call that took `time_ns`. `holds` is false if it made more operations than its bound.
    fn add(&mut self, count: u32, share: u64, [time_ns, bound_ns]: [u64; 2], holds: bool) {
        self.calls += 1;
        self.instructions += u64::from(count);
        self.longest = self.longest.max(count);
        self.share = self.share.max(share as u32);
        self.longest_ns = self.longest_ns.max(time_ns);
        self.bound_ns = self.bound_ns.max(bound_ns);
        self.above += u32::from(!holds || share > 1000 || time_ns > bound_ns);
    }
}

/// The calls on one medium.
pub struct Watch {
    kinds: [Kind; NAMES.len()],
    flash: Timing,
    total: Timing,
    permitted: Timing,
}

impl Watch {
    pub fn new<C: Meter>(chip: &Counter<C>) -> Self {
        let (flash, geometry) = (chip.flash_timing(), chip.geometry());
        Self {
            kinds: [Kind::default(); NAMES.len()],
            flash,
            total: flash.with_processor(PROCESSOR, &geometry),
            permitted: NO_TIME.with_processor(SLOW, &geometry),
        }
    }

    /// Makes a call, and compares it with its bound.
    pub fn call<C: Meter, R>(
        &mut self,
        fs: &mut Volume<'_, C>,
        call: Call,
        make: impl FnOnce(&mut Volume<'_, C>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let bound = fs.bounds().of(call);
        let start = Start::of(fs.flash());
        let result = make(fs);
        self.compare(index_of(call), start, fs.flash(), &bound);
        result
    }

    /// Compares a call that has ended with its bound.
    pub fn compare<C: Meter>(
        &mut self,
        kind: usize,
        start: Start,
        chip: &Counter<C>,
        bound: &Bound,
    ) {
        let (count, spent) = start.until(chip);
        // The operations of a call permit fewer instructions than its bound.
        let limit = Cost { instructions: bound.moving.instructions, ..spent };
        self.note(kind, count, &spent, &limit, bound);
    }

    /// Compares a mount, a rollback or an unmount with its bound.
    pub fn end<C: Meter>(&mut self, kind: usize, start: Start, chip: &Counter<C>, bound: Cost) {
        let (count, spent) = start.until(chip);
        let bound = Bound { moving: bound, folding: bound, erasing: bound };
        self.note(kind, count, &spent, &bound.moving, &bound);
    }

    /// Compares idle work that has ended with its budget.
    pub fn compare_idle<C: Meter>(&mut self, start: Start, chip: &Counter<C>, budget_ns: u64) {
        let (count, spent) = start.until(chip);
        let time_ns = spent.time_ns(&self.flash) + PROCESSOR.time_ns(count);
        self.kinds[MAINTAIN].add(count, time_ns * 1000 / budget_ns, [time_ns, budget_ns], true);
    }

    fn note(&mut self, kind: usize, count: u32, spent: &Cost, limit: &Cost, bound: &Bound) {
        let permitted = limit.time_ns(&self.permitted) / 1000;
        let share = u64::from(count) * 1000 / permitted.max(1);
        let time_ns = spent.time_ns(&self.flash) + PROCESSOR.time_ns(count);
        let bound_ns = bound.time_ns(&self.total);
        self.kinds[kind].add(count, share, [time_ns, bound_ns], bound.holds(spent));
    }

    /// Prints a row for each kind that was called: the medium, the kind, the number of calls, mean and largest
    /// number of instructions, their largest share in thousandths, the longest time and the largest
    /// bound in microseconds, and the number of calls above their bounds.
    pub fn print(&self, medium: &str) {
        for (kind, name) in self.kinds.iter().zip(NAMES).filter(|(kind, _)| kind.calls > 0) {
            let mean = kind.instructions / u64::from(kind.calls);
            let _ = writeln!(
                Output,
                "{medium}|{name}|{}|{mean}|{}|{}|{}|{}|{}",
                kind.calls,
                kind.longest,
                kind.share,
                kind.longest_ns / 1000,
                kind.bound_ns / 1000,
                kind.above
            );
        }
    }
}

/// Returns the index of a kind in [`NAMES`].
fn index_of(call: Call) -> usize {
    match call {
        Call::Overwrite => 0,
        Call::Write(_) => 1,
        Call::WriteLarge(_) => 2,
        Call::WriteInline(_) => 3,
        Call::Truncate => 4,
        Call::Read(_) => 5,
        Call::Open { .. } => 6,
        Call::Create { .. } => 7,
        Call::Symlink { .. } => 8,
        Call::Remove { .. } => 9,
        Call::Rename { .. } => 10,
        Call::Exchange { .. } => 11,
        Call::SetAttribute => 12,
        Call::List => 13,
        _ => 14,
    }
}
