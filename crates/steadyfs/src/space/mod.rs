//! The blocks of the medium: their content, the blocks that are being programmed, and the order
//! of programs.
//!
//! A *frame* is `pages_per_logical_page` consecutive program pages of one block. [Heads](heads)
//! program frames in order. Every program carries the next sequence number. This folder erases
//! blocks and assigns places. The caller that requests a place programs it.

mod blocks;
mod frame;
mod heads;
mod lifetimes;

pub(crate) use blocks::{BlockChoice, Blocks, State, UNUSED};
pub(crate) use frame::{FAILURE_JUMP, Frame, NONE};
pub(crate) use heads::{Head, HeadIndex, Heads};
pub(crate) use lifetimes::{BYTES as LIFETIMES_BYTES, Lifetimes};

use crate::config::Layout;
use crate::error::Error;
use crate::features::{SCRUB, STREAMS};
use crate::media::{BlockIndex, Failure, Flash, TAG_BYTES, Tag, TagKinds};
use crate::pages::{Pages, Watch};

/// Smallest number of blocks without data for each head. If there are fewer, the streams share
/// blocks.
const SPARE_BLOCKS: u32 = 3;

/// The blocks of the medium. See the [module](self).
pub(crate) struct Space<'m> {
    blocks: Blocks<'m>,
    heads: Heads<'m>,
    /// Number of places that a block of the journal's head has: one for each journal page, or one
    /// for each unit of a longer record.
    journal_places: u32,
    /// True if wear is counted here; false if the device levels wear itself.
    counts_wear: bool,
    /// Sequence number of the next program.
    sequence: u64,
    programs_since_root: u32,
    /// True if no head has programmed anything since the mount. A journal page must then be
    /// programmed first. It shows the next mount that heads were used.
    is_unmarked: bool,
    /// The place of the newest journal page or record. Its block stays in use, even if the block
    /// holds no live frame.
    journal_at: u32,
    /// Another place with the content of the newest journal page or record.
    journal_copy: u32,
    /// A block that holds, or held, a frame whose content cannot be determined. The block is marked
    /// as bad when it is empty.
    spoiled: BlockIndex,
    /// The block of a head with a weak page.
    weak_active: BlockIndex,
}

impl<'m> Space<'m> {
    /// Creates the state in which every block is bad, and no head has a block.
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

    /// Returns the tables that a root contains: wear, states, and the heads of streams.
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

    /// Returns true if the heads and the states of blocks agree. Each head has no block, or an
    /// active block that is not `reserved` and belongs to no other head. No other block is active.
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

    /// Returns the block of a frame.
    pub fn block_of(&self, frame: Frame) -> BlockIndex {
        frame / self.blocks.frames_per_block()
    }

    /// Returns the sequence number of the next program.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Sets the sequence number of the next program.
    pub fn set_sequence(&mut self, sequence: u64) {
        self.sequence = sequence;
    }

    /// Reserves `count` sequence numbers. Returns the first of these numbers.
    pub fn take_sequences(&mut self, count: u64) -> u64 {
        let first = self.sequence;
        self.sequence += count;
        first
    }

    /// Returns the number of programs of heads since the newest root.
    pub fn programs_since_root(&self) -> u32 {
        self.programs_since_root
    }

    /// Counts programs.
    pub fn count_programs(&mut self, programs: u32) {
        self.programs_since_root += programs;
    }

    /// Begins the count of programs anew, because a root was written.
    pub fn begin_after_root(&mut self) {
        self.programs_since_root = 0;
    }

    /// Makes a root due now. Without this call, it would be due after `due` programs.
    #[cfg(feature = "scrub")]
    pub fn want_root(&mut self, due: u32) {
        self.programs_since_root = self.programs_since_root.max(due);
    }

    /// Returns true if a journal page must be programmed before anything else.
    pub fn is_unmarked(&self) -> bool {
        self.is_unmarked
    }

