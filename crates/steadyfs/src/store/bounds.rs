//! The worst case of a call, in closed form.
//!
//! With `P` frames per block, `φ` overlay entries freed by a fold, `C` blocks for data, and `U` live frames:
//!
//! ```text
//! m = ⌊U / C⌋                                        live frames of the worst victim (pigeonhole)
//! n = max { n : m + n + ⌈(m + n)/φ⌉ + 1 ≤ P }        frames that the caller may write per victim
//! c = ⌈m·h / (n − h)⌉, or P when n ≤ 3h              frames moved by a call that writes h frames
//! w                                                  pages and discards that wait for the commit, and discards of the call
//! b = 1 if w > 0, else 0                             a fold that makes room before the commit
//! f = max(1, ⌈(h + c + w)/φ⌉) + b                    folds of a call
//! ```
//!
//! A call that writes `h` frames costs `h` frames of programs and then either `c` moves and `f` folds (or a checkpoint in their
//! place), or one erase and the folds for `w`. Where `n ≤ 3h` ("tight": nearly full) it may have to do all of that.

use super::blocks::State;
use super::journal::DISCARD_BYTES;
use super::reclaim::CHECKPOINT_SLACK;
use super::transaction::{ROOM, patched_pages_max};
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

/// Which content of the journal buffer a bound is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffer {
    /// The present one.
    AsItIs,
    /// Whatever it may be.
    Any,
}

/// Bytes of a patch that is not small.
const LARGE_PATCH: u32 = 64;

/// What a call changes at most, beside what reclamation owes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// Logical pages that it writes itself.
    pub frames: u32,
    /// Patches and discards.
    pub patches: u32,
    /// Bytes of the journal that they take.
    pub patch_bytes: u32,
    /// Bytes of the journal that one of them takes.
    pub patch_bytes_max: u32,
    /// How many of them take more than [`LARGE_PATCH`].
    pub large_patches: u32,
    /// Logical pages that they are of.
    pub pages: u32,
    /// Logical pages that it discards; each of them is a patch as well.
    pub discards: u32,
    /// Journal pages that it commits with.
    pub commits: u32,
}

impl Work {
    /// Both one after the other.
    pub(crate) const fn plus(&self, other: &Self) -> Self {
        Self {
            frames: self.frames + other.frames,
            patches: self.patches + other.patches,
            patch_bytes: self.patch_bytes + other.patch_bytes,
            patch_bytes_max: if self.patch_bytes_max > other.patch_bytes_max {
                self.patch_bytes_max
            } else {
                other.patch_bytes_max
            },
            large_patches: self.large_patches + other.large_patches,
            pages: self.pages + other.pages,
            discards: self.discards + other.discards,
            commits: self.commits + other.commits,
        }
    }
}

/// Reads of a write that does not replace a whole logical page: the map, and the old content.
fn merge_reads(layout: &Layout) -> u32 {
    u32::from(layout.config.unit_pages) + 1
}

/// One frame written for the caller: one read for the map where few frames are left.
fn write_cost(layout: &Layout) -> Cost {
    Cost { reads: 1, programs: u32::from(layout.config.unit_pages), ..Cost::default() }
}

