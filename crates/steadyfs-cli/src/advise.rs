//! `steady advise`: recommends settings for a chip, a size and a workload, from runs that the
//! command makes itself.

use crate::Failure;
use crate::chip::{DriverArgument, timings};
use crate::output::print;
use crate::progress::Progress;
use crate::seed::SeedArgument;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use steadyfs::media::Geometry;
use steadyfs_lab::advise::{self, Options, Workload};
use steadyfs_lab::evaluate::{Timing, find_profile};
use steadyfs_lab::table::paragraph;
use steadyfs_lab::units::{format_size, parse_percent, parse_size};
use steadyfs_sim::{Chip, Profile};

/// Arguments of `steady advise`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Device profile: a name (see `steady devices`) or a file in TOML [default: asked for]
    #[arg(long, value_name = "NAME|FILE.toml", value_parser = crate::device::raw_flash)]
    device: Option<String>,
    /// Bytes of the chip to use, from its beginning [default: asked for, or all]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_size)]
    size: Option<u64>,
    /// Workload of the device [default: asked for]
    #[arg(long, value_name = "NAME", value_parser = workloads())]
    workload: Option<Workload>,
    /// Share of these bytes that data takes
    #[arg(
        long,
        value_name = "PERCENT",
        allow_hyphen_values = true,
        default_value = "50%",
        value_parser = parse_percent
    )]
    fill: f64,
    /// Times of the simulated chip
    #[arg(long, default_value = "typical", value_parser = timings())]
    timing: Timing,
    #[command(flatten)]
    driver: DriverArgument,
    /// Share of the usual length of the runs: less takes less time, and measures rare cases less
    /// well
    #[arg(
        long,
        value_name = "PERCENT",
        allow_hyphen_values = true,
        default_value = "100%",
        value_parser = effort
    )]
    effort: f64,
    #[command(flatten)]
    seed: SeedArgument,
}

const AFTER_HELP: &str = "\
Workloads:
  log             durable records of 64 B; after 16 KiB, a new file replaces the old one
  overwrite       durable overwrites of 4 KiB at random places
  configuration   durable changes of files of 200 B, in place
  files           files of 16 KiB written by 256 B, durable when they are closed
The command tries every combination of erase block, logical page, overlay and cache that the chip
takes and that holds the data. Each combination runs on a simulated chip that was filled and
overwritten. The advice is the combination with the least RAM x time. Time is the time of the chip
alone.

Examples:
  steady advise --device w25q128jv --size 1MiB --workload log";

/// Reads a share that is more than nothing.
fn effort(text: &str) -> Result<f64, String> {
    match parse_percent(text) {
        Ok(0.0) => Err("expected more than 0%".to_string()),
        read => read.map_err(|error| error.to_string()),
    }
}

/// Reads the name of a workload; clap lists the names and suggests the nearest.
fn workloads() -> impl TypedValueParser<Value = Workload> {
    PossibleValuesParser::new(Workload::ALL.map(|(name, _)| name))
        .try_map(|name| Workload::named(&name).ok_or("no such workload"))
}

/// Runs `steady advise`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let options = if io::stdin().is_terminal() {
        arguments.options(&mut io::stdin().lock(), &mut io::stderr())?
    } else {
        arguments.options(&mut io::empty(), &mut io::sink())?
    };
    let bar = Mutex::new(Progress::of(1, ""));
    let tell = |share: f64, what: &str| {
        bar.lock().unwrap_or_else(PoisonError::into_inner).set(share, what)
    };
    let advice = advise::run(&options, &tell);
    drop(bar);
    let advice = advice.map_err(Failure::measuring)?;
    let profile = find_profile(&options.device).map_err(Failure::measuring)?;
    let text = advice.text();
    print(&match blocks(&profile, advice.choice.setting.block_bytes, &advice.geometry) {
        Some((rust, c)) => {
            text.replacen("In Rust:\n\n", &format!("In Rust:\n\n{}\n", comment(&rust)), 1).replacen(
                "In C:\n\n",
                &format!("In C:\n\n{}\n", paragraph(&format!("/* {c} */"), 3)),
                1,
            )
        }
        None => text,
    })
}

/// Returns a sentence as a comment in Rust.
fn comment(sentence: &str) -> String {
    paragraph(&format!("// {sentence}"), 3).replace("\n   ", "\n// ")
}

/// Returns a sentence for a driver in Rust and one for a driver in C: how to make blocks of the
/// recommended size. Returns `None` if a block is one block of the NAND chip.
fn blocks(profile: &Profile, block_bytes: u32, geometry: &Geometry) -> Option<(String, String)> {
    let Chip::Nor(nor) = &profile.chip else {
        let joined = geometry.pages_per_block / profile.nand()?.geometry().pages_per_block;
        let line = format!("A block is {joined} blocks of the chip: the driver shows them as one.");
        return (joined > 1).then(|| (line.clone(), line));
    };
    let sector_bytes = nor
        .erases
        .iter()
        .map(|erase| erase.bytes)
        .filter(|bytes| block_bytes.is_multiple_of(*bytes))
        .max()?;
    let (group, size) = (block_bytes / sector_bytes, format_size(sector_bytes.into()));
    let kept = "Keep both values in every later firmware.";
    Some(if group == 1 {
        let c = format!(
            "A block is an erase of {size}: .erase_bytes = {sector_bytes} in the driver, \
             .group_sectors = 1 in the settings. {kept}"
        );
        (format!("A block is an erase of {size} of the driver."), c)
    } else {
        let c = format!(
            "A block is {group} sectors of {size}: .erase_bytes = {sector_bytes} in the driver, \
             .group_sectors = {group} in the settings. {kept}"
        );
        (
            format!(
                "A block is {group} sectors of {size}: the driver goes into \
                 Groups::new(driver, {group}), and this into NorPages."
            ),
            c,
        )
    })
}

