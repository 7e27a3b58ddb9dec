//! Anchors: the ring of blocks that hold checkpoints, and the two superblocks that name them.
//!
//! The next anchor is erased ahead of time. One that has worn much more or much less than the blocks that nobody uses, or that has gone
//! bad, gives its place to one of those. Then both superblocks are written anew, each into the next page of its block; not before both are is the
//! new anchor used and the old one given up. So whichever superblock a mount finds names the newest checkpoint.

use super::blocks::{Choice, State};
use super::{NONE, Store};
use crate::config::ANCHORS_MAX;
use crate::error::Error;
use crate::format::superblock::Superblock;
use crate::media::{BlockIndex, Flash, Kind, Kinds, PageIndex, Tag};

/// Both superblocks are to be written.
const BOTH: u8 = 0b11;

/// The ring of checkpoint blocks, and the superblocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchors {
    pub blocks: [BlockIndex; ANCHORS_MAX],
    /// The place in the ring of the anchor that holds the newest checkpoint.
    pub current: u32,
    /// Next page in it.
    pub next: u32,
    /// The place of the newest checkpoint that is complete.
    pub complete: u32,
    /// The place of the anchor that is erased and used next.
    pub prepared: u32,
    /// The place whose block the superblocks may not agree on, and the block that loses it.
    pub doubt: (u32, BlockIndex),
    /// Blocks of the superblocks, each with its next page.
    pub superblocks: [(BlockIndex, u32); 2],
    /// Sequence of the newest superblock: one more with each change.
    pub generation: u64,
    /// Superblocks that are to be written: a bit for each.
    stale: u8,
}

impl Default for Anchors {
    fn default() -> Self {
        Self {
            blocks: [NONE; ANCHORS_MAX],
            current: 0,
            next: 0,
            complete: NONE,
            prepared: NONE,
            doubt: (NONE, NONE),
            superblocks: [(NONE, 0); 2],
            generation: 1,
            stale: 0,
        }
    }
}

impl Anchors {
    /// Page of the newest superblock in one of their blocks.
    pub fn superblock(&self, index: usize, pages_per_block: u32) -> Option<PageIndex> {
        let (block, next) = self.superblocks[index];
        (block != NONE && next > 0).then(|| block * pages_per_block + next - 1)
    }

    /// Lets both superblocks be written anew.
    pub fn renew(&mut self) {
        if self.stale == 0 {
            self.generation += 1;
        }
        self.stale = BOTH;
    }

    /// Whether a superblock is to be written.
    pub fn is_stale(&self) -> bool {
        self.stale != 0
    }
}