    /// Sets whether a journal page must be programmed before anything else.
    pub fn set_unmarked(&mut self, is_unmarked: bool) {
        self.is_unmarked = is_unmarked;
    }

    /// Returns the place of the newest journal page or record; [`NONE`] if there is none.
    pub fn journal_at(&self) -> u32 {
        self.journal_at
    }

    /// Returns the block that contains a place of the journal's head.
    pub fn journal_block(&self, place: u32) -> BlockIndex {
        place / self.journal_places
    }

    /// Returns the first place in the block that contains `place`, a place of the journal's head.
    pub fn journal_start(&self, place: u32) -> u32 {
        place - place % self.journal_places
    }

    /// Returns true if a block holds the newest journal record.
    pub fn holds_journal(&self, block: BlockIndex) -> bool {
        self.journal_at != NONE && self.journal_block(self.journal_at) == block
    }

    /// Takes over the place of the newest journal record from a root or a record. When all records
    /// are applied, the caller checks whether the block of the earlier record is empty.
    pub fn adopt_journal(&mut self, place: u32) {
        (self.journal_at, self.journal_copy) = (place, NONE);
    }

    /// Records the place of the newest journal record. If the block of the earlier record is empty,
    /// it is put into quarantine.
    pub fn move_journal(&mut self, place: u32) {
        let before = self.journal_at;
        self.adopt_journal(place);
        if before != NONE {
            self.quarantine_if_empty(self.journal_block(before));
        }
    }

    /// Returns a second place with the content of the newest journal record; [`NONE`] if there
    /// is none.
    pub fn journal_copy(&self) -> u32 {
        self.journal_copy
    }

    /// Returns true if the second place lies in the block of the newest journal record.
    pub fn has_copy_beside(&self) -> bool {
        self.journal_copy != NONE && self.holds_journal(self.journal_block(self.journal_copy))
    }

    /// Records a second place at which the newest journal record was programmed.
    pub fn set_journal_copy(&mut self, place: u32) {
        self.journal_copy = place;
    }

    /// Returns the number of frames (or places of journal records) in a block.
    pub fn capacity(&self, head: HeadIndex) -> u32 {
        match head {
            HeadIndex::JOURNAL => self.journal_places,
            _ => self.blocks.frames_per_block(),
        }
    }

    /// Returns the number of frames (or places of journal records) left in the block of a head.
    #[inline(never)]
    pub fn rest(&self, head: HeadIndex) -> u32 {
        let current = self.heads.get(head);
        if current.block == NONE { 0 } else { self.capacity(head).saturating_sub(current.next) }
    }

    /// Reserves the next frame (or the next places for a journal record) of a head that has room.
    /// Returns the frame or the first place.
    pub fn take_places(&mut self, head: HeadIndex, places: u32) -> u32 {
        let Head { block, next } = self.heads.get(head);
        self.heads.replace(head, Head { block, next: next + places });
        block * self.capacity(head) + next
    }

    /// Closes the block of a head: the head has no block afterwards.
    pub fn close(&mut self, head: HeadIndex) {
        let block = self.heads.replace(head, Head::IDLE).block;
        if block != NONE {
            self.blocks.set_state(block, State::Used);
            self.quarantine_if_empty(block);
        }
    }

    /// Closes the block of a head, because a program failed in it. The block is marked as bad when
    /// it is empty.
    pub fn retire_head(&mut self, head: HeadIndex) {
        let block = self.heads.replace(head, Head::IDLE).block;
        self.blocks.set_state(block, State::Retiring);
        self.quarantine_if_empty(block);
    }

    /// Retires a block in which a program failed, so that its data moves.
    pub fn retire(&mut self, block: BlockIndex) {
        // No head may program this block any more.
        for head in self.heads.of_frames() {
            if self.heads.get(head).block == block {
                self.close(head);
            }
        }
        if matches!(self.blocks.state(block), State::Used | State::Weak) {
            self.blocks.set_state(block, State::Retiring);
        }
    }

