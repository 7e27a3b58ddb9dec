//! The plan of a call: its work beside the caller's request. The plan is made as a whole before
//! any of it is carried out.
//!
//! The formulas have these terms:
//!
//! - `P`: frames per block
//! - `φ`: map changes that a leaf write-back takes out of the overlay
//! - `C`: blocks for data
//! - `U`: live frames
//! - `e`: moves that last as long as an erase
//!
//! ```text
//! m = ⌊U / C⌋                            live frames of the worst victim (pigeonhole)
//! n = P·φ/(φ + 1) − m                    frames that the caller may write per victim
//! s = P/(φ + 1) + 1                      leaves written back per victim, and a root
//! c = ⌈(m + e + s)·h / n⌉                moves of a call that writes h frames
//! ```
//!
//! An erase stands in the place of `e` moves, a leaf or a root in the place of one move. So a
//! call does one of these:
//!
//! - `c` moves
//! - `c − 1` moves and a leaf or a root
//! - `c − e` moves and an erase
//!
//! [`WorkQuota`] is `c`. [`PlanInput::plan`] makes a plan that never exceeds it. The bound of a
//! call is the most that a [`WorkQuota`] allows.
//!
//! The executor may fall behind: it need not count leaves and roots ahead, and several blocks
//! may be erased for one victim. The missing frames come out of the reserve. They are a few at
//! most, because `c` rounded up exceeds the need.
//!
//! A move must not cause work that the plan does not have. So a move is made only if a place is
//! erased, and if the overlay has room for it. Otherwise a leaf, a root or an erase would come
//! beside the full number of moves.

use super::waiting::made_at_most;
use crate::config::Layout;

/// Work that a call does, or may do, beside the caller's request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Blocks erased.
    pub erases: u32,
    /// Frames moved.
    pub moves: u32,
    /// Leaves written back.
    pub folds: u32,
    /// True if a root or a superblock is written.
    pub root: bool,
}

/// The most work of a call at a given fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorkQuota {
    /// Live frames of the worst victim.
    pub victim: u32,
    /// Moves that one erase replaces.
    pub per_erase: u32,
    /// Moves that last as long as a root.
    pub root_moves: u32,
    /// Work per victim, in moves, and frames that the caller may write meanwhile. Both are in
    /// parts of a frame: a frame has `leaf_changes + 1` parts.
    work: u32,
    gain: u32,
    fold_frees: u32,
    leaf_changes: u32,
    frames_per_block: u32,
    /// Moves that are made at once.
    group: u32,
}

impl WorkQuota {
    /// Creates the promise of a volume with `live` live frames in `blocks` blocks. An erase
    /// lasts as long as `erase_moves` moves.
    pub fn new(layout: &Layout, live: u32, blocks: u32, erase_moves: u32) -> Self {
        let (frames_per_block, leaf_changes) = (layout.frames_per_block, layout.leaf_changes);
        // The emptiest block has no more live frames than the mean of all blocks.
        let victim = (live / blocks.max(1)).min(frames_per_block);
        // The gain is a divisor, so it is at least one part.
        let gain =
            (frames_per_block * leaf_changes).saturating_sub(victim * (leaf_changes + 1)).max(1);
        let work =
            |per_erase: u32| (victim + per_erase + 1) * (leaf_changes + 1) + frames_per_block;
        let moves = work(erase_moves).div_ceil(gain);
        // An erase replaces more moves if rounding up leaves room for them.
        let mut per_erase = erase_moves;
        while per_erase < moves && work(per_erase + 1).div_ceil(gain) == moves {
            per_erase += 1;
        }
        let root_moves = layout.root_programs.div_ceil(layout.config.pages_per_logical_page.into());
        Self {
            victim,
            per_erase,
            root_moves,
            work: work(per_erase),
            gain,
            fold_frees: layout.fold_frees,
            leaf_changes,
            frames_per_block,
            group: layout.move_group(),
        }
    }

    /// Returns the frames moved by a call that writes `frames` frames.
    pub fn moves(&self, frames: u32) -> u32 {
        if frames == 0 {
            // A failing block is emptied by calls that write nothing, too.
            return 1;
        }
        // Data at rest fills its block. It moves while the caller writes as many frames as for
        // the worst victim.
        self.work
            .saturating_mul(frames)
            .div_ceil(self.gain)
            .clamp(1 + frames, self.frames_per_block * (frames + 1))
    }

