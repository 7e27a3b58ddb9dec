//! The format of a compressed file on the volume.
//!
//! The attribute [`ATTRIBUTE`] has four bytes:
//!
//! ```text
//! | version = 1 | method of new chunks | log2 of chunk bytes: 12 … 16 | log2 of header bytes: 6 … 9 |
//! ```
//!
//! The file consists of *slots* of equal size. Each slot holds a *group* of chunks: one chunk for
//! each entry of its header. The bytes that no entry points to are free. Bytes that were never
//! written are a hole, and take no space on the medium.
//!
//! ```text
//! slot 0                                                      slot 1
//! ┌──────┬───────┬───────┬─ ─┬───────┬─────────┬──────────────┬──────┬───────┬─ ─
//! │ size │ entry │ entry │   │ entry │ chunks  │ hole         │  0   │ entry │
//! └──────┴───────┴───────┴─ ─┴───────┴─────────┴──────────────┴──────┴───────┴─ ─
//!  8      8 each                       header ÷ 8 × 2 chunks of address space
//!
//! size:   of the content, 64 bits; 0 in other slots
//! entry:  | position in the slot (32 bits) | stored bytes − 1 (16 bits) | form (8 bits) | 0 |
//!         all zeros: the chunk is zeros
//! ```
//!
//! A chunk of the form *plain* always occupies the bytes of a whole chunk, even if fewer are used.
//! These bytes are its content. Entries and chunk bytes behind the end of the file have no meaning.

use crate::error::Error;
use crate::method::Method;

/// Key of the attribute that marks a file as compressed.
pub const ATTRIBUTE: &str = "steadyfs.packed";
/// Bytes of the attribute's value.
pub const ATTRIBUTE_BYTES: usize = 4;
/// Bytes of an entry. The size before the first entry has the same number of bytes.
pub const ENTRY_BYTES: usize = 8;

/// A number that no chunk has.
pub(crate) const NO_CHUNK: u32 = u32::MAX;

const VERSION: u8 = 1;
const CHUNK_LOG2_MIN: u8 = 12;
const CHUNK_LOG2_MAX: u8 = 16;
const HEADER_LOG2_MIN: u8 = 6;
const HEADER_LOG2_MAX: u8 = 9;

/// The numbers of methods on the medium.
impl Method {
    const fn number(self) -> u8 {
        self as u8
    }

    const fn of(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Lz4),
            2 => Some(Self::Deflate),
            3 => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// A position in the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub chunk: u32,
    /// Number of bytes from the beginning of the chunk.
    pub within: usize,
}

/// The parameters of a file's compression: the size of its chunks, and the method for chunks that
/// will be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of a chunk, a power of two.
    chunk_bytes: u32,
    /// Bytes of a header, a power of two.
    header_bytes: u16,
    method: Method,
}

impl Shape {
    /// Returns a shape with chunks of 4,096 to 65,536 bytes, rounded up to a power of two.
    ///
    /// Larger chunks compress better. They need more RAM. Each read at a random offset and each
    /// small write takes longer.
    pub const fn new(chunk_bytes: usize, method: Method) -> Self {
        let mut chunk_log2 = CHUNK_LOG2_MIN;
        while chunk_log2 < CHUNK_LOG2_MAX && (1 << chunk_log2) < chunk_bytes {
            chunk_log2 += 1;
        }
        Self { chunk_bytes: 1 << chunk_log2, header_bytes: 1 << HEADER_LOG2_MAX, method }
    }

    /// Returns the shape with the smallest headers that suit a file of `bytes` bytes. A group then
    /// has 7 to 63 chunks. The file may still grow beyond `bytes`, but then takes more space than
    /// with larger headers.
    #[must_use]
    pub const fn for_size(self, bytes: u64) -> Self {
        let mut shape = Self { header_bytes: 1 << HEADER_LOG2_MIN, ..self };
        while shape.header_bytes < 1 << HEADER_LOG2_MAX
            && bytes / self.chunk_bytes as u64 >= shape.group_chunks() as u64
        {
            shape.header_bytes *= 2;
        }
        shape
    }

    /// Returns the shape with a header half as large, or `None` if a header cannot be smaller.
    pub(crate) const fn with_smaller_header(self) -> Option<Self> {
        let is_smallest = self.header_bytes == 1 << HEADER_LOG2_MIN;
        if is_smallest { None } else { Some(Self { header_bytes: self.header_bytes / 2, ..self }) }
    }

