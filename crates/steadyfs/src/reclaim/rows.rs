//! The worst case of calls in a row.

use super::bounds::{Bounds, Buffer, merge_reads};
use super::present::Changes;
use super::{Work, WorkQuota};
use crate::cost::{Cost, Envelope};
use crate::media::{Flash, Timing};
use crate::space::{HeadIndex, State};

impl<F: Flash> Bounds<'_, '_, F> {
    /// Returns two envelopes for a series of calls that each do the same work. Both envelopes hold.
    ///
    /// The first envelope assumes that every call makes as many moves as it may, and spreads the
    /// cost of erases over the calls. The second envelope spreads the whole cost of a victim over
    /// the writes for which the victim frees space. Its burst includes the cost of two victims.
    pub fn envelopes(&self, work: &Work, timing: &Timing) -> [Envelope; 2] {
        self.envelopes_with(0, u32::MAX, work, timing)
    }

    /// Returns the envelopes of `calls` calls. Before the first call, `erased` blocks are erased.
    fn envelopes_with(
        &self,
        erased: u32,
        calls: u32,
        work: &Work,
        timing: &Timing,
    ) -> [Envelope; 2] {
        let restocks = self.view.ftl.layout.stock().saturating_sub(erased);
        let bound = self.bound(work, Buffer::Any, 0);
        let flushes = work.flushes_of_any();
        let commits = if self.view.ftl.layout.commits_join() { work.commits } else { 0 };
        let frames = work.frames + flushes + self.written_back(work, Buffer::Any) + commits;
        let quota = self.view.quota(frames + self.view.superseded(frames.saturating_mul(calls)));
        // If a page is written as a whole while the journal buffer has patches of it, a journal
        // page must commit the write. These calls patch no further pages, so this happens at most
        // once for each page that is patched at present.
        let patched = if work.commits == 0 { self.counts.patched_pages() } else { 0 };
        let patched_ns = u64::from(patched) * timing.program_ns;
        let usual_ns = bound.moving.time_ns(timing).max(bound.folding.time_ns(timing));
        // The first envelope spreads the extra cost of an erase over the calls of a victim.
        let over_ns = bound.erasing.time_ns(timing).saturating_sub(usual_ns);
        let calls = u64::from((quota.gain_frames() / frames.max(1)).max(1));
        let spread = Envelope {
            burst_ns: over_ns * u64::from(restocks + 2) + patched_ns,
            rate_ns: usual_ns + over_ns.div_ceil(calls),
        };
        let mut own =
            self.write_cost(frames, self.view.ftl.space.near_full(&self.view.ftl.layout, frames));
        own.programs += work.commits;
        // `cycle_ns` is the time of all work for a victim. Journal pages are not part of it; their
        // share in the next root is added below.
        let cycle_ns = self.victim_ns(&quota, timing);
        let fpb = self.view.ftl.layout.frames_per_block;
        let rest_ns = self.move_cost().times(fpb).time_ns(timing) + timing.erase_ns;
        // A block of data at rest is emptied while the caller writes `meanwhile` frames. These
        // frames were saved before, half a frame for each victim. A block of data at rest is
        // emptied only if its wear lags.
        let meanwhile = fpb.div_ceil(quota.moves(1));
        let paid_ns = cycle_ns + rest_ns / u64::from((2 * meanwhile).max(self.view.lag_kept()));
        // During the burst, all saved frames may be used up, or be saved again.
        let (saved, share_ns) = (2 * fpb, quota.share_ns(paid_ns, 1));
        let saved_ns = u64::from(saved)
            * share_ns.max((rest_ns / u64::from(meanwhile)).saturating_sub(share_ns));
        let journal_ns = self.program_share_ns(work.commits, timing);
        let average = Envelope {
            burst_ns: 2 * cycle_ns
                + rest_ns
                + saved_ns
                + patched_ns
                + u64::from(restocks) * timing.erase_ns,
            rate_ns: own.time_ns(timing) + journal_ns + quota.share_ns(paid_ns, frames),
        };
        [spread, average]
    }

