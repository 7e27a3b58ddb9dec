//! Bytes damaged by a power cut, and the effects of a cut on a NOR chip.

use super::{Block, Nor, Tear};
use crate::fault::{Tearable, Torn};
use crate::garble;
use fastrand::Rng;
use std::sync::Arc;
use steadyfs::media::groups::Groups;
use steadyfs::media::nor::{NorFlash, NorPages};
use steadyfs::media::{BlockIndex, Flash, PageIndex, TAG_BYTES};

/// The byte has no flaw.
pub(super) const SOUND: u8 = 0;
/// The byte reads the same each time, but would not hold a program.
const WEAK: u8 = 1;
/// The byte is metastable and reads well until the next power-on.
const STEADY: u8 = 2;
/// The byte is metastable and reads badly until the next power-on.
const UNSTEADY: u8 = 3;
/// The byte is metastable, and each read decides separately.
const UNSTABLE: u8 = 4;

impl Nor {
    /// Reads the cells at an address. Each read of a metastable byte may return another value.
    pub(super) fn sense(&mut self, address: u32, data: &mut [u8]) {
        let (mut address, mut rest) = (address, data);
        while !rest.is_empty() {
            let (block, start) = self.locate(address);
            let (part, later) =
                rest.split_at_mut((self.block_bytes as usize - start).min(rest.len()));
            self.sense_in_block(block, start, part);
            address += part.len() as u32;
            rest = later;
        }
    }

    fn sense_in_block(&mut self, block: usize, start: usize, data: &mut [u8]) {
        match &self.blocks[block].cells {
            Some(cells) => data.copy_from_slice(&cells[start..][..data.len()]),
            None => data.fill(0xFF),
        }
        if let Some(flaws) = &self.blocks[block].flaws {
            let mut misread = data.to_vec();
            garble::misread(&mut misread, &mut self.rng);
            let bad = [UNSTEADY, if self.rng.bool() { UNSTABLE } else { UNSTEADY }];
            for (index, byte) in data.iter_mut().enumerate() {
                if bad.contains(&flaws[start + index]) {
                    *byte = misread[index];
                }
            }
        }
    }

    /// Programs bytes within one block. Weak bytes keep garbage without a report.
    #[track_caller]
    pub(super) fn store(&mut self, address: u32, data: &[u8]) {
        let (block, start) = self.locate(address);
        let block_bytes = self.block_bytes;
        let flaws = self.blocks[block].flaws.clone();
        let cells = &mut self.blocks[block].cells_mut(block_bytes)[start..][..data.len()];
        for (index, (cell, &new)) in cells.iter_mut().zip(data).enumerate() {
            let sound = flaws.as_ref().is_none_or(|flaws| flaws[start + index] == SOUND);
            assert!(
                !sound || new & !*cell == 0,
                "program of {new:#x} at {:#x} (block {block}): it holds {:#x}, and a program \
                 cannot set a bit to 1",
                address as usize + index,
                *cell
            );
            *cell &= if sound { new } else { new | self.rng.u8(..) & self.rng.u8(..) };
        }
        let settled = flaws
            .is_some_and(|flaws| flaws[start..][..data.len()].iter().any(|&flaw| flaw != SOUND));
        if settled {
            self.set_flaws(block, start, data.len(), SOUND);
        }
    }

    fn set_flaws(&mut self, block: usize, start: usize, bytes: usize, flaw: u8) {
        let block_bytes = self.block_bytes as usize;
        let flaws =
            self.blocks[block].flaws.get_or_insert_with(|| Arc::new(vec![SOUND; block_bytes]));
        Arc::make_mut(flaws)[start..][..bytes].fill(flaw);
    }

    fn metastable(&mut self, torn: Torn) -> u8 {
        match (torn, self.rng.bool()) {
            (Torn::Unstable, _) => UNSTABLE,
            (_, true) => STEADY,
            (_, false) => UNSTEADY,
        }
    }

    /// Leaves the bytes of a program command in a state that a power cut may leave.
    #[track_caller]
    pub(super) fn tear_command(&mut self, address: u32, data: &[u8], torn: Torn) {
        let (block, start) = self.locate(address);
        let zeros = self.sound_zeros(block, start, data.len());
        self.tear_bytes(address, data, torn);
        for (index, _) in zeros.iter().enumerate().filter(|&(_, &is_zero)| is_zero) {
            self.set_flaws(block, start + index, 1, SOUND);
        }
    }

    /// Returns true for each byte that is zero and has no flaw. A program does not change such a
    /// byte, even if power fails.
    fn sound_zeros(&self, block: usize, start: usize, bytes: usize) -> Vec<bool> {
        let Some(cells) = &self.blocks[block].cells else { return vec![false; bytes] };
        let is_sound =
            |at: usize| self.blocks[block].flaws.as_ref().is_none_or(|flaws| flaws[at] == SOUND);
        (start..start + bytes).map(|at| cells[at] == 0 && is_sound(at)).collect()
    }

