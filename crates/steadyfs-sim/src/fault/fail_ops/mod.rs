//! Simulates programs and erases that fail, blocks that go bad, and devices that lock themselves.

mod lives;

pub use lives::Lives;

use super::{Tearable, Torn};
use super::{forward, one_by_one};
use crate::checksum;
use crate::meter::{Counters, Metered};
use fastrand::Rng;
use lives::Wear;
use std::collections::BTreeSet;
use steadyfs::media::{BlockIndex, Failure, Flash, PageIndex, TAG_BYTES};

/// A medium on which chosen programs and erases fail with [`Failure::BadBlock`].
///
/// A failed program leaves garbage in its page. A failed erase leaves the block unchanged or half
/// erased. The block has then *grown bad*: every later program and erase of the block fails at once
/// and changes nothing. Its other pages stay readable. Copies count as programs.
///
/// A managed device has spare blocks. It replaces blocks that fail, and locks itself when it has
/// no spare left. Every program and erase of a locked device fails with
/// [`Failure::WriteProtected`] and changes nothing.
#[derive(Clone, Debug)]
pub struct FailOps<F> {
    inner: F,
    rng: Rng,
    programs: u64,
    erases: u64,
    failing_programs: BTreeSet<u64>,
    failing_erases: BTreeSet<u64>,
    /// Blocks whose next program or erase fails.
    failing_blocks: BTreeSet<BlockIndex>,
    grown_bad: BTreeSet<BlockIndex>,
    /// Every `n`-th program or erase fails, where `n` is this number.
    failing_every: Option<u64>,
    wear: Option<Wear>,
    /// Number of blocks that the device can still replace. `None` means that the device replaces no
    /// blocks.
    spare: Option<u32>,
    /// Number of programs and erases after which the device locks itself.
    lock_after: Option<u64>,
    locked: bool,
}

/// The plan's decision about the next program or erase.
#[derive(PartialEq, Eq)]
enum Fate {
    Work,
    Fail,
    /// Nothing changes, and this failure is reported.
    Refuse(Failure),
}

impl<F: Tearable> FailOps<F> {
    /// Wraps a medium on which nothing fails yet. The seed determines the state that failed erases
    /// leave.
    pub fn new(inner: F, seed: u64) -> Self {
        Self {
            inner,
            rng: Rng::with_seed(seed),
            programs: 0,
            erases: 0,
            failing_programs: BTreeSet::new(),
            failing_erases: BTreeSet::new(),
            failing_blocks: BTreeSet::new(),
            grown_bad: BTreeSet::new(),
            failing_every: None,
            wear: None,
            spare: None,
            lock_after: None,
            locked: false,
        }
    }

    /// Limits the lives of blocks to `lives`. `seed` draws the life of each block.
    #[must_use]
    pub fn with_lives(mut self, lives: Lives, seed: u64) -> Self {
        self.wear = Some(Wear::new(lives, self.inner.geometry().block_count, seed));
        self
    }

    /// Gives the device `blocks` spare blocks. The device replaces this number of failing blocks
    /// without a report, and locks itself when one more block fails.
    #[must_use]
    pub fn with_spare(mut self, blocks: u32) -> Self {
        self.spare = Some(blocks);
        self
    }

    /// Makes the device lock itself after `n` more programs and erases.
    pub fn lock_after(&mut self, n: u64) {
        self.lock_after = Some(self.operations() + n);
    }

    /// Makes one of every `n` programs and erases fail from now on, so that one block after another
    /// goes bad. An `n` of 0 ends this.
    pub fn fail_every(&mut self, n: u64) {
        self.failing_every = (n > 0).then_some(n);
    }

    /// Makes the `n`-th program from now fail. An `n` of 1 is the next program. Several failures
    /// may be planned.
    pub fn fail_program(&mut self, n: u64) {
        assert!(n > 0, "programs are counted from 1");
        self.failing_programs.insert(self.programs + n);
    }

    /// Makes the `n`-th erase from now fail. An `n` of 1 is the next erase. Several failures may be
    /// planned.
    pub fn fail_erase(&mut self, n: u64) {
        assert!(n > 0, "erases are counted from 1");
        self.failing_erases.insert(self.erases + n);
    }

    /// Makes every program and erase of a block fail from now on.
    pub fn fail_block(&mut self, block: BlockIndex) {
        self.failing_blocks.insert(block);
    }

    /// Returns the number of programs so far, including failed ones.
    pub fn programs(&self) -> u64 {
        self.programs
    }

    /// Returns the number of erases so far, including failed ones.
    pub fn erases(&self) -> u64 {
        self.erases
    }

    /// Returns the number of programs and erases so far, including failed ones.
    fn operations(&self) -> u64 {
        self.programs + self.erases
    }

