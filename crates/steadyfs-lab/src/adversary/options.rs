//! The options of a search: the part of a chip, the fill and the length.

use crate::bench::Part;

/// The options of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Name of a device profile, or path of a profile in TOML. Default `mt29f1g01abafd`.
    pub device: String,
    /// Part of the device to use. Default all, with typical times.
    pub part: Part,
    /// Share of the usable bytes that is in use, from 0 to 1. Default 0.8.
    pub fill: f64,
    /// Number of calls to make, including the calls that only prepare others. Default 200,000.
    pub calls: u64,
    /// Seed of the search. Default 1.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            device: "mt29f1g01abafd".to_string(),
            part: Part::default(),
            fill: 0.8,
            calls: 200_000,
            seed: 1,
        }
    }
}
