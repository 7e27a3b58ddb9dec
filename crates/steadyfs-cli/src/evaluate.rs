//! `steady evaluate`: runs SteadyFS on a simulated chip and measures every access.

mod arguments;

use crate::Failure;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fs::File;
use std::io::{BufWriter, IsTerminal};
use std::path::Path;
use steadyfs_lab::evaluate::{self, Outcome};
use steadyfs_lab::replay::write_trace;
use steadyfs_lab::report::Report;

pub use arguments::{Arguments, timings};

/// Steps of the progress bar.
const STEPS: u64 = 1000;

/// Runs `steady evaluate`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let bar = progress_bar();
    let mut progress = |share: f64, phase: &str| {
        bar.set_position((share.clamp(0.0, 1.0) * STEPS as f64) as u64);
        if bar.message() != phase {
            bar.set_message(phase.to_string());
        }
    };
    let outcome = evaluate::run(&arguments.options(), &mut progress);
    bar.finish_and_clear();
    let outcome: Outcome = outcome.map_err(|error| Failure(error.to_string()))?;
    if let Some(path) = &arguments.trace {
        save_trace(path, &outcome.access_ns)?;
    }
    arguments.outputs.write(&outcome.evaluation, || Report::of_evaluation(&outcome))
}

/// A bar on standard error when that is a terminal, and nothing otherwise.
fn progress_bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg:<22} [{bar:40}] {percent:>3} %  {eta}");
    let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr_with_hz(10));
    bar.with_style(style.map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("━╸─")))
}

/// Writes the access times as a trace that `steady replay` reads.
fn save_trace(path: &Path, access_ns: &[u64]) -> Result<(), Failure> {
    File::create(path)
        .and_then(|file| write_trace(BufWriter::new(file), access_ns))
        .map_err(|error| Failure::writing(path.display(), &error))
}
