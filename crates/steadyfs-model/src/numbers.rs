//! Pages, blocks, programs and logical pages are numbers.

/// A program page of the chip. A frame is one page here.
pub type Page = u8;
/// A block: data blocks first, then the ring.
pub type Block = u8;
/// Number of a program. Canonical states keep the order of the numbers, and their small
/// distances.
pub type Sequence = u16;
/// No page or block.
pub const NONE: u8 = u8::MAX;
/// No transaction.
pub const IDLE: Sequence = Sequence::MAX;
/// Value of a lost byte. A read reports it as lost.
pub const LOST: u8 = u8::MAX;
/// Number of logical pages. One leaf maps them all.
pub const LOGICAL: usize = 2;
/// One value for each logical page.
pub type Pages<T> = [T; LOGICAL];
