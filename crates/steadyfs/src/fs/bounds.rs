//! The worst case of each call if it is made now.

use super::call::{Call, first_steps, looks, looks_of_steps};
use super::commits::CommitOn;
use super::filesystem::FileSystem;
use super::handle::File;
use super::inode::AREA_BYTES;
use super::sequences::{CallSequence, pieces_cost};
use super::volume::MAP;
use crate::cost::{Bound, BoundBreakdown, Cost, Envelope};
use crate::media::{Flash, Timing};
use crate::reclaim::{Buffer, Work, mount_bound};

/// The worst cases of calls, if they are made now: [`FileSystem::bounds`] returns it.
///
/// The functions only compute, and do not touch the medium. `docs/design/bounds.md` has the
/// formulas. [`Bound::time_ns`] and [`Cost::time_ns`] convert results to time.
///
/// A format, a check and a repair have no bound here. The cost of
/// [`available`](FileSystem::available) and [`free_bytes`](FileSystem::free_bytes) depends on the
/// number of removed files. The budget of [`maintain`](FileSystem::maintain) is its bound.
pub struct CallBounds<'f, 'm, F> {
    fs: &'f FileSystem<'m, F>,
}

impl<F: Flash> CallBounds<'_, '_, F> {
    /// Returns the worst case of a call that is made now, if no program fails.
    pub fn of(&self, call: Call) -> Bound {
        self.with_failures(call, 0)
    }

    /// Returns the worst case of a call that is made now, if `failures` programs fail.
    pub fn with_failures(&self, call: Call, failures: u32) -> Bound {
        self.fs.bound_of(call, Buffer::AsItIs, failures)
    }

    /// Returns the worst case of a call at the present fill, whatever small changes earlier calls
    /// left in the buffers. The result depends on geometry, settings, fill and `failures`. If names
    /// were chosen for their hashes, the bound is larger. If a write covers more than one logical
    /// page, each further piece costs at most this bound.
    ///
    /// The bound of an [overwrite](Call::Overwrite) holds only if no change waits for a commit,
    /// because the overwrite also commits waiting changes. The bound of [`of`](Self::of) includes
    /// waiting changes.
    pub fn at_fill(&self, call: Call, failures: u32) -> Bound {
        self.fs.bound_of(call, Buffer::Any, failures)
    }

    /// Returns the worst case, in nanoseconds, of a [sequence of calls](CallSequence) if its first
    /// call is made now. The time is less than the sum of the bounds, because one call does work
    /// that the next calls then need not do. The [`envelopes`](Self::envelopes) show the same
    /// effect.
    ///
    /// ```
    /// # use steadyfs::{Call, CallSequence, File, FileSystem, media::Flash};
    /// # fn within(fs: &FileSystem<'_, impl Flash>, file: &File) -> bool {
    /// let (bounds, timing) = (fs.bounds(), fs.flash().timing());
    /// let write = CallSequence::Write { file, offset: 0, bytes: 65_536 };
    /// let write_ns = bounds.sequence_ns(write, &timing);
    /// let each_ns = bounds.at_fill(Call::Overwrite, 0).time_ns(&timing);
    /// # write_ns > 0 &&
    /// bounds.sequence_ns(CallSequence::Overwrites(16), &timing) <= 16 * each_ns
    /// # }
    /// ```
    pub fn sequence_ns(&self, calls: CallSequence<'_>, timing: &Timing) -> u64 {
        calls.bound_ns(self.fs, timing)
    }

    /// Returns the parts of the worst case of a call that is made now, if `failures` programs fail.
    /// They are the parts of the longest alternative of the bound. Together they take the time of
    /// [`with_failures`](Self::with_failures).
    pub fn breakdown(&self, call: Call, failures: u32, timing: &Timing) -> BoundBreakdown {
        let bound = self.with_failures(call, failures);
        let (case, whole) = bound.longest(timing);
        let works = self.fs.works(call);
        let parts = works.map(|work| {
            let (work, _) = self.fs.with_all_steps(call, work, Buffer::AsItIs);
            self.fs.volume.store.bounds().parts(&work, Buffer::AsItIs, failures, case)
        });
        let longest = parts.max_by_key(|parts| parts.total().time_ns(timing));
        longest.unwrap_or_default().filled(whole)
    }

