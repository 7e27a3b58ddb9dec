//! Progress of a command, on standard error: a bar on a terminal, else a line from time to time.

use crate::interrupt;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Steps of the bar.
const STEPS: u64 = 1000;
/// Time between two lines, if there is no bar.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Minimum time of work before the first estimate of its duration is printed.
const FIRST_AFTER: Duration = Duration::from_secs(3);
/// Share of the work after which the estimate of its duration is roughly right.
const FIRST_SHARE: f64 = 0.01;
/// The word before an estimated duration.
const ABOUT: &str = "about";
/// Factor by which the estimate must change before it is printed again.
const OFF_BY: f64 = 1.4;

/// Formats a time in seconds, minutes or hours.
fn time(seconds: u64) -> String {
    match seconds {
        0..=120 => format!("{seconds} s"),
        121..7200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

/// Returns the sentence about an estimated duration. Returns `None` if the work takes only a few
/// seconds, or if the estimate `said` before is still about right.
fn announcement(all: Duration, said: Option<Duration>, about: &str) -> Option<String> {
    // An estimate below two minutes is rounded to five seconds: it needs no more precision.
    let seconds = all.as_secs();
    let time = time(if seconds < 120 { (seconds + 2) / 5 * 5 } else { seconds });
    match said {
        None => (all >= LINE_EVERY).then(|| format!("takes {about} {time}; Ctrl-C ends it")),
        Some(said) => {
            let factor = all.as_secs_f64() / said.as_secs_f64();
            (!(1.0 / OFF_BY..=OFF_BY).contains(&factor))
                .then(|| format!("takes {about} {time} in all, as it goes now"))
        }
    }
}

/// A bar that disappears when it is dropped, or lines that stay.
pub struct Progress {
    bar: ProgressBar,
    done: u64,
    total: u64,
    start: Instant,
    /// The time of the next line, if there is no bar.
    next_line: Option<Instant>,
    /// The last printed estimate of the whole duration, and the time when it was printed.
    told: Option<(Duration, Instant)>,
    course: &'static [(f64, f64)],
    /// The word before a duration.
    about: &'static str,
}

impl Progress {
    /// Starts a bar for `total` bytes or other units.
    pub fn of(total: u64, message: &str) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = if is_terminal { visible() } else { hidden() };
        bar.set_message(message.to_string());
        interrupt::show(&bar);
        let start = Instant::now();
        let next_line = (!is_terminal).then_some(start + LINE_EVERY);
        Self {
            bar,
            done: 0,
            total: total.max(1),
            start,
            next_line,
            told: None,
            course: &[],
            about: ABOUT,
        }
    }

    /// Sets the course of the work: finished shares of the work, ascending, each with the share of
    /// the time at which a measured run had finished it. The work between two of them is even.
    /// Without a course, all of the work is even.
    pub fn on_course(mut self, course: &'static [(f64, f64)]) -> Self {
        self.course = course;
        self
    }

    /// Makes all durations upper limits, for work that may end early.
    pub fn at_most(mut self) -> Self {
        self.about = "at most";
        self
    }

    /// Advances by `count` units.
    pub fn add(&mut self, count: u64) {
        self.done = self.done.saturating_add(count);
        self.show(self.done as f64 / self.total as f64);
    }

    /// Moves to a share of the whole, in a named phase.
    pub fn set(&mut self, share: f64, phase: &str) {
        if self.bar.message() != phase {
            self.bar.set_message(phase.to_string());
        }
        self.show(time_share(share.clamp(0.0, 1.0), self.course));
    }

    fn show(&mut self, share: f64) {
        let share = share.clamp(0.0, 1.0);
        let now = Instant::now();
        if self.next_line.is_none() {
            self.bar.set_prefix(left(share, now - self.start, self.about).unwrap_or_default());
        }
        self.bar.set_position((share * STEPS as f64) as u64);
        self.tell_time(share, now);
        if self.next_line.is_some_and(|next| now >= next) {
            self.next_line = Some(now + LINE_EVERY);
            eprintln!("{}", line(&self.bar.message(), share, now - self.start, self.about));
        }
    }

    /// Prints an estimate of the whole duration, from the time of the finished share. Prints a
    /// new estimate if that turns out to be wrong.
    fn tell_time(&mut self, share: f64, now: Instant) {
        let spent = now - self.start;
        let is_known = share >= FIRST_SHARE || (share > 0.0 && spent >= LINE_EVERY);
        let is_early = self.told.is_some_and(|(_, when)| now - when < LINE_EVERY);
        if spent < FIRST_AFTER || !is_known || is_early {
            return;
        }
        let all = spent.div_f64(share);
        if let Some(text) = announcement(all, self.told.map(|(said, _)| said), self.about) {
            self.bar.suspend(|| eprintln!("{text}"));
            self.told = Some((all, now));
        }
    }
}

/// Returns the share of the time at a share of the work.
fn time_share(share: f64, course: &[(f64, f64)]) -> f64 {
    let mut from = (0.0, 0.0);
    for &to in course.iter().chain(&[(1.0, 1.0)]) {
        if share <= to.0 {
            let part = (share - from.0) / (to.0 - from.0).max(f64::MIN_POSITIVE);
            return from.1 + part * (to.1 - from.1);
        }
        from = to;
    }
    1.0
}

/// Returns a line with the phase, the finished share, and the remaining time at the current
/// speed.
fn line(phase: &str, share: f64, spent: Duration, about: &str) -> String {
    let left = left(share, spent, about).map_or(String::new(), |left| format!(", {left}"));
    let phase = if phase.is_empty() { "" } else { &format!("{phase}: ") };
    format!("{phase}{:.0} %{left}", share * 100.0)
}

/// Returns the remaining time at the current speed; `None` before the beginning.
fn left(share: f64, spent: Duration, about: &str) -> Option<String> {
    let left = (share > 0.0).then(|| spent.mul_f64((1.0 - share) / share))?;
    Some(format!("{about} {} left", time(left.as_secs())))
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn visible() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:<22} [{bar:40}] {percent:>3} %  {prefix}");
    let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr_with_hz(10));
    bar.with_style(
        style.map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("━╸─")),
    )
}

