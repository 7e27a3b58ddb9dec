//! SteadyFS and its peers on the same simulated chips: the same cases, the same clock, the same
//! power cuts.
//!
//! ```text
//!   contenders   a file for each: SteadyFS, the chip alone, FAT on SteadyFS's disk, sequential-storage;
//!                those in C are in a crate of their own
//!      ▼ entrant: what it is, and how it is put on a chip
//!   chip ── one handle for all of them: whatever they call, the same model charges the same time
//!      ▼
//!   run ── the cases of steadyfs_lab::bench on each board       cuts ── power that fails in any operation
//!      ▼
//!   result ── as JSON, kept in bench/results                    table · report ── for people
//!      ▲ processor ── kept counts of instructions, as time of a cpu
//!
//!   boards ── published measurements of real boards beside the same work on these chips
//! ```
//!
//! Begin with [`run()`]. `docs/results/contenders.md` describes how to add a contender.

mod any_entrant;
pub mod boards;
mod chip;
pub mod contenders;
mod counts;
mod cpu;
mod cuts;
mod entrant;
mod figures;
pub mod kept;
mod markdown;
mod processor;
mod report;
mod result;
mod run;
mod table;

pub use any_entrant::{AnyEntrant, Extent};
pub use chip::Chip;
pub use counts::{Count, Counts, CountsOf, Processor};
pub use cpu::Cpu;
pub use entrant::{Entrant, Facts};
pub use processor::Places;
pub use report::CompareReport;
pub use result::{Board, Comparison, Cuts, Entry, Need, Outcome, Standing};
pub use run::{CompareError, Options, run};
