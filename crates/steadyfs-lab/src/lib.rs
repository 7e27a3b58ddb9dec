//! The lab of SteadyFS: access times, the buffer an input rate needs, and reports.
//!
//! ```text
//!   replay ── a trace measured on a board ──┐
//!   evaluate ── a run on a simulated chip ──┤     costs · transactions ── what calls cost
//!                                           │     life ── how much of its erases a chip gives before it is worn out
//!                                           ▼
//!   stats · backlog · envelope · floor   what the access times mean
//!                                           ▼
//!   summary · evaluation · report        tables, JSON, HTML and SVG for people
//! ```
//!
//! To begin:
//! - For a file system on a chip: [`evaluate::run`].
//! - For times of a board: [`replay::read_trace_file`] and [`summary::Summary::of`].
//!
//! [`adversary`] searches for the longest call of each kind, and compares it with its bound.
//!
//! [`advise`] tries settings on a chip and reports which settings suit it.
//!
//! [`mod@bench`] measures a file system, ours or another. It compares each case with the best
//! that the chip could do.
//!
//! [`driver_fit`] finds the time of a board's driver from figures of the board.
//!
//! [`torture`] cuts power in every operation of a workload and looks for lost data. It uses none
//! of the modules above.
//!
//! Functions that take long report their progress to a progress function. The progress function
//! may end them by unwinding ([`std::panic::resume_unwind`]).
//!
//! [`allowed`] names the allowed values of options. A run checks its options before it begins.
//!
//! [`units`] reads and prints rates, sizes and durations everywhere. Durations are whole
//! nanoseconds inside the lab and microseconds in JSON.

pub mod adversary;
pub mod advise;
pub mod allowed;
pub mod backlog;
pub mod bench;
mod blocks;
#[cfg(feature = "boot")]
pub mod boot;
mod called;
#[doc(hidden)]
pub mod chosen_names;
pub mod costs;
pub mod driver_fit;
pub mod envelope;
pub mod evaluate;
pub mod evaluation;
pub mod floor;
pub mod life;
#[cfg(feature = "boot")]
pub mod made_tree;
#[doc(hidden)]
pub mod model;
mod named;
mod part;
pub mod realtime;
pub mod replay;
pub mod report;
pub mod stats;
pub mod streams;
pub mod summary;
pub mod table;
pub mod torture;
pub mod transactions;
pub mod units;
mod workers;
