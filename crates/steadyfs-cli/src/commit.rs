//! `steady commit`: what a commit costs on managed flash, who pays, and what is left of a finished copy.

use crate::Failure;
use crate::output::Numbers;
use crate::progress::Progress;
use clap::Args;
use steadyfs_lab::commit::{self, Options};
use steadyfs_lab::units::parse_write_size;

/// Arguments of `steady commit`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Managed devices, separated by commas: names (see `steady devices`) or files in TOML [default: sd-industrial,ssd-sata]
    #[arg(long, value_name = "NAME|FILE.toml,…", value_delimiter = ',')]
    device: Vec<String>,
    /// Bytes written to each file
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "4KiB", value_parser = parse_write_size)]
    write: u64,
    /// Files of each row
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    files: u32,
    /// Copies after which power is cut, for each file system
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    copies: u32,
    /// Seed of contents and cuts; the same seed gives the same run
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    numbers: Numbers,
}

const AFTER_HELP: &str = "\
Create, write, flush, close: each timed, with each choice of the event after which SteadyFS commits, and with FAT that never flushes or
flushes after each call. Then a file is copied, the copy is finished, power fails, and the file is compared byte for byte.

Examples:
  steady commit
  steady commit --device emmc-64gb --copies 10000";

/// Runs `steady commit`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.numbers.check()?;
    let options = arguments.options();
    let mut bar = Progress::of(1, "");
    let result = commit::run(&options, &mut |share, what| bar.set(share, what));
    drop(bar);
    arguments.numbers.write(&result.map_err(|error| Failure(error.to_string()))?)
}

impl Arguments {
    fn options(&self) -> Options {
        let usual = Options::default();
        Options {
            devices: if self.device.is_empty() { usual.devices } else { self.device.clone() },
            write_bytes: self.write,
            files: self.files,
            copies: self.copies,
            seed: self.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn defaults_are_those_of_the_lab() {
        assert_eq!(Line::parse_from(["commit"]).arguments.options(), Options::default());
    }
}
