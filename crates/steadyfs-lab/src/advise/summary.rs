//! An advice as data, for programs.

use super::{Advice, Candidate, Setting};
use serde::{Deserialize, Serialize};

/// An advice in numbers. Durations are microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the device.
    pub device: String,
    /// Name of the workload.
    pub workload: String,
    /// Share of the bytes that data takes, from 0 to 1.
    pub fill: f64,
    /// Number of combinations that were tried, including the unfit ones.
    pub tried: u64,
    /// Number of combinations that do not fit the chip or its data.
    pub unfit: u64,
    /// The best candidate, then for each setting the best candidate with another value of it.
    pub settings: Vec<Row>,
    /// The largest share of the chip for data at which a mean step takes at most a quarter
    /// longer.
    pub fill_max: f64,
    /// Bytes of code of a build for the best candidate, on a Cortex-M3.
    pub code_bytes: u64,
    /// Cargo features of the build.
    pub features: Vec<String>,
    /// The settings in Rust.
    pub rust: String,
    /// The settings in C.
    pub c: String,
}

/// A combination of settings, and its costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the setting in which it differs from the best candidate; `None` for the best
    /// candidate.
    pub differs: Option<String>,
    /// Bytes of an erase block.
    pub block_bytes: u32,
    /// Number of program pages in a logical page.
    pub pages_per_logical_page: u16,
    /// Changes of the map that the overlay holds in RAM.
    pub overlay_entries: u16,
    /// Logical pages of a cache.
    pub cache_pages: u32,
    /// Bytes of RAM on this machine, with one open file.
    pub ram_bytes: u64,
    /// Mean time of a step of the workload.
    pub mean_us: f64,
    /// The longest step seen.
    pub max_us: f64,
    /// The largest bound of a step.
    pub bound_us: f64,
    /// Bytes that the device can write until the erases are used up; `None` if the run had too
    /// few erases.
    pub life_bytes: Option<f64>,
    /// Bytes of data that the volume holds.
    pub usable_bytes: u64,
}

impl Row {
    fn of(differs: Option<&str>, candidate: &Candidate) -> Row {
        let Setting { block_bytes, pages_per_logical_page, overlay_entries, cache_pages } =
            candidate.setting;
        let figures = &candidate.figures;
        Row {
            differs: differs.map(String::from),
            block_bytes,
            pages_per_logical_page,
            overlay_entries,
            cache_pages,
            ram_bytes: figures.ram_bytes,
            mean_us: figures.mean_ns / 1e3,
            max_us: figures.longest_ns as f64 / 1e3,
            bound_us: figures.bound_ns as f64 / 1e3,
            life_bytes: figures.life_bytes,
            usable_bytes: figures.usable_bytes,
        }
    }
}

impl Advice {
    /// Returns the advice in numbers.
    pub fn summary(&self) -> Summary {
        let others =
            self.others.iter().map(|(setting, candidate)| Row::of(Some(setting), candidate));
        Summary {
            device: self.device.clone(),
            workload: self.options.workload.name().to_string(),
            fill: self.options.fill,
            tried: self.tried as u64,
            unfit: self.unfit as u64,
            settings: std::iter::once(Row::of(None, &self.choice)).chain(others).collect(),
            fill_max: self.fill.0,
            code_bytes: self.code_bytes,
            features: self.features.iter().map(|feature| feature.to_string()).collect(),
            rust: self.rust(),
            c: self.c(),
        }
    }
}
