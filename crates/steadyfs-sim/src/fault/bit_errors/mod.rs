//! Bit flips from wear, age and reads, up to the strength of the ECC and beyond.

mod model;

pub use model::BitErrorModel;

use super::forward;
use super::{Tearable, Torn};
use crate::meter::{Counters, Metered};
use fastrand::Rng;
use std::collections::BTreeSet;
use std::sync::Arc;
use steadyfs::media::{BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES};

/// The programming hour of an erased page.
const NEVER: u32 = u32::MAX;

/// A medium whose bits flip according to a [`BitErrorModel`], and whose ECC corrects them up to
/// its strength.
///
/// [`corrected`](Flash::corrected) reports the corrected bits. A read of a page with more wrong
/// bits fails with [`Failure::Uncorrectable`]. The bits of erased pages do not flip. Time is a
/// number of hours. Only [`advance_hours`](BitErrors::advance_hours) moves it, so that years pass
/// without a sleep.
///
/// If a page that could not be corrected is copied inside the chip, the copy gets a new parity
/// over the wrong bits. The copy then reads without an error, but does not hold the programmed
/// data.
#[derive(Clone, Debug)]
pub struct BitErrors<F> {
    inner: F,
    /// `None` if there is no model. All calls are then passed on unchanged.
    cells: Option<Box<Cells>>,
}

/// The state that bit flips depend on.
#[derive(Clone, Debug)]
struct Cells {
    model: BitErrorModel,
    seed: u64,
    pages_per_block: u32,
    hours: u32,
    blocks: Vec<Block>,
    /// Pages that are copies of pages which could not be corrected.
    spoilt: BTreeSet<PageIndex>,
    noise: Rng,
    last: Corrected,
    /// True if the page register holds wrong bits.
    register_spoilt: bool,
    tally: BitErrorTally,
}

#[derive(Clone, Debug, Default)]
struct Block {
    erases: u32,
    /// Number of reads since the last erase.
    reads: u32,
    /// The hour in which each page was programmed. `None` means that the block is erased.
    programmed: Option<Arc<Vec<u32>>>,
}

/// The work of the ECC so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BitErrorTally {
    /// Number of reads in which bits were corrected.
    pub corrected_reads: u64,
    /// Number of reads in which more bits were wrong than the ECC can correct.
    pub uncorrectable_reads: u64,
    /// Largest number of bits that were corrected in a codeword.
    pub corrected_bits_max: u8,
}

impl<F: Flash> BitErrors<F> {
    /// Wraps a medium on which no bit flips yet.
    pub fn new(inner: F) -> Self {
        Self { inner, cells: None }
    }

    /// Makes bits flip according to the model. The seed determines which pages have more flips.
    #[must_use]
    pub fn with_model(mut self, model: BitErrorModel, seed: u64) -> Self {
        let Geometry { pages_per_block, block_count, .. } = self.inner.geometry();
        self.cells = Some(Box::new(Cells {
            model,
            seed,
            pages_per_block,
            hours: 0,
            blocks: vec![Block::default(); block_count as usize],
            spoilt: BTreeSet::new(),
            noise: Rng::with_seed(seed),
            last: Corrected::default(),
            register_spoilt: false,
            tally: BitErrorTally::default(),
        }));
        self
    }

    /// Sets the number of earlier erases of every block. Does nothing without a model.
    #[must_use]
    pub fn with_erases(mut self, erases: u32) -> Self {
        for block in self.cells.iter_mut().flat_map(|cells| &mut cells.blocks) {
            block.erases = erases;
        }
        self
    }

    /// Makes time pass. Does nothing without a model.
    pub fn advance_hours(&mut self, hours: u32) {
        if let Some(cells) = &mut self.cells {
            cells.hours = cells.hours.saturating_add(hours).min(NEVER - 1);
        }
    }

