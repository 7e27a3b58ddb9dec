//! The worst case of each call if it is made now.

use super::call::{Call, first_steps, looks};
use super::commits::CommitOn;
use super::filesystem::FileSystem;
use super::handle::File;
use super::inode::AREA_BYTES;
use super::sequences::CallSequence;
use super::volume::MAP;
use crate::cost::{Bound, BoundBreakdown, Cost, Envelope};
use crate::media::{Flash, Timing};
use crate::reclaim::{Buffer, Work, mount_bound};

impl<F: Flash> FileSystem<'_, F> {
    /// Returns the worst case of a call that is made now, if no program fails. The formulas are in
    /// `docs/design/bounds.md`. The function computes and does not touch the medium.
    /// [`Bound::time_ns`] converts the result to time.
    pub fn bound(&self, call: Call) -> Bound {
        self.bound_with_failures(call, 0)
    }

    /// Returns the worst case of a call that is made now, if `failures` programs fail.
    pub fn bound_with_failures(&self, call: Call, failures: u32) -> Bound {
        self.bound_of(call, Buffer::AsItIs, failures)
    }

    /// Returns the worst case of a call at the present fill, for any small changes that earlier
    /// calls left. It depends on geometry, settings, fill and `failures`. Names chosen for
    /// their hashes increase it. If a write has more than one logical page, each further piece
    /// costs at most this bound.
    ///
    /// The bound of an [overwrite](Call::Overwrite) holds if nothing waits for a commit.
    /// Otherwise the overwrite also commits the waiting changes, and [`bound`](Self::bound)
    /// includes them.
    pub fn bound_at_fill(&self, call: Call, failures: u32) -> Bound {
        self.bound_of(call, Buffer::Any, failures)
    }

    /// Returns the worst case, in nanoseconds, of the calls of a [row](CallSequence) if the first
    /// of them is made now. It is less than the sum of their bounds: one call pays for work that
    /// the next ones need not do. The [`envelopes`](Self::envelopes) show the same.
    ///
    /// ```
    /// # use steadyfs::{Call, File, FileSystem, CallSequence, media::Flash};
    /// # fn within(fs: &FileSystem<'_, impl Flash>, file: &File) -> bool {
    /// let timing = fs.flash().timing();
    /// let write = CallSequence::Write { file, offset: 0, bytes: 65_536 };
    /// let write_ns = fs.sequence_bound_ns(write, &timing);
    /// # write_ns > 0 &&
    /// fs.sequence_bound_ns(CallSequence::Overwrites(16), &timing)
    ///     <= 16 * fs.bound_at_fill(Call::Overwrite, 0).time_ns(&timing)
    /// # }
    /// ```
    pub fn sequence_bound_ns(&self, row: CallSequence<'_>, timing: &Timing) -> u64 {
        row.bound_ns(self, timing)
    }

    /// Returns the parts of the worst case of a call that is made now, if `failures` programs
    /// fail. They are the parts of its longest case. Together they take the time of
    /// [`bound_with_failures`](Self::bound_with_failures).
    pub fn bound_parts(&self, call: Call, failures: u32, timing: &Timing) -> BoundBreakdown {
        let bound = self.bound_with_failures(call, failures);
        let (case, whole) = bound.longest(timing);
        let works = call.works(&self.volume, self.volume.has_long_names()).into_iter().flatten();
        let parts = works.map(|work| {
            let (work, _) = self.with_all_steps(call, work, Buffer::AsItIs);
            self.volume.store.bounds().parts(&work, Buffer::AsItIs, failures, case)
        });
        let longest = parts.max_by_key(|parts| parts.total().time_ns(timing));
        longest.unwrap_or_default().filled(whole)
    }

    pub(super) fn bound_of(&self, call: Call, buffer: Buffer, failures: u32) -> Bound {
        let first = self.bound_of_piece(call, buffer, failures);
        match call.further_pieces(self.volume.store.layout().logical_bytes) {
            0 => first,
            further => first.plus(&self.bound_of_piece(call, Buffer::Any, 0).most().times(further)),
        }
    }

    /// Computes the bound of a call, or of one piece of a write that exceeds a logical page.
    /// Not inlined: the code exists once.
    #[inline(never)]
    fn bound_of_piece(&self, call: Call, buffer: Buffer, failures: u32) -> Bound {
        let mut bound = None;
        for work in call.works(&self.volume, self.volume.has_long_names()).into_iter().flatten() {
            let other = self.bound_of_work(call, &work, buffer, failures);
            bound = Some(bound.map_or(other, |bound: Bound| bound.or(&other)));
        }
        bound.unwrap_or_else(|| Bound::default().plus(&call.lookups(&self.volume)))
    }

    /// Computes the bound of one work of a call. Not inlined: its stack is not part of the
    /// frame in which its caller adds up.
    #[inline(never)]
    fn bound_of_work(&self, call: Call, work: &Work, buffer: Buffer, failures: u32) -> Bound {
        let (work, beside) = self.with_all_steps(call, *work, buffer);
        self.volume.store.bounds().bound(&work, buffer, failures.min(u8::MAX.into())).plus(&beside)
    }

    /// Adds the steps at the beginning and the end of a call to its work, and computes the cost
    /// of its look-ups.
    #[inline(never)]
    fn with_all_steps(&self, call: Call, mut work: Work, buffer: Buffer) -> (Work, Cost) {
        // A journal page commits the overwrite if the journal buffer patches the page, or if
        // other changes wait.
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

    /// Returns the [`Call`] of a write of at most `bytes` bytes within one logical page, at
    /// `offset` of a file, for [`bound`](Self::bound). A handle that appends writes at the end
    /// of the file.
    pub fn write_call(&self, file: &File, offset: u64, bytes: u32) -> Call {
        let offset = if file.options.append { file.size } else { offset };
        match () {
            () if file.stamp != self.volume.stamp() => Call::Write(bytes),
            () if !file.inline => Call::WriteLarge(bytes),
            () if offset <= file.size && offset + u64::from(bytes) <= AREA_BYTES as u64 => {
                Call::WriteInline(bytes)
            }
            () => Call::Write(bytes),
        }
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
        let looks = Cost { reads: looks(26) * trims, ..Cost::default() };
        let folds = self.volume.store.bounds().fold_cost().times(between);
        (work.plus(&first_steps(&self.volume, trims, orphans)), looks.plus(&folds))
    }

    /// Returns envelopes of calls in a row at the present fill. For each envelope, any `n` of
    /// the calls take at most `burst_ns + n · rate_ns`. Reads of the file system's own pages
    /// are not included, except those of whole-page overwrites.
    pub fn envelopes(&self, call: Call, timing: &Timing) -> [Envelope; 2] {
        let works = call.works(&self.volume, self.volume.has_long_names()).into_iter().flatten();
        let each = works.map(|work| self.volume.store.bounds().envelopes(&work, timing));
        each.reduce(|one, other| [one[0].or(&other[0]), one[1].or(&other[1])])
            .unwrap_or_else(|| self.volume.store.bounds().envelopes(&Work::NONE, timing))
    }

    /// Returns the worst case of [`unmount`](Self::unmount) without its commit: a root, and
    /// copies of the newest journal page and the first map leaf. The commit costs
    /// [`Call::Sync`].
    pub fn unmount_cost(&self) -> Cost {
        self.volume.store.bounds().closing_cost()
    }

    /// Returns the worst case of a mount after an unclean stop, at any fill. If the medium
    /// turns out to take no program, the mount costs at most twice as much.
    pub fn mount_bound(&self) -> Cost {
        // Beside the map, the mount reads the root page and the inode of the root directory.
        let map_pages = (self.volume.plan().table - MAP)
            * u32::from(self.volume.store.layout().config.pages_per_logical_page);
        mount_bound(self.volume.store.layout())
            .plus(&Cost { reads: looks(map_pages + 2), ..Cost::default() })
    }
}
