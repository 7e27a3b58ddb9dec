//! The worst case of a call, in closed form.
//!
//! With `P` frames per block, `φ` overlay entries freed by a fold, `C` blocks for data, and `U` live frames:
//!
//! ```text
//! m = ⌊U / C⌋                                        live frames of the worst victim (pigeonhole)
//! n = max { n : m + n + ⌈(m + n)/φ⌉ + 1 ≤ P }        frames that the caller may write per victim
//! c = ⌈m·h / (n − h)⌉, or P when n ≤ 3h              frames moved by a call that writes h frames
//! f = max(1, ⌈(h + c)/φ⌉)                            folds of a call
//! ```
//!
//! A call that writes `h` frames costs `h` frames of programs and then either `c` moves and `f` folds (or a checkpoint in their
//! place), or one erase. Where `n ≤ 3h` ("tight": nearly full) it may have to do all of that.

use super::blocks::State;
use super::reclaim::CHECKPOINT_SLACK;
use super::{HeadIndex, Store};
use crate::config::{Layout, STOCK};
use crate::cost::{Bound, Cost, Envelope};
use crate::media::{Flash, Timing};

/// What reclamation owes at a given fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// Frames moved for one victim at most.
    pub victim: u32,
    /// Frames that the caller may write per victim.
    pub gain: u32,
    /// Frames moved by one call at most.
    pub moves: u32,
    /// Leaves folded by one call at most.
    pub folds: u32,
    /// Moves and erase may meet in one call.
    pub tight: bool,
}

impl Share {
    /// For a volume with `live` live frames and calls that write `written` frames.
    pub(crate) fn new(layout: &Layout, live: u32, written: u32) -> Self {
        let (fpb, per_fold) = (layout.frames_per_block, layout.fold_frees);
        let victim = (live / layout.data_blocks).min(fpb);
        let fits = |n: u32| victim + n + (victim + n).div_ceil(per_fold) < fpb;
        let mut gain = fpb;
        while gain > 0 && !fits(gain) {
            gain -= 1;
        }
        let tight = gain <= 3 * written;
        // A block at rest is full and is moved over at least as many frames as the worst victim's.
        let moves = if written == 0 {
            1
        } else if tight {
            fpb
        } else {
            (victim * written).div_ceil(gain - written).max(1 + written)
        };
        let folds = (written + moves).div_ceil(per_fold).max(1);
        Self { victim, gain, moves, folds, tight }
    }
}

/// Reads of a write that does not replace a whole logical page: the map, and the old content.
pub(crate) fn merge_reads(layout: &Layout) -> u32 {
    u32::from(layout.config.unit_pages) + 1
}

/// One frame written for the caller: one read for the map where few frames are left.
fn write_cost(layout: &Layout) -> Cost {
    Cost { reads: 1, programs: u32::from(layout.config.unit_pages), ..Cost::default() }
}

