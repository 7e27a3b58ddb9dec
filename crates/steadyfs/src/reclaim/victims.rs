//! Finds the blocks that reclamation may empty next, and counts the moves.
//!
//! A [quota](super::WorkQuota) assumes that each victim is the worst one. The blocks with the
//! fewest live frames are usually better. So a call that empties several victims moves fewer frames
//! than its quota allows:
//!
//! ```text
//! x(k)  = frames that can be programmed, less the reserve and the live frames of victim k
//! moves = live frames of victims 1 … k, where x(k + 1) is more than the call writes
//! ```

use super::ReclaimView;
use super::pace::Pace;
use crate::media::Flash;

/// Number of victims that are looked at.
const VICTIMS: usize = 24;
/// Stands for no block in a list of live frames.
pub(super) const NO_BLOCK: u32 = u32::MAX;
/// Largest number of frames that are saved for wear levelling with one victim.
const SAVED_MAX: u32 = 4;

/// Victims that a call empties in a row.
#[derive(Clone, Copy)]
pub(super) struct VictimRow<'l> {
    /// The pace without the savings for wear levelling.
    pub pace: Pace<'l>,
    /// Number of frames that may still be saved for wear levelling.
    saves: u32,
    /// Number of frames that the end of the present victim takes out of the savings.
    lent: u32,
}

impl VictimRow<'_> {
    /// Makes another block the victim.
    pub fn choose(&mut self) {
        let lent = core::mem::take(&mut self.lent);
        let saved = SAVED_MAX.min(self.saves + lent);
        self.saves = self.saves + lent - saved;
        self.pace = self.pace.with(lent as i32 - saved as i32);
    }

    /// Empties the victim, a block of `frames` frames, by `moves` moves. Its other frames are not
    /// live.
    pub fn empty(&mut self, frames: u32, moves: u32) {
        self.pace = self.pace.with(frames as i32);
        self.pace.take(moves, moves);
    }
}

impl<F: Flash> ReclaimView<'_, '_, F> {
    /// Returns a row that begins now.
    pub(super) fn row(&self) -> VictimRow<'_> {
        let saved = self.ftl.reserve.frames();
        VictimRow {
            pace: self.pace(),
            saves: (2 * self.ftl.layout.frames_per_block).saturating_sub(saved),
            // A block of data at rest gives back the frames that the caller wrote meanwhile.
            lent: if self.reclaim.levelling { self.reclaim.written.min(saved) } else { 0 },
        }
    }

    /// Returns the numbers of live frames of the present victim, if there is one, and of the next
    /// victims. The number for a later victim may be too large, but not too small. [`NO_BLOCK`]
    /// stands for no further victim.
    pub(super) fn lives(&self) -> [u32; VICTIMS] {
        let (blocks, victim) = (self.ftl.space.blocks(), self.reclaim.victim());
        let mut lives = [NO_BLOCK; VICTIMS];
        let others = (0..blocks.block_count()).filter(|&block| block != victim);
        for mut live in others.filter_map(|block| blocks.emptiest_at_most(block)) {
            if live >= lives[VICTIMS - 1] {
                continue;
            }
            // The largest number falls out at the end.
            for least in &mut lives {
                if live < *least {
                    core::mem::swap(least, &mut live);
                }
            }
        }
        if self.victim_live() > 0 {
            lives.rotate_right(1);
            lives[0] = self.victim_live();
        }
        lives
    }

    /// Returns the largest number of live frames that the emptiest block may have, if the caller
    /// may write no more than `frames` frames before a victim must be empty. The live frames then
    /// lie in all blocks for data, except the blocks of these frames and of two victims.
    fn live_most(&self, frames: u32) -> u32 {
        let fpb = self.ftl.layout.frames_per_block;
        let empty = frames.div_ceil(fpb) + 2;
        let used = self.ftl.space.data_blocks(&self.ftl.layout).saturating_sub(empty).max(1);
        ((self.ftl.space.blocks().live_total() + frames) / used).clamp(1, fpb)
    }

    /// Returns the moves of a call that empties victims in a row, until the caller may write more
    /// than `frames` frames. Behind the victims in `lives`, the worst victims follow. Returns at
    /// most `most`.
    pub(super) fn moves_in_a_row(
        &self,
        mut row: VictimRow<'_>,
        lives: &[u32],
        frames: u32,
        most: u32,
    ) -> u32 {
        let mut moves = 0;
        let worst = core::iter::repeat(self.live_most(frames));
        for (index, live) in lives.iter().copied().chain(worst).enumerate() {
            let is_last = live == NO_BLOCK || moves >= most;
            if is_last || (index > 0 && row.pace.beside(live) > frames as i32) {
                break;
            }
            moves += live;
            row.empty(self.ftl.layout.frames_per_block, live);
            row.choose();
        }
        moves.min(most)
    }
}
