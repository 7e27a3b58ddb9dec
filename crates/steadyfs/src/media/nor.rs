//! Pages and tags on raw NOR flash.
//!
//! ```text
//! block:  | tag 0 | tag 1 | … | (pad) | page 0 | page 1 | … |
//!         '------- head table -------'
//! ```
//!
//! The head of each erase block holds one 16-byte tag per page. So page data is contiguous, and one
//! read returns all tags of a block. The data of a page is programmed first and its tag last. A
//! page without a valid tag was never completely written.
//!
//! A driver implements [`NorFlash`]. [`NorPages::new`] makes a [`Flash`] of the driver;
//! [`page_bytes_for`] returns the page size to pass.

use super::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};

/// Byte-programmable flash: programming changes bits from 1 to 0, and only an erase of a whole
/// block changes them back to 1.
///
/// [`NorPages`] turns a driver with this trait into a [`Flash`]. The
/// [guide](crate::guide::drivers#spi-nor) contains a complete driver.
pub trait NorFlash {
    /// Returns the bytes of an erase block (the unit that [`erase`](NorFlash::erase) erases).
    fn block_bytes(&self) -> u32;

    /// Returns the number of erase blocks.
    fn block_count(&self) -> u32;

    /// Returns the worst-case times of `(read, program, erase)` in nanoseconds. The read and the
    /// program transfer `bytes` bytes. A program of a whole page begins at a multiple of the page
    /// size. For a shorter program, the time is given as if all its bytes lay in one program page
    /// of the chip. Bounds contain the time of the driver only if these times [contain
    /// it](crate::guide::drivers#the-time-of-the-driver).
    fn times_ns(&self, bytes: u32) -> (u64, u64, u64);

    /// Reads bytes.
    ///
    /// # Errors
    /// [`Failure::Device`].
    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure>;

    /// Programs erased bytes. The implementation splits the data at the chip's program pages. A
    /// byte of `0xFF` leaves the stored byte unchanged, whether that byte is erased or not. A byte
    /// of 0 may be programmed over any byte.
    ///
    /// # Power loss
    /// Each bit that the program was to clear may be cleared or not.
    ///
    /// # Errors
    /// [`Failure::BadBlock`] if the chip reports that the program failed, or if a read-back shows
    /// the failure; [`Failure::WriteProtected`]; [`Failure::Device`].
    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure>;

    /// Erases one block to `0xFF`.
    ///
    /// # Errors
    /// As [`program`](NorFlash::program).
    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure>;
}

/// Returns the page size that suits erase blocks of `block_bytes` bytes. The size is so small that
/// a journal record takes few bytes, and so large that tags take few bytes. A root with its copies
/// does not fill a whole block.
pub const fn page_bytes_for(block_bytes: u32) -> u32 {
    if block_bytes < 8192 { 256 } else { 512 }
}

impl Geometry {
    /// Returns the geometry of a NOR chip, with the page size that suits its blocks.
    pub const fn of_nor(block_bytes: u32, block_count: u32) -> Self {
        let page_bytes = page_bytes_for(block_bytes);
        let pages_per_block = pages_beside_tags(block_bytes, page_bytes);
        Self { page_bytes, pages_per_block, block_count, programs_bytes: true }
    }
}

const fn pages_beside_tags(block_bytes: u32, page_bytes: u32) -> u32 {
    if page_bytes == 0 || block_bytes < page_bytes {
        return 0;
    }
    let slots = block_bytes / page_bytes;
    let mut head = 1;
    // The head grows until it has room for the tags of the remaining pages.
    while (slots - head) as u64 * TAG_BYTES as u64 > head as u64 * page_bytes as u64 {
        head += 1;
    }
    slots - head
}

/// A [`Flash`] made of a [`NorFlash`] and a page size. For a NOR chip, pass it to
/// [`FileSystem::format`](crate::FileSystem::format) and [`mount`](crate::FileSystem::mount).
#[derive(Clone, Debug)]
pub struct NorPages<N> {
    chip: N,
    page_bytes: u32,
}

