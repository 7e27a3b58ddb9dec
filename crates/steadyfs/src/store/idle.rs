//! Idle work: executes the steps that [`reclaim`](crate::reclaim) has chosen for idle time.

use super::Store;
use crate::cost::Budget;
use crate::error::Error;
use crate::media::Flash;
use crate::reclaim::IdleStep;
use crate::space::{BlockChoice, NONE, State};

impl<F: Flash> Store<'_, F> {
    /// Prepares for a burst of `frames` frames, until the budget is used up. Returns true if no
    /// work is left.
    #[inline(never)]
    pub fn idle_within(&mut self, budget: Budget, frames: u32) -> Result<bool, Error> {
        let mut left = budget;
        while let Some(step) = self.idle_step(frames) {
            // The cost of a step is computed before the step, so no step exceeds the budget.
            let Some(rest) =
                left.after(&self.bounds().idle_cost(step), self.logical.ftl.pages.flash())
            else {
                return Ok(false);
            };
            left = rest;
            self.idle(step)?;
        }
        Ok(true)
    }

    /// Returns the next step of preparation for a burst of `frames` frames. Returns `None` if
    /// everything is ready, or if no step can improve the state.
    fn idle_step(&self, frames: u32) -> Option<IdleStep> {
        if self.logical.ftl.status.is_read_only() {
            return None;
        }
        self.view().idle_step(frames).or(self.lacks_journal_copy().then_some(IdleStep::CopyJournal))
    }

    /// Returns true if the newest journal page is on the medium only once, and a second program
    /// would make a copy. Returns false if records form a chain, because each copy would then take
    /// a block.
    fn lacks_journal_copy(&self) -> bool {
        let space = &self.logical.ftl.space;
        !self.logical.ftl.layout.programs_bytes()
            && space.journal_at() != NONE
            && space.journal_copy() == NONE
            && !self.logical.is_open()
    }

    /// Executes a step.
    fn idle(&mut self, step: IdleStep) -> Result<(), Error> {
        self.logical.ftl.begin_call();
        match step {
            IdleStep::Mark => self.begin(),
            IdleStep::RingBlock => self.logical.ftl.in_ring(|roots, _, _| roots.prepare_block()),
            IdleStep::Release => {
                if let Some(head) = self.logical.ftl.space.weak_head() {
                    self.logical.ftl.release_head(head);
                }
                Ok(())
            }
            IdleStep::Erase => self.logical.ftl.erase_listed(),
            IdleStep::Clean => {
                match self.logical.ftl.space.blocks().choose(State::Free, BlockChoice::LeastWorn) {
                    Some(block) if self.logical.ftl.erase(block)? => {
                        self.logical.ftl.space.blocks_mut().set_state(block, State::Clean);
                        Ok(())
                    }
                    _ => Ok(()),
                }
            }
            IdleStep::Fold => self.logical.fold(),
            IdleStep::Root => self.logical.ftl.write_root(),
            IdleStep::CopyLeaf => self.logical.copy_leaf(),
            IdleStep::CopyJournal => self.logical.copy_journal(),
            IdleStep::Move(victim) => {
                if victim.is_some() {
                    self.choose(victim);
                }
                self.move_some(self.logical.ftl.layout.move_group()).map(drop)
            }
        }
    }
}
