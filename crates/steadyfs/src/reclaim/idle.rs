//! Idle work: work ahead of time. Without it, reclamation would do this work during the calls of a
//! burst.
//!
//! The calls of a burst neither move frames nor erase if all of these conditions hold before the
//! burst:
//!
//! - Enough blocks for the burst are erased.
//! - So many frames are free that no victim must be chosen during the burst.
//! - The overlay has room for the changes of the burst.
//! - The next ring block is erased.
//!
//! Idle work brings the store into this state, one step at a time, and computes the cost of each
//! step before the step. If a burst needs more blocks than one root lists, further blocks are
//! erased and marked as *clean*. A later root lists clean blocks as erased.

use super::{Bounds, ReclaimView};
use crate::cost::Cost;
use crate::media::{BlockIndex, Flash};
use crate::processor;
use crate::space::{BlockChoice, HeadIndex, Space, State};

/// One piece of idle work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdleStep {
    /// Write the root and the journal page that must be the first programs after a mount.
    Mark,
    /// Erase the next ring block.
    RingBlock,
    /// Give up the block of a head in which a page is weak.
    Release,
    /// Erase a listed block.
    Erase,
    /// Erase a block that no root has listed yet.
    Clean,
    /// Move a frame of the victim. If a block is given, it becomes the victim first.
    Move(Option<BlockIndex>),
    /// Write a leaf back.
    Fold,
    /// Write a root, which ends the quarantine of empty blocks.
    Root,
    /// Write a copy of the first leaf.
    CopyLeaf,
    /// Program the newest journal page once more.
    CopyJournal,
}

impl<F: Flash> ReclaimView<'_, '_, F> {
    /// Returns the next step before a burst of `frames` frames. Returns `None` if everything is
    /// ready, or if no step can improve the state.
    pub fn idle_step(&self, frames: u32) -> Option<IdleStep> {
        let layout = &self.ftl.layout;
        // A root and a journal page must show that the volume is in use before any other step
        // programs.
        if self.ftl.ring.is_closed() || self.ftl.space.is_unmarked() {
            return Some(IdleStep::Mark);
        }
        // Without this step, the next root would have to erase its block.
        if self.ftl.ring.needs_block() {
            return Some(IdleStep::RingBlock);
        }
        let (erased, listed) = (
            self.ftl.space.blocks().count(State::Erased),
            self.ftl.space.blocks().count(State::Listed),
        );
        let more = self.ftl.space.blocks().count(State::Dead)
            + self.ftl.space.blocks().count(State::Clean)
            > 0;
        let is_low = erased + listed < layout.stock().min(layout.listed_blocks);
        if is_low && (more || self.ftl.space.blocks().count(State::Free) > 0) {
            // Without this root, a call that needs a block might have to write a root first. The
            // bound of a call does not include both a root and an erase.
            return Some(IdleStep::Root);
        }
        let room = layout.overlay_soft - frames.min(layout.overlay_soft / 4 * 3);
        // The overlay must have room for the changes of the burst.
        if self.entries() > room && self.ftl.map.len() > 0 {
            return Some(IdleStep::Fold);
        }
        // The frames of a weak block can move only when the head has given up this block.
        if self.ftl.space.weak_head().is_some() {
            return Some(IdleStep::Release);
        }
        // Only an empty victim gives frames back, so a victim that calls have begun to empty is
        // finished first.
        if self.victim_live() > 0 {
            return Some(IdleStep::Move(None));
        }
        // The copy uses a frame, so it is made before the next victim makes room for the burst.
        if self.idle_copies() > 0 && self.can_spare_copy() {
            return Some(IdleStep::CopyLeaf);
        }
        let wins = || {
            if self.ftl.space.pool() < self.pool_for(frames) {
                self.idle_victim(room)
            } else {
                None
            }
        };
        if let Some(victim) = self.failing_victim().or_else(wins) {
            return Some(IdleStep::Move(Some(victim)));
        }
        // Leaves and journal pages need at most half as many frames as the caller's pages.
        let wanted = layout.stock() + 2 + (frames + frames / 2).div_ceil(layout.frames_per_block);
        // One root lists at most this number of blocks. Further blocks become clean.
        let now = wanted.min(layout.listed_blocks);
        if erased < now && listed > 0 {
            return Some(IdleStep::Erase);
        }
        if erased + self.ftl.space.blocks().count(State::Clean) < wanted
            && self.ftl.space.blocks().count(State::Free) > 0
        {
            return Some(IdleStep::Clean);
        }
        let short = erased + listed < now && more;
        // A root in idle time now delays the next root until after the burst.
        let due =
            self.ftl.space.programs_since_root() > u32::from(layout.config.checkpoint_programs) / 2;
        (short || due).then_some(IdleStep::Root)
    }

