//! The options of a measurement: the chip and the number of files.

use crate::evaluate::Timing;

/// The options of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Name of a device profile, or path of a profile in TOML. Default `mt29f1g01abafd`.
    pub device: String,
    /// Times of the chip. Default typical.
    pub timing: Timing,
    /// Number of files in the large directory, and of steps of each kind. Default 10,000, or as
    /// many as the volume holds.
    pub files: Option<u32>,
    /// Seed of the order of files. The same seed gives the same run. Default 1.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            device: "mt29f1g01abafd".to_string(),
            timing: Timing::default(),
            files: None,
            seed: 1,
        }
    }
}
