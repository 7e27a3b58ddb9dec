//! The native half of the Python package `steadyfs`. Users import `python/steadyfs`, which is
//! typed and documented.
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
//! **Lifetimes.** A mounted volume borrows its memory, and Python objects cannot borrow. `volume`
//! keeps both in one cell, made by `self_cell`, so that nothing leaks and this crate needs no
//! unsafe code. Files are numbers in a table beside the volume. A file that outlives its volume
//! is closed.
//!
//! **The interpreter's lock.** Every call that reaches a medium or runs the lab releases this
//! lock. The volume's mutex is only taken without it: two threads cannot wait for each other.

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
