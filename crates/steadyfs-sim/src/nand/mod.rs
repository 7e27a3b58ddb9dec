//! A NAND chip. It has pages, tags, erase blocks, rules, and virtual time.
//!
//! [`Nand::new`] makes a chip from a [`Profile`], and [`Nand::with_geometry`] makes a chip of any
//! shape. A chip is a [`Flash`]. Faults wrap around it ([`fault`](crate::fault)), and [`Metered`]
//! returns its counters.
//!
//! # Panics
//! Illegal use aborts the test:
//! - an access to a page or a block that the chip does not have;
//! - any use of a factory bad block, except the check if it is bad;
//! - a program of a page that is already programmed, or that lies before a programmed page of its
//!   block;
//! - more data than a page holds, or a read into a buffer of another size;
//! - a copy that does not directly follow a `read_tag`.

mod block;
mod flaw;
mod timing;
mod torn;

pub use timing::NandTiming;
pub(crate) use timing::transfer_ns;

use crate::checksum;
use crate::garble;
use crate::meter::{self, Counters, Metered};
use crate::profile::{Profile, TimingChoice};
use block::{Block, Mark};
use fastrand::Rng;
use flaw::{Decided, Flaw};
use std::collections::BTreeMap;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};

/// The content of the page register.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    page: PageIndex,
    /// True if a metastable page read well.
    good: bool,
}

/// A simulated NAND chip.
#[derive(Clone, Debug)]
pub struct Nand {
    geometry: Geometry,
    timing: NandTiming,
    on_chip_copy: bool,
    programs_per_page: u8,
    blocks: Vec<Block>,
    /// Pages that a power cut or a failed operation damaged.
    flaws: BTreeMap<PageIndex, Flaw>,
    /// Number of power-ons in 100 that settle a metastable page.
    settling_percent: u8,
    /// The page that the preceding operation, a `read_tag`, left in the page register.
    loaded: Option<Loaded>,
    counters: Counters,
    rng: Rng,
}

impl Nand {
    /// Makes an erased chip with the figures of a profile and no bad blocks.
    ///
    /// # Panics
    /// If the profile belongs to a NOR chip.
    pub fn new(profile: &Profile, choice: TimingChoice, seed: u64) -> Self {
        let nand = profile
            .nand()
            .unwrap_or_else(|| panic!("{} is not a NAND chip: use Nor", profile.name));
        Self::with_geometry(nand.geometry(), NandTiming::of(nand, choice), seed)
            .with_on_chip_copy(nand.on_chip_copy)
            .with_programs_per_page(nand.programs_per_page as u8)
    }

    /// Makes an erased chip of any shape, with on-chip copy, one program per page, and no bad
    /// blocks.
    pub fn with_geometry(geometry: Geometry, timing: NandTiming, seed: u64) -> Self {
        Self {
            geometry,
            timing,
            on_chip_copy: true,
            programs_per_page: 1,
            blocks: vec![Block::default(); geometry.block_count as usize],
            flaws: BTreeMap::new(),
            settling_percent: 25,
            loaded: None,
            counters: Counters::default(),
            rng: Rng::with_seed(seed),
        }
    }

    /// Sets if the chip offers [`Flash::program_loaded`].
    #[must_use]
    pub fn with_on_chip_copy(mut self, on_chip_copy: bool) -> Self {
        self.on_chip_copy = on_chip_copy;
        self
    }

    /// Sets the number of programs of a page between erases. Each of them can only clear bits.
    ///
    /// A number above one is for contenders that rely on it. The file system needs one.
    #[must_use]
    pub fn with_programs_per_page(mut self, programs_per_page: u8) -> Self {
        assert!(programs_per_page > 0, "a page takes at least one program");
        self.programs_per_page = programs_per_page;
        self
    }

    /// Sets how many of 100 power-ons settle a metastable page. A settled page reads well for ever,
    /// or holds garbage. Default: 25.
    ///
    /// With 0 the page never settles. With 100 it settles at the next power-on.
    #[must_use]
    pub fn with_settling_percent(mut self, settling_percent: u8) -> Self {
        assert!(settling_percent <= 100, "{settling_percent} of 100 power-ons");
        self.settling_percent = settling_percent;
        self
    }

