//! Work without a request: timed commits, and work for idle times.

use super::Upkeep;
use super::scrub::Scrub;
use std::time::{Duration, Instant};
use steadyfs::Budget;

/// Time without a request after which the volume does idle work.
const IDLE_AFTER: Duration = Duration::from_millis(100);
/// Time of the medium that a request may have to wait for idle work that began before it.
const IDLE_SLICE: Budget = Budget::TimeNs(200_000_000);

/// Work that waits for its time.
#[derive(Debug)]
pub(crate) struct Timer {
    commit_interval: Duration,
    /// Time of the oldest change that waits for a timed commit. The system's clock is no measure,
    /// because it may be set back.
    changed_at: Option<Instant>,
    /// Progress of the idle work that the last change left.
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
        // Scrubbing uses only a time without requests, also when it is late.
        let scrub = self.scrub.wait(now).map(|wait| wait.max(IDLE_AFTER));
        self.commit_in_time(volume, now).into_iter().chain(idle).chain(scrub).min()
    }

    /// Returns the time for which the commit of changes may wait, if there is anything to commit.
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

    /// Uses a time without requests:
    ///
    /// - frees pages of removed files, so that later calls need not, and `statfs` includes them;
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
