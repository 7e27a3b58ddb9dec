//! `steady adversary`: how near the bounds are.

use crate::Failure;
use crate::bench::erase_blocks;
use crate::evaluate::timings;
use crate::output::Numbers;
use crate::progress::Progress;
use clap::Args;
use std::sync::{Mutex, PoisonError};
use steadyfs_lab::adversary::{self, Options};
use steadyfs_lab::evaluate::Timing;
use steadyfs_lab::units::{parse_percent, parse_size};

/// Arguments of `steady adversary`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Device profile: a name (see `steady devices`) or a file in TOML
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "mt29f1g01abafd")]
    device: String,
    /// Bytes of the chip to use, from its beginning [default: all]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_size)]
    size: Option<u64>,
    /// Bytes of an erase block [default: those of the profile, or the smallest where that leaves fewer than 64 blocks]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = erase_blocks())]
    erase_block: Option<u32>,
    /// Share of the usable space in use
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, default_value = "80%", value_parser = parse_percent)]
    fill: f64,
    /// Times of the simulated chip
    #[arg(long, default_value = "typical", value_parser = timings())]
    timing: Timing,
    /// Calls to make, those that only prepare others included
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..))]
    calls: u64,
    /// Seed of the search; the same seed gives the same search
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    numbers: Numbers,
}

const AFTER_HELP: &str = "\
A volume with the default settings is used until nothing of the format is left. Then calls of each kind are made on copies of it, each after others
that are chosen so that it takes long; what made calls long is tried again with changes. Each call is held to its bound; one that breaks it ends the
command with code 1.

Examples:
  steady adversary --device w25q128jv --size 1MiB
  steady adversary --calls 1000000 --seed 7 --json near.json";

/// Runs `steady adversary`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.numbers.check()?;
    let bar = Mutex::new(Progress::of(1, ""));
    let tell = |share: f64, what: &str| bar.lock().unwrap_or_else(PoisonError::into_inner).set(share, what);
    let report = adversary::run(&arguments.options(), &tell);
    drop(bar);
    arguments.numbers.write(&report.map_err(|error| Failure(error.to_string()))?)
}

impl Arguments {
    fn options(&self) -> Options {
        Options {
            device: self.device.clone(),
            size_bytes: self.size,
            erase_block_bytes: self.erase_block,
            fill: self.fill,
            timing: self.timing,
            calls: self.calls,
            seed: self.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn options(line: &str) -> Options {
        let line = ["adversary"].into_iter().chain(line.split_whitespace());
        crate::line::Line::<Arguments>::try_parse_from(line).unwrap().arguments.options()
    }

    #[test]
    fn arguments_reach_the_options_and_defaults_are_those_of_the_lab() {
        assert_eq!(options(""), Options::default());
        let expected = Options {
            device: "chip.toml".into(),
            size_bytes: Some(1 << 20),
            erase_block_bytes: Some(4096),
            fill: 0.5,
            timing: Timing::Maximum,
            calls: 7,
            seed: 9,
        };
        let line = "--device chip.toml --size 1MiB --erase-block 4KiB --fill 50% --timing maximum --calls 7 --seed 9";
        assert_eq!(options(line), expected);
    }
}
