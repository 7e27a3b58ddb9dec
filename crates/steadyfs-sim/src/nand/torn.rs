//! The effects of a power cut on a NAND chip.

use super::Nand;
use super::flaw::{Decided, Flaw};
use crate::fault::{Tearable, Torn};
use crate::garble;
use steadyfs::media::{BlockIndex, Flash, PageIndex, TAG_BYTES};

impl Nand {
    /// Leaves a page in a state that an interrupted program may leave.
    fn tear(&mut self, page: PageIndex, data: &[u8], tag: &[u8], torn: Torn) {
        let weak = self.flaws.contains_key(&page);
        match torn {
            Torn::Old => {
                self.flaws.entry(page).or_insert(Flaw::Weak);
            }
            Torn::New => self.store(page, data, tag),
            Torn::Metastable | Torn::Unstable if !weak => {
                self.store(page, data, tag);
                let flaw = Flaw::metastable(torn, &mut self.rng);
                self.flaws.insert(page, flaw);
            }
            Torn::Garbled | Torn::Metastable | Torn::Unstable => {
                self.flaws.insert(page, Flaw::Weak);
                self.store(page, data, tag);
            }
        }
    }

    /// Leaves one page of a block in a state that an interrupted erase may leave.
    fn tear_erase(&mut self, page: PageIndex, torn: Torn) {
        let (block, in_block) = self.locate(page);
        let programmed = self.blocks[block].programs(in_block) > 0;
        let kinds = match torn {
            Torn::Old => 1,
            Torn::Metastable | Torn::Unstable => 4,
            Torn::Garbled | Torn::New => 3,
        };
        match self.rng.u8(0..kinds) {
            0 if programmed => {}
            0 => {
                self.flaws.entry(page).or_insert(Flaw::Weak);
            }
            1 => {
                self.cells_mut(page).fill(0xFF);
                self.blocks[block].set_programs(in_block, 0);
                self.flaws.insert(page, Flaw::Weak);
            }
            2 => self.garble(page, programmed),
            _ => {
                self.cells_mut(page);
                self.blocks[block].set_programs(in_block, self.programs_per_page);
                let flaw = Flaw::metastable(torn, &mut self.rng);
                self.flaws.insert(page, flaw);
            }
        }
    }

    /// Leaves a page half erased, or disturbed if there was nothing to erase.
    fn garble(&mut self, page: PageIndex, programmed: bool) {
        let (block, in_block) = self.locate(page);
        let mut rng = self.rng.clone();
        let cells = self.cells_mut(page);
        if programmed {
            garble::erase_partly(cells, &mut rng);
        } else {
            let nothing = vec![0; cells.len()];
            garble::program_partly(cells, &nothing, &mut rng);
        }
        self.rng = rng;
        self.blocks[block].set_programs(in_block, self.programs_per_page);
        self.flaws.insert(page, Flaw::Garbled);
    }
}

