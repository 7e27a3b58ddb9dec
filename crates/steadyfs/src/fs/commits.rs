//! When the open transaction is committed though nobody asks for it.

use super::Call;
#[cfg(doc)]
use super::CommitOn;
use crate::features::GROUPS;

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

/// What has waited for a commit since the first change of the open transaction.
pub(super) struct Waiting {
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

impl Waiting {
    pub fn new() -> Self {
        Self { interval_ns: 1_000_000_000, since_ns: 0, many: [(); GROUPS as usize].map(|()| Many::default()) }
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
        let bytes = if let Call::Write(bytes) = call { bytes } else { 0 };
        self.many.iter_mut().for_each(|many| many.waiting.add(bytes));
    }

    /// Whether so much waits as may.
    pub fn is_much(&self) -> bool {
        self.many.iter().any(|many| many.limits.are_reached(&many.waiting))
    }

    /// When a timed commit is due.
    pub fn due_ns(&self) -> u64 {
        self.since_ns.saturating_add(self.interval_ns)
    }
}
