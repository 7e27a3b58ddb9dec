//! The check of a block of the image. It follows the hash tree up to a hash block that is already
//! checked, and then checks each block on the way down.

use super::format::{DIGEST_BYTES, LEVELS_MAX, Layout, Salt};
use crate::error::Error;
use crate::recent::Recent;
use crate::source::Source;
use sha2::{Digest, Sha256};

/// Maximum number of cached hash blocks.
const KEPT_MAX: usize = 8;

/// Returns the digest of a block.
pub fn digest(salt: &Salt, block: &[u8]) -> [u8; DIGEST_BYTES] {
    let mut hash = Sha256::new();
    hash.update(salt.as_bytes());
    hash.update(block);
    hash.finalize().into()
}

/// The cached hash blocks, which are already checked. Level and index identify each of them.
pub struct Hashes<'m> {
    memory: &'m mut [u8],
    kept: Recent<(usize, u64), KEPT_MAX>,
}

impl<'m> Hashes<'m> {
    pub fn new(memory: &'m mut [u8]) -> Self {
        Self { memory, kept: Recent::new() }
    }

    /// Returns the expected digest of a block of the image.
    pub fn digest_of<S: Source>(
        &mut self,
        source: &mut S,
        layout: &Layout,
        salt: &Salt,
        root: &[u8; DIGEST_BYTES],
        block: u64,
    ) -> Result<[u8; DIGEST_BYTES], Error> {
        // The hash block of each level on the path, and the offset of the digest in it.
        let mut way = [(0, 0, 0); LEVELS_MAX];
        let mut index = block;
        for (level, step) in way.iter_mut().enumerate().take(layout.levels()) {
            let place = layout.place(level, index).ok_or(Error::NotAuthentic(block))?;
            *step = (place.index, place.block, place.at);
            index = place.index;
        }
        let known = (0..layout.levels())
            .find(|&level| self.find(level, way[level].0).is_some())
            .unwrap_or(layout.levels());
        let mut expected = *root;
        for level in (0..layout.levels().min(known + 1)).rev() {
            let (index, at, slot) = way[level];
            let kept = match self.find(level, index) {
                Some(kept) => kept,
                None => self.take(source, salt, layout.block_bytes() as usize, at, &expected)?,
            };
            self.kept.put(kept, (level, index));
            let start = kept * layout.block_bytes() as usize + slot;
            expected.copy_from_slice(&self.memory[start..start + DIGEST_BYTES]);
        }
        Ok(expected)
    }

    fn find(&self, level: usize, index: u64) -> Option<usize> {
        self.kept.find(|&kept| kept == (level, index)).map(|(place, _)| place)
    }

    /// Reads a hash block into the slot of the least recently used hash block, and checks it.
    fn take<S: Source>(
        &mut self,
        source: &mut S,
        salt: &Salt,
        block_bytes: usize,
        at: u64,
        expected: &[u8; DIGEST_BYTES],
    ) -> Result<usize, Error> {
        let place = self.kept.make_room(self.memory.len() / block_bytes);
        let block = &mut self.memory[place * block_bytes..(place + 1) * block_bytes];
        source.read(at * block_bytes as u64, block)?;
        if digest(salt, block) != *expected {
            return Err(Error::NotAuthentic(at));
        }
        Ok(place)
    }
}
