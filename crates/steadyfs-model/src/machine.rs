//! Operations on RAM and chip together: heads, blocks, programs and their repetition.

use crate::chip::{Chip, Seen, Stop};
use crate::choices::Choices;
use crate::numbers::{Block, IDLE, NONE, Page, Pages, Sequence};
use crate::page::{Content, Kind, Tag};
use crate::rules::Rule;
use crate::scope::Scope;
use crate::state::Ram;
use crate::table::{BlockState, JOURNAL, MOVED, USER};
use crate::violation::Violation;

/// Distance by which the sequence jumps behind a failed program. A smaller gap is a lost record.
pub(crate) const FAILURE_JUMP: Sequence = 16;

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
    /// Answers to the choices.
    pub choices: &'a mut Choices,
}

impl Machine<'_> {
    /// Reads a page as [`Chip::read`] does.
    pub fn read(&mut self, page: Page) -> Seen {
        self.chip.read(page, self.ram.table.sequence, self.scope, self.choices)
    }

    /// Reads a page whose checksum must be right.
    pub fn read_sound(&mut self, page: Page) -> Option<(Tag, Content)> {
        match self.read(page) {
            Seen::Page(tag, content, true) => Some((tag, content)),
            _ => None,
        }
    }

    /// Takes the next sequence.
    pub fn next_sequence(&mut self) -> Sequence {
        self.ram.table.sequence += 1;
        self.ram.table.sequence - 1
    }

    /// Programs a page under a tag.
    pub fn program(&mut self, page: Page, tag: Tag, content: Content) -> Step {
        self.chip.program(page, tag, content, self.choices)
    }

    /// Programs the next frame of a head, and again elsewhere if the program fails. A leaf is
    /// composed after its place is chosen.
    pub fn program_frame(
        &mut self,
        kind: Kind,
        logical: u8,
        content: Option<Content>,
    ) -> Step<Page> {
        self.program_from(NONE, kind, logical, content)
    }

    /// Does the same for a moved page.
    pub fn program_copy(
        &mut self,
        kind: Kind,
        logical: u8,
        content: Content,
        from: Page,
    ) -> Step<Page> {
        let source = if self.scope.logs && kind == Kind::Moved { from } else { NONE };
        self.program_from(source, kind, logical, Some(content))
    }

    fn program_from(
        &mut self,
        source: Page,
        kind: Kind,
        logical: u8,
        content: Option<Content>,
    ) -> Step<Page> {
        let head = if matches!(kind, Kind::Moved | Kind::MovedPending | Kind::MovedLeaf) {
            MOVED
        } else {
            USER
        };
        loop {
            let page = self.allocate(head)?;
            let sequence = self.next_sequence();
            if kind == Kind::Data && self.ram.table.start == IDLE {
                self.ram.table.start = sequence;
            }
            let start = if kind == Kind::Data { self.ram.table.start } else { sequence };
            let content = content.clone().unwrap_or_else(|| self.compose_leaf());
            match self.program(page, Tag { kind, logical, sequence, start, source }, content) {
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
            let tag = Tag { kind: Kind::Journal, logical, sequence, start, source: NONE };
            match self.program(page, tag, Content::Patches(self.ram.patches)) {
                Err(Stop::Failed) => self.survive_failure(JOURNAL),
                Err(stop) => return Err(stop),
                Ok(()) => {
                    self.move_journal(page);
                    return Ok(());
                }
            }
        }
    }

    /// Programs the record that announces the changes in the log of the leaf. Returns `false` if
    /// the program failed. The record does not contain the waiting patches of the journal buffer.
    pub fn program_leaf_changed(&mut self) -> Step<bool> {
        let patches = match self.ram.table.journal_at {
            NONE => Pages::default(),
            page => match self.read_sound(page) {
                Some((_, Content::Patches(patches))) => patches,
                _ => return Err(Stop::Broken(Violation::WrongRead)),
            },
        };
        let page = self.allocate(JOURNAL)?;
        let sequence = self.next_sequence();
        let tag =
            Tag { kind: Kind::LeafChanged, logical: 0, sequence, start: sequence, source: NONE };
        match self.program(page, tag, Content::Patches(patches)) {
            Err(Stop::Failed) => self.survive_failure(JOURNAL),
            Err(stop) => return Err(stop),
            Ok(()) => {
                self.move_journal(page);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes another page the newest of the journal.
    pub fn move_journal(&mut self, page: Page) {
        let before = core::mem::replace(&mut self.ram.table.journal_at, page);
        if before != NONE {
            self.settle_empty(self.scope.block_of(before));
        }
    }

    /// Gives up the block in which a program failed. The sequence jumps, so that a mount can
    /// determine the fate of the record before the gap.
    fn survive_failure(&mut self, head: usize) {
        if self.scope.has(Rule::FailuresJump) {
            self.ram.table.sequence += FAILURE_JUMP;
        }
        if self.scope.has(Rule::RetryElsewhere) {
            let block = core::mem::replace(&mut self.ram.table.heads[head].0, NONE);
            self.set_state(block, BlockState::Retiring);
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

    /// Ensures that a head has room.
    pub fn ready_head(&mut self, head: usize) -> Step {
        let (block, next) = self.ram.table.heads[head];
        if block == NONE || next >= self.scope.blocks.1 {
            self.close(head);
            let block = self.take_block()?;
            self.ram.table.heads[head] = (block, 0);
        }
        Ok(())
    }

    /// Gives up the block of a head.
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
                self.write_root()?;
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

    /// Erases a block. Marks it as bad if the erase fails.
    pub fn erase(&mut self, block: Block) -> Step<bool> {
        let pages = self.scope.pages_of(block);
        if self.durable_pages().iter().any(|page| pages.contains(page)) {
            return Err(Stop::Broken(Violation::EraseOfCommittedPage));
        }
        match self.chip.erase(pages, self.choices) {
            Err(Stop::Failed) => {
                self.set_state(block, BlockState::Bad);
                Ok(false)
            }
            result => result.map(|()| true),
        }
    }

    /// Returns the first block in a state.
    pub fn first(&self, state: BlockState) -> Option<Block> {
        self.ram.table.blocks.iter().position(|&found| found == state).map(|block| block as Block)
    }

    /// Returns the state of a block.
    pub fn state(&self, block: Block) -> BlockState {
        self.ram.table.blocks[usize::from(block)]
    }

    /// Changes the state of a block.
    pub fn set_state(&mut self, block: Block, state: BlockState) {
        self.ram.table.blocks[usize::from(block)] = state;
    }

    /// Returns true if a block has live frames.
    pub fn has_live(&self, block: Block) -> bool {
        self.scope.pages_of(block).any(|page| self.ram.live >> page & 1 != 0)
    }

    /// Returns true if a block holds the newest journal page.
    pub fn holds_journal(&self, block: Block) -> bool {
        self.scope.has(Rule::JournalHoldsBlock)
            && self.scope.pages_of(block).contains(&self.ram.table.journal_at)
    }

    /// Changes the state of a block that has become empty.
    pub fn settle_empty(&mut self, block: Block) {
        if !self.has_live(block) && !self.holds_journal(block) {
            let quarantine = if self.scope.has(Rule::Quarantine) {
                BlockState::Dead
            } else {
                BlockState::Listed
            };
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
}
