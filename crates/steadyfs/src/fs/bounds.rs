//! The worst case of each call: what it changes itself, as [`Work`], and what it looks up.
//!
//! The bytes below are those of the patches with their headers, the pages those that they touch; `docs/design.md` adds them up.

use super::FileSystem;
use super::inode::REGIONS;
use super::open::File;
use super::transaction::CommitOn;
use crate::cost::{Bound, Cases, Cost, Envelope, Parts};
use crate::media::{Flash, Timing};
use crate::pace::{Buffer, Work, mount_bound};

/// A call whose worst case [`FileSystem::bound`] tells. That of a call which changes something includes the commit that its handle or
/// an [event](super::CommitOn) makes; a commit that the caller makes is a call of its own, [`Sync`](Self::Sync).
///
/// `depth` is the number of names in the path; of both paths together in a rename, and at least that of a directory which moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Call {
    /// A write of one whole logical page that the file has already, through a durable handle, without a clock.
    Overwrite,
    /// A write or append of at most this many bytes within one logical page, or a reservation.
    Write(u32),
    /// The same in a file whose data is not kept in its inode: larger than 144 bytes. [`FileSystem::write_call`] tells.
    WriteLarge(u32),
    /// A truncate.
    Truncate,
    /// A read of at most this many bytes.
    Read(u32),
    /// Opening a file that exists, `stat`, `attribute`.
    Open {
        /// Names in the path; 0 for an inode that is known.
        depth: u32,
    },
    /// `open` that creates a file; `create_dir`.
    Create {
        /// Names in the path.
        depth: u32,
    },
    /// `create_symlink`.
    Symlink {
        /// Names in the path.
        depth: u32,
        /// Bytes of what it names.
        bytes: u32,
    },
    /// `remove`, `remove_dir`, `close` of a file that was removed.
    Remove {
        /// Names in the path.
        depth: u32,
    },
    /// `rename`.
    Rename {
        /// Names in both paths.
        depth: u32,
    },
    /// `set_attribute`, `set_modified`, `set_permissions`.
    SetAttribute,
    /// `list` of one entry.
    List,
    /// `commit`, `sync`, `flush`, `poll`.
    Sync,
}

/// What a write changes beside the data.
const fn around_data(call: Call) -> Work {
    let leave = if matches!(call, Call::Write(_)) { LEAVE_INODE } else { Work::patched(0, 0, 0, 0, 0) };
    ADD_PAGE.plus(&leave).plus(&NOTE)
}

/// What an inode and its entry change.
const fn creation(is_long: bool) -> Work {
    if is_long { INODE.plus(&INSERT) } else { SHORT_INODE.plus(&INSERT) }
}