    /// Returns the number of frames that must be free for a burst. No victim is chosen while more
    /// than three blocks beyond the reserve are free. Leaves and journal pages need at most half as
    /// many frames as the caller's pages.
    fn pool_for(&self, frames: u32) -> u32 {
        self.reserve() + 4 * self.ftl.layout.frames_per_block + frames + frames / 2
    }

    /// Returns the number of copies of the first leaf that idle work makes for each victim. On NOR
    /// the number is 0, because each change in the leaf's log makes a copy useless.
    fn idle_copies(&self) -> u32 {
        u32::from(self.ftl.layout.copies_leaf() && !self.ftl.layout.programs_bytes())
    }

    /// Returns the block with the fewest live frames, if emptying it gains at least an eighth of a
    /// block. The overlay has room for only `room` entries, so the moves may force leaf
    /// write-backs. The frames of these leaves are subtracted from the gain. If there are any, the
    /// frame for a new copy of the first leaf is subtracted too. So idle work comes to an end.
    fn idle_victim(&self, room: u32) -> Option<BlockIndex> {
        let fpb = self.ftl.layout.frames_per_block;
        let block = self.ftl.space.blocks().choose(State::Used, BlockChoice::Emptiest(0))?;
        let live = self.ftl.space.blocks().live(block);
        // A leaf write-back does not remove entries that the open transaction will add later.
        let room = room.saturating_sub(self.ftl.transaction.len());
        let full = (self.ftl.map.len() + live).saturating_sub(room);
        let leaves = full.div_ceil(self.ftl.layout.leaf_changes_above(room));
        let lost = leaves + leaves.min(self.idle_copies());
        (live > 0 && live + lost + fpb.div_ceil(8) <= fpb).then_some(block)
    }

    /// Returns a failing or weak block, whose data must move. Returns `None` if too much of the
    /// reserve is used up.
    fn failing_victim(&self) -> Option<BlockIndex> {
        let block = self
            .urgent_victim()
            .or_else(|| self.ftl.space.blocks().choose(State::Weak, BlockChoice::LeastWornInUse));
        block.filter(|_| !self.is_short(0))
    }
}

impl<F: Flash> Bounds<'_, '_, F> {
    /// Returns the worst-case cost of a step if nothing fails.
    pub fn idle_cost(&self, step: IdleStep) -> Cost {
        let base = Cost { instructions: processor::IDLE_STEP, ..Cost::default() };
        self.idle_operations(step).plus(&base)
    }

    /// Returns the operations of a step, without its base of instructions.
    fn idle_operations(&self, step: IdleStep) -> Cost {
        let fold = self.fold_cost();
        let erase = Cost { erases: 1, ..Cost::default() };
        let root = self.root_cost();
        match step {
            IdleStep::RingBlock | IdleStep::Erase | IdleStep::Clean => erase,
            IdleStep::Release => Cost::default(),
            IdleStep::CopyJournal => {
                let own =
                    Cost { programs: self.view.ftl.layout.journal_pages(), ..Cost::default() };
                self.block_cost(HeadIndex::JOURNAL).plus(&own)
            }
            IdleStep::Root => root,
            IdleStep::Mark => {
                let own = Cost {
                    programs: 1,
                    // The cost of the root contains one of these erases.
                    erases: self.view.ftl.ring.opening_erases().saturating_sub(1),
                    ..Cost::default()
                };
                self.block_cost(HeadIndex::JOURNAL).plus(&root).plus(&own)
            }
            IdleStep::Fold | IdleStep::CopyLeaf => fold.plus(&self.block_cost(HeadIndex::USER)),
            IdleStep::Move(_) => {
                let moves = self.view.ftl.layout.move_group();
                let full = self.view.ftl.map.len() + moves > self.view.ftl.map.capacity();
                let room = if full {
                    fold.plus(&self.block_cost(HeadIndex::USER))
                } else {
                    Cost::default()
                };
                let block = Space::moved_heads(&self.view.ftl.layout)
                    .find(|&head| self.view.ftl.space.rest(head) == 0)
                    .map_or(Cost::default(), |head| self.block_cost(head));
                let again =
                    Cost { tag_reads: self.view.ftl.layout.extra_moved_heads(), ..Cost::default() };
                self.move_cost().times(moves).plus(&block).plus(&room).plus(&again)
            }
        }
    }

    /// Returns the cost of erasing a block for a head. The cost is zero if the head has places
    /// left, or if an erased block is ready. A root may have to list the block first, so it is
    /// included.
    fn block_cost(&self, head: HeadIndex) -> Cost {
        let space = &self.view.ftl.space;
        if space.rest(head) > 0 || space.blocks().count(State::Erased) > 0 {
            return Cost::default();
        }
        self.root_cost().plus(&Cost { erases: 1, ..Cost::default() })
    }
}
