//! The worst case of a call, in closed form: its own programs, and the most that a [`WorkQuota`]
//! lets reclamation do beside them.
//!
//! ```text
//! w                                  pages and discards that wait, and discards of the call
//! b = 1 if w > 0, else 0             a fold that makes room before the commit
//! f = max(1, ⌈(h + c + w)/φ⌉) + b    folds of a call
//! ```
//!
//! A call that writes `h` frames costs `h` frames of programs, and then one of these:
//!
//! - `c` moves
//! - `c − 1` moves and `f` leaf write-backs (folds), or a root in their place
//! - `c − e` moves, one erase, and the folds for `w`
//!
//! `c` and `e` are as in the [pace](crate::reclaim).

use super::{Plan, ROOT_SLACK, ReclaimView, Work, WorkQuota};
use crate::commit::Cache;
use crate::config::{COPIED_MAX, Layout, SUPERBLOCK_BLOCKS};
use crate::cost::{Bound, BoundBreakdown, Cost, Envelope};
use crate::journal::{Journal, empty_places};
use crate::media::{Flash, Timing};
use crate::pages::TRIES;
use crate::root::ring_window;
use crate::space::{HeadIndex, Space, State};

/// The content of the journal buffer that a bound assumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffer {
    /// The present content.
    AsItIs,
    /// Any content.
    Any,
    /// Any patches, right behind a commit: nothing waits for the next one.
    Committed,
}

/// The mark of a bad block, which the driver may erase first.
const MARK: Cost = Cost { reads: 0, tag_reads: 0, programs: 1, copies: 0, erases: 1 };

/// Returns the reads of a write that does not replace a whole logical page: the map, and the old
/// content.
fn merge_reads(layout: &Layout) -> u32 {
    u32::from(layout.config.pages_per_logical_page) + 1
}

/// All that the bound of a call depends on. It is read, and not changed.
pub(crate) struct Bounds<'s, 'm, F> {
    pub view: ReclaimView<'s, 'm, F>,
    pub journal: &'s Journal<'m>,
    pub cache: &'s Cache<'m>,
}

impl<F: Flash> Bounds<'_, '_, F> {
    /// Returns the frames of pages that leave the journal buffer to make room for a call's
    /// patches.
    ///
    /// - The buffer has patches of at most `patched_pages_max` pages. At this limit, a patch of a
    ///   further page writes one page in its turn.
    /// - A patch that finds no room writes the page with most bytes, at most one page. It writes
    ///   its own page if the former would not make enough room, or if none is left.
    /// - Each of the calls that do the work also writes one page with few bytes in the buffer.
    pub(super) fn flushes(&self, work: &Work, calls: u32) -> u32 {
        // A stale page may be discarded once it is written.
        let work =
            Work { discards: work.discards + self.view.ftl.transaction.stale_pages(), ..*work };
        let turns = (self.journal.patched_pages() + work.pages)
            .saturating_sub(self.view.ftl.layout.patched_pages_max());
        // All records fit, so only pages in their turn leave the buffer.
        if work.bytes(self.journal.patch_room(0) as u32) <= self.journal.room() {
            return turns;
        }
        // A record writes at most one page.
        let full = self.flushes_of_full(&work, turns, calls).min(work.records());
        turns + full + full.min(calls)
    }