    /// Returns the worst case, in nanoseconds, of `calls` calls in a row that do `work`
    /// together. The first call is made now.
    ///
    /// The result assumes that the calls write as many pages as they may, one after the other, and
    /// make all their commits. Between two commits the calls write at least `per_commit` pages.
    pub fn row_ns(&self, work: &Work, calls: u32, per_commit: u32, timing: &Timing) -> u64 {
        let (layout, space) = (&self.view.ftl.layout, &self.view.ftl.space);
        // A call that writes nothing still does a share of reclamation, so it counts as one frame.
        let frames = work.frames.max(calls)
            + self.flushes(work, calls)
            + self.view.ftl.transaction.stale_pages()
            + self.cache.len();
        let commits = 2 + calls.min(frames / per_commit);
        let frames = frames + if layout.commits_join() { commits } else { 0 };
        let programs = commits * layout.journal_pages();
        let places = (commits * layout.journal_record_places())
            .saturating_sub(space.rest(HeadIndex::JOURNAL));
        let erases = places.div_ceil(space.capacity(HeadIndex::JOURNAL));
        // A commit also adds overlay entries for the writes and discards of earlier calls.
        let late = work.discards + self.view.ftl.transaction.len() + self.counts.discards();
        let beside = Cost {
            reads: frames * merge_reads(layout) + late,
            programs,
            erases,
            ..Cost::default()
        }
        .plus(&self.fold_cost().times(late.div_ceil(layout.fold_frees)));
        beside.time_ns(timing)
            + self.program_share_ns(programs, timing)
            + self.in_a_row_ns(&Work::PAGE, frames, timing)
    }

    /// Returns the worst case of `calls` calls in a row that do `work` together, computed from the
    /// present state. Between two commits the calls write at least `per_commit` pages; `between`
    /// more commits come between steps of the trim list. Returns `None` if moves wait for later
    /// calls, or if a call has left work to the next one.
    ///
    /// The moves of all calls need erased frames. Each plan erases at most one block. So the erased
    /// frames are the present ones, and those of one block for each call.
    #[inline(never)]
    pub fn row(&self, work: &Work, calls: u32, [per_commit, between]: [u32; 2]) -> Option<Cost> {
        let (ftl, view) = (self.view.ftl, &self.view);
        let (layout, space) = (&ftl.layout, &ftl.space);
        if layout.moves_join() || view.reclaim.is_behind() {
            return None;
        }
        let frames = work.frames
            + self.flushes(work, calls)
            + ftl.transaction.stale_pages()
            + self.cache.len();
        let commits = 2 + calls.min(frames / per_commit) + between;
        let frames = frames + if layout.commits_join() { commits } else { 0 };
        let late = work.discards + ftl.transaction.len() + self.counts.discards();
        let journal_pages = commits + u32::from(space.is_unmarked() || ftl.ring.is_closed());
        let is_full = ftl.map.len() + frames + late > ftl.map.changes_max();
        let changes = Changes {
            frames,
            entries: frames + late,
            folds: if is_full { commits } else { 0 },
            journal_pages,
        };
        let [moves, folds] = self.moves_and_folds(&changes, calls);
        // A head may give up its block for wear levelling, or because of a weak page.
        let given_up = if view.levels_or_scrubs() { calls.saturating_sub(1) } else { 0 };
        let taken = self.blocks_taken(moves, folds, &changes) + given_up;
        let is_near_full = space.near_full(layout, frames);
        let beside = Cost {
            reads: frames * merge_reads(layout)
                + if is_near_full { late } else { 0 }
                + u32::from(ftl.pages.watch().patrols()) * calls,
            tag_reads: layout.extra_moved_heads() * calls,
            programs: journal_pages * layout.journal_pages() + calls * layout.root_programs,
            erases: taken.saturating_sub(space.blocks().count(State::Erased)) + calls,
            ..Cost::default()
        };
        let whole = self
            .write_cost(frames, is_near_full)
            .plus(&beside)
            .plus(&self.move_cost().times(moves))
            .plus(&self.fold_cost().times(folds));
        Some(whole.plus(&self.opening_cost()))
    }

