//! The pace of reclamation: every call does a small share of it.
//!
//! At the end of each call that changed the volume, the store moves a few live frames out of the
//! *victim*. So the victim is empty before the frames of the reserve are needed. The work of a call
//! is [planned](plan) first. Then the store carries out the plan.
//!
//! The formula for the pace has these terms:
//!
//! - `F`: number of frames that can be programmed, including the frames of blocks in quarantine
//! - `R`: number of frames of the reserve
//! - `w`: number of live frames left in the victim
//! - `fold(n)`: number of whole leaves that must be written back because of `n` map changes
//!
//! ```text
//! x = max { x ≥ 0 : F − R − savings − w − x − fold(w + x) ≥ 0 }
//! ```
//!
//! `x` is the number of frames that the caller may still write.
//!
//! A call that wrote `h` frames moves `⌈(w + e)·h / x⌉` frames. An erase that is still due for this
//! victim counts as `e` moves. Moves and leaf write-backs do not change `x`. So `x` falls by at
//! most `h` in a call, or by one more because `fold` counts whole leaves only. The share
//! `(w + e) / x` does not rise. So the victim is empty before `x` is 0, or a few frames later. The
//! reserve provides these few frames.
//!
//! [`ReclaimState`] is the state that is kept from one call to the next. A [`ReclaimView`] reads
//! this state and the rooms that reclamation depends on. It changes nothing.

mod bounds;
mod copies;
mod idle;
mod levelling;
mod mounts;
mod pace;
mod plan;
mod present;
mod room;
mod rows;
mod victims;
mod view;
mod waiting;
mod work;

pub(crate) use bounds::{Bounds, Buffer};
pub(crate) use idle::IdleStep;
pub(crate) use levelling::Levelling;
pub(crate) use mounts::{clean_mount_bound, mount_bound};
pub(crate) use plan::{Plan, WorkQuota};
pub(crate) use view::{Done, ReclaimView};
pub(crate) use waiting::Urgency;
pub(crate) use work::Work;

use crate::media::BlockIndex;
use crate::space::NONE;
use waiting::DeferredMoves;

/// Number of programs by which a root may be late.
pub(crate) const ROOT_SLACK: u32 = 24;

/// The purpose of an erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Erasure {
    /// The erase prepares the next block of the ring.
    Ring,
    /// The erase prepares a listed block, which heads may then use.
    Listed,
}

/// The state of reclamation between calls. See the [module](self).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReclaimState {
    victim: BlockIndex,
    /// The best candidate of the last search, made when it was too early to choose a victim, or
    /// [`NONE`].
    candidate: BlockIndex,
    /// Number of live frames that the last victim had when it was chosen.
    last_live: u16,
    calls_since_erase: u8,
    /// True if reclamation has erased a block since the victim was chosen.
    has_erased: bool,
    /// True if the victim is a block of data at rest, chosen for wear levelling.
    levelling: bool,
    /// Number of frames that the caller wrote since the victim was chosen.
    written: u32,
    /// Number of erases at the last check for wear levelling.
    erases_seen: u16,
    /// A flag that changes with each victim that may save frames.
    every_second: bool,
    /// True if the reclamation of a call failed, and no later call has done its work.
    behind: bool,
    /// Moves of the victim that are due but not made yet.
    waiting: DeferredMoves,
}

impl ReclaimState {
    /// Creates the state of reclamation without a victim.
    pub fn new() -> Self {
        Self {
            victim: NONE,
            candidate: NONE,
            last_live: 0,
            calls_since_erase: u8::MAX,
            has_erased: false,
            levelling: false,
            written: 0,
            // Wear was not checked yet, so the first check comes at once.
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

    /// Counts a call that has ended.
    pub fn count_call(&mut self) {
        self.calls_since_erase = self.calls_since_erase.saturating_add(1);
    }

    /// Delays all work that is not urgent, so that the first calls after a mount are as short as
    /// other calls.
    pub fn wait(&mut self) {
        self.calls_since_erase = 0;
    }

    /// Records that reclamation has erased a block in this call.
    pub fn note_erase(&mut self) {
        self.calls_since_erase = 0;
        self.has_erased = true;
    }

    /// Counts frames that the caller has written.
    pub fn count_written(&mut self, frames: u32) {
        self.written += frames;
    }

    /// Returns true if the reclamation of a call failed, and no later call has done its work.
    pub fn is_behind(&self) -> bool {
        self.behind
    }

    /// Sets whether the reclamation of a call failed.
    pub fn set_behind(&mut self, is_behind: bool) {
        self.behind = is_behind;
    }

    /// Ends the work on an empty victim, and makes another block the victim; [`NONE`] stands for no
    /// victim. Returns the number of frames that were taken from the savings for the old victim.
    #[must_use]
    pub fn choose(&mut self, victim: BlockIndex) -> u32 {
        self.victim = victim;
        self.has_erased = false;
        self.waiting = DeferredMoves::default();
        let written = core::mem::take(&mut self.written);
        // The moves of a full block take as many frames as they free. So the frames that the caller
        // wrote meanwhile came from the savings.
        if core::mem::take(&mut self.levelling) { written } else { 0 }
    }

    /// Stores the block that would be the victim if it were time to choose one.
    pub fn note_candidate(&mut self, candidate: BlockIndex) {
        self.candidate = candidate;
    }

    /// Makes a block the victim for a reason other than its space.
    pub fn take(&mut self, victim: BlockIndex) {
        self.victim = victim;
    }

    /// Makes a block of data at rest the victim.
    pub fn take_rested(&mut self, victim: BlockIndex) {
        (self.victim, self.levelling) = (victim, true);
    }

    /// Makes the block that a view has found the victim. Returns the number of frames that are
    /// saved for wear levelling, which is 0 if `saves` is false. Up to 4 frames are saved, as long
    /// as each call makes fewer moves than it may make at most. If even one frame is too many, one
    /// frame is saved with every second victim.
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

    /// Records the number of erases at a check for wear levelling.
    pub fn see_wear(&mut self, erases: u16) {
        self.erases_seen = erases;
    }

    /// Returns true if the last check for wear levelling was made at this number of erases.
    pub fn has_seen_wear(&self, erases: u16) -> bool {
        self.erases_seen == erases
    }

    /// Adds due moves to the waiting moves. The victim has `live` live frames, and a group has
    /// `many` moves. Returns the number of moves to make now.
    pub fn defer(&mut self, moves: u32, live: u32, many: u32, time: Urgency) -> u32 {
        self.waiting.defer(moves, live, many, time)
    }
}

/// The result of a search for a victim.
pub(crate) enum VictimChoice {
    /// This block becomes the victim.
    Found(Emptiest),
    /// The choice can wait. `candidate` is the block that was found, or [`NONE`].
    Waits { candidate: BlockIndex },
}

/// A victim that is chosen for its space.
pub(crate) struct Emptiest {
    block: BlockIndex,
    live: u32,
    /// Number of frames that the caller may write until the victim must be empty.
    afford: u32,
    quota: WorkQuota,
}
