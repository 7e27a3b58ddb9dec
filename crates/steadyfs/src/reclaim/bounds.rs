//! The worst case of a call, in closed form: the call's own programs, and the largest plan of
//! reclamation that a [`WorkQuota`] permits.
//!
//! ```text
//! w                                  pages and discards that wait, and discards of the call
//! b = 1 if w > 0, else 0             a fold that makes room before the commit
//! f = max(1, ⌈(h + c + w)/φ⌉) + b    folds of a call
//! ```
//!
//! A call that writes `h` frames costs the programs of `h` frames, and in addition at most one of
//! these:
//!
//! - `c` moves
//! - `c − 1` moves and `f` leaf write-backs (folds), or a root in their place
//! - `c − e` moves, one erase, and the folds for `w`
//!
//! `c` and `e` are defined in the formulas of the plan (`plan.rs`), and `φ` as well.

use super::present::Changes;
use super::{Plan, ReclaimView, Work, WorkQuota};
use crate::commit::Cache;
use crate::config::Layout;
use crate::cost::{Bound, BoundBreakdown, Cost};
use crate::journal::{BufferCounts, Journal};
use crate::media::Flash;
use crate::processor;
use crate::space::{HeadIndex, Space, State};

/// The content of the journal buffer that a bound assumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffer {
    /// The present content.
    AsItIs,
    /// The worst possible content.
    Any,
    /// Any patches, right after a commit: the open transaction is empty.
    Committed,
}

/// The cost of marking a bad block. The driver may erase the block first.
const MARK: Cost =
    Cost { reads: 0, tag_reads: 0, programs: 1, copies: 0, erases: 1, instructions: 0 };

/// Returns the number of reads of a write that does not replace a whole logical page. These reads
/// are for the map and for the old content.
pub(super) fn merge_reads(layout: &Layout) -> u32 {
    u32::from(layout.config.pages_per_logical_page) + 1
}

/// Everything that the bound of a call depends on. A bound is computed without changing anything.
pub(crate) struct Bounds<'s, 'm, F> {
    pub view: ReclaimView<'s, 'm, F>,
    pub journal: &'s Journal<'m>,
    pub counts: BufferCounts<'s>,
    pub cache: &'s Cache<'m>,
}

impl<F: Flash> Bounds<'_, '_, F> {
    /// Returns the largest number of frames written for pages of the journal buffer, to make room
    /// for a call's patches.
    ///
    /// - The buffer may have patches of at most `patched_pages_max` pages. At this limit, a patch
    ///   of a further page causes a write of one page; the pages take turns.
    /// - If a patch finds no room, the page with the most bytes in the buffer is written, at most
    ///   one page for each patch. If that page does not free enough room, or if no page is left,
    ///   the patched page itself is written.
    /// - If a page was written to make room, each of the `calls` calls also writes one page with
    ///   few bytes in the buffer.
    pub(super) fn flushes(&self, work: &Work, calls: u32) -> u32 {
        // A stale page may be discarded after it is written again, so it counts as a discard.
        let work =
            Work { discards: work.discards + self.view.ftl.transaction.stale_pages(), ..*work };
        let turns = self.turns(&work);
        // All records fit, so only pages that take turns are written.
        if work.bytes(self.journal.patch_room(0) as u32) <= self.journal.room() {
            return turns;
        }
        // Each record causes at most one write of a page.
        let full = self.flushes_of_full(&work).min(work.records());
        turns + full + full.min(calls)
    }

    /// Returns the largest number of pages of the journal buffer that are written in turn.
    fn turns(&self, work: &Work) -> u32 {
        (self.counts.patched_pages() + work.pages)
            .saturating_sub(self.view.ftl.layout.patched_pages_max())
    }

    /// Returns a limit of [`flushes`](Self::flushes) of one call, for any sizes of the patches in
    /// the buffer.
    pub(super) fn flushes_most(&self, work: &Work) -> u32 {
        let records = work.records() + self.view.ftl.transaction.stale_pages();
        self.turns(work) + records + records.min(1)
    }

