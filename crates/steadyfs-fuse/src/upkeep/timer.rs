//! What happens without a request: timed commits, and work for idle times.

use super::Upkeep;
use super::scrub::Scrub;
use std::time::{Duration, Instant};
use steadyfs::Budget;

/// After so long without a request the volume has time for itself.
const IDLE_AFTER: Duration = Duration::from_millis(100);
/// Time of the medium that a request may have to wait for work which was begun before it came.
const IDLE_SLICE: Budget = Budget::TimeNs(200_000_000);

/// What waits for its time.
#[derive(Debug)]
pub(crate) struct Timer {
    commit_interval: Duration,
    /// When the oldest change was made that waits for a timed commit. The time of the system's clock is no measure: someone may set it
    /// back.
    changed_at: Option<Instant>,
    /// How much of the idle work was done that the last change left.
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
        Self { commit_interval, changed_at: None, idle: Idle::NotBegun, scrub: Scrub::new(Instant::now()) }
    }

    /// Makes the timed commit if it is due; returns how long the next request may be waited for before [`rest`](Self::rest) is
    /// called, if at all.
    pub fn wait(&mut self, volume: &mut impl Upkeep, now: Instant) -> Option<Duration> {
        if volume.take_changed() {
            self.idle = Idle::NotBegun;
        }
        let idle = match self.idle {
            Idle::NotBegun => Some(IDLE_AFTER),
            Idle::Begun => Some(Duration::ZERO),
            Idle::Done => None,
        };
        // Only a time without requests is for that, also when it is late.
        let scrub = self.scrub.wait(now).map(|wait| wait.max(IDLE_AFTER));
        self.commit_in_time(volume, now).into_iter().chain(idle).chain(scrub).min()
    }

    /// How long the commit of what was changed may wait, if there is anything to commit.
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
        // What cannot be committed now is tried again; the next fsync tells of it.
        let _ = volume.commit();
        self.changed_at = None;
        volume.has_changes().then_some(self.commit_interval)
    }

    /// Uses a time without requests: frees pages of removed files, so that later calls need not, and `statfs` tells of them; moves what
    /// is weak; and looks for it.
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
