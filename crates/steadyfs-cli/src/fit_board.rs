//! `steady fit --board`: the time of a board's driver, from figures that were measured on the board.

use crate::Failure;
use crate::output::print;
use clap::Args;
use std::path::Path;
use steadyfs_lab::bench::{Case, Options, Part};
use steadyfs_lab::driver_fit::{FitError, Mean, Measured, fit_driver};
use steadyfs_lab::evaluate::find_profile;
use steadyfs_lab::units::{parse_duration, parse_rate, parse_size};
use steadyfs_sim::{Driver, Profile};

/// Arguments of a fit to a board.
#[derive(Args, Debug)]
pub struct BoardArguments {
    /// The chip of a board: a name (see `steady devices`) or a file in TOML
    #[arg(
        long,
        value_name = "NAME|FILE.toml",
        value_parser = crate::device::raw_flash,
        conflicts_with_all = ["trace", "kind", "capacity", "name"],
        requires = "measured"
    )]
    board: Option<String>,
    /// Figures of the board: a case of `steady bench`, and its mean time or rate
    #[arg(
        long,
        value_name = "CASE=VALUE,…",
        value_delimiter = ',',
        value_parser = measured,
        requires = "board"
    )]
    measured: Vec<Measured>,
    /// Bytes of the chip in use on the board [default: all]
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        value_parser = parse_size,
        requires = "board"
    )]
    size: Option<u64>,
}

/// Reads a figure.
fn measured(text: &str) -> Result<Measured, String> {
    const EXPECTED: &str = "expected CASE=VALUE, such as append-64=9ms or seq-4096=60kB/s";
    let (name, value) = text.split_once('=').ok_or(EXPECTED)?;
    let case = Case::named(name)
        .ok_or_else(|| format!("no case `{name}`; expected one of {}", Case::names().join(", ")))?;
    let mean = match parse_duration(value) {
        Ok(ns) if ns > 0 => Mean::Time(ns),
        _ => Mean::Rate(parse_rate(value).map_err(|_| EXPECTED)?),
    };
    Ok(Measured { case, mean })
}

impl BoardArguments {
    /// Prints the profile of the chip with the driver of the board.
    pub fn run(&self) -> Result<(), Failure> {
        let device = self.board.as_deref().unwrap_or_default();
        let profile = find_profile(device).map_err(Failure::measuring)?;
        if profile.driver() != Driver::default() {
            return Err(Failure::usage(format!(
                "{device} has the time of a driver; expected a profile without [driver]"
            )));
        }
        let part = Part { size_bytes: self.size, ..Part::default() };
        let driver = fit_driver(&profile, &Options { part, ..Options::default() }, &self.measured)
            .map_err(|error| match error {
                FitError::Bench(error) => Failure::measuring(error),
                FitError::Count(_) => Failure::usage(error),
                error => Failure::new(error),
            })?;
        print(&with_driver(&document(device)?, &driver))
    }
}

/// Returns the text of a device's profile.
fn document(device: &str) -> Result<String, Failure> {
    match Profile::annotated(device) {
        Some(text) => Ok(text),
        None => {
            std::fs::read_to_string(Path::new(device)).map_err(|error| Failure::at(device, error))
        }
    }
}

/// Adds a driver to the text of a profile, before its sources.
fn with_driver(text: &str, driver: &Driver) -> String {
    let Driver { read_call_us, program_call_us, erase_call_us, byte_ns } = driver;
    let table = format!(
        "[driver]\nread_call_us = {read_call_us}\nprogram_call_us = {program_call_us}\n\
         erase_call_us = {erase_call_us}\nbyte_ns = {byte_ns}\n"
    );
    match text.split_once("[sources]\n") {
        Some((chip, sources)) => {
            format!(
                "{chip}{table}\n[sources]\ndriver = \"M: fitted to figures of the board\"\n{sources}"
            )
        }
        None => format!("{text}\n{table}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fitted_profile_has_the_driver_and_is_read_again() {
        let driver = Driver { byte_ns: 15, ..Driver::of_call(36) };
        let text = with_driver(&document("w25q128jv").unwrap(), &driver);
        assert_eq!(Profile::from_toml(&text).unwrap().driver(), driver);
        let bare = text.split_once("[driver]").unwrap().0;
        assert_eq!(Profile::from_toml(&with_driver(bare, &driver)).unwrap().driver(), driver);
    }

    #[test]
    fn figures_are_times_or_rates() {
        let append = Case::named("append-64").unwrap();
        let time = Measured { case: append, mean: Mean::Time(9_000_000) };
        assert_eq!(measured("append-64=9ms"), Ok(time));
        let rate = Measured { case: append, mean: Mean::Rate(60_000) };
        assert_eq!(measured("append-64=60kB/s"), Ok(rate));
        assert!(measured("apend=9ms").unwrap_err().contains("append-64"));
        assert!(measured("append-64=fast").unwrap_err().contains("CASE=VALUE"));
    }
}