impl<N: NorFlash> NorPages<N> {
    /// Divides each erase block of `chip` into a head table and pages of `page_bytes`.
    pub fn new(chip: N, page_bytes: u32) -> Self {
        Self { chip, page_bytes }
    }

    /// Returns the chip underneath.
    pub fn chip(&self) -> &N {
        &self.chip
    }

    /// Returns the chip underneath, mutable.
    pub fn chip_mut(&mut self) -> &mut N {
        &mut self.chip
    }

    /// Gives the chip back.
    pub fn into_chip(self) -> N {
        self.chip
    }

    /// Returns the number of pages that fit into a block of `block_bytes` beside the head table.
    /// The table is rounded up to whole pages.
    pub const fn pages_per_block(block_bytes: u32, page_bytes: u32) -> u32 {
        pages_beside_tags(block_bytes, page_bytes)
    }

    fn tag_address(&self, page: PageIndex) -> u32 {
        let pages = self.geometry().pages_per_block;
        page / pages * self.chip.block_bytes() + page % pages * TAG_BYTES as u32
    }

    fn data_address(&self, page: PageIndex) -> u32 {
        let pages = self.geometry().pages_per_block;
        self.byte_address(page / pages, page % pages * self.page_bytes)
    }

    /// Returns the address of a byte in the data of a block's pages.
    fn byte_address(&self, block: BlockIndex, offset: u32) -> u32 {
        let head = self.chip.block_bytes() - self.geometry().pages_per_block * self.page_bytes;
        block * self.chip.block_bytes() + head + offset
    }
}

impl<N: NorFlash> Flash for NorPages<N> {
    fn geometry(&self) -> Geometry {
        Geometry {
            page_bytes: self.page_bytes,
            pages_per_block: Self::pages_per_block(self.chip.block_bytes(), self.page_bytes),
            block_count: self.chip.block_count(),
            programs_bytes: true,
        }
    }

    fn timing(&self) -> Timing {
        let (read_ns, program_ns, erase_ns) = self.chip.times_ns(self.page_bytes);
        let (read_tag_ns, program_tag_ns, _) = self.chip.times_ns(TAG_BYTES as u32);
        // A journal record may lie in two pages of the chip, with half of its bytes in each.
        let (_, program_half_ns, _) = self.chip.times_ns(self.page_bytes / 2);
        let program_ns = (program_ns + program_tag_ns).max(2 * program_half_ns);
        Timing {
            read_ns: read_ns + read_tag_ns,
            read_tag_ns,
            program_ns,
            copy_ns: read_ns + read_tag_ns + program_ns,
            erase_ns,
            instruction_ps: 0,
        }
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.chip.read(self.tag_address(page), tag)?;
        self.chip.read(self.data_address(page), data)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.chip.read(self.tag_address(page), tag)
    }

    fn reads_many(&self) -> bool {
        true
    }

    fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        self.chip.read(self.tag_address(first), tags.as_flattened_mut())?;
        self.chip.read(self.data_address(first), data)?;
        Ok(tags.len())
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        let mut used = data;
        // Four bytes at once, because roots and leaves often end with many erased bytes.
        while let Some((rest, [0xFF, 0xFF, 0xFF, 0xFF])) = used.split_last_chunk() {
            used = rest;
        }
        let end = used.iter().rposition(|&byte| byte != 0xFF).map_or(0, |last| last + 1);
        if end > 0 {
            self.chip.program(self.data_address(page), &used[..end])?;
        }
        self.chip.program(self.tag_address(page), tag)
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.chip.read(self.byte_address(block, offset), data)
    }

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        self.chip.program(self.byte_address(block, offset), data)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.erase(block)
    }

    fn is_bad(&mut self, _block: BlockIndex) -> Result<bool, Failure> {
        Ok(false)
    }

    fn mark_bad(&mut self, _block: BlockIndex) -> Result<(), Failure> {
        Ok(())
    }
}
