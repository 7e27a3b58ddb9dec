//! Scrubbing: looking at everything that rests, so that pages whose bits have begun to flip are noticed while the ECC still corrects them.

use super::Store;
use crate::cost::{Budget, Cost};
use crate::error::Error;
use crate::ftl::Ftl;
use crate::logical::Logical;
use crate::media::{Flash, PageIndex, TAG_BYTES};
use crate::pages::{TRIES, is_weak};
use crate::space::NONE;
use core::ops::Range;

/// What scrubbing looks at: it goes on where [`Watch`](crate::pages::Watch) says.
struct Scrub<'s, 'm, F> {
    logical: &'s mut Logical<'m, F>,
}

impl<F: Flash> Store<'_, F> {
    /// Scrubs as far as the budget goes; whether a round ended.
    pub fn scrub_within(&mut self, budget: Budget) -> Result<bool, Error> {
        Scrub { logical: &mut self.logical }.within(budget)
    }
}

impl<F: Flash> Scrub<'_, '_, F> {
    fn within(&mut self, budget: Budget) -> Result<bool, Error> {
        let step = Cost { reads: self.step_reads(), ..Cost::default() };
        let mut left = budget;
        while let Some(rest) = left.after(&step, self.logical.ftl.pages.flash()) {
            left = rest;
            if !self.step()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the next live frame, or the next record of the journal's chain, so that its weakness shows; `false` when all were read since the round began, and the next one begins.
    ///
    /// # Cost
    /// `unit_pages` reads; those of a root, its copies and the journal page; or those of a record.
    fn step(&mut self) -> Result<bool, Error> {
        if let Some(at) = self.logical.ftl.pages.watch_mut().take_chain() {
            return self.look_at_record(at);
        }
        let ftl = &mut self.logical.ftl;
        let total = ftl.layout.frame_count();
        let Some(at) = ftl.pages.watch().round() else {
            ftl.pages.watch_mut().begin_next_round(total);
            return self.look_at_own_pages();
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
    fn step_reads(&self) -> u32 {
        let layout = &self.logical.ftl.layout;
        let own = layout.root_programs + layout.journal_pages();
        // A record of a chain is read in two parts.
        u32::from(layout.config.unit_pages).max(own).max(if layout.programs_bytes() { 2 * TRIES } else { 0 })
    }

    /// Looks at the root and the journal page, or lets the next steps look at the records of its chain. What is weak is written anew by the next root, the next commit,
    /// and as idle work. Whether such steps are left of the round.
    fn look_at_own_pages(&mut self) -> Result<bool, Error> {
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
            return Ok(false);
        }
        let block = self.logical.ftl.space.journal_block(newest);
        if self.logical.records().is_chain(block) {
            let first = self.logical.ftl.space.journal_start(newest);
            self.logical.ftl.pages.watch_mut().look_at_chain(first);
            return Ok(true);
        }
        let layout = &self.logical.ftl.layout;
        let first = layout.journal_page(newest);
        let pages = first..first + layout.journal_pages();
        if self.has_weak(pages)? {
            self.renew_journal();
        }
        Ok(false)
    }

    /// Looks at a record of the journal's chain, if that is still the one, and lets the next step look at the next; whether there is one.
    fn look_at_record(&mut self, at: u32) -> Result<bool, Error> {
        let space = &self.logical.ftl.space;
        let newest = space.journal_at();
        let (start, block) = (space.journal_start(newest), space.journal_block(newest));
        if newest == NONE || !(start..=newest).contains(&at) || !self.logical.records().is_chain(block) {
            return Ok(false);
        }
        let next = self.logical.records().look_at(at)?;
        if next.is_none() {
            self.renew_journal();
        }
        let next = next.filter(|&next| next <= newest);
        if let Some(next) = next {
            self.logical.ftl.pages.watch_mut().look_at_chain(next);
        }
        Ok(next.is_some())
    }

    /// Lets the journal's buffer be written with the next call that changes something, as after a mount.
    fn renew_journal(&mut self) {
        let is_open = self.logical.is_open();
        let space = &mut self.logical.ftl.space;
        space.set_unmarked(space.is_unmarked() || !is_open);
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
