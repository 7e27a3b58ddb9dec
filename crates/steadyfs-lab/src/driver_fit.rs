//! Fits the time of a board's driver to one or two figures that were measured on the board.

use crate::bench::{self, BenchError, Case, Figures, Options};
use std::fmt;
use steadyfs_sim::{Driver, Profile};

/// Time of the driver in the runs that show the slopes: microseconds for commands, nanoseconds for
/// bytes.
const PROBE: u32 = 100;

/// A figure of a board: SteadyFS in a case of `steady bench`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The case.
    pub case: Case,
    /// The mean.
    pub mean: Mean,
}

/// The mean of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mean {
    /// Time of a call, in nanoseconds.
    Time(u64),
    /// Payload by time, in bytes per second.
    Rate(u64),
}

/// The reason why nothing was fitted.
#[derive(Debug)]
#[non_exhaustive]
pub enum FitError {
    /// The chip cannot be measured.
    Bench(BenchError),
    /// The case has no figures on this chip.
    NoFigures(&'static str),
    /// The number of figures is neither one nor two.
    Count(usize),
    /// No driver has these figures: the chip alone is slower.
    TooFast,
    /// Both figures have the same share of commands and bytes.
    Alike,
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FitError::Bench(error) => error.fmt(f),
            FitError::NoFigures(case) => {
                write!(f, "{case} has no such figure on this chip; expected another case")
            }
            FitError::Count(count) => {
                write!(f, "{count} measured figures; expected one, or two of different cases")
            }
            FitError::TooFast => f.write_str(
                "the chip alone is slower than the board; expected a profile with the times of \
                 the board's chip",
            ),
            FitError::Alike => f.write_str(
                "both figures have the same share of commands and bytes; expected two different \
                 cases, such as append-64 and seq-4096",
            ),
        }
    }
}

impl std::error::Error for FitError {}

/// Returns the driver with which a chip has the measured figures. One figure gives the time of
/// each command. Two figures give the time of each command and of each byte.
///
/// # Errors
/// [`FitError`].
pub fn fit_driver(
    profile: &Profile,
    options: &Options,
    measured: &[Measured],
) -> Result<Driver, FitError> {
    let command = Driver::of_call(PROBE);
    let byte = Driver { byte_ns: PROBE, ..Driver::default() };
    let parts: &[Driver] = match measured.len() {
        1 => &[command],
        2 => &[command, byte],
        count => return Err(FitError::Count(count)),
    };
    let cases = measured.iter().map(|measured| measured.case).collect();
    let options = Options { cases, ..options.clone() };
    let alone = times(profile, &options, measured)?;
    let slopes = parts.iter().map(|part| {
        let with = times(&profile.clone().with_driver(part), &options, measured)?;
        Ok(with.iter().zip(&alone).map(|(with, alone)| with - alone).collect())
    });
    let slopes: Vec<Vec<f64>> = slopes.collect::<Result<_, FitError>>()?;
    let missing: Vec<f64> = measured
        .iter()
        .zip(&alone)
        .map(|(measured, alone)| measured.mean.linear() - alone)
        .collect();
    let [command, byte] = solve(&slopes, &missing)?;
    let whole = |probes: f64| (probes * f64::from(PROBE)).round() as u32;
    Ok(Driver { byte_ns: whole(byte), ..Driver::of_call(whole(command)) })
}

/// Returns the numbers of probes for commands and for bytes.
fn solve(slopes: &[Vec<f64>], missing: &[f64]) -> Result<[f64; 2], FitError> {
    let found = match (slopes, missing) {
        ([command], [missing]) => [missing / command[0], 0.0],
        ([command, byte], [first, second]) => {
            let determinant = command[0] * byte[1] - command[1] * byte[0];
            if determinant.abs() < 1e-9 * (command[0] * byte[1]).abs() {
                return Err(FitError::Alike);
            }
            [
                (first * byte[1] - second * byte[0]) / determinant,
                (second * command[0] - first * command[1]) / determinant,
            ]
        }
        _ => unreachable!("a slope for each figure"),
    };
    if found.iter().all(|&probes| probes >= 0.0) { Ok(found) } else { Err(FitError::TooFast) }
}

