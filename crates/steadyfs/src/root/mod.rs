//! The ring of roots: the states from which a mount starts.
//!
//! A *root* is the state with which a mount begins. The whole state is written, and then written
//! again as the root's *copies*. Nothing that an older root needs is destroyed before the root and
//! its copies are written:
//!
//! ```text
//! a ring block of a mount:    | root | pages that a cut may touch | copies | root | copies | …
//! any other ring block:       | root | copies | root | copies | …
//! at the end of a clean one:  … | root | copy of the newest journal page | copies |
//! ```
//!
//! The pages of the copies are the root's *seals*. Each seal proves that the root was complete when
//! this seal was begun. So a root *counts* if a seal can be read. It is *certain* if a seal behind
//! the first one can be read. A single readable seal may be metastable: today the root reads as
//! whole, and tomorrow as damaged. A certain root counts at every mount. If a page of a root is
//! lost, it is read from a copy. If a block is too small for whole copies, the seals are the first
//! two pages of one copy.
//!
//! `format` chooses the blocks of the ring, and the superblocks name them for good. A ring block's
//! *place* is its index among the ring blocks. A root's number, modulo the number of ring blocks,
//! is the place of the root's block. Bad blocks are skipped. Every root contains the list of bad
//! blocks.
//!
//! [`Ring`] is the state of the ring in RAM. [`RootState`] borrows the medium and the rooms whose
//! state a root contains. A [`Search`] finds the root that a mount begins with. A reader that
//! recovers nothing uses another search ([`closed`]). [`Roots`] writes the roots.

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

/// Upper limit of the numbers of roots: every number is smaller.
const NUMBER_MAX: u32 = 1 << 31;

