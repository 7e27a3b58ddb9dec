//! The arguments of `steady evaluate`.

use crate::chip::ChipArguments;
use crate::output::Outputs;
use crate::seed::SeedArgument;
use clap::Args;
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use std::ffi::OsString;
use std::path::PathBuf;
use steadyfs_lab::evaluate::{DEFAULT_BURST_BYTES, DEFAULT_RATES, Idle, Options, Workload};
use steadyfs_lab::units::{parse_duration, parse_percent, parse_rate, parse_write_size};

/// Arguments of `steady evaluate`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    #[command(flatten)]
    chip: ChipArguments,
    /// Share of the usable space in use
    #[arg(
        long,
        value_name = "SHARE",
        allow_hyphen_values = true,
        default_value = "80%",
        value_parser = parse_percent
    )]
    fill: f64,
    /// Number of accesses to measure
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 20_000,
        value_parser = crate::number::within::<u64>(Options::ACCESSES.range())
    )]
    accesses: u64,
    /// Bytes of each write [default: 4KiB, or 64 in a log]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_write_size)]
    write: Option<u64>,
    /// Input rate to compute the buffer for; may be repeated [default: 100kB/s, 500kB/s, 1MB/s
    /// and 2MB/s]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = parse_rate)]
    rate: Vec<u64>,
    /// Kind of writes
    #[arg(long, default_value = "random", value_parser = workloads())]
    workload: Workload,
    #[command(flatten)]
    seed: SeedArgument,
    /// Idle time before each burst, such as 20ms; the volume works ahead during it, and never
    /// longer
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_duration)]
    idle: Option<u64>,
    /// Bytes of a burst [default: 256KiB]
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        value_parser = parse_write_size,
        requires = "idle"
    )]
    burst: Option<u64>,
    /// Access times of another file system for the same writes on the same chip. They stand
    /// beside these, under LABEL or the name of the file; up to three
    #[arg(
        long,
        value_name = "[LABEL=]TRACE.csv",
        allow_hyphen_values = true,
        value_parser = OsStringValueParser::new().try_map(PeerTrace::parse)
    )]
    pub beside: Vec<PeerTrace>,
    /// Write the access times as CSV, which `steady replay` reads
    #[arg(long, value_name = "FILE.csv", value_parser = crate::output::file)]
    pub trace: Option<PathBuf>,
    /// Tables, JSON, HTML and SVG.
    #[command(flatten)]
    pub outputs: Outputs,
}

const AFTER_HELP: &str = "\
Workloads: random and hot (90 % of writes to a tenth) overwrite a file. append grows a file. log
drops its oldest data as it grows. adversary always overwrites the place where reclaiming space
costs most. adversary-append appends small records to several files. Outside of the measurement, it
prepares each append so that it takes long and comes near the bound.

The chip's limit is the cost of the same writes in a log at the same fill, with its map in RAM and
free metadata. It includes the moves and erases of reclamation, but no more than the run had.

With --idle, the volume gets the number of pages that the next burst programs (a page for each
smaller write), and may work ahead. All numbers are about the accesses; idle work is counted apart.
The buffer is computed over the accesses, one burst after the other: no data comes in during idle
time, and data that a burst leaves in the buffer waits for the next burst. The row \"without\" is
the same workload just before, without idle time.

With --beside, a row and a throughput of the other file system follow the row and throughput of the
run. --svg also writes the figure beside.svg of all of them, with a logarithmic axis if they differ
by more than a decade. The trace has the format of `steady replay`. The text before a first `=` is
the label, unless it has a `/`.

Examples:
  steady evaluate --device w25q128jv --size 1MiB
  steady evaluate --fill 80% --rate 1MB/s --report run.html --json run.json
  steady evaluate --idle 100ms --burst 256KiB
  steady evaluate --beside 'FatFs on Dhara=docs/peers/fatfs-on-dhara.csv' \
    --beside littlefs=docs/peers/littlefs.csv --svg figures";

/// The access times of another file system: a label and a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerTrace {
    /// The label; `None`: the name of the file.
    pub label: Option<String>,
    /// The file of the trace.
    pub path: PathBuf,
}

impl PeerTrace {
    /// Reads `TRACE.csv` or `LABEL=TRACE.csv`. A label has no `/`, so that every file can be
    /// named: `./a=b.csv`.
    fn parse(text: OsString) -> Result<PeerTrace, &'static str> {
        let labelled = text
            .to_str()
            .and_then(|text| text.split_once('='))
            .filter(|(label, _)| !label.contains('/'));
        match labelled.map(|(label, path)| (label.trim(), path)) {
            Some(("", _)) => Err("the label is empty, expected LABEL=TRACE.csv or TRACE.csv"),
            Some((_, "")) => Err("the file is missing, expected LABEL=TRACE.csv"),
            Some((label, path)) => {
                Ok(PeerTrace { label: Some(label.to_string()), path: path.into() })
            }
            None => Ok(PeerTrace { label: None, path: text.into() }),
        }
    }
}

