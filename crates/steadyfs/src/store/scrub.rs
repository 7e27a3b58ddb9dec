//! Scrubbing: reads all stored data, even if no caller reads it. So it finds pages with flipped
//! bits while the ECC can still correct the bits.

use super::Store;
use crate::cost::{Budget, Cost};
use crate::error::Error;
use crate::ftl::Ftl;
use crate::logical::Logical;
use crate::media::{Flash, PageIndex, TAG_BYTES};
use crate::pages::{TRIES, is_weak};
use crate::space::NONE;
use core::ops::Range;

/// The scrubber. [`Watch`](crate::pages::Watch) holds the position at which it continues.
struct Scrub<'s, 'm, F> {
    logical: &'s mut Logical<'m, F>,
}

impl<F: Flash> Store<'_, F> {
    /// Scrubs until the budget is used up or the round ends. Returns true if the round ended.
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

    /// Reads the next live frame, or the next record of the journal's chain, to find weak pages.
    /// Returns `false` if the round has read everything. Then the next round begins.
    ///
    /// # Cost
    /// - `pages_per_logical_page` reads; or
    /// - the reads of a root, its copies and the journal page; or
    /// - the reads of a record.
    fn step(&mut self) -> Result<bool, Error> {
        if let Some(at) = self.logical.ftl.pages.watch_mut().take_chain() {
            return self.look_at_record(at);
        }
        let ftl = &mut self.logical.ftl;
        let total = ftl.layout.frame_count();
        // All frames were read. The root and the journal page are read at the end of the round.
        let Some(at) = ftl.pages.watch().round() else {
            ftl.pages.watch_mut().begin_next_round(total);
            return self.look_at_own_pages();
        };
        let found = ftl.space.blocks().live_from(at);
        ftl.pages.watch_mut().go_round(found.map_or(total, |frame| frame + 1), total);
        let Some(frame) = found else { return Ok(true) };
        let mut tag = [0; TAG_BYTES];
        for index in 0..u32::from(ftl.layout.config.pages_per_logical_page) {
            ftl.pages.read_page(ftl.layout.frame_page(frame) + index, &mut tag)?;
        }
        ftl.note_weak();
        Ok(true)
    }

    /// Returns the largest number of reads of one step.
    fn step_reads(&self) -> u32 {
        let layout = &self.logical.ftl.layout;
        let own = layout.root_programs + layout.journal_pages();
        // A record of a chain is read in two parts.
        u32::from(layout.config.pages_per_logical_page).max(own).max(if layout.programs_bytes() {
            2 * TRIES
        } else {
            0
        })
    }

    /// Reads the root and the journal page. If journal records form a chain, the next steps read
    /// the chain's records instead of a page. If a page is weak, the next root, the next commit or
    /// idle work writes the page's content again. Returns true if the round has steps left for the
    /// chain.
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

    /// Reads a record of the journal's chain, if this chain is still the newest. Returns true if
    /// the next step must read the next record.
    fn look_at_record(&mut self, at: u32) -> Result<bool, Error> {
        let space = &self.logical.ftl.space;
        let newest = space.journal_at();
        let (start, block) = (space.journal_start(newest), space.journal_block(newest));
        if newest == NONE
            || !(start..=newest).contains(&at)
            || !self.logical.records().is_chain(block)
        {
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

    /// Lets the next call that changes anything program the journal buffer first, as after a mount.
    fn renew_journal(&mut self) {
        let is_open = self.logical.is_open();
        let space = &mut self.logical.ftl.space;
        space.set_unmarked(space.is_unmarked() || !is_open);
    }

    /// Reads pages. Returns true if one of them is weak, or cannot be read any more.
    fn has_weak(&mut self, pages: Range<PageIndex>) -> Result<bool, Error> {
        let (mut tag, mut weak) = ([0; TAG_BYTES], false);
        let device = &mut self.logical.ftl.pages;
        for page in pages {
            weak |= !device.read_page(page, &mut tag)? || is_weak(&device.flash_mut().corrected());
        }
        Ok(weak)
    }
}
