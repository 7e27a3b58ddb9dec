//! Blocks of an image, which are decoded in lent memory.

use super::format::{METADATA_BYTES, PLAIN_DATA, PLAIN_METADATA};
use crate::bound::Bound;
use crate::codec::Decoder;
use crate::error::Error;
use crate::recent::Recent;
use crate::source::Source;

/// A position in the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Offset of the block, which begins with two bytes of size.
    pub block: u64,
    /// Offset in the content of the block.
    pub offset: u32,
}

/// A stored block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Offset of the first stored byte.
    pub at: u64,
    /// Number of stored bytes.
    pub bytes: u32,
    /// True if the stored bytes are the content itself.
    pub is_plain: bool,
}

impl Stored {
    /// Describes a block of data by its offset and its size field, as files and fragments store it.
    pub const fn data(at: u64, size: u32) -> Self {
        Self { at, bytes: size & !PLAIN_DATA, is_plain: size & PLAIN_DATA != 0 }
    }

    /// Returns the offset of the next block.
    pub const fn end(&self) -> u64 {
        self.at.saturating_add(self.bytes as u64)
    }
}

/// Memory for the content of one block.
struct Room<'m> {
    memory: &'m mut [u8],
    /// The block whose content is in the memory, and the number of its decoded bytes.
    held: Option<(Stored, usize)>,
}

/// Maximum number of cached metadata blocks.
pub const KEPT_MAX: usize = 16;

/// The blocks of an image.
pub struct Blocks<'m, S> {
    source: S,
    decoder: Decoder,
    /// Memory for data. If the memory is too small for a second buffer, it also holds metadata.
    data: Room<'m>,
    metadata: Rooms<'m>,
    block_bytes: usize,
    /// The last metadata block whose size was read, and its offset.
    seen: Option<(u64, Stored)>,
}

impl<'m, S: Source> Blocks<'m, S> {
    /// Divides the memory into one buffer for data, and as many buffers for metadata as fit.
    pub fn new(source: S, decoder: Decoder, block_bytes: usize, memory: &'m mut [u8]) -> Self {
        let bytes = decoder.method().room_bytes(METADATA_BYTES);
        let of_data = decoder.method().room_bytes(block_bytes);
        let split = if memory.len() >= of_data + bytes { of_data } else { memory.len() };
        let (data, metadata) = memory.split_at_mut(split);
        let metadata = Rooms { memory: metadata, bytes, kept: Recent::new() };
        Self {
            source,
            decoder,
            data: Room { memory: data, held: None },
            metadata,
            block_bytes,
            seen: None,
        }
    }

    /// Returns a reference to the source.
    pub fn source(&mut self) -> &mut S {
        &mut self.source
    }

    /// Returns the worst case of one read of the source.
    pub fn source_bound(&self, bytes: u64) -> Bound {
        self.source.bound(bytes, 1)
    }

    /// Returns the number of decoded bytes of all blocks so far.
    pub const fn decoded_bytes(&self) -> u64 {
        self.decoder.decoded_bytes()
    }

    /// Returns the source.
    pub fn into_source(self) -> S {
        self.source
    }

    /// Reads metadata, and advances the position.
    pub fn read_metadata(&mut self, at: &mut Position, out: &mut [u8]) -> Result<(), Error> {
        let mut done = 0;
        while done < out.len() {
            let stored = self.stored_at(at.block)?;
            let left = &mut out[done..];
            let count = self.part_of(stored, METADATA_BYTES, at.offset as usize, left, true)?;
            if count < left.len() {
                if count == 0 && at.offset == 0 {
                    return Err(Error::Damaged(at.block));
                }
                *at = Position { block: stored.end(), offset: 0 };
            } else {
                at.offset += count as u32;
            }
            done += count;
        }
        Ok(())
    }

    /// Reads bytes of a block of data from an offset on. Returns the number of bytes read.
    pub fn read_data(
        &mut self,
        stored: Stored,
        offset: usize,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        self.part_of(stored, self.block_bytes, offset, out, false)
    }

    /// Reads the two bytes of size before a block of metadata.
    fn stored_at(&mut self, block: u64) -> Result<Stored, Error> {
        if let Some((at, stored)) = self.seen
            && at == block
        {
            return Ok(stored);
        }
        let mut size = [0; 2];
        self.source.read(block, &mut size)?;
        let size = u16::from_le_bytes(size);
        let stored = Stored {
            at: block.saturating_add(2),
            bytes: u32::from(size & !PLAIN_METADATA),
            is_plain: size & PLAIN_METADATA != 0,
        };
        self.seen = Some((block, stored));
        Ok(stored)
    }

