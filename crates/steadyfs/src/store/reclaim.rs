//! Reclamation: each call that changed the volume ends with the work that
//! [`reclaim`](crate::reclaim) has planned.

use super::Store;
use crate::error::Error;
use crate::ftl::Ftl;
use crate::media::{BlockIndex, Flash};
use crate::reclaim::{Bounds, Done, Erasure, Levelling, Plan, ReclaimView, Urgency, VictimChoice};
use crate::space::{HeadIndex, NONE};

/// The work that was chosen for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chosen {
    /// No work is chosen yet.
    None,
    /// Frames of a victim must move.
    Victim,
    /// The journal page was moved. The call does no other work of reclamation.
    JournalMoved,
}

impl<'m, F: Flash> Store<'m, F> {
    /// Starts a call that may change the volume.
    ///
    /// The first such call after a mount writes a journal page. After a power cut, this page shows
    /// that the other heads may have been in use. If the page is absent, the other heads were not
    /// in use. So if nothing was written before a restart, the restart costs no frames.
    pub fn begin(&mut self) -> Result<(), Error> {
        if self.logical.ftl.status.is_read_only() {
            return Err(Error::ReadOnly);
        }
        let ftl = &mut self.logical.ftl;
        ftl.begin_call();
        // The call may change the page that the page buffer shows.
        ftl.pages.invalidate_resident();
        ftl.note_weak();
        // The copy of the first leaf, made at the last clean end, may take a frame that calls need.
        if self.view().needs_copy_frame() {
            let ftl = &mut self.logical.ftl;
            ftl.map.drop_copy(&mut ftl.space);
        }
        // Work that an earlier call left undone is done first, while there is still room for it.
        self.catch_up()?;
        if self.logical.ftl.is_worn_out() && !self.logical.is_open() {
            return self.logical.ftl.give_up();
        }
        let ftl = &mut self.logical.ftl;
        ftl.patrol()?;
        // The ring must show that the volume is in use before a head programs anything.
        if ftl.ring.is_closed() {
            ftl.open_ring()?;
            ftl.call.opened = true;
        }
        // An undo of this call must not undo changes of earlier calls.
        self.logical.accept();
        // Stale pages have frames on the medium that do not count. Without this step, a mount would
        // apply them.
        self.logical.rewrite_stale()?;
        self.logical.mark_use()
    }

    /// Ends a call that may have changed the volume, and does its share of reclamation.
    ///
    /// The call took effect, so an error of reclamation is not an error of the call. Later calls do
    /// the missing work. When the reserve runs short, a later call [begins](Self::begin) with this
    /// work, and returns an error if the work fails again.
    ///
    /// # Cost
    /// See [`bounds`](crate::reclaim).
    pub fn end(&mut self) {
        self.logical.accept();
        self.logical.ftl.note_weak();
        let result = self.reclaim();
        self.reclaim.set_behind(result.is_err());
    }

    /// If the reserve runs short, does the work that an earlier call left undone.
    pub(super) fn catch_up(&mut self) -> Result<(), Error> {
        if self.reclaim.is_behind() && self.view().is_short(0) {
            // Moves are due only in calls that write, so this call counts as one that writes a
            // frame.
            self.logical.ftl.call.frames = 1;
            self.reclaim()?;
            self.reclaim.set_behind(false);
            self.logical.ftl.begin_call();
        }
        Ok(())
    }

    /// Returns the view of the rooms that computes the due work and the limits of a call. Not
    /// inlined, because calls take less code.
    #[inline(never)]
    pub(super) fn view(&self) -> ReclaimView<'_, 'm, F> {
        ReclaimView { reclaim: &self.reclaim, ftl: &self.logical.ftl }
    }

    /// Returns the view that computes the worst case of a call.
    pub fn bounds(&self) -> Bounds<'_, 'm, F> {
        Bounds {
            view: self.view(),
            journal: &self.logical.journal,
            counts: self.logical.journal.counts(),
            cache: &self.logical.cache,
        }
    }

    fn reclaim(&mut self) -> Result<(), Error> {
        let written = core::mem::take(&mut self.logical.ftl.call.frames);
        self.reclaim.count_call();
        let view = self.view();
        if self.logical.ftl.call.opened
            && view.entries() + self.logical.ftl.call.changes <= view.entries_hard()
        {
            // The first change after a clean end has already erased a ring block. The due work is
            // left to the next calls.
            self.reclaim.count_written(written);
            return Ok(());
        }
        // The move of the journal page is this call's share of reclamation.
        if self.choose_victim(written)? == Chosen::JournalMoved {
            return Ok(());
        }
        self.reclaim.count_written(written);
        let (view, ftl) = (self.view(), &self.logical.ftl);
        // Blocks may have gone bad during this call. This call keeps the limits that held before,
        // and leaves more work to the next calls.
        let quota = view.quota_of(0, ftl.blocks_lost());
        let done = Done {
            written,
            changes: ftl.call.changes,
            has_erased: ftl.pages.erases() != ftl.call.erases_before,
            flushed: ftl.call.flushed,
        };
        let (plan, erasure) = view.plan(&done, &quota);
        self.carry_out_plan(&plan, erasure, written)
    }

