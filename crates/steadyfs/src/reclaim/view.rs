//! The view of reclamation on the present state of the rooms. It computes the work that is due in a
//! call, and the limits of the call's work.

use super::plan::{LACK, PlanInput, Want};
use super::{Emptiest, Erasure, Plan, ROOT_SLACK, ReclaimState, VictimChoice, WorkQuota};
use crate::features::{SCRUB, WEAR_LEVELLING};
use crate::ftl::Ftl;
use crate::media::{BlockIndex, Flash};
use crate::space::{BlockChoice, HeadIndex, NONE, Space, State};

/// Number of calls between two erases, if neither erase is urgent.
const ERASE_GAP: u8 = 12;
/// Number of calls after an erase that write no leaf and no root, if these are not urgent.
const SIDE_GAP: u8 = 3;
/// Least number of free overlay entries. If fewer entries are free, leaf write-backs do not wait.
/// If blocks are small, several calls in a row may erase and write no leaf back, so they need free
/// entries.
const HARD_ROOM: u32 = 16;

/// Work that a call has done so far. The plan of its remaining work depends on this.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    /// Number of frames programmed for the caller.
    pub written: u32,
    /// Number of changes of the map.
    pub changes: u32,
    pub has_erased: bool,
    /// True if the call has flushed the device's cache.
    pub flushed: bool,
}

/// The state of reclamation, and the structs of other folders that reclamation depends on. A view
/// only reads this state.
pub(crate) struct ReclaimView<'s, 'm, F> {
    pub reclaim: &'s ReclaimState,
    pub ftl: &'s Ftl<'m, F>,
}

impl<F: Flash> ReclaimView<'_, '_, F> {
    /// Returns the limits of a call's work, for the present number of live frames plus `frames`.
    pub fn quota(&self, frames: u32) -> WorkQuota {
        self.quota_of(frames, 0)
    }

    /// Returns the number of superseded frames that stay live if calls write `frames` frames. Only
    /// overlay entries show that these frames are superseded. For a later call, the volume is
    /// fuller by this number of frames.
    pub fn superseded(&self, frames: u32) -> u32 {
        frames.min(u32::from(self.ftl.layout.config.overlay_entries).saturating_sub(self.entries()))
    }

    /// Returns the limits of a call's work if there were `frames` more live frames and `blocks`
    /// more usable blocks.
    pub fn quota_of(&self, frames: u32, blocks: u32) -> WorkQuota {
        // Blocks that may still go bad hold data at present, so they count.
        let spare = u32::from(self.ftl.layout.config.bad_blocks_max)
            .saturating_sub(self.ftl.space.blocks().count(State::Bad));
        let blocks = self.ftl.space.data_blocks(&self.ftl.layout) + spare + blocks;
        WorkQuota::new(
            &self.ftl.layout,
            self.ftl.space.blocks().live_total() + frames,
            blocks,
            self.moves_per_erase(),
        )
    }

    /// Returns the plan of a call with these limits, and the purpose of its erase.
    pub fn plan(&self, done: &Done, quota: &WorkQuota) -> (Plan, Erasure) {
        let live = self.victim_live();
        let (erase, erasure) = self.erase_wanted(quota.moving(done.written).moves);
        let x = self.pace_as(self.reclaim.levelling).beside(live);
        let (afford, lacks) = (x.max(0) as u32, (-x).max(0) as u32);
        let lacks_room = afford < done.written && (live == 0 || lacks > LACK);
        let situation = PlanInput {
            written: done.written,
            changes: done.changes,
            // Moves that wait for their group count as already made.
            live: live.saturating_sub(self.reclaim.waiting.moves()),
            is_urgent: self.victim_is_urgent(),
            afford,
            lacks,
            in_a_row: if lacks_room {
                self.moves_in_a_row(
                    self.row(),
                    &self.lives(),
                    done.written,
                    quota.moves(done.written),
                )
            } else {
                u32::MAX
            },
            needs_erase: !self.reclaim.has_erased,
            has_erased: done.has_erased,
            erase,
            root: self.root_wanted(),
            rests: self.rests(done.flushed),
            entries: self.entries() + self.reclaim.waiting.moves(),
            soft: self.ftl.layout.overlay_soft,
            hard: self.entries_hard(),
            most: self.entries_most(),
            places: Space::moved_heads(&self.ftl.layout)
                .map(|head| self.ftl.space.rest(head))
                .sum(),
            leaf_places: self.ftl.space.rest(HeadIndex::USER),
            stock: self.ftl.space.blocks().count(State::Erased),
            is_short: self.is_short(0),
        };
        (situation.plan(quota), erasure)
    }

    /// Returns true if the reserve runs short, now or after `frames` more frames. Then the victim's
    /// frames must move at any cost.
    pub fn is_short(&self, frames: u32) -> bool {
        self.ftl.space.pool() <= self.ftl.layout.reserve_frames / 2 + frames
    }

    /// Returns the number of entries above which a call writes leaves back. `flushed` is true if
    /// the call has flushed the device's cache.
    pub fn entries_limit(&self, flushed: bool) -> u32 {
        if self.rests(flushed) { self.entries_hard() } else { self.ftl.layout.overlay_soft }
    }

