//! What to search: which part of which chip, how full, and how long.

use crate::evaluate::Timing;

/// What to search.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Name of a device profile, or path of a profile in TOML. Default `mt29f1g01abafd`.
    pub device: String,
    /// Bytes of the chip to use, from its beginning. Default all.
    pub size_bytes: Option<u64>,
    /// Bytes of an erase block, where the chip has a choice. Default the profile's, or the smallest where that leaves fewer than 64.
    pub erase_block_bytes: Option<u32>,
    /// Share of the usable bytes that is in use. Default 0.8.
    pub fill: f64,
    /// Times of the chip. Default typical.
    pub timing: Timing,
    /// Calls to make, those that only prepare others included. Default 200,000.
    pub calls: u64,
    /// Seed of the search. Default 1.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            device: "mt29f1g01abafd".to_string(),
            size_bytes: None,
            erase_block_bytes: None,
            fill: 0.8,
            timing: Timing::default(),
            calls: 200_000,
            seed: 1,
        }
    }
}
