//! A record of every operation, with its time.

use super::forward;
use super::{Tearable, Torn};
use crate::checksum;
use crate::meter::{Counters, Metered};
use steadyfs::media::{BlockIndex, Failure, Flash, PageIndex, TAG_BYTES};

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Read of a page.
    Read,
    /// Read of a tag.
    ReadTag,
    /// Program of a page.
    Program,
    /// On-chip copy: program of the page register.
    Copy,
    /// Erase of a block.
    Erase,
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The kind of the operation.
    pub operation: Operation,
    /// Index of the page. For an erase, index of the block.
    pub index: u32,
    /// Virtual time at its start, in nanoseconds.
    pub start_ns: u64,
    /// Duration, in nanoseconds.
    pub duration_ns: u64,
    /// The failure that the medium reported, if the operation failed.
    pub failure: Option<Failure>,
}

/// A medium that keeps a record of its operations.
///
/// Calls that read or set the bad-block marks are not recorded.
#[derive(Clone, Debug)]
pub struct Trace<F> {
    inner: F,
    records: Vec<Record>,
    records_max: usize,
    counts: Counters,
}

impl<F: Flash + Metered> Trace<F> {
    /// Wraps a medium and records everything.
    pub fn new(inner: F) -> Self {
        Self::with_cap(inner, usize::MAX)
    }

    /// Wraps a medium and records the first `records_max` operations. The others are still counted.
    pub fn with_cap(inner: F, records_max: usize) -> Self {
        Self { inner, records: Vec::new(), records_max, counts: Counters::default() }
    }

    /// Returns the operations so far, in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the records so far, and begins with an empty record.
    pub fn take_records(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.records)
    }

    /// Returns the counts of the operations of the [`Flash`] interface, including failed ones.
    ///
    /// They differ from [`counters`](Metered::counters), which count the commands of the chip. One
    /// operation may be several commands. For example, a page of NOR is programmed in pieces of 256
    /// bytes and a tag, and is read with two commands.
    pub fn counts(&self) -> Counters {
        self.counts
    }

    /// Returns the medium underneath.
    pub fn inner(&self) -> &F {
        &self.inner
    }

    /// Returns the medium underneath, mutable.
    pub fn inner_mut(&mut self) -> &mut F {
        &mut self.inner
    }

    /// Returns the medium and drops the wrapper.
    pub fn into_inner(self) -> F {
        self.inner
    }

    /// Runs one operation that moves `bytes` bytes, counts it and records it.
    fn record(
        &mut self,
        operation: Operation,
        index: u32,
        bytes: usize,
        act: impl FnOnce(&mut F) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let start_ns = self.inner.time_ns();
        let outcome = act(&mut self.inner);
        let duration_ns = self.inner.time_ns() - start_ns;
        self.count(operation, bytes as u64, duration_ns);
        if self.records.len() < self.records_max {
            let failure = outcome.err();
            self.records.push(Record { operation, index, start_ns, duration_ns, failure });
        }
        outcome
    }

    /// Returns the page that contains a byte of a block.
    fn page_of(&self, block: BlockIndex, offset: u32) -> PageIndex {
        let geometry = self.inner.geometry();
        block * geometry.pages_per_block + offset / geometry.page_bytes
    }

    fn count(&mut self, operation: Operation, bytes: u64, duration_ns: u64) {
        let counts = &mut self.counts;
        let (times, moved) = match operation {
            Operation::Read => (&mut counts.reads, &mut counts.bytes_read),
            Operation::ReadTag => (&mut counts.tag_reads, &mut counts.bytes_read),
            Operation::Program => (&mut counts.programs, &mut counts.bytes_programmed),
            Operation::Copy => (&mut counts.copies, &mut counts.bytes_programmed),
            Operation::Erase => (&mut counts.erases, &mut counts.bytes_programmed),
        };
        *times += 1;
        *moved += bytes;
        counts.time_ns += duration_ns;
    }
}

impl<F: Flash + Metered> Flash for Trace<F> {
    forward!(geometry timing reads_many corrected can_copy reorders hides_damage is_bad mark_bad);

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        let bytes = data.len() + TAG_BYTES;
        self.record(Operation::Read, page, bytes, |inner| inner.read(page, data, tag))
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.record(Operation::ReadTag, page, TAG_BYTES, |inner| inner.read_tag(page, tag))
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        let bytes = data.len() + TAG_BYTES;
        self.record(Operation::Program, page, bytes, |inner| inner.program(page, data, tag))
    }

    /// Records each page as a program. The record of the first page contains the time of all pages.
    fn program_many(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Failure> {
        let bytes = data.len() / tags.len().max(1) + TAG_BYTES;
        let outcome = self.record(Operation::Program, first, bytes, |inner| {
            inner.program_many(first, data, tags)
        });
        for page in (first..).take(tags.len()).skip(1) {
            let _ = self.record(Operation::Program, page, bytes, |_| outcome);
        }
        outcome
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        if !self.inner.can_copy() {
            return Err(Failure::Device);
        }
        self.record(Operation::Copy, page, TAG_BYTES, |inner| inner.program_loaded(page, tag))
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.record(Operation::Read, self.page_of(block, offset), data.len(), |inner| {
            inner.read_bytes(block, offset, data)
        })
    }

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        let page = self.page_of(block, offset);
        self.record(Operation::Program, page, data.len(), |inner| {
            inner.program_bytes(block, offset, data)
        })
    }

    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        checksum(data, missing)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.record(Operation::Erase, block, 0, |inner| inner.erase(block))
    }

    /// Counts the time, but records nothing.
    fn sync(&mut self) -> Result<(), Failure> {
        let start_ns = self.inner.time_ns();
        let outcome = self.inner.sync();
        self.counts.time_ns += self.inner.time_ns() - start_ns;
        outcome
    }
}

