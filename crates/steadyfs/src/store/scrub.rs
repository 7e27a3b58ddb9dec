//! Scrubbing: looking at everything that rests, so that pages whose bits have begun to flip are noticed while the ECC still corrects them.

use super::Store;
use crate::cost::{Budget, Cost};
use crate::error::Error;
use crate::media::{Flash, TAG_BYTES};
use crate::pages::is_weak;
use crate::space::NONE;

impl<F: Flash> Store<'_, F> {
    /// Scrubs as far as the budget goes; whether a round ended.
    pub fn scrub_within(&mut self, budget: Budget) -> Result<bool, Error> {
        let step = Cost { reads: self.scrub_reads(), ..Cost::default() };
        let mut left = budget;
        while let Some(rest) = left.after(&step, self.pages.flash()) {
            left = rest;
            if !self.scrub_step()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the next live frame, so that its weakness shows; `false` when all were read since the round began, and the next one begins.
    ///
    /// # Cost
    /// `unit_pages` reads.
    fn scrub_step(&mut self) -> Result<bool, Error> {
        let total = self.layout.frame_count();
        let Some(at) = self.pages.watch().round() else {
            self.pages.watch_mut().begin_next_round(total);
            return self.scrub_own_pages().map(|()| false);
        };
        let found = self.space.blocks().live_from(at);
        self.pages.watch_mut().go_round(found.map_or(total, |frame| frame + 1), total);
        let Some(frame) = found else { return Ok(true) };
        let mut tag = [0; TAG_BYTES];
        for index in 0..u32::from(self.layout.config.unit_pages) {
            self.pages.read_page(self.layout.frame_page(frame) + index, &mut tag)?;
        }
        self.note_weak();
        Ok(true)
    }

    /// Most reads of a step of scrubbing.
    fn scrub_reads(&self) -> u32 {
        u32::from(self.layout.config.unit_pages).max(self.layout.root_programs + 3)
    }

    /// Looks at the root, the journal page and the superblocks. One that is weak is written anew by the next root, the next commit,
    /// and as idle work.
    fn scrub_own_pages(&mut self) -> Result<(), Error> {
        let mut tag = [0; TAG_BYTES];
        let pages = self.layout.geometry.pages_per_block;
        let size = self.layout.root_programs;
        let (block, next) = self.ring.newest();
        let newest = block * pages + next.saturating_sub(size);
        let mut weak = false;
        for page in newest..newest + size {
            weak |= !self.pages.read_page(page, &mut tag)? || is_weak(&self.pages.flash_mut().corrected());
        }
        if weak {
            self.space.want_root(self.layout.config.checkpoint_programs.into());
        }
        let newest = self.space.journal_at();
        if newest == NONE {
            return Ok(());
        }
        let block = self.space.journal_block(newest);
        let is_weak = if self.records().is_chain(block) {
            self.records().is_damaged(newest)?
        } else {
            let first = self.layout.journal_page(newest);
            let mut weak = false;
            for page in first..first + self.layout.journal_pages() {
                weak |= !self.pages.read_page(page, &mut tag)? || is_weak(&self.pages.flash_mut().corrected());
            }
            weak
        };
        if is_weak {
            // It is written with the next call that changes something, as after a mount.
            let is_unmarked = self.space.is_unmarked() || !self.is_open();
            self.space.set_unmarked(is_unmarked);
        }
        Ok(())
    }
}