impl<F: Flash> Store<'_, F> {
    /// Worst case of a call that writes `frames` frames and `journal_pages` journal pages, with `failures` failing programs.
    pub fn bound(&self, frames: u32, journal_pages: u32, failures: u32) -> Bound {
        let layout = &self.layout;
        let unit = u32::from(layout.config.unit_pages);
        let share = Share::new(layout, self.blocks.live_total() + frames, frames);
        let mut own = write_cost(layout).times(frames);
        own.programs += journal_pages + u32::from(self.unmarked);
        // A commit looks the old frames of its pages up where few frames are left.
        own.reads += self.pending.len() + self.journal.discard_count();
        // A failed frame is written, or moved, once more, in another block; a failed erase is tried on another block.
        own = own.plus(&Cost { reads: unit, tag_reads: unit, programs: unit, copies: unit, erases: 1 }.times(failures));
        let moves = self.move_cost().times(share.moves);
        let folds = Cost { reads: unit, programs: unit, ..Cost::default() }.times(share.folds);
        let checkpoint = Cost { programs: layout.checkpoint_pages, ..Cost::default() };
        let erase = Cost { erases: self.erases(&share, frames, journal_pages), ..Cost::default() };
        let most = Cost { programs: folds.programs.max(checkpoint.programs), ..folds };
        if share.tight {
            // Nearly full: everything may meet, and the heads may need more than one erased block.
            let all = own.plus(&moves).plus(&folds).plus(&folds).plus(&checkpoint).plus(&erase);
            return Bound { moving: all, erasing: all };
        }
        Bound { moving: own.plus(&moves).plus(&most), erasing: own.plus(&erase) }
    }

    /// Erases of a call: one that restocks, or what it programs beyond the blocks that are erased now, if that is more. It is
    /// more only just after a mount, and where a call fills a whole block.
    fn erases(&self, share: &Share, frames: u32, journal_pages: u32) -> u32 {
        let blocks =
            |head: HeadIndex, places: u32| places.saturating_sub(self.head_rest(head)).div_ceil(self.head_capacity(head));
        let (folds, moves) = if share.tight { (2 * share.folds, share.moves) } else { (0, 0) };
        let taken = blocks(HeadIndex::User, frames + folds)
            + blocks(HeadIndex::Moved, moves)
            + blocks(HeadIndex::Journal, journal_pages + u32::from(self.unmarked));
        taken.saturating_sub(self.blocks.count(State::Erased)).max(1)
    }

    fn move_cost(&self) -> Cost {
        let unit = u32::from(self.layout.config.unit_pages);
        if self.flash.can_copy() {
            Cost { tag_reads: unit, copies: unit, ..Cost::default() }
        } else {
            Cost { tag_reads: 1, reads: unit, programs: unit, ..Cost::default() }
        }
    }

    /// Envelopes of writes of `frames` frames and `journal_pages` journal pages each; all of them hold.
    ///
    /// The first lets every call move as much as it may and spreads erases; the second spreads all of a victim's cost over the
    /// writes that its space pays for, two victims ahead.
    pub fn envelopes(&self, frames: u32, journal_pages: u32, timing: &Timing) -> [Envelope; 2] {
        let layout = &self.layout;
        let unit = u32::from(layout.config.unit_pages);
        let bound = self.bound(frames, journal_pages, 0);
        let (moving, erasing) = (bound.moving.time_ns(timing), bound.erasing.time_ns(timing));
        let share = Share::new(layout, self.blocks.live_total() + frames, frames);
        let calls = u64::from((share.gain / frames.max(1)).max(1));
        let over = erasing.saturating_sub(moving);
        let spread = Envelope { burst_ns: over * u64::from(STOCK + 2), rate_ns: moving + over.div_ceil(calls) };
        let mut own = write_cost(layout).times(frames);
        own.programs += journal_pages;
        let programs = layout.frames_per_block * unit + journal_pages * calls as u32;
        let checkpoints = programs.div_ceil(u32::from(layout.config.checkpoint_programs)) + 1;
        let cycle = self
            .move_cost()
            .times(share.victim)
            .plus(
                &Cost { reads: unit, programs: unit, ..Cost::default() }
                    .times((share.victim + share.gain).div_ceil(layout.fold_frees)),
            )
            .plus(&Cost { programs: checkpoints * layout.checkpoint_pages, erases: 1, ..Cost::default() });
        let cycle_ns = cycle.time_ns(timing) + timing.erase_ns.div_ceil(8);
        let rest_ns = self.move_cost().times(layout.frames_per_block).time_ns(timing);
        let average = Envelope {
            burst_ns: 2 * cycle_ns + rest_ns + u64::from(STOCK) * timing.erase_ns,
            rate_ns: own.time_ns(timing)
                + cycle_ns.div_ceil(calls)
                + rest_ns.div_ceil(calls * u64::from(layout.frames_per_block)),
        };
        [spread, average]
    }

    /// Worst case of a mount after an unclean stop.
    ///
    /// Superblock, first pages of the anchors, two searches for the end of an anchor, the checkpoint, one tag for each program
    /// since, the leaves, the journal page, and settling: one erase, two rescued frames, journal page and checkpoint, an erase
    /// for heads that are nearly full (two where blocks are small), and, where two frames were rescued, their way back into
    /// blocks that may have to be erased first.
    pub fn mount_bound(layout: &Layout) -> Cost {
        let unit = u32::from(layout.config.unit_pages);
        let pages = layout.geometry.pages_per_block;
        let search = pages.ilog2() + 2 + unit + 2 * layout.checkpoint_pages;
        let share = Share::new(layout, layout.usable, 2);
        let overshoot = CHECKPOINT_SLACK + 2 * (2 + share.moves + share.folds) * unit + 4;
        Cost {
            reads: 32 + layout.anchor_count + 2 * layout.checkpoint_pages + layout.leaf_count * unit + 4 + 6 * unit,
            tag_reads: 2 * search
                + layout.listed_blocks
                + 3
                + 2
                + 2 * unit
                + u32::from(layout.config.checkpoint_programs)
                + overshoot,
            programs: 5 * unit + 2 + 2 * layout.checkpoint_pages,
            copies: 2 * unit,
            erases: 3 + (16 / layout.frames_per_block).max(1),
        }
    }
}
