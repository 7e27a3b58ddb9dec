//! A NOR chip. Programs clear bits of its bytes, and erases set these bits. It also has rules and
//! virtual time.
//!
//! [`Nor::new`] makes a chip from a [`Profile`], and [`Nor::with_geometry`] makes a chip of any
//! shape. A chip is a [`NorFlash`]. [`NorPages`](steadyfs::media::nor::NorPages) turns it into the
//! [`Flash`](steadyfs::media::Flash) that a volume takes.
//!
//! # Panics
//! Illegal use aborts the test:
//! - a program of a bit from 0 to 1, unless a power cut left the byte so weak that its value is
//!   unknown;
//! - on a chip with lines ([`Nor::with_lines`]), a program of a part of a line, or a second
//!   program of a line between erases;
//! - any access beyond the chip.

mod timing;
mod torn;

pub use timing::NorTiming;

use crate::fault::Torn;
use crate::meter::{self, Counters, Metered};
use crate::profile::{Profile, TimingChoice};
use fastrand::Rng;
use std::collections::BTreeSet;
use std::sync::Arc;
use steadyfs::media::nor::NorFlash;
use steadyfs::media::{BlockIndex, Failure};

/// One erase block. Its first program allocates memory, and its erase frees it. Clones of the
/// chip share the memory until one of them writes.
#[derive(Clone, Debug, Default)]
struct Block {
    cells: Option<Arc<Vec<u8>>>,
    /// The flaw of each byte (`torn::SOUND` and the constants behind it). `None` means that no byte
    /// has a flaw.
    flaws: Option<Arc<Vec<u8>>>,
    /// Lines that were programmed since the last erase, on a chip with lines.
    programmed: BTreeSet<usize>,
    erase_count: u32,
}

/// A power cut that waits for a program command.
#[derive(Clone, Copy, Debug)]
struct Tear {
    commands_before: u32,
    torn: Torn,
}

/// A simulated NOR chip.
#[derive(Clone, Debug)]
pub struct Nor {
    block_bytes: u32,
    timing: NorTiming,
    /// Number of bytes that are programmed together, once between erases. It is 1 if each bit may
    /// be programmed at any time.
    line_bytes: u32,
    blocks: Vec<Block>,
    /// Number of power-ons in 100 that settle the metastable bytes of a program page.
    settling_percent: u8,
    tear: Option<Tear>,
    off: bool,
    counters: Counters,
    rng: Rng,
}

impl Nor {
    /// Makes an erased chip with the figures of a profile. It uses `size_bytes` of the profile's
    /// chip, in blocks of `erase_bytes`.
    ///
    /// # Panics
    /// If the profile belongs to a NAND chip, has no erase of `erase_bytes`, or is smaller than
    /// `size_bytes`.
    pub fn new(
        profile: &Profile,
        size_bytes: u32,
        erase_bytes: u32,
        choice: TimingChoice,
        seed: u64,
    ) -> Self {
        let name = &profile.name;
        let nor = profile.nor().unwrap_or_else(|| panic!("{name} is not a NOR chip: use Nand"));
        let timing = NorTiming::of(nor, erase_bytes, choice);
        let timing = timing.unwrap_or_else(|| panic!("{name} has no erase of {erase_bytes} bytes"));
        assert!(
            size_bytes <= nor.size_bytes,
            "{name} has {} bytes, not {size_bytes}",
            nor.size_bytes
        );
        assert!(
            size_bytes.is_multiple_of(erase_bytes),
            "{size_bytes} bytes are no whole blocks of {erase_bytes}"
        );
        Self::with_geometry(erase_bytes, size_bytes / erase_bytes, timing, seed)
            .with_lines(nor.program_line_bytes)
    }

    /// Makes an erased chip of any shape.
    ///
    /// # Panics
    /// If a block is not a whole number of program pages.
    pub fn with_geometry(block_bytes: u32, block_count: u32, timing: NorTiming, seed: u64) -> Self {
        let page = timing.program_page_bytes;
        assert!(
            block_bytes.is_multiple_of(page),
            "a block of {block_bytes} bytes is no whole program pages of {page}"
        );
        Self {
            block_bytes,
            timing,
            line_bytes: 1,
            blocks: vec![Block::default(); block_count as usize],
            settling_percent: 25,
            tear: None,
            off: false,
            counters: Counters::default(),
            rng: Rng::with_seed(seed),
        }
    }

    /// Sets the number of power-ons in 100 that settle the metastable bytes of a program page.
    /// Settled bytes read well for ever, or hold garbage. Default: 25.
    #[must_use]
    pub fn with_settling_percent(mut self, settling_percent: u8) -> Self {
        assert!(settling_percent <= 100, "{settling_percent} of 100 power-ons");
        self.settling_percent = settling_percent;
        self
    }

    /// Changes the chip to a chip whose lines of `line_bytes` bytes are programmed once between
    /// erases, because an ECC covers each line.
    #[must_use]
    pub fn with_lines(self, line_bytes: u32) -> Self {
        assert!(
            self.timing.program_page_bytes.is_multiple_of(line_bytes),
            "lines of {line_bytes} bytes"
        );
        Self { line_bytes, ..self }
    }