    /// Carries out the plan.
    fn carry_out_plan(&mut self, plan: &Plan, erasure: Erasure, written: u32) -> Result<(), Error> {
        // The erase comes first, because moves may need the erased block.
        if plan.erases > 0 {
            self.erase_planned(erasure)?;
        }
        // If the overlay has no room for the moves, leaves are written back before the moves.
        let (mut folds, most) = (0, self.view().entries_most());
        while folds < plan.folds && self.view().entries() + plan.moves > most {
            self.logical.fold()?;
            folds += 1;
        }
        // The root comes after the moves, so that it frees the victim if the moves empty it.
        self.move_frames(plan.moves, written)?;
        if plan.root {
            self.logical.ftl.write_root()?;
        }
        // A leaf write-back often frees more entries than the plan assumes, so fewer write-backs
        // may suffice.
        let limit = self.view().entries_limit(self.logical.ftl.call.flushed);
        self.logical.ftl.call.changes = 0;
        for _ in folds..plan.folds {
            if self.view().entries() > limit {
                self.logical.fold()?;
            }
        }
        Ok(())
    }

    /// Moves frames of the victim. If this victim becomes empty, moves frames of the next victim.
    fn move_frames(&mut self, moves: u32, written: u32) -> Result<(), Error> {
        let view = self.view();
        // A group of moves costs least after a flush, which has already ended the stream of writes.
        let time = match view.awaits_flush(self.logical.ftl.call.flushed) {
            _ if view.is_short(0) => Urgency::Last,
            _ if view.victim_is_urgent() => Urgency::Now,
            true => Urgency::Streaming,
            false => Urgency::Flushed,
        };
        let live = view.victim_live();
        let mut left = self.reclaim.defer(moves, live, self.logical.ftl.layout.move_group(), time);
        while left > 0 {
            if self.view().victim_live() == 0 {
                self.choose(None);
                self.choose_emptiest();
                let view = self.view();
                let live = view.victim_live();
                // The next victim is not urgent, so its moves wait for later calls.
                if live == 0 || view.affordable(live) > written {
                    break;
                }
            }
            left -= self.move_some(left)?;
        }
        Ok(())
    }

    /// Moves up to `most` live frames of the victim. Returns the number of frames. If frames move
    /// one by one, the number is 1.
    pub(super) fn move_some(&mut self, most: u32) -> Result<u32, Error> {
        if self.logical.ftl.layout.moves_join() {
            return self
                .logical
                .move_group(self.reclaim.victim(), most.min(self.logical.ftl.layout.move_group()));
        }
        if let Some(frame) = self.logical.ftl.space.blocks().first_live(self.reclaim.victim()) {
            self.logical.move_frame(frame)?;
        }
        Ok(1)
    }

    fn choose_victim(&mut self, written: u32) -> Result<Chosen, Error> {
        if self.view().victim_live() > 0 {
            return Ok(Chosen::Victim);
        }
        self.choose(None);
        // Failing blocks and ring blocks with live frames are emptied before a victim is chosen for
        // its space.
        if let Some(block) = self.view().urgent_victim() {
            self.reclaim.take(block);
            return Ok(Chosen::Victim);
        }
        let chosen = self.level_wear(written)?;
        if chosen == Chosen::None {
            self.choose_emptiest();
        }
        Ok(chosen)
    }

    /// Ends the work on an empty victim, and makes another block the victim.
    pub(super) fn choose(&mut self, victim: Option<BlockIndex>) {
        self.logical.ftl.space.spoil(NONE);
        let lent = self.reclaim.choose(victim.unwrap_or(NONE));
        self.logical.ftl.reserve.withdraw(lent);
    }

    /// Makes the block with the fewest live frames the victim, unless the choice can wait.
    fn choose_emptiest(&mut self) {
        let view = self.view();
        let saves = view.levels_or_scrubs();
        match view.emptiest() {
            VictimChoice::Found(found) => {
                let saved = self.reclaim.begin(&found, saves);
                self.logical.ftl.reserve.deposit(saved, &self.logical.ftl.layout);
            }
            VictimChoice::Waits { candidate } => self.reclaim.note_candidate(candidate),
        }
    }

    /// Does the call's work for wear levelling and for weak pages. This may make the least worn
    /// block the victim, if its wear lags so far behind the mean that its data must move.
    fn level_wear(&mut self, written: u32) -> Result<Chosen, Error> {
        let levelling = self.view().levelling(written, self.logical.is_open());
        if levelling == Levelling::Rests {
            return Ok(Chosen::None);
        }
        let Ftl { reserve, layout, pages, .. } = &mut self.logical.ftl;
        if let Levelling::Saves { frames } = levelling {
            reserve.deposit(frames, layout);
            // All frames are saved, and only room is missing. Any call may make room, so the next
            // call checks wear again.
            if reserve.is_full(layout) {
                return Ok(Chosen::None);
            }
        }
        // Only an erase changes wear, so the next check comes after an erase.
        self.reclaim.see_wear(pages.erases());
        match levelling {
            Levelling::Release(head) => self.logical.ftl.release_head(head),
            Levelling::GiveUp(head) => self.logical.ftl.give_up_block(head),
            Levelling::MoveJournal => {
                // The block can be erased only when the newest journal page is in another block.
                self.logical.ftl.space.close(HeadIndex::JOURNAL);
                self.logical.ftl.open_head(HeadIndex::JOURNAL, true)?;
                self.logical.program_journal()?;
                self.logical.ftl.keep_order()?;
                return Ok(Chosen::JournalMoved);
            }
            Levelling::Empty(block) => {
                self.reclaim.take_rested(block);
                return Ok(Chosen::Victim);
            }
            Levelling::Rests | Levelling::Saves { .. } | Levelling::Nothing => {}
        }
        Ok(Chosen::None)
    }

    fn erase_planned(&mut self, erasure: Erasure) -> Result<(), Error> {
        match erasure {
            Erasure::Ring => self.logical.ftl.in_ring(|roots, _, _| roots.prepare_block())?,
            Erasure::Listed => self.logical.ftl.erase_listed()?,
        }
        self.reclaim.note_erase();
        Ok(())
    }
}