/// An interrupted operation is recorded as a failure with [`Failure::Device`].
impl<F: Tearable + Metered> Tearable for Trace<F> {
    fn program_torn(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES], torn: Torn) {
        let bytes = data.len() + TAG_BYTES;
        let _ = self.record(Operation::Program, page, bytes, |inner| {
            inner.program_torn(page, data, tag, torn);
            Err(Failure::Device)
        });
    }

    fn joins_programs(&self) -> bool {
        self.inner.joins_programs()
    }

    fn program_many_torn(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
        torn: Torn,
    ) {
        let bytes = data.len() / tags.len().max(1) + TAG_BYTES;
        let _ = self.record(Operation::Program, first, bytes, |inner| {
            inner.program_many_torn(first, data, tags, torn);
            Err(Failure::Device)
        });
    }

    fn program_loaded_torn(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES], torn: Torn) {
        if self.inner.can_copy() {
            let _ = self.record(Operation::Copy, page, TAG_BYTES, |inner| {
                inner.program_loaded_torn(page, tag, torn);
                Err(Failure::Device)
            });
        }
    }

    fn program_bytes_torn(&mut self, block: BlockIndex, offset: u32, data: &[u8], torn: Torn) {
        let page = self.page_of(block, offset);
        let _ = self.record(Operation::Program, page, data.len(), |inner| {
            inner.program_bytes_torn(block, offset, data, torn);
            Err(Failure::Device)
        });
    }

    fn erase_torn(&mut self, block: BlockIndex, torn: Torn) {
        let _ = self.record(Operation::Erase, block, 0, |inner| {
            inner.erase_torn(block, torn);
            Err(Failure::Device)
        });
    }

    fn power_on(&mut self) {
        self.inner.power_on();
    }
}

impl<F: Metered> Metered for Trace<F> {
    fn counters(&self) -> Counters {
        self.inner.counters()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Nand, NandTiming, Nor, NorTiming, PowerCut};
    use steadyfs::media::Geometry;
    use steadyfs::media::nor::NorPages;

    const TAG: [u8; TAG_BYTES] = [1; TAG_BYTES];

    fn nand() -> Nand {
        let geometry =
            Geometry { page_bytes: 256, pages_per_block: 8, block_count: 4, programs_bytes: false };
        Nand::with_geometry(geometry, NandTiming::ROUND, 1)
    }

    fn done(operation: Operation, index: u32, start_ns: u64, duration_ns: u64) -> Record {
        Record { operation, index, start_ns, duration_ns, failure: None }
    }

    #[test]
    fn records_tell_what_when_and_how_long() {
        let mut trace = Trace::new(nand());
        trace.program(0, &[0; 256], &TAG).unwrap();
        trace.read_tag(0, &mut [0; TAG_BYTES]).unwrap();
        trace.program_loaded(9, &TAG).unwrap();
        trace.read(9, &mut [0; 256], &mut [0; TAG_BYTES]).unwrap();
        trace.erase(1).unwrap();
        let expected = [
            done(Operation::Program, 0, 0, 252_720),
            done(Operation::ReadTag, 0, 252_720, 50_160),
            done(Operation::Copy, 9, 302_880, 250_160),
            done(Operation::Read, 9, 553_040, 52_720),
            done(Operation::Erase, 1, 605_760, 2_000_000),
        ];
        assert_eq!(trace.records(), expected);
        assert_eq!(trace.counts(), trace.counters(), "on NAND an operation is a command");
        assert_eq!(trace.take_records().len(), 5);
        assert!(trace.records().is_empty());
    }

    #[test]
    fn a_cap_bounds_the_records_but_not_the_counts() {
        let mut trace = Trace::with_cap(nand(), 2);
        (0..5).for_each(|page| trace.program(page, &[], &TAG).unwrap());
        assert_eq!(trace.records().len(), 2);
        assert_eq!(trace.counts().programs, 5);
    }

    #[test]
    fn counts_are_those_of_pages_also_on_nor() {
        let mut trace =
            Trace::new(NorPages::new(Nor::with_geometry(4096, 4, NorTiming::ROUND, 1), 512));
        trace.program(0, &[0; 512], &TAG).unwrap();
        trace.read(0, &mut [0; 512], &mut [0; TAG_BYTES]).unwrap();
        let (counts, counters) = (trace.counts(), trace.counters());
        assert_eq!((counts.programs, counts.reads), (1, 1));
        assert_eq!((counters.programs, counters.reads), (3, 2));
        assert_eq!(
            (counts.bytes_programmed, counts.time_ns),
            (counters.bytes_programmed, counters.time_ns)
        );
    }

    #[test]
    fn power_cuts_above_and_below_are_recorded_as_failures() {
        let mut above = PowerCut::new(Trace::new(nand()), 1);
        above.cut_at(1);
        above.program(0, &[], &TAG).unwrap_err();
        assert_eq!(above.inner().records()[0].failure, Some(Failure::Device));
        let mut below = Trace::new(PowerCut::new(nand(), 1));
        below.inner_mut().cut_at(1);
        below.erase(0).unwrap_err();
        assert_eq!(below.records()[0].failure, Some(Failure::Device));
        let nested: &mut dyn Metered = &mut below;
        assert_eq!(nested.counters().erases, 1);
    }
}