    /// Copies a part of a block's content, which has at most `limit` bytes. Returns the number of
    /// copied bytes.
    fn part_of(
        &mut self,
        stored: Stored,
        limit: usize,
        offset: usize,
        out: &mut [u8],
        is_metadata: bool,
    ) -> Result<usize, Error> {
        if stored.bytes as usize > limit {
            return Err(Error::Damaged(stored.at));
        }
        if stored.is_plain {
            let count = (stored.bytes as usize).saturating_sub(offset).min(out.len());
            self.source.read(stored.at.saturating_add(offset as u64), &mut out[..count])?;
            return Ok(count);
        }
        let content = if is_metadata && !self.metadata.memory.is_empty() {
            self.metadata.content(&mut self.source, &mut self.decoder, stored)?
        } else {
            self.data.content(&mut self.source, &mut self.decoder, stored, limit)?
        };
        let count = content.len().saturating_sub(offset).min(out.len());
        if count > 0 {
            out[..count].copy_from_slice(&content[offset..offset + count]);
        }
        Ok(count)
    }

    /// Returns the worst case of reading one block, whose content has at most `limit` bytes.
    pub fn block_bound(&self, limit: usize, pieces: u64) -> Bound {
        self.source.bound(limit as u64, pieces).decoding(limit as u64)
    }

    /// Returns the worst case of reading `bytes` bytes of metadata in order, in `pieces` pieces.
    pub fn metadata_bound(&self, bytes: u64, pieces: u64) -> Bound {
        let blocks = (bytes + 2 * METADATA_BYTES as u64 - 2) / METADATA_BYTES as u64;
        let each = self
            .block_bound(METADATA_BYTES, pieces.div_ceil(blocks.max(1)) + 1)
            .plus(self.source_bound(2));
        each.times(blocks)
    }
}

/// Memory for the content of some blocks of metadata. The least recently used block is evicted.
struct Rooms<'m> {
    memory: &'m mut [u8],
    /// Bytes of the buffer for one block.
    bytes: usize,
    /// The block in each buffer, and the number of its decoded bytes.
    kept: Recent<(Stored, usize), KEPT_MAX>,
}

impl Rooms<'_> {
    /// Returns the content of a block. Decodes the block unless its content is already in the
    /// memory.
    fn content<S: Source>(
        &mut self,
        source: &mut S,
        decoder: &mut Decoder,
        stored: Stored,
    ) -> Result<&[u8], Error> {
        let (place, made) = match self.kept.find(|&(kept, _)| kept == stored) {
            Some((place, (_, made))) => (place, made),
            None => {
                let place = self.kept.make_room(self.memory.len() / self.bytes);
                let room = &mut self.memory[place * self.bytes..(place + 1) * self.bytes];
                (place, decode(source, decoder, room, stored, METADATA_BYTES)?)
            }
        };
        self.kept.put(place, (stored, made));
        Ok(&self.memory[place * self.bytes..][..made])
    }
}

impl Room<'_> {
    /// Returns the content of a block. Decodes the block unless its content is already in the
    /// memory.
    fn content<S: Source>(
        &mut self,
        source: &mut S,
        decoder: &mut Decoder,
        stored: Stored,
        limit: usize,
    ) -> Result<&[u8], Error> {
        let made = match self.held {
            Some((held, made)) if held == stored => made,
            _ => {
                self.held = None;
                decode(source, decoder, self.memory, stored, limit)?
            }
        };
        self.held = Some((stored, made));
        Ok(&self.memory[..made])
    }
}

/// Reads a block, and writes the decoded content at the start of the memory. Returns the number of
/// decoded bytes, at most `limit`.
fn decode<S: Source>(
    source: &mut S,
    decoder: &mut Decoder,
    memory: &mut [u8],
    stored: Stored,
    limit: usize,
) -> Result<usize, Error> {
    let needed = decoder.method().room_bytes(limit);
    let lent = memory.len();
    let room = memory.get_mut(..needed).ok_or(Error::MemoryTooSmall { needed, lent })?;
    let start = needed - stored.bytes as usize;
    source.read(stored.at, &mut room[start..])?;
    decoder.decode(room, stored.bytes as usize, limit).ok_or(Error::Damaged(stored.at))
}
