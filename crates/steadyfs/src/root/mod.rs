//! The ring of roots: the states from which a mount starts.
//!
//! A *root* is the state with which a mount begins. It is written as a whole, and then again
//! (its *copies*), before anything that an older root needs is destroyed:
//!
//! ```text
//! a ring block of a mount:    | root | pages that a cut may touch | copies | root | copies | …
//! any other ring block:       | root | copies | root | copies | …
//! at the end of a clean one:  … | root | copy of the newest journal page | copies |
//! ```
//!
//! The copies are the root's *seals*. Each page of a copy proves that the root was complete when
//! this page was begun. So a root *counts* if a page of a copy can be read. It is *certain* if
//! another page lies behind that page. A page that can be read may be metastable; a certain root
//! is not. So a cut root that reads as whole today and as damaged tomorrow does no harm. A root
//! that lost a page is read from its copy. If a block is too small for copies, the seals are the
//! first two pages of one copy.
//!
//! `format` chooses the blocks of the ring, and the superblocks name them for good. A root's
//! number, modulo the number of ring blocks, is its place in the ring. A bad block is left out.
//! Every root contains the list of bad blocks.
//!
//! [`Ring`] is the state of the ring in RAM. For a call of the store it works with its
//! [`RootState`]: the medium, and the rooms whose state a root contains. A [`Search`] finds the
//! root that a mount begins with. A reader that recovers nothing has a search of its own
//! ([`closed`]). [`Roots`] writes the roots.

mod closed;
mod program;
mod scan;
mod state;

pub(crate) use program::{Lost, Roots};
pub(crate) use scan::{Search, ring_window};
pub(crate) use state::{RootState, SEQUENCE_MAX, VolumeFlags};

use crate::config::{Layout, RING_MIN};
use crate::media::{BlockIndex, PageIndex};
use crate::space::{NONE, Space, State};
use core::num::NonZeroU32;

/// Numbers of roots are below this.
const NUMBER_MAX: u32 = 1 << 31;

/// The places of the roots, and of the next root. See the [module](self).
#[derive(Debug)]
pub(crate) struct Ring {
    /// The blocks of the ring: bit 0 is block 1.
    blocks: u64,
    /// Block of the second superblock.
    superblock_copy: BlockIndex,
    /// Upper limit of the numbers of all roots: complete ones, ones that were seen, and begun
    /// ones.
    number: u32,
    /// Number of the newest root that counts; the next root names it. While a mount searches for
    /// its root: the number that the found root names.
    follows: u32,
    /// After a mount, until its own root is complete: a bit for each place that may not be erased.
    kept: u32,
    /// After a mount: a bit for each place that is not blank and has no readable root.
    unknown: u32,
    /// Number of the root that a mount begins with, if only one of its seals can be read.
    uncertain: Option<NonZeroU32>,
    /// The page behind the newest root of a closed volume. A mark there proves that the volume
    /// was opened. [`NONE`] if no mark can be there.
    mark: PageIndex,
    /// The next page of the block of the next root.
    next: u16,
    /// Place in the ring of the next root.
    place: u8,
    /// Place in the ring of the newest complete root.
    complete: u8,
    /// The place whose block is erased and is used next.
    prepared: Option<u8>,
    /// True if the newest root ends the use of the volume, and nothing was changed since.
    closed: bool,
    /// True if no cut can have touched a block behind the next root's block since a format
    /// erased it: see [`is_blank`](Self::is_blank).
    untouched: bool,
    /// True if blocks were freed or listed, and no root contains that yet.
    needs_root: bool,
}

impl Ring {
    /// Creates a ring without blocks.
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

    /// Takes over the blocks that a superblock names. Returns `false` if their number is wrong.
    pub fn adopt(&mut self, blocks: u64, superblock_copy: BlockIndex, layout: &Layout) -> bool {
        (self.blocks, self.superblock_copy) = (blocks, superblock_copy);
        blocks.count_ones() == layout.ring_count
    }

    /// Takes another block for the superblocks and the ring of a new volume. Returns the number
    /// of blocks in the ring.
    pub fn take_block(&mut self, block: BlockIndex) -> u32 {
        match (block, self.superblock_copy) {
            (0, _) => {}
            (_, NONE) => self.superblock_copy = block,
            _ => self.blocks |= 1 << (block - 1),
        }
        self.blocks.count_ones()
    }

    /// Gives up the blocks of a new volume. Returns the block of the second superblock.
    pub fn release_blocks(&mut self) -> BlockIndex {
        self.blocks = 0;
        core::mem::replace(&mut self.superblock_copy, NONE)
    }

    /// Returns the block at a place of the ring.
    #[inline(never)]
    fn block(&self, place: u32) -> BlockIndex {
        let mut bits = self.blocks;
        for _ in 0..place {
            bits &= bits.wrapping_sub(1);
        }
        bits.trailing_zeros() + 1
    }

    /// Returns the block of the next root.
    pub fn current(&self) -> BlockIndex {
        self.block(self.place.into())
    }

