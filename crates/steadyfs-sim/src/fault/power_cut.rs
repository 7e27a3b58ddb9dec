//! Power cuts in the middle of a chosen program or erase.

use super::{Tearable, Torn};
use super::{forward, one_by_one};
use crate::checksum;
use crate::meter::{Counters, Metered};
use crate::nand::Nand;
use crate::nor::Nor;
use fastrand::Rng;
use steadyfs::media::nor::{NorFlash, NorPages};
use steadyfs::media::{BlockIndex, Failure, Flash, PageIndex, TAG_BYTES};

/// A planned power cut.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Number of the interrupted operation, as `PowerCut::operations` counts it.
    operation: u64,
    /// The state that the power cut leaves in the page or block. If it is `None`, the seed
    /// determines the state.
    torn: Option<Torn>,
}

/// A medium whose power fails in the middle of a chosen program, copy or erase.
///
/// After the cut every operation fails with [`Failure::Device`], until
/// [`power_on`](PowerCut::power_on).
#[derive(Clone, Debug)]
pub struct PowerCut<F> {
    inner: F,
    rng: Rng,
    operations: u64,
    plan: Option<Plan>,
    torn: Option<Torn>,
    off: bool,
}

/// The plan's decision about the next program or erase.
enum Fate {
    Complete,
    Torn(Torn),
}

impl<F: Tearable> PowerCut<F> {
    /// Wraps a medium. No power cut is planned yet. The seed determines the states that power cuts
    /// leave.
    pub fn new(inner: F, seed: u64) -> Self {
        Self { inner, rng: Rng::with_seed(seed), operations: 0, plan: None, torn: None, off: false }
    }

    /// Plans a power cut in the `n`-th program, copy or erase from now. An `n` of 1 is the next
    /// operation. A later plan replaces an earlier one.
    pub fn cut_at(&mut self, n: u64) {
        self.plan_cut(n, None);
    }

    /// Plans a cut as [`cut_at`](PowerCut::cut_at) does, and sets the state that it leaves
    /// behind.
    pub fn cut_at_leaving(&mut self, n: u64, torn: Torn) {
        self.plan_cut(n, Some(torn));
    }

    fn plan_cut(&mut self, n: u64, torn: Option<Torn>) {
        assert!(n > 0, "operations are counted from 1");
        self.plan = Some(Plan { operation: self.operations + n, torn });
    }

    /// Cancels a planned cut.
    pub fn cancel(&mut self) {
        self.plan = None;
    }

    /// Cuts power now, between two operations.
    pub fn cut_now(&mut self) {
        self.plan = None;
        self.off = true;
    }

    /// Restores power. Metastable pages are decided again.
    pub fn power_on(&mut self) {
        self.off = false;
        self.inner.power_on();
    }

    /// Returns the number of programs, copies and erases so far, including interrupted ones.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Returns true if power is off.
    pub fn is_off(&self) -> bool {
        self.off
    }

    /// Returns the state that the last cut left behind.
    pub fn last_torn(&self) -> Option<Torn> {
        self.torn
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

    fn answer(&self) -> Result<(), Failure> {
        if self.off { Err(Failure::Device) } else { Ok(()) }
    }

    /// Counts a program or erase, and decides if power fails in it.
    fn fate(&mut self) -> Result<Fate, Failure> {
        self.answer()?;
        self.operations += 1;
        match self.plan {
            Some(plan) if plan.operation == self.operations => {
                let torn =
                    plan.torn.unwrap_or_else(|| Torn::ALL[self.rng.usize(..Torn::ALL.len())]);
                self.plan = None;
                self.torn = Some(torn);
                self.off = true;
                Ok(Fate::Torn(torn))
            }
            _ => Ok(Fate::Complete),
        }
    }
}

impl<F: Tearable> Flash for PowerCut<F> {
    forward!(geometry timing reads_many corrected can_copy reorders hides_damage);

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.answer()?;
        self.inner.read(page, data, tag)
    }

    fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        self.answer()?;
        self.inner.read_many(first, data, tags)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.answer()?;
        self.inner.read_tag(page, tag)
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        match self.fate()? {
            Fate::Complete => self.inner.program(page, data, tag),
            Fate::Torn(torn) => {
                self.inner.program_torn(page, data, tag, torn);
                Err(Failure::Device)
            }
        }
    }

    fn program_many(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Failure> {
        if !self.inner.joins_programs() {
            return one_by_one(self, first, data, tags);
        }
        match self.fate()? {
            Fate::Complete => self.inner.program_many(first, data, tags),
            Fate::Torn(torn) => {
                self.inner.program_many_torn(first, data, tags, torn);
                Err(Failure::Device)
            }
        }
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        if !self.inner.can_copy() {
            return Err(Failure::Device);
        }
        match self.fate()? {
            Fate::Complete => self.inner.program_loaded(page, tag),
            Fate::Torn(torn) => {
                self.inner.program_loaded_torn(page, tag, torn);
                Err(Failure::Device)
            }
        }
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.answer()?;
        self.inner.read_bytes(block, offset, data)
    }

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        match self.fate()? {
            Fate::Complete => self.inner.program_bytes(block, offset, data),
            Fate::Torn(torn) => {
                self.inner.program_bytes_torn(block, offset, data, torn);
                Err(Failure::Device)
            }
        }
    }

    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        checksum(data, missing)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        match self.fate()? {
            Fate::Complete => self.inner.erase(block),
            Fate::Torn(torn) => {
                self.inner.erase_torn(block, torn);
                Err(Failure::Device)
            }
        }
    }

    fn sync(&mut self) -> Result<(), Failure> {
        self.answer()?;
        self.inner.sync()
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.answer()?;
        self.inner.is_bad(block)
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.answer()?;
        self.inner.mark_bad(block)
    }
}

impl PowerCut<Nand> {
    /// Calls [`Nand::read_part`] if power is on.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn read_part(
        &mut self,
        page: PageIndex,
        offset: usize,
        part: &mut [u8],
    ) -> Result<(), Failure> {
        self.answer()?;
        self.inner.read_part(page, offset, part)
    }
}

/// Access to the bytes of the chip with the same power cuts, for users that need no pages.
impl NorFlash for PowerCut<NorPages<Nor>> {
    fn block_bytes(&self) -> u32 {
        self.inner.chip().block_bytes()
    }

    fn block_count(&self) -> u32 {
        self.inner.chip().block_count()
    }

    fn times_ns(&self, bytes: u32) -> (u64, u64, u64) {
        self.inner.chip().times_ns(bytes)
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        self.answer()?;
        self.inner.chip_mut().read(address, data)
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        match self.fate()? {
            Fate::Complete => self.inner.chip_mut().program(address, data),
            Fate::Torn(torn) => {
                self.inner.chip_mut().program_torn(address, data, torn);
                Err(Failure::Device)
            }
        }
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        Flash::erase(self, block)
    }
}

impl<F: Metered> Metered for PowerCut<F> {
    fn counters(&self) -> Counters {
        self.inner.counters()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FailOps, NandTiming, NorTiming};
    use steadyfs::media::Geometry;

    const TAG: [u8; TAG_BYTES] = [1; TAG_BYTES];

    fn nand(seed: u64) -> Nand {
        let geometry =
            Geometry { page_bytes: 256, pages_per_block: 8, block_count: 4, programs_bytes: false };
        Nand::with_geometry(geometry, NandTiming::ROUND, seed)
    }

    fn tag_of<F: Flash>(flash: &mut F, page: PageIndex) -> Result<[u8; TAG_BYTES], Failure> {
        let mut tag = [0; TAG_BYTES];
        flash.read_tag(page, &mut tag).map(|()| tag)
    }

    #[test]
    fn power_fails_in_the_chosen_operation_and_stays_off() {
        let mut cut = PowerCut::new(nand(1), 1);
        cut.program(0, &[0; 256], &TAG).unwrap();
        cut.cut_at_leaving(2, Torn::Old);
        cut.program(1, &[0; 256], &TAG).unwrap();
        assert!(!cut.is_off());
        assert_eq!(cut.program(2, &[0; 256], &TAG), Err(Failure::Device));
        assert!(cut.is_off());
        assert_eq!(cut.last_torn(), Some(Torn::Old));
        assert_eq!(tag_of(&mut cut, 0), Err(Failure::Device));
        assert_eq!(cut.program(3, &[], &TAG), Err(Failure::Device));
        assert_eq!(cut.erase(0), Err(Failure::Device));
        assert_eq!(cut.sync(), Err(Failure::Device));
        assert_eq!(cut.is_bad(0), Err(Failure::Device));
        assert_eq!(cut.mark_bad(0), Err(Failure::Device));
        assert_eq!(cut.operations(), 3, "what power refuses does not count");
        cut.power_on();
        assert_eq!(tag_of(&mut cut, 1), Ok(TAG));
        assert_eq!(tag_of(&mut cut, 2), Ok([0xFF; TAG_BYTES]));
        assert_eq!(cut.counters().programs, 3);
    }