    /// Returns the work of the ECC so far.
    pub fn tally(&self) -> BitErrorTally {
        self.cells.as_ref().map(|cells| cells.tally).unwrap_or_default()
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

    /// Records that a page is programmed now.
    fn note_program(&mut self, page: PageIndex) {
        if let Some(cells) = &mut self.cells {
            cells.program(page);
        }
    }

    fn note_copy(&mut self, page: PageIndex) {
        if let Some(cells) = &mut self.cells {
            cells.copy(page);
        }
    }

    fn note_erase(&mut self, block: BlockIndex) {
        if let Some(cells) = &mut self.cells {
            cells.erase(block);
        }
    }
}

impl Cells {
    fn program(&mut self, page: PageIndex) {
        let (block, in_block) = (page / self.pages_per_block, page % self.pages_per_block);
        let per_block = self.pages_per_block as usize;
        let programmed = &mut self.blocks[block as usize].programmed;
        let programmed = programmed.get_or_insert_with(|| Arc::new(vec![NEVER; per_block]));
        Arc::make_mut(programmed)[in_block as usize] = self.hours;
    }

    fn copy(&mut self, page: PageIndex) {
        self.program(page);
        if std::mem::take(&mut self.register_spoilt) {
            self.spoilt.insert(page);
        }
    }

    fn erase(&mut self, block: BlockIndex) {
        let pages = block * self.pages_per_block..(block + 1) * self.pages_per_block;
        if !self.spoilt.is_empty() {
            self.spoilt.retain(|page| !pages.contains(page));
        }
        let block = &mut self.blocks[block as usize];
        *block = Block { erases: block.erases + 1, ..Block::default() };
    }

    /// Counts a read, and returns the number of wrong bits of the page.
    fn wrong_bits(&mut self, page: PageIndex) -> u32 {
        let block = &mut self.blocks[(page / self.pages_per_block) as usize];
        block.reads = block.reads.saturating_add(1);
        let in_block = (page % self.pages_per_block) as usize;
        let programmed = block.programmed.as_ref().map_or(NEVER, |hours| hours[in_block]);
        if programmed == NEVER {
            return 0;
        }
        let expected = self.model.expected(block.erases, self.hours - programmed, block.reads);
        let noise = self.noise.u8(0..=self.model.noise_bits);
        self.model.wrong_bits(self.seed, page, block.erases, expected) + u32::from(noise)
    }

    /// Applies the wrong bits and the ECC to a page that was read.
    fn correct(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8]) -> Result<(), Failure> {
        let bits = self.wrong_bits(page);
        let strength = self.model.strength;
        self.register_spoilt = self.spoilt.contains(&page);
        if self.register_spoilt {
            self.flip(page, u32::from(strength) + 1, data);
        }
        if bits > u32::from(strength) {
            self.flip(page, bits, data);
            self.flip(!page, bits, tag);
            self.register_spoilt = true;
            self.tally.uncorrectable_reads += 1;
            return Err(Failure::Uncorrectable);
        }
        self.last = Corrected { bits: bits as u8, strength };
        self.tally.corrected_reads += u64::from(bits > 0);
        self.tally.corrected_bits_max = self.tally.corrected_bits_max.max(bits as u8);
        Ok(())
    }

    /// Flips bits at positions that depend only on the seed and `place`.
    fn flip(&self, place: u32, bits: u32, bytes: &mut [u8]) {
        let mut rng = Rng::with_seed(self.seed ^ u64::from(place) << 8);
        for _ in 0..bits {
            let bit = rng.u32(..) as usize;
            if !bytes.is_empty() {
                let index = bit / 8 % bytes.len();
                bytes[index] ^= 1 << (bit % 8);
            }
        }
    }
}

impl<F: Flash> Flash for BitErrors<F> {
    forward!(geometry timing reads_many can_copy sync reorders is_bad mark_bad);

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        let outcome = self.inner.read(page, data, tag);
        let corrected = self.cells.as_mut().map_or(Ok(()), |cells| cells.correct(page, data, tag));
        outcome.and(corrected)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        let outcome = self.inner.read_tag(page, tag);
        let corrected =
            self.cells.as_mut().map_or(Ok(()), |cells| cells.correct(page, &mut [], tag));
        outcome.and(corrected)
    }

    fn corrected(&mut self) -> Corrected {
        match &self.cells {
            Some(cells) => cells.last,
            None => self.inner.corrected(),
        }
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.note_program(page);
        self.inner.program(page, data, tag)
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        self.note_copy(page);
        self.inner.program_loaded(page, tag)
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
        self.inner.program_bytes(block, offset, data)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.note_erase(block);
        self.inner.erase(block)
    }
}

