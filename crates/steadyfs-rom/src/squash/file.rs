//! Content of files: consecutive blocks, and a tail in a fragment that several files share.

use super::blocks::{Blocks, Position, Stored};
use crate::error::Error;
use crate::fields::u32_at;
use crate::source::Source;

/// Number of block sizes that an open file caches.
const SIZES: usize = 16;

/// An open file: the offset of its content in the image, and the position of the last read.
#[derive(Clone, Copy, Debug)]
pub struct File {
    pub(super) size: u64,
    /// Offset of the file's first block.
    pub(super) start: u64,
    /// Position of the list of the file's block sizes.
    pub(super) list: Position,
    /// The tail: the block that contains it, and its offset in the content of the block.
    pub(super) tail: Option<(Stored, u32)>,
    /// Number of blocks with sizes in the list.
    pub(super) block_count: u32,
    pub(super) sizes: Sizes,
}

/// Sizes of some consecutive blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Index of the first block.
    first: u32,
    count: u32,
    /// Offset of the first block.
    start: u64,
    each: [u32; SIZES],
    /// Position of the sizes that follow.
    next: Position,
}

impl Sizes {
    /// Returns an empty list of sizes, whose position is before block 0.
    pub fn before(start: u64, list: Position) -> Self {
        Self { first: 0, count: 0, start, each: [0; SIZES], next: list }
    }

    /// Returns the offset and the size of block `index`, if these sizes contain the block.
    fn find(&self, index: u32) -> Option<(u64, u32)> {
        let within = index.checked_sub(self.first).filter(|&within| within < self.count)? as usize;
        let start =
            self.each[..within].iter().fold(self.start, |at, &size| Stored::data(at, size).end());
        Some((start, self.each[within]))
    }

    /// Advances to the sizes that follow.
    fn advance<S: Source>(
        &mut self,
        blocks: &mut Blocks<'_, S>,
        block_count: u32,
    ) -> Result<(), Error> {
        let start = self.each[..self.count as usize]
            .iter()
            .fold(self.start, |at, &size| Stored::data(at, size).end());
        let first = self.first + self.count;
        let count = (block_count - first).min(SIZES as u32);
        let mut bytes = [0; 4 * SIZES];
        let bytes = &mut bytes[..4 * count as usize];
        let mut next = self.next;
        blocks.read_metadata(&mut next, bytes)?;
        *self = Self { first, count, start, each: [0; SIZES], next };
        for (size, at) in self.each.iter_mut().zip((0..bytes.len()).step_by(4)) {
            *size = u32_at(bytes, at) & 0x01FF_FFFF;
        }
        Ok(())
    }
}

impl File {
    /// Returns the number of bytes of the content.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Returns the offset of the file's first bytes in the image. If files are read in the order of
    /// these offsets, each shared block is decoded only once.
    pub const fn place(&self) -> u64 {
        match self.tail {
            Some((stored, _)) if self.block_count == 0 => stored.at,
            _ => self.start,
        }
    }

    /// Reads bytes from an offset on. Returns the number of bytes that were read.
    pub(super) fn read<S: Source>(
        &mut self,
        blocks: &mut Blocks<'_, S>,
        block_bytes: u32,
        offset: u64,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let left = self.size.saturating_sub(offset);
        let count = out.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let mut done = 0;
        while done < count {
            let at = offset + done as u64;
            let index = (at / u64::from(block_bytes)) as u32;
            let within = (at % u64::from(block_bytes)) as usize;
            let piece = (block_bytes as usize - within).min(count - done);
            self.piece(blocks, index, within, &mut out[done..done + piece])?;
            done += piece;
        }
        Ok(count)
    }

    /// Reads bytes of one block. The block must contain all these bytes.
    fn piece<S: Source>(
        &mut self,
        blocks: &mut Blocks<'_, S>,
        index: u32,
        within: usize,
        out: &mut [u8],
    ) -> Result<(), Error> {
        let (stored, within) = match self.tail {
            Some((stored, offset)) if index >= self.block_count => {
                (stored, within.saturating_add(offset as usize))
            }
            _ => {
                let (at, size) = self.locate(blocks, index)?;
                if size == 0 {
                    out.fill(0);
                    return Ok(());
                }
                (Stored::data(at, size), within)
            }
        };
        let count = blocks.read_data(stored, within, out)?;
        if count == out.len() { Ok(()) } else { Err(Error::Damaged(stored.at)) }
    }

    /// Returns the offset and the size of a block.
    fn locate<S: Source>(
        &mut self,
        blocks: &mut Blocks<'_, S>,
        index: u32,
    ) -> Result<(u64, u32), Error> {
        if index < self.sizes.first {
            self.sizes = Sizes::before(self.start, self.list);
        }
        loop {
            if let Some(found) = self.sizes.find(index) {
                return Ok(found);
            }
            self.sizes.advance(blocks, self.block_count)?;
        }
    }
}
