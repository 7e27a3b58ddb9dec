//! Reclamation: what the [pace](crate::pace) has planned is carried out at the end of each call that changed the volume.

use super::Store;
use super::program::Source;
use crate::error::Error;
use crate::features::WEAR_LEVELLING;
use crate::media::{BlockIndex, Flash, Kind, Kinds, TAG_BYTES, Tag};
use crate::pace::{Bounds, Done, Erasure, Outlook, Plan, Time};
use crate::space::{Choice, Frame, HeadIndex, NONE, State, UNUSED};

/// What there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chosen {
    /// Nothing yet.
    None,
    /// Frames of a victim are to be moved.
    Victim,
    /// The journal page was moved, which is enough for a call.
    JournalMoved,
}

impl<'m, F: Flash> Store<'m, F> {
    /// Ends a call that may have changed the volume: the share of reclamation that it owes.
    ///
    /// The call took effect, so no error of reclamation is the call's. What it still owes then is done by later calls; when the room for that
    /// becomes scarce, they [begin](Self::begin) with it and say why it cannot be done.
    ///
    /// # Cost
    /// See [`bounds`](crate::pace).
    pub fn end(&mut self) {
        self.accept();
        self.note_weak();
        let result = self.reclaim();
        self.pace.set_behind(result.is_err());
    }

    /// Does what an earlier call still owes, if the room for that is scarce.
    pub(super) fn catch_up(&mut self) -> Result<(), Error> {
        if self.pace.is_behind() && self.outlook().is_short(0) {
            self.call.frames = 1;
            self.reclaim()?;
            self.pace.set_behind(false);
            self.call = self.new_call();
        }
        Ok(())
    }

    /// What a call owes, and may do, as the rooms are now. Not inlined: a call is shorter.
    #[inline(never)]
    pub(super) fn outlook(&self) -> Outlook<'_, 'm, F> {
        Outlook {
            pace: &self.pace,
            layout: &self.layout,
            pages: &self.pages,
            space: &self.space,
            map: &self.map,
            transaction: &self.transaction,
            ring: &self.ring,
        }
    }

    /// What a call costs at most.
    pub fn bounds(&self) -> Bounds<'_, 'm, F> {
        Bounds { outlook: self.outlook(), journal: &self.journal, cache: &self.cache }
    }

    fn reclaim(&mut self) -> Result<(), Error> {
        let written = core::mem::take(&mut self.call.frames);
        self.pace.count_call();
        let outlook = self.outlook();
        if self.call.opened && outlook.entries() + self.call.changes <= outlook.entries_hard() {
            // The first change after a clean end has erased already: what it owes is left to the next ones.
            self.pace.count_written(written);
            return Ok(());
        }
        if self.choose_victim(written)? == Chosen::JournalMoved {
            return Ok(());
        }
        self.pace.count_written(written);
        let outlook = self.outlook();
        // What has gone bad on the way leaves more to the next calls: this one promised what it does before that.
        let promise = outlook.promise_of(0, self.space.blocks().count(State::Bad) - self.call.bad_blocks);
        let done = Done {
            written,
            changes: self.call.changes,
            has_erased: self.pages.erases() != self.call.erases_before,
            flushed: self.call.flushed,
        };
        let (plan, erasure) = outlook.plan(&done, &promise);
        self.carry_out_plan(&plan, erasure, written)
    }

    /// Does what was planned.
    fn carry_out_plan(&mut self, plan: &Plan, erasure: Erasure, written: u32) -> Result<(), Error> {
        if plan.erases > 0 {
            self.erase_planned(erasure)?;
        }
        // Leaves come first where the overlay has no room for what moves.
        let (mut folds, most) = (0, self.outlook().entries_most());
        while folds < plan.folds && self.outlook().entries() + plan.moves > most {
            self.fold()?;
            folds += 1;
        }
        self.move_frames(plan.moves, written)?;
        if plan.root {
            self.write_root()?;
        }
        let limit = self.outlook().entries_limit(self.call.flushed);
        self.call.changes = 0;
        for _ in folds..plan.folds {
            if self.outlook().entries() > limit {
                self.fold()?;
            }
        }
        Ok(())
    }

