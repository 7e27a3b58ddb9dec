//! Programs and erases that fail, and blocks that have gone bad.

use super::{Tearable, Torn};
use crate::meter::{Counters, Metered};
use fastrand::Rng;
use std::collections::BTreeSet;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};

/// A medium on which chosen programs and erases fail with [`Failure::BadBlock`].
///
/// A failed program leaves garbage in its page; a failed erase leaves the block as it was, or half erased. The block has
/// then *grown bad*: every further program and erase of it fails at once and changes nothing. Its other pages stay
/// readable. Copies count as programs.
#[derive(Clone, Debug)]
pub struct FailOps<F> {
    inner: F,
    rng: Rng,
    programs: u64,
    erases: u64,
    failing_programs: BTreeSet<u64>,
    failing_erases: BTreeSet<u64>,
    /// Blocks of which the next program or erase fails.
    failing_blocks: BTreeSet<BlockIndex>,
    grown_bad: BTreeSet<BlockIndex>,
}

/// What the plan says about the next program or erase.
#[derive(PartialEq, Eq)]
enum Fate {
    Work,
    Fail,
    Refuse,
}

impl<F: Tearable> FailOps<F> {
    /// Wraps a medium on which nothing fails yet; the seed draws what failed erases leave behind.
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
        }
    }

    /// Lets the `n`-th program from now fail; 1 is the next. Several may be planned.
    pub fn fail_program(&mut self, n: u64) {
        assert!(n > 0, "programs are counted from 1");
        self.failing_programs.insert(self.programs + n);
    }

    /// Lets the `n`-th erase from now fail; 1 is the next. Several may be planned.
    pub fn fail_erase(&mut self, n: u64) {
        assert!(n > 0, "erases are counted from 1");
        self.failing_erases.insert(self.erases + n);
    }

    /// Lets every program and erase of a block fail from now on.
    pub fn fail_block(&mut self, block: BlockIndex) {
        self.failing_blocks.insert(block);
    }

    /// Programs so far, the failed ones included.
    pub fn programs(&self) -> u64 {
        self.programs
    }

    /// Erases so far, the failed ones included.
    pub fn erases(&self) -> u64 {
        self.erases
    }

    /// The blocks that have gone bad, in ascending order.
    pub fn grown_bad(&self) -> impl Iterator<Item = BlockIndex> + '_ {
        self.grown_bad.iter().copied()
    }

    /// The medium underneath.
    pub fn inner(&self) -> &F {
        &self.inner
    }

    /// The medium underneath, mutable.
    pub fn inner_mut(&mut self) -> &mut F {
        &mut self.inner
    }

    /// Gives the medium back.
    pub fn into_inner(self) -> F {
        self.inner
    }

    /// Looks what becomes of an operation on a block, and lets the block go bad when it fails.
    fn fate(&mut self, block: BlockIndex, planned: bool) -> Fate {
        if self.grown_bad.contains(&block) {
            return Fate::Refuse;
        }
        if planned || self.failing_blocks.contains(&block) {
            self.grown_bad.insert(block);
            return Fate::Fail;
        }
        Fate::Work
    }

    fn program_fate(&mut self, page: PageIndex) -> Fate {
        self.programs += 1;
        let planned = self.failing_programs.remove(&self.programs);
        self.fate(page / self.geometry().pages_per_block, planned)
    }

    fn erase_fate(&mut self, block: BlockIndex) -> Fate {
        self.erases += 1;
        let planned = self.failing_erases.remove(&self.erases);
        self.fate(block, planned)
    }

    /// Leaves a block as a failed erase does.
    fn spoil_erase(&mut self, block: BlockIndex) {
        let torn = if self.rng.bool() { Torn::Old } else { Torn::Garbled };
        self.inner.erase_torn(block, torn);
    }
}

impl<F: Tearable> Flash for FailOps<F> {
    fn geometry(&self) -> Geometry {
        self.inner.geometry()
    }

    fn timing(&self) -> Timing {
        self.inner.timing()
    }

    fn read(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.inner.read(page, data, tag)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.inner.read_tag(page, tag)
    }

    fn program(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        match self.program_fate(page) {
            Fate::Work => self.inner.program(page, data, tag),
            Fate::Fail => {
                self.inner.program_torn(page, data, tag, Torn::Garbled);
                Err(Failure::BadBlock)
            }
            Fate::Refuse => Err(Failure::BadBlock),
        }
    }

    fn can_copy(&self) -> bool {
        self.inner.can_copy()
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
            Fate::Refuse => Err(Failure::BadBlock),
        }
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        match self.erase_fate(block) {
            Fate::Work => self.inner.erase(block),
            Fate::Fail => {
                self.spoil_erase(block);
                Err(Failure::BadBlock)
            }
            Fate::Refuse => Err(Failure::BadBlock),
        }
    }

    fn sync(&mut self) -> Result<(), Failure> {
        self.inner.sync()
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.inner.is_bad(block)
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.inner.mark_bad(block)
    }
}

/// An operation that fails and is cut at the same time leaves garbage, whatever the cut would have left.
impl<F: Tearable> Tearable for FailOps<F> {
    fn program_torn(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES], torn: Torn) {
        match self.program_fate(page) {
            Fate::Work => self.inner.program_torn(page, data, tag, torn),
            Fate::Fail => self.inner.program_torn(page, data, tag, Torn::Garbled),
            Fate::Refuse => {}
        }
    }

    fn program_loaded_torn(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES], torn: Torn) {
        if self.inner.can_copy() {
            match self.program_fate(page) {
                Fate::Work => self.inner.program_loaded_torn(page, tag, torn),
                Fate::Fail => self.inner.program_loaded_torn(page, tag, Torn::Garbled),
                Fate::Refuse => {}
            }
        }
    }

    fn erase_torn(&mut self, block: BlockIndex, torn: Torn) {
        match self.erase_fate(block) {
            Fate::Work => self.inner.erase_torn(block, torn),
            Fate::Fail => self.inner.erase_torn(block, Torn::Garbled),
            Fate::Refuse => {}
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
    use steadyfs::media::nor::NorPages;

    const TAG: [u8; TAG_BYTES] = [1; TAG_BYTES];

    fn chip() -> FailOps<Nand> {
        let geometry = Geometry { page_bytes: 256, pages_per_block: 8, block_count: 4 };
        FailOps::new(Nand::with_geometry(geometry, NandTiming::ROUND, 1), 1)
    }

    fn reads_well<F: Flash>(flash: &mut F, page: PageIndex) -> bool {
        let bytes = flash.geometry().page_bytes as usize;
        let (mut data, mut tag) = (vec![0; bytes], [0; TAG_BYTES]);
        (0..8).all(|_| flash.read(page, &mut data, &mut tag).is_ok() && data == vec![0x5A; bytes] && tag == TAG)
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
    fn nor_goes_on_after_a_failed_program() {
        let mut chip = FailOps::new(NorPages::new(Nor::with_geometry(4096, 4, NorTiming::ROUND, 1), 512), 1);
        chip.fail_program(1);
        assert_eq!(chip.program(0, &[0x5A; 512], &TAG), Err(Failure::BadBlock));
        let next_block = chip.geometry().pages_per_block;
        chip.program(next_block, &[0x5A; 512], &TAG).unwrap();
        assert!(reads_well(&mut chip, next_block));
    }
}
