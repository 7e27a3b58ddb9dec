//! The header of a root. The tables behind it follow without gaps: frames of the leaves, wear,
//! states, overlay, pending pages.
//!
//! ```text
//! 0        4         6             8             10      12         20                  28
//! | "SFSR" | version | overlay len | pending len | flags | sequence | transaction start |
//! 28             32                        50        52          56        60             64          68
//! | journal page | 3 × (block 32, next 16) | savings | wear base | follows | journal copy | leaf copy |
//! ```

use super::VERSION;
use crate::config::ROOT_HEADER_BYTES;
use crate::fields::Fields;

const MAGIC: u32 = u32::from_le_bytes(*b"SFSR");
const UNMARKED: u16 = 1;
const WORN_OUT: u16 = 2;
const CLOSED: u16 = 4;
const UNCHECKED: u16 = 8;

/// Bytes of the header.
pub(crate) const BYTES: usize = ROOT_HEADER_BYTES as usize;

/// A parsed header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RootHeader {
    pub overlay_len: u32,
    pub pending_len: u32,
    /// True for a root that a mount or `format` has written. After such a root, a journal page is
    /// programmed before the first frame that a head programs.
    pub unmarked: bool,
    /// True if the volume can only be read.
    pub worn_out: bool,
    /// True if the volume was closed with this root: nothing was programmed outside of the ring
    /// since.
    pub closed: bool,
    /// True if a loss of data was accepted, and its consequences are not repaired yet.
    pub unchecked: bool,
    /// Lower limit of the sequence numbers of all programs after the root.
    pub sequence: u64,
    /// First sequence number of the open transaction; all ones if no transaction is open.
    pub transaction_start: u64,
    /// Place of the newest journal page; all ones if there is none.
    pub journal_at: u32,
    /// Block and next place of each head. The block is all ones if the head has no block.
    pub heads: [(u32, u32); 3],
    pub reserve: u16,
    /// Number of erases that each block has had in addition to its wear in the table.
    pub wear_base: u32,
    /// Number of the newest root that was complete when this root was begun; 0 if there was none.
    pub follows: u32,
    /// Another place that also holds the newest journal page; 0 if there is none.
    pub journal_copy: u32,
    /// Frame of the copy of the first leaf; 0 if there is none.
    pub leaf_copy: u32,
}

impl RootHeader {
    /// Parses a header. Returns `None` if the bytes are not a header.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < BYTES {
            return None;
        }
        let mut fields = Fields::new(&bytes[..BYTES]);
        if fields.get32() != MAGIC || fields.get16() != VERSION {
            return None;
        }
        let (overlay_len, pending_len, flags) =
            (fields.get16().into(), fields.get16().into(), fields.get16());
        let (sequence, transaction_start, journal_at) =
            (fields.get(8), fields.get(8), fields.get32());
        let mut heads = [(0, 0); 3];
        for head in &mut heads {
            *head = (fields.get32(), fields.get16().into());
        }
        Some(Self {
            overlay_len,
            pending_len,
            unmarked: flags & UNMARKED != 0,
            worn_out: flags & WORN_OUT != 0,
            closed: flags & CLOSED != 0,
            unchecked: flags & UNCHECKED != 0,
            sequence,
            transaction_start,
            journal_at,
            heads,
            reserve: fields.get16(),
            wear_base: fields.get32(),
            follows: fields.get32(),
            journal_copy: fields.get32(),
            leaf_copy: fields.get32(),
        })
    }

    /// Returns the bytes of the header.
    pub fn emit(&self) -> [u8; BYTES] {
        let flag = |set: bool, bit: u16| if set { bit } else { 0 };
        let flags = flag(self.unmarked, UNMARKED)
            | flag(self.worn_out, WORN_OUT)
            | flag(self.closed, CLOSED)
            | flag(self.unchecked, UNCHECKED);
        let mut bytes = [0; BYTES];
        let mut fields = Fields::new(&mut bytes[..]);
        fields.put(4, MAGIC.into());
        fields.put(2, VERSION.into());
        fields.put(2, self.overlay_len.into());
        fields.put(2, self.pending_len.into());
        fields.put(2, flags.into());
        fields.put(8, self.sequence);
        fields.put(8, self.transaction_start);
        fields.put(4, self.journal_at.into());
        for (block, next) in self.heads {
            fields.put(4, block.into());
            fields.put(2, next.into());
        }
        fields.put(2, self.reserve.into());
        fields.put(4, self.wear_base.into());
        fields.put(4, self.follows.into());
        fields.put(4, self.journal_copy.into());
        fields.put(4, self.leaf_copy.into());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emit_then_parse_returns_the_header() {
        let header = RootHeader {
            overlay_len: 400,
            pending_len: 3,
            unmarked: true,
            worn_out: false,
            closed: true,
            unchecked: true,
            sequence: 1 << 39,
            transaction_start: u64::MAX,
            journal_at: u32::MAX,
            heads: [(1, 2), (3, 4), (u32::MAX, 0)],
            reserve: 310,
            wear_base: 99_000,
            follows: 77,
            journal_copy: 1234,
            leaf_copy: 567,
        };
        assert_eq!(RootHeader::parse(&header.emit()), Some(header));
        assert_eq!(RootHeader::parse(&[0xFF; BYTES]), None);
    }
}
