//! The plan of a call: the work of reclamation that the call does in addition to the caller's
//! request. The whole plan is made before any part of it is carried out.
//!
//! The formulas have these terms:
//!
//! - `P`: number of frames in a block
//! - `φ`: number of map changes that a leaf write-back removes from the overlay
//! - `C`: number of blocks for data
//! - `U`: number of live frames
//! - `e`: number of moves that last as long as an erase
//! - `h`: number of frames that the call writes
//!
//! ```text
//! m = ⌊U / C⌋                            live frames of the worst victim (pigeonhole)
//! n = P·φ/(φ + 1) − m                    frames that the caller may write per victim
//! s = P/(φ + 1) + 1                      leaves written back per victim, and a root
//! c = ⌈(m + e + s)·h / n⌉                moves of a call that writes h frames
//! ```
//!
//! An erase replaces `e` moves, and a leaf or a root replaces one move. So a call does at most one
//! of these:
//!
//! - `c` moves
//! - `c − 1` moves and a leaf or a root
//! - `c − e` moves and an erase
//!
//! [`WorkQuota`] contains these limits. [`PlanInput::plan`] makes a plan that never exceeds them.
//! The bound of a call is the largest cost that its [`WorkQuota`] allows.
//!
//! The calls may fall behind the pace, because the pace does not count leaves and roots in advance,
//! and because several blocks may be erased during one victim. The reserve provides the missing
//! frames. They are only a few, because `c` is rounded up and so exceeds the need.
//!
//! A move must not cause work that the plan does not contain. So a move is made only if an erased
//! frame is ready for it, and if the overlay has room for its entry. Without this rule, the call
//! might have to write a leaf or a root, or to erase, in addition to the full number of moves.

use super::waiting::made_at_most;
use crate::config::Layout;

/// Work of reclamation that a call does, or may do at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Number of blocks to erase.
    pub erases: u32,
    /// Number of frames to move.
    pub moves: u32,
    /// Number of leaves to write back.
    pub folds: u32,
    /// True if a root is to be written.
    pub root: bool,
}

/// The limit of a call's reclamation work, at a given number of live frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorkQuota {
    /// Number of live frames of the worst victim.
    pub victim: u32,
    /// Number of moves that one erase replaces.
    pub per_erase: u32,
    /// Number of moves that last as long as a root.
    pub root_moves: u32,
    /// `work` is the work for each victim, counted in moves. `gain` is the number of frames that
    /// the caller may write meanwhile. Both are in units of `1 / (leaf_changes + 1)`.
    work: u32,
    gain: u32,
    fold_frees: u32,
    leaf_changes: u32,
    frames_per_block: u32,
    /// Number of moves in a group. A group is made in one command.
    group: u32,
}

impl WorkQuota {
    /// Creates the limits for a volume with `live` live frames in `blocks` blocks. An erase lasts
    /// as long as `erase_moves` moves.
    pub fn new(layout: &Layout, live: u32, blocks: u32, erase_moves: u32) -> Self {
        let (frames_per_block, leaf_changes) = (layout.frames_per_block, layout.leaf_changes);
        // The block with the fewest live frames has no more than the mean of all blocks.
        let victim = (live / blocks.max(1)).min(frames_per_block);
        // The gain is used as a divisor, so it is at least 1.
        let gain =
            (frames_per_block * leaf_changes).saturating_sub(victim * (leaf_changes + 1)).max(1);
        let work =
            |per_erase: u32| (victim + per_erase + 1) * (leaf_changes + 1) + frames_per_block;
        let moves = work(erase_moves).div_ceil(gain);
        // The number of moves is rounded up. Within this rounding, an erase may count as more
        // moves.
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

    /// Returns the largest number of frames that a call moves if it writes `frames` frames.
    pub fn moves(&self, frames: u32) -> u32 {
        if frames == 0 {
            // Calls that write nothing help to empty a failing block.
            return 1;
        }
        // All frames of a block of data at rest may be live. Even such a block is emptied at this
        // rate of moves.
        self.work
            .saturating_mul(frames)
            .div_ceil(self.gain)
            .clamp(1 + frames, self.frames_per_block * (frames + 1))
    }

    /// Returns the largest number of moves that a call makes if `moves` moves are due.
    fn made(&self, moves: u32) -> u32 {
        made_at_most(moves, self.group)
    }

    /// Returns the number of leaves that a call writes back if it makes `changes` changes of the
    /// map.
    pub fn folds(&self, changes: u32) -> u32 {
        changes.div_ceil(self.fold_frees).max(1)
    }

    /// Returns the number of leaves that a call writes back if it also erases. It is 0 for few
    /// changes, because the next call then writes the leaf back.
    fn folds_beside_erase(&self, changes: u32) -> u32 {
        (changes + self.fold_frees / 2) / self.fold_frees
    }

    /// Returns the share of a victim's cost that a call pays if it writes `frames` frames.
    pub fn share_ns(&self, victim_ns: u64, frames: u32) -> u64 {
        (victim_ns * u64::from(frames) * u64::from(self.leaf_changes + 1))
            .div_ceil(u64::from(self.gain))
    }

    /// Returns the number of whole frames that the caller may write for each victim.
    pub fn gain_frames(&self) -> u32 {
        (self.gain / (self.leaf_changes + 1)).max(1)
    }

    /// Returns the largest plan of a call that writes `frames` frames, without an erase.
    pub fn moving(&self, frames: u32) -> Plan {
        Plan { moves: self.made(self.moves(frames)), ..Plan::default() }
    }

    /// Returns the largest plan of a call that also writes leaves back, or a root. Such a call
    /// moves one frame less.
    pub fn folding(&self, frames: u32, changes: u32) -> Plan {
        let folds = self.folds(changes + self.made(self.moves(frames)));
        Plan {
            moves: self.made(self.moves(frames).saturating_sub(1)),
            folds,
            root: true,
            ..Plan::default()
        }
    }

    /// Returns the largest plan of a call that also erases.
    pub fn erasing(&self, frames: u32, changes: u32) -> Plan {
        let moves = self.made(self.moves(frames).saturating_sub(self.per_erase));
        Plan { erases: 1, moves, folds: self.folds_beside_erase(changes + moves), root: false }
    }
}

/// Urgency of a kind of work in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Want {
    No,
    /// The work is done in this call only if no other work is more urgent.
    May,
    /// The work is done in this call, unless a leaf write-back is more urgent.
    Should,
    Must,
}