    /// Returns true if it is too early for a leaf or a root that is not urgent.
    fn rests(&self, flushed: bool) -> bool {
        self.reclaim.calls_since_erase < SIDE_GAP || self.awaits_flush(flushed)
    }

    /// Returns true if work that reads should wait for a call that has flushed. In such a call it
    /// costs less, because the flush has already ended the stream of writes.
    pub fn awaits_flush(&self, flushed: bool) -> bool {
        self.ftl.layout.moves_join() && !flushed
    }

    /// Returns the number of moves that take as long as one erase.
    fn moves_per_erase(&self) -> u32 {
        let timing = self.ftl.pages.flash().timing();
        let move_ns = timing.copy_ns * u64::from(self.ftl.layout.config.pages_per_logical_page);
        // This loop avoids a 64-bit division.
        let (mut moves, mut moves_ns) = (1, 2 * move_ns);
        while moves < self.ftl.layout.frames_per_block && moves_ns <= timing.erase_ns {
            (moves, moves_ns) = (moves + 1, moves_ns + move_ns);
        }
        moves
    }

    /// Returns the number of frames in the reserve at present: the layout's reserve, less the
    /// frames that restarts used up, plus the frames saved for wear levelling.
    pub fn reserve(&self) -> u32 {
        self.ftl.layout.reserve_frames - self.ftl.layout.frames_per_block
            + self.ftl.reserve.frames()
    }

    /// Returns the number of live frames of the victim.
    pub fn victim_live(&self) -> u32 {
        if self.reclaim.victim == NONE {
            0
        } else {
            self.ftl.space.blocks().live(self.reclaim.victim)
        }
    }

    /// Returns true if the victim was not chosen for its space. Such a victim is a failing block,
    /// or a block of the ring that holds a copied frame.
    pub fn victim_is_urgent(&self) -> bool {
        self.victim_live() > 0
            && matches!(
                self.ftl.space.blocks().state(self.reclaim.victim),
                State::Retiring | State::Reserved
            )
    }

    /// Returns a block that must be the victim regardless of its space: see
    /// [`victim_is_urgent`](Self::victim_is_urgent).
    pub fn urgent_victim(&self) -> Option<BlockIndex> {
        let in_use = |&block: &u32| block != NONE && self.ftl.space.blocks().has_live(block);
        // The search visits every block, so it is made only if there is a retiring block.
        if self.ftl.space.blocks().count(State::Retiring) > 0 {
            let failing = (0..self.ftl.space.blocks().block_count()).find(|block| {
                self.ftl.space.blocks().state(*block) == State::Retiring && in_use(block)
            });
            if failing.is_some() {
                return failing;
            }
        }
        // A ring block with a live frame cannot be erased.
        self.ftl.ring.all().find(in_use)
    }

    /// Returns the block with the fewest live frames, or the reason why the choice of a victim can
    /// wait.
    pub fn emptiest(&self) -> VictimChoice {
        let fpb = self.ftl.layout.frames_per_block;
        let blocks = self.ftl.space.blocks();
        // With so much room, the choice can wait. Meanwhile more frames die.
        if self.ftl.space.pool() > self.reserve() + 3 * fpb {
            return VictimChoice::Waits { candidate: NONE };
        }
        // If the last candidate leaves enough time, then so does every candidate with fewer live
        // frames.
        let candidate = self.reclaim.candidate;
        if blocks.emptiest_at_most(candidate).is_some_and(|live| self.is_early(live)) {
            debug_assert!(
                !matches!(self.search_emptiest(), VictimChoice::Found(_)),
                "a victim was due"
            );
            return VictimChoice::Waits { candidate };
        }
        self.search_emptiest()
    }

    /// Searches all blocks for the one with the fewest live frames.
    fn search_emptiest(&self) -> VictimChoice {
        let fpb = self.ftl.layout.frames_per_block;
        // If a victim frees little space, worn blocks are not spared, because that would make calls
        // longer.
        let quota = self.quota(0);
        let most = Some(quota.victim).filter(|&most| most <= fpb / 4 * 3).unwrap_or(0);
        let chosen = self.ftl.space.blocks().choose(State::Used, BlockChoice::Emptiest(most));
        let Some(block) = chosen else { return VictimChoice::Waits { candidate: NONE } };
        let live = self.ftl.space.blocks().live(block);
        if self.is_early(live) {
            return VictimChoice::Waits { candidate: block };
        }
        VictimChoice::Found(Emptiest { block, live, afford: self.affordable(live), quota })
    }

    /// Returns true if it is too early to choose a victim with `live` live frames.
    ///
    /// The victim is chosen as late as possible, because frames die in the meantime. A victim with
    /// hardly any live frames is soon empty, so its choice must leave time for the next victim. If
    /// it is too early for some number of live frames, it is also too early for any smaller number.
    fn is_early(&self, live: u32) -> bool {
        self.affordable(live) > live.max(self.reclaim.last_live.into()) + self.moves_per_erase() + 1
    }

