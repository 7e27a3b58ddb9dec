//! How far a command is, on standard error: a bar where that is a terminal, else a line now and then.

use crate::interrupt;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use steadyfs_lab::units::format_duration;

/// Steps of the bar.
const STEPS: u64 = 1000;
/// How long after each other lines come where there is no bar.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// What is said of so long a time; nothing of a few seconds.
fn announcement(estimate: Duration) -> Option<String> {
    // Nobody needs to know to the second.
    let seconds = estimate.as_secs();
    let text = if seconds < 60 { format!("{} s", seconds.div_ceil(10) * 10) } else { format!("{} min", seconds.div_ceil(60)) };
    (estimate >= LINE_EVERY).then(|| format!("takes about {text}; Ctrl-C ends it"))
}

/// A bar that is gone when it is dropped, or lines that stay.
pub struct Progress {
    bar: ProgressBar,
    done: u64,
    total: u64,
    lines: Option<Lines>,
    /// How long the command takes, until it was told.
    estimate: Option<Duration>,
}

/// When lines are told.
struct Lines {
    start: Instant,
    next: Instant,
}

impl Progress {
    /// A bar at its beginning, for `total` bytes, or whatever is counted.
    pub fn of(total: u64, message: &str) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = if is_terminal { visible() } else { hidden() };
        bar.set_message(message.to_string());
        interrupt::show(&bar);
        let start = Instant::now();
        let lines = (!is_terminal).then_some(Lines { start, next: start + LINE_EVERY });
        Self { bar, done: 0, total: total.max(1), lines, estimate: None }
    }

    /// Tells how long the command takes once its work begins, where that is more than a few seconds. The machine decides; the estimate is for two cores.
    pub fn takes(mut self, estimate: Duration) -> Self {
        self.estimate = Some(estimate);
        self
    }

    /// Goes on by some bytes.
    pub fn add(&mut self, count: u64) {
        self.done = self.done.saturating_add(count);
        self.show(self.done as f64 / self.total as f64);
    }

    /// Goes to a share of the whole, in a phase that has a name.
    pub fn set(&mut self, share: f64, phase: &str) {
        if self.bar.message() != phase {
            self.bar.set_message(phase.to_string());
        }
        self.show(share);
    }

    fn show(&mut self, share: f64) {
        if let Some(text) = self.estimate.take().and_then(announcement) {
            self.bar.suspend(|| eprintln!("{text}"));
        }
        let share = share.clamp(0.0, 1.0);
        self.bar.set_position((share * STEPS as f64) as u64);
        let Some(lines) = &mut self.lines else { return };
        let now = Instant::now();
        if now >= lines.next {
            lines.next = now + LINE_EVERY;
            eprintln!("{}", line(&self.bar.message(), share, now - lines.start));
        }
    }
}

/// How far it is, and how long the rest takes if it goes on like this.
fn line(phase: &str, share: f64, spent: Duration) -> String {
    let left = (share > 0.0).then(|| spent.mul_f64((1.0 - share) / share));
    let left =
        left.map_or(String::new(), |left| format!(", about {} left", format_duration((left.as_secs() * 1_000_000_000) as f64)));
    let phase = if phase.is_empty() { "" } else { &format!("{phase}: ") };
    format!("{phase}{:.0} %{left}", share * 100.0)
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn visible() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:<22} [{bar:40}] {percent:>3} %  {eta}");
    let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr_with_hz(10));
    bar.with_style(style.map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("━╸─")))
}

/// Not shown, and knows how far it is all the same.
fn hidden() -> ProgressBar {
    ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::hidden())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_takes_long_is_announced() {
        assert_eq!(announcement(Duration::from_secs(9)), None);
        assert_eq!(announcement(Duration::from_secs(41)).as_deref(), Some("takes about 50 s; Ctrl-C ends it"));
        assert!(announcement(Duration::from_secs(200)).is_some_and(|text| text.starts_with("takes about 4 min")));
    }

    #[test]
    fn lines_tell_phase_share_and_what_is_left() {
        assert_eq!(line("writing", 0.25, Duration::from_secs(10)), "writing: 25 %, about 30 s left");
        assert_eq!(line("", 0.0, Duration::from_secs(3)), "0 %");
    }
}
