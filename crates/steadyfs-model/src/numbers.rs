//! Pages, blocks and programs are numbers; so are logical pages.

/// A program page of the chip. A frame is one page here.
pub type Page = u8;
/// A block: data blocks first, then the ring.
pub type Block = u8;
/// Number of a program; canonical states keep the order and which numbers follow each other.
pub type Sequence = u16;
/// No page or block.
pub const NONE: u8 = u8::MAX;
/// No transaction.
pub const IDLE: Sequence = Sequence::MAX;
/// Stands for a byte that is lost: whoever reads it is told.
pub const LOST: u8 = u8::MAX;
/// Logical pages; one leaf maps them all.
pub const LOGICAL: usize = 2;
/// One value for each logical page.
pub type Pages<T> = [T; LOGICAL];
