//! Measures a file system on a simulated chip, case by case, beside the best that the chip could
//! do.
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
//! Times are those of the chip alone. Every written byte is read back and compared outside the
//! measured time, in most cases on a volume whose power was cut.
//!
//! - If the volume has no room for a case, the row of the case contains the reason.
//! - A case fails if a call breaks its bound, or if other bytes are read back.
//!
//! [`run`] measures SteadyFS. [`measure`] measures any [`Contender`]. Both return a [`Report`].

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

pub use crate::part::{Part, PartError, usual_block};
pub use cases::{Case, Ground};
pub use contender::{Contender, Fault, Mode, Operation, Room, Volume};
pub use error::BenchError;
pub use gauge::Gauge;
pub use medium::{BenchChip, Medium, OnChips, Plain};
pub use options::Options;
pub use report::{Figures, Report, Row, Wear};
pub use runner::{Prepared, Terms, measure, measure_case, prepare};
pub use steady::Steady;

use crate::evaluate::find_profile;
use steadyfs_sim::{PowerCut, Profile, Tearable};

/// Measures SteadyFS.
///
/// `progress` is called now and then with the completed share, from 0 to 1, and the name of a
/// case.
///
/// # Errors
/// [`BenchError`] if the device or the options are not possible, or if there is no volume on it.
/// The rows of the report contain the failures of cases.
pub fn run(options: &Options, progress: &(dyn Fn(f64, &str) + Sync)) -> Result<Report, BenchError> {
    run_on(&find_profile(&options.device)?, options, progress)
}

/// Measures SteadyFS on a chip with this profile, instead of the chip that the options name.
///
/// # Errors
/// As for [`run`].
pub fn run_on(
    profile: &Profile,
    options: &Options,
    progress: &(dyn Fn(f64, &str) + Sync),
) -> Result<Report, BenchError> {
    options.check()?;
    let medium = Medium::of(profile, &options.part)?.with_volume()?;
    let mut report =
        medium.with_chips(options.seed, MeasureSteady { medium: &medium, options, progress })?;
    report.device.clone_from(&profile.name);
    Ok(report)
}

/// A measurement of SteadyFS that has no chips yet.
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
            steady
                .with_cache(self.options.cache_pages)
                .with_read_cache(self.options.read_cache_pages)
        };
        measure(self.medium, self.options, steady, self.progress)
    }
}
