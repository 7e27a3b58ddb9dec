//! Images on raw NAND, which skip its bad blocks.
//!
//! ```text
//! first good block    | header |                    a good block is one that is not bad
//! second good block   | header |                    again, for a page may be lost
//! every further one   | page | page | page | …
//! ```
//!
//! The header lies in separate blocks, so that it can be written last.

pub mod header;
mod install;

pub use install::Install;

use crate::bound::Bound;
use crate::error::Error;
use crate::source::{Source, within};
use steadyfs::media::{BlockIndex, Failure, Flash, PageIndex, TAG_BYTES};

/// Returns the position of a page of an image: the index of the block among the good blocks, and
/// the page in the block.
const fn place(page: u64, pages_per_block: u32) -> (u64, u32) {
    (header::COPIES as u64 + page / pages_per_block as u64, (page % pages_per_block as u64) as u32)
}

/// An image on raw NAND, behind a [header] that contains its length and its bad blocks.
#[derive(Debug)]
pub struct OnNand<'m, F> {
    flash: F,
    /// Buffer for one page.
    page: &'m mut [u8],
    /// Index of the page in the buffer.
    held: Option<PageIndex>,
    /// Bad blocks in ascending order, four bytes for each block.
    bad: &'m [u8],
    bytes: u64,
}

impl<'m, F: Flash> OnNand<'m, F> {
    /// Returns the number of bytes of memory that an image on this chip needs: a page, and four
    /// bytes for each bad block. At most `bad_blocks_max` of the image's blocks may be bad.
    pub fn memory_bytes(flash: &F, bad_blocks_max: u32) -> usize {
        flash.geometry().page_bytes as usize + 4 * bad_blocks_max as usize
    }

    /// Finds the image on a chip.
    ///
    /// # Cost
    /// The call reads the bad-block mark and a page of the first block. If blocks are bad or cannot
    /// be read, it does this for up to 32 blocks. If the header does not list bad blocks, it also
    /// reads the mark of each block of the image.
    ///
    /// # Errors
    /// [`Error::NoImage`], [`Error::MemoryTooSmall`], [`Error::TooManyBadBlocks`]; errors of the
    /// chip.
    pub fn open(mut flash: F, memory: &'m mut [u8]) -> Result<Self, Error> {
        let page_bytes = flash.geometry().page_bytes as usize;
        let lent = memory.len();
        if lent < page_bytes {
            return Err(Error::MemoryTooSmall { needed: page_bytes, lent });
        }
        let (page, list) = memory.split_at_mut(page_bytes);
        let (header, at) = find(&mut flash, page)?;
        let count = match header.listed {
            Some(count) => listed(page, count, list)?,
            None => marked(&mut flash, header.bytes, list)?,
        };
        Ok(Self { flash, page, held: Some(at), bad: &list[..4 * count], bytes: header.bytes })
    }

    /// Returns a reference to the driver.
    pub fn flash_mut(&mut self) -> &mut F {
        &mut self.flash
    }

    /// Returns the driver.
    pub fn into_inner(self) -> F {
        self.flash
    }

    /// Returns the page of the chip that contains a page of the image.
    fn locate(&self, page: u64) -> Result<PageIndex, Error> {
        let geometry = self.flash.geometry();
        let (mut block, in_block) = place(page, geometry.pages_per_block);
        for bad in self.bad.chunks_exact(4) {
            if u64::from(crate::fields::u32_at(bad, 0)) > block {
                break;
            }
            block += 1;
        }
        if block >= u64::from(geometry.block_count) {
            return Err(Error::End(page * u64::from(geometry.page_bytes)));
        }
        Ok(block as PageIndex * geometry.pages_per_block + in_block)
    }

    /// Loads a page of the chip into the buffer, unless the buffer already contains it.
    fn hold(&mut self, page: PageIndex) -> Result<(), Error> {
        if self.held != Some(page) {
            self.held = None;
            self.flash.read(page, self.page, &mut [0; TAG_BYTES])?;
            self.held = Some(page);
        }
        Ok(())
    }
}

impl<F: Flash> Source for OnNand<'_, F> {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        within(offset, data.len(), self.bytes)?;
        let page_bytes = self.page.len();
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u64;
            let page = self.locate(at / page_bytes as u64)?;
            let start = (at % page_bytes as u64) as usize;
            let count = (page_bytes - start).min(data.len() - done);
            if count == page_bytes {
                self.flash.read(page, &mut data[done..done + count], &mut [0; TAG_BYTES])?;
            } else {
                self.hold(page)?;
                data[done..done + count].copy_from_slice(&self.page[start..start + count]);
            }
            done += count;
        }
        Ok(())
    }

    /// Counts a read of each page that the bytes can touch. Further pieces of a page are copied
    /// from the buffer.
    fn bound(&self, bytes: u64, _pieces: u64) -> Bound {
        let page_bytes = self.page.len() as u64;
        Bound::of_flash((bytes + 2 * page_bytes - 2) / page_bytes * self.flash.timing().read_ns)
    }
}

/// Finds the header. Returns the header and its page.
fn find(flash: &mut impl Flash, page: &mut [u8]) -> Result<(header::Header, PageIndex), Error> {
    let geometry = flash.geometry();
    for block in 0..geometry.block_count.min(header::BLOCKS_MAX) {
        let first = block * geometry.pages_per_block;
        if flash.is_bad(block)? {
            continue;
        }
        match flash.read(first, page, &mut [0; TAG_BYTES]) {
            Ok(()) => {}
            Err(Failure::Uncorrectable) => continue,
            Err(failure) => return Err(failure.into()),
        }
        if let Some(header) = header::parse(page, |bytes| flash.checksum(bytes, 0)) {
            return Ok((header, first));
        }
    }
    Err(Error::NoImage)
}

/// Copies the list of a header. Returns the number of bad blocks.
fn listed(page: &[u8], count: u32, list: &mut [u8]) -> Result<usize, Error> {
    let from = header::list(page, count);
    list.get_mut(..from.len()).ok_or(Error::TooManyBadBlocks)?.copy_from_slice(from);
    Ok(count as usize)
}

/// Reads the bad-block marks of the blocks that the image occupies, and lists the bad blocks.
/// Returns the number of bad blocks.
fn marked(flash: &mut impl Flash, bytes: u64, list: &mut [u8]) -> Result<usize, Error> {
    let geometry = flash.geometry();
    let last = bytes.saturating_sub(1) / u64::from(geometry.page_bytes);
    let mut left = place(last, geometry.pages_per_block).0 + 1;
    let mut count = 0;
    for block in 0..geometry.block_count as BlockIndex {
        if left == 0 {
            break;
        }
        if flash.is_bad(block)? {
            let place = list.get_mut(4 * count..4 * count + 4).ok_or(Error::TooManyBadBlocks)?;
            place.copy_from_slice(&block.to_le_bytes());
            count += 1;
        } else {
            left -= 1;
        }
    }
    Ok(count)
}
