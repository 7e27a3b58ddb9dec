//! Work without a request: timed commits, and work for idle times.

use super::Upkeep;
use super::scrub::Scrub;
use std::time::{Duration, Instant};
use steadyfs::Budget;

/// Time without a request after which the volume does idle work.
const IDLE_AFTER: Duration = Duration::from_millis(100);
/// Time of the medium for one slice of idle work. A request that arrives during a slice waits at
/// most this long.
const IDLE_SLICE: Budget = Budget::TimeNs(200_000_000);

/// Work without a request, and the time when it is due.
#[derive(Debug)]
pub(crate) struct Timer {
    commit_interval: Duration,
    /// Time of the oldest change that waits for a timed commit. It is monotonic, because the
    /// system's clock may be set back.
    changed_at: Option<Instant>,
    /// Progress of the idle work since the last change.
    idle: Idle,
    pub(super) scrub: Scrub,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Idle {
    NotBegun,
    Begun,
    Done,
}

impl Timer {
    pub fn new(commit_interval: Duration) -> Self {
        Self {
            commit_interval,
            changed_at: None,
            idle: Idle::NotBegun,
            scrub: Scrub::new(Instant::now()),
        }
    }

    /// Makes the timed commit if it is due. Returns the longest time to wait for the next request
    /// before a call of [`rest`](Self::rest). `None` means that no such call is needed.
    pub fn wait(&mut self, volume: &mut impl Upkeep, now: Instant) -> Option<Duration> {
        if volume.take_changed() {
            self.idle = Idle::NotBegun;
        }
        let idle = match self.idle {
            Idle::NotBegun => Some(IDLE_AFTER),
            Idle::Begun => Some(Duration::ZERO),
            Idle::Done => None,
        };
        // Scrubbing runs only at a time without requests, even if a step is overdue.
        let scrub = self.scrub.wait(now).map(|wait| wait.max(IDLE_AFTER));
        self.commit_in_time(volume, now).into_iter().chain(idle).chain(scrub).min()
    }

    /// If there is anything to commit, returns the time for which the commit may still wait.
    fn commit_in_time(&mut self, volume: &mut impl Upkeep, now: Instant) -> Option<Duration> {
        if !volume.waits_for_timer() {
            self.changed_at = None;
            return None;
        }
        let since = self.changed_at.get_or_insert(now);
        let left = self.commit_interval.saturating_sub(now.saturating_duration_since(*since));
        if !left.is_zero() {
            return Some(left);
        }
        // A commit that fails now is tried again. The next fsync reports the error.
        let _ = volume.commit();
        self.changed_at = None;
        volume.has_changes().then_some(self.commit_interval)
    }

    /// Uses a time without requests for idle work:
    ///
    /// - frees pages of removed files, so that later calls need not free them, and `statfs` counts
    ///   them as free;
    /// - moves weak pages;
    /// - looks for weak pages.
    pub fn rest(&mut self, volume: &mut impl Upkeep, now: Instant) {
        if self.idle == Idle::Done {
            if self.scrub.step(volume, now) {
                self.idle = Idle::NotBegun;
            }
            return;
        }
        let before = (volume.used_bytes(), volume.health().weak_blocks);
        let is_done = volume.maintain(IDLE_SLICE).unwrap_or(true);
        let is_same = (volume.used_bytes(), volume.health().weak_blocks) == before;
        self.idle = if is_done || is_same { Idle::Done } else { Idle::Begun };
    }
}
