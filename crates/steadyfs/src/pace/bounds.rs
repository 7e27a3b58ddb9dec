//! The worst case of a call, in closed form: its own programs, and the most that a [`Promise`] lets reclamation do beside them.
//!
//! ```text
//! w                                                  pages and discards that wait for the commit, and discards of the call
//! b = 1 if w > 0, else 0                             a fold that makes room before the commit
//! f = max(1, ⌈(h + c + w)/φ⌉) + b                    folds of a call
//! ```
//!
//! A call that writes `h` frames costs `h` frames of programs and then either `c` moves, or `c − 1` moves and `f` folds (or a root
//! in their place), or `c − e` moves, one erase, and the folds for `w`; `c` and `e` as the [pace](crate::pace) has them.

use super::{Outlook, Plan, Promise, ROOT_SLACK, Work};
use crate::commit::Cache;
use crate::config::{COPIED_MAX, Layout, SUPERBLOCK_BLOCKS};
use crate::cost::{Bound, Cost, Envelope, Parts};
use crate::journal::{Journal, empty_places};
use crate::media::{Flash, Timing};
use crate::pages::TRIES;
use crate::root::ring_window;
use crate::space::{HeadIndex, Space, State};

/// Which content of the journal buffer a bound is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffer {
    /// The present one.
    AsItIs,
    /// Whatever it may be.
    Any,
    /// Whatever patches are in it, right behind a commit: nothing waits for the next one.
    Committed,
}

/// A mark of a bad block, which the driver may erase first.
const MARK: Cost = Cost { reads: 0, tag_reads: 0, programs: 1, copies: 0, erases: 1 };

/// Reads of a write that does not replace a whole logical page: the map, and the old content.
fn merge_reads(layout: &Layout) -> u32 {
    u32::from(layout.config.unit_pages) + 1
}

/// All that the bound of a call depends on. It is read, and nothing is changed.
pub(crate) struct Bounds<'s, 'm, F> {
    pub outlook: Outlook<'s, 'm, F>,
    pub journal: &'s Journal<'m>,
    pub cache: &'s Cache<'m>,
}

impl<F: Flash> Bounds<'_, '_, F> {
    /// Frames of pages that leave the journal buffer to make room for a call's patches.
    ///
    /// A patch of a page that the buffer does not know writes one in its turn where there are as many as there may be. Patches for which the buffer has no
    /// room write the page with most bytes, each at most one; or their own, where that one would not make enough room, or there is none left. One page with little
    /// in the buffer is written as well in each of the calls that do the work.
    pub(super) fn flushes(&self, work: &Work, calls: u32) -> u32 {
        // A stale page may be discarded when it was written.
        let work = Work { discards: work.discards + self.outlook.ftl.transaction.stale_pages(), ..*work };
        let turns = (self.journal.patched_pages() + work.pages).saturating_sub(self.outlook.ftl.layout.patched_pages_max());
        if work.bytes(self.journal.patch_room(0) as u32) <= self.journal.room() {
            return turns;
        }
        let full = self.flushes_of_full(&work, turns, calls).min(work.records());
        turns + full + full.min(calls)
    }