    #[track_caller]
    fn tear_bytes(&mut self, address: u32, data: &[u8], torn: Torn) {
        let (block, start) = self.locate(address);
        match torn {
            Torn::Old => self.set_flaws(block, start, data.len(), WEAK),
            Torn::New => self.store(address, data),
            Torn::Garbled => {
                let block_bytes = self.block_bytes;
                let cells = &mut self.blocks[block].cells_mut(block_bytes)[start..][..data.len()];
                garble::program_partly(cells, data, &mut self.rng);
            }
            Torn::Metastable | Torn::Unstable => {
                self.store(address, data);
                let flaw = self.metastable(torn);
                self.set_flaws(block, start, data.len(), flaw);
            }
        }
    }

    /// Leaves one program page of a block in a state that an interrupted erase may leave.
    fn tear_erase(&mut self, block: usize, start: usize, torn: Torn) {
        let (bytes, block_bytes) = (self.timing.program_page_bytes as usize, self.block_bytes);
        let kinds = match torn {
            Torn::Old => 1,
            Torn::Metastable | Torn::Unstable => 4,
            Torn::Garbled | Torn::New => 3,
        };
        let kind = self.rng.u8(0..kinds);
        let flaw = if kind == 3 { self.metastable(torn) } else { WEAK };
        let cells = &mut self.blocks[block].cells_mut(block_bytes)[start..][..bytes];
        match kind {
            1 => cells.fill(0xFF),
            2 => garble::erase_partly(cells, &mut self.rng),
            _ => {}
        }
        self.set_flaws(block, start, bytes, flaw);
    }

    /// Makes power fail in a later program command: `commands_before` commands before it are
    /// complete.
    ///
    /// That command and every operation after it fail with
    /// [`Failure::Device`](steadyfs::media::Failure::Device), until [`power_on`](Nor::power_on).
    /// A program of several 256-byte program pages is several commands.
    pub fn tear_program(&mut self, commands_before: u32, torn: Torn) {
        self.tear = Some(Tear { commands_before, torn });
    }

    /// Programs bytes while power fails in one of the commands.
    pub fn program_torn(&mut self, address: u32, data: &[u8], torn: Torn) {
        self.plan_tear(data.len(), torn);
        let _ = self.program(address, data);
        self.forget_tear();
    }

    /// Chooses the command, in a program of `bytes` bytes, in which power fails.
    fn plan_tear(&mut self, bytes: usize, torn: Torn) {
        let commands = (bytes as u32).div_ceil(self.timing.program_page_bytes).max(1);
        let command = match torn {
            Torn::Old => 0,
            Torn::New => u32::MAX,
            Torn::Garbled | Torn::Metastable | Torn::Unstable => self.rng.u32(0..commands),
        };
        self.tear_program(command, torn);
    }

    fn forget_tear(&mut self) {
        (self.tear, self.off) = (None, false);
    }

    /// Erases a block while power fails. Every program page of the block is independently old,
    /// erased, or half erased. All pages are too weak to be programmed.
    pub fn erase_torn(&mut self, block: BlockIndex, torn: Torn) {
        let block = self.demand_block(block);
        self.count_erase(block);
        if torn == Torn::New {
            self.blocks[block].erase();
        } else {
            let pages = (0..self.block_bytes).step_by(self.timing.program_page_bytes as usize);
            pages.for_each(|start| self.tear_erase(block, start as usize, torn));
        }
    }

    /// Restores power. The chip answers again. For each program page it is decided again how its
    /// metastable bytes read. Or these bytes settle, and then read the same for ever.
    pub fn power_on(&mut self) {
        self.tear = None;
        self.off = false;
        for block in &mut self.blocks {
            let Block { cells: Some(cells), flaws: Some(flaws), .. } = block else { continue };
            let bytes = self.timing.program_page_bytes as usize;
            let pages =
                Arc::make_mut(flaws).chunks_mut(bytes).zip(Arc::make_mut(cells).chunks_mut(bytes));
            for (flaws, cells) in
                pages.filter(|(flaws, _)| flaws.iter().any(|&flaw| flaw >= STEADY))
            {
                let good = self.rng.bool();
                let settles = self.rng.u8(0..100) < self.settling_percent;
                decide(flaws, cells, good, settles, &mut self.rng);
            }
        }
    }
}

/// Decides how the metastable bytes of a program page read from this power-on. Bytes that settle
/// are stable, but a program of them would leave garbage.
fn decide(flaws: &mut [u8], cells: &mut [u8], good: bool, settles: bool, rng: &mut Rng) {
    let mut spoilt = cells.to_vec();
    if settles && !good {
        garble::misread(&mut spoilt, rng);
    }
    for (index, flaw) in flaws.iter_mut().enumerate().filter(|(_, flaw)| **flaw >= STEADY) {
        cells[index] = spoilt[index];
        *flaw = match (*flaw, good) {
            _ if settles => WEAK,
            (UNSTABLE, _) => UNSTABLE,
            (_, true) => STEADY,
            (_, false) => UNSTEADY,
        };
    }
}