impl Mean {
    /// Returns a number that is linear in times.
    fn linear(self) -> f64 {
        match self {
            Mean::Time(ns) => ns as f64 / 1e3,
            Mean::Rate(bytes_per_s) => 1e6 / bytes_per_s as f64,
        }
    }

    /// Returns the same number of a simulated case.
    fn of(self, figures: &Figures) -> Option<f64> {
        match self {
            Mean::Time(_) => Some(figures.mean_us),
            Mean::Rate(_) => figures.bytes_per_s.map(|rate| 1e6 / rate),
        }
    }
}

/// Returns the simulated figures, as numbers that are linear in times.
fn times(
    profile: &Profile,
    options: &Options,
    measured: &[Measured],
) -> Result<Vec<f64>, FitError> {
    let report = bench::run_on(profile, options, &|_, _| {}).map_err(FitError::Bench)?;
    let of = |measured: &Measured| {
        let row = report.rows.iter().find(|row| row.case == measured.case.name());
        let figures = row.and_then(|row| row.figures.as_ref());
        figures
            .and_then(|figures| measured.mean.of(figures))
            .ok_or(FitError::NoFigures(measured.case.name()))
    };
    measured.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::Part;

    fn options() -> Options {
        let part = Part { size_bytes: Some(1 << 20), ..Part::default() };
        Options { part, ..Options::default() }
    }

    fn case(name: &str) -> Case {
        Case::named(name).unwrap()
    }

    /// Returns the figures of a chip with a known driver.
    fn board(driver: &Driver, cases: &[&str]) -> Vec<Measured> {
        let profile = Profile::named("w25q128jv").unwrap().with_driver(driver);
        let cases: Vec<Case> = cases.iter().map(|name| case(name)).collect();
        let options = Options { cases: cases.clone(), ..options() };
        let report = bench::run_on(&profile, &options, &|_, _| {}).unwrap();
        let of = |(case, row): (Case, &bench::Row)| {
            let ns = row.figures.as_ref().unwrap().mean_us * 1e3;
            Measured { case, mean: Mean::Time(ns.round() as u64) }
        };
        cases.into_iter().zip(&report.rows).map(of).collect()
    }

    #[test]
    fn known_driver_is_found_again_from_one_and_from_two_figures() {
        let profile = Profile::named("w25q128jv").unwrap();
        let call = Driver::of_call(36);
        let one = board(&call, &["append-64"]);
        assert_eq!(fit_driver(&profile, &options(), &one).unwrap(), call);
        let both = Driver { byte_ns: 150, ..call };
        let two = board(&both, &["append-64", "read-4096"]);
        let found = fit_driver(&profile, &options(), &two).unwrap();
        assert!(found.read_call_us.abs_diff(36) <= 1, "{found:?}");
        assert!(found.byte_ns.abs_diff(150) <= 2, "{found:?}");
    }

    #[test]
    fn figures_without_a_driver_are_refused() {
        let profile = Profile::named("w25q128jv").unwrap();
        let fast = Measured { case: case("append-64"), mean: Mean::Time(1_000) };
        let error = fit_driver(&profile, &options(), &[fast]).unwrap_err();
        assert!(matches!(error, FitError::TooFast), "{error}");
        let error = fit_driver(&profile, &options(), &[]).unwrap_err().to_string();
        assert!(error.starts_with("0 measured figures; expected one"), "{error}");
        let rate = Measured { case: case("append-64"), mean: Mean::Rate(1_000) };
        let twice = fit_driver(&profile, &options(), &[fast, rate]);
        assert!(twice.is_err());
    }
}
