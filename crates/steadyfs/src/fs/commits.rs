//! The events that make changes durable, and the limits of changes that wait for a commit.

#[cfg(doc)]
use super::FileSystem;
use super::call::Call;
use crate::features::GROUPS;

/// Events after which a volume commits by itself. [`with`](Self::with) joins several of the
/// constants.
///
/// ```
/// use steadyfs::CommitOn;
/// let events = CommitOn::ON_SYNC.with(CommitOn::CREATE).without(CommitOn::SYNC);
/// assert!(events.contains(CommitOn::CREATE) && !events.contains(CommitOn::SYNC));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CommitOn(u16);

impl CommitOn {
    /// No event.
    pub const NONE: Self = Self(0);
    /// The volume is unmounted. Without this event, an unmount drops uncommitted changes.
    pub const UNMOUNT: Self = Self(1);
    /// A file was created.
    pub const CREATE: Self = Self(1 << 1);
    /// A file or directory was removed.
    pub const REMOVE: Self = Self(1 << 2);
    /// A directory was made.
    pub const MKDIR: Self = Self(1 << 3);
    /// A file or directory was renamed.
    pub const RENAME: Self = Self(1 << 4);
    /// A handle that may write was closed.
    pub const CLOSE: Self = Self(1 << 5);
    /// Bytes or attributes of a file were written. In a long write, each logical page is an event.
    pub const WRITE: Self = Self(1 << 6);
    /// The application has completed a file: [`FileSystem::sync`].
    pub const FSYNC: Self = Self(1 << 7);
    /// A file was truncated or made larger.
    pub const TRUNCATE: Self = Self(1 << 8);
    /// Without a commit, the next call may not find room in the transaction or on the volume.
    pub const FULL: Self = Self(1 << 9);
    /// The application wants all changes of the volume to be durable: [`FileSystem::sync`].
    pub const SYNC: Self = Self(1 << 10);
    /// The [interval](FileSystem::set_commit_interval) has passed since the first change of the
    /// transaction.
    pub const TIMED: Self = Self(1 << 11);
    /// The number of waiting changes or bytes has reached one of the
    /// [limits](FileSystem::set_commit_limits). A build without the feature `groups` has no limits,
    /// so this event never occurs there.
    pub const MANY: Self = Self(1 << 12);

    /// Preset: every change is durable when its call returns.
    pub const EVERY_WRITE: Self = Self(0x7FF);
    /// Preset: commits when a file is closed, and when a name is created, changed or removed.
    pub const ON_CLOSE: Self = Self(0x7FF & !Self::WRITE.0 & !Self::TRUNCATE.0);
    /// Preset, the default. It commits in [`sync`](FileSystem::sync) for a file or for the volume,
    /// and in [`unmount`](FileSystem::unmount). It also commits when room runs out.
    pub const ON_SYNC: Self = Self(Self::UNMOUNT.0 | Self::FSYNC.0 | Self::FULL.0 | Self::SYNC.0);
    /// Preset: commits after an interval, and after the events of [`ON_SYNC`](Self::ON_SYNC).
    pub const TIMED_AND_ON_SYNC: Self = Self(Self::ON_SYNC.0 | Self::TIMED.0);
    /// Preset: commits after an interval or after many changes or bytes, whichever comes first, and
    /// after the events of [`ON_SYNC`](Self::ON_SYNC). On some devices, such as cards, a commit
    /// takes much more time than the bytes. Such a device then writes several times as much data in
    /// the same time.
    pub const IN_GROUPS: Self = Self(Self::TIMED_AND_ON_SYNC.0 | Self::MANY.0);
    /// Preset: commits only in [`commit`](FileSystem::commit), and in changes through a
    /// [durable](super::OpenOptions::durable) handle. If a transaction outgrows its limit, the call
    /// is refused.
    pub const MANUAL: Self = Self(0);

    /// Returns these events joined with others.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns these events without others.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns true if `event` is one of these events. For [`NONE`](Self::NONE) it returns false.
    pub const fn contains(self, event: Self) -> bool {
        self.0 & event.0 != 0
    }
}

/// Limits of the changes that may wait for a commit, if [`CommitOn::MANY`] is chosen. The volume
/// commits when the first of the limits is reached. 0 means no limit.
///
/// A power cut loses fewer changes than the limit, because the call that reaches the limit also
/// commits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CommitLimits {
    /// Number of calls that change something. A write counts once for each logical page.
    pub changes: u32,
    /// Number of bytes written to files.
    pub bytes: u32,
}

impl CommitLimits {
    /// Returns true if the waiting changes have reached one of these limits.
    pub const fn are_reached(&self, waiting: &Self) -> bool {
        (self.changes > 0 && waiting.changes >= self.changes)
            || (self.bytes > 0 && waiting.bytes >= self.bytes)
    }

    /// Counts a call that changes something, and its written bytes.
    pub const fn add(&mut self, bytes: u32) {
        self.changes = self.changes.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The rules for commits that the caller does not request, and the waiting changes of the open
/// transaction.
pub(super) struct Commits {
    events: CommitOn,
    interval_ns: u64,
    /// Time of the first change.
    since_ns: u64,
    /// Empty in a build without the feature `groups`, which cannot commit in groups.
    many: [Many; GROUPS as usize],
}

/// The limits, and the number of changes that wait.
#[derive(Clone, Copy, Default)]
struct Many {
    limits: CommitLimits,
    waiting: CommitLimits,
}

impl Commits {
    pub fn new() -> Self {
        Self {
            events: CommitOn::ON_SYNC,
            interval_ns: 1_000_000_000,
            since_ns: 0,
            many: [(); GROUPS as usize].map(|()| Many::default()),
        }
    }

    pub fn events(&self) -> CommitOn {
        self.events
    }

    pub fn set_events(&mut self, events: CommitOn) {
        self.events = events;
    }

    /// Returns true if a call that ends with this event must commit.
    pub fn commits_on(&self, event: CommitOn) -> bool {
        let is_many =
            event != CommitOn::NONE && self.events.contains(CommitOn::MANY) && self.is_much();
        is_many || self.events.contains(event)
    }

    #[cfg(feature = "groups")]
    pub fn set_limits(&mut self, limits: CommitLimits) {
        self.many.iter_mut().for_each(|many| many.limits = limits);
    }

    pub fn set_interval(&mut self, interval_ns: u64) {
        self.interval_ns = interval_ns;
    }

    /// Starts counting at zero: no change waits yet.
    pub fn begin(&mut self, now_ns: u64) {
        self.since_ns = now_ns;
        self.many.iter_mut().for_each(|many| many.waiting = CommitLimits::default());
    }

    /// Counts a call that changes something. A call that fails counts as well, so the commit may
    /// come one call sooner.
    pub fn count(&mut self, call: Call) {
        let bytes = match call {
            Call::Write(bytes) | Call::WriteLarge(bytes) | Call::WriteInline(bytes) => bytes,
            _ => 0,
        };
        self.many.iter_mut().for_each(|many| many.waiting.add(bytes));
    }

    /// Returns true if a limit is reached.
    fn is_much(&self) -> bool {
        self.many.iter().any(|many| many.limits.are_reached(&many.waiting))
    }

    /// Returns the time at which a timed commit is due.
    pub fn due_ns(&self) -> u64 {
        self.since_ns.saturating_add(self.interval_ns)
    }
}
