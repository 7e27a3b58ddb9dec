//! Wear levelling: data at rest leaves blocks that lag, so that these wear as others do.
//!
//! Moving a full block gives back as many frames as it takes, but later. The savings bridge the
//! time between.

use super::ReclaimView;
use crate::features::WEAR_LEVELLING;
use crate::media::{BlockIndex, Flash};
use crate::space::{BlockChoice, HeadIndex, NONE, State, UNUSED};

/// Work of a call for wear levelling, or because of weak pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Levelling {
    /// The call does not check wear: there is no levelling, or nothing was erased since the last
    /// check.
    Rests,
    /// Levelling cannot be afforded yet, and `frames` frames may be saved for it. While less
    /// than a whole block is saved, the next check comes after the next erase.
    Saves { frames: u32 },
    /// No block lags.
    Nothing,
    /// A page in the block of a head is weak. Its frames move.
    Release(HeadIndex),
    /// A head that is hardly used keeps its block from wearing. Another block takes its place.
    GiveUp(HeadIndex),
    /// The journal's head keeps its block from wearing, because its newest page rests there. The
    /// page goes into the most worn block.
    MoveJournal,
    /// The frames of a block move.
    Empty(BlockIndex),
}

impl<F: Flash> ReclaimView<'_, '_, F> {
    /// Returns the work of a call that has written `written` frames. While a transaction
    /// `is_open` the journal stays in its place.
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
        // The moves of a full block must not exceed the most that calls make.
        if (fpb + quota.per_erase) * written > quota.moves(written) * afford {
            // If blocks empty themselves and no victim is needed, this fills the savings.
            return Levelling::Saves { frames: u32::from(self.affordable(0) > fpb / 2) };
        }
        if let Some(head) = space.weak_head() {
            return Levelling::Release(head);
        }
        // A block with less wear lags so far behind the mean that its data must move.
        let least = space.blocks().wear_mean().saturating_sub(self.lag_kept());
        let least = if WEAR_LEVELLING { least } else { 0 };
        self.lagging_head(is_open, least)
            .or_else(|| self.resting_block(least))
            .unwrap_or(Levelling::Nothing)
    }

    /// Returns the work for a head in a block that lags, if there is another block for it. In a
    /// block that lags as much, the head would have to go on at once. A block lags if its wear
    /// is less than `least`.
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

    /// Returns a block whose data must leave it: a weak block, or the least worn block if it
    /// lags.
    fn resting_block(&self, least: u32) -> Option<Levelling> {
        let blocks = self.ftl.space.blocks();
        let weak = blocks.choose(State::Weak, BlockChoice::LeastWornInUse);
        // While unused blocks are worn less, they are used first, and moving data gains nothing.
        let unused = || {
            blocks
                .choose_among(&UNUSED, BlockChoice::LeastWorn)
                .map_or(u32::MAX, |block| blocks.wear(block).into())
        };
        // On a young volume no block lags.
        let rested = || {
            if least > 0 { blocks.choose(State::Used, BlockChoice::LeastWornInUse) } else { None }
        };
        let wear = |block: &BlockIndex| u32::from(blocks.wear(*block));
        weak.or_else(|| rested().filter(|block| wear(block) < least && wear(block) < unused()))
            .map(Levelling::Empty)
    }
}
