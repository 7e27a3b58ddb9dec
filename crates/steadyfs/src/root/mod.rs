//! The ring of roots: the states from which a mount starts.
//!
//! A *root* is all that a mount begins with. It is written whole, and then again (its *copies*), before anything that an older root needs
//! is destroyed:
//!
//! ```text
//! a ring block of a mount:      | root | frames and journal page that a cut may have touched | copies | root | copies | …
//! any other ring block:         | root | copies | root | copies | …
//! at the end of a clean one:    … | root | copy of the newest journal page | copies |
//! ```
//!
//! The copies are the root's *seals*: each of their pages proves that the root was complete when it was begun. So a root *counts* when a
//! page of a copy can be read, and is *certain* when another page lies behind that one. What can be read may be metastable, what is
//! certain is not: that is why a root that was cut, and reads as whole today and as damaged tomorrow, does no harm. A root that lost a page
//! is read from its copy. Where a block is too small for copies, the seals are the first two pages of one.
//!
//! The ring's blocks are chosen by `format` and named in the superblocks for good. A root's number, modulo their number, is its place in
//! the ring. One that has gone bad is left out; every root says which.
//!
//! [`Ring`] is what is known of them. For a call of the store it works with the medium and the rooms whose state a root says, its [`Tables`]: a
//! [`Search`] finds the root that a mount begins with, also where nothing may have to be recovered ([`closed`]); [`Roots`] writes them.

mod closed;
mod program;
mod scan;
mod tables;

pub(crate) use program::{Lost, Roots};
pub(crate) use scan::{Search, ring_window};
pub(crate) use tables::{SEQUENCE_MAX, Said, Tables};

use crate::config::{Layout, RING_MIN};
use crate::media::{BlockIndex, PageIndex};
use crate::space::{NONE, Space, State};
use core::num::NonZeroU32;

/// Numbers of roots are below this.
const NUMBER_MAX: u32 = 1 << 31;

/// Where roots are, and where the next one goes. See the [module](self).
#[derive(Debug)]
pub(crate) struct Ring {
    /// The blocks of the ring: bit 0 is block 1.
    blocks: u64,
    /// Block of the second superblock.
    superblock_copy: BlockIndex,
    /// No number is larger than this: of a root that is complete, that was seen, or that was begun.
    number: u32,
    /// Number of the newest root that counts, which the next root names. While a mount looks for the root to begin with: what that one names.
    follows: u32,
    /// After a mount, until its own root is complete: a bit for each place that may not be erased.
    kept: u32,
    /// After a mount: a bit for each place where no root can be read, and something is.
    unknown: u32,
    /// Number of the root that a mount begins with, if it is not certain.
    uncertain: Option<NonZeroU32>,
    /// The page behind the newest root, where the volume is closed and a mark says that it was opened; [`NONE`] where none can be.
    mark: PageIndex,
    /// The next page of the block of the next root.
    next: u16,
    /// Place in the ring of the next root.
    place: u8,
    /// Place in the ring of the newest complete root.
    complete: u8,
    /// The place whose block is erased and comes next.
    prepared: Option<u8>,
    /// The newest root ends the use of the volume, and nothing was changed since.
    closed: bool,
    /// No cut can have touched a block behind that of the next root since a format erased it: see [`is_blank`](Self::is_blank).
    untouched: bool,
    /// Blocks were freed or listed, and no root says so yet.
    needs_root: bool,
}

impl Ring {
    /// Without blocks.
    pub fn new() -> Self {
        Self {
            blocks: 0,
            superblock_copy: NONE,
            number: 0,
            follows: 0,
            kept: 0,
            unknown: 0,
            uncertain: None,
            mark: NONE,
            next: 0,
            place: 0,
            complete: 0,
            prepared: None,
            closed: false,
            untouched: false,
            needs_root: false,
        }
    }

    /// Of the blocks that a superblock names; `false` where they are not so many as there should be.
    pub fn adopt(&mut self, blocks: u64, superblock_copy: BlockIndex, layout: &Layout) -> bool {
        (self.blocks, self.superblock_copy) = (blocks, superblock_copy);
        blocks.count_ones() == layout.ring_count
    }

    /// Takes another block for the superblocks and the ring of a volume that is made; how many the ring has then.
    pub fn take_block(&mut self, block: BlockIndex) -> u32 {
        match (block, self.superblock_copy) {
            (0, _) => {}
            (_, NONE) => self.superblock_copy = block,
            _ => self.blocks |= 1 << (block - 1),
        }
        self.blocks.count_ones()
    }

    /// Gives up the blocks of a volume that is made. Returns the block of the second superblock.
    pub fn release_blocks(&mut self) -> BlockIndex {
        self.blocks = 0;
        core::mem::replace(&mut self.superblock_copy, NONE)
    }

    /// The block at a place of the ring.
    #[inline(never)]
    fn block(&self, place: u32) -> BlockIndex {
        let mut bits = self.blocks;
        for _ in 0..place {
            bits &= bits.wrapping_sub(1);
        }
        bits.trailing_zeros() + 1
    }