    /// Returns true if the device has locked itself.
    pub fn is_locked(&self) -> bool {
        self.locked
    }

    /// Returns the number of erases in the life of a block, if lives are limited.
    pub fn life(&self, block: BlockIndex) -> Option<u32> {
        self.wear.as_ref().map(|wear| wear.life(block))
    }

    /// Returns the blocks that have gone bad, in ascending order.
    pub fn grown_bad(&self) -> impl Iterator<Item = BlockIndex> + '_ {
        self.grown_bad.iter().copied()
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

    /// Decides the fate of an operation on a block. If the operation fails, the block goes bad.
    fn fate(&mut self, block: BlockIndex, planned: bool) -> Fate {
        let regular = self.failing_every.is_some_and(|n| self.operations().is_multiple_of(n));
        if planned || regular || self.failing_blocks.contains(&block) {
            self.fail(block)
        } else {
            Fate::Work
        }
    }

    /// Marks a block bad, or makes the device replace it.
    fn fail(&mut self, block: BlockIndex) -> Fate {
        match &mut self.spare {
            None => {
                self.grown_bad.insert(block);
                Fate::Fail
            }
            Some(0) => {
                self.locked = true;
                Fate::Refuse(Failure::WriteProtected)
            }
            Some(spare) => {
                *spare -= 1;
                self.failing_blocks.remove(&block);
                if let Some(wear) = &mut self.wear {
                    wear.replace(block);
                }
                Fate::Work
            }
        }
    }

    /// If operations on a block are no longer possible, returns the reason.
    fn refusal(&mut self, block: BlockIndex) -> Option<Fate> {
        self.locked |= self.lock_after.is_some_and(|last| self.operations() > last);
        if self.locked {
            return Some(Fate::Refuse(Failure::WriteProtected));
        }
        self.grown_bad.contains(&block).then_some(Fate::Refuse(Failure::BadBlock))
    }

    fn program_fate(&mut self, page: PageIndex) -> Fate {
        self.programs += 1;
        let per_block = self.geometry().pages_per_block;
        let (block, in_block) = (page / per_block, page % per_block);
        if let Some(refused) = self.refusal(block) {
            return refused;
        }
        let planned = self.failing_programs.remove(&self.programs);
        let worn =
            self.wear.as_ref().is_some_and(|wear| wear.program_fails(block, in_block, per_block));
        self.fate(block, planned | worn)
    }

    /// Returns the page that contains a byte of a block.
    fn page_of(&self, block: BlockIndex, offset: u32) -> PageIndex {
        let geometry = self.geometry();
        block * geometry.pages_per_block + offset / geometry.page_bytes
    }

    fn erase_fate(&mut self, block: BlockIndex) -> Fate {
        self.erases += 1;
        if let Some(refused) = self.refusal(block) {
            return refused;
        }
        let planned = self.failing_erases.remove(&self.erases);
        let worn = self.wear.as_mut().is_some_and(|wear| wear.erase_fails(block));
        self.fate(block, planned | worn)
    }

    /// Changes a block to the state after a failed erase.
    fn spoil_erase(&mut self, block: BlockIndex) {
        let torn = if self.rng.bool() { Torn::Old } else { Torn::Garbled };
        self.inner.erase_torn(block, torn);
    }
}

impl<F: Tearable> Flash for FailOps<F> {
    forward!(geometry timing reads_many corrected can_copy sync reorders is_bad mark_bad);

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.inner.read(page, data, tag)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.inner.read_tag(page, tag)
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        match self.program_fate(page) {
            Fate::Work => self.inner.program(page, data, tag),
            Fate::Fail => {
                self.inner.program_torn(page, data, tag, Torn::Garbled);
                Err(Failure::BadBlock)
            }
            Fate::Refuse(failure) => Err(failure),
        }
    }

    /// Counts the command as one program of its first page. If the command fails, the block of that
    /// page goes bad.
    fn program_many(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Failure> {
        if !self.inner.joins_programs() {
            return one_by_one(self, first, data, tags);
        }
        match self.program_fate(first) {
            Fate::Work => self.inner.program_many(first, data, tags),
            Fate::Fail => {
                self.inner.program_many_torn(first, data, tags, Torn::Garbled);
                Err(Failure::BadBlock)
            }
            Fate::Refuse(failure) => Err(failure),
        }
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        if !self.inner.can_copy() {
            return Err(Failure::Device);
        }
        match self.program_fate(page) {
            Fate::Work => self.inner.program_loaded(page, tag),
            Fate::Fail => {
                self.inner.program_loaded_torn(page, tag, Torn::Garbled);
                Err(Failure::BadBlock)
            }
            Fate::Refuse(failure) => Err(failure),
        }
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.inner.read_bytes(block, offset, data)
    }

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        match self.program_fate(self.page_of(block, offset)) {
            Fate::Work => self.inner.program_bytes(block, offset, data),
            Fate::Fail => {
                self.inner.program_bytes_torn(block, offset, data, Torn::Garbled);
                Err(Failure::BadBlock)
            }
            Fate::Refuse(failure) => Err(failure),
        }
    }

    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        checksum(data, missing)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        match self.erase_fate(block) {
            Fate::Work => self.inner.erase(block),
            Fate::Fail => {
                self.spoil_erase(block);
                Err(Failure::BadBlock)
            }
            Fate::Refuse(failure) => Err(failure),
        }
    }
}

