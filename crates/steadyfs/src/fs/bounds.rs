//! The worst case of each call, made now.

use super::call::{Call, first_steps, looks, work_of_pieces};
use super::commits::CommitOn;
use super::filesystem::FileSystem;
use super::handle::File;
use super::inode::AREA_BYTES;
use super::lists::TAKEN_PER_CALL;
use super::transaction::PAGES_PER_CALL;
use super::volume::MAP;
use crate::cost::{Bound, Cost, Envelope, Parts};
use crate::media::{Flash, Timing};
use crate::pace::{Buffer, Work, mount_bound};

/// Calls in a row, each made as soon as the one before has returned, whose worst case [`FileSystem::row_bound_ns`] tells.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Row<'f> {
    /// So many durable overwrites of whole logical pages that the file has already, without a clock: [`Call::Overwrite`].
    Overwrites(u32),
    /// One write through a handle, of any length, whatever the file has there.
    Write {
        /// The file.
        file: &'f File,
        /// Where it begins; a handle that appends writes at the end of the file.
        offset: u64,
        /// Its length.
        bytes: u32,
    },
}

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
    /// and `failures` alone. The further pieces of a write of more than one logical page cost this at most. That of an [overwrite](Call::Overwrite) is for one that finds
    /// nothing that waits for a commit: it would commit that as well, and [`bound`](Self::bound) tells so.
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
        match row {
            Row::Overwrites(count) => self.overwrites_ns(count, timing),
            Row::Write { file, offset, bytes } => self.write_ns(file, offset, bytes, timing),
        }
    }

    fn overwrites_ns(&self, count: u32, timing: &Timing) -> u64 {
        let time_ns = |buffer| self.bound_of(Call::Overwrite, buffer, 0).time_ns(timing);
        let further = u64::from(count.saturating_sub(1));
        let each = time_ns(Buffer::AsItIs).saturating_add(further.saturating_mul(time_ns(Buffer::Committed)));
        let orphans = self.has_abandoned_orphans();
        let trims = self.lists.steps(&self.volume, orphans);
        if trims == 0 && !orphans {
            return each.min(self.volume.store.bounds().in_a_row_ns(&Work::PAGE, count, timing));
        }
        if count > Work::MANY {
            return each;
        }
        let work = Work { frames: count, ..Work::NONE };
        each.min(self.row_with_steps_ns(Call::Overwrite, &work, count, trims, 1, timing))
    }

    /// Worst case of so many calls in a row that do so much work together, each of which begins with so many steps of the trim list; `call` is what each of them looks up.
    fn row_with_steps_ns(&self, call: Call, work: &Work, calls: u32, trims: u32, per_commit: u32, timing: &Timing) -> u64 {
        let work = work.plus(&first_steps(&self.volume, calls * trims, self.has_abandoned_orphans()));
        let looks = call.lookups(&self.volume).plus(&Cost { reads: looks(26) * trims, ..Cost::default() }).times(calls);
        self.volume.store.bounds().row_ns(&work, calls, per_commit, timing).saturating_add(looks.time_ns(timing))
    }

    fn write_ns(&self, file: &File, offset: u64, bytes: u32, timing: &Timing) -> u64 {
        let logical_bytes = self.volume.store.layout().logical_bytes;
        let is_known = file.stamp == self.volume.stamp();
        let offset = if file.options.append { file.size } else { offset };
        let first = (logical_bytes - self.volume.split(offset).1).min(bytes);
        // Where the end of the file is not known, the bytes may begin at another place of a page.
        let pieces = 1 + (bytes - first).div_ceil(logical_bytes) + u32::from(file.options.append && !is_known && bytes > 1);
        let first_ns = self.bound(self.write_call(file, offset, first)).time_ns(timing);
        if pieces == 1 {
            return first_ns;
        }
        let leaves = (file.inline || !is_known).then_some(if is_known { file.size as u32 } else { AREA_BYTES as u32 });
        let further = if leaves.is_some() { Call::Write(logical_bytes) } else { Call::WriteLarge(logical_bytes) };
        let last = (bytes - first) % logical_bytes;
        let last = if last > 0 { last } else { logical_bytes };
        let each = if is_known {
            let [further_ns, last_ns] =
                [logical_bytes, last].map(|bytes| self.bound_at_fill(further.with_bytes(bytes), 0).time_ns(timing));
            let others = u64::from(pieces - 2).saturating_mul(further_ns).saturating_add(last_ns);
            first_ns.saturating_add(others)
        } else {
            self.bound(further.with_bytes(bytes.max(logical_bytes + 1))).time_ns(timing)
        };
        if pieces > Work::MANY {
            return each;
        }
        let ends = if is_known { [first, last] } else { [1; 2].map(|least| bytes.min(logical_bytes).max(least)) };
        // The pieces before may have left less room.
        let used = self.volume.space().used + TAKEN_PER_CALL * pieces;
        let trims = self.lists.steps(&self.volume, self.has_abandoned_orphans());
        let trims = if trims > 0 && used > self.volume.capacity() { trims.max(TAKEN_PER_CALL) } else { trims };
        let work = work_of_pieces(&self.volume, pieces, ends, leaves);
        let per_commit = self.pages_between_commits(further, pieces, file.options.durable);
        each.min(self.row_with_steps_ns(further, &work, pieces, trims, per_commit, timing))
    }

    /// Pages that so many calls in a row write at least from one commit to the next, where only a transaction without room for one more call commits.
    fn pages_between_commits(&self, call: Call, calls: u32, durable: bool) -> u32 {
        let room = self.volume.capacity().saturating_sub(self.volume.space().used);
        if durable || self.commits.events() != CommitOn::ON_FLUSH || room <= PAGES_PER_CALL + TAKEN_PER_CALL * calls {
            return 1;
        }
        let first = first_steps(&self.volume, self.lists.steps(&self.volume, false), false);
        let works = call.works(&self.volume, true).into_iter().flatten().map(|work| work.plus(&first));
        let most = works.map(|work| work.frames + work.flushes_of_any()).max().unwrap_or(0);
        u32::from(self.config().transaction_pages).saturating_sub(most).max(1)
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

    /// That of a write of more bytes than a logical page has is the sum of as many writes of a page, or of what one may patch, as it may touch pages: in one loop, which
    /// takes less of the stack than calls within each other.
    fn bound_of(&self, call: Call, buffer: Buffer, failures: u32) -> Bound {
        let logical_bytes = self.volume.store.layout().logical_bytes;
        let further = match call {
            Call::Write(bytes) | Call::WriteLarge(bytes) if bytes > logical_bytes => (bytes - 1).div_ceil(logical_bytes),
            _ => 0,
        };
        let mut before = Cost::default();
        for is_first in [false, true] {
            let (buffer, failures) = if is_first { (buffer, failures) } else { (Buffer::Any, 0) };
            let mut bound = None;
            for is_page in [true, false] {
                if further == 0 && (!is_first || !is_page) {
                    continue;
                }
                let bytes = if is_page { logical_bytes } else { self.volume.store.logical.patch_bytes_max() as u32 };
                let piece = if further > 0 { call.with_bytes(bytes) } else { call };
                for work in piece.works(&self.volume, self.volume.has_long_names()).into_iter().flatten() {
                    let other = self.bound_of_work(piece, &work, buffer, failures);
                    bound = Some(bound.map_or(other, |bound: Bound| bound.or(&other)));
                }
            }
            let bound = bound.unwrap_or_else(|| Bound::default().plus(&call.lookups(&self.volume)));
            if is_first {
                return bound.plus(&before);
            }
            before = bound.most().times(further);
        }
        Bound::default()
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
        if self.commits_first(call, self.volume.has_long_names())
            || (buffer == Buffer::Any && self.commits.events().contains(CommitOn::FULL))
        {
            work.commits += 1;
        }
        let orphans = self.has_abandoned_orphans();
        let trims = self.lists.steps(&self.volume, orphans);
        let work = Work { commits: (work.commits + u32::from(orphans)).max(u32::from(trims > 0)), ..work };
        let reads = looks(26) * trims;
        (work.plus(&first_steps(&self.volume, trims, orphans)), Cost { reads, ..Cost::default() })
    }

    /// Envelopes of calls in a row at the present fill: any `n` of them take at most `burst_ns + n · rate_ns`, for each envelope.
    /// Reads of the file system's own pages are not included, save those of whole-page overwrites.
    pub fn envelopes(&self, call: Call, timing: &Timing) -> [Envelope; 2] {
        let works = call.works(&self.volume, self.volume.has_long_names()).into_iter().flatten();
        let each = works.map(|work| self.volume.store.bounds().envelopes(&work, timing));
        each.reduce(|one, other| [one[0].or(&other[0]), one[1].or(&other[1])])
            .unwrap_or_else(|| self.volume.store.bounds().envelopes(&Work::NONE, timing))
    }

    /// Worst case of the root that [`unmount`](Self::unmount) writes, beside its commit: [`Call::Sync`].
    pub fn unmount_cost(&self) -> Cost {
        self.volume.store.bounds().root_cost()
    }

    /// Worst case of a mount after an unclean stop, at any fill; twice that where the medium turns out to take no program.
    pub fn mount_bound(&self) -> Cost {
        let map_pages = (self.volume.plan().table - MAP) * u32::from(self.volume.store.layout().config.unit_pages);
        mount_bound(self.volume.store.layout()).plus(&Cost { reads: looks(map_pages) + 2, ..Cost::default() })
    }
}
