//! The result of the study: the runs, and each number of the paper beside the measured number.

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use crate::streams::Writes;

/// One run of one of the systems.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// `plain`, the plain layer with as many spare pages as SteadyFS has, or `steadyfs`.
    pub system: String,
    /// Name of [`Writes`].
    pub writes: String,
    /// Share of the device that is in use.
    pub fill: f64,
    /// Streams that the jobs name.
    pub ids: u8,
    /// Streams that the device keeps apart.
    pub streams: u8,
    /// True if moved pages keep to blocks of their stream.
    pub moved_apart: bool,
    /// Logical pages that are in use.
    pub pages: u32,
    /// Number of times that the device was written, the first fill included.
    pub written_times: f64,
    /// Pages programmed for each written page, since the device was filled.
    pub amplification: f64,
    /// Erases for each block.
    pub erases_per_block: f64,
    /// Mean time of a write, in microseconds.
    pub mean_us: f64,
    /// Longest write, in microseconds.
    pub max_us: f64,
    /// Longest bound of a write, in microseconds; `None` for the plain layer, which promises
    /// nothing.
    pub bound_us: Option<f64>,
    /// RAM of the disk, in bytes; `None` for the plain layer, where it is not counted.
    pub ram_bytes: Option<u64>,
    /// Amplification in each of 60 equal parts of the run.
    pub over_time: Vec<f64>,
    /// Mean time of a write in each of these parts, in microseconds.
    pub mean_us_over_time: Vec<f64>,
}

/// A number or a figure of the paper, and the measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Section of the table.
    pub part: String,
    /// Name of the number.
    pub what: String,
    /// Its place in the paper.
    pub source: String,
    /// Number in the paper, or a note that it is in a figure alone.
    pub paper: String,
    /// Number of the plain layer; `–` if there is nothing to measure.
    pub plain: String,
    /// Number of SteadyFS.
    pub steadyfs: String,
    /// Reason for the difference; empty if there is none.
    pub why: String,
}

/// The whole result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// Description of the two devices and their scale.
    pub scale: String,
    /// Seed of the places.
    pub seed: u64,
    /// The numbers and figures.
    pub findings: Vec<Finding>,
    /// The runs behind them.
    pub runs: Vec<Run>,
}