    /// Pages that records write for which the buffer has no room, where `turns` others may go before: the largest ones of the buffer; those of patches that are
    /// longer than what is left of these, of which each takes less room itself; and where all pages of the buffer do not do, those of what finds no room then.
    fn flushes_of_full(&self, work: &Work, turns: u32, calls: u32) -> u32 {
        let header = self.journal.patch_room(0) as u32;
        let lacking = work.bytes(header) - self.journal.room();
        // The largest page that is there before the last of them is written, whichever others have gone: behind each but the last one that has little, in each call. Where
        // all may have gone, the smallest.
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

    /// What so many bytes in one logical page change.
    pub fn work_of_write(&self, bytes: u32) -> Work {
        let fits = bytes as usize <= self.journal.small_patch_bytes_max(&self.outlook.ftl.layout);
        if fits { Work::patched(&[bytes], 1) } else { Work::PAGE }
    }

    /// Frames of pages that leave the cache: one that makes room, and all that wait, when the call commits.
    fn written_back(&self, work: &Work, buffer: Buffer) -> u32 {
        let waiting = match buffer {
            _ if work.commits == 0 => 0,
            Buffer::AsItIs => self.cache.dirty(),
            Buffer::Any => self.cache.len(),
            Buffer::Committed => 0,
        };
        waiting + u32::from(self.cache.len() > 0 && work.frames > 0)
    }

    /// Worst case of a call with `failures` failing programs: as the journal buffer is now, or whatever is in it.
    pub fn bound(&self, work: &Work, buffer: Buffer, failures: u32) -> Bound {
        let (own, plans) = self.own_and_plans(work, buffer, failures);
        let [moving, folding, erasing] = &plans;
        Bound { moving: self.whole(&own, moving), folding: self.whole(&own, folding), erasing: self.whole(&own, erasing) }
    }

    /// What a call costs with its plan. Not inlined: the parts are there once, and off the stack.
    #[inline(never)]
    fn whole(&self, own: &Parts, plan: &Plan) -> Cost {
        self.with_plan(own, plan).total()
    }

    /// What one of the three cases of that is made of, in the order of a [`Bound`].
    pub fn parts(&self, work: &Work, buffer: Buffer, failures: u32, case: usize) -> Parts {
        let (own, plans) = self.own_and_plans(work, buffer, failures);
        self.with_plan(&own, &plans[case])
    }

    /// What a call costs in each case, and the plan of each. Not inlined: the stack of either is not beneath the other.
    #[inline(never)]
    fn own_and_plans(&self, work: &Work, buffer: Buffer, failures: u32) -> (Parts, [Plan; 3]) {
        let layout = &self.outlook.ftl.layout;
        let flushes = match buffer {
            Buffer::AsItIs => self.flushes(work, 1),
            Buffer::Any | Buffer::Committed => work.flushes_of_any(),
        };
        let stale = self.outlook.ftl.transaction.stale_pages();
        let earlier = flushes + self.written_back(work, buffer) + stale;
        // A stale page is read before it is programmed once more, whatever the call does.
        let stale = Cost { reads: if work.records() > 0 { 0 } else { stale * merge_reads(layout) }, ..Cost::default() };
        let frames = work.frames + earlier;
        // A commit also lets the overlay know of what earlier calls wrote and discarded.
        let waiting = match buffer {
            _ if work.commits == 0 || buffer == Buffer::Committed => 0,
            Buffer::AsItIs => self.outlook.ftl.transaction.len() + self.journal.discard_count(),
            _ => self.outlook.ftl.transaction.capacity() + layout.journal_bytes / layout.journal_shape().header_bytes() as u32,
        };
        let late = work.discards + waiting;
        let own = Parts {
            call: self.call_cost(work, self.outlook.ftl.space.near_full(&self.outlook.ftl.layout, frames)),
            earlier: self
                .frames_cost(work, earlier, self.outlook.ftl.space.near_full(&self.outlook.ftl.layout, frames))
                .plus(&stale),
            // A fold makes room before the commit, where the overlay is too full for what it brings. Frames that move apart show their
            // stream first: one of each stream may find its head without a block.
            reclamation: Cost { tag_reads: layout.extra_moved_heads(), ..self.fold_cost().times(u32::from(late > 0)) },
            // The first change after a clean end writes a root into a ring block that it erases first.
            root: Cost { programs: layout.root_programs * u32::from(self.outlook.ftl.ring.is_closed()), ..Cost::default() },
            erase: Cost { erases: self.outlook.ftl.ring.opening_erases(), ..Cost::default() },
            failures: self.failures_cost(failures),
        };
        // Journal pages that lie among the caller's are frames as well.
        let frames = frames + if layout.commits_join() { work.commits } else { 0 };
        let left = match buffer {
            Buffer::AsItIs => 0,
            Buffer::Any | Buffer::Committed => self.outlook.superseded(u32::MAX),
        };
        let promise = self.outlook.promise(frames + left);
        let erasing = promise.erasing(frames, frames + late);
        let erases = self.erases(&promise, &erasing, frames, work.commits);
        let plans = [promise.moving(frames), promise.folding(frames, frames + late), Plan { erases, ..erasing }];
        (own, plans.map(|plan| self.urgently(plan, frames)))
    }

    /// What a call writes of its own, and its commit.
    fn call_cost(&self, work: &Work, is_near_full: bool) -> Cost {
        let records = work.commits + u32::from(self.outlook.ftl.space.is_unmarked() || self.outlook.ftl.ring.is_closed());
        let beside = Cost {
            // Now and then another page of a block that is read often is looked at; a commit looks the old frames of its pages up where few
            // frames are left.
            reads: u32::from(self.outlook.ftl.pages.watch().patrols())
                + self.outlook.ftl.transaction.len()
                + self.journal.discard_count(),
            programs: records * self.outlook.ftl.layout.journal_pages(),
            ..Cost::default()
        };
        self.frames_cost(work, work.frames, is_near_full).plus(&beside)
    }

    /// Frames of a call: one that patches may have to read what it patches.
    fn frames_cost(&self, work: &Work, frames: u32, is_near_full: bool) -> Cost {
        let merging = if work.records() > 0 { merge_reads(&self.outlook.ftl.layout) } else { 0 };
        self.write_cost(frames, is_near_full).plus(&Cost { reads: frames * merging, ..Cost::default() })
    }

    /// A failed frame is written, or moved, once more, in another block, for which a root may be needed first; a failed erase is tried on another
    /// block.
    fn failures_cost(&self, failures: u32) -> Cost {
        let unit = u32::from(self.outlook.ftl.layout.config.unit_pages);
        let root = Cost { programs: self.outlook.ftl.layout.root_programs, ..Cost::default() };
        // What fails may be a group of moves, behind which a root comes.
        let most = unit.max(self.outlook.ftl.layout.group_pages());
        let again = Cost { reads: most, tag_reads: unit, programs: most, copies: unit, erases: 1 }.plus(&root);
        again.times(failures).plus(&if failures > 0 { MARK } else { self.mark_cost() })
    }

    /// The plan of a call that may find so much of the reserve used up that moves do not wait.
    fn urgently(&self, plan: Plan, frames: u32) -> Plan {
        let fpb = self.outlook.ftl.layout.frames_per_block;
        // The journal may take a block.
        let record = if self.outlook.ftl.space.rest(HeadIndex::JOURNAL) < self.outlook.ftl.layout.journal_record_places() {
            fpb
        } else {
            0
        };
        let is_short = self.outlook.is_short(frames + plan.moves + plan.folds + record);
        Plan { moves: if is_short { plan.moves.max(fpb) } else { plan.moves }, ..plan }
    }

    /// The parts of a call with those of its plan. A root is written in the place of leaves, of which it costs the larger number of each kind.
    fn with_plan(&self, own: &Parts, plan: &Plan) -> Parts {
        let moves = self.move_cost().times(plan.moves);
        let folds = self.fold_cost().times(plan.folds);
        let root_programs = if plan.root { self.outlook.ftl.layout.root_programs } else { 0 };
        let side = Cost { reads: folds.reads.max(u32::from(plan.root)), programs: folds.programs.max(root_programs), ..folds };
        let (root, folds) = if root_programs > folds.programs { (side, Cost::default()) } else { (Cost::default(), side) };
        Parts {
            reclamation: own.reclamation.plus(&moves).plus(&folds),
            root: own.root.plus(&root),
            erase: own.erase.plus(&Cost { erases: plan.erases, ..Cost::default() }),
            ..*own
        }
    }

    /// Erases of a call: the one that restocks, or those for programs beyond the erased blocks, if these
    /// are more. They are more only just after a mount, or if a call fills a whole block. The moves of
    /// one head do not count, for they need an erased place. Moves of several heads may take places of
    /// each other.
    fn erases(&self, promise: &Promise, erasing: &Plan, frames: u32, journal_pages: u32) -> u32 {
        let space = &self.outlook.ftl.space;
        // A head gives up a block with a weak page before the call's own frames are programmed.
        let rest = |head: HeadIndex| if space.weak_head() == Some(head) { 0 } else { space.rest(head) };
        let blocks = |head: HeadIndex, places: u32| places.saturating_sub(rest(head)).div_ceil(space.capacity(head));
        // Beside what is of no stream a call writes to one that it names, or to any; no more blocks than frames.
        let streams = self.outlook.ftl.space.heads().of_streams().filter(|head| head.is_user()).map(|head| blocks(head, frames));
        let of_streams = if self.outlook.ftl.layout.config.auto_streams {
            streams.sum::<u32>().min(frames)
        } else {
            streams.max().unwrap_or(0)
        };
        let moves = if self.outlook.ftl.layout.moves_apart() { promise.moving(frames).moves } else { 0 };
        let taken = blocks(HeadIndex::USER, frames + erasing.folds)
            + of_streams
            + Space::moved_heads(&self.outlook.ftl.layout).map(|head| blocks(head, moves)).sum::<u32>()
            + blocks(
                HeadIndex::JOURNAL,
                (journal_pages + u32::from(self.outlook.ftl.space.is_unmarked() || self.outlook.ftl.ring.is_closed()))
                    * self.outlook.ftl.layout.journal_record_places(),
            );
        taken.saturating_sub(self.outlook.ftl.space.blocks().count(State::Erased)).max(1)
    }

    /// Frames written for the caller: one read for the map each where few are left, or will be before the last of them has its place.
    fn write_cost(&self, frames: u32, is_near_full: bool) -> Cost {
        let unit = u32::from(self.outlook.ftl.layout.config.unit_pages);
        Cost { reads: u32::from(is_near_full), programs: unit, ..Cost::default() }.times(frames)
    }

    /// A leaf that is written anew, or the pages of its log and a record that says so.
    pub fn fold_cost(&self) -> Cost {
        let unit = u32::from(self.outlook.ftl.layout.config.unit_pages);
        let record = u32::from(self.outlook.ftl.layout.leaf_log_bytes() > 0);
        Cost { reads: unit * (1 + record), programs: unit + record, ..Cost::default() }
    }

    /// A root, which may fill its block, and the mark that follows it.
    pub fn root_cost(&self) -> Cost {
        Cost { programs: self.outlook.ftl.layout.root_programs, erases: 1, ..Cost::default() }.plus(&self.mark_cost())
    }

    /// The root that ends the use of the volume: it has a copy of the journal, and the first leaf has
    /// one.
    pub fn closing_cost(&self) -> Cost {
        let layout = &self.outlook.ftl.layout;
        let copied = if layout.copies_leaf() { layout.config.unit_pages.into() } else { 0 };
        let own = Cost { reads: copied, programs: copied + layout.journal_pages(), ..Cost::default() };
        self.root_cost().plus(&own)
    }

    /// The mark that a root makes, where a program has failed.
    fn mark_cost(&self) -> Cost {
        MARK.times(u32::from(self.outlook.ftl.space.blocks().count(State::Retiring) > 0))
    }

    pub fn move_cost(&self) -> Cost {
        let unit = u32::from(self.outlook.ftl.layout.config.unit_pages);
        if self.outlook.ftl.pages.flash().can_copy() && !self.outlook.ftl.layout.moves_join() {
            Cost { tag_reads: unit, copies: unit, ..Cost::default() }
        } else {
            Cost { tag_reads: 1, reads: unit, programs: unit, ..Cost::default() }
        }
    }

    /// Envelopes of calls that do the same work each; both hold.
    ///
    /// The first lets every call move as much as it may and spreads erases; the second spreads all of a victim's cost over the
    /// writes that its space pays for, two victims ahead.
    pub fn envelopes(&self, work: &Work, timing: &Timing) -> [Envelope; 2] {
        self.envelopes_with(0, u32::MAX, work, timing)
    }

    /// The same of so many calls that begin where so many blocks are erased.
    fn envelopes_with(&self, erased: u32, calls: u32, work: &Work, timing: &Timing) -> [Envelope; 2] {
        let restocks = self.outlook.ftl.layout.stock().saturating_sub(erased);
        let bound = self.bound(work, Buffer::Any, 0);
        let flushes = work.flushes_of_any();
        let commits = if self.outlook.ftl.layout.commits_join() { work.commits } else { 0 };
        let frames = work.frames + flushes + self.written_back(work, Buffer::Any) + commits;
        let promise = self.outlook.promise(frames + self.outlook.superseded(frames.saturating_mul(calls)));
        // Pages that are written as a whole while the journal buffer patches them take a journal page each; nothing in such calls patches more.
        let patched = if work.commits == 0 { self.journal.patched_pages() } else { 0 };
        let patched_ns = u64::from(patched) * timing.program_ns;
        let usual_ns = bound.moving.time_ns(timing).max(bound.folding.time_ns(timing));
        let over_ns = bound.erasing.time_ns(timing).saturating_sub(usual_ns);
        let calls = u64::from((promise.gain_frames() / frames.max(1)).max(1));
        let spread =
            Envelope { burst_ns: over_ns * u64::from(restocks + 2) + patched_ns, rate_ns: usual_ns + over_ns.div_ceil(calls) };
        let mut own = self.write_cost(frames, self.outlook.ftl.space.near_full(&self.outlook.ftl.layout, frames));
        own.programs += work.commits;
        // What a victim's space pays for, journal pages not counted: each of them brings the next root nearer.
        let cycle_ns = self.victim_ns(&promise, timing);
        let fpb = self.outlook.ftl.layout.frames_per_block;
        let rest_ns = self.move_cost().times(fpb).time_ns(timing) + timing.erase_ns;
        // A block at rest is emptied while the caller writes so many frames, which half a frame of each victim was saved for; and not before it
        // lags behind.
        let meanwhile = fpb.div_ceil(promise.moves(1));
        let paid_ns = cycle_ns + rest_ns / u64::from((2 * meanwhile).max(self.outlook.lag_kept()));
        // What is saved may be used up at once, or be saved anew.
        let (saved, share_ns) = (2 * fpb, promise.share_ns(paid_ns, 1));
        let saved_ns = u64::from(saved) * share_ns.max((rest_ns / u64::from(meanwhile)).saturating_sub(share_ns));
        let journal_ns = self.program_share_ns(work.commits, timing);
        let average = Envelope {
            burst_ns: 2 * cycle_ns + rest_ns + saved_ns + patched_ns + u64::from(restocks) * timing.erase_ns,
            rate_ns: own.time_ns(timing) + journal_ns + promise.share_ns(paid_ns, frames),
        };
        [spread, average]
    }

    /// Worst case, in nanoseconds, of so many calls in a row that do so much work together, the first of them now: that of as many pages as they may write, one after the
    /// other, and of their commits, between which they write so many pages at least.
    pub fn row_ns(&self, work: &Work, calls: u32, per_commit: u32, timing: &Timing) -> u64 {
        let (layout, space) = (&self.outlook.ftl.layout, &self.outlook.ftl.space);
        // A call that writes nothing takes its part in reclamation as well.
        let frames =
            work.frames.max(calls) + self.flushes(work, calls) + self.outlook.ftl.transaction.stale_pages() + self.cache.len();
        let commits = 2 + calls.min(frames / per_commit);
        let frames = frames + if layout.commits_join() { commits } else { 0 };
        let programs = commits * layout.journal_pages();
        let places = (commits * layout.journal_record_places()).saturating_sub(space.rest(HeadIndex::JOURNAL));
        let erases = places.div_ceil(space.capacity(HeadIndex::JOURNAL));
        // A commit also lets the overlay know of what earlier calls wrote and discarded.
        let late = work.discards + self.outlook.ftl.transaction.len() + self.journal.discard_count();
        let beside = Cost { reads: frames * merge_reads(layout) + late, programs, erases, ..Cost::default() }
            .plus(&self.fold_cost().times(late.div_ceil(layout.fold_frees)));
        beside.time_ns(timing) + self.program_share_ns(programs, timing) + self.in_a_row_ns(&Work::PAGE, frames, timing)
    }

    /// Worst case, in nanoseconds, of so many calls in a row that do so much work each, the first of them now: what is erased now need not be erased first.
    pub fn in_a_row_ns(&self, work: &Work, calls: u32, timing: &Timing) -> u64 {
        let erased = self.outlook.ftl.space.blocks().count(State::Erased);
        let in_a_row = self
            .envelopes_with(erased, calls, work, timing)
            .map(|each| each.burst_ns.saturating_add(u64::from(calls).saturating_mul(each.rate_ns)));
        in_a_row[0].min(in_a_row[1]).saturating_add(self.opening_cost().time_ns(timing))
    }

    /// What the first change after a clean end costs beside, once: a root, in a ring block that may have to be erased, and the mark.
    fn opening_cost(&self) -> Cost {
        let layout = &self.outlook.ftl.layout;
        let ring = &self.outlook.ftl.ring;
        let records = u32::from(self.outlook.ftl.space.is_unmarked() || ring.is_closed());
        let programs = layout.root_programs * u32::from(ring.is_closed()) + records * layout.journal_pages();
        Cost { programs, erases: ring.opening_erases(), ..Cost::default() }
    }

    /// Time of all that a victim costs: its moves, the leaves and the roots for its block of frames, and an erase.
    fn victim_ns(&self, promise: &Promise, timing: &Timing) -> u64 {
        let layout = &self.outlook.ftl.layout;
        let (fpb, per_fold) = (layout.frames_per_block, layout.fold_frees);
        let fold_ns = self.fold_cost().time_ns(timing) * u64::from(fpb) / u64::from(per_fold + 1);
        let move_ns = self.move_cost().times(promise.victim).time_ns(timing);
        let programs = fpb * u32::from(layout.config.unit_pages);
        move_ns + fold_ns + self.program_share_ns(programs, timing) + timing.erase_ns
    }

    /// The share of so many programs in a root, and of that in the erase of its block.
    fn program_share_ns(&self, programs: u32, timing: &Timing) -> u64 {
        let layout = &self.outlook.ftl.layout;
        let per_block = u64::from(layout.geometry.pages_per_block / layout.root_programs);
        let root_ns = u64::from(layout.root_programs) * timing.program_ns + timing.erase_ns / per_block;
        (root_ns * u64::from(programs)).div_ceil(u64::from(layout.config.checkpoint_programs))
    }
}

/// Worst case of a mount after an unclean stop.
///
/// Superblocks, and the marks of the blocks before the second one; the first pages of the ring, of which all may be unsteady where many mounts in a row were cut; the ends of two ring
/// blocks; the root; one tag for each program since and behind the end of each block, the last record of each block, and the first page
/// of each block that may have been begun; leaves and journal page. Settling: one erase, the root with its copies, frames and journal
/// page that are copied; erases for heads that are nearly full (two where blocks are small); and, where several frames were copied,
/// their way back into blocks that may have to be erased first. And an erase of each ring block in which no root can be read, as many mounts
/// in a row that were cut may leave them: all but the two that hold roots, and the one that is erased first anyway.
///
/// A record that discards something is read whole; where a cut may leave any part of what was not flushed, as behind a cache that reorders, every one, and the source
/// of the first copy that is not.
///
/// Where the medium turns out to take no program, the volume is read once more: no more than twice this.
pub(crate) fn mount_bound(layout: &Layout) -> Cost {
    let unit = u32::from(layout.config.unit_pages);
    // No erase is displaced here: the more moves, the more programs may a root be late.
    let moves = Promise::new(layout, layout.usable, layout.data_blocks, layout.frames_per_block).moving(2).moves;
    let overshoot = ROOT_SLACK + 2 * (2 + moves + 2) * unit + 4;
    let programs = u32::from(layout.config.checkpoint_programs) + overshoot;
    let chains = 3 + layout.extra_heads() + layout.listed_blocks;
    // As many tags as pages: where a damaged page may look blank, the search for the end of a block asks for two, which are fewer.
    let ring = TRIES * (layout.ring_count * layout.first_root_pages() + 2 * ring_window(layout));
    let copied = COPIED_MAX * unit + unit.max(layout.journal_pages());
    // Each record of a chain is read when it is found, when it counts, and when it is applied; behind its end every place may begin another one. Of others those
    // that discard something are read as a whole, and where a cut may leave any part all.
    let records = if layout.programs_bytes() {
        4 * programs + TRIES * chains * (2 * layout.journal_record_places() + 1)
    } else {
        programs + unit
    };
    Cost {
        // A root that is stale is read before the one that takes its place.
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

/// Worst case of a mount that [recovers nothing](crate::CleanReader).
///
/// Superblocks, and the marks of the blocks before the second one; the first pages of the ring; the end of a ring block; a root and its copies; of the blocks of
/// the ring that have no root, those pages that a root would have; the journal page, or the records of a chain as far as it goes, each in two reads.
pub(crate) fn clean_mount_bound(layout: &Layout) -> Cost {
    let journal =
        if layout.programs_bytes() { 2 * layout.journal_places().div_ceil(empty_places()) } else { layout.journal_pages() };
    let firsts = layout.ring_count * layout.first_root_pages();
    // Where a damaged page may look blank the one behind it is asked, and behind a root the page behind the gap.
    let ends = 3 * (layout.geometry.pages_per_block.ilog2() + 2);
    Cost {
        reads: TRIES * (2 + firsts + layout.root_programs + journal + layout.journal_pages()) + 1,
        tag_reads: TRIES * (3 * firsts + ends + layout.ring_count * layout.root_programs)
            + (u32::from(layout.config.bad_blocks_max) + 1).min(SUPERBLOCK_BLOCKS),
        ..Cost::default()
    }
}