/// If an operation fails and power is cut in it, the result is garbage, independent of the state
/// that the power cut alone would leave.
impl<F: Tearable> Tearable for FailOps<F> {
    fn program_torn(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES], torn: Torn) {
        match self.program_fate(page) {
            Fate::Work => self.inner.program_torn(page, data, tag, torn),
            Fate::Fail => self.inner.program_torn(page, data, tag, Torn::Garbled),
            Fate::Refuse(_) => {}
        }
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
        match self.program_fate(first) {
            Fate::Work => self.inner.program_many_torn(first, data, tags, torn),
            Fate::Fail => self.inner.program_many_torn(first, data, tags, Torn::Garbled),
            Fate::Refuse(_) => {}
        }
    }

    fn program_loaded_torn(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES], torn: Torn) {
        if self.inner.can_copy() {
            match self.program_fate(page) {
                Fate::Work => self.inner.program_loaded_torn(page, tag, torn),
                Fate::Fail => self.inner.program_loaded_torn(page, tag, Torn::Garbled),
                Fate::Refuse(_) => {}
            }
        }
    }

    fn program_bytes_torn(&mut self, block: BlockIndex, offset: u32, data: &[u8], torn: Torn) {
        match self.program_fate(self.page_of(block, offset)) {
            Fate::Work => self.inner.program_bytes_torn(block, offset, data, torn),
            Fate::Fail => self.inner.program_bytes_torn(block, offset, data, Torn::Garbled),
            Fate::Refuse(_) => {}
        }
    }

    fn erase_torn(&mut self, block: BlockIndex, torn: Torn) {
        match self.erase_fate(block) {
            Fate::Work => self.inner.erase_torn(block, torn),
            Fate::Fail => self.inner.erase_torn(block, Torn::Garbled),
            Fate::Refuse(_) => {}
        }
    }

    fn power_on(&mut self) {
        self.inner.power_on();
    }
}

impl<F: Metered> Metered for FailOps<F> {
    fn counters(&self) -> Counters {
        self.inner.counters()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Nand, NandTiming, Nor, NorTiming};
    use steadyfs::media::Geometry;
    use steadyfs::media::nor::NorPages;

    const TAG: [u8; TAG_BYTES] = [1; TAG_BYTES];

    fn chip() -> FailOps<Nand> {
        let geometry =
            Geometry { page_bytes: 256, pages_per_block: 8, block_count: 4, programs_bytes: false };
        FailOps::new(Nand::with_geometry(geometry, NandTiming::ROUND, 1), 1)
    }

    fn reads_well<F: Flash>(flash: &mut F, page: PageIndex) -> bool {
        let bytes = flash.geometry().page_bytes as usize;
        let (mut data, mut tag) = (vec![0; bytes], [0; TAG_BYTES]);
        (0..8).all(|_| {
            flash.read(page, &mut data, &mut tag).is_ok() && data == vec![0x5A; bytes] && tag == TAG
        })
    }

    #[test]
    fn the_chosen_program_fails_and_its_block_has_gone_bad() {
        let mut chip = chip();
        chip.fail_program(2);
        chip.program(0, &[0x5A; 256], &TAG).unwrap();
        assert_eq!(chip.program(1, &[0x5A; 256], &TAG), Err(Failure::BadBlock));
        assert!(!reads_well(&mut chip, 1));
        assert!(reads_well(&mut chip, 0), "earlier pages stay readable");
        assert_eq!(chip.program(2, &[0x5A; 256], &TAG), Err(Failure::BadBlock));
        assert_eq!(chip.erase(0), Err(Failure::BadBlock));
        assert!(reads_well(&mut chip, 0), "a refused erase changes nothing");
        chip.program(8, &[0x5A; 256], &TAG).unwrap();
        assert_eq!(chip.grown_bad().collect::<Vec<_>>(), [0]);
        assert_eq!((chip.programs(), chip.erases()), (4, 1));
        assert_eq!(chip.is_bad(0), Ok(false), "nobody has marked it");
    }

    #[test]
    fn the_chosen_erase_fails_and_its_block_has_gone_bad() {
        let mut chip = chip();
        chip.fail_erase(1);
        assert_eq!(chip.erase(2), Err(Failure::BadBlock));
        assert_eq!(chip.program(16, &[0x5A; 256], &TAG), Err(Failure::BadBlock));
        assert_eq!(chip.erase(2), Err(Failure::BadBlock));
        chip.erase(1).unwrap();
    }