    /// Moves frames of the victim, and of the next one where that is empty.
    fn move_frames(&mut self, moves: u32, written: u32) -> Result<(), Error> {
        let outlook = self.outlook();
        let time = match outlook.awaits_flush(self.call.flushed) {
            _ if outlook.is_short(0) => Time::Last,
            _ if outlook.victim_is_urgent() => Time::Now,
            true => Time::Streaming,
            false => Time::Flushed,
        };
        let live = outlook.victim_live();
        let mut left = self.pace.owe(moves, live, self.layout.move_group(), time);
        while left > 0 {
            if self.outlook().victim_live() == 0 {
                self.choose(None);
                self.choose_emptiest();
                let outlook = self.outlook();
                let live = outlook.victim_live();
                if live == 0 || outlook.affordable(live) > written {
                    break;
                }
            }
            left -= self.move_some(left)?;
        }
        Ok(())
    }

    /// Moves live frames of the victim, `most` at most; how many. Where pages move one by one, it is one.
    pub(super) fn move_some(&mut self, most: u32) -> Result<u32, Error> {
        if self.layout.moves_join() {
            return self.move_group(most.min(self.layout.move_group()));
        }
        if let Some(frame) = self.space.blocks().first_live(self.pace.victim()) {
            self.move_frame(frame)?;
        }
        Ok(1)
    }

    fn choose_victim(&mut self, written: u32) -> Result<Chosen, Error> {
        if self.outlook().victim_live() > 0 {
            return Ok(Chosen::Victim);
        }
        self.choose(None);
        if let Some(block) = self.outlook().urgent_victim() {
            self.pace.take(block);
            return Ok(Chosen::Victim);
        }
        let chosen = self.level_wear(written)?;
        if chosen == Chosen::None {
            self.choose_emptiest();
        }
        Ok(chosen)
    }

    /// Ends the work on an empty victim and begins that on another one.
    pub(super) fn choose(&mut self, victim: Option<BlockIndex>) {
        self.space.spoil(NONE);
        self.pace.choose(victim.unwrap_or(NONE));
    }

    /// Chooses the block with fewest live frames, as late as possible.
    fn choose_emptiest(&mut self) {
        let outlook = self.outlook();
        let saves = outlook.levels_or_scrubs();
        if let Some(found) = outlook.emptiest() {
            self.pace.begin(&found, saves, &self.layout);
        }
    }

    /// Makes the least worn block the victim when it lags so far behind the most worn one that its data must move.
    ///
    /// Moving a full block gives back as many frames as it takes, but later: the credit bridges that.
    fn level_wear(&mut self, written: u32) -> Result<Chosen, Error> {
        let outlook = self.outlook();
        if !outlook.levels_or_scrubs() {
            return Ok(Chosen::None);
        }
        let erases = self.pages.erases();
        let has_weak = self.space.blocks().count(State::Weak) > 0 || self.space.weak_head().is_some();
        if self.pace.has_seen_wear(erases) && !has_weak {
            return Ok(Chosen::None);
        }
        let fpb = self.layout.frames_per_block;
        let (promise, written) = (outlook.promise(0), written.max(1));
        let afford = outlook.affordable_as(fpb, true).saturating_sub(written);
        if (fpb + promise.per_erase) * written > promise.moves(written) * afford {
            // Where blocks empty themselves and no victim is needed, this is what fills the credit.
            if outlook.affordable(0) > fpb / 2 {
                self.pace.save_frame(&self.layout);
            }
            if !self.pace.has_saved(&self.layout) {
                self.pace.see_wear(erases);
            }
            return Ok(Chosen::None);
        }
        let least = self.space.blocks().wear_mean().saturating_sub(outlook.lag_kept());
        self.pace.see_wear(erases);
        let lags = |block: u32| WEAR_LEVELLING && u32::from(self.space.blocks().wear(block)) < least;
        // A head that is hardly used keeps its block from wearing, and so does the journal page in it.
        // Into a block that lags as much, it would have to go on at once.
        let has_worn =
            (0..self.space.blocks().block_count()).any(|block| self.space.blocks().state(block) == State::Erased && !lags(block));
        let head_lags = |head: HeadIndex| {
            let block = self.space.heads().get(head).block;
            block != NONE && lags(block) && has_worn
        };
        if let Some(head) = self.space.weak_head() {
            self.release_head(head);
            return Ok(Chosen::None);
        }
        if let Some(head) = self.space.heads().of_frames().find(|&head| head != HeadIndex::USER && head_lags(head)) {
            self.give_up_block(head);
            return Ok(Chosen::None);
        }
        if head_lags(HeadIndex::JOURNAL) && !self.is_open() && self.space.blocks().count(State::Erased) > 1 {
            // It may rest there as well: into the most worn block.
            self.space.close(HeadIndex::JOURNAL);
            self.open_head(HeadIndex::JOURNAL, true)?;
            self.program_journal()?;
            self.pages.keep_order()?;
            return Ok(Chosen::JournalMoved);
        }
        // While blocks that nobody uses are worn less, they are used first, and moving data gains nothing.
        let unused =
            self.space.blocks().choose_among(&UNUSED, Choice::LeastWorn).map_or(u8::MAX, |block| self.space.blocks().wear(block));
        let rested = self.space.blocks().choose(State::Used, Choice::LeastWornInUse);
        let rested = rested.filter(|&block| lags(block) && self.space.blocks().wear(block) < unused);
        // Data that its block hardly holds any more goes first.
        let rested = self.space.blocks().choose(State::Weak, Choice::LeastWornInUse).or(rested);
        if let Some(block) = rested {
            self.pace.take_rested(block);
        }
        Ok(if rested.is_some() { Chosen::Victim } else { Chosen::None })
    }

