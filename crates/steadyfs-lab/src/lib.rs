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
//! Begin with [`evaluate::run`] for a file system on a chip, with [`replay::read_trace_file`] and [`summary::Summary::of`] for times of a board.
//!
//! [`adversary`] searches for the longest call of each kind, and tells how near it comes to its bound.
//!
//! [`advise`] tries settings on a chip and says which suit it.
//!
//! [`mod@bench`] measures a file system, ours or another, case by case beside what the chip could do.
//!
//! [`torture`] cuts power in every operation of a workload and looks what is lost; it needs none of the above.
//!
//! Functions that take long tell a progress function how far they are. It may end them by unwinding ([`std::panic::resume_unwind`]).
//!
//! [`units`] reads and prints rates, sizes and durations everywhere. Durations are whole nanoseconds inside the lab and
//! microseconds in JSON.

pub mod adversary;
pub mod advise;
pub mod backlog;
pub mod bench;
mod blocks;
#[cfg(feature = "boot")]
pub mod boot;
mod called;
#[doc(hidden)]
pub mod chosen_names;
pub mod costs;
pub mod envelope;
pub mod evaluate;
pub mod evaluation;
pub mod floor;
pub mod life;
#[cfg(feature = "boot")]
pub mod made_tree;
#[doc(hidden)]
pub mod model;
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
