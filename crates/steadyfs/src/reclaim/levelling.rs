//! Wear levelling: data at rest is moved out of blocks whose erase count lags behind. So these
//! blocks wear like the others.
//!
//! The moves of a full block take as many frames as they free, but the frames become free later.
//! Until then, the frames that are saved for wear levelling replace them.

use super::ReclaimView;
use crate::features::WEAR_LEVELLING;
use crate::media::{BlockIndex, Flash};
use crate::space::{BlockChoice, HeadIndex, NONE, State, UNUSED};

/// Work of a call for wear levelling, or for weak pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Levelling {
    /// The call does not check wear: the volume does not level wear, or nothing was erased since
    /// the last check.
    Rests,
    /// At present, each call would need too many moves to empty a full block. `frames` frames may
    /// be saved for this block. While less than a whole block is saved, wear is checked again only
    /// after the next erase.
    Saves { frames: u32 },
    /// No block's erase count lags behind.
    Nothing,
    /// A page in this head's block is weak. The head gives up the block, so that its frames move.
    Release(HeadIndex),
    /// This head is hardly used, so its block does not wear. The head gets another block.
    GiveUp(HeadIndex),
    /// The block of the journal's head does not wear, because the newest journal page stays there.
    /// The page is written into the most worn erased block.
    MoveJournal,
    /// The frames of this block move.
    Empty(BlockIndex),
}

impl<F: Flash> ReclaimView<'_, '_, F> {
    /// Returns the work of a call that has written `written` frames. If `is_open` is true, a
    /// transaction is open and the journal page is not moved.
    pub fn levelling(&self, written: u32, is_open: bool) -> Levelling {
        let (space, fpb) = (&self.ftl.space, self.ftl.layout.frames_per_block);
        let has_weak = space.blocks().count(State::Weak) > 0 || space.weak_head().is_some();
        if !self.levels_or_scrubs()
            || (self.reclaim.has_seen_wear(self.ftl.pages.erases()) && !has_weak)
        {
            return Levelling::Rests;
        }
        let (quota, written) = (self.quota(0), written.max(1));
        let afford = self.affordable_as(fpb, true).saturating_sub(written);
        // No full block is emptied if a call would then make more moves than its quota.
        if (fpb + quota.per_erase) * written > quota.moves(written) * afford {
            // If blocks become empty without moves and no victim is needed, a frame is saved here.
            return Levelling::Saves { frames: u32::from(self.affordable(0) > fpb / 2) };
        }
        if let Some(head) = space.weak_head() {
            return Levelling::Release(head);
        }
        // A block with less wear than `least` lags so far behind the mean that its data must move.
        let least = space.blocks().wear_mean().saturating_sub(self.lag_kept());
        let least = if WEAR_LEVELLING { least } else { 0 };
        self.lagging_head(is_open, least)
            .or_else(|| self.resting_block(least))
            .unwrap_or(Levelling::Nothing)
    }

    /// Returns the work for a head whose block lags, if an erased block is ready that does not lag.
    /// If the new block lagged too, the head would have to change its block again at once. A block
    /// lags if its wear is less than `least`.
    fn lagging_head(&self, is_open: bool, least: u32) -> Option<Levelling> {
        let (space, blocks) = (&self.ftl.space, self.ftl.space.blocks());
        let lags = |block: BlockIndex| u32::from(blocks.wear(block)) < least;
        let head_lags = |head: HeadIndex| {
            let block = space.heads().get(head).block;
            block != NONE && lags(block)
        };
        let has_worn = (0..blocks.block_count())
            .any(|block| blocks.state(block) == State::Erased && !lags(block));
        if !has_worn {
            return None;
        }
        let of_frames =
            space.heads().of_frames().find(|&head| head != HeadIndex::USER && head_lags(head));
        let journal = head_lags(HeadIndex::JOURNAL) && !is_open && blocks.count(State::Erased) > 1;
        of_frames.map(Levelling::GiveUp).or(journal.then_some(Levelling::MoveJournal))
    }

    /// Returns the work for a block whose data must move: a weak block, or the least worn block in
    /// use if it lags.
    fn resting_block(&self, least: u32) -> Option<Levelling> {
        let blocks = self.ftl.space.blocks();
        let weak = blocks.choose(State::Weak, BlockChoice::LeastWornInUse);
        // If unused blocks have even less wear, heads use these blocks first. So moving data gains
        // nothing.
        let unused = || {
            blocks
                .choose_among(&UNUSED, BlockChoice::LeastWorn)
                .map_or(u32::MAX, |block| blocks.wear(block).into())
        };
        // On a volume with few erases, no block counts as lagging behind the mean wear.
        let rested = || {
            if least > 0 { blocks.choose(State::Used, BlockChoice::LeastWornInUse) } else { None }
        };
        let wear = |block: &BlockIndex| u32::from(blocks.wear(*block));
        weak.or_else(|| rested().filter(|block| wear(block) < least && wear(block) < unused()))
            .map(Levelling::Empty)
    }
}