    /// Returns the number of pages that leave the buffer for records without room. Before,
    /// `turns` other pages may have left it. The pages are:
    ///
    /// - the largest pages of the buffer
    /// - pages of patches that are longer than the pages left in the buffer; such a patch goes
    ///   with its page, and takes no room in the buffer
    /// - if all pages of the buffer do not make enough room, the pages of records that find no
    ///   room then
    fn flushes_of_full(&self, work: &Work, turns: u32, calls: u32) -> u32 {
        let header = self.journal.patch_room(0) as u32;
        let lacking = work.bytes(header) - self.journal.room();
        // The size of the largest page that is still there before the last of them is written.
        // Other pages may have gone: `turns` pages, and one page with little behind each page
        // but the last, in each call. If all pages may have gone, the smallest size counts.
        let (mut before, mut freed, mut least, mut others) = (0, 0, 0, None);
        for size in self.journal.sizes() {
            least = size;
            freed += size;
            others = match others {
                None if freed < lacking => {
                    before += 1;
                    continue;
                }
                None => Some(turns + before.min(calls)),
                Some(others) => Some(others - 1),
            };
            if others == Some(0) {
                break;
            }
        }
        let least = least.saturating_sub(header);
        // Any number of long patches may go with their own pages, so the worst number is searched.
        let (mut own, mut most, mut count, mut freed) = (work.longer_than(least), 0, 0, 0);
        for size in self.journal.sizes().map(Some).chain([None]) {
            while freed + work.shortest(own, least, header) >= lacking {
                most = most.max(count + own);
                let Some(fewer) = own.checked_sub(1) else { return most };
                own = fewer;
            }
            (count, freed) = (count + u32::from(size.is_some()), freed + size.unwrap_or(0));
        }
        most.max(count + own + work.left_out(self.journal.room() + freed, header))
    }

    /// Returns the changes of a write of `bytes` bytes in one logical page.
    pub fn work_of_write(&self, bytes: u32) -> Work {
        let fits = bytes as usize <= self.journal.small_patch_bytes_max(&self.view.ftl.layout);
        if fits { Work::patched(&[bytes], 1) } else { Work::PAGE }
    }

    /// Returns the frames of pages that leave the cache: one that makes room, and all that wait
    /// if the call commits.
    fn written_back(&self, work: &Work, buffer: Buffer) -> u32 {
        let waiting = match buffer {
            _ if work.commits == 0 => 0,
            Buffer::AsItIs => self.cache.dirty(),
            Buffer::Any => self.cache.len(),
            Buffer::Committed => 0,
        };
        waiting + u32::from(self.cache.len() > 0 && work.frames > 0)
    }

    /// Returns the worst case of a call with `failures` failing programs, for the present
    /// content of the journal buffer or for any content.
    pub fn bound(&self, work: &Work, buffer: Buffer, failures: u32) -> Bound {
        let (own, plans) = self.own_and_plans(work, buffer, failures);
        let [moving, folding, erasing] = &plans;
        Bound {
            moving: self.whole(&own, moving),
            folding: self.whole(&own, folding),
            erasing: self.whole(&own, erasing),
        }
    }

    /// Returns the cost of a call with its plan. Not inlined: the parts exist once, and off the
    /// stack.
    #[inline(never)]
    fn whole(&self, own: &BoundBreakdown, plan: &Plan) -> Cost {
        self.with_plan(own, plan).total()
    }

    /// Returns the parts of one of the three cases, in the order of a [`Bound`].
    pub fn parts(&self, work: &Work, buffer: Buffer, failures: u32, case: usize) -> BoundBreakdown {
        let (own, plans) = self.own_and_plans(work, buffer, failures);
        self.with_plan(&own, &plans[case])
    }

