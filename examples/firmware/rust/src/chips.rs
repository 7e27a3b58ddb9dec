//! A NOR and a NAND chip in RAM, as strict as real ones: a forbidden operation of a driver or the
//! file system ends the program.

use core::cell::Cell;
use steadyfs::media::nor::NorFlash;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};

/// The power supply, which fails in a program or an erase.
pub struct Power {
    /// Programs and erases until the failure; 0: no failure.
    left: Cell<u32>,
    random: Cell<u32>,
}

impl Power {
    /// Sets the program or erase in which power fails, counted from 1; 0: never.
    pub fn fail_in(&self, operations: u32) {
        self.left.set(operations);
        self.random.set(7);
    }

    /// Counts an operation, and returns true if power fails in it.
    fn fails(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left == 1
    }

    /// Returns a random byte (xorshift).
    fn byte(&self) -> u8 {
        let mut random = self.random.get();
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        self.random.set(random);
        random as u8
    }
}

const NOR_BLOCK_BYTES: u32 = 4096;
const NOR_BLOCKS: u32 = 64;
const NOR_BYTES: usize = (NOR_BLOCK_BYTES * NOR_BLOCKS) as usize;
/// The shape of the NOR chip, as the file system sees it.
pub const NOR: Geometry = Geometry::of_nor(NOR_BLOCK_BYTES, NOR_BLOCKS);

/// The lasting state of a NOR chip: its bytes, and for each byte a flag that it was programmed
/// since the erase.
pub struct NorCells {
    bytes: [u8; NOR_BYTES],
    written: [u8; NOR_BYTES],
}

/// A NOR chip of 256 KiB in sectors of 4 KiB.
pub struct NorChip<'k> {
    cells: &'k mut NorCells,
    power: &'k Power,
}

impl<'k> NorChip<'k> {
    pub fn new(cells: &'k mut NorCells, power: &'k Power) -> Self {
        Self { cells, power }
    }

    /// Resets the chip to its state at the factory.
    pub fn wipe(&mut self) {
        self.cells.bytes.fill(0xFF);
        self.cells.written.fill(0);
    }
}

impl NorFlash for NorChip<'_> {
    fn block_bytes(&self) -> u32 {
        NOR_BLOCK_BYTES
    }

    fn block_count(&self) -> u32 {
        NOR_BLOCKS
    }

    /// Returns the longest times of a W25Q128JV on one data line at 50 MHz.
    fn times_ns(&self, bytes: u32) -> (u64, u64, u64) {
        let bytes = u64::from(bytes);
        (3200 + 160 * bytes, bytes.div_ceil(256) * 3_000_000 + 160 * bytes, 400_000_000)
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        data.copy_from_slice(&self.cells.bytes[address as usize..][..data.len()]);
        Ok(())
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        let NorCells { bytes, written } = &mut *self.cells;
        let fails = self.power.fails();
        let from = address as usize;
        for ((cell, written), &byte) in
            bytes[from..][..data.len()].iter_mut().zip(&mut written[from..]).zip(data)
        {
            assert!(byte == 0xFF || byte == 0 || *written == 0, "a byte is programmed twice");
            *written |= u8::from(byte != 0xFF);
            // A cut program clears any part of the bits that it was to clear.
            *cell &= if fails { byte | self.power.byte() } else { byte };
        }
        if fails {
            board::reset();
        }
        Ok(())
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let (from, bytes) = ((block * NOR_BLOCK_BYTES) as usize, NOR_BLOCK_BYTES as usize);
        if self.power.fails() {
            // A cut erase leaves any bytes, and a byte that reads as erased may not be erased.
            self.cells.bytes[from..][..bytes]
                .iter_mut()
                .for_each(|cell| *cell |= self.power.byte());
            self.cells.written[from..][..bytes].fill(1);
            board::reset();
        }
        self.cells.bytes[from..][..bytes].fill(0xFF);
        self.cells.written[from..][..bytes].fill(0);
        Ok(())
    }
}

/// The shape of the NAND chip.
pub const NAND: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };
const NAND_PAGES: usize = (NAND.pages_per_block * NAND.block_count) as usize;
/// The block that its maker marked bad.
const BAD_BLOCK: BlockIndex = 32;

/// The lasting state of a NAND chip: pages, their tags, and for each block the first page that may
/// be programmed.
pub struct NandCells {
    data: [[u8; NAND.page_bytes as usize]; NAND_PAGES],
    tags: [[u8; TAG_BYTES]; NAND_PAGES],
    next: [u32; NAND.block_count as usize],
}

/// A NAND chip of 512 KiB in pages of 512 bytes.
pub struct NandChip<'k> {
    cells: &'k mut NandCells,
    power: &'k Power,
}

impl<'k> NandChip<'k> {
    pub fn new(cells: &'k mut NandCells, power: &'k Power) -> Self {
        Self { cells, power }
    }

    /// Resets the chip to its state at the factory.
    pub fn wipe(&mut self) {
        (0..NAND.block_count).for_each(|block| self.blank(block));
    }

    fn blank(&mut self, block: BlockIndex) {
        let (from, pages) =
            ((block * NAND.pages_per_block) as usize, NAND.pages_per_block as usize);
        self.cells.data[from..][..pages].fill([0xFF; NAND.page_bytes as usize]);
        self.cells.tags[from..][..pages].fill([0xFF; TAG_BYTES]);
        self.cells.next[block as usize] = 0;
    }

    /// Fills a page with random bytes, and resets the processor.
    fn tear(&mut self, page: usize) -> ! {
        self.cells.data[page].iter_mut().for_each(|byte| *byte = self.power.byte());
        self.cells.tags[page].iter_mut().for_each(|byte| *byte = self.power.byte());
        board::reset()
    }
}

impl Flash for NandChip<'_> {
    fn geometry(&self) -> Geometry {
        NAND
    }

    /// Returns the longest times of a W25N01GV on one data line at 50 MHz.
    fn timing(&self) -> Timing {
        Timing {
            read_ns: 410_000,
            read_tag_ns: 83_000,
            program_ns: 1_050_000,
            copy_ns: 1_460_000,
            erase_ns: 10_010_000,
            instruction_ps: 0,
        }
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        data.copy_from_slice(&self.cells.data[page as usize]);
        self.read_tag(page, tag)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        assert!(page / NAND.pages_per_block != BAD_BLOCK, "a bad block is read");
        *tag = self.cells.tags[page as usize];
        Ok(())
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        let (block, place) = (page / NAND.pages_per_block, page % NAND.pages_per_block);
        assert!(block != BAD_BLOCK, "a bad block is programmed");
        assert!(
            place >= self.cells.next[block as usize],
            "a page is programmed twice, or out of order"
        );
        self.cells.next[block as usize] = place + 1;
        if self.power.fails() {
            self.tear(page as usize);
        }
        self.cells.data[page as usize][..data.len()].copy_from_slice(data);
        self.cells.tags[page as usize] = *tag;
        Ok(())
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        assert!(block != BAD_BLOCK, "a bad block is erased");
        if self.power.fails() {
            self.cells.next[block as usize] = NAND.pages_per_block;
            self.tear((block * NAND.pages_per_block) as usize);
        }
        self.blank(block);
        Ok(())
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        Ok(block == BAD_BLOCK)
    }

    fn mark_bad(&mut self, _block: BlockIndex) -> Result<(), Failure> {
        panic!("no program fails on this chip, and yet a block is marked bad")
    }
}
