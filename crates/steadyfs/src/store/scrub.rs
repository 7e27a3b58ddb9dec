//! Scrubbing: looking at everything that rests, so that pages whose bits have begun to flip are noticed while the ECC still corrects them.

use super::Store;
use crate::cost::{Budget, Cost};
use crate::error::Error;
use crate::ftl::Ftl;
use crate::media::{Flash, PageIndex, TAG_BYTES};
use crate::pages::is_weak;
use crate::space::NONE;
use core::ops::Range;

impl<F: Flash> Store<'_, F> {
    /// Scrubs as far as the budget goes; whether a round ended.
    pub fn scrub_within(&mut self, budget: Budget) -> Result<bool, Error> {
        let step = Cost { reads: self.scrub_reads(), ..Cost::default() };
        let mut left = budget;
        while let Some(rest) = left.after(&step, self.logical.ftl.pages.flash()) {
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
        let ftl = &mut self.logical.ftl;
        let total = ftl.layout.frame_count();
        let Some(at) = ftl.pages.watch().round() else {
            ftl.pages.watch_mut().begin_next_round(total);
            return self.scrub_own_pages().map(|()| false);
        };
        let found = ftl.space.blocks().live_from(at);
        ftl.pages.watch_mut().go_round(found.map_or(total, |frame| frame + 1), total);
        let Some(frame) = found else { return Ok(true) };
        let mut tag = [0; TAG_BYTES];
        for index in 0..u32::from(ftl.layout.config.unit_pages) {
            ftl.pages.read_page(ftl.layout.frame_page(frame) + index, &mut tag)?;
        }
        ftl.note_weak();
        Ok(true)
    }

    /// Most reads of a step of scrubbing.
    fn scrub_reads(&self) -> u32 {
        u32::from(self.logical.ftl.layout.config.unit_pages).max(self.logical.ftl.layout.root_programs + 3)
    }

    /// Looks at the root, the journal page and the superblocks. One that is weak is written anew by the next root, the next commit,
    /// and as idle work.
    fn scrub_own_pages(&mut self) -> Result<(), Error> {
        let Ftl { layout, ring, .. } = &self.logical.ftl;
        let (block, next) = ring.newest();
        let size = layout.root_programs;
        let newest = block * layout.geometry.pages_per_block + next.saturating_sub(size);
        if self.has_weak(newest..newest + size)? {
            let Ftl { layout, space, .. } = &mut self.logical.ftl;
            space.want_root(layout.config.checkpoint_programs.into());
        }
        let newest = self.logical.ftl.space.journal_at();
        if newest == NONE {
            return Ok(());
        }
        let block = self.logical.ftl.space.journal_block(newest);
        let is_weak = if self.logical.records().is_chain(block) {
            self.logical.records().is_damaged(newest)?
        } else {
            let layout = &self.logical.ftl.layout;
            let first = layout.journal_page(newest);
            self.has_weak(first..first + layout.journal_pages())?
        };
        if is_weak {
            // It is written with the next call that changes something, as after a mount.
            let is_open = self.logical.is_open();
            let space = &mut self.logical.ftl.space;
            space.set_unmarked(space.is_unmarked() || !is_open);
        }
        Ok(())
    }

    /// Reads pages, and tells whether one of them is weak, or can be read no more.
    fn has_weak(&mut self, pages: Range<PageIndex>) -> Result<bool, Error> {
        let (mut tag, mut weak) = ([0; TAG_BYTES], false);
        let device = &mut self.logical.ftl.pages;
        for page in pages {
            weak |= !device.read_page(page, &mut tag)? || is_weak(&device.flash_mut().corrected());
        }
        Ok(weak)
    }
}
