//! Runs long work of the lab on a thread of its own. Meanwhile the interpreter is free, and
//! Ctrl-C ends the run.
//!
//! ```text
//!   caller's thread   waits; every 50 ms: signals, and tells the progress function
//!        │ stop                     ▲ share, phase
//!        ▼                          │
//!   the run's thread  asks in its own progress calls whether it is to stop, and unwinds
//! ```
//!
//! A run owns all its data, so that a stop leaves nothing half done. The run never takes the
//! interpreter's lock.

use crate::lab::LabError;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Interval between checks for signals.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The panic payload of a run that was stopped.
struct Stopped;

/// The progress of a run.
#[derive(Default)]
struct State {
    stop: AtomicBool,
    told: Mutex<(f64, String)>,
}

impl State {
    /// Records the progress of the run. Does not return if the run must stop.
    fn tell(&self, share: f64, phase: &str) {
        if self.stop.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stopped));
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.0 = share;
        if told.1 != phase {
            told.1 = phase.to_string();
        }
    }

    /// Checks for signals, and calls the Python progress function.
    fn look(&self, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            let Some(progress) = progress else { return Ok(()) };
            let (share, phase) = self.told.lock().unwrap_or_else(PoisonError::into_inner).clone();
            progress.call1(py, (share, phase)).map(drop)
        })
    }
}

/// Waits for the end of a run. Stops the run after a signal, or if the progress function raises.
fn wait(state: &State, end: &Receiver<()>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    loop {
        match end.recv_timeout(LOOK_EVERY) {
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = state.look(progress) {
                    state.stop.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// The function with which a run reports its progress.
pub type Tell<'t> = &'t (dyn Fn(f64, &str) + Sync);

/// Makes a run, and returns its result. `progress` is a Python function that gets the share and
/// the phase.
pub fn run<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(Tell<'_>) -> Result<T, String> + Send,
) -> PyResult<T> {
    let state = State::default();
    let outcome = py.detach(|| {
        std::thread::scope(|scope| {
            let (ended, end) = channel::<()>();
            let state = &state;
            let thread = scope.spawn(move || {
                let result = catch_unwind(AssertUnwindSafe(|| {
                    work(&|share, phase| state.tell(share, phase))
                }));
                drop(ended);
                result
            });
            let waited = wait(state, &end, progress.as_ref());
            let result = thread.join().unwrap_or_else(Err);
            waited.map(|()| result)
        })
    })?;
    match outcome {
        Ok(Ok(value)) => {
            state.look(progress.as_ref())?;
            Ok(value)
        }
        Ok(Err(words)) => Err(LabError::new_err(words)),
        Err(payload) => Err(LabError::new_err(format!(
            "the run panicked: {}; this is a fault of the library",
            words_of(payload.as_ref())
        ))),
    }
}

/// Returns the message of a panic. `PanicException` would be no `Exception`, which ends the worker
/// of a sweep.
fn words_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}