    /// Gives up the block of a head before it is full; the frames that are left in it come out of the credit.
    pub(super) fn give_up_block(&mut self, head: HeadIndex) {
        self.space.close(head);
        self.pace.use_credit(self.layout.frames_per_block);
    }

    /// Moves a frame if it is really live.
    ///
    /// # Cost
    /// A tag read; then as many reads and programs as a logical page has program pages.
    pub(super) fn move_frame(&mut self, frame: Frame) -> Result<(), Error> {
        self.make_room(1)?;
        if !self.space.blocks().is_live(frame) {
            // The fold that made room has released it, and forgotten that it was superseded.
            return Ok(());
        }
        self.move_known_frame(frame)
    }

    /// Moves a live frame for which the overlay has room.
    pub(super) fn move_known_frame(&mut self, frame: Frame) -> Result<(), Error> {
        let mut bytes = [0; TAG_BYTES];
        if !self.layout.moves_apart() {
            let head = self.space.moved_head(&self.layout, &bytes);
            self.ready_head(head)?;
        }
        let mut is_read = self.pages.read_tag_anyhow(self.layout.frame_page(frame), &mut bytes)?;
        let head = self.space.moved_head(&self.layout, &bytes);
        if is_read && self.space.rest(head) == 0 {
            self.ready_head(head)?;
            is_read = self.pages.read_tag_anyhow(self.layout.frame_page(frame), &mut bytes)?;
        }
        let tag = if is_read { Tag::parse(&bytes) } else { None };
        let Some((kind, logical)) = self.moves_as(frame, tag) else { return Ok(()) };
        let to = self.program_frame(kind, logical, &Source::Copy { from: frame, loaded: &bytes })?;
        self.was_moved(kind, logical, frame, to);
        Ok(())
    }

    /// As what a live frame moves, by the tag of its first page, and which logical page or leaf it is; `None` where it need not move, and is released.
    pub(super) fn moves_as(&mut self, frame: Frame, tag: Option<Tag>) -> Option<(Kind, u32)> {
        let movable = |tag: &Tag| self.layout.names_something(tag) && (Kinds::LEAF.has(tag.kind) || Kinds::DATA.has(tag.kind));
        let Some(Tag { kind, logical, .. }) = tag.filter(movable) else {
            // Nobody can tell any more whose frame this is. Its block is never used again, so that no other data takes its place.
            self.space.spoil(self.space.block_of(frame));
            self.space.release(frame);
            return None;
        };
        if Kinds::LEAF.has(kind) {
            if self.map.leaf(logical) != frame {
                self.space.release(frame);
                return None;
            }
            return Some((Kind::MovedLeaf, logical));
        }
        if self.transaction.holds(logical, frame) {
            return Some((Kind::MovedPending, logical));
        }
        if self.map.supersedes(logical, frame) {
            // The frame that the leaf still names. It is used again before the leaf is folded, so the fold must not release it.
            self.space.release(frame);
            return None;
        }
        Some((Kind::Moved, logical))
    }

    /// Lets a logical page or leaf be where it was moved to.
    pub(super) fn was_moved(&mut self, kind: Kind, logical: u32, from: Frame, to: Frame) {
        match kind {
            // A change of its log that a cut has torn is copied as it is: what is known of the log stays.
            Kind::MovedLeaf => self.map.move_leaf(logical, to),
            Kind::MovedPending if self.transaction.move_page(logical, to) => {}
            _ => self.map_move(logical, to),
        }
        self.space.release(from);
    }

    fn erase_planned(&mut self, erasure: Erasure) -> Result<(), Error> {
        match erasure {
            Erasure::Ring => self.in_ring(|roots, _, _| roots.prepare_block())?,
            Erasure::Listed => self.erase_listed()?,
        }
        self.pace.note_erase();
        Ok(())
    }
}