    /// Returns the largest number of pages that are written because records find no room in the
    /// buffer. The pages are:
    ///
    /// - the largest pages of the buffer
    /// - pages of patches that are longer than all pages left in the buffer: such a patch is
    ///   written with its page, and needs no room in the buffer
    /// - if even an empty buffer has not enough room, the pages of the records that find no room
    ///   then
    fn flushes_of_full(&self, work: &Work) -> u32 {
        let header = self.journal.patch_room(0) as u32;
        let lacking = work.bytes(header) - self.journal.room();
        let sizes = self.sizes_of_flushes(work, lacking);
        // `least` is the size of the largest page that is left in the buffer when the last of these
        // pages is written. Each written page frees its size, even if it is written in turn. If all
        // pages of larger size were written, the records would find room. If all pages together
        // free too little, `least` is the smallest size.
        let (mut freed, mut least) = (0, 0);
        for size in sizes.clone() {
            (freed, least) = (freed + size, size);
            if freed >= lacking {
                break;
            }
        }
        let least = least.saturating_sub(header);
        // Any number of long patches may be written with their own pages, so the loop searches for
        // the worst number.
        let (mut own, mut most, mut count, mut freed) = (work.longer_than(least), 0, 0, 0);
        for size in sizes.map(Some).chain([None]) {
            while freed + work.shortest(own, least, header) >= lacking {
                most = most.max(count + own);
                let Some(fewer) = own.checked_sub(1) else { return most };
                own = fewer;
            }
            (count, freed) = (count + u32::from(size.is_some()), freed + size.unwrap_or(0));
        }
        most.max(count + own + work.left_out(self.journal.room() + freed, header))
    }

    /// Returns the sizes of the pages that are written to make room for `lacking` bytes, the largest
    /// first.
    ///
    /// A page that the call discards or writes as a whole frees its size only at the end of the
    /// call. In the worst case these are the largest pages, so the result leaves them out. Before a
    /// call discards many pages or splits a large bucket, it writes large pages until its last
    /// records have room. If the large pages suffice, the pages that the call then discards are
    /// among them.
    fn sizes_of_flushes(&self, work: &Work, lacking: u32) -> impl Iterator<Item = u32> + Clone {
        let most = self.journal.large_page_bytes() as u32;
        // A call writes at most one old page as a whole before its last records. Its other pages
        // are new.
        let whole = work.frames.min(1);
        let early = work.early_writes as usize;
        let mut large = self.counts.sizes().skip(early).take_while(|&size| size >= most);
        // The search ends as soon as the pages suffice, so it looks at few pages.
        let mut left = lacking + whole * most;
        let suffices = large.any(|size| {
            left = left.saturating_sub(size);
            left == 0
        });
        let left_out = if suffices { early } else { (work.discards + whole) as usize };
        self.counts.sizes().skip(left_out)
    }

    /// Returns the changes of a write of `bytes` bytes in one logical page.
    pub fn work_of_write(&self, bytes: u32) -> Work {
        let fits = bytes as usize <= self.journal.small_patch_bytes_max(&self.view.ftl.layout);
        if fits { Work::patched(&[bytes], 1) } else { Work::PAGE }
    }

    /// Returns the number of frames written for pages of the cache: one page that makes room for
    /// another, and all dirty pages if the call commits.
    pub(super) fn written_back(&self, work: &Work, buffer: Buffer) -> u32 {
        let waiting = match buffer {
            _ if work.commits == 0 => 0,
            Buffer::AsItIs => self.cache.dirty(),
            Buffer::Any => self.cache.len(),
            Buffer::Committed => 0,
        };
        waiting + u32::from(self.cache.len() > 0 && work.frames > 0)
    }

    /// Returns the worst case of a call in which `failures` programs fail. `buffer` is the content
    /// of the journal buffer that is assumed.
    pub fn bound(&self, work: &Work, buffer: Buffer, failures: u32) -> Bound {
        let (own, plans) = self.own_and_plans(work, buffer, failures);
        let [moving, folding, erasing] = &plans;
        Bound {
            moving: self.whole(&own, moving),
            folding: self.whole(&own, folding),
            erasing: self.whole(&own, erasing),
        }
    }

    /// Returns the total cost of a call with one plan. Not inlined, so that the parts are off the
    /// stack between two calls.
    #[inline(never)]
    fn whole(&self, own: &BoundBreakdown, plan: &Plan) -> Cost {
        self.with_plan(own, plan).total()
    }

    /// Returns the parts of one of the three cases. `case` is its index in the order of [`Bound`]'s
    /// fields.
    pub fn parts(&self, work: &Work, buffer: Buffer, failures: u32, case: usize) -> BoundBreakdown {
        let (own, plans) = self.own_and_plans(work, buffer, failures);
        self.with_plan(&own, &plans[case])
    }