impl<F: Flash> Store<'_, F> {
    /// Not inlined: with the check of the index it is longer than a call.
    #[inline(never)]
    pub(super) fn current_anchor(&self) -> BlockIndex {
        self.anchors.blocks[self.anchors.current as usize]
    }

    /// Checkpoints that the current anchor still takes.
    pub(super) fn checkpoints_left(&self) -> u32 {
        self.layout.geometry.pages_per_block.saturating_sub(self.anchors.next) / self.layout.checkpoint_pages
    }

    /// Whether fewer than a quarter of the checkpoints of the current anchor are left.
    pub(super) fn anchor_is_nearly_full(&self) -> bool {
        self.anchors.next + self.layout.geometry.pages_per_block / 4 > self.layout.geometry.pages_per_block
    }

    /// Whether the anchor that is used next is not erased yet.
    pub(super) fn needs_anchor(&self) -> bool {
        self.anchors.prepared == NONE
    }

    /// Erases the anchor that is used next, ahead of time; with `replace`, another block may take its place for good.
    pub(super) fn prepare_anchor(&mut self, replace: bool) -> Result<(), Error> {
        let count = self.layout.anchor_count;
        for step in 1..count {
            if self.needs_anchor() {
                self.prepare_place((self.anchors.current + step) % count, replace)?;
            }
        }
        if self.needs_anchor() { Err(Error::MediaFailing) } else { Ok(()) }
    }

    /// Prepares the anchor at one place of the ring, if that is possible.
    fn prepare_place(&mut self, place: u32, replace: bool) -> Result<(), Error> {
        let old = self.anchors.blocks[place as usize];
        let state = self.blocks.state(old);
        let rests = state == State::Reserved && self.blocks.live(old) == 0 && !self.holds_journal(old);
        let kept = place == self.anchors.complete || place == self.anchors.doubt.0;
        if kept || !(rests || state == State::Bad) {
            return Ok(());
        }
        let new = if replace { self.replacement(old) } else { None };
        if new.is_none() && !rests {
            return Ok(());
        }
        let block = new.unwrap_or(old);
        if self.blocks.state(block) != State::Clean && !self.erase(block)? {
            return Ok(());
        }
        if new.is_some() {
            self.blocks.set_state(block, State::Reserved);
            self.anchors.blocks[place as usize] = block;
            self.anchors.doubt = (place, old);
            self.anchors.renew();
        }
        self.anchors.prepared = place;
        Ok(())
    }

    /// The block that takes an anchor's place: the least worn where the anchor is worn or bad, the most worn where it lags.
    fn replacement(&self, old: BlockIndex) -> Option<BlockIndex> {
        let full = |&(_, next): &(u32, u32)| next >= self.layout.geometry.pages_per_block;
        if self.anchors.is_stale() || self.anchors.superblocks.iter().any(full) {
            return None;
        }
        let unused = |choice| self.blocks.choose_among(&[State::Free, State::Clean, State::Listed], choice);
        let (least, most) = (unused(Choice::LeastWorn)?, unused(Choice::MostWorn)?);
        let wear = |block| u32::from(self.blocks.wear(block));
        // Half of what blocks at rest may lag: the ring comes round seldom.
        let kept = self.spread_kept() / 2;
        if self.blocks.state(old) == State::Bad || wear(old) > wear(least) + kept {
            Some(least)
        } else if wear(old) + kept < wear(most) {
            Some(most)
        } else {
            None
        }
    }

    /// Whether an anchor that lost its place will be free when the superblocks are written.
    pub(super) fn gives_up_anchor(&self) -> bool {
        let loser = self.anchors.doubt.1;
        loser != NONE && self.blocks.state(loser) == State::Reserved
    }

    /// Goes on to the next anchor.
    pub(super) fn advance_anchor(&mut self) -> Result<(), Error> {
        if self.needs_anchor() {
            self.prepare_anchor(false)?;
        }
        if self.anchors.prepared == self.anchors.doubt.0 {
            self.write_superblocks()?;
        }
        self.anchors.current = self.anchors.prepared;
        self.anchors.next = 0;
        self.anchors.prepared = NONE;
        Ok(())
    }

    /// The superblock whose block is full, if it is the other one's turn to be whole meanwhile.
    pub(super) fn full_superblock(&self) -> Option<usize> {
        let full = |index: &usize| {
            let (block, next) = self.anchors.superblocks[*index];
            next >= self.layout.geometry.pages_per_block && block != NONE && self.blocks.state(block) == State::Reserved
        };
        if self.anchors.is_stale() { None } else { [1, 0].into_iter().find(full) }
    }

    /// Erases the block of a superblock that is full; the superblock is written later, and the other one is whole until then.
    pub(super) fn erase_superblock(&mut self, index: usize) -> Result<(), Error> {
        if self.erase(self.anchors.superblocks[index].0)? {
            self.anchors.superblocks[index].1 = 0;
            self.anchors.generation += 1;
            self.anchors.stale = 1 << index;
        }
        Ok(())
    }

    /// Writes the superblocks that are to be written; then an anchor that lost its place is given up.
    ///
    /// # Cost
    /// Two programs, and two reads that look whether they hold.
    ///
    /// # Power loss
    /// One of the two is whole at any time, and either names every anchor that may hold the newest checkpoint.
    pub(super) fn write_superblocks(&mut self) -> Result<(), Error> {
        // The second copy comes first, so that the first one is never older than what it says of the second.
        for index in [1, 0] {
            if self.anchors.stale & 1 << index != 0 {
                self.write_superblock(index)?;
            }
        }
        if self.gives_up_anchor() {
            self.blocks.set_state(self.anchors.doubt.1, State::Dead);
        }
        self.anchors.doubt = (NONE, NONE);
        Ok(())
    }

    /// Writes one superblock. It may go into a page that a power cut has touched, so it is read again, and written again where it does not
    /// hold. One whose block fails or is full stays as it is, and the other one alone counts.
    fn write_superblock(&mut self, index: usize) -> Result<(), Error> {
        let (block, mut next) = self.anchors.superblocks[index];
        let mut failures = 0;
        self.anchors.stale &= !(1 << index);
        while block != NONE && self.blocks.state(block) == State::Reserved && next < self.layout.geometry.pages_per_block {
            let page = block * self.layout.geometry.pages_per_block + next;
            next += 1;
            self.anchors.superblocks[index].1 = next;
            match self.program_superblock(page) {
                Ok(()) if self.read_sound(page, Kinds::of(&[Kind::Super]), 0)? => {
                    self.flash.sync()?;
                    break;
                }
                // The page that a cut has touched may fail; its block is bad if the next one does, too.
                Ok(()) | Err(Error::MediaFailing) if failures == 0 => failures += 1,
                Ok(()) | Err(Error::MediaFailing) => self.go_bad(block),
                Err(error) => return Err(self.refused(error)),
            }
        }
        Ok(())
    }

    /// Programs a superblock.
    pub(super) fn program_superblock(&mut self, page: PageIndex) -> Result<(), Error> {
        let superblock = Superblock {
            geometry: self.layout.geometry,
            config: self.layout.config,
            anchor_count: self.layout.anchor_count as u8,
            copy: self.anchors.superblocks[1].0,
            anchors: self.anchors.blocks.map(|block| if block == NONE { 0 } else { block }),
        };
        superblock.emit(self.page);
        let tag = Tag { sequence: self.anchors.generation, logical: 0, kind: Kind::Super, aux: 0 };
        self.program_buffer(page, &tag)
    }

    /// Gives the blocks that the superblocks name their state, and takes it from those that lost their place.
    pub(super) fn reserve_anchors(&mut self) {
        for block in 0..self.blocks.block_count() {
            let is_anchor = self.anchors.blocks.contains(&block) || block == self.anchors.doubt.1;
            let is_named = is_anchor || self.anchors.superblocks.iter().any(|&(superblock, _)| superblock == block);
            let state = self.blocks.state(block);
            if is_named && state != State::Bad {
                self.blocks.set_state(block, State::Reserved);
            } else if state == State::Reserved && !is_named {
                self.blocks.set_state(block, State::Free);
            }
        }
    }
}