impl<F: Flash> Store<'_, F> {
    /// Frames of pages that leave the journal buffer to make room for a call's patches, and at its end for the next one's.
    ///
    /// A patch of a page that the buffer does not know writes one in its turn where there are as many as there may be. Patches for which
    /// the buffer has no room write the page with most bytes, or their own where they are larger than that.
    /// One page with little in the buffer is written as well.
    fn flushes(&self, work: &Work) -> u32 {
        let most = patched_pages_max(self.layout.geometry.page_bytes);
        let stays = work.patches == 0 || !self.keeps_room() || self.is_roomy(work.patch_bytes, work.pages);
        let turns = (self.journal.patched_pages() + work.pages).saturating_sub(most) + if stays { 0 } else { work.pages };
        if work.patch_bytes <= self.journal.room() {
            return turns;
        }
        let full = match self.journal.flushes_for(work.patch_bytes) {
            Some((flushes, least)) if least >= work.patch_bytes_max => flushes,
            Some((flushes, least)) if least >= LARGE_PATCH => flushes + work.large_patches,
            Some(_) => work.patches,
            None => work.patches,
        };
        turns + full.min(work.patches) + 1
    }

    /// The same, whatever is in the buffer. Where every call leaves [`ROOM`], one that needs no more writes the page with most patches and one with
    /// little, or at its end those that it has patched itself.
    fn flushes_max(&self, work: &Work) -> u32 {
        match () {
            () if work.patches == 0 => 0,
            () if self.keeps_room() && work.patch_bytes <= ROOM => work.pages.max(2),
            () => work.pages + work.patches + 1,
        }
    }

    /// Pages that a call may add to the open transaction; all that there may be where that is less.
    pub fn pages_of(&self, work: &Work) -> u32 {
        (work.frames + self.flushes(work)).min(self.pending.capacity())
    }

    /// Frames of pages that leave the cache: one that makes room, and all that wait, when the call commits.
    fn written_back(&self, work: &Work, buffer: Buffer) -> u32 {
        let waiting = match buffer {
            _ if work.commits == 0 => 0,
            Buffer::AsItIs => self.cache.dirty(),
            Buffer::Any => self.cache.len(),
        };
        waiting + u32::from(self.cache.len() > 0 && work.frames > 0)
    }

    /// Worst case of a call with `failures` failing programs: as the journal buffer is now, or whatever is in it.
    pub fn bound(&self, work: &Work, buffer: Buffer, failures: u32) -> Bound {
        let layout = &self.layout;
        let flushes = match buffer {
            Buffer::AsItIs => self.flushes(work),
            Buffer::Any => self.flushes_max(work),
        };
        let frames = work.frames + flushes + self.written_back(work, buffer) + self.owed_pages();
        let journal_pages = work.commits;
        let unit = u32::from(layout.config.unit_pages);
        let share = Share::new(layout, self.blocks.live_total() + frames, frames);
        let mut own = write_cost(layout).times(frames);
        if work.patches > 0 {
            own.reads += frames * merge_reads(layout);
        }
        own.programs += journal_pages + u32::from(self.unmarked);
        // Now and then another page of a block that is read often is looked at.
        own.reads += 1;
        // A commit looks the old frames of its pages up where few frames are left.
        own.reads += self.pending.len() + self.journal.discard_count();
        // A failed frame is written, or moved, once more, in another block; a failed erase is tried on another block.
        own = own.plus(&Cost { reads: unit, tag_reads: unit, programs: unit, copies: unit, erases: 1 }.times(failures));
        let moves = self.move_cost().times(share.moves);
        // A commit also lets the overlay know of what earlier calls wrote and discarded.
        let waiting = match buffer {
            _ if work.commits == 0 => 0,
            Buffer::AsItIs => self.pending.len() + self.journal.discard_count(),
            Buffer::Any => self.pending.capacity() + layout.geometry.page_bytes / DISCARD_BYTES,
        };
        // One of the folds makes room before the commit, where the overlay is too full for what it brings.
        let before = u32::from(work.discards + waiting > 0);
        let folds = (frames + share.moves + work.discards + waiting).div_ceil(layout.fold_frees).max(1) + before;
        let folds = Cost { reads: unit, programs: unit, ..Cost::default() }.times(folds);
        // A superblock is written, and read again, in the place of a checkpoint.
        let checkpoint = Cost { reads: 1, programs: layout.checkpoint_pages, ..Cost::default() };
        let erase = Cost { erases: self.erases(&share, frames, journal_pages), ..Cost::default() };
        let most = Cost { programs: folds.programs.max(checkpoint.programs), reads: folds.reads.max(checkpoint.reads), ..folds };
        if share.tight {
            // Nearly full: everything may meet, and the heads may need more than one erased block.
            let all = own.plus(&moves).plus(&folds).plus(&folds).plus(&checkpoint).plus(&erase);
            return Bound { moving: all, erasing: all };
        }
        // What a call discards, and what earlier calls wrote, changes the map more than its frames do: the folds for that do not wait
        // for an erase.
        let forced = (work.discards + waiting).div_ceil(layout.fold_frees) + before;
        let forced = Cost { reads: unit, programs: unit, ..Cost::default() }.times(forced);
        Bound { moving: own.plus(&moves).plus(&most), erasing: own.plus(&erase).plus(&forced) }
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

    pub(super) fn move_cost(&self) -> Cost {
        let unit = u32::from(self.layout.config.unit_pages);
        if self.flash.can_copy() {
            Cost { tag_reads: unit, copies: unit, ..Cost::default() }
        } else {
            Cost { tag_reads: 1, reads: unit, programs: unit, ..Cost::default() }
        }
    }

    /// Envelopes of calls that do the same work each; all of them hold.
    ///
    /// The first lets every call move as much as it may and spreads erases; the second spreads all of a victim's cost over the
    /// writes that its space pays for, two victims ahead.
    pub fn envelopes(&self, work: &Work, timing: &Timing) -> [Envelope; 2] {
        let layout = &self.layout;
        let unit = u32::from(layout.config.unit_pages);
        let bound = self.bound(work, Buffer::Any, 0);
        let frames = work.frames + self.flushes_max(work) + self.written_back(work, Buffer::Any);
        let journal_pages = work.commits;
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
    /// Superblocks, first pages of the anchors and tags of what was rescued into them, two searches for the end of an anchor and a look
    /// at what was rescued into it, the checkpoint, one tag for each program since and the first page of each block begun, the
    /// leaves, the journal page, and settling: one erase, three rescued frames, journal page and checkpoint, an erase for heads that
    /// are nearly full (two where blocks are small), and, where several frames were rescued, their way back into blocks that may
    /// have to be erased first; an erase for each anchor that cannot be read, of which there is one more with each mount in a row
    /// that was cut.
    ///
    /// Where the medium turns out to take no program, or a leaf to be lost, the volume is read once more: no more than twice this.
    pub fn mount_bound(layout: &Layout) -> Cost {
        let unit = u32::from(layout.config.unit_pages);
        let pages = layout.geometry.pages_per_block;
        let search = pages.ilog2() + 2 + unit + 2 * layout.checkpoint_pages;
        let share = Share::new(layout, layout.usable, 2);
        let overshoot = CHECKPOINT_SLACK + 2 * (2 + share.moves + share.folds) * unit + 4;
        Cost {
            reads: 9
                + layout.anchor_count
                + layout.listed_blocks
                + 2 * layout.checkpoint_pages
                + layout.leaf_count * unit
                + 6
                + 14 * unit,
            tag_reads: 34
                + 2 * (pages.ilog2() + 2)
                + 3 * layout.anchor_count
                + 2 * search
                + layout.listed_blocks
                + 3
                + 3
                + 3 * unit
                + u32::from(layout.config.checkpoint_programs)
                + overshoot,
            programs: 7 * unit + 2 + 2 * layout.checkpoint_pages,
            copies: 3 * unit,
            erases: 3 + (16 / layout.frames_per_block).max(1) + layout.anchor_count - 2,
        }
    }
}
