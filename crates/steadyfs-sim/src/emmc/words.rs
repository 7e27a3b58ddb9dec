//! Commands and their arguments.
//!
//! ```text
//! CMD23  31 reliable | 30 packed | 29 tag | 28-25 context | 24 forced | 15-0 blocks
//! CMD6   25-24 access | 23-16 index | 15-8 value
//! ```

/// Numbers of the commands that the device supports.
pub mod command {
    /// CMD6: changes a byte of the register.
    pub const SWITCH: u8 = 6;
    /// CMD8: requests the register.
    pub const SEND_EXT_CSD: u8 = 8;
    /// CMD12: ends a transfer.
    pub const STOP_TRANSMISSION: u8 = 12;
    /// CMD13: requests the status.
    pub const SEND_STATUS: u8 = 13;
    /// CMD16: sets the bytes of a block.
    pub const SET_BLOCKLEN: u8 = 16;
    /// CMD17: reads a sector.
    pub const READ_SINGLE_BLOCK: u8 = 17;
    /// CMD18: reads sectors.
    pub const READ_MULTIPLE_BLOCK: u8 = 18;
    /// CMD23: sets the number of sectors of the next command, and its options.
    pub const SET_BLOCK_COUNT: u8 = 23;
    /// CMD24: writes a sector.
    pub const WRITE_BLOCK: u8 = 24;
    /// CMD25: writes sectors.
    pub const WRITE_MULTIPLE_BLOCK: u8 = 25;
    /// CMD35: the first sector of an erase.
    pub const ERASE_GROUP_START: u8 = 35;
    /// CMD36: the last sector of an erase.
    pub const ERASE_GROUP_END: u8 = 36;
    /// CMD38: erases.
    pub const ERASE: u8 = 38;
}

/// Argument of CMD38: the logical pages that hold any of the sectors read as zeros.
pub const ERASE: u32 = 0;
/// Argument of CMD38: only these sectors read as zeros.
pub const TRIM: u32 = 1;
/// Argument of CMD38: the sectors are no longer needed. Sectors in whole logical pages read as
/// zeros, and the other sectors do not change.
pub const DISCARD: u32 = 3;

const RELIABLE: u32 = 1 << 31;
const PACKED: u32 = 1 << 30;
const CONTEXT_SHIFT: u32 = 25;
const FORCED: u32 = 1 << 24;

/// Argument of CMD23.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockCount {
    /// Number of sectors of the next command. 0 stands for a transfer that lasts until CMD12.
    pub blocks: u16,
    /// True if the write is reliable: the sectors are durable when the write ends, and after a
    /// power cut each sector is old or new.
    pub reliable: bool,
    /// True if the sectors bypass the cache.
    pub forced: bool,
    /// Number of the context or stream, 0 to 15. 0 stands for none.
    pub context: u8,
}

impl BlockCount {
    /// Returns the word of the argument. Only the lowest four bits of `context` are used.
    pub const fn emit(&self) -> u32 {
        let reliable = if self.reliable { RELIABLE } else { 0 };
        let forced = if self.forced { FORCED } else { 0 };
        reliable | forced | (self.context as u32 & 0xF) << CONTEXT_SHIFT | self.blocks as u32
    }

    /// Parses an argument. Returns `None` for a packed command.
    pub(super) const fn parse(word: u32) -> Option<Self> {
        if word & PACKED != 0 {
            return None;
        }
        Some(Self {
            blocks: word as u16,
            reliable: word & RELIABLE != 0,
            forced: word & FORCED != 0,
            context: (word >> CONTEXT_SHIFT & 0xF) as u8,
        })
    }
}

/// Returns the argument of CMD6 that writes a byte of the register.
pub const fn switch(index: u8, value: u8) -> u32 {
    (Access::Write as u32) << 24 | (index as u32) << 16 | (value as u32) << 8
}

/// The way CMD6 changes a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    SetBits = 1,
    ClearBits = 2,
    Write = 3,
}

/// Parses an argument of CMD6 into the kind of change, the byte's index, and the value. Returns
/// `None` if the argument chooses a command set.
pub(super) const fn parse_switch(word: u32) -> Option<(Access, u8, u8)> {
    let access = match word >> 24 & 3 {
        1 => Access::SetBits,
        2 => Access::ClearBits,
        3 => Access::Write,
        _ => return None,
    };
    Some((access, (word >> 16) as u8, (word >> 8) as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_count_lies_where_the_standard_has_it() {
        let count = BlockCount { blocks: 0x1234, reliable: true, forced: true, context: 15 };
        assert_eq!(count.emit(), 0x9F00_1234);
        assert_eq!(BlockCount::parse(count.emit()), Some(count));
        // A tag request is ignored, so the result does not contain it.
        assert_eq!(
            BlockCount::parse(1 << 29 | 1 << 25 | 7),
            Some(BlockCount { blocks: 7, context: 1, ..BlockCount::default() })
        );
        assert_eq!(BlockCount::parse(1 << 30 | 7), None);
    }

    #[test]
    fn a_switch_lies_where_the_standard_has_it() {
        assert_eq!(switch(33, 1), 0x0321_0100);
        assert_eq!(parse_switch(switch(133, 7)), Some((Access::Write, 133, 7)));
        assert_eq!(parse_switch(0x0221_0100), Some((Access::ClearBits, 33, 1)));
        assert_eq!(parse_switch(0x0021_0101), None);
    }
}