    /// Returns the call's own cost, and the plan of each case. Not inlined, so that its variables
    /// are off the stack when the plans are added up.
    #[inline(never)]
    fn own_and_plans(
        &self,
        work: &Work,
        buffer: Buffer,
        failures: u32,
    ) -> (BoundBreakdown, [Plan; 3]) {
        let layout = &self.view.ftl.layout;
        let flushes = match buffer {
            Buffer::AsItIs => self.flushes(work, 1),
            Buffer::Any | Buffer::Committed => work.flushes_of_any(),
        };
        let stale = self.view.ftl.transaction.stale_pages();
        let earlier = flushes + self.written_back(work, buffer) + stale;
        // A stale page is read before it is programmed once more.
        let stale = Cost {
            reads: if work.records() > 0 { 0 } else { stale * merge_reads(layout) },
            ..Cost::default()
        };
        let frames = work.frames + earlier;
        // A commit also adds overlay entries for the writes and discards of earlier calls.
        let waiting = match buffer {
            _ if work.commits == 0 || buffer == Buffer::Committed => 0,
            Buffer::AsItIs => self.view.ftl.transaction.len() + self.counts.discards(),
            _ => {
                self.view.ftl.transaction.capacity()
                    + layout.journal_bytes / layout.journal_shape().header_bytes() as u32
            }
        };
        let late = work.discards + waiting;
        // If the overlay is too full for the commit, a leaf write-back makes room first.
        let map = &self.view.ftl.map;
        let own_folds = u32::from(match buffer {
            Buffer::AsItIs => map.len() + frames + late > map.changes_max(),
            Buffer::Any | Buffer::Committed => late > 0,
        });
        let own = BoundBreakdown {
            call: self
                .call_cost(work, self.view.ftl.space.near_full(&self.view.ftl.layout, frames)),
            earlier: self
                .frames_cost(
                    work,
                    earlier,
                    self.view.ftl.space.near_full(&self.view.ftl.layout, frames),
                )
                .plus(&stale),
            // If moved pages are kept apart by streams, a move reads the tag first to find the
            // stream. If the head of this stream then needs a block, the tag is read again, at most
            // once for each stream.
            reclamation: Cost {
                tag_reads: layout.extra_moved_heads(),
                ..self.fold_cost().times(own_folds)
            },
            // The first change after a clean end erases a ring block and writes a root into it.
            root: Cost {
                programs: layout.root_programs * u32::from(self.view.ftl.ring.is_closed()),
                ..Cost::default()
            },
            erase: Cost { erases: self.view.ftl.ring.opening_erases(), ..Cost::default() },
            failures: self.failures_cost(failures),
        };
        // On devices where journal pages are programmed among the caller's pages, each of them
        // takes a frame.
        let frames = frames + if layout.commits_join() { work.commits } else { 0 };
        // Later calls find more live frames: superseded frames that only the overlay shows as
        // superseded.
        let left = match buffer {
            Buffer::AsItIs => 0,
            Buffer::Any | Buffer::Committed => self.view.superseded(u32::MAX),
        };
        let quota = self.view.quota(frames + left);
        let changes = Changes {
            frames,
            entries: frames + late,
            folds: own_folds,
            journal_pages: self.records(work),
        };
        (own, self.plans(&quota, &changes, buffer == Buffer::AsItIs && failures == 0))
    }

    /// Returns the largest plans of a call. If `is_near` is true, the call is made now, and no
    /// program fails.
    fn plans(&self, quota: &WorkQuota, changes: &Changes, is_near: bool) -> [Plan; 3] {
        let Changes { frames, entries, .. } = *changes;
        let mut plans =
            [quota.moving(frames), quota.folding(frames, entries), quota.erasing(frames, entries)];
        if is_near {
            let most = self.view.moves_most(quota, changes);
            plans.iter_mut().for_each(|plan| self.view.limit_plan(plan, most, changes));
        }
        let mut plans = plans.map(|plan| self.urgently(plan, changes, is_near));
        let [moving, _, erasing] = &mut plans;
        erasing.erases = self.erases(moving, erasing, changes);
        plans
    }