    /// Makes these blocks bad from the factory. Block 0 is guaranteed to be good.
    #[must_use]
    pub fn with_bad_blocks_at(mut self, blocks: &[BlockIndex]) -> Self {
        for &block in blocks {
            assert!(block > 0, "block 0 is never bad");
            let block = self.demand_block(block, "factory mark");
            self.blocks[block].mark = Some(Mark::Factory);
        }
        self
    }

    /// Makes `count` blocks, chosen by the seed, bad from the factory. Block 0 is guaranteed to
    /// be good.
    #[must_use]
    pub fn with_bad_blocks(mut self, count: u32) -> Self {
        assert!(
            count < self.geometry.block_count,
            "block 0 is never bad, so {count} blocks cannot be"
        );
        let candidates = 1..self.geometry.block_count;
        let chosen = self.rng.choose_multiple(candidates, count as usize);
        self.with_bad_blocks_at(&chosen)
    }

    /// Returns the number of erases of each block.
    pub fn erase_counts(&self) -> Vec<u32> {
        self.blocks.iter().map(|block| block.erase_count).collect()
    }

    /// Returns the smallest, the mean and the largest erase count of the blocks that are not
    /// marked bad.
    pub fn wear(&self) -> (u32, f64, u32) {
        let good = self.blocks.iter().filter(|block| block.mark.is_none());
        meter::spread(good.map(|block| block.erase_count))
    }

    /// Reads a part of a page's data. The array read takes as long as for the whole page, but only
    /// these bytes are sent over the bus.
    ///
    /// The file system does not need this call. It is for contenders.
    ///
    /// # Errors
    /// [`Failure::Uncorrectable`].
    pub fn read_part(
        &mut self,
        page: PageIndex,
        offset: usize,
        part: &mut [u8],
    ) -> Result<(), Failure> {
        self.demand_page(page, "read");
        let mut data = vec![0; self.geometry.page_bytes as usize];
        assert!(
            offset + part.len() <= data.len(),
            "read of {} bytes at {offset} of page {page}: it holds {}",
            part.len(),
            data.len()
        );
        self.loaded = None;
        self.counters.reads += 1;
        self.counters.bytes_read += part.len() as u64;
        self.counters.time_ns += self.timing.read_ns(part.len());
        let good = self.reads_well(page);
        let result = self.sense(page, good, &mut data, &mut [0; TAG_BYTES]);
        part.copy_from_slice(&data[offset..offset + part.len()]);
        result
    }

    /// Returns the data and tag bytes of a page.
    fn stride(&self) -> usize {
        self.geometry.page_bytes as usize + TAG_BYTES
    }

    /// Splits a page index into the block and the page in it.
    fn locate(&self, page: PageIndex) -> (usize, usize) {
        let per_block = self.geometry.pages_per_block;
        ((page / per_block) as usize, (page % per_block) as usize)
    }

    /// Refuses a page that does not exist or lies in a factory bad block.
    #[track_caller]
    fn demand_page(&self, page: PageIndex, verb: &str) -> (usize, usize) {
        let (block, in_block) = self.locate(page);
        let count = self.geometry.block_count * self.geometry.pages_per_block;
        assert!(page < count, "{verb} of page {page} (block {block}): the chip has {count} pages");
        self.demand_good(block, page, verb);
        (block, in_block)
    }

    #[track_caller]
    fn demand_good(&self, block: usize, page: PageIndex, verb: &str) {
        let factory_bad = self.blocks[block].mark == Some(Mark::Factory);
        assert!(
            !factory_bad,
            "{verb} in block {block} (page {page}): it is bad from the factory and must not be used"
        );
    }

    #[track_caller]
    fn demand_block(&self, block: BlockIndex, verb: &str) -> usize {
        let count = self.geometry.block_count;
        assert!(block < count, "{verb} of block {block}: the chip has {count} blocks");
        block as usize
    }