impl Arguments {
    /// Returns the options of the run; asks for each missing argument.
    fn options(
        &self,
        answers: &mut impl BufRead,
        questions: &mut impl Write,
    ) -> Result<Options, Failure> {
        let mut ask = |option: &str, question: &str| ask(answers, questions, option, question);
        let device = match &self.device {
            Some(device) => device.clone(),
            None => ask("--device", "Chip, a name of `steady devices` or a file in TOML")?,
        };
        find_profile(&device).map_err(Failure::measuring)?;
        let workload = match self.workload {
            Some(workload) => workload,
            None => {
                let names = Workload::ALL.map(|(name, _)| name).join(", ");
                let answer = ask("--workload", &format!("Workload: {names}"))?;
                let wrong = || {
                    Failure::usage(format!("found `{answer}`, expected a workload: one of {names}"))
                };
                Workload::named(&answer).ok_or_else(wrong)?
            }
        };
        // If both other options are on the command line, a missing size means the whole chip.
        let is_asked = self.size.is_none() && (self.device.is_none() || self.workload.is_none());
        let size_bytes = match is_asked
            .then(|| ask("--size", "Bytes to use, such as 1MiB, or all"))
            .transpose()?
        {
            None => self.size,
            Some(answer) if answer == "all" => None,
            Some(answer) => Some(parse_size(&answer).map_err(Failure::usage)?),
        };
        Ok(Options {
            size_bytes,
            fill: self.fill,
            timing: self.timing,
            call_us: self.driver.call_us,
            effort: self.effort,
            seed: self.seed.seed,
            ..Options::new(&device, workload)
        })
    }
}

/// Asks a question. If there is no answer, the error names the missing option.
fn ask(
    answers: &mut impl BufRead,
    questions: &mut impl Write,
    option: &str,
    question: &str,
) -> Result<String, Failure> {
    let mut answer = String::new();
    let asked = write!(questions, "{question}: ")
        .and_then(|()| questions.flush())
        .and_then(|()| answers.read_line(&mut answer));
    match asked {
        Ok(1..) if !answer.trim().is_empty() => Ok(answer.trim().to_string()),
        _ => Err(Failure::usage(format!(
            "{option} is missing; expected {}{}",
            question[..1].to_lowercase(),
            &question[1..]
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    type Line = crate::line::Line<Arguments>;

    fn options(line: &str, answers: &str) -> Result<Options, String> {
        let line = Line::try_parse_from(["advise"].into_iter().chain(line.split_whitespace()))
            .map_err(|error| error.to_string())?;
        line.arguments
            .options(&mut answers.as_bytes(), &mut io::sink())
            .map_err(|failure| failure.sentence)
    }

    #[test]
    fn what_is_not_given_is_asked_for() {
        let asked = options("", "w25q128jv\nlog\n1MiB\n").unwrap();
        assert_eq!(asked, options("--device w25q128jv --size 1MiB --workload log", "").unwrap());
        assert_eq!(asked.size_bytes, Some(1 << 20));
        assert_eq!(options("--device w25q128jv --workload files", "").unwrap().size_bytes, None);
    }

    /// The printed code for 4 KiB sectors did not mention groups. A driver of plain sectors has
    /// blocks of another size.
    #[test]
    fn a_driver_is_told_how_blocks_are_made() {
        let told = |chip: &str, block_bytes, geometry| {
            blocks(&Profile::named(chip).unwrap(), block_bytes, &geometry)
        };
        let (rust, c) = told("w25q128jv", 8192, Geometry::of_nor(8192, 256)).unwrap();
        assert!(rust.contains("Groups::new(driver, 2)"), "{rust}");
        assert!(c.contains(".erase_bytes = 4096 ") && c.contains(".group_sectors = 2 "), "{c}");
        let (rust, c) = told("w25q128jv", 65_536, Geometry::of_nor(65_536, 256)).unwrap();
        assert!(!rust.contains("Groups") && c.contains(".erase_bytes = 65536 "), "{rust}\n{c}");
        let nand = Profile::named("mt29f1g01abafd").unwrap().nand().unwrap().geometry();
        assert_eq!(told("mt29f1g01abafd", 0, nand), None);
        let small = Profile::named("k9f1208u0").unwrap().nand().unwrap().geometry();
        let joined = Geometry {
            pages_per_block: 2 * small.pages_per_block,
            block_count: small.block_count / 2,
            ..small
        };
        assert!(
            told("k9f1208u0", 0, joined).unwrap().0.starts_with("A block is 2 blocks of the chip")
        );
    }

    #[test]
    fn what_nobody_answers_is_named() {
        assert!(
            options("", "")
                .unwrap_err()
                .starts_with("--device is missing; expected chip, a name of")
        );
        let error = options("--device w25q128jv", "logs\n").unwrap_err();
        assert_eq!(
            error,
            "found `logs`, expected a workload: one of log, overwrite, configuration, files"
        );
        assert!(options("--device w25q", "").unwrap_err().contains("w25q128jv"));
    }
}
