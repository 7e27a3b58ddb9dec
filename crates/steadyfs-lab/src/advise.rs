//! Chooses the settings that suit a chip, a size and a workload: it tries them on the simulated
//! chip.
//!
//! ```text
//!   settings   every combination of erase block, logical page, overlay and cache that the core takes on so many bytes
//!      ▼
//!   measure    one of them: filled, aged, and the workload on it        code   what a build for it takes, from docs/results/footprint.md
//!      ▼                                                                 ▼
//!   choose     short runs of all, long runs of the best  ───────────▶  text   what to take, why, and the Config
//! ```
//!
//! The search minimizes RAM × time: half the RAM is worth twice the time. Only the time of the
//! chip counts.
//!
//! [`run`] returns an [`Advice`]. [`sweep`] measures every combination at full length, which
//! shows how good an advice is.

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

/// A combination of settings, and its measured costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The settings.
    pub setting: Setting,
    /// Measured costs of the settings.
    pub figures: Figures,
}

/// The recommended settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Options of the request.
    pub options: Options,
    /// Name of the device.
    pub device: String,
    /// The best candidate.
    pub choice: Candidate,
    /// Geometry of the chip with these settings.
    pub geometry: Geometry,
    /// Settings of the volume.
    pub config: Config,
    /// The best candidates that differ from the choice in one setting, with its name.
    pub others: Vec<(&'static str, Candidate)>,
    /// Number of combinations that were tried, including the unfit ones.
    pub tried: usize,
    /// Number of combinations that do not fit the chip or its data.
    pub unfit: usize,
    /// The largest share of the chip for data at which a mean step takes at most a quarter
    /// longer, and the figures there.
    pub fill: (f64, Figures),
    /// Bytes of code of a build for these settings, on a Cortex-M3.
    pub code_bytes: u64,
    /// Cargo features of the build.
    pub features: Vec<&'static str>,
}
