//! Reclamation, at a pace that every call can afford.
//!
//! At the end of each call that changed the volume a few live frames of the *victim* are moved, so that it is empty before the
//! space of the reserve is needed. What a call does is planned first ([`plan`](super::plan)), and then carried out.
//!
//! With `F` the frames that can still be programmed (quarantine included), `R` the reserve, `w` the live frames left in the
//! victim, and `fold(n)` the whole leaves that `n` map changes will cost:
//!
//! ```text
//! x = max { x ≥ 0 : F − R − credit − w − x − fold(w + x) ≥ 0 }     frames that the caller may still write
//! ```
//!
//! A call that wrote `h` frames moves `⌈(w + e)·h / x⌉`, where an erase that is still to come counts as `e` moves. Moves and folds
//! cancel in `x`, so `x` falls by at most `h` a call but for the leaf that is not whole yet, the share `(w + e) / x` does not rise, and the
//! victim is empty before `x` is 0; or a few frames later, which come out of the reserve.

use super::Store;
use super::group::Time;
use super::plan::{Plan, Promise, Standing, Want};
use super::program::Source;
use crate::config::COPIED_MAX;
use crate::error::Error;
use crate::features::{SCRUB, WEAR_LEVELLING};
use crate::media::{BlockIndex, Flash, Kind, Kinds, TAG_BYTES, Tag};
use crate::space::{Choice, Frame, HeadIndex, NONE, Space, State, UNUSED};

/// Calls between two erases where there is a choice.
const ERASE_GAP: u8 = 12;
/// Calls after an erase in which no leaf is folded and no root written where there is a choice.
const SIDE_GAP: u8 = 3;
/// Room of the overlay above which folds wait for nothing, at least: where blocks are small, several calls in a row may erase, and fold nothing.
const HARD_ROOM: u32 = 16;
/// Programs by which a root may be late.
pub(super) const ROOT_SLACK: u32 = 24;

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

