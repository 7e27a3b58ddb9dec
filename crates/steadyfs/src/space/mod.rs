//! The blocks of the medium: what is in them, which are being programmed, and in which order.
//!
//! A *frame* is `unit_pages` consecutive program pages of one block. Frames are programmed in order by [heads]; every program carries the next sequence
//! number. Blocks are erased here; places are taken here, and programmed by whoever took them.

mod blocks;
mod frame;
mod heads;
mod lifetimes;

pub(crate) use blocks::{Blocks, Choice, State, UNUSED};
pub(crate) use frame::{FAILURE_JUMP, Frame, NONE};
pub(crate) use heads::{Head, HeadIndex, Heads};
pub(crate) use lifetimes::{BYTES as LIFETIMES_BYTES, Lifetimes};

use crate::config::Layout;
use crate::error::Error;
use crate::features::{SCRUB, STREAMS};
use crate::media::{BlockIndex, Failure, Flash, Kinds, TAG_BYTES, Tag};
use crate::pages::{Pages, Watch};

/// Streams join when fewer blocks than this for each head hold no data.
const SPARE_BLOCKS: u32 = 3;

/// The blocks of the medium. See the [module](self).
pub(crate) struct Space<'m> {
    blocks: Blocks<'m>,
    heads: Heads<'m>,
    /// Places of a block for the journal's head.
    journal_places: u32,
    /// Wear is counted here, and not levelled by the device.
    counts_wear: bool,
    /// Sequence of the next program.
    sequence: u64,
    programs_since_root: u32,
    /// Nothing was programmed by a head since the mount: a journal page comes first, so that a mount knows that heads were used.
    is_unmarked: bool,
    /// The place of the newest journal page or record: its block stays, whatever else is in it.
    journal_at: u32,
    /// Another place that holds the same as that one.
    journal_copy: u32,
    /// A block that holds, or held, a frame of which nobody can tell what it is: it goes bad when it is empty.
    spoiled: BlockIndex,
    /// The block of a head in which a page is weak.
    weak_active: BlockIndex,
}

impl<'m> Space<'m> {
    /// Every block is bad, and no head has one.
    pub fn new(blocks: Blocks<'m>, heads: Heads<'m>, layout: &Layout) -> Self {
        Self {
            blocks,
            heads,
            journal_places: layout.journal_places(),
            counts_wear: layout.config.wear_spread > 0,
            sequence: 1,
            programs_since_root: 0,
            is_unmarked: true,
            journal_at: NONE,
            journal_copy: NONE,
            spoiled: NONE,
            weak_active: NONE,
        }
    }