/// The age of a page is also counted from an interrupted program, unless it leaves the old content.
impl<F: Tearable> Tearable for BitErrors<F> {
    fn program_torn(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES], torn: Torn) {
        if torn != Torn::Old {
            self.note_program(page);
        }
        self.inner.program_torn(page, data, tag, torn);
    }

    fn program_loaded_torn(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES], torn: Torn) {
        if torn != Torn::Old {
            self.note_copy(page);
        }
        self.inner.program_loaded_torn(page, tag, torn);
    }

    fn program_bytes_torn(&mut self, block: BlockIndex, offset: u32, data: &[u8], torn: Torn) {
        self.inner.program_bytes_torn(block, offset, data, torn);
    }

    /// Only a complete erase resets the wrong bits of the block.
    fn erase_torn(&mut self, block: BlockIndex, torn: Torn) {
        if torn == Torn::New {
            self.note_erase(block);
        }
        self.inner.erase_torn(block, torn);
    }

    fn power_on(&mut self) {
        self.inner.power_on();
    }
}

impl<F: Metered> Metered for BitErrors<F> {
    fn counters(&self) -> Counters {
        self.inner.counters()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Nand, NandTiming};

    const DATA: [u8; 256] = [0x5A; 256];
    const TAG: [u8; TAG_BYTES] = [0x11; TAG_BYTES];
    const YEAR: u32 = 8766;
    const EVEN: BitErrorModel =
        BitErrorModel { weak_permille: 0, endurance: 1000, ..BitErrorModel::SLC };

    fn nand() -> Nand {
        let geometry =
            Geometry { page_bytes: 256, pages_per_block: 8, block_count: 4, programs_bytes: false };
        Nand::with_geometry(geometry, NandTiming::ROUND, 1)
    }

    /// Returns a worn chip with one programmed block.
    fn worn(model: BitErrorModel) -> BitErrors<Nand> {
        let mut chip = BitErrors::new(nand()).with_model(model, 1).with_erases(1000);
        (0..8).for_each(|page| chip.program(page, &DATA, &TAG).unwrap());
        chip
    }

    fn read<F: Flash>(
        chip: &mut F,
        page: PageIndex,
    ) -> Result<([u8; 256], [u8; TAG_BYTES]), Failure> {
        let (mut data, mut tag) = ([0; 256], [0; TAG_BYTES]);
        chip.read(page, &mut data, &mut tag).map(|()| (data, tag))
    }

    /// Returns the number of bits corrected in each page of the first block. It is `None` for a
    /// page that could not be corrected.
    fn corrected<F: Flash>(chip: &mut F) -> Vec<Option<u8>> {
        let mut bits_of = |page| {
            let outcome = read(chip, page).ok()?;
            assert_eq!(outcome, (DATA, TAG), "what is corrected is right");
            Some(chip.corrected().bits)
        };
        (0..8).map(&mut bits_of).collect()
    }

    #[test]
    fn without_a_model_nothing_flips() {
        let mut chip = BitErrors::new(nand()).with_erases(1_000_000);
        chip.program(0, &DATA, &TAG).unwrap();
        chip.advance_hours(100 * YEAR);
        assert_eq!(read(&mut chip, 0), Ok((DATA, TAG)));
        assert_eq!(
            (chip.corrected(), chip.tally()),
            (Corrected::default(), BitErrorTally::default())
        );
    }

    #[test]
    fn bits_flip_with_age_up_to_the_strength_and_beyond_it_and_the_same_ones_again() {
        let mut chip = worn(EVEN);
        let mut before = corrected(&mut chip);
        let young = before.clone();
        for _ in 0..20 {
            chip.advance_hours(YEAR / 2);
            let now = corrected(&mut chip);
            let grown = before.iter().zip(&now).all(|(before, now)| match (before, now) {
                (Some(before), Some(now)) => before <= now,
                (None, now) => now.is_none(),
                (Some(_), None) => true,
            });
            assert!(grown, "{before:?} then {now:?}");
            before = now;
        }
        assert!(young.iter().all(|bits| bits.is_some_and(|bits| bits < 4)), "{young:?}");
        assert!(before.iter().filter(|bits| bits.is_none()).count() > 4, "{before:?}");
        let tally = chip.tally();
        assert!(
            tally.corrected_reads > 40
                && tally.uncorrectable_reads > 8
                && tally.corrected_bits_max == 8,
            "{tally:?}"
        );
    }

