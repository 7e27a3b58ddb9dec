//! `steady streams`: measures the benefit of streams, on a simulated chip.

use crate::Failure;
use crate::chip::timings;
use crate::output::Outputs;
use crate::progress::Progress;
use crate::seed::SeedArgument;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::sync::{Mutex, PoisonError};
use steadyfs_lab::evaluate::Timing;
use steadyfs_lab::report::{StreamsReport, StudyReport};
use steadyfs_lab::streams::study::{self, StudyOptions};
use steadyfs_lab::streams::{self, EMMC, Options, Way, Writes};
use steadyfs_lab::units::parse_percent;

/// Arguments of `steady streams`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Measure each number of the multi-stream eMMC paper, and print it beside the paper's
    #[arg(
        long,
        conflicts_with_all = ["device", "timing", "writes", "fill", "streams", "count", "mixed"]
    )]
    study: bool,
    /// Passes over the pages in use, in each run of the study [default: enough to write as much
    /// as the paper]
    #[arg(
        long,
        value_name = "COUNT",
        requires = "study",
        allow_hyphen_values = true,
        value_parser = crate::number::within::<u64>(1..=100)
    )]
    passes: Option<u64>,
    /// NAND profile: a name (see `steady devices`), a file in TOML, or emmc-like
    #[arg(long, value_name = "NAME|FILE.toml", default_value = EMMC, value_parser = device)]
    device: String,
    /// Blocks of the chip to use, from its beginning [default: all]
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        value_parser = crate::number::within::<u32>(Options::BLOCKS.range())
    )]
    blocks: Option<u32>,
    /// Times of the simulated chip
    #[arg(long, default_value = "typical", value_parser = timings())]
    timing: Timing,
    /// Kinds of writes, separated by commas [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = writes())]
    writes: Vec<Writes>,
    /// Shares of the disk that hold data, separated by commas [default: 80%,90%]
    #[arg(
        long,
        value_name = "SHARE,…",
        value_delimiter = ',',
        allow_hyphen_values = true,
        value_parser = parse_percent
    )]
    fill: Vec<f64>,
    /// Ways to use streams, separated by commas [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = ways())]
    streams: Vec<Way>,
    /// Number of streams of a disk with several streams
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 3,
        value_parser = crate::number::within::<u8>(Options::STREAMS.range())
    )]
    count: u8,
    /// First mix up all pages by one stream
    #[arg(long)]
    mixed: bool,
    #[command(flatten)]
    seed: SeedArgument,
    #[command(flatten)]
    outputs: Outputs,
}

const AFTER_HELP: &str = "\
Writes:
  sequential  three jobs, equally often, each in order and around in a region; the sizes of the
              regions are as 2 : 101 : 709
  random      the same, at random in their regions
  zipf        single pages, few of them hot; nobody can name a stream
  log         all pages in order and around: streams bring no benefit
  mix         a database, a log, and media files that are replaced whole
  sqlite      recorded writes of SQLite: two databases, with a rollback journal and with a
              write-ahead log
Streams: one; given (the jobs name them); automatic (the disk finds them); +aged: moved pages keep
apart as well.
Each run fills the disk, writes eight times as many pages, and then measures four times as many. If
a call breaks its bound, the run fails. Fill is the share of the smallest compared disk. All
defaults take one to two minutes; a chip of 128 MiB takes ten times as long.
The study writes 1,400 GB to a device of 64 GB, scaled, as the paper did, at 80, 90 and 97 % fill:
on SteadyFS and on a plain translation layer. It needs no device, and takes one to two minutes of
one processor; --blocks (192 at least) and --passes make it smaller.

Examples:
  steady streams --report streams.html
  steady streams --study --report study.html --json study.json
  steady streams --writes zipf --streams one,automatic --fill 80%,95% --device mt29f1g01abafd";

/// Reads the name of raw NAND, or of the built-in flash.
fn device(text: &str) -> Result<String, String> {
    if text == EMMC { Ok(text.to_string()) } else { crate::device::raw_nand(text) }
}