    /// Closes the full blocks of streams. It may take long until the stream is written again and
    /// its block is replaced.
    pub fn close_full_streams(&mut self) {
        for head in self.heads.of_streams() {
            if self.heads.get(head).block != NONE && self.rest(head) == 0 {
                self.close(head);
            }
        }
    }

    /// Gives a head an erased block: the most worn block if `worn` is true, and the least worn
    /// block if not. Returns `false` if no block is erased.
    pub fn open_head(&mut self, head: HeadIndex, worn: bool) -> bool {
        let choice = if worn { BlockChoice::MostWorn } else { BlockChoice::LeastWorn };
        let Some(block) = self.blocks.choose(State::Erased, choice) else { return false };
        self.blocks.set_state(block, State::Active);
        self.heads.replace(head, Head { block, next: 0 });
        true
    }

    /// Counts an erase of a block. If the device levels wear itself, the call does nothing.
    pub fn count_erase(&mut self, block: BlockIndex) {
        if self.counts_wear {
            self.blocks.add_wear(block);
        }
    }

    /// Erases a block and counts the erase. Returns `false` if the block cannot be erased. The
    /// block is bad from now on.
    pub fn erase<F: Flash>(
        &mut self,
        pages: &mut Pages<'_, F>,
        block: BlockIndex,
    ) -> Result<bool, Error> {
        debug_assert!(
            !self.blocks.has_live(block) && !self.holds_journal(block),
            "a block in use is erased"
        );
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

    /// Marks a block as bad: it is never used again.
    pub fn lose(&mut self, block: BlockIndex) {
        self.blocks.set_state(block, State::Bad);
    }

    /// Marks a block as spoiled: the content of one of its frames cannot be determined. No other
    /// data may be written to this block.
    pub fn spoil(&mut self, block: BlockIndex) {
        self.spoiled = block;
    }

    /// Marks a block with a weak page, so that its frames move. If a head still programs the block,
    /// its frames move after the head has [closed the block](Self::weak_head).
    pub fn weaken(&mut self, block: BlockIndex) {
        match self.blocks.state(block) {
            State::Used => self.blocks.set_state(block, State::Weak),
            State::Active => self.weak_active = block,
            _ => {}
        }
    }

    /// Marks the blocks in which reads have found a weak page as weak.
    pub fn note_weak(&mut self, watch: &mut Watch) {
        while let Some(block) = watch.take_weak() {
            self.weaken(block);
        }
    }

    /// Returns the head whose block has a weak page. Journal pages are written anew with every
    /// commit, so they need not be moved.
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

    /// Puts a block that has just become empty into quarantine. A spoiled block is marked as bad
    /// instead.
    pub fn quarantine_if_empty(&mut self, block: BlockIndex) {
        if self.blocks.has_live(block) || self.holds_journal(block) {
            return;
        }
        match self.blocks.state(block) {
            State::Used | State::Weak if self.spoiled == block => self.lose(block),
            State::Used | State::Weak => self.blocks.set_state(block, State::Dead),
            _ => {}
        }
    }

    /// Returns an empty block in which a program failed.
    pub fn retired(&self) -> Option<BlockIndex> {
        if self.blocks.count(State::Retiring) == 0 {
            return None;
        }
        let is_done = |block: &u32| {
            self.blocks.state(*block) == State::Retiring
                && !self.blocks.has_live(*block)
                && !self.holds_journal(*block)
        };
        (0..self.blocks.block_count()).find(is_done)
    }

    /// Makes the blocks in quarantine free, and lists the blocks that may be allocated until the
    /// next root. It lists the least worn blocks. Every fourth block is the most worn block
    /// instead, for data at rest.
    pub fn free_and_list(&mut self, listed_blocks: u32) {
        for block in 0..self.blocks.block_count() {
            if self.blocks.state(block) == State::Dead {
                self.blocks.set_state(block, State::Free);
            }
        }
        loop {
            let allocatable = self.blocks.count(State::Erased) + self.blocks.count(State::Listed);
            let choice =
                if allocatable % 4 == 3 { BlockChoice::MostWorn } else { BlockChoice::LeastWorn };
            let Some(block) =
                self.blocks.choose_among(&UNUSED, choice).filter(|_| allocatable < listed_blocks)
            else {
                break;
            };
            let clean = self.blocks.state(block) == State::Clean;
            self.blocks.set_state(block, if clean { State::Erased } else { State::Listed });
        }
    }

    /// Returns the number of frames that can be programmed before more space is reclaimed. Frames
    /// in quarantine are included.
    pub fn pool(&self) -> u32 {
        let states = [State::Erased, State::Listed, State::Free, State::Clean, State::Dead];
        let blocks: u32 = states.into_iter().map(|state| self.blocks.count(state)).sum();
        let begun: u32 = self.heads.of_frames().map(|head| self.rest(head)).sum();
        begun + blocks * self.blocks.frames_per_block()
    }

    /// Returns the number of frames in the blocks for data.
    pub fn data_frames(&self, layout: &Layout) -> u32 {
        self.data_blocks(layout) * self.blocks.frames_per_block()
    }

    /// Returns the number of blocks for data. The number is lower if more blocks are bad than the
    /// volume has as spares.
    pub fn data_blocks(&self, layout: &Layout) -> u32 {
        layout.data_blocks_with(self.blocks.count(State::Bad))
    }

    /// Returns true if live frames, and `more` further frames, fill more than 85 % of the frames
    /// for data. Above 85 %, frames that are marked as live but are not needed any more would take
    /// too much space.
    pub fn near_full(&self, layout: &Layout, more: u32) -> bool {
        self.blocks.live_total() + more > self.data_frames(layout) / 20 * 17
    }

    /// Returns true if so little space is free that the streams share blocks.
    fn streams_join(&self, layout: &Layout) -> bool {
        let spare = self.data_frames(layout).saturating_sub(self.blocks.live_total())
            / self.blocks.frames_per_block();
        spare < SPARE_BLOCKS * (2 + layout.extra_heads())
    }

    /// Returns the lifetimes of pages; `None` if the caller chooses the streams.
    pub fn lifetimes(&mut self, layout: &Layout) -> Option<Lifetimes<'_>> {
        self.heads.lifetimes(layout.logical_count, layout.config.streams)
    }

