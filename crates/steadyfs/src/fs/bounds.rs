//! The worst case of each call, made now.

use super::call::{Call, first_steps, looks};
use super::commits::CommitOn;
use super::filesystem::FileSystem;
use super::handle::File;
use super::inode::AREA_BYTES;
use super::rows::Row;
use super::volume::MAP;
use crate::cost::{Bound, Cost, Envelope, Parts};
use crate::media::{Flash, Timing};
use crate::pace::{Buffer, Work, mount_bound};

impl<F: Flash> FileSystem<'_, F> {
    /// Worst case of a call, made now, in which no program fails. See `docs/design.md` for the formulas. It computes, and does not touch the
    /// medium; [`Bound::time_ns`] turns it into time.
    pub fn bound(&self, call: Call) -> Bound {
        self.bound_with_failures(call, 0)
    }

    /// Worst case of a call, made now, in which `failures` programs fail.
    pub fn bound_with_failures(&self, call: Call, failures: u32) -> Bound {
        self.bound_of(call, Buffer::AsItIs, failures)
    }

    /// Worst case of a call at the present fill, whatever small changes earlier calls left to do: a function of geometry, settings, fill
    /// and `failures`. Names that somebody chose for their hashes add to it. The further pieces of a write of more than one logical page cost this at most. The bound of an [overwrite](Call::Overwrite) holds if
    /// nothing waits for a commit. Otherwise the overwrite commits that too, and [`bound`](Self::bound) counts it.
    pub fn bound_at_fill(&self, call: Call, failures: u32) -> Bound {
        self.bound_of(call, Buffer::Any, failures)
    }

    /// Worst case, in nanoseconds, of the calls of a [row](Row), the first of them now: less than the sum of their bounds, for one of them pays for what the next
    /// ones need not do, as [`envelopes`](Self::envelopes) say.
    ///
    /// ```
    /// # use steadyfs::{Call, File, FileSystem, Row, media::Flash};
    /// # fn within(fs: &FileSystem<'_, impl Flash>, file: &File) -> bool {
    /// let timing = fs.flash().timing();
    /// let write_ns = fs.row_bound_ns(Row::Write { file, offset: 0, bytes: 65_536 }, &timing);
    /// # write_ns > 0 &&
    /// fs.row_bound_ns(Row::Overwrites(16), &timing) <= 16 * fs.bound_at_fill(Call::Overwrite, 0).time_ns(&timing)
    /// # }
    /// ```
    pub fn row_bound_ns(&self, row: Row<'_>, timing: &Timing) -> u64 {
        row.bound_ns(self, timing)
    }

    /// What the worst case of a call, made now, with `failures` programs that fail, is made of: the parts of the longest of its cases. Together they
    /// take the time of [`bound_with_failures`](Self::bound_with_failures).
    pub fn bound_parts(&self, call: Call, failures: u32, timing: &Timing) -> Parts {
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

    /// That of a call, or of one piece of a write of more bytes than a logical page has. Not inlined: it is in the code once.
    #[inline(never)]
    fn bound_of_piece(&self, call: Call, buffer: Buffer, failures: u32) -> Bound {
        let mut bound = None;
        for work in call.works(&self.volume, self.volume.has_long_names()).into_iter().flatten() {
            let other = self.bound_of_work(call, &work, buffer, failures);
            bound = Some(bound.map_or(other, |bound: Bound| bound.or(&other)));
        }
        bound.unwrap_or_else(|| Bound::default().plus(&call.lookups(&self.volume)))
    }

    /// Not inlined: what it takes of the stack is not beside what its caller adds up.
    #[inline(never)]
    fn bound_of_work(&self, call: Call, work: &Work, buffer: Buffer, failures: u32) -> Bound {
        let (work, beside) = self.with_all_steps(call, *work, buffer);
        self.volume.store.bounds().bound(&work, buffer, failures.min(u8::MAX.into())).plus(&beside)
    }

    /// Adds to what a call changes what it begins and ends with; and what the call looks up beside that.
    #[inline(never)]
    fn with_all_steps(&self, call: Call, mut work: Work, buffer: Buffer) -> (Work, Cost) {
        // A page that the journal buffer patches, or beside which something waits, is committed by a journal page.
        let mut beside = call.lookups(&self.volume);
        match buffer {
            _ if work.commits > 0 => {}
            Buffer::AsItIs => work.commits = u32::from(self.volume.store.logical.waits_beside(self.volume.plan().data)),
            Buffer::Any | Buffer::Committed => beside.programs += 1,
        }
        let (work, first) = self.with_first_steps(call, work, buffer);
        (work, beside.plus(&first))
    }

    /// The call that a write of at most `bytes` bytes within one logical page is, at `offset` of a file (a handle that appends: at its end), for [`bound`](Self::bound).
    pub fn write_call(&self, file: &File, offset: u64, bytes: u32) -> Call {
        let offset = if file.options.append { file.size } else { offset };
        match () {
            () if file.stamp != self.volume.stamp() => Call::Write(bytes),
            () if !file.inline => Call::WriteLarge(bytes),
            () if offset <= file.size && offset + u64::from(bytes) <= AREA_BYTES as u64 => Call::WriteInline(bytes),
            () => Call::Write(bytes),
        }
    }

    /// Adds what a call begins with: a commit, the orphans of the time before the mount, a step of the trim list.
    fn with_first_steps(&self, call: Call, mut work: Work, buffer: Buffer) -> (Work, Cost) {
        if work == Work::COMMIT {
            return (work, Cost::default());
        }
        let (call, is_long) = (call.begun(&self.volume), self.volume.has_long_names());
        if self.commits_first(call, is_long) || (buffer == Buffer::Any && self.commits.events().contains(CommitOn::FULL)) {
            work.commits += 1;
        }
        let orphans = self.has_abandoned_orphans();
        let trims = self.lists.steps(&self.volume, orphans);
        let between = if self.trims_commit(call, is_long, trims) { trims } else { 0 };
        let work = Work { commits: (work.commits + u32::from(orphans) + between).max(u32::from(trims > 0)), ..work };
        let looks = Cost { reads: looks(26) * trims, ..Cost::default() };
        let folds = self.volume.store.bounds().fold_cost().times(between);
        (work.plus(&first_steps(&self.volume, trims, orphans)), looks.plus(&folds))
    }

    /// Envelopes of calls in a row at the present fill: any `n` of them take at most `burst_ns + n · rate_ns`, for each envelope.
    /// Reads of the file system's own pages are not included, save those of whole-page overwrites.
    pub fn envelopes(&self, call: Call, timing: &Timing) -> [Envelope; 2] {
        let works = call.works(&self.volume, self.volume.has_long_names()).into_iter().flatten();
        let each = works.map(|work| self.volume.store.bounds().envelopes(&work, timing));
        each.reduce(|one, other| [one[0].or(&other[0]), one[1].or(&other[1])])
            .unwrap_or_else(|| self.volume.store.bounds().envelopes(&Work::NONE, timing))
    }

    /// Worst case of [`unmount`](Self::unmount) without its commit, which costs [`Call::Sync`]: a root,
    /// and copies of the newest journal page and of the first leaf of the map.
    pub fn unmount_cost(&self) -> Cost {
        self.volume.store.bounds().closing_cost()
    }

    /// Worst case of a mount after an unclean stop, at any fill; twice that where the medium turns out to take no program.
    pub fn mount_bound(&self) -> Cost {
        // Beside the map the root page, and the inode of the root directory.
        let map_pages = (self.volume.plan().table - MAP) * u32::from(self.volume.store.layout().config.unit_pages);
        mount_bound(self.volume.store.layout()).plus(&Cost { reads: looks(map_pages + 2), ..Cost::default() })
    }
}