    /// Returns the own cost of a call, and the plan of each case. Not inlined, so that the stack
    /// of one is not beneath the other.
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
        // A stale page is read before it is programmed once more, in any call.
        let stale = Cost {
            reads: if work.records() > 0 { 0 } else { stale * merge_reads(layout) },
            ..Cost::default()
        };
        let frames = work.frames + earlier;
        // A commit also adds entries to the overlay for the writes and discards of earlier
        // calls.
        let waiting = match buffer {
            _ if work.commits == 0 || buffer == Buffer::Committed => 0,
            Buffer::AsItIs => self.view.ftl.transaction.len() + self.journal.discard_count(),
            _ => {
                self.view.ftl.transaction.capacity()
                    + layout.journal_bytes / layout.journal_shape().header_bytes() as u32
            }
        };
        let late = work.discards + waiting;
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
            // If the overlay is too full for the commit, a leaf write-back makes room first. If
            // moved pages are kept apart, the stream of a frame is read first. One frame of each
            // stream may find its head without a block.
            reclamation: Cost {
                tag_reads: layout.extra_moved_heads(),
                ..self.fold_cost().times(u32::from(late > 0))
            },
            // The first change after a clean end writes a root into a ring block that it erases
            // first.
            root: Cost {
                programs: layout.root_programs * u32::from(self.view.ftl.ring.is_closed()),
                ..Cost::default()
            },
            erase: Cost { erases: self.view.ftl.ring.opening_erases(), ..Cost::default() },
            failures: self.failures_cost(failures),
        };
        // Journal pages that lie among the caller's pages are frames as well.
        let frames = frames + if layout.commits_join() { work.commits } else { 0 };
        // Later calls find frames live that only the overlay shows as replaced.
        let left = match buffer {
            Buffer::AsItIs => 0,
            Buffer::Any | Buffer::Committed => self.view.superseded(u32::MAX),
        };
        let quota = self.view.quota(frames + left);
        let erasing = quota.erasing(frames, frames + late);
        let erases = self.erases(&quota, &erasing, frames, work.commits);
        let plans = [
            quota.moving(frames),
            quota.folding(frames, frames + late),
            Plan { erases, ..erasing },
        ];
        (own, plans.map(|plan| self.urgently(plan, frames)))
    }

    /// Returns the cost of a call's own writes and of its commit.
    fn call_cost(&self, work: &Work, is_near_full: bool) -> Cost {
        // After a mount or a clean end, a journal page comes first.
        let records = work.commits
            + u32::from(self.view.ftl.space.is_unmarked() || self.view.ftl.ring.is_closed());
        let beside = Cost {
            // Now and then a call reads another page of a block that is read often. A commit
            // looks up the old frames of its pages if few frames are left.
            reads: u32::from(self.view.ftl.pages.watch().patrols())
                + self.view.ftl.transaction.len()
                + self.journal.discard_count(),
            programs: records * self.view.ftl.layout.journal_pages(),
            ..Cost::default()
        };
        self.frames_cost(work, work.frames, is_near_full).plus(&beside)
    }

    /// Returns the cost of frames that a call writes. A call that patches may have to read the
    /// patched pages.
    fn frames_cost(&self, work: &Work, frames: u32, is_near_full: bool) -> Cost {
        let merging = if work.records() > 0 { merge_reads(&self.view.ftl.layout) } else { 0 };
        self.write_cost(frames, is_near_full)
            .plus(&Cost { reads: frames * merging, ..Cost::default() })
    }

    /// Returns the cost of failures. A failed frame is written, or moved, once more in another
    /// block, for which a root may be needed first. A failed erase is tried on another block.
    fn failures_cost(&self, failures: u32) -> Cost {
        let unit = u32::from(self.view.ftl.layout.config.pages_per_logical_page);
        let root = Cost { programs: self.view.ftl.layout.root_programs, ..Cost::default() };
        // A group of moves may fail. Then a root follows.
        let most = unit.max(self.view.ftl.layout.group_pages());
        let again = Cost { reads: most, tag_reads: unit, programs: most, copies: unit, erases: 1 }
            .plus(&root);
        again.times(failures).plus(&if failures > 0 { MARK } else { self.mark_cost() })
    }

    /// Returns the plan of a call that may find so much of the reserve used up that moves do not
    /// wait.
    fn urgently(&self, plan: Plan, frames: u32) -> Plan {
        let fpb = self.view.ftl.layout.frames_per_block;
        // The journal may take a block.
        let record = if self.view.ftl.space.rest(HeadIndex::JOURNAL)
            < self.view.ftl.layout.journal_record_places()
        {
            fpb
        } else {
            0
        };
        let is_short = self.view.is_short(frames + plan.moves + plan.folds + record);
        Plan { moves: if is_short { plan.moves.max(fpb) } else { plan.moves }, ..plan }
    }

    /// Returns the parts of a call together with its plan. A root is written in the place of
    /// leaves. The larger number of each kind of operation counts.
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

    /// Returns the erases of a call: the erase that restocks, or the erases for programs beyond
    /// the erased blocks, if these are more. They are more only just after a mount, or if a call
    /// fills a whole block. The moves of one head do not count, because they need an erased
    /// place. Moves of several heads may take places of each other.
    fn erases(&self, quota: &WorkQuota, erasing: &Plan, frames: u32, journal_pages: u32) -> u32 {
        let space = &self.view.ftl.space;
        // A head gives up a block with a weak page before the call's own frames are programmed.
        let rest =
            |head: HeadIndex| if space.weak_head() == Some(head) { 0 } else { space.rest(head) };
        let blocks = |head: HeadIndex, places: u32| {
            places.saturating_sub(rest(head)).div_ceil(space.capacity(head))
        };
        // Beside pages without a stream, a call writes to the stream that it names. With
        // automatic streams it writes to any stream, but takes no more blocks than frames.
        let streams = self
            .view
            .ftl
            .space
            .heads()
            .of_streams()
            .filter(|head| head.is_user())
            .map(|head| blocks(head, frames));
        let of_streams = if self.view.ftl.layout.config.auto_streams {
            streams.sum::<u32>().min(frames)
        } else {
            streams.max().unwrap_or(0)
        };
        let moves = if self.view.ftl.layout.moves_apart() { quota.moving(frames).moves } else { 0 };
        let taken = blocks(HeadIndex::USER, frames + erasing.folds)
            + of_streams
            + Space::moved_heads(&self.view.ftl.layout)
                .map(|head| blocks(head, moves))
                .sum::<u32>()
            + blocks(
                HeadIndex::JOURNAL,
                (journal_pages
                    + u32::from(
                        self.view.ftl.space.is_unmarked() || self.view.ftl.ring.is_closed(),
                    ))
                    * self.view.ftl.layout.journal_record_places(),
            );
        // Erased blocks are taken first, and the plan has one erase in any case.
        taken.saturating_sub(self.view.ftl.space.blocks().count(State::Erased)).max(1)
    }

    /// Returns the cost of frames written for the caller. Each takes one read of the map if few
    /// frames are left, or will be before the last of them has its place.
    fn write_cost(&self, frames: u32, is_near_full: bool) -> Cost {
        let unit = u32::from(self.view.ftl.layout.config.pages_per_logical_page);
        Cost { reads: u32::from(is_near_full), programs: unit, ..Cost::default() }.times(frames)
    }

    /// Returns the cost of a leaf that is written anew, or of the pages of its log and a record
    /// of it.
    pub fn fold_cost(&self) -> Cost {
        let unit = u32::from(self.view.ftl.layout.config.pages_per_logical_page);
        let record = u32::from(self.view.ftl.layout.leaf_log_bytes() > 0);
        Cost { reads: unit * (1 + record), programs: unit + record, ..Cost::default() }
    }

    /// Returns the cost of a root, which may fill its block, and of the mark that follows it.
    pub fn root_cost(&self) -> Cost {
        Cost { programs: self.view.ftl.layout.root_programs, erases: 1, ..Cost::default() }
            .plus(&self.mark_cost())
    }

    /// Returns the cost of the root that ends the use of the volume. It comes with a copy of the
    /// journal, and a copy of the first leaf.
    pub fn closing_cost(&self) -> Cost {
        let layout = &self.view.ftl.layout;
        let copied =
            if layout.copies_leaf() { layout.config.pages_per_logical_page.into() } else { 0 };
        let own =
            Cost { reads: copied, programs: copied + layout.journal_pages(), ..Cost::default() };
        self.root_cost().plus(&own)
    }

    /// Returns the cost of the mark that follows a root if a program has failed.
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

    /// Returns two envelopes of calls that do the same work each. Both hold.
    ///
    /// The first lets every call move as much as it may, and spreads erases. The second spreads
    /// all of a victim's cost over the writes that its space pays for, two victims ahead.
    pub fn envelopes(&self, work: &Work, timing: &Timing) -> [Envelope; 2] {
        self.envelopes_with(0, u32::MAX, work, timing)
    }

    /// Returns the envelopes of `calls` calls that begin with `erased` erased blocks.
    fn envelopes_with(
        &self,
        erased: u32,
        calls: u32,
        work: &Work,
        timing: &Timing,
    ) -> [Envelope; 2] {
        let restocks = self.view.ftl.layout.stock().saturating_sub(erased);
        let bound = self.bound(work, Buffer::Any, 0);
        let flushes = work.flushes_of_any();
        let commits = if self.view.ftl.layout.commits_join() { work.commits } else { 0 };
        let frames = work.frames + flushes + self.written_back(work, Buffer::Any) + commits;
        let quota = self.view.quota(frames + self.view.superseded(frames.saturating_mul(calls)));
        // A page that is written as a whole while the journal buffer patches it takes a journal
        // page. These calls patch no further pages.
        let patched = if work.commits == 0 { self.journal.patched_pages() } else { 0 };
        let patched_ns = u64::from(patched) * timing.program_ns;
        let usual_ns = bound.moving.time_ns(timing).max(bound.folding.time_ns(timing));
        // The first envelope spreads the excess of an erase over the calls of a victim.
        let over_ns = bound.erasing.time_ns(timing).saturating_sub(usual_ns);
        let calls = u64::from((quota.gain_frames() / frames.max(1)).max(1));
        let spread = Envelope {
            burst_ns: over_ns * u64::from(restocks + 2) + patched_ns,
            rate_ns: usual_ns + over_ns.div_ceil(calls),
        };
        let mut own =
            self.write_cost(frames, self.view.ftl.space.near_full(&self.view.ftl.layout, frames));
        own.programs += work.commits;
        // The time that a victim's space pays for. Journal pages are not counted, because each
        // of them brings the next root nearer.
        let cycle_ns = self.victim_ns(&quota, timing);
        let fpb = self.view.ftl.layout.frames_per_block;
        let rest_ns = self.move_cost().times(fpb).time_ns(timing) + timing.erase_ns;
        // A block at rest is emptied while the caller writes `meanwhile` frames, for which half
        // a frame of each victim was saved. It is not emptied before it lags behind.
        let meanwhile = fpb.div_ceil(quota.moves(1));
        let paid_ns = cycle_ns + rest_ns / u64::from((2 * meanwhile).max(self.view.lag_kept()));
        // The savings may be used up at once, or be saved anew.
        let (saved, share_ns) = (2 * fpb, quota.share_ns(paid_ns, 1));
        let saved_ns = u64::from(saved)
            * share_ns.max((rest_ns / u64::from(meanwhile)).saturating_sub(share_ns));
        let journal_ns = self.program_share_ns(work.commits, timing);
        let average = Envelope {
            burst_ns: 2 * cycle_ns
                + rest_ns
                + saved_ns
                + patched_ns
                + u64::from(restocks) * timing.erase_ns,
            rate_ns: own.time_ns(timing) + journal_ns + quota.share_ns(paid_ns, frames),
        };
        [spread, average]
    }

    /// Returns the worst case, in nanoseconds, of `calls` calls in a row that do `work`
    /// together. The first call is made now.
    ///
    /// It is the worst case of as many pages as the calls may write, one after the other, and of
    /// their commits. Between two commits they write at least `per_commit` pages.
    pub fn row_ns(&self, work: &Work, calls: u32, per_commit: u32, timing: &Timing) -> u64 {
        let (layout, space) = (&self.view.ftl.layout, &self.view.ftl.space);
        // A call that writes nothing takes its part in reclamation as well.
        let frames = work.frames.max(calls)
            + self.flushes(work, calls)
            + self.view.ftl.transaction.stale_pages()
            + self.cache.len();
        let commits = 2 + calls.min(frames / per_commit);
        let frames = frames + if layout.commits_join() { commits } else { 0 };
        let programs = commits * layout.journal_pages();
        let places = (commits * layout.journal_record_places())
            .saturating_sub(space.rest(HeadIndex::JOURNAL));
        let erases = places.div_ceil(space.capacity(HeadIndex::JOURNAL));
        // A commit also adds entries to the overlay for the writes and discards of earlier
        // calls.
        let late = work.discards + self.view.ftl.transaction.len() + self.journal.discard_count();
        let beside = Cost {
            reads: frames * merge_reads(layout) + late,
            programs,
            erases,
            ..Cost::default()
        }
        .plus(&self.fold_cost().times(late.div_ceil(layout.fold_frees)));
        beside.time_ns(timing)
            + self.program_share_ns(programs, timing)
            + self.in_a_row_ns(&Work::PAGE, frames, timing)
    }

    /// Returns the worst case, in nanoseconds, of `calls` calls in a row that do `work` each.
    /// The first call is made now. Blocks that are erased now need not be erased first.
    pub fn in_a_row_ns(&self, work: &Work, calls: u32, timing: &Timing) -> u64 {
        let erased = self.view.ftl.space.blocks().count(State::Erased);
        let in_a_row = self.envelopes_with(erased, calls, work, timing).map(|each| {
            each.burst_ns.saturating_add(u64::from(calls).saturating_mul(each.rate_ns))
        });
        // Both envelopes hold, so the smaller one counts.
        in_a_row[0].min(in_a_row[1]).saturating_add(self.opening_cost().time_ns(timing))
    }

    /// Returns the extra cost of the first change after a clean end, which comes once. It is a
    /// root, in a ring block that may have to be erased, and the journal page that comes first.
    fn opening_cost(&self) -> Cost {
        let layout = &self.view.ftl.layout;
        let ring = &self.view.ftl.ring;
        let records = u32::from(self.view.ftl.space.is_unmarked() || ring.is_closed());
        let programs =
            layout.root_programs * u32::from(ring.is_closed()) + records * layout.journal_pages();
        Cost { programs, erases: ring.opening_erases(), ..Cost::default() }
    }

    /// Returns the time of all that a victim costs: its moves, the leaves and the roots for its
    /// block of frames, and an erase.
    fn victim_ns(&self, quota: &WorkQuota, timing: &Timing) -> u64 {
        let layout = &self.view.ftl.layout;
        let (fpb, per_fold) = (layout.frames_per_block, layout.fold_frees);
        // Of `per_fold + 1` frames, one goes to a leaf.
        let fold_ns = self.fold_cost().time_ns(timing) * u64::from(fpb) / u64::from(per_fold + 1);
        let move_ns = self.move_cost().times(quota.victim).time_ns(timing);
        let programs = fpb * u32::from(layout.config.pages_per_logical_page);
        move_ns + fold_ns + self.program_share_ns(programs, timing) + timing.erase_ns
    }

    /// Returns the share of `programs` programs in a root, and the root's share in the erase of
    /// its block.
    fn program_share_ns(&self, programs: u32, timing: &Timing) -> u64 {
        let layout = &self.view.ftl.layout;
        let per_block = u64::from(layout.geometry.pages_per_block / layout.root_programs);
        let root_ns =
            u64::from(layout.root_programs) * timing.program_ns + timing.erase_ns / per_block;
        (root_ns * u64::from(programs)).div_ceil(u64::from(layout.config.checkpoint_programs))
    }
}

