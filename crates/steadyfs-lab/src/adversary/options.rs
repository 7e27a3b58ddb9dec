//! What to search: which part of which chip, how full, and how long.

use crate::bench::Part;

/// What to search.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Name of a device profile, or path of a profile in TOML. Default `mt29f1g01abafd`.
    pub device: String,
    /// The part of it to use. Default all, with typical times.
    pub part: Part,
    /// Share of the usable bytes that is in use. Default 0.8.
    pub fill: f64,
    /// Calls to make, those that only prepare others included. Default 200,000.
    pub calls: u64,
    /// Seed of the search. Default 1.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { device: "mt29f1g01abafd".to_string(), part: Part::default(), fill: 0.8, calls: 200_000, seed: 1 }
    }
}
