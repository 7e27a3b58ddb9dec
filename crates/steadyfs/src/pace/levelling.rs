//! Wear levelling: data at rest leaves blocks that lag, so that these wear as others do.
//!
//! Moving a full block gives back as many frames as it takes, but later: the savings bridge that.

use super::Outlook;
use crate::features::WEAR_LEVELLING;
use crate::media::{BlockIndex, Flash};
use crate::space::{Choice, HeadIndex, NONE, State, UNUSED};

/// What a call does for wear levelling, or because of weak pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Levelling {
    /// It does not look: there is none, or nothing was erased since the last look.
    Rests,
    /// It cannot be afforded yet, and so many frames may be saved for it. While a whole block is not saved, the next look is after the next erase.
    Saves { frames: u32 },
    /// No block lags.
    Nothing,
    /// A page in the block of a head is weak: its frames move.
    Release(HeadIndex),
    /// A head that is hardly used keeps its block from wearing: another one takes its place.
    GiveUp(HeadIndex),
    /// The same of the journal's, whose newest page rests there: it goes into the most worn block.
    MoveJournal,
    /// The frames of a block move.
    Empty(BlockIndex),
}

impl<F: Flash> Outlook<'_, '_, F> {
    /// What a call that has written so many frames does. While a transaction `is_open` the journal stays where it is.
    pub fn levelling(&self, written: u32, is_open: bool) -> Levelling {
        let (space, fpb) = (&self.ftl.space, self.ftl.layout.frames_per_block);
        let has_weak = space.blocks().count(State::Weak) > 0 || space.weak_head().is_some();
        if !self.levels_or_scrubs() || (self.pace.has_seen_wear(self.ftl.pages.erases()) && !has_weak) {
            return Levelling::Rests;
        }
        let (promise, written) = (self.promise(0), written.max(1));
        let afford = self.affordable_as(fpb, true).saturating_sub(written);
        if (fpb + promise.per_erase) * written > promise.moves(written) * afford {
            // Where blocks empty themselves and no victim is needed, this is what fills the savings.
            return Levelling::Saves { frames: u32::from(self.affordable(0) > fpb / 2) };
        }
        if let Some(head) = space.weak_head() {
            return Levelling::Release(head);
        }
        // Whether a block lags so far behind the mean that what is in it must move.
        let least = space.blocks().wear_mean().saturating_sub(self.lag_kept());
        let least = if WEAR_LEVELLING { least } else { 0 };
        self.lagging_head(is_open, least).or_else(|| self.resting_block(least)).unwrap_or(Levelling::Nothing)
    }

    /// A head in a block that lags, where there is another block for it: in one that lags as much it would have to go on at once. A block lags that is worn
    /// less than `least`.
    fn lagging_head(&self, is_open: bool, least: u32) -> Option<Levelling> {
        let (space, blocks) = (&self.ftl.space, self.ftl.space.blocks());
        let lags = |block: BlockIndex| u32::from(blocks.wear(block)) < least;
        let head_lags = |head: HeadIndex| {
            let block = space.heads().get(head).block;
            block != NONE && lags(block)
        };
        let has_worn = (0..blocks.block_count()).any(|block| blocks.state(block) == State::Erased && !lags(block));
        if !has_worn {
            return None;
        }
        let of_frames = space.heads().of_frames().find(|&head| head != HeadIndex::USER && head_lags(head));
        let journal = head_lags(HeadIndex::JOURNAL) && !is_open && blocks.count(State::Erased) > 1;
        of_frames.map(Levelling::GiveUp).or(journal.then_some(Levelling::MoveJournal))
    }

    /// A block whose data leaves it: one that hardly holds it any more, or the least worn, if it lags.
    fn resting_block(&self, least: u32) -> Option<Levelling> {
        let blocks = self.ftl.space.blocks();
        let weak = blocks.choose(State::Weak, Choice::LeastWornInUse);
        // While blocks that nobody uses are worn less, they are used first, and moving data gains nothing.
        let unused = || blocks.choose_among(&UNUSED, Choice::LeastWorn).map_or(u32::MAX, |block| blocks.wear(block).into());
        // On a volume that is young none lags.
        let rested = || if least > 0 { blocks.choose(State::Used, Choice::LeastWornInUse) } else { None };
        let wear = |block: &BlockIndex| u32::from(blocks.wear(*block));
        weak.or_else(|| rested().filter(|block| wear(block) < least && wear(block) < unused())).map(Levelling::Empty)
    }
}
