//! Installation of an image on NAND, as its bytes arrive.

use super::header;
use crate::error::Error;
use crate::fields::u32_at;
use steadyfs::media::{BlockIndex, Failure, Flash, TAG_BYTES};

/// Tag that is written with the pages of an image, which need no tag.
const NO_TAG: [u8; TAG_BYTES] = [0xFF; TAG_BYTES];

/// An image that is being written to a chip. Bad blocks are skipped, and so are blocks that go bad
/// during the installation.
///
/// # Power loss
/// The header is erased first and written last. A power cut before the header is written leaves no
/// image on the chip. After [`finish`](Self::finish) returns, the image is complete.
pub struct Install<'m, F> {
    flash: F,
    /// Buffer for the next page to program. Its first `filled` bytes are valid.
    page: &'m mut [u8],
    filled: usize,
    /// Buffer for pages that are moved out of a block that went bad.
    spare: &'m mut [u8],
    list: &'m mut [u8],
    bad_count: usize,
    /// Numbers of the blocks that contain the headers.
    headers: [BlockIndex; header::COPIES as usize],
    /// Number of the next block to examine.
    next: BlockIndex,
    /// Number of the block that is being filled. `programmed` is the number of its programmed
    /// pages.
    block: BlockIndex,
    programmed: u32,
    bytes: u64,
}

impl<'m, F: Flash> Install<'m, F> {
    /// Returns the number of bytes of memory that an installation needs. They hold two pages, and
    /// four bytes for each of at most `bad_blocks_max` bad blocks.
    pub fn memory_bytes(flash: &F, bad_blocks_max: u32) -> usize {
        2 * flash.geometry().page_bytes as usize + 4 * bad_blocks_max as usize
    }

    /// Begins an installation. An earlier image on the chip is lost.
    ///
    /// # Cost
    /// Three erases: one for each of the first three good blocks.
    ///
    /// # Errors
    /// [`Error::MemoryTooSmall`], [`Error::TooManyBadBlocks`], and errors of the chip.
    /// [`Error::End`] if the chip is full.
    pub fn begin(flash: F, memory: &'m mut [u8]) -> Result<Self, Error> {
        let page_bytes = flash.geometry().page_bytes as usize;
        let (needed, lent) = (2 * page_bytes, memory.len());
        if lent < needed {
            return Err(Error::MemoryTooSmall { needed, lent });
        }
        let (page, rest) = memory.split_at_mut(page_bytes);
        let (spare, list) = rest.split_at_mut(page_bytes);
        let (filled, bad_count, headers, next, block, programmed, bytes) =
            (0, 0, [0; header::COPIES as usize], 0, 0, 0, 0);
        let mut install = Self {
            flash,
            page,
            filled,
            spare,
            list,
            bad_count,
            headers,
            next,
            block,
            programmed,
            bytes,
        };
        for copy in 0..install.headers.len() {
            install.headers[copy] = install.erase_next()?;
        }
        if install.headers[header::COPIES as usize - 1] >= header::BLOCKS_MAX {
            return Err(Error::TooManyBadBlocks);
        }
        install.erase_next()?;
        Ok(install)
    }

