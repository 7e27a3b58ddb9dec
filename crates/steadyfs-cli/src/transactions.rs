//! `steady transactions`: measures the cost of a commit, the calls that pay it, and the remains
//! of a finished copy.

use crate::Failure;
use crate::chip::timings;
use crate::output::Outputs;
use crate::progress::Progress;
use crate::seed::SeedArgument;
use clap::Args;
use steadyfs_lab::evaluate::Timing;
use steadyfs_lab::report::TransactionsReport;
use steadyfs_lab::transactions::{self, Options};
use steadyfs_lab::units::parse_write_size;

/// Arguments of `steady transactions`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Devices, raw or managed, separated by commas: names (see `steady devices`) or files in
    /// TOML [default: mt29f1g01abafd,sd-industrial,ssd-sata]
    #[arg(
        long,
        value_name = "NAME|FILE.toml,…",
        value_delimiter = ',',
        value_parser = crate::device::any
    )]
    device: Vec<String>,
    /// Times of raw chips
    #[arg(long, default_value = "typical", value_parser = timings())]
    timing: Timing,
    /// Bytes written to each file
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        default_value = "4KiB",
        value_parser = parse_write_size
    )]
    write: u64,
    /// Files of each row
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 100,
        value_parser = crate::number::within::<u32>(Options::FILES.range())
    )]
    files: u32,
    /// Files before one commit, in rows with one commit for a series of files [default: 8, or
    /// all]
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        value_parser = crate::number::within::<u32>(Options::SERIES.range())
    )]
    series: Option<u32>,
    /// Copies after which power is cut, for each file system on each managed device
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 1000,
        value_parser = crate::number::within::<u32>(Options::COPIES.range())
    )]
    copies: u32,
    #[command(flatten)]
    seed: SeedArgument,
    #[command(flatten)]
    outputs: Outputs,
}

const AFTER_HELP: &str = "\
The command times create, write, flush and close, with each choice of the event after which SteadyFS
commits. On managed flash it also times FAT that never flushes, like exFAT, and FAT that flushes
after each call, like TexFAT. The commit moves from column to column; on a disk it waits until the
cache is empty. Then a file is copied, the copy is finished, power fails, and the file is compared
byte for byte. The experiment is from a note; the report has the figures of the note beside its own.

Examples:
  steady transactions
  steady transactions --device emmc-64gb --series 32 --copies 10000
  steady transactions --report transactions.html";

/// Runs `steady transactions`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.outputs.check()?;
    let options = arguments.options();
    if let Some(series) = arguments.series.filter(|&series| series > arguments.files) {
        let files = arguments.files;
        return Err(Failure::usage(format!(
            "--series {series}: expected no more than --files, which is {files}"
        )));
    }
    let mut bar = Progress::of(1, "");
    let result = transactions::run(&options, &mut |share, what| bar.set(share, what));
    drop(bar);
    let transactions = result.map_err(Failure::measuring)?;
    arguments.outputs.write(&transactions, || TransactionsReport::of(&transactions))
}

impl Arguments {
    fn options(&self) -> Options {
        let usual = Options::default();
        Options {
            devices: if self.device.is_empty() { usual.devices } else { self.device.clone() },
            timing: self.timing,
            write_bytes: self.write,
            files: self.files,
            series: self.series.unwrap_or(usual.series).min(self.files),
            copies: self.copies,
            seed: self.seed.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    type Line = crate::line::Line<Arguments>;

    fn options(line: &str) -> Options {
        Line::parse_from(["transactions"].into_iter().chain(line.split_whitespace()))
            .arguments
            .options()
    }

    #[test]
    fn defaults_are_those_of_the_lab() {
        assert_eq!(options(""), Options::default());
        assert_eq!(options("--files 3").series, 3, "a series is no longer than all files");
    }

    #[test]
    fn every_argument_reaches_the_options() {
        let expected = Options {
            devices: vec!["w25q128jv".into(), "sd-industrial".into()],
            timing: Timing::Maximum,
            write_bytes: 512,
            files: 9,
            series: 3,
            copies: 0,
            seed: 7,
        };
        assert_eq!(
            options(
                "--device w25q128jv,sd-industrial --timing maximum --write 512 --files 9 \
                 --series 3 --copies 0 --seed 7"
            ),
            expected
        );
    }
}
