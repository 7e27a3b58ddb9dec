//! The worst case of each call, made now.

use super::call::{COLLECT, Call, TRIM, looks};
use super::commits::CommitOn;
use super::filesystem::FileSystem;
use super::handle::File;
use super::lists::steps_of;
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
    /// and `failures` alone. The further pieces of a write of more than one logical page cost this at most.
    pub fn bound_at_fill(&self, call: Call, failures: u32) -> Bound {
        self.bound_of(call, Buffer::Any, failures)
    }

    /// Worst case, in nanoseconds, of so many durable overwrites of whole logical pages in a row, the first of them now, such as one write of several pages
    /// through a file that is durable: less than as many times [`bound`](Self::bound), for one of them pays for what the next ones need not do, as
    /// [`envelopes`](Self::envelopes) say.
    ///
    /// ```
    /// # use steadyfs::{Call, FileSystem, media::Flash};
    /// # fn within(fs: &FileSystem<'_, impl Flash>) -> bool {
    /// let timing = fs.flash().timing();
    /// fs.overwrites_bound_ns(16, &timing) <= 16 * fs.bound_at_fill(Call::Overwrite, 0).time_ns(&timing)
    /// # }
    /// ```
    pub fn overwrites_bound_ns(&self, count: u32, timing: &Timing) -> u64 {
        let time_ns = |buffer| self.bound_of(Call::Overwrite, buffer, 0).time_ns(timing);
        let further = u64::from(count.saturating_sub(1));
        let each = time_ns(Buffer::AsItIs).saturating_add(further.saturating_mul(time_ns(Buffer::Committed)));
        let in_a_row = self
            .envelopes(Call::Overwrite, timing)
            .map(|envelope| envelope.burst_ns.saturating_add(u64::from(count).saturating_mul(envelope.rate_ns)));
        in_a_row.into_iter().fold(each, u64::min)
    }

    /// What the worst case of a call, made now, with `failures` programs that fail, is made of: the parts of the longest of its cases. Together they
    /// take the time of [`bound_with_failures`](Self::bound_with_failures).
    pub fn bound_parts(&self, call: Call, failures: u32, timing: &Timing) -> Parts {
        let bound = self.bound_with_failures(call, failures);
        let (case, whole) = bound.longest(timing);
        let works = [call.work(&self.volume, self.volume.has_long_names()), call.completing(&self.volume)];
        let parts = works.into_iter().flatten().map(|work| {
            let (work, _) = self.with_all_steps(call, work, Buffer::AsItIs);
            self.volume.store.bounds().parts(&work, Buffer::AsItIs, failures, case)
        });
        let longest = parts.max_by_key(|parts| parts.total().time_ns(timing));
        longest.unwrap_or_default().filled(whole)
    }

    fn bound_of(&self, call: Call, buffer: Buffer, failures: u32) -> Bound {
        let bound_of = |work: Work| {
            let (work, beside) = self.with_all_steps(call, work, buffer);
            self.volume.store.bounds().bound(&work, buffer, failures).plus(&beside)
        };
        match (call.work(&self.volume, self.volume.has_long_names()), call.completing(&self.volume)) {
            (Some(work), Some(completing)) if buffer == Buffer::AsItIs => bound_of(work).or(&bound_of(completing)),
            (Some(work), _) => bound_of(work),
            (None, _) => Bound::default().plus(&call.lookups(&self.volume)),
        }
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

    /// The call that a write of at most `bytes` bytes through a handle is, for [`bound`](Self::bound).
    pub fn write_call(&self, file: &File, bytes: u32) -> Call {
        if file.inline || file.stamp != self.volume.stamp() { Call::Write(bytes) } else { Call::WriteLarge(bytes) }
    }

    /// Adds what a call begins with: a commit, the orphans of the time before the mount, a step of the trim list.
    fn with_first_steps(&self, call: Call, mut work: Work, buffer: Buffer) -> (Work, Cost) {
        let mut reads = 0;
        if work == (Work { commits: 1, ..Work::default() }) {
            return (work, Cost::default());
        }
        if self.commits_first(call, self.volume.has_long_names())
            || (buffer == Buffer::Any && self.commits.events().contains(CommitOn::FULL))
        {
            work.commits += 1;
        }
        if self.has_abandoned_orphans() {
            work = work.plus(&COLLECT);
            work.commits += 1;
        }
        if self.lists.trim() != 0 || self.has_abandoned_orphans() {
            let steps = steps_of(&self.volume);
            work = (0..steps).fold(work, |work, _| work.plus(&TRIM));
            work.commits = work.commits.max(1);
            reads = looks(26) * steps;
        }
        (work, Cost { reads, ..Cost::default() })
    }

    /// Envelopes of calls in a row at the present fill: any `n` of them take at most `burst_ns + n · rate_ns`, for each envelope.
    /// Reads of the file system's own pages are not included, save those of whole-page overwrites.
    pub fn envelopes(&self, call: Call, timing: &Timing) -> [Envelope; 2] {
        self.volume.store.bounds().envelopes(&call.work(&self.volume, self.volume.has_long_names()).unwrap_or_default(), timing)
    }

    /// Worst case of the root that [`unmount`](Self::unmount) writes.
    pub fn unmount_cost(&self) -> Cost {
        self.volume.store.bounds().root_cost()
    }

    /// Worst case of a mount after an unclean stop, at any fill; twice that where the medium turns out to take no program.
    pub fn mount_bound(&self) -> Cost {
        let map_pages = (self.volume.plan().table - MAP) * u32::from(self.volume.store.layout().config.unit_pages);
        mount_bound(self.volume.store.layout(), self.flash().reorders())
            .plus(&Cost { reads: looks(map_pages) + 2, ..Cost::default() })
    }
}