    /// Returns the number of bytes that a file of `bytes` bytes takes for entries, beside its
    /// chunks.
    pub const fn overhead(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.chunk_bytes() as u64).div_ceil(self.group_chunks() as u64)
            * self.header_bytes() as u64
    }

    /// Returns the method for chunks that will be written.
    pub const fn method(&self) -> Method {
        self.method
    }

    /// Returns the bytes of a chunk.
    pub const fn chunk_bytes(&self) -> usize {
        self.chunk_bytes as usize
    }

    /// Returns the bytes of memory that reads need: a chunk, and a little more.
    pub const fn read_bytes(&self) -> usize {
        self.chunk_bytes() + super::lz4::margin(self.chunk_bytes())
    }

    /// Returns the bytes of memory that reads and writes need: the bytes for reads, a second
    /// chunk, a header, and the table of LZ4.
    pub const fn write_bytes(&self) -> usize {
        self.read_bytes() + self.chunk_bytes() + self.header_bytes() + (self.chunk_bytes() / 2)
    }

    /// Returns the bytes of memory for reads and writes with a larger table, in which LZ4 finds
    /// more matches. Use it on systems with enough RAM.
    pub const fn write_bytes_max(&self) -> usize {
        self.read_bytes() + self.chunk_bytes() + self.header_bytes() + (1 << 16)
    }

    /// Returns the offset in the memory at which compressed chunks are composed. It lies behind the
    /// memory for reads and a header.
    pub(crate) const fn out_at(&self) -> usize {
        self.read_bytes() + self.header_bytes()
    }

    /// Returns the part of the memory into which headers are read.
    pub(crate) fn header_of<'m>(&self, memory: &'m mut [u8]) -> &'m mut [u8] {
        &mut memory[self.read_bytes()..self.out_at()]
    }

    /// Returns the bytes of a header.
    pub(crate) const fn header_bytes(&self) -> usize {
        self.header_bytes as usize
    }

    /// Returns the number of chunks of a group.
    pub(crate) const fn group_chunks(&self) -> u32 {
        self.header_bytes() as u32 / ENTRY_BYTES as u32 - 1
    }

    /// Returns the bytes of a slot: twice the bytes of a group. So a slot always has a gap for one
    /// more chunk (`docs/design/compression.md`).
    pub(crate) const fn slot_bytes(&self) -> u32 {
        self.chunk_bytes * (self.header_bytes as u32 / 4)
    }

    /// Returns the spot of an offset. Returns `None` if the offset lies beyond the last chunk that
    /// a file can have.
    pub(crate) fn spot(&self, offset: u64) -> Option<Spot> {
        let chunk = u32::try_from(offset >> self.chunk_bytes.trailing_zeros())
            .ok()
            .filter(|&chunk| chunk != NO_CHUNK)?;
        Some(Spot { chunk, within: offset as usize & (self.chunk_bytes() - 1) })
    }

    /// Returns the offset of a spot.
    pub(crate) fn offset(&self, spot: Spot) -> u64 {
        u64::from(spot.chunk) * u64::from(self.chunk_bytes) + spot.within as u64
    }

    /// Returns the spot `bytes` bytes behind a spot, in the same chunk or at the end of the
    /// chunk.
    pub(crate) fn behind(&self, spot: Spot, bytes: usize) -> Spot {
        let within = spot.within + bytes;
        if within < self.chunk_bytes() {
            Spot { within, ..spot }
        } else {
            Spot { chunk: spot.chunk + 1, within: 0 }
        }
    }

    /// Returns the number of bytes from a spot to the end of its chunk, or to the end of the
    /// content if the content ends first.
    pub(crate) fn left(&self, spot: Spot, end: Spot) -> usize {
        let is_last = spot.chunk == end.chunk && spot.within < end.within;
        (if is_last { end.within } else { self.chunk_bytes() }) - spot.within
    }

    /// Returns the slot of a chunk, and the index of the chunk in its group.
    pub(crate) fn slot_of(&self, chunk: u32) -> (u32, u32) {
        (chunk / self.group_chunks(), chunk % self.group_chunks())
    }

    /// Returns the offset in the file of a position in a chunk's slot.
    pub(crate) fn place_of(&self, chunk: u32, position: u32) -> u64 {
        u64::from(self.slot_of(chunk).0) * u64::from(self.slot_bytes()) + u64::from(position)
    }

    /// Returns the position of a chunk's entry in the slot.
    pub(crate) fn entry_of(&self, chunk: u32) -> u32 {
        (self.slot_of(chunk).1 + 1) * ENTRY_BYTES as u32
    }

    /// Parses the attribute's value.
    ///
    /// # Errors
    /// [`Error::Attribute`].
    pub fn parse(value: &[u8]) -> Result<Self, Error> {
        match *value {
            [
                VERSION,
                method,
                chunk @ CHUNK_LOG2_MIN..=CHUNK_LOG2_MAX,
                header @ HEADER_LOG2_MIN..=HEADER_LOG2_MAX,
            ] => {
                let method = Method::of(method).ok_or(Error::Attribute)?;
                Ok(Self { chunk_bytes: 1 << chunk, header_bytes: 1 << header, method })
            }
            _ => Err(Error::Attribute),
        }
    }

    /// Returns the attribute's value.
    pub const fn emit(&self) -> [u8; ATTRIBUTE_BYTES] {
        [
            VERSION,
            self.method.number(),
            self.chunk_bytes.trailing_zeros() as u8,
            self.header_bytes.trailing_zeros() as u8,
        ]
    }
}

