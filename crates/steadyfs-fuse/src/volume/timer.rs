//! What happens without a request: timed commits, and work for idle times.

use super::Volume;
use std::time::{Duration, Instant};
use steadyfs::media::Flash;
use steadyfs::{Budget, CommitOn};

/// After so long without a request the volume has time for itself.
const IDLE_AFTER: Duration = Duration::from_millis(100);
/// Time of the medium that a request may have to wait for work which was begun before it came.
const IDLE_SLICE: Budget = Budget::TimeNs(200_000_000);

/// What waits for its time.
#[derive(Debug)]
pub(super) struct Timer {
    commit_interval: Duration,
    /// When the oldest change was made that waits for a timed commit. The time of the system's clock is no measure: someone may set it
    /// back.
    changed_at: Option<Instant>,
    /// How much of the idle work was done that the last change left.
    idle: Idle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Idle {
    NotBegun,
    Begun,
    Done,
}

impl Timer {
    pub fn new(commit_interval: Duration) -> Self {
        Self { commit_interval, changed_at: None, idle: Idle::NotBegun }
    }
}

impl<F: Flash> Volume<'_, '_, F> {
    /// Makes the timed commit if it is due; returns how long the next request may be waited for before [`rest`](Self::rest) is
    /// called, if at all.
    pub fn wait(&mut self, now: Instant) -> Option<Duration> {
        if self.changes.take_changed() {
            self.timer.idle = Idle::NotBegun;
        }
        let idle = match self.timer.idle {
            Idle::NotBegun => Some(IDLE_AFTER),
            Idle::Begun => Some(Duration::ZERO),
            Idle::Done => None,
        };
        // Only a time without requests is for that, also when it is late.
        let scrub = self.scrub.wait(now).map(|wait| wait.max(IDLE_AFTER));
        self.commit_in_time(now).into_iter().chain(idle).chain(scrub).min()
    }

    /// Commits what waits, because the end is near. What cannot be committed now is tried again when the volume is unmounted, which tells of it.
    pub fn commit(&mut self) {
        if self.changes.fs().has_changes() {
            let _ = self.changes.commit();
        }
    }

    /// How long the commit of what was changed may wait, if there is anything to commit.
    fn commit_in_time(&mut self, now: Instant) -> Option<Duration> {
        let fs = self.changes.fs();
        if !fs.commit_on().contains(CommitOn::TIMED) || !fs.has_changes() {
            self.timer.changed_at = None;
            return None;
        }
        let since = self.timer.changed_at.get_or_insert(now);
        let left = self.timer.commit_interval.saturating_sub(now.saturating_duration_since(*since));
        if !left.is_zero() {
            return Some(left);
        }
        // What cannot be committed now is tried again; the next fsync tells of it.
        let _ = self.changes.commit();
        self.timer.changed_at = None;
        self.changes.fs().has_changes().then_some(self.timer.commit_interval)
    }

    /// Uses a time without requests: frees pages of removed files, so that later calls need not, and `statfs` tells of them; moves what
    /// is weak; and looks for it.
    pub fn rest(&mut self, now: Instant) {
        if self.timer.idle == Idle::Done {
            if self.scrub(now) {
                self.timer.idle = Idle::NotBegun;
            }
            return;
        }
        let fs = self.changes.fs();
        let before = (fs.usage(), fs.health().weak_blocks);
        let is_done = fs.maintain(IDLE_SLICE, 0).unwrap_or(true);
        self.timer.idle = if is_done || (fs.usage(), fs.health().weak_blocks) == before { Idle::Done } else { Idle::Begun };
    }
}
