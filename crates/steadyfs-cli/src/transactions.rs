//! `steady transactions`: where the cost of a commit appears.

use crate::Failure;
use crate::evaluate::timings;
use crate::output::Numbers;
use clap::Args;
use steadyfs_lab::evaluate::Timing;
use steadyfs_lab::transactions::{self, Options};
use steadyfs_lab::units::parse_write_size;

/// Arguments of `steady transactions`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Device profile: a name (see `steady devices`) or a file in TOML
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "mt29f1g01abafd")]
    device: String,
    /// Times of the simulated chip
    #[arg(long, default_value = "typical", value_parser = timings())]
    timing: Timing,
    /// Microseconds that the device takes to empty its own cache, once for each commit
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=3_600_000_000))]
    flush_us: u64,
    /// Bytes written to each file
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "4KiB", value_parser = parse_write_size)]
    write: u64,
    /// Number of files
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    files: u32,
    #[command(flatten)]
    numbers: Numbers,
}

const AFTER_HELP: &str = "\
Four calls - create, write, flush, close - with each choice of the event after which the volume commits. The commit is the
same everywhere; it moves from column to column.

Example:
  steady transactions --flush-us 955000      # a disk that takes 955 ms to empty its cache";

/// Runs `steady transactions`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { device, timing, flush_us, write, files, numbers } = arguments;
    numbers.check()?;
    let options =
        Options { device: device.clone(), timing: *timing, flush_ns: flush_us * 1_000, write_bytes: *write, files: *files };
    let transactions = transactions::run(&options).map_err(|error| Failure(error.to_string()))?;
    numbers.write(&transactions)
}