    #[test]
    fn copies_and_erases_are_cut_too() {
        let mut cut = PowerCut::new(nand(1), 1);
        cut.program(0, &[0; 256], &TAG).unwrap();
        cut.cut_at_leaving(1, Torn::New);
        tag_of(&mut cut, 0).unwrap();
        assert_eq!(cut.program_loaded(8, &[2; TAG_BYTES]), Err(Failure::Device));
        cut.power_on();
        assert_eq!(tag_of(&mut cut, 8), Ok([2; TAG_BYTES]));
        cut.cut_at_leaving(1, Torn::New);
        assert_eq!(cut.erase(1), Err(Failure::Device));
        cut.power_on();
        assert_eq!(tag_of(&mut cut, 8), Ok([0xFF; TAG_BYTES]));
    }

    #[test]
    fn the_same_seed_leaves_the_same_bytes_and_seeds_leave_every_kind() {
        let run = |seed: u64| {
            let mut cut = PowerCut::new(nand(seed), seed);
            cut.cut_at(3);
            (0..2).for_each(|page| cut.program(page, &[page as u8; 256], &TAG).unwrap());
            cut.program(2, &[2; 256], &TAG).unwrap_err();
            cut.power_on();
            let mut data = [0; 256];
            let outcome = cut.read(2, &mut data, &mut [0; TAG_BYTES]);
            (cut.last_torn(), outcome, data)
        };
        let mut kinds = std::collections::HashSet::new();
        for seed in 0..64 {
            assert_eq!(run(seed), run(seed));
            kinds.insert(run(seed).0);
        }
        assert_eq!(kinds.len(), Torn::ALL.len());
    }

    #[test]
    fn a_cancelled_cut_does_not_happen() {
        let mut cut = PowerCut::new(nand(1), 1);
        cut.cut_at(1);
        cut.cancel();
        cut.program(0, &[], &TAG).unwrap();
        cut.cut_now();
        assert_eq!(tag_of(&mut cut, 0), Err(Failure::Device));
    }

    #[test]
    fn a_clone_is_a_snapshot_to_cut_again() {
        let mut before = PowerCut::new(nand(1), 1);
        before.program(0, &[0; 256], &TAG).unwrap();
        for torn in Torn::ALL {
            let mut cut = before.clone();
            cut.cut_at_leaving(1, torn);
            cut.program(1, &[0; 256], &TAG).unwrap_err();
            cut.power_on();
            assert_eq!(tag_of(&mut cut, 0), Ok(TAG));
        }
        assert_eq!(before.operations(), 1);
    }

    #[test]
    fn nor_and_failing_chips_can_be_cut() {
        let mut cut =
            PowerCut::new(NorPages::new(Nor::with_geometry(4096, 4, NorTiming::ROUND, 1), 512), 1);
        cut.cut_at(2);
        Flash::program(&mut cut, 0, &[0; 512], &TAG).unwrap();
        Flash::program(&mut cut, 1, &[0; 512], &TAG).unwrap_err();
        cut.power_on();
        assert_eq!(tag_of(&mut cut, 0), Ok(TAG));

        let mut cut = PowerCut::new(FailOps::new(nand(1), 1), 1);
        cut.inner_mut().fail_program(1);
        cut.cut_at_leaving(2, Torn::New);
        assert_eq!(cut.program(0, &[0; 256], &TAG), Err(Failure::BadBlock));
        assert_eq!(cut.program(8, &[0; 256], &TAG), Err(Failure::Device));
        cut.power_on();
        assert_eq!(tag_of(&mut cut, 8), Ok(TAG));
    }

    #[test]
    fn bytes_of_a_nor_chip_are_cut_as_its_pages_are() {
        let mut cut =
            PowerCut::new(NorPages::new(Nor::with_geometry(4096, 4, NorTiming::ROUND, 1), 256), 1);
        NorFlash::program(&mut cut, 10, &[0x5A; 600]).unwrap();
        cut.cut_at_leaving(1, Torn::New);
        assert_eq!(NorFlash::program(&mut cut, 5000, &[1, 2]), Err(Failure::Device));
        assert_eq!(NorFlash::read(&mut cut, 0, &mut [0]), Err(Failure::Device));
        cut.power_on();
        let mut found = [0; 4];
        NorFlash::read(&mut cut, 5000, &mut found).unwrap();
        assert_eq!((found, cut.operations()), ([1, 2, 0xFF, 0xFF], 2));
        cut.cut_at_leaving(1, Torn::Garbled);
        NorFlash::erase(&mut cut, 0).unwrap_err();
        cut.power_on();
        let mut block = [0; 4096];
        NorFlash::read(&mut cut, 0, &mut block).unwrap();
        assert!(block[..10].iter().all(|&byte| byte == 0xFF), "an erase sets bits only");
    }
}