    /// Returns the largest numbers of moves and of leaf write-backs of `calls` calls in a row that
    /// make `changes` together.
    fn moves_and_folds(&self, changes: &Changes, calls: u32) -> [u32; 2] {
        let (layout, view) = (&self.view.ftl.layout, &self.view);
        let Changes { frames, entries, .. } = *changes;
        let quota = view.quota(frames + view.superseded(frames));
        // In each call the number of moves is rounded up, and is at least one more than the frames.
        let due = quota.moving(frames).moves + 2 * calls;
        let planned = due + quota.folds(entries + due) + calls;
        let journal = layout.frames_per_block * (view.journal_blocks(changes) + 1);
        // If the reserve runs short, each call may empty a whole victim.
        let is_short = view.is_short(frames + planned + journal);
        let whole = if is_short { calls * layout.frames_per_block } else { 0 };
        let moves = due.max(whole).min(view.places_of_moves(calls));
        // A leaf write-back removes at least one entry.
        let folds = quota.folds(entries + due.max(whole)) + calls;
        [moves, changes.folds + folds.min(view.entries() + entries + moves)]
    }

    /// Returns the worst case, in nanoseconds, of `calls` calls in a row that do `work` each. The
    /// first call is made now. Each block that is erased at present saves one erase.
    pub fn in_a_row_ns(&self, work: &Work, calls: u32, timing: &Timing) -> u64 {
        let erased = self.view.ftl.space.blocks().count(State::Erased);
        let in_a_row = self.envelopes_with(erased, calls, work, timing).map(|each| {
            each.burst_ns.saturating_add(u64::from(calls).saturating_mul(each.rate_ns))
        });
        // Both envelopes hold, so the smaller result counts.
        in_a_row[0].min(in_a_row[1]).saturating_add(self.opening_cost().time_ns(timing))
    }

    /// Returns the extra cost of the first change after a mount or a clean end. This cost arises
    /// once. It consists of a root, the erases of ring blocks that this root may need, and the
    /// first journal page.
    fn opening_cost(&self) -> Cost {
        let layout = &self.view.ftl.layout;
        let ring = &self.view.ftl.ring;
        let records = u32::from(self.view.ftl.space.is_unmarked() || ring.is_closed());
        let programs =
            layout.root_programs * u32::from(ring.is_closed()) + records * layout.journal_pages();
        Cost { programs, erases: ring.opening_erases(), ..Cost::default() }
    }

    /// Returns the time of all work for a victim: its moves, the leaf write-backs and roots that
    /// one block of frames causes, and an erase.
    fn victim_ns(&self, quota: &WorkQuota, timing: &Timing) -> u64 {
        let layout = &self.view.ftl.layout;
        let (fpb, per_fold) = (layout.frames_per_block, layout.fold_frees);
        // One of `per_fold + 1` frames is a leaf.
        let fold_ns = self.fold_cost().time_ns(timing) * u64::from(fpb) / u64::from(per_fold + 1);
        let move_ns = self.move_cost().times(quota.victim).time_ns(timing);
        let programs = fpb * u32::from(layout.config.pages_per_logical_page);
        move_ns + fold_ns + self.program_share_ns(programs, timing) + timing.erase_ns
    }

    /// Returns the share of a root's time that `programs` programs cause. A root's time includes
    /// its share of the erase of its block.
    fn program_share_ns(&self, programs: u32, timing: &Timing) -> u64 {
        let layout = &self.view.ftl.layout;
        let per_block = u64::from(layout.geometry.pages_per_block / layout.root_programs);
        let root_ns =
            u64::from(layout.root_programs) * timing.program_ns + timing.erase_ns / per_block;
        (root_ns * u64::from(programs)).div_ceil(u64::from(layout.config.checkpoint_programs))
    }
}