    /// Returns the [`Call`] to pass to [`of`](Self::of) for a write of at most `bytes` bytes within
    /// one logical page, at `offset` of a file. If the handle appends, the write is at the end of
    /// the file instead.
    pub fn write_call(&self, file: &File, offset: u64, bytes: u32) -> Call {
        let offset = if file.options.append { file.size } else { offset };
        match () {
            () if file.stamp != self.fs.volume.stamp() => Call::Write(bytes),
            () if !file.inline => Call::WriteLarge(bytes),
            () if offset <= file.size && offset + u64::from(bytes) <= AREA_BYTES as u64 => {
                Call::WriteInline(bytes)
            }
            () => Call::Write(bytes),
        }
    }

    /// Returns envelopes of calls in a row at the present fill. For each envelope, any `n` of the
    /// calls take at most `burst_ns + n · rate_ns`.
    ///
    /// If pages of removed files wait, each call may begin with freeing some of them. The rate is
    /// then much larger. Envelopes of [overwrites](Call::Overwrite) leave out the look-ups of pages
    /// that do not follow each other.
    pub fn envelopes(&self, call: Call, timing: &Timing) -> [Envelope; 2] {
        let fs = self.fs;
        let frees = fs.lists.steps(&fs.volume, fs.has_abandoned_orphans()) > 0;
        let of = |(work, beside): (Work, Cost)| {
            let beside_ns = beside.time_ns(timing);
            let each = fs.volume.store.bounds().envelopes(&work, timing);
            each.map(|each| Envelope { rate_ns: each.rate_ns.saturating_add(beside_ns), ..each })
        };
        let each = fs.works(call).map(|work| match call {
            Call::Overwrite if !frees => of((work, call.base(&fs.volume))),
            _ => of(fs.with_all_steps(call, work, Buffer::Any)),
        });
        // A call that changes nothing has look-ups alone.
        each.reduce(|one, other| [one[0].or(&other[0]), one[1].or(&other[1])])
            .unwrap_or_else(|| of((Work::NONE, call.lookups(&fs.volume))))
    }

    /// Returns the worst case of [`unmount`](FileSystem::unmount) without its commit: the programs
    /// of a root, and copies of the newest journal page and the first map leaf. The commit costs
    /// [`Call::Sync`].
    pub fn unmount(&self) -> Cost {
        self.fs.volume.store.bounds().closing_cost()
    }

    /// Returns the worst case of a [`rollback`](FileSystem::rollback).
    pub fn rollback(&self) -> Cost {
        let open = Cost { reads: looks(2 * self.fs.open.entries()), ..Cost::default() };
        let unsteady = Cost { reads: self.fs.volume.store.unsteady_reads(), ..Cost::default() };
        self.fs.volume.store.bounds().rollback().plus(&self.tables()).plus(&open).plus(&unsteady)
    }

    /// Returns the worst case of a mount after an unclean stop, at any fill. If the medium accepts
    /// no program, the mount costs at most twice as much.
    pub fn mount(&self) -> Cost {
        mount_bound(self.fs.volume.store.layout()).plus(&self.tables())
    }

    /// Returns the worst case of the next mount, if the volume is [unmounted](FileSystem::unmount)
    /// now. This mount programs nothing, and takes much less time than [`mount`](Self::mount). The
    /// bound includes repeated reads of two damaged pages. Each further damaged page takes more
    /// reads.
    ///
    /// A power cut may have interrupted an unmount, or the first change after it. If nothing was
    /// changed since, the result is the worst case of [`mount`](Self::mount).
    pub fn clean_mount(&self) -> Cost {
        self.fs.volume.store.bounds().clean_mount().plus(&self.tables())
    }

    /// Returns the cost of the file system's own pages in a mount: the allocation map, the root
    /// page, and the inode of the root directory.
    fn tables(&self) -> Cost {
        let map_pages = (self.fs.volume.plan().table - MAP)
            * u32::from(self.fs.volume.store.layout().config.pages_per_logical_page);
        Cost { reads: looks(map_pages + 2), ..Cost::default() }
    }
}

