//! The ring of anchors and the superblocks while the power is on: `store/anchors.rs` and `store/checkpoint.rs` of the core.

use super::chip::{Block, Chip, Content, NONE, Page, Reading, Sequence, Stop};
use super::rules::Rule;
use super::state::{BlockState, Ram, Scope, Superblocks, Violation};
use crate::choices::Choices;

/// Result of a step.
pub type Step<T = ()> = Result<T, Stop>;

/// A chip with power.
pub struct Machine<'a> {
    /// The world.
    pub scope: &'a Scope,
    /// The chip.
    pub chip: Chip,
    /// RAM.
    pub ram: Ram,
    /// Answers to what is not determined.
    pub choices: &'a mut Choices,
}

impl Machine<'_> {
    /// Reads a page as [`Chip::read`] does.
    pub fn read(&mut self, page: Page) -> (Reading, Sequence, Content) {
        self.chip.read(page, self.scope, self.choices)
    }

    /// Reads a page whose checksum must be right.
    pub fn read_sound(&mut self, page: Page) -> Option<(Sequence, Content)> {
        let (reading, sequence, content) = self.read(page);
        (reading == Reading::Good).then_some((sequence, content))
    }

    /// Programs a page under the next number.
    pub fn program(&mut self, page: Page, content: Content) -> Step {
        self.ram.sequence += 1;
        self.chip.program(page, self.ram.sequence - 1, content, self.choices)
    }

    /// Erases a block; one that does not erase is bad.
    pub fn erase(&mut self, block: Block) -> Step<bool> {
        if self.ram.anchors.complete != NONE && self.block_at(self.ram.anchors.complete) == block {
            return Err(Stop::Broken(Violation::EraseOfCheckpoint));
        }
        match self.chip.erase(self.scope.pages_of(block), self.scope, self.choices) {
            Err(Stop::Failed) => {
                self.go_bad(block);
                Ok(false)
            }
            result => result.map(|()| true),
        }
    }

    /// Never uses a block again.
    pub fn go_bad(&mut self, block: Block) {
        self.set_state(block, BlockState::Bad);
        self.chip.is_marked |= block == 1 && !self.scope.has(Rule::SuperblockIsNotMarked);
    }

    /// State of a block.
    pub fn state(&self, block: Block) -> BlockState {
        self.ram.states[usize::from(block)]
    }

    /// Changes the state of a block.
    pub fn set_state(&mut self, block: Block, state: BlockState) {
        self.ram.states[usize::from(block)] = state;
    }

    /// The block in a place of the ring.
    pub fn block_at(&self, place: u8) -> Block {
        self.ram.anchors.blocks[usize::from(place)]
    }

    /// Whether a superblock's block is in use.
    pub fn superblock_is_good(&self, index: u8) -> bool {
        self.state(index) != BlockState::Bad
    }

    /// Erases the anchor that is used next.
    pub fn prepare_anchor(&mut self) -> Step {
        let anchors = self.ram.anchors;
        let first = if anchors.passed_over == NONE || !self.scope.has(Rule::PassedOverFirst) {
            anchors.current + 1
        } else {
            anchors.passed_over
        };
        for step in 0..self.scope.anchors {
            let place = (first + step) % self.scope.anchors;
            let block = self.block_at(place);
            if self.ram.anchors.prepared == NONE
                && self.rests(place)
                && self.state(block) == BlockState::Reserved
                && self.erase(block)?
            {
                self.ram.anchors.prepared = place;
            }
        }
        if self.ram.anchors.prepared == NONE { Err(Stop::Failed) } else { Ok(()) }
    }

    /// Whether nobody needs what is in the anchor at a place of the ring.
    pub fn rests(&self, place: u8) -> bool {
        let (anchors, block) = (&self.ram.anchors, self.block_at(place));
        let complete = place == anchors.complete && self.scope.has(Rule::CompleteKept);
        let doubted = place == anchors.doubt.0 && self.scope.has(Rule::DoubtRests);
        let journal = self.ram.journal_at != NONE && self.scope.pages_of(block).contains(&self.ram.journal_at);
        place != anchors.current && !complete && !doubted && !journal
    }

    /// Goes on to the next anchor.
    pub fn advance_anchor(&mut self) -> Step {
        if self.ram.anchors.prepared == NONE {
            self.prepare_anchor()?;
        }
        let anchors = &mut self.ram.anchors;
        (anchors.current, anchors.next, anchors.prepared) = (anchors.prepared, 0, NONE);
        Ok(())
    }

    /// Next page of the current anchor.
    pub fn next_anchor_page(&mut self) -> Page {
        self.ram.anchors.next += 1;
        self.scope.pages_of(self.block_at(self.ram.anchors.current)).start + self.ram.anchors.next - 1
    }

    /// Writes a checkpoint; blocks that were dead before are free after it.
    ///
    /// With `again`, what a mount has rescued is copied again where the checkpoint goes on to another anchor.
    pub fn checkpoint(&mut self, again: bool) -> Step {
        for state in &mut self.ram.states {
            if *state == BlockState::Dead {
                *state = BlockState::Free;
            }
        }
        for _ in 0..self.scope.anchors {
            if self.ram.anchors.next >= self.scope.pages {
                self.advance_anchor()?;
                if again {
                    self.rescue_journal()?;
                }
            }
            let page = self.next_anchor_page();
            // The number of the next program is that after the checkpoint.
            self.ram.sequence += 1;
            let content = Content::Checkpoint(self.ram.checkpoint(self.scope));
            self.ram.sequence -= 1;
            match self.program(page, content) {
                Err(Stop::Failed) => {
                    self.go_bad(self.block_at(self.ram.anchors.current));
                    self.ram.anchors.next = self.scope.pages;
                }
                Err(stop) => return Err(stop),
                Ok(()) => {
                    let anchors = &mut self.ram.anchors;
                    (anchors.complete, anchors.passed_over, anchors.announced) = (anchors.current, NONE, true);
                    return Ok(());
                }
            }
        }
        self.ram.read_only = true;
        Err(Stop::Failed)
    }

    /// Copies the journal page into the current anchor, or into the next one where that fails.
    pub fn rescue_journal(&mut self) -> Step {
        loop {
            let page = self.next_anchor_page();
            match self.program(page, Content::Journal(self.ram.version)) {
                Err(Stop::Failed) => {
                    self.go_bad(self.block_at(self.ram.anchors.current));
                    self.advance_anchor()?;
                }
                Err(stop) => return Err(stop),
                Ok(()) => {
                    self.ram.journal_at = page;
                    return Ok(());
                }
            }
        }
    }

    /// Lets both superblocks be written anew.
    pub fn renew(&mut self) {
        if self.ram.anchors.changing.is_none() {
            self.ram.anchors.counts = self.ram.anchors.generation;
            self.ram.anchors.generation += 1;
            self.change(Some(1));
        }
    }

    fn change(&mut self, index: Option<u8>) {
        (self.ram.anchors.changing, self.ram.anchors.announced) = (index, false);
    }

    /// Places of the ring that may be given to another block.
    pub fn replaceable(&self) -> Vec<u8> {
        let anchors = &self.ram.anchors;
        if anchors.changing.is_some() || !self.superblock_is_good(0) || !self.superblock_is_good(1) {
            return Vec::new();
        }
        (0..self.scope.anchors).filter(|&place| place != anchors.prepared && self.rests(place)).collect()
    }

    /// Gives a place of the ring to another block.
    pub fn replace_anchor(&mut self, place: u8, new: Block) {
        self.set_state(new, BlockState::Reserved);
        let old = core::mem::replace(&mut self.ram.anchors.blocks[usize::from(place)], new);
        self.ram.anchors.doubt = (place, old);
        self.ram.anchors.list_of = 1;
        self.renew();
    }

    /// Whether neither superblock can be written any more: the one that failed last counts for good.
    fn none_is_good(&self) -> bool {
        !self.superblock_is_good(0) && !self.superblock_is_good(1) && self.scope.has(Rule::LastBadCounts)
    }

    /// The superblock that is to change, if a checkpoint says so, and whether its block must be erased first.
    fn next_superblock(&self) -> Option<(u8, bool)> {
        let index = self.ram.anchors.changing.filter(|_| self.ram.anchors.announced && !self.none_is_good())?;
        let Superblocks { next, touched } = self.ram.anchors.superblocks[usize::from(index)];
        let touched = touched && self.scope.has(Rule::TouchedIsErased);
        Some((index, self.superblock_is_good(index) && (touched || next >= self.scope.pages)))
    }

    /// The next step of a change: the superblock is erased, or written. `false` when there is none.
    pub fn step_superblock(&mut self) -> Step<bool> {
        match self.next_superblock() {
            Some((index, true)) if self.superblock_is_good(1 - index) || !self.scope.has(Rule::OnlyOneStays) => {
                if self.erase(index)? {
                    self.ram.anchors.superblocks[usize::from(index)] = Superblocks { next: 0, touched: false };
                }
            }
            Some((index, false)) => self.write_superblock(index)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn write_superblock(&mut self, index: u8) -> Step {
        let Superblocks { next, .. } = self.ram.anchors.superblocks[usize::from(index)];
        self.ram.anchors.superblocks[usize::from(index)].touched = false;
        if self.superblock_is_good(index) {
            self.ram.anchors.superblocks[usize::from(index)].next = next + 1;
            let page = self.scope.pages_of(index).start + next;
            let (generation, content) = (self.ram.anchors.generation, Content::Super(self.ram.anchors.blocks));
            match self.chip.program(page, generation, content, self.choices) {
                Err(Stop::Failed) => self.go_bad(index),
                result => result?,
            }
        }
        if self.none_is_good() {
            return Ok(());
        }
        if index == 1 && !self.superblock_is_good(1) && self.scope.has(Rule::FailedIsOutranked) {
            self.ram.anchors.generation += 1;
        }
        self.ram.anchors.counts = self.ram.anchors.generation;
        let (place, loser) = self.ram.anchors.doubt;
        let fails = index == 1 && !self.superblock_is_good(1) && self.ram.anchors.list_of == 1 && loser != NONE;
        if fails && self.scope.has(Rule::ListStays) {
            let anchors = &mut self.ram.anchors;
            anchors.doubt.1 = core::mem::replace(&mut anchors.blocks[usize::from(place)], loser);
            anchors.list_of = 0;
        }
        let touched = (0..2).find(|&index| self.ram.anchors.superblocks[usize::from(index)].touched);
        let ends = fails && !self.scope.has(Rule::OtherIsWritten);
        self.change(index.checked_sub(1).filter(|_| !ends).or(touched));
        if index == 1 && !self.scope.has(Rule::LoserWaits) {
            self.free_loser();
        }
        if self.ram.anchors.changing.is_none() {
            self.free_loser();
            self.ram.anchors.doubt = (NONE, NONE);
        }
        Ok(())
    }

    fn free_loser(&mut self) {
        let loser = self.ram.anchors.doubt.1;
        if loser != NONE && self.state(loser) == BlockState::Reserved {
            self.set_state(loser, BlockState::Dead);
        }
    }
}
