//! The pace of reclamation, at which every call can afford its share.
//!
//! At the end of each call that changed the volume, a few live frames of the *victim* are moved.
//! So the victim is empty before the space of the reserve is needed. A call is first
//! [planned](plan), and then the store carries out the plan.
//!
//! The formula has these terms:
//!
//! - `F`: frames that can still be programmed (quarantine included)
//! - `R`: the reserve
//! - `w`: live frames left in the victim
//! - `fold(n)`: whole leaves that `n` map changes will cost
//!
//! ```text
//! x = max { x ≥ 0 : F − R − savings − w − x − fold(w + x) ≥ 0 }
//! ```
//!
//! `x` is the number of frames that the caller may still write.
//!
//! A call that wrote `h` frames moves `⌈(w + e)·h / x⌉`. An erase that is still to come counts
//! as `e` moves. Moves and leaf write-backs cancel in `x`. So `x` falls by at most `h` in a
//! call, except for the leaf that is not whole yet. The share `(w + e) / x` does not rise. The
//! victim is empty before `x` is 0, or a few frames later. These few frames come out of the
//! reserve.
//!
//! [`ReclaimState`] is the state that lasts from one call to the next. A [`ReclaimView`] reads it
//! together with the rooms that it depends on, and changes nothing.

mod bounds;
mod idle;
mod levelling;
mod plan;
mod room;
mod view;
mod waiting;
mod work;

pub(crate) use bounds::{Bounds, Buffer, clean_mount_bound, mount_bound};
pub(crate) use idle::IdleStep;
pub(crate) use levelling::Levelling;
pub(crate) use plan::{Plan, WorkQuota};
pub(crate) use view::{Done, ReclaimView};
pub(crate) use waiting::Urgency;
pub(crate) use work::Work;

use crate::media::BlockIndex;
use crate::space::NONE;
use waiting::DeferredMoves;

/// Programs by which a root may be late.
pub(crate) const ROOT_SLACK: u32 = 24;

/// The purpose of an erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Erasure {
    /// The next block of the ring.
    Ring,
    /// A block that may be allocated.
    Listed,
}

/// The state of reclamation between calls. See the [module](self).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReclaimState {
    victim: BlockIndex,
    /// Live frames that the last chosen victim had when it was chosen.
    last_live: u16,
    calls_since_erase: u8,
    /// True if one call since the victim was chosen has erased instead of moving.
    has_erased: bool,
    /// True if the victim is a block at rest.
    levelling: bool,
    /// Frames that the caller wrote since the victim was chosen.
    written: u32,
    /// Number of erases at the last check of wear.
    erases_seen: u16,
    /// True at every second victim that saves frames.
    every_second: bool,
    /// True if the reclamation of a call failed.
    behind: bool,
    /// Moves of the victim that are due and wait.
    waiting: DeferredMoves,
}

impl ReclaimState {
    /// Creates the pace of a new volume, without a victim.
    pub fn new() -> Self {
        Self {
            victim: NONE,
            last_live: 0,
            calls_since_erase: u8::MAX,
            has_erased: false,
            levelling: false,
            written: 0,
            // No number of erases was checked yet, so the first check comes at once.
            erases_seen: u16::MAX,
            every_second: false,
            behind: false,
            waiting: DeferredMoves::default(),
        }
    }

    /// Returns the block whose live frames are being moved, or [`NONE`].
    pub fn victim(&self) -> BlockIndex {
        self.victim
    }

    /// Counts a call that ends.
    pub fn count_call(&mut self) {
        self.calls_since_erase = self.calls_since_erase.saturating_add(1);
    }

    /// Delays all work that can wait, so that the first calls after a mount are as short as
    /// others.
    pub fn wait(&mut self) {
        self.calls_since_erase = 0;
    }

    /// Records that a call has erased instead of moving.
    pub fn note_erase(&mut self) {
        self.calls_since_erase = 0;
        self.has_erased = true;
    }

    /// Counts frames that the caller has written.
    pub fn count_written(&mut self, frames: u32) {
        self.written += frames;
    }

    /// Returns true if the reclamation of a call failed, and was not made up for.
    pub fn is_behind(&self) -> bool {
        self.behind
    }

    /// Sets whether the reclamation of a call failed.
    pub fn set_behind(&mut self, is_behind: bool) {
        self.behind = is_behind;
    }

    /// Ends the work on an empty victim, and begins the work on another one, or [`NONE`].
    /// Returns the frames that came out of the savings meanwhile.
    #[must_use]
    pub fn choose(&mut self, victim: BlockIndex) -> u32 {
        self.victim = victim;
        self.has_erased = false;
        self.waiting = DeferredMoves::default();
        let written = core::mem::take(&mut self.written);
        // A block at rest took as many frames as it gave. The frames that the caller wrote
        // meanwhile came out of the savings.
        if core::mem::take(&mut self.levelling) { written } else { 0 }
    }

    /// Makes a block the victim for another reason than its space.
    pub fn take(&mut self, victim: BlockIndex) {
        self.victim = victim;
    }

    /// Makes a block at rest the victim.
    pub fn take_rested(&mut self, victim: BlockIndex) {
        (self.victim, self.levelling) = (victim, true);
    }

    /// Begins with the victim that a view has found. With `saves`, frames are saved for wear
    /// levelling. They are at most 4, and as many as keep the victim's moves below the most that
    /// calls may make. If there are none, one frame is saved at every second victim. Returns the
    /// number of saved frames.
    #[must_use]
    pub fn begin(&mut self, found: &Emptiest, saves: bool) -> u32 {
        (self.victim, self.last_live) = (found.block, found.live as u16);
        if !saves {
            return 0;
        }
        self.every_second = !self.every_second;
        let (live, afford, quota) = (found.live, found.afford, &found.quota);
        let most = quota.moves(1);
        let calm = |saved: u32| {
            (live + quota.per_erase).div_ceil(afford.saturating_sub(saved).max(1)) < most
        };
        let wanted = (afford / 8).clamp(1, 4);
        (1..=wanted).rev().find(|&saved| calm(saved)).unwrap_or(u32::from(self.every_second))
    }

    /// Records the number of erases at a check of wear.
    pub fn see_wear(&mut self, erases: u16) {
        self.erases_seen = erases;
    }

    /// Returns true if wear was checked at this number of erases.
    pub fn has_seen_wear(&self, erases: u16) -> bool {
        self.erases_seen == erases
    }

    /// Adds moves, of a victim with `live` frames, to the waiting moves. Returns the number of
    /// moves to make now, `many` at once.
    pub fn defer(&mut self, moves: u32, live: u32, many: u32, time: Urgency) -> u32 {
        self.waiting.defer(moves, live, many, time)
    }
}

/// A victim that is chosen for its space.
pub(crate) struct Emptiest {
    block: BlockIndex,
    live: u32,
    /// Frames that the caller may write until the victim must be empty.
    afford: u32,
    quota: WorkQuota,
}
