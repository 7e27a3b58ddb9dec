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
mod options;
mod part;
mod report;
mod runner;
mod stage;
mod steady;

pub use cases::{Case, Ground};
pub use contender::{Contender, Fault, Mode, Operation, Room, Volume};
pub use error::BenchError;
pub use gauge::Gauge;
pub use medium::{BenchChip, Medium, OnChips, Plain};
pub use options::Options;
pub use part::{Part, usual_block};
pub use report::{Figures, Report, Row, Wear};
pub use runner::{Prepared, Terms, measure, measure_case, prepare};
pub use steady::Steady;

use crate::evaluate::find_profile;
use steadyfs_sim::{PowerCut, Tearable};

/// Measures SteadyFS. `progress` is called now and then with the share that is done, from 0 to 1, and the name of a case.
///
/// # Errors
/// [`BenchError`]: the device or the options are not possible, or there is no volume on it. How cases fail is in their rows.
pub fn run(options: &Options, progress: &(dyn Fn(f64, &str) + Sync)) -> Result<Report, BenchError> {
    let profile = find_profile(&options.device)?;
    let medium = Medium::of(&profile, &options.part)?.with_volume()?;
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
        let steady = || {
            let steady = Steady::new(make()).with_erasing_format(self.options.erased);
            steady.with_cache(self.options.cache_pages).with_read_cache(self.options.read_cache_pages)
        };
        measure(self.medium, self.options, steady, self.progress)
    }
}