    #[test]
    fn a_datasheet_is_kept_by_the_slc_model() {
        for (erases, years) in [(1000, 1), (100, 10)] {
            let mut chip = BitErrors::new(nand()).with_model(EVEN, 2).with_erases(erases);
            (0..8).for_each(|page| chip.program(page, &DATA, &TAG).unwrap());
            chip.advance_hours(years * YEAR);
            assert!(
                corrected(&mut chip).iter().all(Option::is_some),
                "{erases} erases, {years} years"
            );
        }
    }

    #[test]
    fn reads_of_a_block_disturb_its_pages_until_it_is_erased() {
        let mut chip = worn(BitErrorModel { disturb: 1e4, ..EVEN });
        for _ in 0..1000 {
            let _ = read(&mut chip, 3);
        }
        let disturbed = corrected(&mut chip);
        assert!(disturbed.iter().all(|bits| bits.is_none_or(|bits| bits > 3)), "{disturbed:?}");
        chip.erase(0).unwrap();
        (0..8).for_each(|page| chip.program(page, &DATA, &TAG).unwrap());
        assert!(corrected(&mut chip).iter().all(|bits| bits.is_some_and(|bits| bits < 4)));
    }

    #[test]
    fn erased_pages_do_not_flip() {
        let mut chip = BitErrors::new(nand()).with_model(EVEN, 1).with_erases(100_000);
        chip.advance_hours(100 * YEAR);
        assert_eq!(read(&mut chip, 0), Ok(([0xFF; 256], [0xFF; TAG_BYTES])));
    }

    #[test]
    fn noise_comes_and_goes_within_its_bits() {
        let mut chip = worn(BitErrorModel { noise_bits: 2, worn: 0.0, fresh: 0.0, ..EVEN });
        let seen: BTreeSet<_> = (0..50).flat_map(|_| corrected(&mut chip)).flatten().collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn a_copy_of_an_uncorrectable_page_reads_well_and_is_wrong() {
        let mut chip = worn(EVEN);
        chip.advance_hours(50 * YEAR);
        assert_eq!(chip.read_tag(0, &mut [0; TAG_BYTES]), Err(Failure::Uncorrectable));
        chip.program_loaded(8, &TAG).unwrap();
        let (data, tag) = read(&mut chip, 8).unwrap();
        assert!(data != DATA && tag == TAG);
        assert_eq!(read(&mut chip, 8), Ok((data, tag)), "and stays so");
        chip.read_tag(8, &mut [0; TAG_BYTES]).unwrap();
        chip.program_loaded(16, &TAG).unwrap();
        assert_ne!(read(&mut chip, 16).unwrap().0, DATA, "a copy of the copy is wrong too");
        chip.erase(1).unwrap();
        chip.program(8, &DATA, &TAG).unwrap();
        assert_eq!(read(&mut chip, 8), Ok((DATA, TAG)), "an erase ends it");
    }

    #[test]
    fn what_was_corrected_is_told_through_the_other_wrappers() {
        let chip = worn(BitErrorModel { fresh: 4.0, ..EVEN });
        let mut chip = crate::Trace::new(crate::PowerCut::new(crate::FailOps::new(chip, 1), 1));
        let bits = corrected(&mut chip);
        assert!(bits.iter().any(|bits| bits.is_some_and(|bits| bits > 1)), "{bits:?}");
        assert_eq!(chip.corrected().strength, 8);
    }

    #[test]
    fn the_same_seed_gives_the_same_flips_and_a_clone_ages_for_itself() {
        let mut chip = worn(EVEN);
        let mut clone = chip.clone();
        chip.advance_hours(50 * YEAR);
        assert!(corrected(&mut clone).iter().all(Option::is_some));
        clone.advance_hours(50 * YEAR);
        assert_eq!(corrected(&mut clone), corrected(&mut chip));
    }
}