/// Returns the worst case of a mount after an unclean stop.
///
/// The search and roll-forward read:
///
/// - the superblocks, and the marks of the blocks before the second superblock
/// - the first pages of the ring; all of them may be unsteady if many mounts in a row were cut
/// - the ends of two ring blocks
/// - the root
/// - one tag for each program since the root, and behind the end of each block
/// - the last record of each block
/// - the first page of each block that may have been begun
/// - the leaves and the journal page
///
/// Settling takes:
///
/// - one erase
/// - the root with its copies
/// - frames and journal page that are copied
/// - erases for heads that are nearly full (two if blocks are small)
/// - if several frames were copied, moves of them back into blocks that may have to be erased first
/// - an erase of each ring block in which no root can be read
///
/// Many mounts in a row that were cut may leave such ring blocks. All ring blocks but three
/// count: two hold roots, and one is erased first anyway.
///
/// A record that discards something is read as a whole. On some media a cut may leave any part
/// of the unflushed data, for example on a device whose cache reorders writes. There every record
/// is read as a whole, and so is the source of the first copy that is not whole.
///
/// If the medium turns out to take no program, the volume is read once more. Then the cost is at
/// most twice this bound.
pub(crate) fn mount_bound(layout: &Layout) -> Cost {
    let unit = u32::from(layout.config.pages_per_logical_page);
    // No erase displaces moves here. With more moves, a root may be late by more programs.
    let moves = WorkQuota::new(layout, layout.usable, layout.data_blocks, layout.frames_per_block)
        .moving(2)
        .moves;
    let overshoot = ROOT_SLACK + 2 * (2 + moves + 2) * unit + 4;
    let programs = u32::from(layout.config.checkpoint_programs) + overshoot;
    let chains = 3 + layout.extra_heads() + layout.listed_blocks;
    // As many tags as pages. If a damaged page may look blank, the search for the end of a block
    // reads two tags, which are fewer.
    let ring = TRIES * (layout.ring_count * layout.first_root_pages() + 2 * ring_window(layout));
    let copied = COPIED_MAX * unit + unit.max(layout.journal_pages());
    // Each record of a chain is read when it is found, when it counts, and when it is applied.
    // Behind the end of a chain, every place may begin another record. On other media, records
    // that discard something are read as a whole. If a cut may leave any part, all records are.
    let records = if layout.programs_bytes() {
        4 * programs + TRIES * chains * (2 * layout.journal_record_places() + 1)
    } else {
        programs + unit
    };
    Cost {
        // A stale root is read before the root that takes its place.
        reads: 2
            + ring
            + 2 * layout.root_pages
            + (2 * chains + TRIES) * unit
            + layout.leaf_count * unit
            + TRIES * (1 + layout.journal_pages())
            + 3 * copied
            + records,
        tag_reads: ring
            + layout.ring_count * layout.root_programs * TRIES
            + 2 * (layout.geometry.pages_per_block.ilog2() + 2)
            + programs
            + 2 * chains
            + 4 * unit
            + (u32::from(layout.config.bad_blocks_max) + 1).min(SUPERBLOCK_BLOCKS),
        programs: 2 * copied + 2 + layout.root_programs + u32::from(layout.programs_bytes()),
        copies: COPIED_MAX * unit,
        erases: 3 + (16 / layout.frames_per_block).max(1) + (layout.ring_count - 3),
    }
}

/// Returns the worst case of a mount that [recovers nothing](crate::CleanReader).
///
/// It reads:
///
/// - the superblocks, and the marks of the blocks before the second superblock
/// - the first pages of the ring, and the end of a ring block
/// - a root and its copies
/// - in ring blocks without a root, the pages that a root would have
/// - the journal page, or the records of a chain up to its end, each in two reads
pub(crate) fn clean_mount_bound(layout: &Layout) -> Cost {
    let journal = if layout.programs_bytes() {
        2 * layout.journal_places().div_ceil(empty_places())
    } else {
        layout.journal_pages()
    };
    let firsts = layout.ring_count * layout.first_root_pages();
    // If a damaged page may look blank, the page behind it is read as well. Behind a root, the
    // page behind the gap is read.
    let ends = 3 * (layout.geometry.pages_per_block.ilog2() + 2);
    Cost {
        reads: TRIES * (2 + firsts + layout.root_programs + journal + layout.journal_pages()) + 1,
        tag_reads: TRIES * (3 * firsts + ends + layout.ring_count * layout.root_programs)
            + (u32::from(layout.config.bad_blocks_max) + 1).min(SUPERBLOCK_BLOCKS),
        ..Cost::default()
    }
}
