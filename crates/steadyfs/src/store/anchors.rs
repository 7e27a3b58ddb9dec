//! Anchors: the ring of blocks that hold checkpoints, and the two superblocks that name them.
//!
//! The next anchor is erased ahead of time. One that has worn much more or much less than the blocks that nobody uses, or that has gone
//! bad, gives its place in the ring to one of those, and both superblocks are written anew, each into the next page of its block:
//!
//! ```text
//! checkpoint (the second copy changes) → second copy → checkpoint (block 0 changes) → block 0 → the old anchor is free
//! ```
//!
//! A checkpoint announces which superblock is going to change, so that a mount knows which one a power cut may have hit: the other one
//! counts. The place in the ring that changes is not used meanwhile; so whichever superblock a mount finds names the newest checkpoint.

use super::blocks::{Choice, State};
use super::{NONE, Store};
use crate::config::ANCHORS_MAX;
use crate::error::Error;
use crate::format::superblock::Superblock;
use crate::media::{BlockIndex, Flash, Kind, Kinds, PageIndex, Tag};

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
    /// The place whose block the superblocks do not agree on, and the block that loses it.
    pub doubt: (u32, BlockIndex),
    /// Block 0 and that of the second copy.
    pub superblocks: [Superblocks; 2],
    /// Sequence of the newest superblock: one more with each change.
    pub generation: u64,
    /// The superblock that is to change.
    pub changing: Option<usize>,
    /// The newest checkpoint says so.
    pub announced: bool,
    /// While the superblocks do not agree, the one whose list of anchors `blocks` is, or will be.
    pub list_of: usize,
    /// Generation of the superblock that counts while the other one changes, its low 32 bits: one that lost its newest page looks older.
    pub counts: u32,
    /// At a mount, the superblock that is going to change, the place in doubt, and `counts`, as the checkpoint says.
    pub said: (Option<usize>, u32, u32),
    /// At a mount, the newest sequence that an anchor begins with.
    pub newest_seen: u64,
    /// At a mount, a bit for each anchor whose first page can be read neither as blank nor as whole.
    pub unreadable: u16,
    /// Until a mount has written its checkpoint, the place of the anchor that begins so, if its checkpoint is not complete. It is the
    /// first one to be erased: what it names may lie in others.
    pub passed_over: u32,
    /// At a mount, the superblock that is older than the other one.
    pub older: Option<usize>,
}

/// A block that holds superblocks, one behind the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Superblocks {
    pub block: BlockIndex,
    /// The page after the newest one.
    pub next: u32,
    /// A power cut may have hit it: only an erase makes it good.
    pub touched: bool,
    /// Generation of the newest one that a mount found, its low 32 bits.
    pub found: u32,
}

impl Superblocks {
    /// Whether the newest one that a mount found is older than this.
    fn is_older(&self, generation: u32) -> bool {
        (self.found.wrapping_sub(generation) as i32) < 0
    }
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
            superblocks: [Superblocks { block: NONE, next: 0, touched: false, found: 0 }; 2],
            generation: 1,
            changing: None,
            announced: false,
            list_of: 0,
            counts: 1,
            said: (None, NONE, 0),
            newest_seen: 0,
            unreadable: 0,
            passed_over: NONE,
            older: None,
        }
    }
}

impl Anchors {
    /// Page of the newest superblock in one of their blocks.
    pub fn superblock(&self, index: usize, pages_per_block: u32) -> Option<PageIndex> {
        let Superblocks { block, next, .. } = self.superblocks[index];
        (block != NONE && next > 0).then(|| block * pages_per_block + next - 1)
    }

    /// Lets both superblocks be written anew.
    pub fn renew(&mut self) {
        if self.changing.is_none() {
            self.counts = self.generation as u32;
            self.generation += 1;
            self.change(Some(1));
        }
    }