/// Reads the name of a kind of writes.
fn writes() -> impl TypedValueParser<Value = Writes> {
    PossibleValuesParser::new(Writes::ALL.map(Writes::name)).try_map(|name| name.parse::<Writes>())
}

/// Reads the name of a way to use streams.
fn ways() -> impl TypedValueParser<Value = Way> {
    PossibleValuesParser::new(Way::ALL.map(Way::name)).try_map(|name| name.parse::<Way>())
}

/// Runs `steady streams`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.outputs.check()?;
    let bar = Mutex::new(Progress::of(1, ""));
    let tell =
        |share: f64, row: &str| bar.lock().unwrap_or_else(PoisonError::into_inner).set(share, row);
    if arguments.study {
        let study = study::run(&arguments.study_options(), &tell);
        drop(bar);
        let study = study.map_err(Failure::measuring)?;
        return arguments.outputs.write(&study, || StudyReport::of(&study));
    }
    let streams = streams::run(&arguments.options(), &tell);
    drop(bar);
    let streams = streams.map_err(Failure::measuring)?;
    arguments.outputs.write(&streams, || StreamsReport::of(&streams))
}

impl Arguments {
    fn study_options(&self) -> StudyOptions {
        let usual = StudyOptions::default();
        StudyOptions {
            blocks: self.blocks.unwrap_or(usual.blocks),
            passes: self.passes,
            seed: self.seed.seed,
            ..usual
        }
    }

    fn options(&self) -> Options {
        let usual = Options::default();
        Options {
            device: self.device.clone(),
            blocks: self.blocks,
            timing: self.timing,
            writes: if self.writes.is_empty() { usual.writes } else { self.writes.clone() },
            fills: if self.fill.is_empty() { usual.fills } else { self.fill.clone() },
            ways: if self.streams.is_empty() { usual.ways } else { self.streams.clone() },
            streams: self.count,
            mixed: self.mixed,
            seed: self.seed.seed,
            threads: usual.threads,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    type Line = crate::line::Line<Arguments>;

    fn options(line: &str) -> Result<Options, clap::Error> {
        Line::try_parse_from(["streams"].into_iter().chain(line.split_whitespace()))
            .map(|line| line.arguments.options())
    }

    #[test]
    fn defaults_are_those_of_the_lab() {
        assert_eq!(options("").unwrap(), Options::default());
    }

    #[test]
    fn every_argument_reaches_the_options() {
        let line = "--device mt29f1g01abafd --blocks 64 --timing maximum --writes zipf,mix \
                    --fill 50%,95% --streams one,given+aged --count 4 --mixed --seed 9";
        let expected = Options {
            device: "mt29f1g01abafd".into(),
            blocks: Some(64),
            timing: Timing::Maximum,
            writes: vec![Writes::Zipf, Writes::Mix],
            fills: vec![0.5, 0.95],
            ways: vec![Way::One, Way::GivenAged],
            streams: 4,
            mixed: true,
            seed: 9,
            ..Options::default()
        };
        assert_eq!(options(line).unwrap(), expected);
    }

    #[test]
    fn the_study_has_a_device_of_its_own() {
        let study = |line: &str| {
            Line::try_parse_from(["streams"].into_iter().chain(line.split_whitespace()))
                .map(|line| line.arguments.study_options())
        };
        assert_eq!(study("--study").unwrap(), StudyOptions::default());
        let smaller =
            StudyOptions { blocks: 192, passes: Some(2), seed: 3, ..StudyOptions::default() };
        assert_eq!(study("--study --blocks 192 --passes 2 --seed 3").unwrap(), smaller);
        for line in
            ["--study --device emmc-like", "--study --fill 50%", "--passes 2", "--study --passes 0"]
        {
            assert_eq!(study(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }

    #[test]
    fn unknown_names_are_usage_errors_that_name_the_known_ones() {
        for (line, known) in [
            ("--writes zip", "zipf"),
            ("--streams auto", "automatic"),
            ("--count 7", "from 2 to 4"),
        ] {
            let error = options(line).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(known), "{error}");
        }
    }

    #[test]
    fn help_names_everything_that_is_written() {
        assert!(Writes::ALL.iter().all(|writes| AFTER_HELP.contains(writes.name())));
    }
}