    /// The block of the next root.
    pub fn current(&self) -> BlockIndex {
        self.block(self.place.into())
    }

    /// The block of the newest complete root, and the next page of the ring.
    pub fn newest(&self) -> (BlockIndex, u32) {
        (self.block(self.complete.into()), self.next.into())
    }

    /// Whether a block is one of the ring.
    pub fn has(&self, block: BlockIndex) -> bool {
        (1..=64).contains(&block) && self.blocks >> (block - 1) & 1 != 0
    }

    /// Whether superblocks name a block: one of theirs, or of the ring.
    pub fn owns(&self, block: BlockIndex) -> bool {
        block == 0 || block == self.superblock_copy || self.has(block)
    }

    /// Blocks of the ring, in the order of their places.
    pub fn all(&self) -> impl Iterator<Item = BlockIndex> + use<> {
        let mut left = self.blocks;
        core::iter::from_fn(move || {
            let next = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            (next < u64::BITS).then_some(next + 1)
        })
    }

    /// Pages that the current block still takes.
    fn pages_left(&self, layout: &Layout) -> u32 {
        layout.geometry.pages_per_block.saturating_sub(self.next.into())
    }

    /// Roots that the current block still takes.
    pub fn roots_left(&self, layout: &Layout) -> u32 {
        self.pages_left(layout) / layout.root_programs
    }

    /// Whether the last of `parts` parts of the current block is begun.
    pub fn is_used(&self, layout: &Layout, parts: u32) -> bool {
        let pages = layout.geometry.pages_per_block;
        self.roots_left(layout) == 0 || u32::from(self.next) + pages / parts > pages
    }

    /// Whether the block that comes next is not erased yet.
    pub fn needs_block(&self) -> bool {
        self.prepared.is_none()
    }

    /// Whether the newest root ends the use of the volume, and nothing was changed since.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns true if the next root ends the use of the volume.
    pub fn set_closed(&mut self, closed: bool) {
        self.closed = closed;
    }

    /// The next page of the current block.
    pub fn next_page(&self, layout: &Layout) -> PageIndex {
        self.current() * layout.geometry.pages_per_block + u32::from(self.next)
    }

    /// Whether blocks were freed or listed, and no root says so yet.
    pub fn needs_root(&self) -> bool {
        self.needs_root
    }

    /// Number of the root that a mount begins with, if it is not certain.
    pub fn uncertain(&self) -> Option<NonZeroU32> {
        self.uncertain
    }

    /// Whether nobody needs what is in the block at a place: neither that of the next root nor, until that is complete, that of the newest one.
    fn rests(&self, place: u32, space: &Space<'_>) -> bool {
        let block = self.block(place);
        place != self.place.into()
            && place != self.complete.into()
            && self.kept >> place & 1 == 0
            && space.blocks().state(block) == State::Reserved
            && space.blocks().live(block) == 0
            && !space.holds_journal(block)
    }

    /// Whether the block at a place is as a format has left it, which erased all of the ring: this is the first round, for what later rounds use is erased
    /// before, and the use of the volume was begun by a mark. So what has begun to use the block was neither an earlier use, which would have been ended by
    /// a cut, nor a start that was cut.
    fn is_blank(&self, place: u32, space: &Space<'_>) -> bool {
        let erased_once = |place| space.blocks().wear_base == 0 && space.blocks().wear(self.block(place)) == 1;
        self.untouched && place > self.place.into() && erased_once(self.place.into()) && erased_once(place)
    }

    /// Erases that the first change after a mount may need.
    pub fn opening_erases(&self) -> u32 {
        if self.closed { 1 + self.unknown.count_ones() } else { 0 }
    }

    /// Whether so few good blocks are left that the volume is to be read only.
    pub fn is_worn_out(&self, space: &Space<'_>, layout: &Layout) -> bool {
        let good = self.all().filter(|&block| space.blocks().state(block) != State::Bad).count();
        (good as u32) < RING_MIN.min(layout.ring_count) - 1
    }

    /// The number of the next root: the smallest one beyond all others that belongs to its place.
    fn take_number(&mut self, layout: &Layout) -> u32 {
        let (count, least) = (layout.ring_count, self.number + 1);
        self.number = least + (u32::from(self.place) + count - least % count) % count;
        self.number
    }

    /// Takes the next pages of the current block, also where their program fails: it may have touched them. The first of them.
    pub fn take_pages(&mut self, count: u32, layout: &Layout) -> PageIndex {
        let first = self.next_page(layout);
        self.next += count as u16;
        first
    }

    /// Goes on at a page of the current block.
    pub fn go_to(&mut self, page: PageIndex, layout: &Layout) {
        self.next = (page % layout.geometry.pages_per_block) as u16;
    }

    /// Nothing more goes into the current block.
    fn leave_block(&mut self, layout: &Layout) {
        self.next = layout.geometry.pages_per_block as u16;
    }
}