    /// Returns true if the volume moves data at rest and data on weak pages. A device that levels
    /// wear itself also corrects flipped bits itself.
    pub fn levels_or_scrubs(&self) -> bool {
        (WEAR_LEVELLING || SCRUB) && self.ftl.layout.config.wear_spread > 0
    }

    /// Returns the number of erases by which a block of data at rest may lag behind the mean. The
    /// volume keeps the differences between blocks below 5/8 of `wear_spread`, and the lag is half
    /// of this limit. On a young volume the lag is a sixth of the mean erase count.
    pub fn lag_kept(&self) -> u32 {
        let spread = u32::from(self.ftl.layout.config.wear_spread) * 5 / 8;
        let most = (spread / 2).max(1);
        ((self.ftl.space.blocks().wear_base + self.ftl.space.blocks().wear_mean()) / 6)
            .clamp(4.min(most), most)
    }

    /// Returns the urgency and the purpose of an erase, if the call moves `moves` frames. While the
    /// stock of erased blocks is not low, several calls without an erase lie between two erases.
    fn erase_wanted(&self, moves: u32) -> (Want, Erasure) {
        let stock = self.ftl.space.blocks().count(State::Erased);
        let since = self.reclaim.calls_since_erase;
        let spaced = since >= ERASE_GAP;
        let lacks_stock =
            stock < self.ftl.layout.stock() && self.ftl.space.blocks().count(State::Listed) > 0;
        // Number of blocks that the heads may take in the next call. Most calls take fewer.
        let fpb = self.ftl.layout.frames_per_block;
        let least = 1 + (moves + 3 * fpb / 4) / fpb;
        // If the next ring block were not erased when a root needs it, the call would erase twice.
        // After a mount the first root is far away.
        let is_last = self.ftl.ring.roots_left(&self.ftl.layout) < 2;
        let ring_is_urgent = self.ftl.ring.needs_block()
            && self.ftl.ring.is_used(&self.ftl.layout, 4)
            && stock > 0
            && (!is_last || self.root_is_near(4));
        // The next root needs this block.
        if ring_is_urgent && is_last && self.root_is_near(2) {
            return (Want::Must, Erasure::Ring);
        }
        // The next call may take all of these blocks.
        if lacks_stock && stock <= least {
            return (if stock < least { Want::Must } else { Want::Should }, Erasure::Listed);
        }
        if ring_is_urgent {
            return (Want::May, Erasure::Ring);
        }
        // While the stock is large, several calls without an erase lie between two erases.
        if lacks_stock && (stock <= self.ftl.layout.stock() / 2 || spaced) {
            return (Want::May, Erasure::Listed);
        }
        // This erase waits until half of the current ring block is written, because idle work may
        // make it before.
        let is_calm = self.ftl.ring.needs_block()
            && self.ftl.ring.is_used(&self.ftl.layout, 2)
            && stock > self.ftl.layout.stock() / 2
            && spaced;
        (if is_calm { Want::May } else { Want::No }, Erasure::Ring)
    }

    /// Returns true if at least `1 / parts` of the programs between two roots were made, or if a
    /// root is wanted already.
    fn root_is_near(&self, parts: u32) -> bool {
        parts * self.ftl.space.programs_since_root()
            >= u32::from(self.ftl.layout.config.checkpoint_programs)
            || self.root_wanted() != Want::No
    }

    /// Returns the urgency of a root.
    fn root_wanted(&self) -> Want {
        let due = u32::from(self.ftl.layout.config.checkpoint_programs);
        let allocatable = self.ftl.space.blocks().count(State::Erased)
            + self.ftl.space.blocks().count(State::Listed);
        let more = self.ftl.space.blocks().count(State::Free)
            + self.ftl.space.blocks().count(State::Clean)
            + self.ftl.space.blocks().count(State::Dead);
        // A root can list more blocks only if there are further empty blocks.
        let lacks_blocks = allocatable < self.ftl.layout.stock() && more > 0;
        // The call that writes the root may itself take one block for the caller's pages, and
        // blocks for its moves.
        let least = 1 + self.quota(0).moving(1).moves.div_ceil(self.ftl.layout.frames_per_block);
        match self.ftl.space.programs_since_root() {
            programs if programs >= due + ROOT_SLACK || (lacks_blocks && allocatable <= least) => {
                Want::Must
            }
            programs if programs >= due || lacks_blocks => Want::May,
            _ => Want::No,
        }
    }

    /// Returns the number of entries that the overlay will have when the open transaction commits.
    pub fn entries(&self) -> u32 {
        self.ftl.map.len() + self.ftl.transaction.len()
    }

    /// Returns the number of entries above which a change of the map must first write a leaf back.
    /// It leaves room for two changes: this change, and one change of the next call.
    pub fn entries_most(&self) -> u32 {
        self.ftl.map.changes_max() - 2
    }

    /// Returns the number of entries above which leaf write-backs do not wait.
    pub fn entries_hard(&self) -> u32 {
        self.ftl.map.capacity()
            - (self.ftl.layout.frames_per_block + 2).min(self.ftl.map.capacity() / 8).max(HARD_ROOM)
    }
}