/// Reads the name of a workload.
pub fn workloads() -> impl TypedValueParser<Value = Workload> {
    PossibleValuesParser::new(Workload::NAMES.map(|(name, _)| name))
        .try_map(|name| name.parse::<Workload>())
}

impl Arguments {
    /// Returns the options of the run in the lab's type.
    pub fn options(&self) -> Options {
        Options {
            device: self.chip.device.clone(),
            fill: self.fill,
            accesses: self.accesses,
            write_bytes: self.write.unwrap_or_else(|| self.workload.default_write_bytes()),
            rates: if self.rate.is_empty() { DEFAULT_RATES.to_vec() } else { self.rate.clone() },
            part: self.chip.part(),
            workload: self.workload,
            seed: self.seed.seed,
            idle: self.idle.map(|idle_ns| Idle {
                idle_ns,
                burst_bytes: self.burst.unwrap_or(DEFAULT_BURST_BYTES),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use steadyfs_lab::evaluate::{Part, Timing};

    type Line = crate::line::Line<Arguments>;

    fn options(line: &[&str]) -> Result<Options, clap::Error> {
        Line::try_parse_from(std::iter::once(&"evaluate").chain(line))
            .map(|line| line.arguments.options())
    }

    #[test]
    fn defaults_are_those_of_the_lab() {
        assert_eq!(options(&[]).unwrap(), Options::default());
    }

    #[test]
    fn every_argument_reaches_the_options() {
        let line = "--device w25q128jv --size 2MiB --erase-block 4KiB --fill 0.5 \
            --accesses 7 --write 512 --rate 1MB/s \
            --rate 64kB/s --timing maximum --call-us 20 --workload adversary --seed 9 \
            --idle 1.5ms --burst 64KiB";
        let expected = Options {
            device: "w25q128jv".into(),
            fill: 0.5,
            accesses: 7,
            write_bytes: 512,
            rates: vec![1_000_000, 64_000],
            part: Part {
                size_bytes: Some(2 << 20),
                erase_block_bytes: Some(4096),
                timing: Timing::Maximum,
                call_us: 20,
            },
            workload: Workload::Adversary,
            seed: 9,
            idle: Some(Idle { idle_ns: 1_500_000, burst_bytes: 65_536 }),
        };
        assert_eq!(options(&line.split_whitespace().collect::<Vec<_>>()).unwrap(), expected);
    }

    #[test]
    fn peer_has_a_label_or_is_named_by_its_file() {
        let beside = |text: &str| {
            let line = Line::try_parse_from(["evaluate", "--beside", text]).unwrap();
            let [peer] = &line.arguments.beside[..] else { panic!("one peer") };
            (peer.label.clone(), peer.path.to_str().unwrap().to_string())
        };
        let named = |label: &str, path: &str| (Some(label.to_string()), path.to_string());
        assert_eq!(beside("FatFs on Dhara=peers/a.csv"), named("FatFs on Dhara", "peers/a.csv"));
        assert_eq!(beside(" a =b=c.csv"), named("a", "b=c.csv"));
        assert_eq!(beside("peers/a.csv"), (None, "peers/a.csv".to_string()));
        assert_eq!(beside("./a=b.csv"), (None, "./a=b.csv".to_string()));
        assert!(Line::try_parse_from(["evaluate"]).unwrap().arguments.beside.is_empty());
    }

    #[test]
    fn wrong_values_are_usage_errors_that_tell_what_is_right() {
        for (line, part) in [
            (["--fill", "120%"], "from 0% to 100%"),
            (["--rate", "1MB"], "500kB/s"),
            (["--workload", "randm"], "random"),
            (["--accesses", "0"], "1 or more"),
            (["--accesses", "-1"], "1 or more"),
            (["--device", "mt29"], "w25q128jv"),
            (["--device", "sd-industrial"], "is a card; this command takes raw flash"),
            (["--svg", "-"], "expected a directory"),
            (["--report", "-"], "expected the name of a file"),
            (["--idle", "20"], "unit is missing"),
            (["--burst", "4KiB"], "--idle"),
            (["--beside", "=a.csv"], "label is empty"),
            (["--beside", "a="], "file is missing"),
        ] {
            let error = options(&line).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
