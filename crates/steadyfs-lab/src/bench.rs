//! Measures a file system on a simulated chip, case by case, beside what the chip itself could do.
//!
//! ```text
//!   contender   what a file system offers to be measured: two traits      medium · limit   the chip, and what it could do at best
//!     steady      SteadyFS                                                content          bytes of files, made again to compare
//!        ▼                                                                   ▼
//!   gauge ── steps, each call held to its bound ──▶ cases ◀── stage: files that are there, aged volumes, everything read back
//!                                                     ▼
//!   runner      each case on a chip of its own, side by side
//!        ▼
//!   report      rows for people and as JSON
//! ```
//!
//! Time is that of the chip alone. Everything that is written is read back and compared, outside of the measured time, on a volume whose
//! power was cut. A case that the volume has no room for says so; one that breaks a promise or gives other bytes back has failed.
//!
//! [`run`] measures SteadyFS; [`measure`] another [`Contender`] as well. Both give a [`Report`].

mod cases;
mod contender;
mod content;
mod error;
mod gauge;
mod limit;
mod medium;
mod report;
mod runner;
mod stage;
mod steady;

pub use cases::{Case, Ground};
pub use contender::{Contender, Fault, Mode, Operation, Room, Volume};
pub use error::BenchError;
pub use gauge::Gauge;
pub use medium::{BenchChip, Medium, OnChips, Plain};
pub use report::{Figures, Report, Row, Wear};
pub use runner::{Prepared, Terms, measure, measure_case, prepare};
pub use steady::Steady;

use crate::evaluate::{Timing, find_profile};
use steadyfs_sim::{PowerCut, Tearable};

/// What to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Name of a device profile, or path of a profile in TOML. Default `mt29f1g01abafd`.
    pub device: String,
    /// Bytes of the chip to use, from its beginning. Default all.
    pub size_bytes: Option<u64>,
    /// Bytes of an erase block, where the chip has a choice. Default the profile's, or the smallest where that leaves fewer than 64.
    pub erase_block_bytes: Option<u32>,
    /// Times of the chip. Default typical.
    pub timing: Timing,
    /// Cases, in the order of rows. Default all.
    pub cases: Vec<Case>,
    /// Files of the cases with many of them. Default 500.
    pub files: u32,
    /// Logical pages of a cache that SteadyFS is lent; part of its RAM. Default none.
    pub cache_pages: u32,
    /// Whether a format erases the chip.
    pub erased: bool,
    /// Seed of places and orders: the same seed gives the same run. Default 1.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            device: "mt29f1g01abafd".to_string(),
            size_bytes: None,
            erase_block_bytes: None,
            timing: Timing::default(),
            cases: Case::all(),
            files: 500,
            cache_pages: 0,
            erased: false,
            seed: 1,
        }
    }
}

/// Measures SteadyFS. `progress` is called now and then with the share that is done, from 0 to 1, and the name of a case.
///
/// # Errors
/// [`BenchError`]: the device or the options are not possible, or there is no volume on it. How cases fail is in their rows.
pub fn run(options: &Options, progress: &(dyn Fn(f64, &str) + Sync)) -> Result<Report, BenchError> {
    let profile = find_profile(&options.device)?;
    let medium = Medium::of(&profile, options)?;
    let mut report = medium.with_chips(options.seed, MeasureSteady { medium: &medium, options, progress })?;
    report.device = profile.name;
    Ok(report)
}

/// SteadyFS, waiting for its chips.
struct MeasureSteady<'o> {
    medium: &'o Medium,
    options: &'o Options,
    progress: &'o (dyn Fn(f64, &str) + Sync),
}

impl OnChips for MeasureSteady<'_> {
    type Output = Result<Report, BenchError>;

    fn run<C>(self, make: impl Fn() -> C + Sync) -> Self::Output
    where
        C: BenchChip + Tearable + Clone + 'static,
        PowerCut<C>: BenchChip,
    {
        let steady = || Steady::new(make()).with_cache(self.options.cache_pages).with_erasing_format(self.options.erased);
        measure(self.medium, self.options, steady, self.progress)
    }
}
