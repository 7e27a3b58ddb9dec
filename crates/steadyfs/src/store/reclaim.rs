//! Reclamation, at a pace that every call can afford.
//!
//! At the end of each call that changed the volume a few live frames of the *victim* are moved, so that it is empty before the
//! space of the reserve is needed. A call does one of: moves with at most one fold or checkpoint, or one erase.
//!
//! With `F` the frames that can still be programmed (quarantine included), `R` the reserve, `w` the live frames left in the
//! victim, and `fold(n)` the leaves that `n` map changes will cost:
//!
//! ```text
//! x = max { x ≥ 0 : F − R − credit − w − x − fold(w + x) ≥ 0 }     frames that the caller may still write
//! ```
//!
//! A call that wrote `h` frames moves `⌈w·h / (x − h)⌉`, so that one call of the cycle may erase instead; when it has, `⌈w·h / x⌉`.
//! Moves and folds cancel in `x`, so `x` falls by at most `h` a call and the victim is empty before it is 0. An erase, or
//! part of the moves that a fold or checkpoint displaces, waits only where what is left stays within the bound.

use super::blocks::{Choice, State, UNUSED};
use super::bounds::Share;
use super::program::Source;
use super::{Call, Frame, HeadIndex, NONE, Store};
use crate::config::STOCK;
use crate::error::Error;
use crate::media::{BlockIndex, Flash, Kind, Kinds, TAG_BYTES, Tag};

/// Calls between two erases where there is a choice.
const ERASE_GAP: u32 = 12;
/// Calls after an erase in which no leaf is folded and no checkpoint written where there is a choice.
const SIDE_GAP: u32 = 3;
/// Programs by which a checkpoint may be late.
pub(super) const CHECKPOINT_SLACK: u32 = 16;

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

