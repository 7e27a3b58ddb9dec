//! A cache for pieces of an image that are read often.

use crate::bound::Bound;
use crate::error::Error;
use crate::recent::Recent;
use crate::source::{Source, within};

/// Maximum number of cached pieces.
const SLOTS_MAX: usize = 64;

/// A source that caches recently read names, inodes and tables, in pieces of equal size.
///
/// A look-up of a name reads a few bytes in the directory, in its inode and in a table. Without a
/// cache, each of these reads loads a whole page of the chip. Reads that are longer than a piece,
/// such as reads of blocks, bypass the cache.
///
/// If the source is a [`Verified`](crate::Verified), the cache also saves checks, because its
/// pieces are already checked.
#[derive(Debug)]
pub struct Cached<'m, S> {
    source: S,
    memory: &'m mut [u8],
    piece_bytes: usize,
    /// The number of the piece in each slot.
    slots: Recent<u64, SLOTS_MAX>,
}

impl Cached<'_, ()> {
    /// Returns the number of bytes of memory that `pieces` pieces need. The page size of the chip
    /// is a good size for a piece.
    pub const fn memory_bytes(piece_bytes: usize, pieces: usize) -> usize {
        piece_bytes * pieces
    }
}

impl<'m, S: Source> Cached<'m, S> {
    /// Creates a cache of as many pieces as fit into the memory, at most 64. If the piece size is 0
    /// or exceeds the memory, the cache stays empty.
    pub const fn new(source: S, piece_bytes: usize, memory: &'m mut [u8]) -> Self {
        Self { source, memory, piece_bytes, slots: Recent::new() }
    }

    /// Returns the source, and drops the cache.
    pub fn into_inner(self) -> S {
        self.source
    }

    /// Returns a reference to the source.
    pub fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// Returns the slot of a piece. Reads the piece if no slot contains it.
    fn slot_of(&mut self, piece: u64, count: usize) -> Result<usize, Error> {
        if let Some((slot, _)) = self.slots.find(|&held| held == piece) {
            self.slots.put(slot, piece);
            return Ok(slot);
        }
        let slot = self.slots.make_room(count);
        let at = piece * self.piece_bytes as u64;
        let bytes = (self.source.bytes() - at).min(self.piece_bytes as u64) as usize;
        let start = slot * self.piece_bytes;
        self.source.read(at, &mut self.memory[start..start + bytes])?;
        self.slots.put(slot, piece);
        Ok(slot)
    }
}

impl<S: Source> Source for Cached<'_, S> {
    fn bytes(&self) -> u64 {
        self.source.bytes()
    }

    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        let count = self.memory.len().checked_div(self.piece_bytes).unwrap_or(0).min(SLOTS_MAX);
        if count == 0 || data.len() > self.piece_bytes {
            return self.source.read(offset, data);
        }
        within(offset, data.len(), self.bytes())?;
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u64;
            let slot = self.slot_of(at / self.piece_bytes as u64, count)?;
            let within = (at % self.piece_bytes as u64) as usize;
            let step = (self.piece_bytes - within).min(data.len() - done);
            let start = slot * self.piece_bytes + within;
            data[done..done + step].copy_from_slice(&self.memory[start..start + step]);
            done += step;
        }
        Ok(())
    }

    /// Counts one read for each cached piece that the bytes can touch. Also counts one read for
    /// each of the `pieces` reads, because a piece may be evicted between two reads. Adds the reads
    /// that bypass the cache.
    fn bound(&self, bytes: u64, pieces: u64) -> Bound {
        let piece = (self.piece_bytes as u64).max(1);
        let each = self.source.bound(piece, 1).times((bytes + 2 * piece - 2) / piece + pieces);
        self.source.bound(bytes, pieces).plus(each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InRam;
    use std::vec::Vec;

    /// A source that counts its reads.
    struct Counted<'i>(InRam<'i>, u32);

    impl Source for Counted<'_> {
        fn bytes(&self) -> u64 {
            self.0.bytes()
        }
        fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Error> {
            self.1 += 1;
            self.0.read(offset, data)
        }
        fn bound(&self, bytes: u64, pieces: u64) -> Bound {
            self.0.bound(bytes, pieces)
        }
    }

    #[test]
    fn bytes_are_those_of_the_source_whatever_is_kept() {
        let image: Vec<u8> =
            (0..5000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 20) as u8).collect();
        for (piece_bytes, memory_bytes) in
            [(512, 2048), (512, 500), (0, 100), (64, 64 * 200), (1000, 1999)]
        {
            let mut memory = std::vec![0; memory_bytes];
            let mut cached = Cached::new(InRam::new(&image), piece_bytes, &mut memory);
            let mut random = fastrand::Rng::with_seed(1);
            for _ in 0..2000 {
                let offset = random.usize(..image.len());
                let count = random.usize(..=(image.len() - offset).min(700));
                let mut data = std::vec![0; count];
                cached.read(offset as u64, &mut data).expect("bytes that are there");
                assert_eq!(data, image[offset..offset + count]);
            }
            assert_eq!(cached.read(4999, &mut [0; 2]), Err(Error::End(5001)));
            assert_eq!(cached.read(u64::MAX, &mut [0; 2]), Err(Error::End(u64::MAX)));
        }
    }

    #[test]
    fn what_was_used_last_is_read_once() {
        let image = [7; 4096];
        let mut memory = [0; 1024];
        let mut cached = Cached::new(Counted(InRam::new(&image), 0), 512, &mut memory);
        let mut byte = [0; 1];
        for at in [0, 600, 1, 601, 511, 1100, 2, 1500] {
            cached.read(at, &mut byte).expect("a byte that is there");
        }
        // The third piece replaced the second piece, because the first piece was used later.
        assert_eq!(cached.source_mut().1, 3);
        cached.read(600, &mut byte).expect("a byte that is there");
        assert_eq!(cached.source_mut().1, 4);
    }
}
