//! When the open transaction is committed though nobody asks for it.

use super::Call;
use super::transaction::CommitOn;

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

/// The events that commit, and what has waited since the first change of the open transaction.
pub(super) struct Commits {
    on: CommitOn,
    limits: CommitLimits,
    interval_ns: u64,
    waiting: CommitLimits,
    /// When the first change was made.
    since_ns: u64,
}

impl Commits {
    pub fn new() -> Self {
        let nothing = CommitLimits { changes: 0, bytes: 0 };
        Self { on: CommitOn::ON_FLUSH, limits: nothing, interval_ns: 1_000_000_000, waiting: nothing, since_ns: 0 }
    }

    pub fn on(&self) -> CommitOn {
        self.on
    }

    pub fn set_on(&mut self, events: CommitOn) {
        self.on = events;
    }

    pub fn set_limits(&mut self, limits: CommitLimits) {
        self.limits = limits;
    }

    pub fn set_interval(&mut self, interval_ns: u64) {
        self.interval_ns = interval_ns;
    }

    /// Nothing waits yet.
    pub fn begin(&mut self, now_ns: u64) {
        self.waiting = CommitLimits::default();
        self.since_ns = now_ns;
    }

    /// A call changes something. One that fails counts as well: the commit comes a call sooner.
    pub fn count(&mut self, call: Call) {
        self.waiting.add(if let Call::Write(bytes) = call { bytes } else { 0 });
    }

    /// Whether a call ends with a commit at whose end there is such an event.
    pub fn are_due(&self, event: CommitOn) -> bool {
        let is_many = event != CommitOn::NONE && self.on.contains(CommitOn::MANY) && self.limits.are_reached(&self.waiting);
        is_many || self.on.contains(event)
    }

    /// When a timed commit is due, if there are such.
    pub fn due_ns(&self) -> Option<u64> {
        self.on.contains(CommitOn::TIMED).then(|| self.since_ns.saturating_add(self.interval_ns))
    }
}