/// A chip, or a wrapper that makes blocks of its sectors.
pub trait Cuttable: NorFlash {
    /// Returns the chip.
    fn nor(&mut self) -> &mut Nor;

    /// Erases a block while power fails.
    fn cut_erase(&mut self, block: BlockIndex, torn: Torn);
}

impl Cuttable for Nor {
    fn nor(&mut self) -> &mut Nor {
        self
    }

    fn cut_erase(&mut self, block: BlockIndex, torn: Torn) {
        self.erase_torn(block, torn);
    }
}

impl Cuttable for Groups<Nor> {
    fn nor(&mut self) -> &mut Nor {
        self.chip_mut()
    }

    /// The cut meets one of the sectors. The sectors before it are erased, and the sectors behind
    /// it are unchanged.
    fn cut_erase(&mut self, block: BlockIndex, torn: Torn) {
        let (sectors, chip) = (self.sectors(), self.chip_mut());
        let met = match torn {
            _ if sectors == 1 => 0,
            Torn::Old => 0,
            Torn::New => sectors - 1,
            Torn::Garbled | Torn::Metastable | Torn::Unstable => chip.rng.u32(0..sectors),
        };
        for sector in block * sectors..block * sectors + met {
            chip.erase_torn(sector, Torn::New);
        }
        chip.erase_torn(block * sectors + met, torn);
    }
}

impl<C: Cuttable> Tearable for NorPages<C> {
    /// Programs a page while power fails in one command. Half of the time this is the command of
    /// the tag, otherwise a command of the data. If the torn state is garbled, the part that was
    /// being programmed may also read as before.
    fn program_torn(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES], torn: Torn) {
        let chip = self.chip_mut().nor();
        // Trailing 0xFF bytes are not programmed.
        let used = data.iter().rposition(|&byte| byte != 0xFF).map_or(0, |last| last as u32 + 1);
        let data_commands = used.div_ceil(chip.timing.program_page_bytes);
        let command = match torn {
            Torn::Old => 0,
            Torn::New => data_commands,
            Torn::Garbled | Torn::Metastable | Torn::Unstable
                if data_commands == 0 || chip.rng.bool() =>
            {
                data_commands
            }
            Torn::Garbled | Torn::Metastable | Torn::Unstable => chip.rng.u32(0..data_commands),
        };
        let untouched = torn == Torn::Garbled && chip.rng.u8(0..4) == 0;
        chip.tear_program(command, if untouched { Torn::Old } else { torn });
        let _ = self.program(page, data, tag);
        let chip = self.chip_mut().nor();
        (chip.tear, chip.off) = (None, false);
    }

    /// Programs bytes while power fails in the last command, or in an earlier one.
    fn program_bytes_torn(&mut self, block: BlockIndex, offset: u32, data: &[u8], torn: Torn) {
        self.chip_mut().nor().plan_tear(data.len(), torn);
        let _ = self.program_bytes(block, offset, data);
        self.chip_mut().nor().forget_tear();
    }

    fn program_loaded_torn(&mut self, _page: PageIndex, _tag: &[u8; TAG_BYTES], _torn: Torn) {}

    fn erase_torn(&mut self, block: BlockIndex, torn: Torn) {
        self.chip_mut().cut_erase(block, torn);
    }

    fn power_on(&mut self) {
        self.chip_mut().nor().power_on();
    }
}

#[cfg(test)]
mod tests {
    use super::super::NorTiming;
    use super::*;
    use steadyfs::media::Failure;
    use steadyfs::media::nor::NorFlash;

    const DATA: [u8; 512] = [0x5A; 512];
    const TAG: [u8; TAG_BYTES] = [0x11; TAG_BYTES];

    fn pages(seed: u64) -> NorPages<Nor> {
        NorPages::new(Nor::with_geometry(4096, 4, NorTiming::ROUND, seed), 512)
    }

    fn read(pages: &mut NorPages<Nor>, page: PageIndex) -> ([u8; 512], [u8; TAG_BYTES]) {
        let (mut data, mut tag) = ([0; 512], [0; TAG_BYTES]);
        pages.read(page, &mut data, &mut tag).unwrap();
        (data, tag)
    }

    fn program_torn(seed: u64, torn: Torn) -> NorPages<Nor> {
        let mut pages = pages(seed);
        pages.program_torn(0, &DATA, &TAG, torn);
        pages.power_on();
        pages
    }

