//! The bar that long work shows on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// Steps of the bar.
const STEPS: u64 = 1000;

/// A bar on standard error when that is a terminal, and nothing otherwise. It is gone when it is dropped.
pub struct Progress {
    bar: ProgressBar,
    done: u64,
    total: u64,
}

impl Progress {
    /// A bar at its beginning, for `total` bytes, or whatever is counted.
    pub fn of(total: u64, message: &str) -> Self {
        let bar = if std::io::stderr().is_terminal() { visible() } else { ProgressBar::hidden() };
        bar.set_message(message.to_string());
        Self { bar, done: 0, total: total.max(1) }
    }

    /// Goes on by some bytes.
    pub fn add(&mut self, count: u64) {
        self.done = self.done.saturating_add(count);
        self.show(self.done as f64 / self.total as f64);
    }

    /// Goes to a share of the whole, in a phase that has a name.
    pub fn set(&mut self, share: f64, phase: &str) {
        self.show(share);
        if self.bar.message() != phase {
            self.bar.set_message(phase.to_string());
        }
    }

    fn show(&self, share: f64) {
        self.bar.set_position((share.clamp(0.0, 1.0) * STEPS as f64) as u64);
    }
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