    pub fn blocks(&self) -> &Blocks<'m> {
        &self.blocks
    }

    pub fn blocks_mut(&mut self) -> &mut Blocks<'m> {
        &mut self.blocks
    }

    /// What a root has of them: wear, states, and the heads of streams.
    pub fn tables_mut(&mut self) -> [&mut [u8]; 3] {
        let [wear, state] = self.blocks.tables_mut();
        [wear, state, self.heads.streams_mut()]
    }

    pub fn heads(&self) -> &Heads<'m> {
        &self.heads
    }

    pub fn heads_mut(&mut self) -> &mut Heads<'m> {
        &mut self.heads
    }

    /// Returns whether heads and states of blocks agree. A head has no block, or an active one that is not
    /// `reserved` and no other head's. No further block is active.
    pub fn heads_are_sound(&self, reserved: impl Fn(BlockIndex) -> bool) -> bool {
        let block_of = |head: HeadIndex| self.heads.get(head).block;
        let mut active = 0;
        let all_sound = self.heads.all().filter(|&head| block_of(head) != NONE).all(|head| {
            let block = block_of(head);
            active += 1;
            block < self.blocks.block_count()
                && self.blocks.state(block) == State::Active
                && !reserved(block)
                && self.heads.all().filter(|&other| block_of(other) == block).count() == 1
        });
        all_sound && self.blocks.count(State::Active) == active
    }

    /// Block of a frame.
    pub fn block_of(&self, frame: Frame) -> BlockIndex {
        frame / self.blocks.frames_per_block()
    }

    /// Sequence of the next program.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Goes on with another sequence.
    pub fn set_sequence(&mut self, sequence: u64) {
        self.sequence = sequence;
    }

    /// Takes so many sequences; the first of them.
    pub fn take_sequences(&mut self, count: u64) -> u64 {
        let first = self.sequence;
        self.sequence += count;
        first
    }

    /// Programs of heads since the newest root.
    pub fn programs_since_root(&self) -> u32 {
        self.programs_since_root
    }

    /// Counts programs.
    pub fn count_programs(&mut self, programs: u32) {
        self.programs_since_root += programs;
    }

    /// A root was written.
    pub fn begin_after_root(&mut self) {
        self.programs_since_root = 0;
    }

    /// Lets a root be due after so many programs be due now.
    #[cfg(feature = "scrub")]
    pub fn want_root(&mut self, due: u32) {
        self.programs_since_root = self.programs_since_root.max(due);
    }

    /// Whether a journal page comes first.
    pub fn is_unmarked(&self) -> bool {
        self.is_unmarked
    }

    /// Lets a journal page come first, or not.
    pub fn set_unmarked(&mut self, is_unmarked: bool) {
        self.is_unmarked = is_unmarked;
    }

    /// The place of the newest journal page or record; [`NONE`] where there is none.
    pub fn journal_at(&self) -> u32 {
        self.journal_at
    }

    /// Block of a place of the journal's head.
    pub fn journal_block(&self, place: u32) -> BlockIndex {
        place / self.journal_places
    }

    /// The first place of the block of a place of the journal's head.
    pub fn journal_start(&self, place: u32) -> u32 {
        place - place % self.journal_places
    }

    /// Whether a block holds the newest journal record.
    pub fn holds_journal(&self, block: BlockIndex) -> bool {
        self.journal_at != NONE && self.journal_block(self.journal_at) == block
    }

    /// Takes over the place of the newest journal record from a root or a record. The caller looks
    /// at the block of the earlier record once all records are applied.
    pub fn adopt_journal(&mut self, place: u32) {
        (self.journal_at, self.journal_copy) = (place, NONE);
    }

    /// Records the place of the newest journal record. The block of the earlier record goes out of
    /// use if it is empty.
    pub fn move_journal(&mut self, place: u32) {
        let before = self.journal_at;
        self.adopt_journal(place);
        if before != NONE {
            self.quarantine_if_empty(self.journal_block(before));
        }
    }

    /// A second place that holds the same as the newest journal record; [`NONE`] without one.
    pub fn journal_copy(&self) -> u32 {
        self.journal_copy
    }

    /// Returns true if that place lies in the block of the newest journal record.
    pub fn has_copy_beside(&self) -> bool {
        self.journal_copy != NONE && self.holds_journal(self.journal_block(self.journal_copy))
    }

    /// Records where the newest journal record was programmed once more.
    pub fn set_journal_copy(&mut self, place: u32) {
        self.journal_copy = place;
    }

    /// Frames (or places of journal records) in a block.
    pub fn capacity(&self, head: HeadIndex) -> u32 {
        match head {
            HeadIndex::JOURNAL => self.journal_places,
            _ => self.blocks.frames_per_block(),
        }
    }

    /// Frames (or places of journal records) left in the block of a head.
    #[inline(never)]
    pub fn rest(&self, head: HeadIndex) -> u32 {
        let current = self.heads.get(head);
        if current.block == NONE { 0 } else { self.capacity(head).saturating_sub(current.next) }
    }

    /// Takes the next frame (or places for a journal record) of a head that has room.
    pub fn take_places(&mut self, head: HeadIndex, places: u32) -> u32 {
        let Head { block, next } = self.heads.get(head);
        self.heads.replace(head, Head { block, next: next + places });
        block * self.capacity(head) + next
    }

    /// Gives the block of a head up.
    pub fn close(&mut self, head: HeadIndex) {
        let block = self.heads.replace(head, Head::IDLE).block;
        if block != NONE {
            self.blocks.set_state(block, State::Used);
            self.quarantine_if_empty(block);
        }
    }

    /// Gives the block of a head up in which a program failed: it goes out of use when it is empty.
    pub fn retire_head(&mut self, head: HeadIndex) {
        let block = self.heads.replace(head, Head::IDLE).block;
        self.blocks.set_state(block, State::Retiring);
        self.quarantine_if_empty(block);
    }

    /// Lets the data of a block move in which a program failed.
    pub fn retire(&mut self, block: BlockIndex) {
        for head in self.heads.of_frames() {
            if self.heads.get(head).block == block {
                self.close(head);
            }
        }
        if matches!(self.blocks.state(block), State::Used | State::Weak) {
            self.blocks.set_state(block, State::Retiring);
        }
    }

    /// Gives up the blocks of streams that are full: they may not be written again for long.
    pub fn close_full_streams(&mut self) {
        for head in self.heads.of_streams() {
            if self.heads.get(head).block != NONE && self.rest(head) == 0 {
                self.close(head);
            }
        }
    }

    /// Gives a head an erased block: the least worn, or the most worn. `false` when there is none.
    pub fn open_head(&mut self, head: HeadIndex, worn: bool) -> bool {
        let choice = if worn { Choice::MostWorn } else { Choice::LeastWorn };
        let Some(block) = self.blocks.choose(State::Erased, choice) else { return false };
        self.blocks.set_state(block, State::Active);
        self.heads.replace(head, Head { block, next: 0 });
        true
    }

    /// Counts an erase, unless the device levels wear itself.
    pub fn count_erase(&mut self, block: BlockIndex) {
        if self.counts_wear {
            self.blocks.add_wear(block);
        }
    }

    /// Erases a block and counts that. `false` where it does not erase: it is bad from now on.
    pub fn erase<F: Flash>(&mut self, pages: &mut Pages<'_, F>, block: BlockIndex) -> Result<bool, Error> {
        debug_assert!(self.blocks.live(block) == 0 && !self.holds_journal(block), "a block in use is erased");
        match pages.erase(block) {
            Ok(()) => self.count_erase(block),
            Err(Failure::BadBlock) => {
                self.lose(block);
                return Ok(false);
            }
            Err(failure) => return Err(failure.into()),
        }
        Ok(true)
    }

    /// Never uses a block again.
    pub fn lose(&mut self, block: BlockIndex) {
        self.blocks.set_state(block, State::Bad);
    }

    /// Nobody can tell what a frame of a block is: no other data is to take its place.
    pub fn spoil(&mut self, block: BlockIndex) {
        self.spoiled = block;
    }

    /// Lets the frames of a block move in which a page is weak; of a head's, when that has [given it up](Self::weak_head).
    pub fn weaken(&mut self, block: BlockIndex) {
        match self.blocks.state(block) {
            State::Used => self.blocks.set_state(block, State::Weak),
            State::Active => self.weak_active = block,
            _ => {}
        }
    }

    /// Lets the frames of the blocks move in which reads have found a weak page.
    pub fn note_weak(&mut self, watch: &mut Watch) {
        while let Some(block) = watch.take_weak() {
            self.weaken(block);
        }
    }

    /// The head in whose block a page is weak. Journal pages are written anew with every commit, and need no move.
    pub fn weak_head(&self) -> Option<HeadIndex> {
        if !SCRUB || self.weak_active == NONE {
            return None;
        }
        self.heads.of_frames().find(|&head| self.heads.get(head).block == self.weak_active)
    }

    /// Marks a frame as no longer live.
    pub fn release(&mut self, frame: Frame) {
        if frame != 0 && self.blocks.set_live(frame, false) {
            self.quarantine_if_empty(self.block_of(frame));
        }
    }

    /// Moves a block that has just become empty on: to quarantine, or, when it cannot be told what is in it, out of use.
    pub fn quarantine_if_empty(&mut self, block: BlockIndex) {
        if self.blocks.live(block) > 0 || self.holds_journal(block) {
            return;
        }
        match self.blocks.state(block) {
            State::Used | State::Weak if self.spoiled == block => self.lose(block),
            State::Used | State::Weak => self.blocks.set_state(block, State::Dead),
            _ => {}
        }
    }

    /// A block that is empty and in which a program failed.
    pub fn retired(&self) -> Option<BlockIndex> {
        if self.blocks.count(State::Retiring) == 0 {
            return None;
        }
        let is_done = |block: &u32| {
            self.blocks.state(*block) == State::Retiring && self.blocks.live(*block) == 0 && !self.holds_journal(*block)
        };
        (0..self.blocks.block_count()).find(is_done)
    }

    /// Frees what is dead, and lists the blocks that may be allocated until the next root: the least worn, and every fourth time the most worn for data
    /// that rests.
    pub fn free_and_list(&mut self, listed_blocks: u32) {
        for block in 0..self.blocks.block_count() {
            if self.blocks.state(block) == State::Dead {
                self.blocks.set_state(block, State::Free);
            }
        }
        loop {
            let allocatable = self.blocks.count(State::Erased) + self.blocks.count(State::Listed);
            let choice = if allocatable % 4 == 3 { Choice::MostWorn } else { Choice::LeastWorn };
            let Some(block) = self.blocks.choose_among(&UNUSED, choice).filter(|_| allocatable < listed_blocks) else { break };
            let clean = self.blocks.state(block) == State::Clean;
            self.blocks.set_state(block, if clean { State::Erased } else { State::Listed });
        }
    }

    /// Frames that can be programmed before anything else is won back, quarantine included.
    pub fn pool(&self) -> u32 {
        let states = [State::Erased, State::Listed, State::Free, State::Clean, State::Dead];
        let blocks: u32 = states.into_iter().map(|state| self.blocks.count(state)).sum();
        let begun: u32 = self.heads.of_frames().map(|head| self.rest(head)).sum();
        begun + blocks * self.blocks.frames_per_block()
    }

    /// Frames of the blocks that are for data.
    pub fn data_frames(&self, layout: &Layout) -> u32 {
        self.data_blocks(layout) * self.blocks.frames_per_block()
    }

    /// Blocks for data: fewer where more have gone bad than the volume has to spare.
    pub fn data_blocks(&self, layout: &Layout) -> u32 {
        layout.data_blocks_with(self.blocks.count(State::Bad))
    }

    /// Whether live frames, and so many more, fill so much that stale marks would matter.
    pub fn near_full(&self, layout: &Layout, more: u32) -> bool {
        self.blocks.live_total() + more > self.data_frames(layout) / 20 * 17
    }

    /// Whether so little space is left that streams share a block.
    fn streams_join(&self, layout: &Layout) -> bool {
        let spare = self.data_frames(layout).saturating_sub(self.blocks.live_total()) / self.blocks.frames_per_block();
        spare < SPARE_BLOCKS * (2 + layout.extra_heads())
    }

    /// How long pages live; `None` where the caller names streams.
    pub fn lifetimes(&mut self, layout: &Layout) -> Option<Lifetimes<'_>> {
        self.heads.lifetimes(layout.logical_count, layout.config.streams)
    }

    /// The head that programmed a page with this tag; `None` where none does.
    pub fn head_of(layout: &Layout, tag: &Tag) -> Option<HeadIndex> {
        HeadIndex::of(tag).map(|head| if head.is_moved() && layout.moves_join() { HeadIndex::USER } else { head })
    }

    /// The heads of frames that move.
    pub fn moved_heads(layout: &Layout) -> impl Iterator<Item = HeadIndex> + use<> {
        (0..=layout.extra_moved_heads()).map(|stream| HeadIndex::moved(stream as u8))
    }

    /// The head for a page of a stream.
    pub fn user_head(&self, layout: &Layout, stream: u8) -> HeadIndex {
        if !STREAMS || layout.config.streams == 1 {
            return HeadIndex::USER;
        }
        let has_room = |&head: &HeadIndex| head.is_user() && self.rest(head) > 0;
        if self.streams_join(layout) {
            return self.heads.of_streams().find(has_room).unwrap_or(HeadIndex::USER);
        }
        HeadIndex::user(stream)
    }

    /// The head for a frame with this tag that moves.
    pub fn moved_head(&mut self, layout: &Layout, tag: &[u8; TAG_BYTES]) -> HeadIndex {
        if layout.moves_join() {
            return HeadIndex::USER;
        }
        let stream = match Tag::parse(tag) {
            Some(tag) if layout.moves_apart() && !self.streams_join(layout) => match self.lifetimes(layout) {
                Some(lifetimes) if Kinds::DATA.has(tag.kind) => lifetimes.at_rest(tag.logical),
                _ => tag.stream(),
            },
            _ => 0,
        };
        if STREAMS { HeadIndex::moved(stream.min(layout.config.streams - 1)) } else { HeadIndex::MOVED }
    }
}
