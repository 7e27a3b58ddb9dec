//! Idle work: the work that the [pace](crate::pace) finds to do ahead of time, one step at a
//! time.

use super::Store;
use crate::cost::Budget;
use crate::error::Error;
use crate::media::Flash;
use crate::pace::Step;
use crate::space::{Choice, NONE, State};

impl<F: Flash> Store<'_, F> {
    /// Prepares for a burst of `frames` frames, as far as the budget goes. Returns true if no
    /// work is left.
    #[inline(never)]
    pub fn idle_within(&mut self, budget: Budget, frames: u32) -> Result<bool, Error> {
        let mut left = budget;
        while let Some(step) = self.idle_step(frames) {
            let Some(rest) = left.after(&self.bounds().idle_cost(step), self.logical.ftl.pages.flash()) else { return Ok(false) };
            left = rest;
            self.idle(step)?;
        }
        Ok(true)
    }

    /// Returns the next step of preparation for a burst of `frames` frames; `None` if everything
    /// is ready, or cannot be made so.
    fn idle_step(&self, frames: u32) -> Option<Step> {
        if self.logical.ftl.status.is_read_only() {
            return None;
        }
        self.outlook().idle_step(frames).or(self.lacks_journal_copy().then_some(Step::CopyJournal))
    }

    /// Returns true if the newest journal page is on the medium only once, and one more page
    /// would copy it. If records are a chain, each copy would take a block.
    fn lacks_journal_copy(&self) -> bool {
        let space = &self.logical.ftl.space;
        !self.logical.ftl.layout.programs_bytes()
            && space.journal_at() != NONE
            && space.journal_copy() == NONE
            && !self.logical.is_open()
    }

    /// Executes a step.
    fn idle(&mut self, step: Step) -> Result<(), Error> {
        self.logical.ftl.begin_call();
        match step {
            Step::Mark => self.begin(),
            Step::RingBlock => self.logical.ftl.in_ring(|roots, _, _| roots.prepare_block()),
            Step::Release => {
                if let Some(head) = self.logical.ftl.space.weak_head() {
                    self.logical.ftl.release_head(head);
                }
                Ok(())
            }
            Step::Erase => self.logical.ftl.erase_listed(),
            Step::Clean => match self.logical.ftl.space.blocks().choose(State::Free, Choice::LeastWorn) {
                Some(block) if self.logical.ftl.erase(block)? => {
                    self.logical.ftl.space.blocks_mut().set_state(block, State::Clean);
                    Ok(())
                }
                _ => Ok(()),
            },
            Step::Fold => self.logical.fold(),
            Step::Root => self.logical.ftl.write_root(),
            Step::CopyLeaf => self.logical.copy_leaf(),
            Step::CopyJournal => self.logical.copy_journal(),
            Step::Move(victim) => {
                if victim.is_some() {
                    self.choose(victim);
                }
                self.move_some(self.logical.ftl.layout.move_group()).map(drop)
            }
        }
    }
}