    /// Returns the most moves of a call in which `moves` moves are due.
    fn made(&self, moves: u32) -> u32 {
        made_at_most(moves, self.group)
    }

    /// Returns the leaves written back by a call that makes `changes` changes of the map.
    pub fn folds(&self, changes: u32) -> u32 {
        changes.div_ceil(self.fold_frees).max(1)
    }

    /// Returns the leaves written back by a call that erases. Most such calls leave them to the
    /// next call.
    fn folds_beside_erase(&self, changes: u32) -> u32 {
        (changes + self.fold_frees / 2) / self.fold_frees
    }

    /// Returns the share of a call that writes `frames` frames in the cost of a victim.
    pub fn share_ns(&self, victim_ns: u64, frames: u32) -> u64 {
        (victim_ns * u64::from(frames) * u64::from(self.leaf_changes + 1))
            .div_ceil(u64::from(self.gain))
    }

    /// Returns the whole frames that the caller may write per victim.
    pub fn gain_frames(&self) -> u32 {
        (self.gain / (self.leaf_changes + 1)).max(1)
    }

    /// Returns the largest plan of a call that writes `frames` frames, without an erase.
    pub fn moving(&self, frames: u32) -> Plan {
        Plan { moves: self.made(self.moves(frames)), ..Plan::default() }
    }

    /// Returns the largest plan of a call that writes leaves back, or a root. It moves one frame
    /// less.
    pub fn folding(&self, frames: u32, changes: u32) -> Plan {
        let folds = self.folds(changes + self.made(self.moves(frames)));
        Plan {
            moves: self.made(self.moves(frames).saturating_sub(1)),
            folds,
            root: true,
            ..Plan::default()
        }
    }

    /// Returns the largest plan of a call that erases.
    pub fn erasing(&self, frames: u32, changes: u32) -> Plan {
        let moves = self.made(self.moves(frames).saturating_sub(self.per_erase));
        Plan { erases: 1, moves, folds: self.folds_beside_erase(changes + moves), root: false }
    }
}

/// Urgency of work in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Want {
    No,
    /// The work is done now, if it suits.
    May,
    /// The work is done now, unless leaves cannot wait.
    Should,
    Must,
}

/// Frames that the reserve may lack before calls do the most that they may.
const LACK: u32 = 4;

/// Last calls of a victim, which let the calls of the next victim write leaves and roots.
const LAST: u32 = 3;

/// The state of reclamation when a call ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlanInput {
    /// Frames that the call has written.
    pub written: u32,
    /// Changes of the map that the call has made.
    pub changes: u32,
    /// Live frames that are left in the victim.
    pub live: u32,
    /// True if the victim is not chosen for its space. Then each call moves a frame.
    pub is_urgent: bool,
    /// Frames that the caller may write until the victim must be empty.
    pub afford: u32,
    /// Frames that the reserve lacks if the victim is emptied now.
    pub lacks: u32,
    /// True if no call of this victim has erased yet.
    pub needs_erase: bool,
    /// True if the call has erased already.
    pub has_erased: bool,
    pub erase: Want,
    pub root: Want,
    /// True if it is too early after an erase for a leaf or a root.
    pub rests: bool,
    /// Entries of the overlay and of the open transaction.
    pub entries: u32,
    /// Entries above which leaves are written back (`soft`), and above which this does not wait
    /// (`hard`).
    pub soft: u32,
    pub hard: u32,
    /// Entries above which the next change of the map writes a leaf back at once.
    pub most: u32,
    /// Places for moved frames and for leaves in begun blocks, and erased blocks.
    pub places: u32,
    pub leaf_places: u32,
    pub stock: u32,
    /// True if so much of the reserve is used up that the victim's frames move at any cost.
    pub is_short: bool,
}

