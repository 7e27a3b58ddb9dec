//! Which block is won back next, and which one lags in wear, without a look at all of them in any call.
//!
//! With each frame that a call writes, a few blocks are looked at, one after the other, and the emptiest of those seen are held: so
//! many blocks that a round through all of them takes no longer than [`HELD`]` − 1` victims. The block that is chosen then has no more
//! than `⌊(U + D) / C⌋` live frames, where `D` frames are written in a round:
//!
//! A block in use only loses live frames. Whatever is not held was passed over, in the last round, for `HELD` blocks that were no fuller. At least
//! one of them is still held, since fewer were taken meanwhile, and has become no fuller. So each block had, when it was looked at, at
//! least as many live frames as the emptiest that is held has now; all of them together had at most the `U` of now and the `D` that have died since.

use super::NONE;
use super::blocks::{Blocks, State};
use crate::media::BlockIndex;

/// Blocks that are held.
pub(super) const HELD: usize = 11;

/// What was seen of the blocks.
pub(super) struct Seen {
    /// The emptiest blocks in use.
    held: [BlockIndex; HELD],
    /// The next one that is looked at.
    next: BlockIndex,
    /// The least worn block in use.
    rested: BlockIndex,
    /// A block that its data must leave.
    failing: BlockIndex,
    /// The least wear of the blocks that nobody uses: in the last round, and in this one.
    unused_wear_min: [u8; 2],
}

impl Default for Seen {
    fn default() -> Self {
        Self { held: [NONE; HELD], next: 0, rested: NONE, failing: NONE, unused_wear_min: [u8::MAX; 2] }
    }
}

impl Seen {
    /// Takes what was taken off all wears off those that were seen.
    pub fn forget_wear(&mut self, least: u8) {
        self.unused_wear_min = self.unused_wear_min.map(|wear| if wear == u8::MAX { wear } else { wear.saturating_sub(least) });
    }
}

impl Blocks<'_> {
    /// Blocks to be looked at for each frame that is written, where a victim makes room for `gain` frames.
    pub fn looks_per_frame(&self, gain: u32) -> u32 {
        self.block_count().div_ceil((HELD as u32 - 1) * gain.max(1))
    }

    /// Looks at the next blocks.
    pub fn look(&mut self, count: u32) {
        for _ in 0..count.min(self.block_count()) {
            self.notice(self.seen.next);
            self.seen.next += 1;
            if self.seen.next == self.block_count() {
                self.end_round();
            }
        }
    }

    fn end_round(&mut self) {
        let seen = &mut self.seen;
        seen.next = 0;
        seen.unused_wear_min = [seen.unused_wear_min[1], u8::MAX];
    }

    /// Holds a block if that is worth it.
    pub(super) fn notice(&mut self, block: BlockIndex) {
        let (state, wear) = (self.state(block), self.wear(block));
        match state {
            State::Used | State::Weak if self.live(block) > 0 => self.hold(block, wear),
            State::Free | State::Clean => self.seen.unused_wear_min[1] = self.seen.unused_wear_min[1].min(wear),
            _ => {}
        }
        if state == State::Retiring || (state == State::Weak && self.failing(State::Retiring).is_none()) {
            self.seen.failing = block;
        }
    }

    /// Forgets what was seen, and looks at all blocks: after a mount.
    pub fn look_at_all(&mut self) {
        self.seen = Seen::default();
        self.look(self.block_count());
    }

    fn hold(&mut self, block: BlockIndex, wear: u8) {
        if self.rested().is_none_or(|rested| wear < self.wear(rested)) {
            self.seen.rested = block;
        }
        if self.seen.held.contains(&block) {
            return;
        }
        let fullness = |held: BlockIndex| if self.is_in_use(held) { self.live(held) } else { u32::MAX };
        let (mut fullest, mut most) = (0, 0);
        for (index, &held) in self.seen.held.iter().enumerate() {
            if fullness(held) > most {
                (fullest, most) = (index, fullness(held));
            }
        }
        if self.live(block) < most {
            self.seen.held[fullest] = block;
        }
    }

    /// Whether a block may be a victim.
    fn is_in_use(&self, block: BlockIndex) -> bool {
        block != NONE && matches!(self.state(block), State::Used | State::Weak) && self.live(block) > 0
    }

    /// The block with fewest live frames, but some, of those that are held; the least worn of equals.
    pub fn emptiest(&self) -> Option<BlockIndex> {
        let held = self.seen.held.iter().copied().filter(|&block| self.is_in_use(block));
        held.min_by_key(|&block| (self.live(block), self.wear(block)))
    }

    /// The least worn block in use.
    pub fn rested(&self) -> Option<BlockIndex> {
        Some(self.seen.rested).filter(|&block| self.is_in_use(block))
    }

    /// A block in this state, weak or retiring, that has live frames.
    pub fn failing(&self, state: State) -> Option<BlockIndex> {
        let block = Some(self.seen.failing).filter(|&block| block != NONE)?;
        Some(block).filter(|&block| self.state(block) == state && self.live(block) > 0)
    }

    /// Least wear of the blocks that nobody uses and no checkpoint has listed, as far as was seen.
    pub fn unused_wear_min(&self) -> u8 {
        self.seen.unused_wear_min[0].min(self.seen.unused_wear_min[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Layout};
    use crate::media::Geometry;
    use proptest::prelude::*;
    use std::vec;

    const GEOMETRY: Geometry = Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64 };

    proptest! {
        /// Frames die wherever an adversary likes; blocks that are won back come back full.
        #[test]
        fn chosen_block_has_no_more_than_the_mean_and_what_died_in_a_round(
            start in prop::collection::vec(0_u32..=8, 64), deaths in prop::collection::vec(0_u32..64, 400)
        ) {
            let layout = Layout::derive(&GEOMETRY, &Config::for_geometry(&GEOMETRY)).unwrap();
            let frames = layout.frames_per_block;
            let (mut live, mut wear, mut state) = (vec![0; 64 * layout.bitmap_bytes() as usize], vec![0; 64], vec![0; 32]);
            let mut blocks = Blocks::new(&mut live, &mut wear, &mut state, &layout);
            for (block, &count) in (0..).zip(&start) {
                (0..count.min(frames)).for_each(|frame| { blocks.set_live(block * frames + frame, true); });
                blocks.set_state(block, State::Used);
            }
            blocks.look_at_all();
            let looks = blocks.looks_per_frame(1);
            let round = 64_u32.div_ceil(looks);
            for &from in &deaths {
                // A frame dies in the first block from there on that has one, and a victim is won back for each: it comes back full.
                let Some(frame) = blocks.live_from(from * frames) else { continue };
                blocks.set_live(frame, false);
                blocks.look(looks);
                let in_use = (0..64).filter(|&block| blocks.live(block) > 0).count() as u32;
                let Some(victim) = blocks.emptiest() else { continue };
                prop_assert!(blocks.live(victim) <= (blocks.live_total() + round + 1) / in_use.max(1));
                blocks.set_state(victim, State::Dead);
                (0..frames).for_each(|frame| { blocks.set_live(victim * frames + frame, true); });
                blocks.set_state(victim, State::Used);
            }
        }
    }
}