    /// Returns the head that programmed a page with this tag; `None` if no head did.
    pub fn head_of(layout: &Layout, tag: &Tag) -> Option<HeadIndex> {
        HeadIndex::of(tag)
            .map(|head| if head.is_moved() && layout.moves_join() { HeadIndex::USER } else { head })
    }

    /// Returns the heads that program moved frames.
    pub fn moved_heads(layout: &Layout) -> impl Iterator<Item = HeadIndex> + use<> {
        (0..=layout.extra_moved_heads()).map(|stream| HeadIndex::moved(stream as u8))
    }

    /// Returns the head for a page of a stream.
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

    /// Returns the head for a moved frame with this tag.
    pub fn moved_head(&mut self, layout: &Layout, tag: &[u8; TAG_BYTES]) -> HeadIndex {
        if layout.moves_join() {
            return HeadIndex::USER;
        }
        let stream = match Tag::parse(tag) {
            Some(tag) if layout.moves_apart() && !self.streams_join(layout) => match self
                .lifetimes(layout)
            {
                Some(lifetimes) if TagKinds::DATA.has(tag.kind) => lifetimes.at_rest(tag.logical),
                _ => tag.stream(),
            },
            _ => 0,
        };
        if STREAMS {
            HeadIndex::moved(stream.min(layout.config.streams - 1))
        } else {
            HeadIndex::MOVED
        }
    }
}
