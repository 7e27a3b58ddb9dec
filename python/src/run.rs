//! Runs of the lab that take long: on a thread of their own, with the interpreter free, ended by Ctrl-C.
//!
//! ```text
//!   caller's thread   waits; every 50 ms: signals, and tells the progress function
//!        │ stop                     ▲ share, phase
//!        ▼                          │
//!   the run's thread  asks in its own progress calls whether it is to stop, and unwinds
//! ```
//!
//! A run owns all that it touches, so that nothing is left half done. The interpreter's lock is never taken by the run.

use crate::lab::LabError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often signals are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What a run unwinds with when it was to stop.
struct Stopped;

/// How far a run is.
#[derive(Default)]
struct State {
    stop: AtomicBool,
    told: Mutex<(f64, String)>,
}

impl State {
    /// Notes how far the run is; does not return when it is to stop.
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

    /// Looks at signals, and tells a function of Python's.
    fn look(&self, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            let Some(progress) = progress else { return Ok(()) };
            let (share, phase) = self.told.lock().unwrap_or_else(PoisonError::into_inner).clone();
            progress.call1(py, (share, phase)).map(drop)
        })
    }
}

/// Waits for the end of a run; a signal, or a progress function that raises, has it stop.
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

/// How a run tells how far it is.
pub type Tell<'t> = &'t (dyn Fn(f64, &str) + Sync);

/// Makes a run, and gives what comes of it. `progress` is a function of Python's that gets share and phase.
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
                let result = catch_unwind(AssertUnwindSafe(|| work(&|share, phase| state.tell(share, phase))));
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
        Err(payload) => resume_unwind(payload),
    }
}