    #[test]
    fn a_failing_block_fails_from_now_on() {
        let mut chip = chip();
        chip.program(0, &[0x5A; 256], &TAG).unwrap();
        chip.fail_block(0);
        for page in 1..4 {
            assert_eq!(chip.program(page, &[0x5A; 256], &TAG), Err(Failure::BadBlock));
        }
        assert!(reads_well(&mut chip, 0));
    }

    #[test]
    fn a_failed_copy_leaves_garbage() {
        let mut chip = chip();
        chip.program(0, &[0x5A; 256], &TAG).unwrap();
        chip.fail_program(1);
        chip.read_tag(0, &mut [0; TAG_BYTES]).unwrap();
        assert_eq!(chip.program_loaded(8, &TAG), Err(Failure::BadBlock));
        assert!(!reads_well(&mut chip, 8));
    }

    #[test]
    fn a_cut_in_a_failing_program_leaves_garbage() {
        let mut chip = chip();
        chip.fail_program(1);
        chip.program_torn(0, &[0x5A; 256], &TAG, Torn::New);
        chip.power_on();
        assert!(!reads_well(&mut chip, 0));
        assert_eq!(chip.grown_bad().collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn one_of_every_n_operations_fails_and_one_block_after_another_goes_bad() {
        let mut chip = chip();
        chip.fail_every(3);
        let outcomes: Vec<_> =
            (0..4).flat_map(|block| [chip.erase(block), chip.erase(block)]).collect();
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), 3, "{outcomes:?}");
        assert_eq!(chip.grown_bad().collect::<Vec<_>>(), [1, 2]);
        chip.fail_every(0);
        chip.erase(0).unwrap();
    }

    #[test]
    fn all_blocks_die_in_the_erase_after_their_last() {
        let mut chip = chip().with_lives(Lives::of(5), 1);
        for block in 0..4 {
            (0..5).for_each(|_| chip.erase(block).unwrap());
            chip.program(block * 8, &[0x5A; 256], &TAG).unwrap();
            assert_eq!(chip.erase(block), Err(Failure::BadBlock));
            assert_eq!(chip.life(block), Some(5));
        }
        assert_eq!(chip.grown_bad().count(), 4);
    }

    #[test]
    fn blocks_that_end_in_a_program_fail_after_their_last_erase() {
        let lives = Lives { ending_in_program_percent: 100, ..Lives::of(3) };
        let mut chip = chip().with_lives(lives, 1);
        (0..3).for_each(|_| chip.erase(1).unwrap());
        let failed = (8..16).find_map(|page| chip.program(page, &[0x5A; 256], &TAG).err());
        assert!(failed.is_none_or(|failure| failure == Failure::BadBlock));
        assert!(failed.is_some() || chip.erase(1).is_err());
        assert_eq!(chip.grown_bad().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_device_replaces_blocks_until_its_spare_is_used_up_and_then_locks_itself() {
        let mut chip = chip().with_lives(Lives::of(2), 1).with_spare(1);
        (0..5).for_each(|_| chip.erase(1).unwrap());
        chip.program(0, &[0x5A; 256], &TAG).unwrap();
        assert!(!chip.is_locked());
        assert_eq!(chip.erase(1), Err(Failure::WriteProtected));
        assert!(chip.is_locked());
        assert_eq!(chip.program(1, &[0x5A; 256], &TAG), Err(Failure::WriteProtected));
        assert!(reads_well(&mut chip, 0), "it can be read");
        assert_eq!(chip.grown_bad().count(), 0);
    }

    #[test]
    fn a_device_locks_itself_after_the_operations_chosen() {
        let mut chip = chip();
        chip.erase(0).unwrap();
        chip.lock_after(1);
        chip.program(0, &[0x5A; 256], &TAG).unwrap();
        assert_eq!(chip.program(1, &[0x5A; 256], &TAG), Err(Failure::WriteProtected));
        chip.erase_torn(0, Torn::New);
        assert!(reads_well(&mut chip, 0), "a cut in an operation that is refused changes nothing");
    }

    #[test]
    fn nor_goes_on_after_a_failed_program() {
        let mut chip =
            FailOps::new(NorPages::new(Nor::with_geometry(4096, 4, NorTiming::ROUND, 1), 512), 1);
        chip.fail_program(1);
        assert_eq!(chip.program(0, &[0x5A; 512], &TAG), Err(Failure::BadBlock));
        let next_block = chip.geometry().pages_per_block;
        chip.program(next_block, &[0x5A; 512], &TAG).unwrap();
        assert!(reads_well(&mut chip, next_block));
    }
}
