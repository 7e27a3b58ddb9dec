//! The blocks that reclamation may empty next, and the moves that this takes.
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
use crate::config::Layout;
use crate::media::Flash;

/// Number of victims that are looked at.
pub(super) const VICTIMS: usize = 24;
/// Stands for no block in a list of live frames.
pub(super) const NO_BLOCK: u32 = u32::MAX;
/// Largest number of frames that are saved for wear levelling with one victim.
const SAVED_MAX: u32 = 4;

/// The room that is left for the caller's frames.
#[derive(Clone, Copy)]
pub(super) struct Room<'l> {
    layout: &'l Layout,
    /// Number of frames that can be programmed, less the reserve. May be negative.
    frames: i32,
    /// Number of entries of the overlay.
    entries: u32,
    /// Number of frames that may still be saved for wear levelling.
    saves: u32,
    /// Number of frames that the end of the present victim takes out of the savings.
    lent: u32,
    /// Largest number of live frames of the emptiest block, while little room is left.
    live_most: u32,
}

impl Room<'_> {
    /// Returns the number of frames that the caller may write until a victim with `live` live
    /// frames must be empty. The number is negative if the reserve lacks frames.
    pub fn beside(&self, live: u32) -> i32 {
        let excess = (self.entries + live).saturating_sub(self.layout.overlay_soft);
        let room = self.frames - (live + excess / self.layout.leaf_changes) as i32;
        room - room.max(0) / (self.layout.leaf_changes as i32 + 1)
    }

    /// Takes `frames` frames and `entries` entries of the overlay.
    pub fn take(&mut self, frames: u32, entries: u32) {
        self.frames -= frames as i32;
        self.entries += entries;
    }

    /// Makes another block the victim.
    pub fn choose(&mut self) {
        let lent = core::mem::take(&mut self.lent);
        let saved = SAVED_MAX.min(self.saves + lent);
        self.saves = self.saves + lent - saved;
        self.frames += lent as i32 - saved as i32;
    }

    /// Empties the victim, which has `live` live frames.
    pub fn empty(&mut self, live: u32) {
        self.frames += self.layout.frames_per_block as i32 - live as i32;
        self.entries += live;
    }

    /// Returns the moves of a call that empties victims in a row, until the caller may write more
    /// than `frames` frames. Behind the victims in `lives`, the worst victims follow. Returns at
    /// most `most`.
    pub fn moves_in_a_row(mut self, lives: &[u32], frames: u32, most: u32) -> u32 {
        let mut moves = 0;
        let worst = core::iter::repeat(self.live_most);
        for (index, live) in lives.iter().copied().chain(worst).enumerate() {
            if live == NO_BLOCK || moves >= most || (index > 0 && self.beside(live) > frames as i32)
            {
                break;
            }
            moves += live;
            self.empty(live);
            self.choose();
        }
        moves.min(most)
    }
}

impl<F: Flash> ReclaimView<'_, '_, F> {
    /// Returns the room at present. The call writes `frames` frames.
    pub(super) fn room(&self, frames: u32) -> Room<'_> {
        let (layout, saved) = (&self.ftl.layout, self.ftl.reserve.frames());
        Room {
            layout,
            frames: (self.ftl.space.pool() + self.journal_frames()) as i32 - self.reserve() as i32,
            entries: self.entries(),
            saves: (2 * layout.frames_per_block).saturating_sub(saved),
            // A block of data at rest gives back the frames that the caller wrote meanwhile.
            lent: if self.reclaim.levelling { self.reclaim.written.min(saved) } else { 0 },
            live_most: self.live_most(frames),
        }
    }

    /// Returns the live frames of the present victim, if there is one, and then at least as many
    /// live frames as the next victims have. [`NO_BLOCK`] stands for no further victim.
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

    /// Returns the moves of a call that empties victims in a row until the caller may write more
    /// than `frames` frames, but at most `most`.
    pub(super) fn moves_in_a_row(&self, frames: u32, most: u32) -> u32 {
        self.room(frames).moves_in_a_row(&self.lives(), frames, most)
    }
}