impl<F: Flash> Store<'_, F> {
    /// Ends a call that may have changed the volume: the share of reclamation that it owes.
    ///
    /// The call took effect, so no error of reclamation is the call's. What it still owes then is done by later calls; when the room for that
    /// becomes scarce, they [begin](Self::begin) with it and say why it cannot be done.
    ///
    /// # Cost
    /// See [`bounds`](super::bounds).
    pub fn end(&mut self) {
        self.accept();
        self.pace.behind = self.reclaim().is_err();
    }

    /// Does what an earlier call still owes, if the room for that is scarce.
    pub(super) fn catch_up(&mut self) -> Result<(), Error> {
        if self.pace.behind && self.pool() <= self.layout.reserve_frames / 2 {
            self.call.frames = 1;
            self.reclaim()?;
            self.pace.behind = false;
            self.call = Call::default();
        }
        Ok(())
    }

    fn reclaim(&mut self) -> Result<(), Error> {
        let written = core::mem::take(&mut self.call.frames);
        self.pace.calls_since_erase = self.pace.calls_since_erase.saturating_add(1);
        if self.call.opened && self.overlay_entries() + self.call.changes <= self.overlay_hard() {
            // The first change after a clean end has erased already: what it owes is left to the next ones.
            self.pace.written += written;
            return Ok(());
        }
        if self.choose_victim(written)? == Chosen::JournalMoved {
            return Ok(());
        }
        self.pace.written += written;
        let live = self.victim_live();
        let afford = self.affordable(live);
        let share = Share::new(&self.layout, self.blocks.live_total(), written.max(1));
        // Something else takes the place of moves where the moves that are left stay within what a call may cost.
        let most = if share.tight { self.moves_per_erase() + 1 } else { share.moves };
        let spare = if self.pace.spared { 0 } else { written };
        let due = |live: u32, afford: u32| moves_due(live, written, afford.saturating_sub(spare));
        let slack = afford >= 2 * written || (afford >= written && share.gain >= 2 * written);
        let may_wait = live == 0 || (slack && moves_due(live, written, afford.saturating_sub(written)) <= most);
        // Nor where a leaf must be folded in this call: an erase would meet it.
        let crowded = self.overlay_entries() + self.call.changes > self.overlay_hard();
        // A call with many moves may take two blocks; others leave the last but one for a call that has fewer.
        let many = share.tight && due(live, afford) > self.layout.frames_per_block / 4;
        let erased = self.erase_if_due(may_wait && !crowded, if many { STOCK / 2 } else { 1 })?;
        let erased = erased || self.call.erases > 0;
        // Only nearly full may an erase and moves meet.
        let free = !erased || (share.tight && !may_wait);
        if live > 0 && free {
            let mut moves = due(live, afford).min(live);
            if slack && moves > 0 && self.side_work_is_due(moves) && due(live - moves + 1, afford.saturating_sub(written)) <= most
            {
                moves -= 1;
            }
            moves = moves.max(u32::from(self.victim_is_urgent())).min(live);
            if !share.tight && self.pool() > self.layout.reserve_frames / 2 {
                // The promise comes first. A shortfall comes out of the reserve, and the promised rate makes it up.
                moves = moves.min(share.moves);
            }
            for _ in 0..moves {
                match self.blocks.first_live(self.pace.victim) {
                    Some(frame) => self.move_frame(frame)?,
                    None => break,
                }
            }
        }
        let changes = core::mem::take(&mut self.call.changes);
        let fold_comes_first = self.overlay_entries() + changes > self.overlay_hard();
        let checkpointed = free && self.checkpoint_if_due(fold_comes_first)?;
        let resting = self.pace.calls_since_erase < SIDE_GAP && !fold_comes_first;
        self.fold_if_due(changes, erased || checkpointed || resting)
    }

    /// Moves that take as long as one erase.
    fn moves_per_erase(&self) -> u32 {
        let timing = self.flash.timing();
        let move_ns = timing.copy_ns * u64::from(self.layout.config.unit_pages);
        // Counted up, which is no 64-bit division.
        let (mut moves, mut moves_ns) = (1, 2 * move_ns);
        while moves < self.layout.frames_per_block && moves_ns <= timing.erase_ns {
            (moves, moves_ns) = (moves + 1, moves_ns + move_ns);
        }
        moves
    }

    /// Whether a call with so many moves will fold or write a checkpoint.
    fn side_work_is_due(&self, moves: u32) -> bool {
        let full = self.overlay.len() + self.pending.len() + moves > self.layout.overlay_soft;
        self.pace.calls_since_erase >= SIDE_GAP && (full || self.checkpoint_is_due())
    }

    /// Frames that can be programmed before anything else is won back, quarantine included.
    pub(super) fn pool(&self) -> u32 {
        let blocks = self.blocks.count(State::Erased)
            + self.blocks.count(State::Listed)
            + self.blocks.count(State::Free)
            + self.blocks.count(State::Clean)
            + self.blocks.count(State::Dead);
        self.head_rest(HeadIndex::User) + self.head_rest(HeadIndex::Moved) + blocks * self.layout.frames_per_block
    }

    /// Frames that the caller may write before the reserve is touched, when `live` frames must be moved meanwhile.
    fn affordable(&self, live: u32) -> u32 {
        let lent = if self.pace.levelling { self.saved() } else { 0 };
        let room = (self.pool() + lent).saturating_sub(self.reserve() + live);
        let per_fold = self.layout.fold_frees;
        let excess = (self.overlay.len() + self.pending.len() + live).saturating_sub(self.layout.overlay_soft);
        room.saturating_sub(excess.div_ceil(per_fold)) * per_fold / (per_fold + 1)
    }

    /// Frames that are kept: the layout's reserve, less what restarts have cost, more what is saved for wear levelling.
    pub(super) fn reserve(&self) -> u32 {
        self.layout.reserve_frames - self.layout.frames_per_block + self.pace.credit
    }

    /// Frames saved for wear levelling, at most a block.
    fn saved(&self) -> u32 {
        self.pace.credit.saturating_sub(self.layout.frames_per_block)
    }

    pub(super) fn victim_live(&self) -> u32 {
        if self.pace.victim == NONE { 0 } else { self.blocks.live(self.pace.victim) }
    }

    /// A victim that is not chosen for its space: a failing block, or a checkpoint block that holds a rescued frame.
    fn victim_is_urgent(&self) -> bool {
        self.pace.victim != NONE && matches!(self.blocks.state(self.pace.victim), State::Retiring | State::Reserved)
    }

    fn choose_victim(&mut self, written: u32) -> Result<Chosen, Error> {
        if self.victim_live() > 0 {
            return Ok(Chosen::Victim);
        }
        self.choose(None);
        if let Some(block) = self.urgent_victim() {
            self.pace.victim = block;
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
        self.pace.victim = victim.unwrap_or(NONE);
        self.pace.victim_spoiled = false;
        self.pace.spared = false;
        if self.pace.levelling {
            // The block at rest took as many frames as it gave; what the caller wrote meanwhile came out of the credit.
            self.pace.levelling = false;
            self.pace.credit = self.pace.credit.saturating_sub(self.pace.written);
        }
        self.pace.written = 0;
    }

    /// Chooses the block with fewest live frames, as late as possible.
    fn choose_emptiest(&mut self) {
        let fpb = self.layout.frames_per_block;
        if self.pool() > self.reserve() + 3 * fpb {
            return;
        }
        let Some(block) = self.blocks.choose(State::Used, Choice::Emptiest) else { return };
        let live = self.blocks.live(block);
        let afford = self.affordable(live);
        // Late, since frames die meanwhile; but a victim with next to nothing must not use up the time of the next.
        if afford > live.max(self.pace.last_live) + 4 {
            return;
        }
        self.pace.last_live = live;
        self.pace.victim = block;
        // Nearly full, half a frame per victim is left over: the layout makes sure of it.
        self.pace.odd = !self.pace.odd;
        let saved = match afford {
            0 | 1 => u32::from(self.pace.odd),
            _ => (afford / 8).clamp(1, 4),
        };
        self.pace.credit = (self.pace.credit + saved).min(2 * fpb);
    }

    /// Makes the least worn block the victim when it lags so far behind the most worn one that its data must move.
    ///
    /// Moving a full block gives back as many frames as it takes, but later: the credit bridges that.
    fn level_wear(&mut self, written: u32) -> Result<Chosen, Error> {
        if !self.pace.erased && self.blocks.count(State::Weak) == 0 && self.weak_head().is_none() {
            return Ok(Chosen::None);
        }
        let fpb = self.layout.frames_per_block;
        let share = Share::new(&self.layout, self.blocks.live_total(), written.max(1));
        self.pace.levelling = true;
        let afford = self.affordable(fpb);
        self.pace.levelling = false;
        let calm = moves_due(fpb, written.max(1), afford.saturating_sub(written.max(1))) <= share.moves;
        if if share.tight { self.saved() < fpb } else { !calm } {
            // Where blocks empty themselves and no victim is needed, this is what fills the credit.
            if self.affordable(0) > fpb / 2 {
                self.pace.credit = (self.pace.credit + 1).min(2 * fpb);
            }
            self.pace.erased = self.pace.credit == 2 * fpb;
            return Ok(Chosen::None);
        }
        self.pace.erased = false;
        let lags = |block: u32| u32::from(self.blocks.wear_max().saturating_sub(self.blocks.wear(block))) > self.spread_kept();
        // A head that is hardly used keeps its block from wearing, and so does the journal page in it.
        // Into a block that lags as much, it would have to go on at once.
        let has_worn = (0..self.blocks.block_count()).any(|block| self.blocks.state(block) == State::Erased && !lags(block));
        let head_lags = |head: HeadIndex| {
            let block = self.heads[head as usize].block;
            block != NONE && lags(block) && has_worn
        };
        if let Some(head) = self.weak_head() {
            self.release_head(head);
            return Ok(Chosen::None);
        }
        if head_lags(HeadIndex::Moved) {
            self.give_up_block(HeadIndex::Moved);
            return Ok(Chosen::None);
        }
        if head_lags(HeadIndex::Journal) && !self.is_open() && self.blocks.count(State::Erased) > 1 {
            // It may rest there as well: into the most worn block.
            self.close(HeadIndex::Journal);
            self.open_head(HeadIndex::Journal, true)?;
            self.program_journal()?;
            return Ok(Chosen::JournalMoved);
        }
        // While blocks that nobody uses are worn less, they are used first, and moving data gains nothing.
        let unused = self.blocks.choose_among(&UNUSED, Choice::LeastWorn).map_or(u8::MAX, |block| self.blocks.wear(block));
        let rested = self.blocks.choose(State::Used, Choice::LeastWornInUse);
        let rested = rested.filter(|&block| lags(block) && self.blocks.wear(block) < unused);
        // Data that its block hardly holds any more goes first.
        let rested = self.blocks.choose(State::Weak, Choice::LeastWornInUse).or(rested);
        if let Some(block) = rested {
            self.pace.victim = block;
            self.pace.levelling = true;
        }
        Ok(if rested.is_some() { Chosen::Victim } else { Chosen::None })
    }

    /// Gives up the block of a head before it is full; the frames that are left in it come out of the credit.
    pub(super) fn give_up_block(&mut self, head: HeadIndex) {
        self.close(head);
        self.pace.credit = self.pace.credit.saturating_sub(self.layout.frames_per_block);
    }

    /// Difference of erase counts at which a block at rest is moved.
    pub(super) fn spread_kept(&self) -> u32 {
        u32::from(self.layout.config.wear_spread) * 5 / 8
    }

    pub(super) fn urgent_victim(&self) -> Option<u32> {
        let in_use = |&block: &u32| block != NONE && self.blocks.live(block) > 0;
        if self.blocks.count(State::Retiring) > 0 {
            let failing =
                (0..self.blocks.block_count()).find(|block| self.blocks.state(*block) == State::Retiring && in_use(block));
            if failing.is_some() {
                return failing;
            }
        }
        self.ring_blocks().find(in_use)
    }

    /// Moves a frame if it is really live.
    ///
    /// # Cost
    /// A tag read; then as many reads and programs as a logical page has program pages.
    pub(super) fn move_frame(&mut self, frame: Frame) -> Result<(), Error> {
        self.make_room(1)?;
        if !self.blocks.is_live(frame) {
            // The fold that made room has released it, and forgotten that it was superseded.
            return Ok(());
        }
        self.ready_head(HeadIndex::Moved)?;
        let mut bytes = [0; TAG_BYTES];
        let tag = if self.read_tag(self.frame_page(frame), &mut bytes)? { Tag::parse(&bytes) } else { None };
        let movable = |tag: &Tag| self.names_something(tag) && (Kinds::LEAF.has(tag.kind) || Kinds::DATA.has(tag.kind));
        let Some(Tag { kind, logical, .. }) = tag.filter(movable) else {
            // Nobody can tell any more whose frame this is. Its block is never used again, so that no other data takes its place.
            self.pace.victim_spoiled = true;
            self.release(frame);
            return Ok(());
        };
        let pending = self.pending.find(logical).filter(|&index| self.pending_frame(index) == frame);
        let kind = if Kinds::LEAF.has(kind) {
            if self.root.get(logical) != frame {
                self.release(frame);
                return Ok(());
            }
            Kind::MovedLeaf
        } else if pending.is_some() {
            Kind::MovedPending
        } else if let Some(index) = self.overlay.find(logical)
            && self.overlay.value(index) & !self.settled_bit() != frame
        {
            // The frame that the leaf still names. It is used again before the leaf is folded, so the fold must not release it.
            self.overlay.set_value(index, self.overlay.value(index) | self.settled_bit());
            self.release(frame);
            return Ok(());
        } else {
            Kind::Moved
        };
        let to = self.program_frame(kind, logical, &Source::Copy { from: frame, loaded: &bytes })?;
        match (kind, pending) {
            (Kind::MovedLeaf, _) => self.root.set(logical, to),
            (_, Some(index)) => self.move_pending(index, to),
            _ => self.map_move(logical, to),
        }
        self.release(frame);
        Ok(())
    }

    /// Whether the leaf or logical page that a tag names exists. Only damaged tags can name another.
    pub(super) fn names_something(&self, tag: &Tag) -> bool {
        let count = if Kinds::LEAF.has(tag.kind) { self.layout.leaf_count } else { self.layout.logical_count };
        tag.logical < count
    }

    /// Erases a block when the stock of erased blocks is low, or some calls after the last erase.
    fn erase_if_due(&mut self, may_wait: bool, least: u32) -> Result<bool, Error> {
        let stock = self.blocks.count(State::Erased);
        let since = self.pace.calls_since_erase;
        let spaced = since >= ERASE_GAP;
        let wanted = stock < STOCK && self.blocks.count(State::Listed) > 0;
        if self.call.erases > 0 {
            return Ok(false);
        }
        // A root must not find its next block unprepared, or its call would erase twice.
        let ring_is_urgent = self.needs_ring_block() && self.ring_block_is_nearly_full();
        if ring_is_urgent && stock > 0 && (may_wait || self.roots_left() < 2) {
            self.prepare_ring_block()?;
        } else if wanted && (stock <= least || (may_wait && (stock <= STOCK / 2 || spaced))) {
            self.erase_listed()?;
        } else if self.needs_ring_block() && may_wait && stock > STOCK / 2 && spaced {
            self.prepare_ring_block()?;
        } else {
            return Ok(false);
        }
        self.pace.calls_since_erase = 0;
        self.pace.spared = true;
        Ok(true)
    }

    fn checkpoint_is_due(&self) -> bool {
        let allocatable = self.blocks.count(State::Erased) + self.blocks.count(State::Listed);
        let more = self.blocks.count(State::Free) + self.blocks.count(State::Clean) + self.blocks.count(State::Dead);
        self.programs_since_checkpoint >= u32::from(self.layout.config.checkpoint_programs) || (allocatable < STOCK && more > 0)
    }

    /// Writes a checkpoint if it is due and neither an erase nor an urgent fold was or will be in this call.
    fn checkpoint_if_due(&mut self, fold_comes_first: bool) -> Result<bool, Error> {
        let late = u32::from(self.layout.config.checkpoint_programs) + CHECKPOINT_SLACK;
        let allocatable = self.blocks.count(State::Erased) + self.blocks.count(State::Listed);
        let gap = self.pace.calls_since_erase < SIDE_GAP || fold_comes_first;
        let wait = gap && self.programs_since_checkpoint < late && allocatable > 1;
        let second_erase = self.call.erases > 0 && self.roots_left() == 0 && self.needs_ring_block();
        let due = self.checkpoint_is_due() && !wait && !second_erase;
        if due {
            self.write_root()?;
        }
        Ok(due)
    }

    /// Entries that the overlay has, and will have when the open transaction commits.
    pub(super) fn overlay_entries(&self) -> u32 {
        self.overlay.len() + self.pending.len()
    }

    /// Entries above which folds wait for nothing.
    fn overlay_hard(&self) -> u32 {
        self.overlay.capacity() - (self.layout.frames_per_block + 2).min(self.overlay.capacity() / 8)
    }

    fn fold_if_due(&mut self, changes: u32, busy: bool) -> Result<(), Error> {
        let most = changes.div_ceil(self.layout.fold_frees).max(1);
        let mut folds = 0;
        while self.overlay_entries() > self.layout.overlay_soft && self.overlay.len() > 0 {
            if (busy || folds >= most) && self.overlay_entries() <= self.overlay_hard() {
                break;
            }
            self.fold()?;
            folds += 1;
        }
        Ok(())
    }
}

/// Moves that a call owes which wrote `written` frames, with `live` frames left in the victim and `afford` frames that the
/// caller may write until it must be empty.
fn moves_due(live: u32, written: u32, afford: u32) -> u32 {
    match afford {
        _ if written == 0 => 0,
        0 => live,
        _ => (live * written).div_ceil(afford),
    }
}

#[cfg(test)]
mod tests {
    use super::moves_due;

    #[test]
    fn victim_is_empty_before_the_last_affordable_frame() {
        for (mut live, mut afford) in [(23, 8), (30, 2), (1, 40), (31, 31)] {
            while afford > 0 {
                live -= moves_due(live, 1, afford).min(live);
                afford -= 1;
            }
            assert_eq!(live, 0);
        }
    }

    #[test]
    fn call_that_wrote_nothing_moves_nothing() {
        assert_eq!(moves_due(20, 0, 5), 0);
    }
}
