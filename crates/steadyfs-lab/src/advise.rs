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
mod measure;
mod settings;
mod summary;
mod text;

pub use choose::{run, sweep};
pub use measure::Figures;
pub use settings::Setting;
pub use summary::{Row, Summary};

use crate::bench::BenchError;
use crate::evaluate::Timing;
use crate::units::format_size;
use std::fmt;
use steadyfs::Config;
use steadyfs::media::Geometry;

/// What a device does all day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Durable records of 64 B at the end of a file, which gives way to a new one.
    Log,
    /// Durable overwrites of 4 KiB at random places.
    Overwrite,
    /// Durable changes of whole files of 200 B, in place.
    Configuration,
    /// Files of 16 KiB written by 256 B, durable when they are closed; each replaces an old one.
    Files,
}

impl Workload {
    /// All of them, by their names.
    pub const ALL: [(&'static str, Workload); 4] = [
        ("log", Workload::Log),
        ("overwrite", Workload::Overwrite),
        ("configuration", Workload::Configuration),
        ("files", Workload::Files),
    ];

    /// The workload of a name.
    pub fn named(name: &str) -> Option<Workload> {
        Workload::ALL.iter().find(|(known, _)| *known == name).map(|&(_, workload)| workload)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Workload::ALL.iter().find(|(_, workload)| *workload == self).map_or("", |(name, _)| name)
    }
}

/// What to advise on.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Name of a device profile, or path of a profile in TOML.
    pub device: String,
    /// Bytes of the chip to use, from its beginning. Default all.
    pub size_bytes: Option<u64>,
    /// What the device does.
    pub workload: Workload,
    /// Share of these bytes that data takes, from 0 to 1. Default a half.
    pub fill: f64,
    /// Times of the chip. Default typical.
    pub timing: Timing,
    /// Share of the usual length of all runs, from 0 to 1. Less: sooner, and an advice that knows less of what is rare. Default 1.
    pub effort: f64,
    /// Seed of places; the same seed gives the same advice. Default 1.
    pub seed: u64,
}

impl Options {
    /// The defaults, for a device and a workload.
    pub fn new(device: &str, workload: Workload) -> Options {
        Options {
            device: device.to_string(),
            size_bytes: None,
            workload,
            fill: 0.5,
            timing: Timing::default(),
            effort: 1.0,
            seed: 1,
        }
    }
}

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

/// Why there is no advice.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AdviseError {
    /// The device or the size is not possible.
    Chip(BenchError),
    /// No combination holds so much data.
    NothingFits {
        /// Bytes of data that were asked for.
        data_bytes: u64,
        /// Bytes of the chip that may be used.
        size_bytes: u64,
        /// The most that a combination holds, and the workload needs of it.
        most_bytes: u64,
    },
    /// A run failed that should not.
    Run(String),
}

impl fmt::Display for AdviseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chip(error) => error.fmt(f),
            Self::NothingFits { data_bytes, size_bytes, most_bytes } => {
                let [data, size, most] = [data_bytes, size_bytes, most_bytes].map(|&bytes| format_size(bytes));
                write!(f, "{data} of data on {size}: no settings hold so much; expected at most {most} of data")
            }
            Self::Run(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for AdviseError {}

impl From<BenchError> for AdviseError {
    fn from(error: BenchError) -> Self {
        Self::Chip(error)
    }
}