/// What an erase is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Erasure {
    /// The block of the ring that is used next.
    Ring,
    /// A block that may be allocated.
    Listed,
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
        self.note_weak();
        self.pace.behind = self.reclaim().is_err();
    }

    /// Does what an earlier call still owes, if the room for that is scarce.
    pub(super) fn catch_up(&mut self) -> Result<(), Error> {
        if self.pace.behind && self.space.pool() <= self.layout.reserve_frames / 2 {
            self.call.frames = 1;
            self.reclaim()?;
            self.pace.behind = false;
            self.call = self.new_call();
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
        // What has gone bad on the way leaves more to the next calls: this one promised what it does before that.
        let promise = self.promise_of(0, self.space.blocks().count(State::Bad) - self.call.bad_blocks);
        let (erasure, standing) = self.standing(written, &promise);
        let plan = standing.plan(&promise);
        self.carry_out_plan(&plan, erasure, written)
    }

    /// What a call may do at the present fill, when `frames` more frames are live.
    pub(super) fn promise(&self, frames: u32) -> Promise {
        self.promise_of(frames, 0)
    }

    /// The same, when `blocks` more blocks could be used.
    fn promise_of(&self, frames: u32, blocks: u32) -> Promise {
        let spare = u32::from(self.layout.config.bad_blocks_max).saturating_sub(self.space.blocks().count(State::Bad));
        let blocks = self.space.data_blocks(&self.layout) + spare + blocks;
        Promise::new(&self.layout, self.space.blocks().live_total() + frames, blocks, self.moves_per_erase())
    }

    /// Where reclamation stands, and what there is to erase.
    fn standing(&self, written: u32, promise: &Promise) -> (Erasure, Standing) {
        let live = self.victim_live();
        let (erase, erasure) = self.erase_wanted(promise.moving(written).moves);
        let standing = Standing {
            written,
            changes: self.call.changes,
            // What waits for its group counts as moved.
            live: live.saturating_sub(self.pace.waiting.owed()),
            is_urgent: self.victim_is_urgent(),
            afford: self.affordable(live),
            lacks: self.needed(live).saturating_sub(self.there()),
            owes_erase: !self.pace.has_erased,
            has_erased: self.pages.erases() != self.call.erases_before,
            erase,
            root: self.root_wanted(),
            rests: self.rests(),
            entries: self.overlay_entries() + self.pace.waiting.owed(),
            soft: self.layout.overlay_soft,
            hard: self.overlay_hard(),
            most: self.overlay_most(),
            places: Space::moved_heads(&self.layout).map(|head| self.space.rest(head)).sum(),
            leaf_places: self.space.rest(HeadIndex::USER),
            stock: self.space.blocks().count(State::Erased),
            is_short: self.is_short(0),
        };
        (erasure, standing)
    }

    /// Whether so much of the reserve is used up, or will be with `frames` frames more, that the victim's frames move at any cost.
    pub(super) fn is_short(&self, frames: u32) -> bool {
        self.space.pool() <= self.layout.reserve_frames / 2 + frames
    }

    /// Does what was planned.
    fn carry_out_plan(&mut self, plan: &Plan, erasure: Erasure, written: u32) -> Result<(), Error> {
        if plan.erases > 0 {
            self.erase_planned(erasure)?;
        }
        // Leaves come first where the overlay has no room for what moves.
        let mut folds = 0;
        while folds < plan.folds && self.overlay_entries() + plan.moves > self.overlay_most() {
            self.fold()?;
            folds += 1;
        }
        self.move_frames(plan.moves, written)?;
        if plan.root {
            self.write_root()?;
        }
        let limit = if self.rests() { self.overlay_hard() } else { self.layout.overlay_soft };
        self.call.changes = 0;
        for _ in folds..plan.folds {
            if self.overlay_entries() > limit {
                self.fold()?;
            }
        }
        Ok(())
    }

    /// Whether it is too early for a leaf or a root that can wait.
    fn rests(&self) -> bool {
        self.pace.calls_since_erase < SIDE_GAP || self.awaits_flush()
    }

    /// Whether what reads costs less in a call that has flushed: one that commits, and it alone, ends a stream of writes anyway.
    fn awaits_flush(&self) -> bool {
        self.layout.moves_join() && !self.call.flushed
    }

    /// Moves frames of the victim, and of the next one where that is empty.
    fn move_frames(&mut self, moves: u32, written: u32) -> Result<(), Error> {
        let time = match self.awaits_flush() {
            _ if self.is_short(0) => Time::Last,
            _ if self.victim_is_urgent() => Time::Now,
            true => Time::Streaming,
            false => Time::Flushed,
        };
        let mut left = self.pace.waiting.owe(moves, self.victim_live(), self.layout.move_group(), time);
        while left > 0 {
            if self.victim_live() == 0 {
                self.choose(None);
                self.choose_emptiest();
                if self.victim_live() == 0 || self.affordable(self.victim_live()) > written {
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
        if let Some(frame) = self.space.blocks().first_live(self.pace.victim) {
            self.move_frame(frame)?;
        }
        Ok(1)
    }

    /// Moves that take as long as one erase.
    fn moves_per_erase(&self) -> u32 {
        let timing = self.pages.flash().timing();
        let move_ns = timing.copy_ns * u64::from(self.layout.config.unit_pages);
        // Counted up, which is no 64-bit division.
        let (mut moves, mut moves_ns) = (1, 2 * move_ns);
        while moves < self.layout.frames_per_block && moves_ns <= timing.erase_ns {
            (moves, moves_ns) = (moves + 1, moves_ns + move_ns);
        }
        moves
    }

    /// Frames that the caller may write before the reserve is touched, when `live` frames must be moved meanwhile.
    fn affordable(&self, live: u32) -> u32 {
        let room = self.there().saturating_sub(self.needed(live));
        room - room / (self.layout.leaf_changes + 1)
    }

    /// Frames that can be programmed, and those that are lent for a block at rest.
    fn there(&self) -> u32 {
        self.space.pool() + if self.pace.levelling { self.saved() } else { 0 }
    }

    /// Frames that are to be kept, or needed for `live` moves and the leaves that these make full.
    fn needed(&self, live: u32) -> u32 {
        let excess = (self.overlay_entries() + live).saturating_sub(self.layout.overlay_soft);
        self.reserve() + live + excess / self.layout.leaf_changes
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
        if self.pace.victim == NONE { 0 } else { self.space.blocks().live(self.pace.victim) }
    }

    /// A victim that is not chosen for its space: a failing block, or a block of the ring that holds a copied frame.
    fn victim_is_urgent(&self) -> bool {
        self.victim_live() > 0 && matches!(self.space.blocks().state(self.pace.victim), State::Retiring | State::Reserved)
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
        self.space.spoil(NONE);
        self.pace.has_erased = false;
        self.pace.waiting.forget();
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
        if self.space.pool() > self.reserve() + 3 * fpb {
            return;
        }
        // Where little is won by a victim, worn blocks are not spared: calls would be longer for it.
        let promise = self.promise(0);
        let most = Some(promise.victim).filter(|&most| most <= fpb / 4 * 3).unwrap_or(0);
        let Some(block) = self.space.blocks().choose(State::Used, Choice::Emptiest(most)) else { return };
        let live = self.space.blocks().live(block);
        let afford = self.affordable(live);
        // Late, since frames die meanwhile; but a victim with next to nothing must not use up the time of the next.
        if afford > live.max(self.pace.last_live.into()) + self.moves_per_erase() + 1 {
            return;
        }
        self.pace.last_live = live as u16;
        self.pace.victim = block;
        self.save_frames(live, afford, &promise);
    }

    /// Saves frames for wear levelling: as many as leave the victim's moves within what calls may do, and half a one at least.
    fn save_frames(&mut self, live: u32, afford: u32, promise: &Promise) {
        if !self.levels_or_scrubs() {
            return;
        }
        self.pace.every_second = !self.pace.every_second;
        let most = promise.moves(1);
        let calm = |saved: u32| (live + promise.per_erase).div_ceil(afford.saturating_sub(saved).max(1)) < most;
        let wanted = (afford / 8).clamp(1, 4);
        let saved = (1..=wanted).rev().find(|&saved| calm(saved)).unwrap_or(u32::from(self.pace.every_second));
        self.pace.credit = (self.pace.credit + saved).min(2 * self.layout.frames_per_block);
    }

    /// Makes the least worn block the victim when it lags so far behind the most worn one that its data must move.
    ///
    /// Moving a full block gives back as many frames as it takes, but later: the credit bridges that.
    fn level_wear(&mut self, written: u32) -> Result<Chosen, Error> {
        if !self.levels_or_scrubs() {
            return Ok(Chosen::None);
        }
        if self.pace.erases_seen == self.pages.erases() && self.space.blocks().count(State::Weak) == 0 && self.space.weak_head().is_none() {
            return Ok(Chosen::None);
        }
        let fpb = self.layout.frames_per_block;
        let (promise, written) = (self.promise(0), written.max(1));
        self.pace.levelling = true;
        let afford = self.affordable(fpb).saturating_sub(written);
        self.pace.levelling = false;
        if (fpb + promise.per_erase) * written > promise.moves(written) * afford {
            // Where blocks empty themselves and no victim is needed, this is what fills the credit.
            if self.affordable(0) > fpb / 2 {
                self.pace.credit = (self.pace.credit + 1).min(2 * fpb);
            }
            if self.pace.credit < 2 * fpb {
                self.pace.erases_seen = self.pages.erases();
            }
            return Ok(Chosen::None);
        }
        self.pace.erases_seen = self.pages.erases();
        let least = self.space.blocks().wear_mean().saturating_sub(self.lag_kept());
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
            self.pace.victim = block;
            self.pace.levelling = true;
        }
        Ok(if rested.is_some() { Chosen::Victim } else { Chosen::None })
    }

    /// Gives up the block of a head before it is full; the frames that are left in it come out of the credit.
    pub(super) fn give_up_block(&mut self, head: HeadIndex) {
        self.space.close(head);
        self.pace.credit = self.pace.credit.saturating_sub(self.layout.frames_per_block);
    }

    /// Whether data at rest or on weak pages is ever moved. A device that levels wear itself corrects bits itself as well.
    fn levels_or_scrubs(&self) -> bool {
        (WEAR_LEVELLING || SCRUB) && self.layout.config.wear_spread > 0
    }

    /// Difference of erase counts that is kept between the blocks.
    fn spread_kept(&self) -> u32 {
        u32::from(self.layout.config.wear_spread) * 5 / 8
    }

    /// Erases that a block at rest may lag behind the mean: half of that, and a sixth of the mean on a volume that is young.
    pub(super) fn lag_kept(&self) -> u32 {
        let most = (self.spread_kept() / 2).max(1);
        ((self.space.blocks().wear_base + self.space.blocks().wear_mean()) / 6).clamp(4.min(most), most)
    }

    pub(super) fn urgent_victim(&self) -> Option<u32> {
        let in_use = |&block: &u32| block != NONE && self.space.blocks().live(block) > 0;
        if self.space.blocks().count(State::Retiring) > 0 {
            let failing = (0..self.space.blocks().block_count())
                .find(|block| self.space.blocks().state(*block) == State::Retiring && in_use(block));
            if failing.is_some() {
                return failing;
            }
        }
        self.ring.all().find(in_use)
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
        let movable = |tag: &Tag| self.names_something(tag) && (Kinds::LEAF.has(tag.kind) || Kinds::DATA.has(tag.kind));
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

    /// Whether the leaf or logical page that a tag names exists. Only damaged tags can name another.
    pub(super) fn names_something(&self, tag: &Tag) -> bool {
        let count = if Kinds::LEAF.has(tag.kind) || tag.kind == Kind::LeafChanged {
            self.layout.leaf_count
        } else {
            self.layout.logical_count
        };
        tag.logical < count
    }

    /// What there is to erase when the call moves `moves` frames, and whether that can wait. Erases keep apart while the stock of erased blocks
    /// is not low.
    fn erase_wanted(&self, moves: u32) -> (Want, Erasure) {
        let stock = self.space.blocks().count(State::Erased);
        let since = self.pace.calls_since_erase;
        let spaced = since >= ERASE_GAP;
        let lacks_stock = stock < self.layout.stock() && self.space.blocks().count(State::Listed) > 0;
        // Blocks that the heads may take in the next call; most calls leave the last one.
        let fpb = self.layout.frames_per_block;
        let least = 1 + (moves + 3 * fpb / 4) / fpb;
        // A root must not find its next block unprepared, or its call would erase twice. After a mount the first one is far away.
        let is_last = self.ring.roots_left(&self.layout) < 2;
        let ring_is_urgent =
            self.ring.needs_block() && self.ring.is_used(&self.layout, 4) && stock > 0 && (!is_last || self.root_is_near(4));
        if ring_is_urgent && is_last && self.root_is_near(2) {
            return (Want::Must, Erasure::Ring);
        }
        if lacks_stock && stock <= least {
            return (if stock < least { Want::Must } else { Want::Should }, Erasure::Listed);
        }
        if ring_is_urgent {
            return (Want::May, Erasure::Ring);
        }
        if lacks_stock && (stock <= self.layout.stock() / 2 || spaced) {
            return (Want::May, Erasure::Listed);
        }
        // Not before half of the current one is written: idle time may come first.
        let is_calm = self.ring.needs_block() && self.ring.is_used(&self.layout, 2) && stock > self.layout.stock() / 2 && spaced;
        (if is_calm { Want::May } else { Want::No }, Erasure::Ring)
    }

    fn erase_planned(&mut self, erasure: Erasure) -> Result<(), Error> {
        match erasure {
            Erasure::Ring => self.in_ring(|roots, _, _| roots.prepare_block())?,
            Erasure::Listed => self.erase_listed()?,
        }
        self.pace.calls_since_erase = 0;
        self.pace.has_erased = true;
        Ok(())
    }

    /// Whether the first of `parts` parts of the time between two roots is over, or the next one waits for no time.
    fn root_is_near(&self, parts: u32) -> bool {
        parts * self.space.programs_since_root() >= u32::from(self.layout.config.checkpoint_programs)
            || self.root_wanted() != Want::No
    }

    /// Whether a root is to be written.
    fn root_wanted(&self) -> Want {
        let due = u32::from(self.layout.config.checkpoint_programs);
        let allocatable = self.space.blocks().count(State::Erased) + self.space.blocks().count(State::Listed);
        let more = self.space.blocks().count(State::Free)
            + self.space.blocks().count(State::Clean)
            + self.space.blocks().count(State::Dead);
        let lacks_blocks = allocatable < self.layout.stock() && more > 0;
        // The call that writes it may take a block for the caller's pages, and those that its moves fill.
        let least = 1 + self.promise(0).moving(1).moves.div_ceil(self.layout.frames_per_block);
        match self.space.programs_since_root() {
            programs if programs >= due + ROOT_SLACK || (lacks_blocks && allocatable <= least) => Want::Must,
            programs if programs >= due || lacks_blocks => Want::May,
            _ => Want::No,
        }
    }

    /// Entries that the overlay has, and will have when the open transaction commits.
    pub(super) fn overlay_entries(&self) -> u32 {
        self.map.len() + self.transaction.len()
    }

    /// Entries above which a change of the map [makes room](Self::make_room) for itself, and for one of the next call.
    fn overlay_most(&self) -> u32 {
        self.map.capacity() - COPIED_MAX - 2
    }

    /// Entries above which folds wait for nothing.
    fn overlay_hard(&self) -> u32 {
        self.map.capacity() - (self.layout.frames_per_block + 2).min(self.map.capacity() / 8).max(HARD_ROOM)
    }
}