impl PlanInput {
    /// Returns the plan of the call.
    pub fn plan(&self, quota: &WorkQuota) -> Plan {
        let most = quota.moves(self.written);
        // The overlay is nearly full, so leaves come before an erase that can wait.
        let must_fold = self.entries > self.hard;
        let erases = u32::from(!self.has_erased && self.erases(quota, must_fold));
        // An erase takes the time of moves, so fewer moves come beside it.
        if erases > 0 || self.has_erased {
            let most = most.saturating_sub(quota.per_erase);
            let moves = self.moves(quota, most).min(self.beside_erase(quota, most));
            // Leaves wait for a call without an erase, unless the overlay is nearly full.
            let folds = quota
                .folds_beside_erase(self.changes + most)
                .min(self.folds_above(self.hard, quota, moves));
            return Plan {
                erases,
                moves: self.with_room(quota, moves, folds, erases),
                folds,
                root: false,
            };
        }
        let moves = self.moves(quota, most);
        // A call that moves more than others lets the others write leaves and roots. So do the
        // last calls of a victim, because no later call could make their moves. If blocks are
        // small, all calls are among the last, so this does not apply.
        let is_last = self.live > 0
            && self.afford <= LAST * self.written
            && quota.frames_per_block > 4 * LAST;
        let waits = self.rests || is_last || moves > quota.per_erase + 1;
        let root = match self.root {
            Want::Must | Want::Should => true,
            Want::May => !waits && !must_fold,
            Want::No => false,
        };
        // A call that waits writes only the leaves that cannot wait.
        let limit = if waits { self.hard } else { self.soft };
        // A root takes the place of the leaves.
        let folds = if root { 0 } else { self.folds_above(limit, quota, moves) };
        // The bound of the call has the leaf or root in the place of moves.
        let displaced = if root { quota.root_moves } else { u32::from(folds > 0) };
        let moves = if displaced > 0 { self.less(quota, moves, displaced) } else { moves };
        Plan { erases, moves: self.with_room(quota, moves, folds, erases), folds, root }
    }

    /// Returns the number of these moves for which there are places and overlay entries. Before
    /// the moves, `folds` leaves may be written back.
    fn with_room(&self, quota: &WorkQuota, moves: u32, folds: u32, erases: u32) -> u32 {
        // Leaves without a place take an erased block of their own.
        let blocks = (self.stock + erases).saturating_sub(u32::from(self.leaf_places < folds));
        let entries = (self.most + folds * quota.fold_frees).saturating_sub(self.entries);
        moves.min(self.places + blocks * quota.frames_per_block).min(entries)
    }

    /// Returns the frames that the call moves, at most `most`.
    fn moves(&self, quota: &WorkQuota, most: u32) -> u32 {
        // The reserve runs out, so the victim must become empty now.
        if self.is_short {
            return self.live.max(most);
        }
        if self.afford < self.written {
            // A little behind: the call moves the rest of the victim, and the calls that empty
            // the next one make up for it. Further behind: the call makes all moves that it may,
            // also those of the next victim.
            let suffices = self.live > 0 && self.lacks <= LACK;
            return if suffices { self.live.min(most) } else { most };
        }
        self.due(quota, self.live, self.afford)
            .max(u32::from(self.is_urgent))
            .min(self.live)
            .min(most)
    }

    /// Returns the moves that are due in the call. The victim has `live` live frames left, and
    /// the caller may write `afford` frames until it must be empty. The call takes the same
    /// share of both, so that no later call has more moves due.
    fn due(&self, quota: &WorkQuota, live: u32, afford: u32) -> u32 {
        let erase = if self.needs_erase { quota.per_erase } else { 0 };
        match afford {
            _ if self.written == 0 || live == 0 => 0,
            // The caller has no frame left to write, so every move is due.
            0 => u32::MAX,
            _ => ((live + erase) * self.written).div_ceil(afford),
        }
    }

    /// Returns fewer moves than `moves`, for a call that also writes a leaf or a root. The leaf
    /// or root lasts as long as `beside` moves.
    ///
    /// The call leaves at most `beside` moves to later calls. The number is chosen so that the
    /// longest of this call and the next calls is as short as possible. If `moves` is already the
    /// most that a call may make, at least one move is left.
    fn less(&self, quota: &WorkQuota, moves: u32, beside: u32) -> u32 {
        if self.is_short {
            return moves;
        }
        let most = quota.moves(self.written);
        let later = |less: u32| {
            let left = (self.live + less).saturating_sub(moves);
            self.due(quota, left, self.afford.saturating_sub(self.written))
        };
        let least = u32::from(moves >= most);
        // In a later call, at most `most` moves may be due: a call makes no more.
        let waits =
            (least..=beside.max(least)).filter(|&less| less == least || later(less) <= most);
        let longest = |less: &u32| {
            (later(*less).max((moves + beside).saturating_sub(*less)), beside - (*less).min(beside))
        };
        moves.saturating_sub(waits.min_by_key(longest).unwrap_or(least))
    }

