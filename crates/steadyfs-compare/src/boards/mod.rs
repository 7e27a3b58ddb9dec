//! Published measurements of real boards, beside the same work on simulated chips.
//!
//! ```text
//!   plan      assets/boards.toml: sources, runs, figures
//!     ▼ step  the work of a run, on any contender
//!   measure   a run on its chip, and the calibration of its driver
//!     ▼
//!   kept      assets/boards.json: measured runs, for a build without the contenders in C
//!     ▼
//!   page      docs/results/boards.md
//! ```

mod card;
mod kept;
mod linux;
mod measure;
mod page;
mod plan;
mod step;

pub use kept::{KeptRuns, RunResult};
pub use measure::{Makers, measure};
pub use page::{Standing, markdown, standings};
pub use plan::{Basis, Figure, Measure, Plan, Run, Settings, Source};
pub use step::{Span, Spans, Step, follow};