/// Returns a bar that is not shown but counts.
fn hidden() -> ProgressBar {
    ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::hidden())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_takes_long_is_announced_and_again_when_it_takes_longer() {
        let seconds = Duration::from_secs;
        let announcement = |all, said| announcement(all, said, ABOUT);
        assert_eq!(announcement(seconds(9), None), None);
        assert_eq!(
            super::announcement(seconds(41), None, "at most").as_deref(),
            Some("takes at most 40 s; Ctrl-C ends it")
        );
        assert_eq!(
            announcement(seconds(41), None).as_deref(),
            Some("takes about 40 s; Ctrl-C ends it")
        );
        assert!(
            announcement(seconds(200), None)
                .is_some_and(|text| text.starts_with("takes about 4 min"))
        );
        assert!(
            announcement(seconds(42_951), None)
                .is_some_and(|text| text.starts_with("takes about 12 h"))
        );
        assert_eq!(announcement(seconds(250), Some(seconds(200))), None);
        assert_eq!(
            announcement(seconds(300), Some(seconds(200))).as_deref(),
            Some("takes about 5 min in all, as it goes now")
        );
        assert!(announcement(seconds(100), Some(seconds(200))).is_some());
    }

    #[test]
    fn lines_tell_phase_share_and_what_is_left() {
        let line = |phase, share, spent| line(phase, share, spent, ABOUT);
        assert_eq!(
            line("writing", 0.25, Duration::from_secs(10)),
            "writing: 25 %, about 30 s left"
        );
        assert_eq!(line("", 0.01, Duration::from_secs(100)), "1 %, about 3 h left");
        assert_eq!(line("", 0.0, Duration::from_secs(3)), "0 %");
    }

    #[test]
    fn share_of_the_time_follows_the_measured_course() {
        let course = [(0.5, 0.25), (0.75, 0.5)];
        let shares = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| time_share(share, &course));
        assert_eq!(shares, [0.0, 0.125, 0.25, 0.5, 1.0]);
        assert_eq!(time_share(0.3, &[]), 0.3, "even work");
    }

    #[test]
    fn courses_ascend() {
        for course in
            [crate::realtime::COURSE, crate::compare::COURSE, crate::compare::COURSE_OF_ONE]
        {
            assert!(course.is_sorted() && course.iter().all(|(share, _)| *share < 1.0));
            assert!(course.is_sorted_by_key(|(_, time)| *time));
        }
    }
}