    /// Returns the moves of a call that erases. So many moves make it last as long as the next
    /// calls, which make the other moves.
    fn beside_erase(&self, quota: &WorkQuota, most: u32) -> u32 {
        if self.is_short || self.is_urgent {
            return u32::MAX;
        }
        // Behind this erase, no later call of the victim counts one.
        let later = Self { needs_erase: false, ..*self };
        let afford = self.afford.saturating_sub(self.written);
        let is_fair = |&moves: &u32| {
            later.due(quota, self.live.saturating_sub(moves), afford) <= quota.per_erase + moves
        };
        (0..most).find(is_fair).unwrap_or(most)
    }

    /// Returns true if the call erases: it must, or it need not move anything beside.
    fn erases(&self, quota: &WorkQuota, must_fold: bool) -> bool {
        match self.erase {
            Want::Must => true,
            Want::Should => !must_fold,
            Want::May => !must_fold && !self.is_short && self.beside_erase(quota, self.live) == 0,
            Want::No => false,
        }
    }

    /// Returns the leaves that a call with `moves` moves writes back, while the overlay has more
    /// than `limit` entries.
    fn folds_above(&self, limit: u32, quota: &WorkQuota, moves: u32) -> u32 {
        let beyond = (self.entries + moves).saturating_sub(limit);
        beyond.div_ceil(quota.fold_frees).min(quota.folds(self.changes + quota.moves(self.written)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::media::Geometry;
    use proptest::prelude::*;

    /// Returns true if a plan does no more than `limit`, one of the largest plans.
    fn is_within(plan: &Plan, limit: &Plan) -> bool {
        plan.erases <= limit.erases
            && plan.moves <= limit.moves
            && plan.folds <= limit.folds
            && plan.root <= limit.root
    }

    fn want() -> impl Strategy<Value = Want> {
        prop_oneof![Just(Want::No), Just(Want::May), Just(Want::Should), Just(Want::Must)]
    }

    proptest! {
        /// The bound is the cost of the largest plans. No plan in any situation is larger,
        /// unless the reserve is used up.
        #[test]
        fn no_plan_exceeds_the_promise(
            (written, changes, live, afford) in (0u32..6, 0u32..40, 0u32..33, 0u32..200),
            entries in 0u32..372,
            (is_urgent, needs_erase, has_erased, rests) in any::<(bool, bool, bool, bool)>(),
            (erase, root, fill, lacks) in (want(), want(), 0u32..101, 0u32..9),
            (places, leaf_places, stock) in (0u32..33, 0u32..33, 0u32..5),
        ) {
            let geometry = Geometry {
                page_bytes: 2048,
                pages_per_block: 64,
                block_count: 1024,
                programs_bytes: false,
            };
            let layout =
                Layout::derive(&geometry, &Config::for_geometry(&geometry)).expect("a layout");
            let quota = WorkQuota::new(&layout, layout.usable / 100 * fill, layout.data_blocks, 7);
            let (soft, hard, most) =
                (layout.overlay_soft, layout.overlay_soft + 20, layout.overlay_soft + 40);
            let situation = PlanInput {
                written,
                changes,
                live,
                is_urgent,
                afford,
                lacks,
                needs_erase,
                has_erased,
                erase,
                root,
                rests,
                entries,
                soft,
                hard,
                most,
                places,
                leaf_places,
                stock,
                is_short: false,
            };
            let plan = situation.plan(&quota);
            let largest = [
                quota.moving(written),
                quota.folding(written, written + changes),
                quota.erasing(written, written + changes),
            ];
            prop_assert!(
                largest.iter().any(|limit| is_within(&plan, limit)),
                "{plan:?} of {situation:?} exceeds {largest:?}"
            );
            let blocks = (stock + plan.erases).saturating_sub(u32::from(leaf_places < plan.folds));
            prop_assert!(
                plan.moves <= places + blocks * layout.frames_per_block,
                "{plan:?} of {situation:?} erases beside its moves"
            );
            prop_assert!(
                plan.moves == 0 || entries + plan.moves <= most + plan.folds * layout.fold_frees,
                "{plan:?} of {situation:?} has no room in the overlay"
            );
        }
    }
}