impl<'m, F: Flash> FileSystem<'m, F> {
    /// Returns the worst cases of calls, at the present state of the volume.
    pub fn bounds(&self) -> CallBounds<'_, 'm, F> {
        CallBounds { fs: self }
    }

    /// Returns the alternative works of a call.
    fn works(&self, call: Call) -> impl Iterator<Item = Work> + use<F> {
        call.works(&self.volume, self.volume.has_long_names()).into_iter().flatten()
    }

    pub(super) fn bound_of(&self, call: Call, buffer: Buffer, failures: u32) -> Bound {
        let further = call.further_pieces(self.volume.store.layout().logical_bytes);
        let mut bound = self.bound_of_piece(call, buffer, failures);
        if further == 0 {
            return bound;
        }
        bound = bound.plus(&self.bound_of_piece(call, Buffer::Any, 0).most().times(further));
        if buffer == Buffer::AsItIs
            && failures == 0
            && let Some(row) = pieces_cost(self, call, 1 + further)
        {
            // Both results hold. The device's own times decide which one is smaller.
            let timing = self.flash().timing();
            if row.time_ns(&timing) < bound.time_ns(&timing) {
                return Bound::single(row);
            }
        }
        bound
    }

    /// Computes the bound of a call, or of one piece of a write that exceeds a logical page.
    /// Not inlined: the code exists once.
    #[inline(never)]
    fn bound_of_piece(&self, call: Call, buffer: Buffer, failures: u32) -> Bound {
        let mut bound = None;
        for work in self.works(call) {
            let other = self.bound_of_work(call, &work, buffer, failures);
            bound = Some(bound.map_or(other, |bound: Bound| bound.or(&other)));
        }
        bound.unwrap_or_else(|| Bound::default().plus(&call.lookups(&self.volume)))
    }

    /// Computes the bound of one work of a call. Not inlined: the stack that it needs is not part
    /// of the stack frame of its caller.
    #[inline(never)]
    fn bound_of_work(&self, call: Call, work: &Work, buffer: Buffer, failures: u32) -> Bound {
        let (work, beside) = self.with_all_steps(call, *work, buffer);
        self.volume.store.bounds().bound(&work, buffer, failures.min(u8::MAX.into())).plus(&beside)
    }

    /// Adds the steps at the beginning and the end of a call to its work, and computes the cost
    /// of its look-ups.
    #[inline(never)]
    fn with_all_steps(&self, call: Call, mut work: Work, buffer: Buffer) -> (Work, Cost) {
        // If the journal buffer has patches of the page, or if other changes wait, a journal page
        // commits the overwrite.
        let mut beside = call.lookups(&self.volume);
        match buffer {
            _ if work.commits > 0 => {}
            Buffer::AsItIs => {
                work.commits =
                    u32::from(self.volume.store.logical.waits_beside(self.volume.plan().data))
            }
            Buffer::Any | Buffer::Committed => beside.programs += 1,
        }
        let (work, first) = self.with_first_steps(call, work, buffer);
        (work, beside.plus(&first))
    }

    /// Adds the steps that a call begins with: a commit, the orphans from before the mount, and
    /// steps of the trim list.
    fn with_first_steps(&self, call: Call, mut work: Work, buffer: Buffer) -> (Work, Cost) {
        if work == Work::COMMIT {
            return (work, Cost::default());
        }
        let (call, is_long) = (call.begun(&self.volume), self.volume.has_long_names());
        if self.commits_first(call, is_long)
            || (buffer == Buffer::Any && self.commits.events().contains(CommitOn::FULL))
        {
            work.commits += 1;
        }
        let orphans = self.has_abandoned_orphans();
        let trims = self.lists.steps(&self.volume, orphans);
        let between = if self.trims_commit(call, is_long, trims) { trims } else { 0 };
        let work = Work {
            commits: (work.commits + u32::from(orphans) + between).max(u32::from(trims > 0)),
            ..work
        };
        let looks = Cost { reads: looks_of_steps(&self.volume, trims), ..Cost::default() };
        let folds = self.volume.store.bounds().fold_cost().times(between);
        (work.plus(&first_steps(&self.volume, trims, orphans)), looks.plus(&folds))
    }
}