    /// Returns the block of the newest complete root, and the next page of the ring.
    pub fn newest(&self) -> (BlockIndex, u32) {
        (self.block(self.complete.into()), self.next.into())
    }

    /// Returns true if the ring contains a block.
    pub fn has(&self, block: BlockIndex) -> bool {
        (1..=64).contains(&block) && self.blocks >> (block - 1) & 1 != 0
    }

    /// Returns true if a block belongs to the superblocks or to the ring.
    pub fn owns(&self, block: BlockIndex) -> bool {
        block == 0 || block == self.superblock_copy || self.has(block)
    }

    /// Returns the blocks of the ring, in the order of their places.
    pub fn all(&self) -> impl Iterator<Item = BlockIndex> + use<> {
        let mut left = self.blocks;
        core::iter::from_fn(move || {
            let next = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            (next < u64::BITS).then_some(next + 1)
        })
    }

    /// Returns the number of pages that the current block still takes.
    fn pages_left(&self, layout: &Layout) -> u32 {
        layout.geometry.pages_per_block.saturating_sub(self.next.into())
    }

    /// Returns the number of roots that the current block still takes.
    pub fn roots_left(&self, layout: &Layout) -> u32 {
        self.pages_left(layout) / layout.root_programs
    }

    /// Returns true if the last of `parts` parts of the current block is begun.
    pub fn is_used(&self, layout: &Layout, parts: u32) -> bool {
        let pages = layout.geometry.pages_per_block;
        self.roots_left(layout) == 0 || u32::from(self.next) + pages / parts > pages
    }

    /// Returns true if the next block is not erased yet.
    pub fn needs_block(&self) -> bool {
        self.prepared.is_none()
    }

    /// Returns true if the newest root ends the use of the volume, and nothing was changed
    /// since.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Sets whether the next root ends the use of the volume.
    pub fn set_closed(&mut self, closed: bool) {
        self.closed = closed;
    }

    /// Returns the next page of the current block.
    pub fn next_page(&self, layout: &Layout) -> PageIndex {
        self.current() * layout.geometry.pages_per_block + u32::from(self.next)
    }

    /// Returns true if blocks were freed or listed, and no root contains that yet.
    pub fn needs_root(&self) -> bool {
        self.needs_root
    }

    /// Returns the number of the root that a mount begins with, if only one of its seals can be
    /// read.
    pub fn uncertain(&self) -> Option<NonZeroU32> {
        self.uncertain
    }

    /// Returns true if the block at a place may be erased. It must not be the block of the next
    /// root. Nor must it be the block of the newest complete root, until the next root is
    /// complete. It must not be kept, and must hold no live frame and no newest journal page.
    fn rests(&self, place: u32, space: &Space<'_>) -> bool {
        let block = self.block(place);
        place != u32::from(self.place)
            && place != u32::from(self.complete)
            && self.kept >> place & 1 == 0
            && space.blocks().state(block) == State::Reserved
            && space.blocks().live(block) == 0
            && !space.holds_journal(block)
    }

    /// Returns true if the block at a place is as the format left it. A format erases all of the
    /// ring.
    ///
    /// Two conditions must hold. This is the first round, because later rounds erase a block
    /// before they use it. The use of the volume was begun by a mark. So nothing has begun the
    /// block: neither an earlier use that a cut ended, nor a start that was cut.
    fn is_blank(&self, place: u32, space: &Space<'_>) -> bool {
        let erased_once =
            |place| space.blocks().wear_base == 0 && space.blocks().wear(self.block(place)) == 1;
        self.untouched
            && place > self.place.into()
            && erased_once(self.place.into())
            && erased_once(place)
    }

    /// Returns the number of erases that the first change after a mount may need.
    pub fn opening_erases(&self) -> u32 {
        if self.closed { 1 + self.unknown.count_ones() } else { 0 }
    }

    /// Returns true if so few good blocks are left that the volume becomes read-only.
    pub fn is_worn_out(&self, space: &Space<'_>, layout: &Layout) -> bool {
        let good = self.all().filter(|&block| space.blocks().state(block) != State::Bad).count();
        (good as u32) < RING_MIN.min(layout.ring_count) - 1
    }

    /// Takes the number of the next root: the smallest one beyond all others that belongs to its
    /// place.
    fn take_number(&mut self, layout: &Layout) -> u32 {
        let (count, least) = (layout.ring_count, self.number + 1);
        self.number = least + (u32::from(self.place) + count - least % count) % count;
        self.number
    }

    /// Takes the next pages of the current block, and returns the first of them. If their
    /// program fails they stay taken, because it may have touched them.
    pub fn take_pages(&mut self, count: u32, layout: &Layout) -> PageIndex {
        let first = self.next_page(layout);
        self.next += count as u16;
        first
    }

    /// Continues at a page of the current block.
    pub fn go_to(&mut self, page: PageIndex, layout: &Layout) {
        self.next = (page % layout.geometry.pages_per_block) as u16;
    }

    /// Closes the current block: no more pages go there.
    fn leave_block(&mut self, layout: &Layout) {
        self.next = layout.geometry.pages_per_block as u16;
    }
}