    /// Returns the cost of a call's own writes and of its commits.
    fn call_cost(&self, work: &Work, is_near_full: bool) -> Cost {
        // If few frames are left, a commit looks up the old frames of its pages.
        let waiting = self.view.ftl.transaction.len() + self.counts.discards();
        let beside = Cost {
            // Now and then a call reads another page of a block that is read often.
            reads: u32::from(self.view.ftl.pages.watch().patrols())
                + if is_near_full { waiting } else { 0 },
            programs: self.records(work) * self.view.ftl.layout.journal_pages(),
            ..Cost::default()
        };
        self.frames_cost(work, work.frames, is_near_full).plus(&beside)
    }

    /// Returns the number of journal pages of a call. After a mount or a clean end, the first
    /// program of a head is a journal page.
    fn records(&self, work: &Work) -> u32 {
        work.commits
            + u32::from(self.view.ftl.space.is_unmarked() || self.view.ftl.ring.is_closed())
    }

    /// Returns the cost of frames that a call writes. A call with patches may have to read the
    /// patched pages.
    pub(super) fn frames_cost(&self, work: &Work, frames: u32, is_near_full: bool) -> Cost {
        let merging = if work.records() > 0 { merge_reads(&self.view.ftl.layout) } else { 0 };
        self.write_cost(frames, is_near_full)
            .plus(&Cost { reads: frames * merging, ..Cost::default() })
    }

    /// Returns the cost of failures. After a failed program, the frame is written or moved once
    /// more in another block, and a root may have to list this block first. After a failed erase,
    /// another block is erased.
    fn failures_cost(&self, failures: u32) -> Cost {
        let unit = u32::from(self.view.ftl.layout.config.pages_per_logical_page);
        let root = Cost { programs: self.view.ftl.layout.root_programs, ..Cost::default() };
        // If a group of moves fails, a root is written.
        let most = unit.max(self.view.ftl.layout.group_pages());
        let again = Cost {
            reads: most,
            tag_reads: unit,
            programs: most,
            copies: unit,
            erases: 1,
            ..Cost::default()
        }
        .plus(&root);
        again.times(failures).plus(&if failures > 0 { MARK } else { self.mark_cost() })
    }

    /// Returns the plan of a call. The plan has more moves if the reserve may run short, because
    /// the call may then have to empty the whole victim. If `is_near` is true, the call is made
    /// now, and no program fails.
    fn urgently(&self, plan: Plan, changes: &Changes, is_near: bool) -> Plan {
        let fpb = self.view.ftl.layout.frames_per_block;
        // If the journal's head takes a block, the reserve lacks the frames of this block.
        let journal = fpb * self.view.journal_blocks(changes);
        let planned = if is_near { changes.folds } else { plan.moves + plan.folds };
        let is_short = self.view.is_short(changes.frames + planned + journal);
        Plan { moves: if is_short { plan.moves.max(fpb) } else { plan.moves }, ..plan }
    }

    /// Adds a plan to the parts of a call. A root replaces the leaf write-backs, so for each kind
    /// of operation the larger number counts.
    fn with_plan(&self, own: &BoundBreakdown, plan: &Plan) -> BoundBreakdown {
        let moves = self.move_cost().times(plan.moves);
        let folds = self.fold_cost().times(plan.folds);
        let root_programs = if plan.root { self.view.ftl.layout.root_programs } else { 0 };
        let side = Cost {
            reads: folds.reads.max(u32::from(plan.root)),
            programs: folds.programs.max(root_programs),
            ..folds
        };
        let (root, folds) = if root_programs > folds.programs {
            (side, Cost::default())
        } else {
            (Cost::default(), side)
        };
        BoundBreakdown {
            reclamation: own.reclamation.plus(&moves).plus(&folds),
            root: own.root.plus(&root),
            erase: own.erase.plus(&Cost { erases: plan.erases, ..Cost::default() }),
            ..*own
        }
    }

    /// Returns the number of erases of a call: one erase for the stock, or the erases for heads if
    /// these are more. Heads need erases if too few blocks are erased. They need more than one only
    /// just after a mount, or if a call fills a whole block. If one head takes all moves, the moves
    /// need no erase, because a move is made only if an erased frame is ready. If several heads
    /// take moves, a move may use up a frame that was ready for another head's move.
    fn erases(&self, moving: &Plan, erasing: &Plan, changes: &Changes) -> u32 {
        let moves = if self.view.ftl.layout.moves_apart() { moving.moves } else { 0 };
        let taken = self.blocks_taken(moves, erasing.folds, changes);
        // Heads take blocks that are already erased first. The plan has one erase in any case.
        taken.saturating_sub(self.view.ftl.space.blocks().count(State::Erased)).max(1)
    }

