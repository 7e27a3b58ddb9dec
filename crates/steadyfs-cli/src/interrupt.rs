//! Ctrl-C and SIGTERM in commands that take long.
//!
//! A command prints its results so far if these are useful. Otherwise it prints a line that the
//! command was not finished. The exit code is 128 plus the number of the signal, as shells
//! expect: 130 or 143.

use crate::Failure;
use crate::host;
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The last signal that came; 0 before the first.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// Lock that is held while a result is written, so that the result is written as a whole.
static OUTPUT: Mutex<()> = Mutex::new(());
/// State of the running command.
static WORK: Mutex<Work> = Mutex::new(Work { bar: None, drafts: Vec::new(), ends_itself: false });

struct Work {
    bar: Option<ProgressBar>,
    /// Files and directories that are not complete.
    drafts: Vec<PathBuf>,
    /// True if the command reads [`signal`] and ends by itself.
    ends_itself: bool,
}

fn work() -> MutexGuard<'static, Work> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the signal that asked the command to end, if one came.
pub fn signal() -> Option<i32> {
    Some(SIGNAL.load(Ordering::Relaxed)).filter(|&signal| signal != 0)
}

/// Lets the command end by itself: it reads [`signal`], or calls [`check`]. A second signal ends
/// it at once.
pub fn ends_itself() {
    work().ends_itself = true;
}

/// Fails after a signal came. For commands that then undo their incomplete work.
pub fn check() -> Result<(), Failure> {
    match signal() {
        Some(_) => Err(Failure::new(sentence(work().bar.as_ref()))),
        None => Ok(()),
    }
}

/// Returns the message of an interrupted command.
fn sentence(bar: Option<&ProgressBar>) -> String {
    let how_far = bar.map(|bar| {
        let (percent, phase) =
            (bar.position() * 100 / bar.length().unwrap_or(1).max(1), bar.message());
        bar.finish_and_clear();
        if phase.is_empty() {
            format!(", {percent} % done")
        } else {
            format!(", {percent} % done ({phase})")
        }
    });
    format!("interrupted{}: the command was not finished", how_far.unwrap_or_default())
}

/// Stores the bar that shows the progress of the command.
pub fn show(bar: &ProgressBar) {
    work().bar = Some(bar.clone());
}

/// Stores a file or directory that is removed if the command is interrupted.
pub fn remember(draft: &Path) {
    work().drafts.push(draft.into());
}

/// Keeps a file or directory after an interruption: it is complete, or was removed.
pub fn forget(draft: &Path) {
    work().drafts.retain(|path| path != draft);
}

/// Writes a result. An interruption waits until it is written.
pub fn write<T>(write: impl FnOnce() -> T) -> T {
    let _guard = OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    write()
}

/// Catches signals from now on.
#[cfg(unix)]
pub fn catch() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    // Without the handler, a signal ends the command as usual.
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let is_first = SIGNAL.swap(signal, Ordering::Relaxed) == 0;
            if is_first && work().ends_itself {
                continue;
            }
            end(signal);
        }
    });
}

#[cfg(not(unix))]
pub fn catch() {}

/// Returns the exit code that shells expect of a command that a signal ended.
pub fn exit_code(signal: i32) -> i32 {
    128 + signal
}

/// Ends the command now.
#[cfg(unix)]
fn end(signal: i32) -> ! {
    let _guard = OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    let work = work();
    let sentence = sentence(work.bar.as_ref());
    for draft in &work.drafts {
        host::remove(draft);
    }
    eprintln!("{sentence}");
    std::process::exit(exit_code(signal))
}