    /// Returns the number of erases of each block.
    pub fn erase_counts(&self) -> Vec<u32> {
        self.blocks.iter().map(|block| block.erase_count).collect()
    }

    /// Returns the smallest, the mean and the largest erase count.
    pub fn wear(&self) -> (u32, f64, u32) {
        meter::spread(self.blocks.iter().map(|block| block.erase_count))
    }

    #[track_caller]
    fn demand_range(&self, address: u32, bytes: usize, verb: &str) {
        let size = u64::from(self.block_bytes) * self.blocks.len() as u64;
        let end = u64::from(address) + bytes as u64;
        assert!(
            end <= size,
            "{verb} of {bytes} bytes at {address:#x}: the chip has {size:#x} bytes"
        );
    }

    #[track_caller]
    fn demand_block(&self, block: BlockIndex) -> usize {
        let count = self.blocks.len();
        assert!((block as usize) < count, "erase of block {block}: the chip has {count} blocks");
        block as usize
    }

    /// Splits an address into the block and the byte in it.
    fn locate(&self, address: u32) -> (usize, usize) {
        ((address / self.block_bytes) as usize, (address % self.block_bytes) as usize)
    }

    /// Runs one program command, within one program page.
    #[track_caller]
    fn command(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        self.demand_lines(address, data.len());
        self.counters.programs += 1;
        self.counters.bytes_programmed += data.len() as u64;
        self.counters.time_ns += self.timing.command_ns(data.len());
        match &mut self.tear {
            Some(Tear { commands_before: 0, torn }) => {
                let torn = *torn;
                self.tear_command(address, data, torn);
                self.tear = None;
                self.off = true;
                return Err(Failure::Device);
            }
            Some(tear) => tear.commands_before -= 1,
            None => {}
        }
        self.store(address, data);
        Ok(())
    }

    /// On a chip with lines, requires whole lines that were not programmed since the last erase.
    #[track_caller]
    fn demand_lines(&mut self, address: u32, bytes: usize) {
        let line_bytes = self.line_bytes as usize;
        if line_bytes == 1 {
            return;
        }
        let (block, start) = self.locate(address);
        assert!(
            start.is_multiple_of(line_bytes) && bytes.is_multiple_of(line_bytes),
            "program of {bytes} bytes at {address:#x}: the chip programs whole lines of \
             {line_bytes}"
        );
        for line in start / line_bytes..(start + bytes) / line_bytes {
            let is_new = self.blocks[block].programmed.insert(line);
            assert!(is_new, "line {line} of block {block} is programmed twice between erases");
        }
    }

    /// Accounts for an erase.
    fn count_erase(&mut self, block: usize) {
        self.blocks[block].erase_count += 1;
        self.counters.erases += 1;
        self.counters.time_ns += self.timing.erase_ns();
    }

    fn answer(&self) -> Result<(), Failure> {
        if self.off { Err(Failure::Device) } else { Ok(()) }
    }
}

impl Block {
    /// Returns the bytes of the block, to be changed.
    fn cells_mut(&mut self, block_bytes: u32) -> &mut Vec<u8> {
        let cells = self.cells.get_or_insert_with(|| Arc::new(vec![0xFF; block_bytes as usize]));
        Arc::make_mut(cells)
    }

    fn erase(&mut self) {
        self.cells = None;
        self.flaws = None;
        self.programmed.clear();
    }
}

impl NorFlash for Nor {
    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn block_count(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// Returns the times. The program time holds for bytes that start at the beginning of a program
    /// page, or lie within one program page. Other bytes need one more command.
    fn times_ns(&self, bytes: u32) -> (u64, u64, u64) {
        let bytes = bytes as usize;
        (self.timing.read_ns(bytes), self.timing.program_ns(bytes), self.timing.erase_ns())
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        self.demand_range(address, data.len(), "read");
        self.answer()?;
        self.counters.reads += 1;
        self.counters.bytes_read += data.len() as u64;
        self.counters.time_ns += self.timing.read_ns(data.len());
        self.sense(address, data);
        Ok(())
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        self.demand_range(address, data.len(), "program");
        self.answer()?;
        let page = self.timing.program_page_bytes;
        let (mut address, mut rest) = (address, data);
        while !rest.is_empty() {
            let room = (page - address % page) as usize;
            let (chunk, later) = rest.split_at(room.min(rest.len()));
            self.command(address, chunk)?;
            address += chunk.len() as u32;
            rest = later;
        }
        Ok(())
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let block = self.demand_block(block);
        self.answer()?;
        self.count_erase(block);
        self.blocks[block].erase();
        Ok(())
    }
}

impl Metered for Nor {
    fn counters(&self) -> Counters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadyfs::media::Flash;
    use steadyfs::media::nor::NorPages;

