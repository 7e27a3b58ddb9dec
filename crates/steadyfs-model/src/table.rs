//! The content of a root: the map, the heads, the states of the blocks.

use crate::numbers::{Block, Page, Pages, Sequence};

/// Index of a head.
pub const USER: usize = 0;
/// Index of a head.
pub const MOVED: usize = 1;
/// Index of a head.
pub const JOURNAL: usize = 2;

/// State of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockState {
    /// Never used again.
    Bad,
    /// A block of the ring.
    Reserved,
    /// May be listed by the next root.
    Free,
    /// May be allocated before the next root, once erased.
    Listed,
    /// As `Listed`, and erased since the mount.
    Erased,
    /// Empty, but a mount that begins with the newest root may need it.
    Dead,
    /// Closed.
    Used,
    /// A head programs it.
    Active,
    /// As `Used`, but goes bad when it is empty.
    Retiring,
}

/// Content of a root.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// Frame of the leaf.
    pub leaf: Page,
    /// Frame of each logical page that has changed since the leaf was written, and the settled
    /// bit.
    pub overlay: Pages<Option<(Page, bool)>>,
    /// Pages of the open transaction.
    pub pending: Pages<Option<Page>>,
    /// Block and next place of each head.
    pub heads: [(Block, u8); 3],
    /// States of the blocks.
    pub blocks: Vec<BlockState>,
    /// Lower limit for the numbers of all later programs.
    pub sequence: Sequence,
    /// First sequence of the open transaction.
    pub start: Sequence,
    /// Newest journal page.
    pub journal_at: Page,
    /// True if no cut or failure has touched the log of the leaf.
    pub log_is_known: bool,
    /// True if no head has programmed since the mount.
    pub heads_rest: bool,
    /// True if the use of the volume ended here.
    pub closed: bool,
}
