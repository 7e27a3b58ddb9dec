//! What RAM and chip do together: heads, blocks, anchors, programs and their repetition.

use crate::chip::{Block, Chip, Content, IDLE, Kind, NONE, Page, Sequence, Stop, Tag};
use crate::choices::Choices;
use crate::rules::Rule;
use crate::state::{Anchor, BlockState, JOURNAL, MOVED, Pages, Ram, Scope, USER, Violation};
use std::sync::Arc;

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
    pub fn read(&mut self, page: Page) -> Result<(Tag, Content, bool), bool> {
        self.chip.read(page, self.ram.table.sequence, self.scope, self.choices)
    }

    /// Reads a page whose checksum must be right.
    pub fn read_sound(&mut self, page: Page) -> Option<(Tag, Content)> {
        self.read(page).ok().filter(|read| read.2).map(|(tag, content, _)| (tag, content))
    }

    /// Takes the next sequence.
    pub fn next_sequence(&mut self) -> Sequence {
        self.ram.table.sequence += 1;
        self.ram.table.sequence - 1
    }

    /// Programs a page under a tag.
    pub fn program(&mut self, page: Page, tag: Tag, content: Content) -> Step {
        self.chip.program(page, tag, content, self.scope, self.choices)
    }

    /// Programs the next frame of a head, again elsewhere when that fails. A leaf is composed when its place is known.
    pub fn program_frame(&mut self, kind: Kind, logical: u8, from: Page, content: Option<Content>) -> Step<Page> {
        let head = if matches!(kind, Kind::Moved | Kind::MovedPending | Kind::MovedLeaf) { MOVED } else { USER };
        loop {
            let page = self.allocate(head)?;
            let sequence = self.next_sequence();
            if kind == Kind::Data && self.ram.table.start == IDLE {
                self.ram.table.start = sequence;
            }
            let start = if kind == Kind::Data { self.ram.table.start } else { sequence };
            let content = content.clone().unwrap_or_else(|| self.compose_leaf());
            match self.program(page, Tag { kind, logical, sequence, start, from }, content) {
                Err(Stop::Failed) => self.survive_failure(head),
                result => {
                    self.ram.live |= 1 << page;
                    return result.map(|()| page);
                }
            }
        }
    }

    /// Programs the journal buffer, which commits the open transaction.
    pub fn program_journal(&mut self) -> Step {
        loop {
            let page = self.allocate(JOURNAL)?;
            let sequence = self.next_sequence();
            let start = if self.ram.table.start == IDLE { sequence } else { self.ram.table.start };
            let logical = self.ram.table.pending.iter().flatten().count() as u8;
            let tag = Tag { kind: Kind::Journal, logical, sequence, start, from: NONE };
            match self.program(page, tag, Content::Patches(self.ram.patches)) {
                Err(Stop::Failed) => self.survive_failure(JOURNAL),
                Err(stop) => return Err(stop),
                Ok(()) => {
                    let before = core::mem::replace(&mut self.ram.table.journal_at, page);
                    if before != NONE {
                        self.settle_empty(self.scope.block_of(before));
                    }
                    return Ok(());
                }
            }
        }
    }

    /// Gives up the block in which a program failed. The sequence jumps, so that recovery looks at the record before the gap.
    fn survive_failure(&mut self, head: usize) {
        self.ram.table.sequence += 1;
        if self.scope.has(Rule::RetryElsewhere) {
            let block = core::mem::replace(&mut self.ram.table.heads[head].0, NONE);
            let state = if self.scope.has(Rule::Retire) { BlockState::Retiring } else { BlockState::Used };
            self.set_state(block, state);
            self.settle_empty(block);
        }
    }

    /// Takes the next page of a head.
    fn allocate(&mut self, head: usize) -> Step<Page> {
        self.ready_head(head)?;
        let (block, next) = &mut self.ram.table.heads[head];
        *next += 1;
        Ok(self.scope.pages_of(*block).start + *next - 1)
    }

    /// Makes sure that a head has room.
    pub fn ready_head(&mut self, head: usize) -> Step {
        let (block, next) = self.ram.table.heads[head];
        if block == NONE || next >= self.scope.blocks.1 {
            self.close(head);
            let block = self.take_block()?;
            self.ram.table.heads[head] = (block, 0);
        }
        Ok(())
    }

    /// Gives the block of a head up.
    pub fn close(&mut self, head: usize) {
        let (block, _) = core::mem::replace(&mut self.ram.table.heads[head], (NONE, 0));
        if block != NONE {
            self.set_state(block, BlockState::Used);
            self.settle_empty(block);
        }
    }

    fn take_block(&mut self) -> Step<Block> {
        if self.first(BlockState::Erased).is_none() {
            if self.first(BlockState::Listed).is_none() {
                self.checkpoint()?;
            }
            self.erase_listed()?;
        }
        let block = self.first(BlockState::Erased).ok_or(Stop::NoSpace)?;
        self.set_state(block, BlockState::Active);
        Ok(block)
    }

    /// Erases listed blocks until one is erased.
    pub fn erase_listed(&mut self) -> Step {
        while let Some(block) = self.first(BlockState::Listed) {
            if self.erase(block)? {
                self.set_state(block, BlockState::Erased);
                break;
            }
        }
        Ok(())
    }

    /// Erases a block; one that does not erase is bad.
    fn erase(&mut self, block: Block) -> Step<bool> {
        let pages = self.scope.pages_of(block);
        if self.durable_pages().iter().any(|page| pages.contains(page)) {
            return Err(Stop::Broken(Violation::EraseOfCommittedPage));
        }
        match self.chip.erase(pages, self.scope, self.choices) {
            Err(Stop::Failed) => {
                self.set_state(block, BlockState::Bad);
                Ok(false)
            }
            result => result.map(|()| true),
        }
    }

    /// The first block in a state.
    pub fn first(&self, state: BlockState) -> Option<Block> {
        self.ram.table.blocks.iter().position(|&found| found == state).map(|block| block as Block)
    }

    /// The state of a block.
    pub fn state(&self, block: Block) -> BlockState {
        self.ram.table.blocks[usize::from(block)]
    }

    /// Changes the state of a block.
    pub fn set_state(&mut self, block: Block, state: BlockState) {
        self.ram.table.blocks[usize::from(block)] = state;
    }

    /// Whether a block has live frames.
    pub fn has_live(&self, block: Block) -> bool {
        self.scope.pages_of(block).any(|page| self.ram.live >> page & 1 != 0)
    }

    fn holds_journal(&self, block: Block) -> bool {
        self.scope.has(Rule::JournalHoldsBlock) && self.scope.pages_of(block).contains(&self.ram.table.journal_at)
    }

    /// Moves a block that has become empty on.
    pub fn settle_empty(&mut self, block: Block) {
        if !self.has_live(block) && !self.holds_journal(block) {
            let quarantine = if self.scope.has(Rule::Quarantine) { BlockState::Dead } else { BlockState::Listed };
            match self.state(block) {
                BlockState::Used => self.set_state(block, quarantine),
                BlockState::Retiring => self.set_state(block, BlockState::Bad),
                _ => {}
            }
        }
    }

    /// Marks a frame as no longer live.
    pub fn release(&mut self, frame: Page) {
        if frame != NONE && self.ram.live >> frame & 1 != 0 {
            self.ram.live &= !(1 << frame);
            self.settle_empty(self.scope.block_of(frame));
        }
    }

    /// Writes a checkpoint, in the next anchor if it has to be.
    pub fn checkpoint(&mut self) -> Step {
        for _ in 0..self.scope.anchors.0 {
            if self.ram.anchor.next + self.scope.checkpoint_pages > self.scope.anchors.1 {
                self.advance_anchor()?;
            }
            if self.checkpoint_here()? {
                return Ok(());
            }
        }
        Err(Stop::Failed)
    }

    /// Writes a checkpoint in the anchor in use; blocks that were dead before are free after it. `false` when the anchor has gone bad.
    pub fn checkpoint_here(&mut self) -> Step<bool> {
        for state in &mut self.ram.table.blocks {
            if *state == BlockState::Dead {
                *state = BlockState::Free;
            }
        }
        if self.scope.has(Rule::ListBeforeCheckpoint) {
            self.list_blocks();
        }
        match self.program_checkpoint() {
            Err(Stop::Failed) => {
                self.set_state(self.current_anchor(), BlockState::Bad);
                self.ram.anchor.next = self.scope.anchors.1;
                Ok(false)
            }
            Err(stop) => Err(stop),
            Ok(()) => {
                self.ram.anchor.complete = self.ram.anchor.current;
                self.list_blocks();
                Ok(true)
            }
        }
    }

    fn list_blocks(&mut self) {
        let listed = |state: &&BlockState| matches!(state, BlockState::Listed | BlockState::Erased);
        while self.ram.table.blocks.iter().filter(listed).count() < usize::from(self.scope.listed)
            && let Some(block) = self.first(BlockState::Free)
        {
            self.set_state(block, BlockState::Listed);
        }
    }

    fn program_checkpoint(&mut self) -> Step {
        let (pages, first) = (self.scope.checkpoint_pages, self.next_anchor_page());
        let sequence = self.ram.table.sequence;
        self.ram.table.sequence += Sequence::from(pages);
        self.ram.anchor.next += pages;
        let mut table = self.ram.table.clone();
        if !self.scope.has(Rule::CheckpointKeepsPending) {
            (table.pending, table.start) = (Pages::default(), IDLE);
        }
        let mut content = Content::Checkpoint(Arc::new(table));
        for index in 0..pages {
            let sequence = sequence + Sequence::from(index);
            let tag = Tag { kind: Kind::Checkpoint, logical: index, sequence, start: sequence, from: NONE };
            self.program(first + index, tag, core::mem::replace(&mut content, Content::Nothing))?;
        }
        Ok(())
    }

    /// The block of the anchor in use.
    pub fn current_anchor(&self) -> Block {
        self.scope.blocks.0 + self.ram.anchor.current
    }

    /// Next page of the anchor in use.
    pub fn next_anchor_page(&self) -> Page {
        self.scope.pages_of(self.current_anchor()).start + self.ram.anchor.next
    }

    /// The anchor that is used next.
    fn following_anchor(&self) -> Option<u8> {
        let (count, anchor) = (self.scope.anchors.0, self.ram.anchor);
        let in_use = |block| self.scope.has(Rule::AnchorInUse) && (self.has_live(block) || self.holds_journal(block));
        let complete = |index| index == anchor.complete && self.scope.has(Rule::CompleteAnchorKept);
        let first = self.ram.ignored.unwrap_or(anchor.current + 1);
        (0..count).map(|step| (first + step) % count).filter(|&index| index != anchor.current).find(|&index| {
            let block = self.scope.blocks.0 + index;
            self.state(block) == BlockState::Reserved && !in_use(block) && !complete(index)
        })
    }

    /// Erases the anchor that is used next.
    pub fn prepare_anchor(&mut self) -> Step {
        while !self.ram.anchor.ready {
            let index = self.following_anchor().ok_or(Stop::Failed)?;
            self.ram.anchor.ready = self.erase(self.scope.blocks.0 + index)?;
        }
        Ok(())
    }

    /// Goes on to the next anchor.
    pub fn advance_anchor(&mut self) -> Step {
        self.prepare_anchor()?;
        self.ram.anchor =
            Anchor { current: self.following_anchor().ok_or(Stop::Failed)?, next: 0, ready: false, ..self.ram.anchor };
        Ok(())
    }
}