    fn chip() -> Nor {
        Nor::with_geometry(4096, 8, NorTiming::ROUND, 1)
    }

    fn read<const N: usize>(chip: &mut Nor, address: u32) -> [u8; N] {
        let mut data = [0; N];
        chip.read(address, &mut data).unwrap();
        data
    }

    #[test]
    fn programs_clear_bits_and_an_erase_sets_them() {
        let mut chip = chip();
        assert_eq!(read(&mut chip, 4094), [0xFF; 4]);
        chip.program(4094, &[0xF0, 0x0F, 0x55, 0xAA]).unwrap();
        assert_eq!(read(&mut chip, 4094), [0xF0, 0x0F, 0x55, 0xAA], "across two blocks");
        chip.program(4094, &[0x30]).unwrap();
        assert_eq!(read(&mut chip, 4094), [0x30]);
        chip.erase(0).unwrap();
        assert_eq!(read(&mut chip, 4094), [0xFF, 0xFF, 0x55, 0xAA]);
    }

    #[test]
    #[should_panic(
        expected = "program of 0xf1 at 0x102 (block 0): it holds 0xf0, and a program cannot set a \
                    bit to 1"
    )]
    fn setting_a_bit_by_a_program_panics() {
        let mut chip = chip();
        chip.program(0x100, &[0, 0, 0xF0]).unwrap();
        let _ = chip.program(0x102, &[0xF1]);
    }

    #[test]
    #[should_panic(expected = "line 2 of block 0 is programmed twice between erases")]
    fn programming_a_line_twice_panics() {
        let mut chip = chip().with_lines(8);
        chip.program(8, &[0xF0; 16]).unwrap();
        chip.erase(0).unwrap();
        chip.program(8, &[0xF0; 16]).unwrap();
        let _ = chip.program(16, &[0xF0; 8]);
    }

    #[test]
    #[should_panic(expected = "program of 4 bytes at 0x8: the chip programs whole lines of 8")]
    fn programming_a_part_of_a_line_panics() {
        let _ = chip().with_lines(8).program(8, &[0; 4]);
    }

    #[test]
    #[should_panic(expected = "read of 2 bytes at 0x7fff: the chip has 0x8000 bytes")]
    fn reading_beyond_the_chip_panics() {
        read::<2>(&mut chip(), 0x7FFF);
    }

    #[test]
    #[should_panic(expected = "erase of block 8: the chip has 8 blocks")]
    fn erasing_beyond_the_chip_panics() {
        let _ = chip().erase(8);
    }

    #[test]
    #[should_panic(expected = "mt29f1g01abafd is not a NOR chip")]
    fn a_nand_profile_is_refused() {
        Nor::new(
            &Profile::named("mt29f1g01abafd").unwrap(),
            1 << 20,
            4096,
            TimingChoice::Typical,
            1,
        );
    }

    #[test]
    #[should_panic(expected = "w25q128jv has no erase of 8192 bytes")]
    fn an_erase_size_that_the_chip_lacks_is_refused() {
        Nor::new(&Profile::named("w25q128jv").unwrap(), 1 << 20, 8192, TimingChoice::Typical, 1);
    }

    #[test]
    fn programs_are_split_at_program_pages() {
        let mut chip = chip();
        chip.program(250, &[0; 12]).unwrap();
        let expected = Counters {
            programs: 2,
            bytes_programmed: 12,
            time_ns: 2 * (30_000 + 5 * 2_000 + 60),
            ..Counters::default()
        };
        assert_eq!(chip.counters(), expected);
    }

    #[test]
    fn pages_on_nor_take_the_time_that_timing_tells() {
        let profile = Profile::named("w25q128jv").unwrap();
        let chip = Nor::new(&profile, 1 << 20, 4096, TimingChoice::Maximum, 1);
        let mut pages = NorPages::new(chip, 512);
        let timing = pages.timing();
        pages.program(0, &[0; 512], &[0; 16]).unwrap();
        assert_eq!(pages.time_ns(), timing.program_ns);
        pages.read(0, &mut [0; 512], &mut [0; 16]).unwrap();
        assert_eq!(pages.time_ns(), timing.program_ns + timing.read_ns);
        pages.erase(0).unwrap();
        assert_eq!(pages.time_ns(), timing.program_ns + timing.read_ns + timing.erase_ns);
        assert_eq!(pages.counters().programs, 3, "two halves of a page and a tag");
    }

    #[test]
    fn wear_and_erase_counts_follow_erases() {
        let mut chip = chip();
        (0..8).for_each(|_| chip.erase(2).unwrap());
        assert_eq!(chip.erase_counts(), [0, 0, 8, 0, 0, 0, 0, 0]);
        assert_eq!(chip.wear(), (0, 1.0, 8));
    }

    #[test]
    fn a_clone_goes_its_own_way() {
        let mut chip = chip();
        chip.program(0, &[1]).unwrap();
        let mut snapshot = chip.clone();
        chip.program(0, &[0]).unwrap();
        assert_eq!(read(&mut snapshot, 0), [1]);
    }
}
