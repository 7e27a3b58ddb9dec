//! When changes become durable: the events that commit, and how much waits for one.

#[cfg(doc)]
use super::FileSystem;
use super::call::Call;
use crate::features::GROUPS;

/// Events after which a volume commits by itself: any of the constants, joined by [`with`](Self::with).
///
/// ```
/// use steadyfs::CommitOn;
/// let events = CommitOn::ON_FLUSH.with(CommitOn::CREATE).without(CommitOn::SYNC);
/// assert!(events.contains(CommitOn::CREATE) && !events.contains(CommitOn::SYNC));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitOn(u16);

impl CommitOn {
    /// Never.
    pub const NONE: Self = Self(0);
    /// The volume is unmounted. Without it, an unmount drops what was not committed.
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
    /// Bytes of a file (one logical page of a long write), or attributes, were written.
    pub const WRITE: Self = Self(1 << 6);
    /// [`FileSystem::flush`] was called for a file.
    pub const FSYNC: Self = Self(1 << 7);
    /// A file was cut or made larger.
    pub const TRUNCATE: Self = Self(1 << 8);
    /// The next call may not find room in the transaction, or on the volume, without a commit.
    pub const FULL: Self = Self(1 << 9);
    /// [`FileSystem::sync`] was called.
    pub const SYNC: Self = Self(1 << 10);
    /// The [interval](FileSystem::set_commit_interval) has passed since the first change of the transaction.
    pub const TIMED: Self = Self(1 << 11);
    /// So many changes, or so many bytes, wait as the [limits](FileSystem::set_commit_limits) allow, which a build without the feature `groups` does not have.
    pub const MANY: Self = Self(1 << 12);

    /// Preset: every change is durable when its call returns.
    pub const EVERY_WRITE: Self = Self(0x7FF);
    /// Preset: when a file is closed, and with names.
    pub const ON_CLOSE: Self = Self(0x7FF & !Self::WRITE.0 & !Self::TRUNCATE.0);
    /// Preset, the default: with [`flush`](FileSystem::flush) and [`sync`](FileSystem::sync), and where room runs out.
    pub const ON_FLUSH: Self = Self(Self::UNMOUNT.0 | Self::FSYNC.0 | Self::FULL.0 | Self::SYNC.0);
    /// Preset: after an interval, and as [`ON_FLUSH`](Self::ON_FLUSH).
    pub const TIMED_AND_ON_FLUSH: Self = Self(Self::ON_FLUSH.0 | Self::TIMED.0);
    /// Preset: after an interval, after many changes or bytes, whichever comes first, and as [`ON_FLUSH`](Self::ON_FLUSH). A device that charges for a
    /// commit rather than for bytes, as cards do, takes several times as much.
    pub const IN_GROUPS: Self = Self(Self::TIMED_AND_ON_FLUSH.0 | Self::MANY.0);
    /// Preset: [`commit`](FileSystem::commit) only. A transaction that outgrows its limit is refused.
    pub const MANUAL: Self = Self(0);

    /// These events and others.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These events without others.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether an event is one of them; never for [`NONE`](Self::NONE).
    pub const fn contains(self, event: Self) -> bool {
        self.0 & event.0 != 0
    }
}

/// How much may wait for a commit where [`CommitOn::MANY`] is chosen; what is reached first commits. 0 is no limit.
///
/// A power cut loses less than this: the call that reaches a limit is the one that commits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitLimits {
    /// Calls that change something. A write counts once for each logical page.
    pub changes: u32,
    /// Bytes that were written to files.
    pub bytes: u32,
}

impl CommitLimits {
    /// Whether as much waits as these limits allow.
    pub const fn are_reached(&self, waiting: &Self) -> bool {
        (self.changes > 0 && waiting.changes >= self.changes) || (self.bytes > 0 && waiting.bytes >= self.bytes)
    }

    /// Counts a call that changes something, and the bytes that it writes.
    pub const fn add(&mut self, bytes: u32) {
        self.changes = self.changes.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// When the open transaction is committed though nobody asks for it, and what has waited for that since its first change.
pub(super) struct Commits {
    events: CommitOn,
    interval_ns: u64,
    /// When the first change was made.
    since_ns: u64,
    /// A build without groups has no use for commits in groups either.
    many: [Many; GROUPS as usize],
}

/// How much may wait, and how much does.
#[derive(Clone, Copy, Default)]
struct Many {
    limits: CommitLimits,
    waiting: CommitLimits,
}

impl Commits {
    pub fn new() -> Self {
        Self {
            events: CommitOn::ON_FLUSH,
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

    /// Whether a call ends with a commit at whose end there is such an event.
    pub fn commits_on(&self, event: CommitOn) -> bool {
        let is_many = event != CommitOn::NONE && self.events.contains(CommitOn::MANY) && self.is_much();
        is_many || self.events.contains(event)
    }

    #[cfg(feature = "groups")]
    pub fn set_limits(&mut self, limits: CommitLimits) {
        self.many.iter_mut().for_each(|many| many.limits = limits);
    }

    pub fn set_interval(&mut self, interval_ns: u64) {
        self.interval_ns = interval_ns;
    }

    /// Nothing waits yet.
    pub fn begin(&mut self, now_ns: u64) {
        self.since_ns = now_ns;
        self.many.iter_mut().for_each(|many| many.waiting = CommitLimits::default());
    }

    /// A call changes something. One that fails counts as well: the commit comes a call sooner.
    pub fn count(&mut self, call: Call) {
        let bytes = match call {
            Call::Write(bytes) | Call::WriteLarge(bytes) | Call::WriteInline(bytes) => bytes,
            _ => 0,
        };
        self.many.iter_mut().for_each(|many| many.waiting.add(bytes));
    }

    /// Whether so much waits as may.
    fn is_much(&self) -> bool {
        self.many.iter().any(|many| many.limits.are_reached(&many.waiting))
    }

    /// When a timed commit is due.
    pub fn due_ns(&self) -> u64 {
        self.since_ns.saturating_add(self.interval_ns)
    }
}