    #[test]
    fn torn_new_is_complete() {
        assert_eq!(read(&mut program_torn(1, Torn::New), 0), (DATA, TAG));
    }

    #[test]
    fn torn_old_looks_erased_but_a_later_program_does_not_hold() {
        let mut pages = program_torn(1, Torn::Old);
        assert_eq!(read(&mut pages, 0), ([0xFF; 512], [0xFF; TAG_BYTES]));
        assert_eq!(pages.program(0, &DATA, &TAG), Ok(()), "the chip does not tell");
        assert_ne!(read(&mut pages, 0), (DATA, TAG));
        pages.erase(0).unwrap();
        pages.program(0, &DATA, &TAG).unwrap();
        assert_eq!(read(&mut pages, 0), (DATA, TAG), "an erase heals the page");
    }

    #[test]
    fn torn_garbled_is_part_of_the_data_or_of_the_tag() {
        let (mut in_data, mut in_tag) = (0, 0);
        for seed in 0..40 {
            let mut pages = program_torn(seed, Torn::Garbled);
            let (data, tag) = read(&mut pages, 0);
            assert!(data.iter().all(|byte| byte & 0x5A == 0x5A), "seed {seed}");
            assert_eq!(read(&mut pages, 0), (data, tag), "garbled bytes are stable");
            if data == DATA {
                in_tag += 1;
            } else {
                assert_eq!(tag, [0xFF; TAG_BYTES], "seed {seed}: the tag comes after the data");
                in_data += 1;
            }
        }
        assert!(in_data > 8 && in_tag > 8, "{in_data} in data, {in_tag} in tag");
    }

    #[test]
    fn torn_metastable_changes_at_power_on() {
        let mut pages = pages(2);
        pages.chip_mut().settling_percent = 0;
        pages.program_torn(0, &DATA, &TAG, Torn::Metastable);
        let mut seen = [0; 2];
        for _ in 0..32 {
            pages.power_on();
            let steady = (0..8).all(|_| {
                let (first, second) = (read(&mut pages, 0), read(&mut pages, 0));
                first == second
            });
            seen[usize::from(steady)] += 1;
        }
        assert!(seen[0] > 4 && seen[1] > 4, "{seen:?}");
    }

    #[test]
    fn torn_unstable_changes_at_each_read_until_a_power_on_settles_it() {
        let (mut good, mut changing) = ([0; 2], 0);
        for seed in 0..32 {
            let mut pages = pages(seed);
            pages.program_torn(0, &DATA, &TAG, Torn::Unstable);
            let first = read(&mut pages, 0);
            changing += u32::from((0..8).any(|_| read(&mut pages, 0) != first));
            pages.chip_mut().settling_percent = 100;
            pages.power_on();
            let settled = read(&mut pages, 0);
            good[usize::from(settled == (DATA, TAG))] += 1;
            for _ in 0..8 {
                pages.power_on();
                assert_eq!(read(&mut pages, 0), settled, "seed {seed}");
            }
        }
        assert!(changing > 24 && good[1] > 4, "{changing} change, {good:?}");
    }

    #[test]
    fn a_metastable_byte_may_be_programmed_blindly_without_a_panic() {
        for seed in 0..20 {
            let mut pages = program_torn(seed, Torn::Metastable);
            pages.chip_mut().store(0, &[0xEE; TAG_BYTES]);
        }
    }

    #[test]
    fn a_torn_erase_leaves_program_pages_old_erased_or_half_erased() {
        let (mut old, mut erased, mut other) = (0, 0, 0);
        for seed in 0..20 {
            let mut chip = Nor::with_geometry(4096, 4, NorTiming::ROUND, seed);
            chip.program(0, &[0x5A; 4096]).unwrap();
            chip.erase_torn(0, Torn::Garbled);
            for page in 0..16 {
                let mut data = [0; 256];
                chip.read(page * 256, &mut data).unwrap();
                match data {
                    _ if data == [0x5A; 256] => old += 1,
                    _ if data == [0xFF; 256] => erased += 1,
                    _ => other += 1,
                }
            }
            chip.erase(0).unwrap();
            chip.program(0, &[0x5A; 4096]).unwrap();
        }
        assert!(old > 60 && erased > 60 && other > 60, "{old} old, {erased} erased, {other} other");
    }

    #[test]
    fn a_cut_in_a_later_command_lets_the_earlier_ones_complete() {
        let mut chip = Nor::with_geometry(4096, 4, NorTiming::ROUND, 1);
        chip.tear_program(1, Torn::Old);
        assert_eq!(chip.program(0, &[0; 512]), Err(Failure::Device));
        assert_eq!(chip.program(512, &[0]), Err(Failure::Device), "power stays off");
        chip.power_on();
        let mut data = [0; 512];
        chip.read(0, &mut data).unwrap();
        assert_eq!((data[255], data[256]), (0, 0xFF));
    }
}