/// A step of the trim list: a region, eight bits and discards, the list, two extensions; the inode and these with the pages that they leave empty.
const TRIM: Work = Work { discards: 11, ..Work::patched(21, 171, 19, 0, 12) };
/// The list of orphans becomes part of the trim list.
const COLLECT: Work = Work::patched(2, 30, 19, 0, 2);
/// A page more for a file: three bits, a region, two index entries.
const ADD_PAGE: Work = Work::patched(6, 61, 15, 0, 6);
/// The inode left by its data: the data, the regions, the flag, a bit.
const LEAVE_INODE: Work = Work::patched(4, 318, 151, 2, 3);
/// Size and time.
const NOTE: Work = Work::patched(1, 23, 23, 0, 1);
/// An inode with a long name: its bit, header and name, the extension's bit, header and two pieces.
const INODE: Work = Work::patched(6, 355, 131, 3, 4);
/// The same with a name that the inode holds.
const SHORT_INODE: Work = Work::patched(2, 127, 119, 1, 2);
/// A record, the directory's count, and growth: regions, a page, the number of buckets; two buckets are written.
const INSERT: Work = Work { frames: 2, ..Work::patched(10, 261, 151, 1, 8) };
/// A record less, the directory's count, the inode, its extensions, and the pages that these leave empty; the list of orphans or of trims.
const REMOVE: Work = Work { discards: 3, ..Work::patched(14, 196, 55, 0, 11) };
/// Another name and place: name, lengths, extension and the page that it leaves empty, parent.
const RENAME: Work = Work { discards: 1, ..Work::patched(10, 367, 131, 3, 5) };
/// The same where the inode holds both names.
const SHORT_RENAME: Work = Work::patched(3, 90, 71, 1, 1);
/// Attributes: an extension's bit, header and two pieces, or the page that it leaves empty; the inode's link.
const ATTRIBUTES: Work = Work { discards: 1, ..Work::patched(5, 296, 131, 2, 4) };
/// The last page cut, two index pages copied; size, regions, an inode for the end, its regions, the list.
const TRUNCATE: Work = Work { frames: 3, ..Work::patched(12, 480, 151, 2, 9) };

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

    /// What the worst case of a call, made now, with `failures` programs that fail, is made of: the parts of the longest of its cases. Together they
    /// take the time of [`bound_with_failures`](Self::bound_with_failures).
    pub fn bound_parts(&self, call: Call, failures: u32, timing: &Timing) -> Parts {
        let bound = self.bound_with_failures(call, failures);
        let (case, whole) = bound.longest(timing);
        let works = [self.work_of(call, self.has_long_names()), self.completing(call)];
        let cases = works.into_iter().flatten().map(|work| self.cases_of(call, work, Buffer::AsItIs, failures).0.0[case]);
        let longest = cases.max_by_key(|parts| parts.total().time_ns(timing));
        longest.unwrap_or_default().filled(whole)
    }

    fn bound_of(&self, call: Call, buffer: Buffer, failures: u32) -> Bound {
        let bound_of = |work: Work| {
            let (cases, beside) = self.cases_of(call, work, buffer, failures);
            cases.bound().plus(&beside)
        };
        match (self.work_of(call, self.has_long_names()), self.completing(call)) {
            (Some(work), Some(completing)) if buffer == Buffer::AsItIs => bound_of(work).or(&bound_of(completing)),
            (Some(work), _) => bound_of(work),
            (None, _) => Bound::default().plus(&self.lookups(call)),
        }
    }

    /// What work of a call costs, case by case, and what the call looks up beside it.
    fn cases_of(&self, call: Call, mut work: Work, buffer: Buffer, failures: u32) -> (Cases, Cost) {
        // A page that the journal buffer patches, or beside which something waits, is committed by a journal page.
        let mut beside = self.lookups(call);
        match buffer {
            _ if work.commits > 0 => {}
            Buffer::AsItIs => work.commits = u32::from(self.store.waits_beside(self.plan.data)),
            Buffer::Any => beside.programs += 1,
        }
        let (work, first) = self.with_first_steps(call, work, buffer);
        (self.store.bounds().cases(&work, buffer, failures), beside.plus(&first))
    }

    fn lookups(&self, call: Call) -> Cost {
        Cost { reads: self.reads_of(call) + self.store.unsteady_reads(), ..Cost::default() }
    }

    /// The call that a write of at most `bytes` bytes through a handle is, for [`bound`](Self::bound).
    pub fn write_call(&self, file: &File, bytes: u32) -> Call {
        if file.inline || file.stamp != self.stamp { Call::Write(bytes) } else { Call::WriteLarge(bytes) }
    }

    /// Whether there may be names that an inode does not hold.
    fn has_long_names(&self) -> bool {
        usize::from(self.config().name_bytes_max) > self.plan.name_inline()
    }

    /// What a call changes, perhaps with a name that an inode does not hold; `None` when it changes nothing.
    fn work_of(&self, call: Call, is_long: bool) -> Option<Work> {
        let commit = Work { commits: 1, ..Work::default() };
        let work = match call {
            Call::Read(_) | Call::Open { .. } | Call::List => return None,
            Call::Overwrite => Work { frames: 1, ..Work::default() },
            Call::Write(bytes) | Call::WriteLarge(bytes) => {
                commit.plus(&self.store.bounds().work_of_write(bytes)).plus(&around_data(call))
            }
            Call::Truncate => commit.plus(&TRUNCATE).plus(&LEAVE_INODE),
            Call::Create { .. } => commit.plus(&creation(is_long)),
            Call::Symlink { bytes, .. } => commit
                .plus(&creation(is_long))
                .plus(&self.store.bounds().work_of_write(bytes))
                .plus(&around_data(Call::Write(bytes))),
            Call::Remove { .. } => commit.plus(&REMOVE),
            Call::Rename { .. } => commit.plus(if is_long { &RENAME } else { &SHORT_RENAME }).plus(&INSERT).plus(&REMOVE),
            Call::SetAttribute => commit.plus(&ATTRIBUTES),
            Call::Sync => commit,
        };
        Some(work)
    }

    /// What a write of few bytes changes when they complete a page of which the journal buffer has much; `None` where none can.
    fn completing(&self, call: Call) -> Option<Work> {
        let (Call::Write(bytes) | Call::WriteLarge(bytes)) = call else { return None };
        let may_be = bytes as usize <= self.store.patch_bytes_max() && self.store.may_be_completed(bytes);
        may_be.then(|| Work { commits: 1, ..Work::PAGE }.plus(&around_data(call)))
    }

    /// Logical pages that a call may write, the step of the trim list that it may begin with included.
    pub(super) fn pages_of(&self, call: Call, is_long: bool) -> u32 {
        let pages = |work: Work| self.store.bounds().pages_of(&if self.lists.trim == 0 { work } else { work.plus(&TRIM) });
        pages(self.work_of(call, is_long).unwrap_or_default()).max(self.completing(call).map_or(0, pages))
    }

    /// Adds what a call begins with: a commit, the orphans of the time before the mount, a step of the trim list.
    fn with_first_steps(&self, call: Call, mut work: Work, buffer: Buffer) -> (Work, Cost) {
        let mut reads = 0;
        if work == (Work { commits: 1, ..Work::default() }) {
            return (work, Cost::default());
        }
        if self.commits_first(call, self.has_long_names()) || (buffer == Buffer::Any && self.commit_on().contains(CommitOn::FULL))
        {
            work.commits += 1;
        }
        if self.has_abandoned_orphans() {
            work = work.plus(&COLLECT);
            work.commits += 1;
        }
        if self.lists.trim != 0 || self.has_abandoned_orphans() {
            work = work.plus(&TRIM);
            work.commits = work.commits.max(1);
            reads = self.looks(26);
        }
        (work, Cost { reads, ..Cost::default() })
    }

    /// Reads of `count` looks at pages of the file system: a leaf of the map, and the page.
    fn looks(&self, count: u32) -> u32 {
        2 * count
    }

    /// Reads of a call, beside those of the frames that it writes.
    fn reads_of(&self, call: Call) -> u32 {
        let layout = self.store.layout();
        let unit = u32::from(layout.config.unit_pages);
        // The inode, whose header and regions lie in one program page, and an index.
        let page = 2 + u32::from(self.plan.index_is_deep);
        // The directory, its bucket, and four names of equal hash with their extensions.
        let find = 2 + page + unit + 4 + 4 * 4;
        // Free bits, looked for in the whole allocation map; where it is, is looked up once for each of its logical pages.
        let map_pages = self.plan.table - self.plan.map;
        let scan = (map_pages * (unit + 1)).div_ceil(2);
        let write = 3 * page + 3 + scan;
        let create = |depth| depth * find + 2 * find + 2 * unit + 5 + 3 * scan;
        let looks = match call {
            Call::Overwrite => page,
            Call::Write(_) => write,
            // The page's place; then the inode's regions, a free page, and the index.
            Call::WriteLarge(_) => 2 * page + scan,
            Call::Truncate => 2 * page + 10 + REGIONS / 8 + 3 * scan,
            Call::Read(bytes) => {
                let pages = bytes / layout.geometry.page_bytes + 2;
                return self.looks(page * (bytes / layout.logical_bytes + 2)) + pages + 1;
            }
            Call::Open { depth } => depth * find + 4,
            Call::Create { depth } => create(depth),
            Call::Symlink { depth, .. } => create(depth) + write,
            Call::Remove { depth } => depth * find + find + 12,
            Call::Rename { depth } => depth * (find + 1) + 3 * find + 2 * unit + 17 + 3 * scan,
            Call::SetAttribute => 8 + scan,
            Call::List => 2 + page + 3 * unit + 4,
            Call::Sync => 0,
        };
        self.looks(looks)
    }

    /// Envelopes of calls in a row at the present fill: any `n` of them take at most `burst_ns + n · rate_ns`, for each envelope.
    /// Reads of the file system's own pages are not included, save those of whole-page overwrites.
    pub fn envelopes(&self, call: Call, timing: &Timing) -> [Envelope; 2] {
        self.store.bounds().envelopes(&self.work_of(call, self.has_long_names()).unwrap_or_default(), timing)
    }

    /// Worst case of the root that [`unmount`](Self::unmount) writes.
    pub fn unmount_cost(&self) -> Cost {
        self.store.bounds().root_cost()
    }

    /// Worst case of a mount after an unclean stop, at any fill; twice that where the medium turns out to take no program.
    pub fn mount_bound(&self) -> Cost {
        let map_pages = (self.plan.table - self.plan.map) * u32::from(self.store.layout().config.unit_pages);
        mount_bound(self.store.layout()).plus(&Cost { reads: self.looks(map_pages) + 2, ..Cost::default() })
    }
}