/// The way a chunk is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Stored uncompressed, in the bytes of a whole chunk.
    Plain,
    /// Compressed.
    Compressed {
        /// The method.
        method: Method,
        /// Number of compressed bytes, at least one.
        stored: usize,
    },
}

const PLAIN: u8 = 4;

/// The error of an invalid entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The position and form of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The position in the slot where the chunk begins.
    pub position: u32,
    /// The way the chunk is stored.
    pub form: Form,
}

impl Entry {
    /// Parses an entry. Returns `None` if no chunk is stored: its content then is zeros.
    ///
    /// # Errors
    /// [`Malformed`] in any of these cases:
    /// - The position is in the header or outside the slot.
    /// - The number of the form is invalid.
    /// - The stored bytes are more than a chunk can have.
    pub fn parse(bytes: &[u8; ENTRY_BYTES], shape: &Shape) -> Result<Option<Self>, Malformed> {
        if *bytes == [0; ENTRY_BYTES] {
            return Ok(None);
        }
        let [p0, p1, p2, p3, s0, s1, form, 0] = *bytes else { return Err(Malformed) };
        let stored = usize::from(u16::from_le_bytes([s0, s1])) + 1;
        let form = match form {
            PLAIN if stored == shape.chunk_bytes() => Form::Plain,
            _ if stored < shape.chunk_bytes() => {
                Form::Compressed { method: Method::of(form).ok_or(Malformed)?, stored }
            }
            _ => return Err(Malformed),
        };
        let entry = Self { position: u32::from_le_bytes([p0, p1, p2, p3]), form };
        let is_inside = entry.position >= shape.header_bytes() as u32
            && entry.position <= shape.slot_bytes() - shape.chunk_bytes() as u32;
        if is_inside { Ok(Some(entry)) } else { Err(Malformed) }
    }

    /// Returns the entry's bytes.
    pub fn emit(&self, shape: &Shape) -> [u8; ENTRY_BYTES] {
        let (stored, form) = match self.form {
            Form::Plain => (shape.chunk_bytes(), PLAIN),
            Form::Compressed { method, stored } => (stored, method.number()),
        };
        (u64::from(self.position) | u64::from((stored - 1) as u16) << 32 | u64::from(form) << 48)
            .to_le_bytes()
    }

    /// Returns the number of bytes that the chunk takes in its slot.
    pub(crate) fn room(&self, shape: &Shape) -> u32 {
        match self.form {
            Form::Plain => shape.chunk_bytes() as u32,
            Form::Compressed { stored, .. } => stored as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shapes() -> impl Strategy<Value = Shape> {
        (1u8..4, CHUNK_LOG2_MIN..=CHUNK_LOG2_MAX, HEADER_LOG2_MIN..=HEADER_LOG2_MAX).prop_map(
            |(method, chunk_log2, header_log2)| {
                Shape::parse(&[1, method, chunk_log2, header_log2]).expect("a shape")
            },
        )
    }

    proptest! {
        #[test]
        fn any_entry_is_refused_or_lies_in_its_slot(
            bytes: [u8; ENTRY_BYTES],
            small: bool,
            shape in shapes(),
        ) {
            let bytes = if small {
                [bytes[0], bytes[1], bytes[2] & 3, 0, bytes[4], bytes[5], bytes[6] & 7, 0]
            } else {
                bytes
            };
            if let Ok(Some(entry)) = Entry::parse(&bytes, &shape) {
                prop_assert!(entry.position as usize >= shape.header_bytes());
                prop_assert!(entry.position + entry.room(&shape) <= shape.slot_bytes());
                prop_assert_eq!(entry.emit(&shape), bytes);
            }
        }

        #[test]
        fn any_attribute_is_refused_or_says_itself(
            value in proptest::collection::vec(0u8..20, 0..6),
        ) {
            if let Ok(shape) = Shape::parse(&value) {
                prop_assert_eq!(&shape.emit()[..], &value[..]);
                prop_assert!(
                    shape.slot_bytes() as usize
                        >= (2 * shape.group_chunks() as usize + 1) * shape.chunk_bytes()
                            + shape.header_bytes()
                );
            }
        }

        #[test]
        fn every_chunk_has_an_entry_of_its_own(chunk: u32, shape in shapes()) {
            let (slot, index) = shape.slot_of(chunk);
            prop_assert!(index < shape.group_chunks());
            prop_assert_eq!(slot * shape.group_chunks() + index, chunk);
            prop_assert_eq!(
                shape.place_of(chunk, 0),
                u64::from(slot) * u64::from(shape.slot_bytes())
            );
        }
    }

    #[test]
    fn headers_are_as_small_as_the_size_allows() {
        let shape = Shape::new(4096, Method::Lz4);
        assert_eq!(shape.for_size(7 * 4096 - 1).group_chunks(), 7);
        assert_eq!(shape.for_size(7 * 4096).group_chunks(), 15);
        assert_eq!(shape.for_size(u64::MAX).group_chunks(), 63);
    }
}
