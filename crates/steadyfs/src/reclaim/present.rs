//! The largest plan of the next call, computed from the present state of the volume. It is never
//! larger than the plan of the [quota](super::WorkQuota).

use super::plan::moves_due;
use super::victims::{NO_BLOCK, VictimRow};
use super::{Plan, ReclaimView, WorkQuota};
use crate::media::Flash;
use crate::space::{HeadIndex, Space, State};

/// The changes of a call before its reclamation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changes {
    /// Number of frames that the call writes.
    pub frames: u32,
    /// Number of entries that the call adds to the overlay.
    pub entries: u32,
    /// Number of leaves that the call writes back.
    pub folds: u32,
    /// Number of journal pages that the call programs.
    pub journal_pages: u32,
}

impl<F: Flash> ReclaimView<'_, '_, F> {
    /// Limits a plan of the quota to the work that the present state permits. The limits hold only
    /// if no program of the call fails and the reserve does not run short.
    pub(super) fn limit_plan(&self, plan: &mut Plan, most: u32, changes: &Changes) {
        plan.moves = plan.moves.min(most).min(self.places_of_moves(plan.erases));
        plan.folds = plan.folds.min(self.folds_most(changes.entries, plan.moves));
    }

    /// Returns a limit of the moves at the end of a call.
    pub(super) fn moves_most(&self, quota: &WorkQuota, changes: &Changes) -> u32 {
        let most = quota.moving(changes.frames).moves;
        let reclaim = self.reclaim;
        // Groups of moves wait for a suitable time. A failing block is emptied at any cost.
        if self.ftl.layout.moves_join() || self.urgent_victim().is_some() || reclaim.is_behind() {
            return most;
        }
        let (lives, has_victim) = (self.lives(), self.victim_live() > 0);
        let mut row = self.row_after(changes);
        let mut worst = self.moves_of_rested(quota, changes.frames, &row);
        // All live frames of a victim may die during the call. Then the call begins with the next
        // victim.
        for (first, &live) in lives.iter().enumerate().take_while(|(_, live)| **live < NO_BLOCK) {
            let is_begun = first == 0 && has_victim;
            if !is_begun {
                row.choose();
            }
            let saved = if is_begun && reclaim.levelling { self.savings() } else { 0 };
            let x = row.pace.with(saved as i32).beside(live);
            let erase = if is_begun && reclaim.has_erased { 0 } else { quota.per_erase };
            let moves = if x >= changes.frames as i32 {
                moves_due(live + erase, changes.frames, x as u32).min(live)
            } else {
                self.moves_in_a_row(row, &lives[first..], changes.frames, most)
            };
            worst = worst.max(moves);
            row.empty(self.ftl.layout.frames_per_block, 0);
        }
        worst.min(most)
    }

    /// Returns the number of frames that can take moved frames, if plans erase `erases` blocks. A
    /// plan makes a move only if such a frame is ready.
    pub(super) fn places_of_moves(&self, erases: u32) -> u32 {
        let (layout, space) = (&self.ftl.layout, &self.ftl.space);
        // The plan of a call that is behind is made at the beginning of the next call as well.
        // Groups of moves wait for later calls.
        if layout.moves_join() || self.reclaim.is_behind() {
            return u32::MAX;
        }
        let rest = Space::moved_heads(layout).map(|head| space.rest(head)).sum::<u32>();
        rest + (space.blocks().count(State::Erased) + erases) * layout.frames_per_block
    }

    /// Returns the row of victims after the changes of a call.
    fn row_after(&self, changes: &Changes) -> VictimRow<'_> {
        let (ftl, mut row) = (self.ftl, self.row());
        let (fpb, saved) = (ftl.layout.frames_per_block, ftl.reserve.frames());
        // A head may give up its block for wear levelling, or because of a weak page.
        let given_up = if self.levels_or_scrubs() { fpb.saturating_sub(saved) } else { 0 };
        // A record that does not fit at the end of the journal's block leaves this end unused.
        let record = ftl.layout.journal_record_places();
        let places = changes.journal_pages * record + (record - 1);
        let journal = (places * fpb).div_ceil(ftl.space.capacity(HeadIndex::JOURNAL)) + 1;
        row.pace.take(changes.frames + changes.folds + journal + given_up, changes.entries);
        row
    }

    /// Returns the number of blocks that the journal's head takes during a call.
    pub(super) fn journal_blocks(&self, changes: &Changes) -> u32 {
        let (layout, space) = (&self.ftl.layout, &self.ftl.space);
        let places = changes.journal_pages * layout.journal_record_places();
        places
            .saturating_sub(space.rest(HeadIndex::JOURNAL))
            .div_ceil(space.capacity(HeadIndex::JOURNAL))
    }

    /// Returns the largest number of moves of a call that chooses a block of data at rest as its
    /// victim. The call chooses such a block only if its moves stay below the quota.
    fn moves_of_rested(&self, quota: &WorkQuota, frames: u32, row: &VictimRow<'_>) -> u32 {
        let fpb = self.ftl.layout.frames_per_block;
        if !self.levels_or_scrubs() || frames == 0 {
            return 0;
        }
        let work = (fpb + quota.per_erase) * frames;
        let least = frames + work.div_ceil(quota.moves(frames));
        let x = row.pace.with(self.savings() as i32).beside(fpb).max(least as i32);
        work.div_ceil(x as u32).min(fpb)
    }

    /// Returns a limit of the leaf write-backs at the end of a call. The call adds `entries`
    /// entries to the overlay, and each of its `moves` moves adds one more. A write-back removes
    /// the entries of the leaf with most entries.
    fn folds_most(&self, entries: u32, moves: u32) -> u32 {
        let layout = &self.ftl.layout;
        let mut folds = 0;
        let mut left = self.entries() + entries;
        // Before the moves, leaves are written back only until the moves have room. Afterwards they
        // are written back until few entries are left.
        for (more, limit) in [(moves, self.entries_most()), (0, layout.overlay_soft)] {
            while left + more > limit {
                // The entries of an open transaction stay.
                let in_map = left.saturating_sub(self.ftl.transaction.len());
                if in_map == 0 {
                    return u32::MAX;
                }
                left -= in_map.div_ceil(layout.leaf_count);
                folds += 1;
            }
            left += more;
        }
        folds
    }
}
