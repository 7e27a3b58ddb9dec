//! What to measure: which part of which chip, which cases, and what SteadyFS is lent.

use super::cases::Case;
use super::part::Part;

/// What to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Name of a device profile, or path of a profile in TOML. Default `mt29f1g01abafd`.
    pub device: String,
    /// The part of it to use. Default all, with typical times.
    pub part: Part,
    /// Cases, in the order of rows. Default all.
    pub cases: Vec<Case>,
    /// Files of the cases with many of them. Default 500.
    pub files: u32,
    /// Logical pages of a cache that SteadyFS is lent; part of its RAM. Default none.
    pub cache_pages: u32,
    /// Program pages of a read cache that SteadyFS is lent; part of its RAM. Default none.
    pub read_cache_pages: u32,
    /// Whether a format erases the chip.
    pub erased: bool,
    /// Seed of places and orders: the same seed gives the same run. Default 1.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            device: "mt29f1g01abafd".to_string(),
            part: Part::default(),
            cases: Case::all(),
            files: 500,
            cache_pages: 0,
            read_cache_pages: 0,
            erased: false,
            seed: 1,
        }
    }
}