    /// Lets a superblock be written anew.
    pub fn change(&mut self, index: Option<usize>) {
        self.changing = index;
        self.announced = false;
    }

    /// A superblock that a power cut may have hit.
    fn touched(&self) -> Option<usize> {
        self.superblocks.iter().position(|it| it.touched)
    }

    /// Whether a checkpoint is to say which superblock changes.
    pub fn has_news(&self) -> bool {
        self.changing.is_some() && !self.announced
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

    /// Erases the anchor that is used next, ahead of time.
    pub(super) fn prepare_anchor(&mut self) -> Result<(), Error> {
        let count = self.layout.anchor_count;
        let first = if self.anchors.passed_over == NONE { self.anchors.current + 1 } else { self.anchors.passed_over };
        for step in 0..count {
            let place = (first + step) % count;
            let block = self.anchors.blocks[place as usize];
            if self.needs_anchor()
                && self.anchor_rests(place)
                && self.blocks.state(block) == State::Reserved
                && self.erase(block)?
            {
                self.anchors.prepared = place;
            }
        }
        if self.needs_anchor() { Err(Error::MediaFailing) } else { Ok(()) }
    }

    /// Whether nobody needs what is in the anchor at a place of the ring.
    fn anchor_rests(&self, place: u32) -> bool {
        let block = self.anchors.blocks[place as usize];
        let kept = [self.anchors.current, self.anchors.complete, self.anchors.doubt.0].contains(&place);
        !kept && !self.holds_something(block)
    }

    /// Whether there is a live frame in an anchor, or the journal page.
    fn holds_something(&self, block: BlockIndex) -> bool {
        self.blocks.live(block) > 0 || self.holds_journal(block)
    }

    /// Erases the anchors that a mount could not read: the erase of one was cut, and it may read as whole, and as the newest, later.
    pub(super) fn erase_unreadable(&mut self) -> Result<(), Error> {
        for place in 0..self.layout.anchor_count {
            let block = self.anchors.blocks[place as usize];
            let is_free = place != self.anchors.current && self.blocks.state(block) == State::Reserved;
            if is_free && self.anchors.unreadable >> place & 1 != 0 && !self.holds_something(block) {
                self.erase(block)?;
            }
        }
        self.anchors.unreadable = 0;
        Ok(())
    }

    /// Goes on to the next anchor.
    pub(super) fn advance_anchor(&mut self) -> Result<(), Error> {
        if self.needs_anchor() {
            self.prepare_anchor()?;
        }
        self.anchors.current = self.anchors.prepared;
        self.anchors.next = 0;
        self.anchors.prepared = NONE;
        Ok(())
    }

    /// Lets another block take the place of an anchor that has gone bad, or whose wear is out of line: the least worn where it is worn or
    /// bad, the most worn where it lags. Called before a checkpoint, which announces it.
    pub(super) fn replace_anchor(&mut self) {
        // With one superblock there is no other while it changes.
        if self.anchors.changing.is_some() || !self.superblock_is_good(0) || !self.superblock_is_good(1) {
            return;
        }
        let unused = |choice| self.blocks.choose_among(&[State::Free, State::Clean, State::Listed], choice);
        let (Some(least), Some(most)) = (unused(Choice::LeastWorn), unused(Choice::MostWorn)) else { return };
        let wear = |block| u32::from(self.blocks.wear(block));
        // Half of what blocks at rest may lag: the ring comes round seldom.
        let kept = self.spread_kept() / 2;
        for place in 0..self.layout.anchor_count {
            let old = self.anchors.blocks[place as usize];
            let is_bad = self.blocks.state(old) == State::Bad;
            let new = match () {
                () if is_bad || wear(old) > wear(least) + kept => least,
                () if wear(old) + kept < wear(most) => most,
                () => continue,
            };
            if place != self.anchors.prepared && self.anchor_rests(place) {
                self.blocks.set_state(new, State::Reserved);
                self.anchors.blocks[place as usize] = new;
                self.anchors.doubt = (place, old);
                self.anchors.list_of = 1;
                self.anchors.renew();
                return;
            }
        }
    }

    /// Whether an anchor that lost its place will be free when the superblocks are written.
    pub(super) fn gives_up_anchor(&self) -> bool {
        let loser = self.anchors.doubt.1;
        loser != NONE && self.blocks.state(loser) == State::Reserved
    }

    /// The superblock that is to change, if a checkpoint says so, and whether its block must be erased first.
    fn next_superblock(&self) -> Option<(usize, bool)> {
        let index = self.anchors.changing.filter(|_| self.anchors.announced && self.a_superblock_is_good())?;
        let Superblocks { next, touched, .. } = self.anchors.superblocks[index];
        Some((index, self.superblock_is_good(index) && (touched || next >= self.layout.geometry.pages_per_block)))
    }

    /// The superblock whose block is to be erased; never the only one.
    pub(super) fn full_superblock(&self) -> Option<usize> {
        let (index, is_full) = self.next_superblock()?;
        Some(index).filter(|_| is_full && self.superblock_is_good(1 - index))
    }

    /// Erases the block of a superblock.
    pub(super) fn erase_superblock(&mut self, index: usize) -> Result<(), Error> {
        let block = self.anchors.superblocks[index].block;
        if self.erase(block)? {
            self.anchors.superblocks[index] = Superblocks { block, next: 0, touched: false, found: 0 };
        }
        Ok(())
    }

    /// Whether a superblock can be written now.
    pub(super) fn superblock_is_due(&self) -> bool {
        self.next_superblock().is_some_and(|(_, is_full)| !is_full)
    }

    /// Writes the superblock that is to change, and goes on to the other one; after both, an anchor that lost its place is free. One whose
    /// block fails stays as it is, and the other one alone counts.
    ///
    /// # Cost
    /// A program, and a read that looks whether it holds.
    ///
    /// # Power loss
    /// The other superblock is whole, and the newest checkpoint says that this one may not be.
    pub(super) fn write_superblock(&mut self) -> Result<(), Error> {
        let Some(index) = self.anchors.changing else { return Ok(()) };
        let Superblocks { block, next, .. } = self.anchors.superblocks[index];
        self.anchors.superblocks[index].touched = false;
        if self.superblock_is_good(index) {
            let page = block * self.layout.geometry.pages_per_block + next;
            self.anchors.superblocks[index].next = next + 1;
            match self.program_superblock(page) {
                Ok(()) if self.read_sound(page, Kinds::of(&[Kind::Super]), 0)? => self.flash.sync()?,
                Ok(()) | Err(Error::MediaFailing) => self.go_bad(block),
                Err(error) => return Err(self.refused(error)),
            }
        }
        if !self.a_superblock_is_good() {
            // Nothing changes any more. Every later checkpoint says that the one that went bad last counts, and the place in doubt rests.
            return Ok(());
        }
        let (place, loser) = self.anchors.doubt;
        if index == 1 && !self.superblock_is_good(1) {
            // Block 0 alone counts from now on, and names the old anchor. It is written anew all the same: what is left in the other
            // block may look newer until then, also where the mount did not see it.
            self.anchors.generation += 1;
            if self.anchors.list_of == 1 && loser != NONE {
                self.anchors.doubt.1 = core::mem::replace(&mut self.anchors.blocks[place as usize], loser);
                self.anchors.list_of = 0;
            }
        }
        self.anchors.counts = self.anchors.generation as u32;
        self.anchors.change(index.checked_sub(1).or(self.anchors.touched()));
        if self.anchors.changing.is_none() {
            self.end_change();
        }
        Ok(())
    }

    /// Frees the anchor that lost its place.
    fn end_change(&mut self) {
        if self.gives_up_anchor() {
            self.blocks.set_state(self.anchors.doubt.1, State::Dead);
        }
        self.anchors.doubt = (NONE, NONE);
        self.anchors.change(None);
    }

    /// Programs a superblock.
    pub(super) fn program_superblock(&mut self, page: PageIndex) -> Result<(), Error> {
        let superblock = Superblock {
            geometry: self.layout.geometry,
            config: self.layout.config,
            anchor_count: self.layout.anchor_count as u8,
            copy: self.anchors.superblocks[1].block,
            anchors: self.anchors.blocks.map(|block| if block == NONE { 0 } else { block }),
        };
        superblock.emit(self.page);
        let tag = Tag { sequence: self.anchors.generation, logical: 0, kind: Kind::Super, aux: 0 };
        self.program_buffer(page, &tag)
    }

    /// After a mount found its checkpoint, which says which superblock is changing, and which blocks are bad: takes over what the
    /// superblock says that counts.
    pub(super) fn trust_superblocks(&mut self) {
        let (changing, place, counts) = self.anchors.said;
        let good = [0, 1].map(|index| self.superblock_is_good(index));
        let anchors = &mut self.anchors;
        let newest = anchors.list_of;
        let (differs, other) = anchors.doubt;
        let trusted = match changing {
            Some(index) if good[1 - index] && !anchors.superblocks[1 - index].is_older(counts) => 1 - index,
            Some(index) => index,
            None if good == [false, true] => 1,
            None if good == [true, false] => 0,
            None => newest,
        };
        if trusted != newest && differs != NONE {
            anchors.doubt.1 = core::mem::replace(&mut anchors.blocks[differs as usize], other);
            anchors.list_of = trusted;
        }
        match changing {
            Some(index) => {
                // Also where the lists agree today: the one that was hit may read differently tomorrow.
                anchors.doubt.0 = place;
                if place != differs {
                    anchors.doubt.1 = NONE;
                }
                anchors.superblocks[index].touched = true;
                (anchors.changing, anchors.announced) = (changing, true);
                let other = 1 - index;
                anchors.counts = anchors.superblocks[if good[other] { other } else { index }].found;
                // Where its newest page is lost it is as good as none.
                anchors.superblocks[other].touched |= anchors.superblocks[other].is_older(counts);
                if good[other] && anchors.superblocks[other].touched {
                    // The one that counts is lost: it is written before the last one is erased.
                    anchors.counts = anchors.superblocks[index].found;
                    anchors.change(Some(other));
                }
            }
            None => {
                // Both were whole. Where one of them is not any more, it is written again; until then, the place in the ring rests that
                // one in a bad block does not agree on.
                anchors.doubt = (if trusted == newest { NONE } else { differs }, NONE);
                anchors.counts = anchors.generation as u32;
                if let Some(index) = anchors.older.filter(|&index| good[index]) {
                    anchors.superblocks[index].touched = true;
                }
                anchors.change(anchors.touched().filter(|&index| good[index]));
            }
        }
    }

    /// Whether the block of a superblock is in use.
    pub(super) fn superblock_is_good(&self, index: usize) -> bool {
        let block = self.anchors.superblocks[index].block;
        block != NONE && self.blocks.state(block) != State::Bad
    }

    fn a_superblock_is_good(&self) -> bool {
        self.superblock_is_good(0) || self.superblock_is_good(1)
    }

    /// Gives the blocks that the superblocks name their state, and takes it from those that lost their place.
    pub(super) fn reserve_anchors(&mut self) {
        for block in 0..self.blocks.block_count() {
            let is_named = self.anchors.blocks.contains(&block) || self.anchors.superblocks.iter().any(|it| it.block == block);
            let state = self.blocks.state(block);
            if is_named && state != State::Bad {
                self.blocks.set_state(block, State::Reserved);
            } else if state == State::Reserved && !is_named && block != self.anchors.doubt.1 {
                self.blocks.set_state(block, State::Free);
            }
        }
    }
}