    /// Appends bytes to the image.
    ///
    /// # Cost
    /// A program for each filled page and an erase for each block. If a block goes bad, also a read
    /// and a program for each of its programmed pages.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        self.bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            let count = bytes.len().min(self.page.len() - self.filled);
            self.page[self.filled..self.filled + count].copy_from_slice(&bytes[..count]);
            self.filled += count;
            bytes = &bytes[count..];
            if self.filled == self.page.len() {
                self.program()?;
            }
        }
        Ok(())
    }

    /// Completes the image, and returns the driver.
    ///
    /// # Cost
    /// Three programs.
    ///
    /// # Errors
    /// The errors of [`begin`](Self::begin). [`Failure::BadBlock`] if no header could be written.
    /// In this case begin the installation again.
    pub fn finish(self) -> Result<F, Error> {
        self.end(true)
    }

    /// Completes the image as [`finish`](Self::finish) does, but stores no list of bad blocks: the
    /// marks of the chip decide.
    ///
    /// Use this call if a production programmer copies this chip to other chips and skips their bad
    /// blocks. If a bad block could not be marked, the call stores the list nevertheless.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_by_marks(self) -> Result<F, Error> {
        self.end(false)
    }

    fn end(mut self, is_listed: bool) -> Result<F, Error> {
        if self.filled > 0 {
            self.page[self.filled..].fill(0xFF);
            self.program()?;
        }
        let is_listed = is_listed || !self.is_all_marked()?;
        let list = is_listed.then_some(&self.list[..4 * self.bad_count]);
        if !header::emit(self.page, self.bytes, list, |bytes| self.flash.checksum(bytes, 0)) {
            return Err(Error::TooManyBadBlocks);
        }
        let pages_per_block = self.flash.geometry().pages_per_block;
        // The second header is written first. A mount uses the first header that it can read, so
        // one header is enough.
        let mut result = Err(Error::Medium(Failure::BadBlock));
        for block in self.headers.into_iter().rev() {
            match self.flash.program(block * pages_per_block, self.page, &NO_TAG) {
                Ok(()) => result = Ok(()),
                Err(Failure::BadBlock) => {}
                Err(failure) => return Err(failure.into()),
            }
        }
        self.flash.sync()?;
        result.map(|()| self.flash)
    }

    /// Returns true if the chip marks every skipped block. Some bad blocks cannot be marked.
    fn is_all_marked(&mut self) -> Result<bool, Error> {
        for listed in self.list[..4 * self.bad_count].chunks_exact(4) {
            if !self.flash.is_bad(u32_at(listed, 0))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Programs the page buffer. If the program fails, the page goes to another block.
    fn program(&mut self) -> Result<(), Error> {
        let pages_per_block = self.flash.geometry().pages_per_block;
        if self.programmed == pages_per_block {
            self.erase_next()?;
        }
        loop {
            let page = self.block * pages_per_block + self.programmed;
            match self.flash.program(page, self.page, &NO_TAG) {
                Ok(()) => break,
                Err(Failure::BadBlock) => self.leave()?,
                Err(failure) => return Err(failure.into()),
            }
        }
        self.programmed += 1;
        self.filled = 0;
        Ok(())
    }

    /// Moves the pages of a block that went bad to the next block in which all programs succeed.
    fn leave(&mut self) -> Result<(), Error> {
        let pages_per_block = self.flash.geometry().pages_per_block;
        let (from, count) = (self.block, self.programmed);
        self.list_bad(from)?;
        'block: loop {
            self.erase_next()?;
            for page in 0..count {
                self.flash.read(from * pages_per_block + page, self.spare, &mut [0; TAG_BYTES])?;
                match self.flash.program(self.block * pages_per_block + page, self.spare, &NO_TAG) {
                    Ok(()) => self.programmed += 1,
                    Err(Failure::BadBlock) => {
                        self.list_bad(self.block)?;
                        continue 'block;
                    }
                    Err(failure) => return Err(failure.into()),
                }
            }
            break;
        }
        let _ = self.flash.mark_bad(from);
        Ok(())
    }

    /// Erases the next good block, and continues there.
    fn erase_next(&mut self) -> Result<BlockIndex, Error> {
        loop {
            let block = self.next;
            if block >= self.flash.geometry().block_count {
                return Err(Error::End(self.bytes));
            }
            self.next += 1;
            if !self.flash.is_bad(block)? {
                match self.flash.erase(block) {
                    Ok(()) => {
                        (self.block, self.programmed) = (block, 0);
                        return Ok(block);
                    }
                    // A block that can be neither erased nor marked may still hold a header. A
                    // mount would find that header first, so the installation fails.
                    Err(Failure::BadBlock) if block < header::BLOCKS_MAX => {
                        self.flash.mark_bad(block)?
                    }
                    Err(Failure::BadBlock) => drop(self.flash.mark_bad(block)),
                    Err(failure) => return Err(failure.into()),
                }
            }
            self.list_bad(block)?;
        }
    }

    /// Adds a bad block to the list. Blocks arrive in ascending order.
    fn list_bad(&mut self, block: BlockIndex) -> Result<(), Error> {
        let at = 4 * self.bad_count;
        self.list
            .get_mut(at..at + 4)
            .ok_or(Error::TooManyBadBlocks)?
            .copy_from_slice(&block.to_le_bytes());
        self.bad_count += 1;
        Ok(())
    }
}