/// The positions of the roots, and of the next root. See the [module](self).
#[derive(Debug)]
pub(crate) struct Ring {
    /// The blocks of the ring: bit 0 is block 1.
    blocks: u64,
    /// Block of the second superblock.
    superblock_copy: BlockIndex,
    /// Largest number that a root may have at present. It covers complete roots, begun roots, and
    /// roots that a mount saw.
    number: u32,
    /// Number of the newest root that counts; the next root names it. While a mount searches for
    /// its root, this is the number that the found root names.
    follows: u32,
    /// A bit for each place whose block must not be erased. It is used from a mount until the
    /// mount's own root is complete.
    kept: u32,
    /// A bit for each place whose block has no readable root and is not proved to be blank. A mount
    /// sets these bits.
    unknown: u32,
    /// Number of the root that a mount begins with, if only one of the root's seals can be read.
    uncertain: Option<NonZeroU32>,
    /// The page behind the newest root of a closed volume, where a mark proves that the volume was
    /// opened. [`NONE`] if a mark is not possible.
    mark: PageIndex,
    /// Index of the next page in the block of the next root.
    next: u16,
    /// Place in the ring of the next root.
    place: u8,
    /// Place in the ring of the newest complete root.
    complete: u8,
    /// The place whose block is already erased and is used next.
    prepared: Option<u8>,
    /// True if the newest root ends the use of the volume, and nothing was changed since.
    closed: bool,
    /// True if no power cut can have touched the blocks behind the next root's block since the
    /// format erased them: see [`is_blank`](Self::is_blank).
    untouched: bool,
    /// True if blocks were freed or listed, and no complete root contains this change yet.
    needs_root: bool,
    /// True if another root may count at a later mount in place of the root that a mount found.
    is_overtaken: bool,
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
            is_overtaken: false,
        }
    }

    /// Takes over the blocks that a superblock names. Returns `false` if their number is wrong.
    pub fn adopt(&mut self, blocks: u64, superblock_copy: BlockIndex, layout: &Layout) -> bool {
        (self.blocks, self.superblock_copy) = (blocks, superblock_copy);
        blocks.count_ones() == layout.ring_count
    }

    /// Adds a block to the superblocks or to the ring of a new volume. Returns the number of blocks
    /// in the ring.
    pub fn take_block(&mut self, block: BlockIndex) -> u32 {
        match (block, self.superblock_copy) {
            (0, _) => {}
            (_, NONE) => self.superblock_copy = block,
            _ => self.blocks |= 1 << (block - 1),
        }
        self.blocks.count_ones()
    }

    /// Removes all blocks from the ring and superblocks of a new volume, to choose them again.
    /// Returns the block of the second superblock.
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

    /// Returns the block of the newest complete root, and the index of the ring's next page.
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

    /// Returns the number of pages that are left in the current block.
    fn pages_left(&self, layout: &Layout) -> u32 {
        layout.geometry.pages_per_block.saturating_sub(self.next.into())
    }

    /// Returns the number of roots for which the current block has room.
    pub fn roots_left(&self, layout: &Layout) -> u32 {
        self.pages_left(layout) / layout.root_programs
    }

    /// Divides the current block into `parts` equal parts. Returns true if the last part is begun,
    /// or if no further root fits.
    pub fn is_used(&self, layout: &Layout, parts: u32) -> bool {
        let pages = layout.geometry.pages_per_block;
        self.roots_left(layout) == 0 || u32::from(self.next) + pages / parts > pages
    }

    /// Returns true if the next ring block is not erased yet.
    pub fn needs_block(&self) -> bool {
        self.prepared.is_none()
    }

    /// Returns true if the newest root ends the use of the volume, and nothing was changed
    /// since.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns true if the newest root ends the use of the volume, but a power cut may have left
    /// other content in the ring, which a later mount may find.
    pub fn is_doubtful(&self) -> bool {
        self.closed && (self.unknown != 0 || self.is_overtaken)
    }

    /// Sets whether the next root ends the use of the volume.
    pub fn set_closed(&mut self, closed: bool) {
        self.closed = closed;
    }

    /// Returns the next page of the current block.
    pub fn next_page(&self, layout: &Layout) -> PageIndex {
        self.current() * layout.geometry.pages_per_block + u32::from(self.next)
    }

    /// Returns true if blocks were freed or listed, and no complete root contains this change yet.
    pub fn needs_root(&self) -> bool {
        self.needs_root
    }

    /// Returns the number of the root that a mount begins with, if only one of its seals can be
    /// read.
    pub fn uncertain(&self) -> Option<NonZeroU32> {
        self.uncertain
    }

    /// Returns true if the block at a place may be erased. It must not be the block of the next
    /// root or of the newest complete root. Its `kept` bit must not be set. It must not hold a live
    /// frame or the newest journal page.
    fn rests(&self, place: u32, space: &Space<'_>) -> bool {
        let block = self.block(place);
        place != u32::from(self.place)
            && place != u32::from(self.complete)
            && self.kept >> place & 1 == 0
            && space.blocks().state(block) == State::Reserved
            && !space.blocks().has_live(block)
            && !space.holds_journal(block)
    }

    /// Returns true if the block at a place is still blank since the format, which erases all ring
    /// blocks.
    ///
    /// Three conditions must hold:
    ///
    /// - This is the first round through the ring. Later rounds erase a block before they use it.
    /// - A mark began the use of the volume. So this start has touched no block yet.
    /// - This is not the last block of the ring. An earlier start without a mark may have touched
    ///   the last block before a power cut: see [`last_blank`](Self::last_blank).
    fn is_blank(&self, place: u32, space: &Space<'_>) -> bool {
        self.untouched && place + 1 < self.blocks.count_ones() && self.is_first_round(place, space)
    }

    /// Returns the place of the last block of the ring, if the ring is in its first round.
    ///
    /// A start without a mark erases this block and begins there. A power cut may hide such a start
    /// from the next one. The next start may then begin with a mark.
    fn last_blank(&self, space: &Space<'_>) -> Option<u32> {
        let last = self.blocks.count_ones() - 1;
        (self.is_first_round(last, space) && self.rests(last, space)).then_some(last)
    }

    /// Returns true if the ring is in its first round and has not reached a place yet.
    fn is_first_round(&self, place: u32, space: &Space<'_>) -> bool {
        let erased_once =
            |place| space.blocks().wear_base == 0 && space.blocks().wear(self.block(place)) == 1;
        place > self.place.into() && erased_once(self.place.into()) && erased_once(place)
    }

    /// Returns the number of erases that the first change after a mount may need in the ring.
    pub fn opening_erases(&self) -> u32 {
        if self.closed { 1 + self.unknown.count_ones() } else { 0 }
    }

    /// Returns true if so few good blocks are left that the volume becomes read-only.
    pub fn is_worn_out(&self, space: &Space<'_>, layout: &Layout) -> bool {
        let good = self.all().filter(|&block| space.blocks().state(block) != State::Bad).count();
        (good as u32) < RING_MIN.min(layout.ring_count) - 1
    }

    /// Takes the number of the next root: the smallest number that is larger than the numbers of
    /// all other roots and belongs to the root's place in the ring.
    fn take_number(&mut self, layout: &Layout) -> u32 {
        let (count, least) = (layout.ring_count, self.number + 1);
        self.number = least + (u32::from(self.place) + count - least % count) % count;
        self.number
    }

    /// Takes the next `count` pages of the current block, and returns the first of them. The pages
    /// stay taken if their program fails, because the program may have touched them.
    pub fn take_pages(&mut self, count: u32, layout: &Layout) -> PageIndex {
        let first = self.next_page(layout);
        self.next += count as u16;
        first
    }

    /// Sets the next page of the current block.
    pub fn go_to(&mut self, page: PageIndex, layout: &Layout) {
        self.next = (page % layout.geometry.pages_per_block) as u16;
    }

    /// Closes the current block: no further page is programmed there.
    fn leave_block(&mut self, layout: &Layout) {
        self.next = layout.geometry.pages_per_block as u16;
    }
}