    /// Returns the number of blocks that heads take for the changes of calls, and for `moves` moves
    /// and `folds` leaf write-backs.
    pub(super) fn blocks_taken(&self, moves: u32, folds: u32, changes: &Changes) -> u32 {
        let (frames, space) = (changes.frames, &self.view.ftl.space);
        // A head gives up a block with a weak page before the call's own frames are programmed.
        let rest =
            |head: HeadIndex| if space.weak_head() == Some(head) { 0 } else { space.rest(head) };
        let blocks = |head: HeadIndex, places: u32| {
            places.saturating_sub(rest(head)).div_ceil(space.capacity(head))
        };
        // A call writes pages without a stream, and pages of the single stream that it names. With
        // automatic streams it may write to all streams, but takes at most as many blocks as it
        // writes frames.
        let streams = space
            .heads()
            .of_streams()
            .filter(|head| head.is_user())
            .map(|head| blocks(head, frames));
        let of_streams = if self.view.ftl.layout.config.auto_streams {
            streams.sum::<u32>().min(frames)
        } else {
            streams.max().unwrap_or(0)
        };
        blocks(HeadIndex::USER, frames + folds)
            + of_streams
            + Space::moved_heads(&self.view.ftl.layout).map(|head| blocks(head, moves)).sum::<u32>()
            + blocks(
                HeadIndex::JOURNAL,
                changes.journal_pages * self.view.ftl.layout.journal_record_places(),
            )
    }

    /// Returns the cost of frames written for the caller. If few frames are left, or will be left
    /// after these frames, each frame also takes one read of the map.
    pub(super) fn write_cost(&self, frames: u32, is_near_full: bool) -> Cost {
        let unit = u32::from(self.view.ftl.layout.config.pages_per_logical_page);
        Cost { reads: u32::from(is_near_full), programs: unit, ..Cost::default() }.times(frames)
    }

    /// Returns the cost of a leaf write-back: the whole leaf is written, or its log and a journal
    /// record.
    pub fn fold_cost(&self) -> Cost {
        let unit = u32::from(self.view.ftl.layout.config.pages_per_logical_page);
        let record = u32::from(self.view.ftl.layout.leaf_log_bytes() > 0);
        Cost { reads: unit * (1 + record), programs: unit + record, ..Cost::default() }
    }

    /// Returns the cost of a root, including an erase of the next ring block, and of the mark that
    /// may follow it.
    pub fn root_cost(&self) -> Cost {
        Cost { programs: self.view.ftl.layout.root_programs, erases: 1, ..Cost::default() }
            .plus(&self.mark_cost())
    }

    /// Returns the cost of the root that ends the use of the volume. It includes the copy of the
    /// newest journal page and the copy of the first leaf. If no head was used since the mount, a
    /// journal page comes before the copy of the leaf.
    pub fn closing_cost(&self) -> Cost {
        let layout = &self.view.ftl.layout;
        let copied =
            if layout.copies_leaf() { layout.config.pages_per_logical_page.into() } else { 0 };
        let own = Cost {
            reads: copied,
            programs: copied + layout.journal_pages(),
            instructions: processor::base(layout, processor::UNMOUNT),
            ..Cost::default()
        };
        let mark = Cost {
            programs: layout.journal_pages(),
            erases: self.view.copy_erases(),
            ..Cost::default()
        };
        let marks = u32::from(layout.copies_leaf() && self.view.ftl.space.is_unmarked());
        self.root_cost().plus(&own).plus(&mark.times(marks))
    }

    /// Returns the cost of marking a block as bad, which follows a root if a program has failed in
    /// the block.
    fn mark_cost(&self) -> Cost {
        MARK.times(u32::from(self.view.ftl.space.blocks().count(State::Retiring) > 0))
    }

    pub fn move_cost(&self) -> Cost {
        let unit = u32::from(self.view.ftl.layout.config.pages_per_logical_page);
        if self.view.ftl.pages.flash().can_copy() && !self.view.ftl.layout.moves_join() {
            Cost { tag_reads: unit, copies: unit, ..Cost::default() }
        } else {
            Cost { tag_reads: 1, reads: unit, programs: unit, ..Cost::default() }
        }
    }
}
