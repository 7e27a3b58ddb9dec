//! The pace of reclamation, at which every call can afford its share.
//!
//! At the end of each call that changed the volume a few live frames of the *victim* are moved, so that it is empty before the
//! space of the reserve is needed. What a call does is [planned](plan) first, and then carried out by the store.
//!
//! With `F` the frames that can still be programmed (quarantine included), `R` the reserve, `w` the live frames left in the
//! victim, and `fold(n)` the whole leaves that `n` map changes will cost:
//!
//! ```text
//! x = max { x ≥ 0 : F − R − savings − w − x − fold(w + x) ≥ 0 }     frames that the caller may still write
//! ```
//!
//! A call that wrote `h` frames moves `⌈(w + e)·h / x⌉`, where an erase that is still to come counts as `e` moves. Moves and folds
//! cancel in `x`, so `x` falls by at most `h` a call but for the leaf that is not whole yet, the share `(w + e) / x` does not rise, and the
//! victim is empty before `x` is 0; or a few frames later, which come out of the reserve.
//!
//! [`Pace`] is what lasts from one call to the next. An [`Outlook`] reads it together with the rooms that it depends on, and changes nothing.

mod bounds;
mod idle;
mod levelling;
mod outlook;
mod plan;
mod room;
mod waiting;
mod work;

pub(crate) use bounds::{Bounds, Buffer, clean_mount_bound, mount_bound};
pub(crate) use idle::Step;
pub(crate) use levelling::Levelling;
pub(crate) use outlook::{Done, Outlook};
pub(crate) use plan::{Plan, Promise};
pub(crate) use waiting::Time;
pub(crate) use work::Work;

use crate::media::BlockIndex;
use crate::space::NONE;
use waiting::Waiting;

/// Programs by which a root may be late.
pub(crate) const ROOT_SLACK: u32 = 24;

/// What an erase is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Erasure {
    /// The block of the ring that is used next.
    Ring,
    /// A block that may be allocated.
    Listed,
}

/// The state of reclamation between calls. See the [module](self).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    victim: BlockIndex,
    /// Live frames of the victim before, when it was chosen.
    last_live: u16,
    calls_since_erase: u8,
    /// One call since the victim was chosen has erased instead of moving.
    has_erased: bool,
    /// The victim is a block at rest.
    levelling: bool,
    /// Frames that the caller wrote since the victim was chosen.
    written: u32,
    /// Erases until wear was looked at.
    erases_seen: u16,
    /// Every second victim.
    every_second: bool,
    /// The reclamation of a call failed.
    behind: bool,
    /// Moves of the victim that are due.
    waiting: Waiting,
}

impl Pace {
    /// Of a new volume: no victim.
    pub fn new() -> Self {
        Self {
            victim: NONE,
            last_live: 0,
            calls_since_erase: u8::MAX,
            has_erased: false,
            levelling: false,
            written: 0,
            // None was: it is looked at once.
            erases_seen: u16::MAX,
            every_second: false,
            behind: false,
            waiting: Waiting::default(),
        }
    }

    /// The block whose live frames are being moved, or [`NONE`].
    pub fn victim(&self) -> BlockIndex {
        self.victim
    }

    /// Another call ends.
    pub fn count_call(&mut self) {
        self.calls_since_erase = self.calls_since_erase.saturating_add(1);
    }

    /// What can wait does so: the first calls after a mount are as short as others.
    pub fn wait(&mut self) {
        self.calls_since_erase = 0;
    }

    /// A call has erased instead of moving.
    pub fn note_erase(&mut self) {
        self.calls_since_erase = 0;
        self.has_erased = true;
    }

    /// Counts frames that the caller has written.
    pub fn count_written(&mut self, frames: u32) {
        self.written += frames;
    }

    /// Whether the reclamation of a call failed, and was not made up for.
    pub fn is_behind(&self) -> bool {
        self.behind
    }

    /// Notes whether it did.
    pub fn set_behind(&mut self, is_behind: bool) {
        self.behind = is_behind;
    }

    /// Ends the work on an empty victim and begins that on another one, or [`NONE`]. Returns the frames that came out of the savings meanwhile.
    #[must_use]
    pub fn choose(&mut self, victim: BlockIndex) -> u32 {
        self.victim = victim;
        self.has_erased = false;
        self.waiting = Waiting::default();
        let written = core::mem::take(&mut self.written);
        // A block at rest took as many frames as it gave; what the caller wrote meanwhile came out of the savings.
        if core::mem::take(&mut self.levelling) { written } else { 0 }
    }

    /// Lets a block be the victim for another reason than its space.
    pub fn take(&mut self, victim: BlockIndex) {
        self.victim = victim;
    }

    /// The same of a block at rest.
    pub fn take_rested(&mut self, victim: BlockIndex) {
        (self.victim, self.levelling) = (victim, true);
    }

    /// Begins with the victim that an outlook has found. Where it `saves`, frames are saved for wear levelling: as many as leave the victim's moves within what
    /// calls may do, and half a one at least. Returns them.
    #[must_use]
    pub fn begin(&mut self, found: &Emptiest, saves: bool) -> u32 {
        (self.victim, self.last_live) = (found.block, found.live as u16);
        if !saves {
            return 0;
        }
        self.every_second = !self.every_second;
        let (live, afford, promise) = (found.live, found.afford, &found.promise);
        let most = promise.moves(1);
        let calm = |saved: u32| (live + promise.per_erase).div_ceil(afford.saturating_sub(saved).max(1)) < most;
        let wanted = (afford / 8).clamp(1, 4);
        (1..=wanted).rev().find(|&saved| calm(saved)).unwrap_or(u32::from(self.every_second))
    }

    /// Notes that wear was looked at after so many erases.
    pub fn see_wear(&mut self, erases: u16) {
        self.erases_seen = erases;
    }

    /// Whether it was.
    pub fn has_seen_wear(&self, erases: u16) -> bool {
        self.erases_seen == erases
    }

    /// Adds moves, of a victim with `live` frames, to what waits, and tells how many are made now, `many` at once.
    pub fn defer(&mut self, moves: u32, live: u32, many: u32, time: Time) -> u32 {
        self.waiting.defer(moves, live, many, time)
    }
}

/// A victim that is chosen for its space.
pub(crate) struct Emptiest {
    block: BlockIndex,
    live: u32,
    /// Frames that the caller may write until it must be empty.
    afford: u32,
    promise: Promise,
}
