//! What an adversary does for a while.

use super::kind::Kind;
use crate::evaluate::draw::one_of;
use fastrand::Rng;

/// Most calls that prepare one.
const PREPARED: u32 = 48;

/// What an adversary does for a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Habit {
    /// How often each kind of call prepares one, beside the others.
    weights: [u8; Kind::CALLS],
    /// Calls before each that is to take long.
    prepared: u32,
    /// More of them, if the bound is to become large first.
    pub is_guided: bool,
    /// Bytes of a patch.
    pub patch_bytes: usize,
    /// Overwrites in the fullest block among ten, where the others are anywhere.
    pub fullest: u32,
    /// Pages of the large file that are patched and overwritten anywhere.
    pub pages: u32,
    /// Small files that take turns.
    pub files: usize,
    /// Bytes of a small file, at most.
    pub file_bytes: u64,
    /// Calls in ten of those that prepare whose changes may wait for a sync.
    pub waiting: u32,
}

impl Habit {
    /// One that is drawn.
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

    /// One that is like another but for a thing or two.
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

    /// What prepares next, after so many calls that did; `None` when enough has been prepared, or nothing is.
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