    /// Refuses a program that the rules of NAND forbid.
    #[track_caller]
    fn demand_programmable(&self, page: PageIndex, data_bytes: usize) -> (usize, usize) {
        let (block, in_block) = self.demand_page(page, "program");
        let page_bytes = self.geometry.page_bytes as usize;
        assert!(
            data_bytes <= page_bytes,
            "program of page {page} (block {block}): {data_bytes} bytes of data, the page holds \
             {page_bytes}"
        );
        let limit = self.programs_per_page;
        let torn = if self.flaws.contains_key(&page) {
            " (a torn or failed operation left it so)"
        } else {
            ""
        };
        assert!(
            self.blocks[block].programs(in_block) < limit,
            "program of page {page} (block {block}): programmed {limit} times since its \
             erase{torn}, which is the limit"
        );
        let highest = self.blocks[block].highest_programmed().unwrap_or(0);
        assert!(
            in_block >= highest,
            "program of page {in_block} of block {block} (page {page}): page {highest} of the \
             block is programmed, and pages of a block are programmed in ascending order"
        );
        (block, in_block)
    }

    /// Returns the cells of a page, to be changed.
    fn cells_mut(&mut self, page: PageIndex) -> &mut [u8] {
        let (block, in_block) = self.locate(page);
        let (stride, per_block) = (self.stride(), self.geometry.pages_per_block as usize);
        self.blocks[block].cells_mut(in_block, stride, per_block)
    }

    /// Returns true if a page reads well this time. Only metastable pages may read badly.
    fn reads_well(&mut self, page: PageIndex) -> bool {
        match self.flaws.get(&page) {
            Some(Flaw::Metastable { decided: Decided::AtEachRead, .. }) => self.rng.bool(),
            Some(Flaw::Metastable { good, .. }) => *good,
            _ => true,
        }
    }

    /// Reads the cells of a page into `data` and `tag`. Fails if the ECC cannot correct the cells.
    /// `good` is true if a metastable page reads well this time.
    fn sense(
        &mut self,
        page: PageIndex,
        good: bool,
        data: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), Failure> {
        let (block, in_block) = self.locate(page);
        match self.blocks[block].cells(in_block, self.stride()) {
            Some(cells) => {
                let (stored_data, stored_tag) = cells.split_at(cells.len() - TAG_BYTES);
                data.copy_from_slice(&stored_data[..data.len()]);
                tag.copy_from_slice(stored_tag);
            }
            None => {
                data.fill(0xFF);
                tag.fill(0xFF);
            }
        }
        match self.flaws.get(&page) {
            None | Some(Flaw::Weak) => return Ok(()),
            Some(Flaw::Metastable { .. }) if good => return Ok(()),
            Some(Flaw::Garbled) => {}
            Some(Flaw::Metastable { .. }) => {
                garble::misread(data, &mut self.rng);
                garble::misread(tag, &mut self.rng);
            }
        }
        if self.rng.bool() { Err(Failure::Uncorrectable) } else { Ok(()) }
    }

