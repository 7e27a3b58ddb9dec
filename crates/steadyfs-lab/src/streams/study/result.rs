//! What the study gives: the runs, and each number of the paper beside what was measured.

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use crate::streams::Writes;

/// One run of one of the systems.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// `plain`, that with as many spare pages as SteadyFS has, or `steadyfs`.
    pub system: String,
    /// Name of [`Writes`].
    pub writes: String,
    /// Share of the device that holds something.
    pub fill: f64,
    /// Streams that the jobs name.
    pub ids: u8,
    /// Streams that the device keeps apart.
    pub streams: u8,
    /// Whether moved pages keep to blocks of their stream.
    pub moved_apart: bool,
    /// Logical pages that hold something.
    pub pages: u32,
    /// How many times the device was written, the first fill included.
    pub written_times: f64,
    /// Pages programmed for each page written, since the device was filled.
    pub amplification: f64,
    /// Erases for each block.
    pub erases_per_block: f64,
    /// Mean time of a write, in microseconds.
    pub mean_us: f64,
    /// The longest write.
    pub max_us: f64,
    /// The longest that was promised; the plain layer promises nothing.
    pub bound_us: Option<f64>,
    /// RAM of the disk; not counted for the plain layer.
    pub ram_bytes: Option<u64>,
    /// Amplification in each of 60 equal parts of the run.
    pub over_time: Vec<f64>,
    /// Mean time of a write in each of these parts, in microseconds.
    pub mean_us_over_time: Vec<f64>,
}

/// A number or a figure of the paper, and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What it belongs to: a section of the table.
    pub part: String,
    /// What it is.
    pub what: String,
    /// Where in the paper it stands.
    pub source: String,
    /// What the paper has: a number, or that it stands in a figure alone.
    pub paper: String,
    /// What the plain layer has; `–` where there is nothing to be measured.
    pub plain: String,
    /// What SteadyFS has.
    pub steadyfs: String,
    /// Why they differ; empty where they do not.
    pub why: String,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// What the two devices are, and how they are scaled.
    pub scale: String,
    /// Seed of the places.
    pub seed: u64,
    /// The numbers and figures.
    pub findings: Vec<Finding>,
    /// The runs behind them.
    pub runs: Vec<Run>,
}
