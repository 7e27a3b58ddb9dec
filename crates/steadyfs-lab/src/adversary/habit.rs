//! The habits of an adversary.

use super::kind::Kind;
use crate::evaluate::draw::one_of;
use fastrand::Rng;

/// Maximum number of calls that prepare one call.
const PREPARED: u32 = 48;

/// The behaviour of an adversary during a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Habit {
    /// Weight of each kind among the calls that prepare another one.
    weights: [u8; Kind::CALLS],
    /// Number of preparing calls before each call that is to take long.
    prepared: u32,
    /// True if preparation goes on until the bound is large, up to `PREPARED` calls.
    pub is_guided: bool,
    /// Bytes of a patch.
    pub patch_bytes: usize,
    /// Overwrites in the fullest block, out of ten. The others go anywhere.
    pub fullest: u32,
    /// Pages of the large file in which the other patches and overwrites lie.
    pub pages: u32,
    /// Number of small files that take turns.
    pub files: usize,
    /// Maximum bytes of a small file.
    pub file_bytes: u64,
    /// Preparing calls, out of ten, whose changes may wait for a sync.
    pub waiting: u32,
}

impl Habit {
    /// Draws a habit.
    pub fn any(rng: &mut Rng) -> Self {
        let mut weights = [0; Kind::CALLS];
        for _ in 0..rng.u32(1..5) {
            weights[rng.usize(..Kind::CALLS)] = rng.u8(1..10);
        }
        let pick = |rng: &mut Rng, all: &[u64]| one_of(rng, all).unwrap_or(1);
        Self {
            weights,
            prepared: pick(rng, &[0, 1, 2, 3, 5, 8, 16, u64::from(PREPARED)]) as u32,
            is_guided: rng.bool(),
            patch_bytes: pick(rng, &[1, 8, 16, 64, 120, 200]) as usize,
            fullest: rng.u32(0..=10),
            pages: pick(rng, &[4, 16, 64, 256, 1 << 20]) as u32,
            files: pick(rng, &[1, 4, 12, 24, 96]) as usize,
            file_bytes: pick(rng, &[100, 200, 1_000, 4_000, 16_000, 60_000]),
            waiting: pick(rng, &[0, 0, 3, 9]) as u32,
        }
    }

    /// Returns a copy of `other` with one or two changes.
    pub fn like(rng: &mut Rng, other: &Habit) -> Self {
        let (mut this, drawn) = (*other, Habit::any(rng));
        for _ in 0..rng.u32(1..3) {
            match rng.u32(..10) {
                0 | 1 => this.weights[rng.usize(..Kind::CALLS)] = rng.u8(..10),
                2 => this.prepared = rng.u32(..=PREPARED),
                3 => this.is_guided = drawn.is_guided,
                4 => this.patch_bytes = drawn.patch_bytes,
                5 => this.fullest = drawn.fullest,
                6 => this.pages = drawn.pages,
                7 => this.files = drawn.files,
                8 => this.file_bytes = drawn.file_bytes,
                _ => this.waiting = drawn.waiting,
            }
        }
        this
    }

    /// Draws the next call that prepares, after `done` such calls.
    ///
    /// Returns `None` if enough calls have prepared, or if the habit prepares nothing.
    pub fn next(&self, rng: &mut Rng, done: u32, is_large: bool) -> Option<Kind> {
        let goes_on = done < self.prepared || (self.is_guided && !is_large && done < PREPARED);
        let total = self.weights.iter().map(|&weight| u32::from(weight)).sum::<u32>();
        if !goes_on || total == 0 {
            return None;
        }
        let mut drawn = rng.u32(..total);
        Kind::ALL.into_iter().zip(self.weights).find_map(|(kind, weight)| {
            let is_it = drawn < u32::from(weight);
            drawn = drawn.saturating_sub(u32::from(weight));
            is_it.then_some(kind)
        })
    }
}