    /// Programs cells that the rules allow to be programmed, and returns the report of the chip.
    /// A weak page keeps garbage. The chip reports this in half of the cases, at random.
    fn store_and_report(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8],
    ) -> Result<(), Failure> {
        let weak = self.flaws.contains_key(&page);
        self.store(page, data, tag);
        if weak && self.rng.bool() { Err(Failure::BadBlock) } else { Ok(()) }
    }

    /// Programs cells that the rules allow to be programmed. A weak page keeps garbage.
    fn store(&mut self, page: PageIndex, data: &[u8], tag: &[u8]) {
        let (block, in_block) = self.locate(page);
        let weak = self.flaws.contains_key(&page);
        let mut rng = self.rng.clone();
        let cells = self.cells_mut(page);
        let (stored_data, stored_tag) = cells.split_at_mut(cells.len() - TAG_BYTES);
        for (stored, new) in [(stored_data, data), (stored_tag, tag)] {
            if weak {
                garble::program_partly(stored, new, &mut rng);
            } else {
                stored.iter_mut().zip(new).for_each(|(cell, new)| *cell &= new);
            }
        }
        self.rng = rng;
        if weak {
            self.flaws.insert(page, Flaw::Garbled);
        }
        let programs = self.blocks[block].programs(in_block) + 1;
        self.blocks[block].set_programs(in_block, programs);
    }

    /// Accounts for a program of a page from the bus.
    fn count_program(&mut self, data_bytes: usize) {
        let bytes = data_bytes + TAG_BYTES;
        self.counters.programs += 1;
        self.counters.bytes_programmed += bytes as u64;
        self.counters.time_ns += self.timing.program_ns(bytes);
    }

    /// Takes the content of the page register for a copy, and accounts for the copy.
    #[track_caller]
    fn take_loaded(&mut self, page: PageIndex) -> Vec<u8> {
        let Some(Loaded { page: source, good }) = self.loaded.take() else {
            panic!(
                "program_loaded of page {page}: only a read_tag directly before it fills the page \
                 register"
            );
        };
        let mut data = vec![0; self.geometry.page_bytes as usize];
        // An uncorrectable page is copied as it was read: the chip computes a new parity over any
        // content.
        let _ = self.sense(source, good, &mut data, &mut [0; TAG_BYTES]);
        self.counters.copies += 1;
        self.counters.bytes_programmed += TAG_BYTES as u64;
        self.counters.time_ns += self.timing.program_ns(TAG_BYTES);
        data
    }

    /// Accounts for an erase.
    fn count_erase(&mut self, block: usize) {
        self.blocks[block].erase_count += 1;
        self.counters.erases += 1;
        self.counters.time_ns += self.timing.erase_ns();
    }

    /// Clears the damage of the pages of a block.
    fn clear_flaws(&mut self, block: usize) {
        for page in self.pages_of(block) {
            self.flaws.remove(&page);
        }
    }

    fn pages_of(&self, block: usize) -> std::ops::Range<PageIndex> {
        let per_block = self.geometry.pages_per_block;
        block as PageIndex * per_block..(block as PageIndex + 1) * per_block
    }
}

impl Flash for Nand {
    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn timing(&self) -> Timing {
        self.timing.summary(&self.geometry, self.on_chip_copy)
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.demand_page(page, "read");
        let (given, page_bytes) = (data.len(), self.geometry.page_bytes as usize);
        assert!(
            given == page_bytes,
            "read of page {page}: a buffer of {given} bytes, the page holds {page_bytes}"
        );
        self.loaded = None;
        self.counters.reads += 1;
        self.counters.bytes_read += self.stride() as u64;
        self.counters.time_ns += self.timing.read_ns(self.stride());
        let good = self.reads_well(page);
        self.sense(page, good, data, tag)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.demand_page(page, "tag read");
        let good = self.reads_well(page);
        self.loaded = Some(Loaded { page, good });
        self.counters.tag_reads += 1;
        self.counters.bytes_read += TAG_BYTES as u64;
        self.counters.time_ns += self.timing.read_ns(TAG_BYTES);
        self.sense(page, good, &mut [], tag)
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.demand_programmable(page, data.len());
        self.loaded = None;
        self.count_program(data.len());
        self.store_and_report(page, data, tag)
    }

    fn can_copy(&self) -> bool {
        self.on_chip_copy
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        if !self.on_chip_copy {
            return Err(Failure::Device);
        }
        self.demand_programmable(page, 0);
        let data = self.take_loaded(page);
        self.store_and_report(page, &data, tag)
    }

    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        checksum(data, missing)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let block = self.demand_block(block, "erase");
        self.demand_good(block, self.pages_of(block).start, "erase");
        self.loaded = None;
        self.count_erase(block);
        self.clear_flaws(block);
        self.blocks[block].erase();
        Ok(())
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        let block = self.demand_block(block, "is_bad");
        self.loaded = None;
        self.counters.tag_reads += 1;
        self.counters.bytes_read += TAG_BYTES as u64;
        self.counters.time_ns += self.timing.read_ns(TAG_BYTES);
        Ok(self.blocks[block].mark.is_some())
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let block = self.demand_block(block, "mark_bad");
        self.loaded = None;
        // As in Linux for most chips, the mark destroys the content of the block.
        self.counters.erases += 1;
        self.counters.time_ns += self.timing.erase_ns();
        self.count_program(0);
        self.clear_flaws(block);
        self.blocks[block].erase();
        self.blocks[block].mark.get_or_insert(Mark::User);
        Ok(())
    }
}

impl Metered for Nand {
    fn counters(&self) -> Counters {
        self.counters
    }
}

#[cfg(test)]
mod tests;
