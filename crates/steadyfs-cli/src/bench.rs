//! `steady bench`: measures SteadyFS on a simulated chip, case by case, beside the limit of the
//! chip.

use crate::Failure;
use crate::chip::ChipArguments;
use crate::output::Numbers;
use crate::progress::Progress;
use crate::seed::SeedArgument;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::sync::{Mutex, PoisonError};
use steadyfs_lab::bench::{self, Case, Options};

/// Arguments of `steady bench`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    #[command(flatten)]
    chip: ChipArguments,
    /// Cases to measure, separated by commas [default: all]
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        value_parser = cases(),
        hide_possible_values = true
    )]
    case: Vec<Case>,
    /// Files of the cases create, open, stat, remove and of the mounts
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 500,
        value_parser = crate::number::within::<u32>(Options::FILES.range())
    )]
    files: u32,
    /// Logical pages of a cache: small writes wait there until their page is complete, or a
    /// commit comes
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 0,
        value_parser = crate::number::within::<u32>(Options::CACHE_PAGES.range())
    )]
    cache: u32,
    /// Number of program pages in a read cache: a page that is read repeatedly is read from the
    /// chip once
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 0,
        value_parser = crate::number::within::<u32>(Options::READ_CACHE_PAGES.range())
    )]
    read_cache: u32,
    /// Let the format erase the chip, so that no erase is needed until the whole chip was used
    #[arg(long)]
    erased: bool,
    #[command(flatten)]
    seed: SeedArgument,
    #[command(flatten)]
    numbers: Numbers,
}

const AFTER_HELP: &str = "\
Cases, each on a chip of its own:
  seq-512 seq-4096                                    32 MiB or half the chip, in pieces of so many
                                                      bytes, durable at the end
  random-4096                                         durable overwrites, 80 % full
  append-64 append-16                                 durable records, aged
  small-formatted small-prepared small-80             100,000 B by 256 B, durable at the end: as
                                                      formatted, erased ahead, 80 % full
  small-durable                                       the same, each write durable
  replace-truncate replace-rename replace-in-place    a file of 200 B, durable, aged
  create open stat remove                             500 files of 100 B; --files sets the number
  rename-10000                                        among so many files
  mount-clean mount-cut first-change                  with 500 files; the first file made after a
                                                      clean mount
  read-1 read-16 read-64 read-256 read-4096           512 KiB in order
  web-server                                          20,000 files served, 46.7 MB by 256 B
  wear-random wear-log                                ten times the bytes of the chip
  copy-10mb copy-35                                   mount, copy of one file or of 35 with 5.4 MB,
                                                      unmount
Aged: files of 8,000 B have filled the volume, and two of five are left (small-80: four of five).
All written data is read back and compared.
If a case fails or breaks its bound, the others still run, and the command ends with code 1.
All cases take about half a minute on 128 MiB, some seconds on 1 MiB.

Examples:
  steady bench --device w25q128jv --size 1MiB
  steady bench --case append-64,append-16 --json -";

/// Reads the name of a case; clap lists the names and suggests the nearest.
fn cases() -> impl TypedValueParser<Value = Case> {
    PossibleValuesParser::new(Case::names())
        .try_map(|name| Case::named(&name).ok_or("no such case"))
}

/// Runs `steady bench`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.numbers.check()?;
    let options = arguments.options();
    let bar = Mutex::new(Progress::of(1, ""));
    let tell = |share: f64, case: &str| {
        bar.lock().unwrap_or_else(PoisonError::into_inner).set(share, case)
    };
    let report = bench::run(&options, &tell);
    drop(bar);
    let report = report.map_err(Failure::measuring)?;
    arguments.numbers.write(&report)?;
    match report.failures().as_slice() {
        [] => Ok(()),
        failures => Err(Failure::new(failures.join("; "))),
    }
}

impl Arguments {
    fn options(&self) -> Options {
        Options {
            device: self.chip.device.clone(),
            part: self.chip.part(),
            cases: if self.case.is_empty() { Case::all() } else { self.case.clone() },
            files: self.files,
            cache_pages: self.cache,
            read_cache_pages: self.read_cache,
            erased: self.erased,
            seed: self.seed.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use steadyfs_lab::bench::Part;
    use steadyfs_lab::evaluate::Timing;

    type Line = crate::line::Line<Arguments>;

    fn options(line: &str) -> Result<Options, clap::Error> {
        Line::try_parse_from(["bench"].into_iter().chain(line.split_whitespace()))
            .map(|line| line.arguments.options())
    }

    #[test]
    fn defaults_are_those_of_the_lab() {
        assert_eq!(options("").unwrap(), Options::default());
    }

    #[test]
    fn every_argument_reaches_the_options() {
        let line = "--device w25q128jv --size 1MiB --erase-block 4KiB --case open,seq-512 \
                    --timing maximum --call-us 20 --files 7 --cache 2 --read-cache 3 --erased \
                    --seed 9";
        let expected = Options {
            device: "w25q128jv".into(),
            part: Part {
                size_bytes: Some(1 << 20),
                erase_block_bytes: Some(4096),
                timing: Timing::Maximum,
                call_us: 20,
            },
            cases: ["open", "seq-512"].map(|name| Case::named(name).unwrap()).to_vec(),
            files: 7,
            cache_pages: 2,
            read_cache_pages: 3,
            erased: true,
            seed: 9,
        };
        assert_eq!(options(line).unwrap(), expected);
    }

    #[test]
    fn unknown_cases_are_usage_errors_that_name_the_known_ones() {
        let error = options("--case opn").unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(
            error.to_string().contains("open") && error.to_string().contains("copy-35"),
            "{error}"
        );
    }

    #[test]
    fn help_names_every_case() {
        assert!(Case::names().iter().all(|name| AFTER_HELP.contains(name)));
    }
}