impl Tearable for Nand {
    fn program_torn(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES], torn: Torn) {
        self.demand_programmable(page, data.len());
        self.loaded = None;
        self.count_program(data.len());
        self.tear(page, data, tag, torn);
    }

    fn program_loaded_torn(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES], torn: Torn) {
        if self.can_copy() {
            self.demand_programmable(page, 0);
            let data = self.take_loaded(page);
            self.tear(page, &data, tag, torn);
        }
    }

    fn erase_torn(&mut self, block: BlockIndex, torn: Torn) {
        let index = self.demand_block(block, "erase");
        let pages = self.pages_of(index);
        self.demand_good(index, pages.start, "erase");
        self.loaded = None;
        self.count_erase(index);
        if torn == Torn::New {
            self.clear_flaws(index);
            self.blocks[index].erase();
        } else {
            pages.for_each(|page| self.tear_erase(page, torn));
        }
    }

    fn power_on(&mut self) {
        self.loaded = None;
        let mut spoilt = Vec::new();
        for (&page, flaw) in &mut self.flaws {
            let Flaw::Metastable { good, decided } = flaw else { continue };
            if *decided != Decided::ForGood {
                *good = self.rng.bool();
                if self.rng.u8(0..100) < self.settling_percent {
                    *decided = Decided::ForGood;
                    spoilt.extend((!*good).then_some(page));
                }
            }
        }
        for page in spoilt {
            self.garble(page, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::NandTiming;
    use super::*;
    use steadyfs::media::{Failure, Geometry};

    const DATA: [u8; 256] = [0x5A; 256];
    const TAG: [u8; TAG_BYTES] = [0x11; TAG_BYTES];

    fn chip(seed: u64) -> Nand {
        let geometry =
            Geometry { page_bytes: 256, pages_per_block: 8, block_count: 4, programs_bytes: false };
        Nand::with_geometry(geometry, NandTiming::ROUND, seed)
    }

    fn read(chip: &mut Nand, page: PageIndex) -> Result<([u8; 256], [u8; TAG_BYTES]), Failure> {
        let (mut data, mut tag) = ([0; 256], [0; TAG_BYTES]);
        chip.read(page, &mut data, &mut tag).map(|()| (data, tag))
    }

    fn reads_well(chip: &mut Nand, page: PageIndex) -> bool {
        (0..8).all(|_| read(chip, page) == Ok((DATA, TAG)))
    }

    #[test]
    fn torn_new_is_complete() {
        let mut chip = chip(1);
        chip.program_torn(0, &DATA, &TAG, Torn::New);
        assert!(reads_well(&mut chip, 0));
    }

    #[test]
    fn torn_old_looks_erased_but_a_later_program_does_not_hold() {
        let mut told = [0; 2];
        for seed in 0..32 {
            let mut chip = chip(seed);
            chip.program_torn(0, &DATA, &TAG, Torn::Old);
            assert_eq!(read(&mut chip, 0), Ok(([0xFF; 256], [0xFF; TAG_BYTES])));
            told[usize::from(chip.program(0, &DATA, &TAG) == Err(Failure::BadBlock))] += 1;
            assert!(!reads_well(&mut chip, 0));
            chip.erase(0).unwrap();
            chip.program(0, &DATA, &TAG).unwrap();
            assert!(reads_well(&mut chip, 0), "an erase heals the page");
        }
        assert!(told[0] > 4 && told[1] > 4, "the chip tells every second time: {told:?}");
    }

    #[test]
    fn torn_garbled_reads_as_garbage_or_fails() {
        let (mut failed, mut garbage) = (0, 0);
        for seed in 0..20 {
            let mut chip = chip(seed);
            chip.program_torn(0, &DATA, &TAG, Torn::Garbled);
            for _ in 0..10 {
                match read(&mut chip, 0) {
                    Err(failure) => failed += usize::from(failure == Failure::Uncorrectable),
                    Ok((data, _)) => garbage += usize::from(data != DATA),
                }
            }
        }
        assert!(failed > 50 && garbage > 50, "{failed} failed, {garbage} garbage");
    }

    #[test]
    fn torn_metastable_changes_only_at_power_on() {
        let mut chip = chip(5).with_settling_percent(0);
        chip.program_torn(0, &DATA, &TAG, Torn::Metastable);
        let mut seen = [0; 2];
        for _ in 0..32 {
            chip.power_on();
            let first = reads_well(&mut chip, 0);
            assert_eq!(reads_well(&mut chip, 0), first);
            seen[usize::from(first)] += 1;
        }
        assert!(seen[0] > 4 && seen[1] > 4, "{seen:?}");
    }

    #[test]
    fn torn_unstable_changes_at_each_read_and_a_copy_takes_what_was_read() {
        let (mut seen, mut copied) = ([0; 2], [0; 2]);
        for seed in 0..32 {
            let mut chip = chip(seed).with_settling_percent(0);
            chip.program_torn(0, &DATA, &TAG, Torn::Unstable);
            (0..8).for_each(|_| seen[usize::from(read(&mut chip, 0) == Ok((DATA, TAG)))] += 1);
            let mut tag = [0; TAG_BYTES];
            let good = chip.read_tag(0, &mut tag).is_ok() && tag == TAG;
            chip.program_loaded(8, &TAG).unwrap();
            let copied_well = reads_well(&mut chip, 8);
            assert!(good || !copied_well, "seed {seed}: the tag was read badly, the data well");
            copied[usize::from(copied_well)] += 1;
        }
        assert!(
            seen[0] > 32 && seen[1] > 32 && copied[0] > 4 && copied[1] > 4,
            "{seen:?}, {copied:?}"
        );
    }

    #[test]
    fn power_on_settles_metastable_and_unstable_pages_for_good() {
        for torn in [Torn::Metastable, Torn::Unstable] {
            let mut settled = [0; 2];
            for seed in 0..32 {
                let mut chip = chip(seed).with_settling_percent(100);
                chip.program_torn(0, &DATA, &TAG, torn);
                chip.power_on();
                let good = reads_well(&mut chip, 0);
                settled[usize::from(good)] += 1;
                for _ in 0..8 {
                    chip.power_on();
                    assert_eq!(reads_well(&mut chip, 0), good);
                }
            }
            assert!(settled[0] > 4 && settled[1] > 4, "{torn:?}: {settled:?}");
        }
    }

    #[test]
    fn a_torn_program_leaves_every_other_page_unchanged() {
        for (seed, torn) in Torn::ALL.into_iter().enumerate() {
            let mut chip = chip(seed as u64);
            chip.program(0, &DATA, &TAG).unwrap();
            chip.program_torn(1, &DATA, &TAG, torn);
            chip.program(2, &DATA, &TAG).unwrap();
            assert!(reads_well(&mut chip, 0) && reads_well(&mut chip, 2), "{torn:?}");
        }
    }

    #[test]
    fn a_torn_copy_is_a_torn_program_of_the_register() {
        let mut chip = chip(1);
        chip.program(0, &DATA, &TAG).unwrap();
        chip.read_tag(0, &mut [0; TAG_BYTES]).unwrap();
        chip.program_loaded_torn(8, &TAG, Torn::New);
        assert!(reads_well(&mut chip, 8));
        chip.read_tag(0, &mut [0; TAG_BYTES]).unwrap();
        chip.program_loaded_torn(9, &TAG, Torn::Garbled);
        assert!(!reads_well(&mut chip, 9));
    }

    #[test]
    fn a_torn_erase_leaves_pages_old_erased_or_garbled() {
        let (mut old, mut erased, mut other) = (0, 0, 0);
        for seed in 0..30 {
            let mut chip = chip(seed);
            (0..8).for_each(|page| chip.program(page, &DATA, &TAG).unwrap());
            chip.erase_torn(0, Torn::Garbled);
            for page in 0..8 {
                match read(&mut chip, page) {
                    Ok((DATA, TAG)) => old += 1,
                    Ok((data, _)) if data == [0xFF; 256] => erased += 1,
                    _ => other += 1,
                }
            }
            assert_eq!(chip.erase_counts()[0], 1);
            chip.erase(0).unwrap();
            (0..8).for_each(|page| chip.program(page, &DATA, &TAG).unwrap());
            assert!((0..8).all(|page| reads_well(&mut chip, page)), "seed {seed}");
        }
        assert!(old > 40 && erased > 40 && other > 40, "{old} old, {erased} erased, {other} other");
    }

    #[test]
    fn a_torn_erase_that_did_nothing_keeps_the_data() {
        let mut chip = chip(3);
        chip.program(0, &DATA, &TAG).unwrap();
        chip.erase_torn(0, Torn::Old);
        assert!(reads_well(&mut chip, 0));
        let _ = chip.program(1, &DATA, &TAG);
        assert!(!reads_well(&mut chip, 1), "its erased pages are weak");
    }

    #[test]
    #[should_panic(expected = "a torn or failed operation left it so")]
    fn programming_a_garbled_page_again_panics() {
        let mut chip = chip(1);
        chip.program_torn(0, &DATA, &TAG, Torn::Garbled);
        let _ = chip.program(0, &DATA, &TAG);
    }
}