/// Number of frames that the reserve may lack. If it lacks more, calls move frames of several
/// victims.
pub(super) const LACK: u32 = 4;

/// Number of last calls of a victim. These calls leave leaf write-backs and roots to the calls of
/// the next victim.
const LAST: u32 = 3;

/// Returns the share of `moves` moves that is due in a call. The call writes `written` frames. All
/// moves must be made before the caller has written `afford` frames.
pub(super) fn moves_due(moves: u32, written: u32, afford: u32) -> u32 {
    match afford {
        _ if written == 0 => 0,
        // The caller may write no more frames before the victim is empty, so every move is due.
        0 => u32::MAX,
        _ => (moves * written).div_ceil(afford),
    }
}

/// The state of reclamation when a call ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlanInput {
    /// Number of frames that the call has written.
    pub written: u32,
    /// Number of changes of the map that the call has made.
    pub changes: u32,
    /// Number of live frames that are left in the victim.
    pub live: u32,
    /// True if the victim was not chosen for its space. Then each call moves at least one frame.
    pub is_urgent: bool,
    /// Number of frames that the caller may write until the victim must be empty.
    pub afford: u32,
    /// Number of frames that the reserve lacks if the victim is emptied now.
    pub lacks: u32,
    /// Number of moves after which the caller may write more than `written` frames, including moves
    /// of further victims. [`u32::MAX`] if the plan does not need this number.
    pub in_a_row: u32,
    /// True if reclamation has not erased a block since the victim was chosen.
    pub needs_erase: bool,
    /// True if the call has already erased a block.
    pub has_erased: bool,
    pub erase: Want,
    pub root: Want,
    /// True if a leaf or a root that is not urgent must wait: an erase was made shortly before, or
    /// no flush has ended the stream of writes.
    pub rests: bool,
    /// Number of entries in the overlay and in the open transaction.
    pub entries: u32,
    /// Limits of the number of entries. Above `soft` leaves are written back. Above `hard` these
    /// write-backs do not wait.
    pub soft: u32,
    pub hard: u32,
    /// Limit of the number of entries. Above it, the next change of the map writes a leaf back at
    /// once.
    pub most: u32,
    /// `places` and `leaf_places` are the numbers of frames that are left in the heads' blocks for
    /// moved frames and for leaves. `stock` is the number of erased blocks.
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
        // If the overlay is nearly full, leaf write-backs are more urgent than an erase that can
        // wait.
        let must_fold = self.entries > self.hard;
        let erases = u32::from(!self.has_erased && self.erases(quota, must_fold));
        // An erase lasts as long as several moves, so a call that erases makes fewer moves.
        if erases > 0 || self.has_erased {
            let most = most.saturating_sub(quota.per_erase);
            let moves = self.moves(quota, most).min(self.beside_erase(quota, most));
            // Leaf write-backs wait for a call without an erase, unless the overlay is nearly full.
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
        // A call with many moves leaves leaf write-backs and roots to calls with fewer moves. The
        // last calls of a victim do the same, because no later call of this victim could make their
        // moves. If blocks are small, all calls would be among the last calls, so this rule does
        // not apply.
        let is_last = self.live > 0
            && self.afford <= LAST * self.written
            && quota.frames_per_block > 4 * LAST;
        let waits = self.rests || is_last || moves > quota.per_erase + 1;
        let root = match self.root {
            Want::Must | Want::Should => true,
            Want::May => !waits && !must_fold,
            Want::No => false,
        };
        // If leaf write-backs wait, only urgent ones are made.
        let limit = if waits { self.hard } else { self.soft };
        // A call that writes a root writes no leaves back.
        let folds = if root { 0 } else { self.folds_above(limit, quota, moves) };
        // In the bound of the call, the leaf or the root replaces moves.
        let displaced = if root { quota.root_moves } else { u32::from(folds > 0) };
        let moves = if displaced > 0 { self.less(quota, moves, displaced) } else { moves };
        Plan { erases, moves: self.with_room(quota, moves, folds, erases), folds, root }
    }

    /// Returns how many of `moves` moves have an erased frame and an overlay entry ready. Before
    /// the moves, `folds` leaves may be written back.
    fn with_room(&self, quota: &WorkQuota, moves: u32, folds: u32, erases: u32) -> u32 {
        // If the head of the leaves has too few frames left, the leaves take an erased block.
        let blocks = (self.stock + erases).saturating_sub(u32::from(self.leaf_places < folds));
        let entries = (self.most + folds * quota.fold_frees).saturating_sub(self.entries);
        moves.min(self.places + blocks * quota.frames_per_block).min(entries)
    }

    /// Returns the number of frames that the call moves: at most `most`, unless the reserve runs
    /// short.
    fn moves(&self, quota: &WorkQuota, most: u32) -> u32 {
        // The reserve runs short, so the victim must become empty now.
        if self.is_short {
            return self.live.max(most);
        }
        if self.afford < self.written {
            // If the reserve lacks only a few frames, the call moves the rest of the victim. The
            // calls of the next victim make up for the lack. If it lacks more, the call moves the
            // frames of further victims as well.
            let suffices = self.live > 0 && self.lacks <= LACK;
            return if suffices { self.live } else { self.in_a_row }.min(most);
        }
        self.due(quota, self.live, self.afford)
            .max(u32::from(self.is_urgent))
            .min(self.live)
            .min(most)
    }

    /// Returns the number of moves that are due in the call. The victim has `live` live frames
    /// left, and the caller may write `afford` frames until the victim must be empty. The call
    /// writes a share of `afford`, and makes the same share of the moves. So no later call has more
    /// moves due.
    fn due(&self, quota: &WorkQuota, live: u32, afford: u32) -> u32 {
        let erase = if self.needs_erase { quota.per_erase } else { 0 };
        if live == 0 { 0 } else { moves_due(live + erase, self.written, afford) }
    }

    /// Reduces `moves` for a call that also writes a leaf or a root, and returns the new number.
    /// The leaf or root lasts as long as `beside` moves.
    ///
    /// The call leaves at most `beside` moves to later calls. The number is chosen so that the
    /// longest call, among this call and the later calls, is as short as possible. If `moves` is
    /// already the largest number that a call may make, at least one move is left.
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
        // At most `most` moves may become due in a later call, because a call makes no more moves.
        let waits =
            (least..=beside.max(least)).filter(|&less| less == least || later(less) <= most);
        let longest = |less: &u32| {
            (later(*less).max((moves + beside).saturating_sub(*less)), beside - (*less).min(beside))
        };
        moves.saturating_sub(waits.min_by_key(longest).unwrap_or(least))
    }

    /// Returns the number of moves of a call that also erases. The next calls make the remaining
    /// moves. The number is chosen so that this call lasts as long as each of them.
    fn beside_erase(&self, quota: &WorkQuota, most: u32) -> u32 {
        if self.is_short || self.is_urgent {
            return u32::MAX;
        }
        // After this erase, later calls of the victim count no erase as due.
        let later = Self { needs_erase: false, ..*self };
        let afford = self.afford.saturating_sub(self.written);
        let is_fair = |&moves: &u32| {
            later.due(quota, self.live.saturating_sub(moves), afford) <= quota.per_erase + moves
        };
        (0..most).find(is_fair).unwrap_or(most)
    }

    /// Returns true if the call erases: the erase is urgent enough, or the call has no moves to
    /// make besides.
    fn erases(&self, quota: &WorkQuota, must_fold: bool) -> bool {
        match self.erase {
            Want::Must => true,
            Want::Should => !must_fold,
            Want::May => !must_fold && !self.is_short && self.beside_erase(quota, self.live) == 0,
            Want::No => false,
        }
    }

    /// Returns the number of leaves that a call with `moves` moves writes back, so that no more
    /// than `limit` entries are left.
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

    /// Returns true if no number of a plan is above the number in `limit`.
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
        /// The bound is the cost of the largest plans. While the reserve is not used up, no plan in
        /// any situation is larger than all of them.
        #[test]
        fn no_plan_exceeds_the_promise(
            (written, changes, live, afford) in (0u32..6, 0u32..40, 0u32..33, 0u32..200),
            entries in 0u32..372,
            (is_urgent, needs_erase, has_erased, rests) in any::<(bool, bool, bool, bool)>(),
            (erase, root, fill, lacks) in (want(), want(), 0u32..101, 0u32..9),
            (places, leaf_places, stock, in_a_row) in (0u32..33, 0u32..33, 0u32..5, 0u32..99),
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
                in_a_row,
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
