//! The native half of the Python package `steadyfs`. What people import is `python/steadyfs`, which is typed and documented.
//!
//! ```text
//!   steadyfs.Image ─ files ─┐                  steadyfs.evaluate … backlog
//!                           ▼                           ▼
//!   volume   a volume and its files behind a mutex    lab     options in, JSON and times out
//!   medium   an image, a card, or a chip in memory    cuts    a shard of power cuts in, JSON out
//!                           ▼                         run     a thread of its own, ended by Ctrl-C
//!   trouble  errors as OSError: errno, words, name    crates: steadyfs, -host, -sim, -lab, -siege
//! ```
//!
//! **Lifetimes.** A mounted volume borrows its memory, and Python objects cannot borrow. `volume` keeps both in one cell, made by
//! `self_cell`, so that nothing leaks and nothing here is unsafe. Files are numbers in a table beside the volume: one that outlives its
//! volume finds it closed.
//!
//! **The interpreter's lock** is released in every call that reaches a medium or runs the lab, and the volume's mutex is only ever taken
//! without it: two threads cannot wait for each other.

#![forbid(unsafe_code)]

mod cuts;
mod lab;
mod medium;
mod run;
mod trouble;
mod volume;

use pyo3::prelude::*;

/// The native half of `steadyfs`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<volume::Volume>()?;
    module.add_class::<volume::Stat>()?;
    cuts::register(module)?;
    lab::register(module)
}
