//! The header of a checkpoint. The tables behind it follow without gaps: root, overlay, pending pages, wear, states.
//!
//! ```text
//! 0        4         6             8             10       12         20                  28           32                      50       52         53          57         58         59      60       64
//! | "SFSC" | version | overlay len | pending len | zero | sequence | transaction start | journal page | 3 × (block 32, next 16) | credit | unmarked | wear base | worn out | changing | place | counts |
//! ```

use super::{Fields, VERSION};
use crate::config::CHECKPOINT_HEADER_BYTES;

const MAGIC: u32 = u32::from_le_bytes(*b"SFSC");

/// Bytes of the header.
pub(crate) const BYTES: usize = CHECKPOINT_HEADER_BYTES as usize;

/// A parsed header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub overlay_len: u32,
    pub pending_len: u32,
    /// Every program after the checkpoint has at least this sequence.
    pub sequence: u64,
    /// First sequence of the open transaction, or all ones.
    pub transaction_start: u64,
    /// Newest journal page, or all ones.
    pub journal_at: u32,
    /// Block (or all ones) and next place of each head.
    pub heads: [(u32, u32); 3],
    pub credit: u16,
    /// Written by a mount or by format: a journal page comes before the first frame that a head programs.
    pub unmarked: bool,
    /// Erases of each block beyond its wear in the table.
    pub wear_base: u32,
    /// The volume can only be read.
    pub worn_out: bool,
    /// The superblock that may be written before the next checkpoint, plus one; 0: none.
    pub changing: Option<usize>,
    /// The place in the ring that changes, or all ones.
    pub place: u32,
    /// Sequence of the superblock that counts meanwhile, its low 32 bits.
    pub counts: u32,
}

impl Header {
    /// Reads a header; `None` when it is none.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < BYTES {
            return None;
        }
        let mut fields = Fields::new(&bytes[..BYTES]);
        if fields.get32() != MAGIC || fields.get16() != VERSION {
            return None;
        }
        let (overlay_len, pending_len) = (fields.get16().into(), fields.get16().into());
        fields.get16();
        let (sequence, transaction_start, journal_at) = (fields.get(8), fields.get(8), fields.get32());
        let mut heads = [(0, 0); 3];
        for head in &mut heads {
            *head = (fields.get32(), fields.get16().into());
        }
        let credit = fields.get16();
        let unmarked = fields.get(1) != 0;
        let wear_base = fields.get32();
        let worn_out = fields.get(1) != 0;
        let changing = (fields.get(1) as usize).checked_sub(1).filter(|&index| index < 2);
        let place = fields.get(1) as u32;
        let place = if place == 0xFF { u32::MAX } else { place };
        let counts = fields.get32();
        Some(Self {
            overlay_len,
            pending_len,
            sequence,
            transaction_start,
            journal_at,
            heads,
            credit,
            unmarked,
            wear_base,
            worn_out,
            changing,
            place,
            counts,
        })
    }

    /// Writes a header.
    pub fn emit(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let mut fields = Fields::new(&mut bytes[..]);
        fields.put(4, MAGIC.into());
        fields.put(2, VERSION.into());
        fields.put(2, self.overlay_len.into());
        fields.put(2, self.pending_len.into());
        fields.put(2, 0);
        fields.put(8, self.sequence);
        fields.put(8, self.transaction_start);
        fields.put(4, self.journal_at.into());
        for &(block, next) in &self.heads {
            fields.put(4, block.into());
            fields.put(2, next.into());
        }
        fields.put(2, self.credit.into());
        fields.put(1, self.unmarked.into());
        fields.put(4, self.wear_base.into());
        fields.put(1, self.worn_out.into());
        fields.put(1, self.changing.map_or(0, |index| index as u64 + 1));
        fields.put(1, self.place.into());
        fields.put(4, self.counts.into());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emit_then_parse_returns_the_header() {
        let header = Header {
            overlay_len: 400,
            pending_len: 3,
            sequence: 1 << 39,
            transaction_start: u64::MAX,
            journal_at: u32::MAX,
            heads: [(1, 2), (3, 4), (u32::MAX, 0)],
            credit: 310,
            unmarked: true,
            wear_base: 99_000,
            worn_out: false,
            changing: Some(1),
            place: u32::MAX,
            counts: 77,
        };
        assert_eq!(Header::parse(&header.emit()), Some(header));
        assert_eq!(Header::parse(&[0xFF; BYTES]), None);
    }
}
