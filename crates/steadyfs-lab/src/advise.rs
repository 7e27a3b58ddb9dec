//! Which settings suit a chip, a size and a workload: tried on the simulated chip, there and then.
//!
//! ```text
//!   settings   every combination of erase block, logical page, overlay and cache that the core takes on so many bytes
//!      ▼
//!   measure    one of them: filled, aged, and the workload on it        code   what a build for it takes, from docs/footprint.md
//!      ▼                                                                 ▼
//!   choose     short runs of all, long runs of the best  ───────────▶  text   what to take, why, and the Config
//! ```
//!
//! What is made small is RAM × time: half the RAM is worth twice the time. Time is that of the chip alone.
//!
//! [`run`] gives an [`Advice`]; [`sweep`] measures every combination at full length, which tells how good an advice is.

mod choose;
mod code;
mod error;
mod measure;
mod options;
mod settings;
mod summary;
mod text;

pub use choose::{run, sweep};
pub use error::AdviseError;
pub use measure::Figures;
pub use options::{Options, Workload};
pub use settings::Setting;
pub use summary::{Row, Summary};

use steadyfs::Config;
use steadyfs::media::Geometry;

/// A combination of settings, and what it was measured to take.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The settings.
    pub setting: Setting,
    /// What it takes.
    pub figures: Figures,
}

/// What to take.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// What was asked.
    pub options: Options,
    /// Name of the device.
    pub device: String,
    /// The best.
    pub choice: Candidate,
    /// Its shape on the chip.
    pub geometry: Geometry,
    /// Its settings.
    pub config: Config,
    /// The best of those that differ from it in one setting, and by which.
    pub others: Vec<(&'static str, Candidate)>,
    /// Combinations that were tried, and those that do not fit the chip or its data.
    pub tried: usize,
    /// Those that do not fit the chip or its data.
    pub unfit: usize,
    /// The largest share of the chip that data may take, with no call more than a quarter longer, and its figures.
    pub fill: (f64, Figures),
    /// Bytes of code of a build for it, on a Cortex-M3.
    pub code_bytes: u64,
    /// Features of cargo that the build has.
    pub features: Vec<&'static str>,
}
