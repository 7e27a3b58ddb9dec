//! `steady compare`: SteadyFS and its peers on the same simulated chips.

use crate::Failure;
use crate::chip::DriverArgument;
use crate::output::{Outputs, check_file, write_file};
use crate::progress::Progress;
use crate::seed::SeedArgument;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use steadyfs_compare::{
    AnyEntrant, Board, CompareReport, Comparison, Cpu, Options, contenders, kept,
};
use steadyfs_lab::bench::Case;

/// Arguments of `steady compare`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Measure every built-in contender, and add the kept results of the others
    #[arg(long, conflicts_with_all = ["contender", "case", "device"])]
    all: bool,
    /// Contenders to measure, separated by commas [default: all that are built in]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = contender)]
    contender: Vec<String>,
    /// Cases to measure, separated by commas: the cases of `steady bench`, or cuts [default: all]
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(case_names()),
        hide_possible_values = true
    )]
    case: Vec<String>,
    /// Boards, separated by commas [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = board)]
    device: Vec<Board>,
    /// Power cuts for each contender on each board; 0 for none
    #[arg(
        long,
        value_name = "COUNT",
        allow_hyphen_values = true,
        default_value_t = 1_000,
        value_parser = crate::number::within::<u32>(0..=1_000_000)
    )]
    cuts: u32,
    /// Chip time in seconds after which a case ends before its last step
    #[arg(
        long,
        value_name = "SECONDS",
        allow_hyphen_values = true,
        default_value_t = 600,
        value_parser = crate::number::within::<u64>(1..=86_400)
    )]
    patience: u64,
    #[command(flatten)]
    driver: DriverArgument,
    /// Add processor time to the cases with counted instructions: cortex-m3 and its clock, such as
    /// cortex-m3@72MHz [default: flash time alone]
    #[arg(long, value_name = "NAME@CLOCK")]
    cpu: Option<Cpu>,
    #[command(flatten)]
    seed: SeedArgument,
    /// Measure nothing: show the kept results
    #[arg(long, conflicts_with_all = ["all", "contender", "keep"])]
    kept: bool,
    /// Directory of kept results, a file for each contender [default: bench/results, if it
    /// exists]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Write the measured results to files of a directory, in the form of --results
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE.md", value_parser = crate::output::file)]
    markdown: Option<PathBuf>,
    #[command(flatten)]
    outputs: Outputs,
}

const AFTER_HELP: &str = "\
Expected is --all, --kept, or a choice: --contender, --case or --device. --all measures everything,
without a choice. All contenders get the same chips, the same clock and the same power cuts. If a
contender cannot run a case, the table has the reason. Contenders in C are built with
`--features peers`, from the directory that STEADY_PEERS names (docs/results/contenders.md);
otherwise their kept results are shown.

Examples:
  steady compare --all --report compare.html
  steady compare --device nor --case append-64,replace-rename
  steady compare --contender fat-on-disk --case cuts --cuts 10000
  steady compare --kept --report compare.html
  steady compare --kept --cpu cortex-m3@72MHz";

/// Finished weights of cases, and the share of the time: `--all` without contenders in C, on two
/// cores.
pub const COURSE: &[(f64, f64)] = &[
    (0.64, 0.11),
    (0.72, 0.16),
    (0.80, 0.40),
    (0.85, 0.46),
    (0.89, 0.54),
    (0.90, 0.60),
    (0.91, 0.79),
    (0.95, 0.86),
    (0.98, 0.89),
    (0.99, 0.92),
];

/// The same for one contender, SteadyFS.
pub const COURSE_OF_ONE: &[(f64, f64)] = &[
    (0.48, 0.19),
    (0.60, 0.24),
    (0.70, 0.39),
    (0.80, 0.53),
    (0.89, 0.71),
    (0.92, 0.80),
    (0.95, 0.93),
];

/// The directory of kept results in a clone of the repository.
const RESULTS: &str = "bench/results";
/// The name of the power cuts among the cases.
const CUTS: &str = "cuts";

/// Returns all contenders that this command was built with.
fn entrants() -> Vec<Box<dyn AnyEntrant>> {
    #[allow(unused_mut, reason = "without the feature there is nothing to add")]
    let mut all = contenders::all();
    #[cfg(feature = "peers")]
    all.extend(steadyfs_peers::all());
    all
}

/// Reads the name of a contender.
fn contender(name: &str) -> Result<String, String> {
    let names: Vec<_> = entrants().iter().map(|entrant| entrant.facts().id).collect();
    let is_known = names.iter().any(|known| known == name);
    if is_known {
        Ok(name.to_string())
    } else {
        Err(format!("no such contender is built in; expected one of {}", names.join(", ")))
    }
}

fn case_names() -> Vec<&'static str> {
    Case::names().into_iter().chain([CUTS]).collect()
}

/// Reads the name of a board.
fn board(name: &str) -> Result<Board, String> {
    let known = Board::all().into_iter().find(|board| board.id == name);
    known.ok_or_else(|| format!("no such board; expected one of {}", Board::names().join(", ")))
}

/// Runs `steady compare`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.outputs.check()?;
    arguments.markdown.iter().try_for_each(|path| check_file(path))?;
    if !(arguments.all || arguments.kept || arguments.is_a_part()) {
        return Err(Failure::usage(
            "nothing to compare is named; expected --all, --kept, or one of --contender, --case \
             and --device",
        ));
    }
    if arguments.driver.call_us > 0 && (arguments.kept || arguments.keep.is_some()) {
        return Err(Failure::usage(
            "--call-us: the kept results are of the flash alone; expected neither --kept nor --keep",
        ));
    }
    let directory = arguments.results.clone().unwrap_or_else(|| RESULTS.into());
    let is_there = directory.is_dir();
    if (arguments.results.is_some() || arguments.kept) && !is_there {
        return Err(Failure::at(
            directory.display(),
            "no such directory; expected one that --keep wrote, named by --results",
        ));
    }
    let earlier = if is_there { kept::read(&directory).map_err(Failure::new)? } else { Vec::new() };

    let options = arguments.options();
    let mut comparison = arguments.measure(&options)?;
    if arguments.contender.is_empty() && arguments.driver.call_us == 0 {
        comparison.add_kept(earlier.into_iter().map(|(_, kept)| kept).collect());
        comparison.retain_cases(&options.cases, options.cuts > 0);
    }
    if arguments.kept && comparison.entries.is_empty() {
        return Err(Failure::at(
            directory.display(),
            "holds no results of this seed; expected results that --keep writes",
        ));
    }
    if let Some(directory) = &arguments.keep {
        kept::write(&comparison, directory).map_err(Failure::new)?;
    }
    // After --keep: kept results are of the flash alone.
    if let Some(cpu) = &arguments.cpu {
        comparison.add_processor(cpu.clone());
    }
    if let Some(path) = &arguments.markdown {
        write_file(path, &comparison.markdown())?;
    }
    arguments.outputs.write(&comparison, || CompareReport::of(&comparison))?;
    match comparison.failures().as_slice() {
        [] => Ok(()),
        failures => Err(Failure::new(failures.join("; "))),
    }
}

impl Arguments {
    /// Returns true if the arguments select contenders, cases or devices.
    fn is_a_part(&self) -> bool {
        !(self.contender.is_empty() && self.case.is_empty() && self.device.is_empty())
    }

    /// Returns the chosen boards, with the chosen driver.
    fn boards(&self) -> Vec<Board> {
        let boards = if self.device.is_empty() { Board::all() } else { self.device.clone() };
        let call_us = self.driver.call_us;
        boards.into_iter().map(|board| Board { call_us, ..board }).collect()
    }

    fn options(&self) -> Options {
        let named: Vec<Case> = self.case.iter().filter_map(|name| Case::named(name)).collect();
        let wants_cuts = self.case.is_empty() || self.case.iter().any(|name| name == CUTS);
        Options {
            boards: self.boards(),
            cases: if self.case.is_empty() { Case::all() } else { named },
            cuts: if wants_cuts { self.cuts } else { 0 },
            patience_s: self.patience,
            seed: self.seed.seed,
        }
    }

    /// Measures the selected contenders. With `--kept`, measures none.
    fn measure(&self, options: &Options) -> Result<Comparison, Failure> {
        let is_wanted = |entrant: &dyn AnyEntrant| {
            self.contender.is_empty() || self.contender.contains(&entrant.facts().id)
        };
        let wanted: Vec<_> = if self.kept {
            Vec::new()
        } else {
            entrants().into_iter().filter(|entrant| is_wanted(entrant.as_ref())).collect()
        };
        let course: &[(f64, f64)] = match (self.case.is_empty(), self.contender.is_empty()) {
            (true, true) => COURSE,
            (true, false) => COURSE_OF_ONE,
            // The cases differ too much.
            (false, _) => &[],
        };
        let bar = Mutex::new(Progress::of(1, "").on_course(course));
        let tell = |share: f64, name: &str| {
            bar.lock().unwrap_or_else(PoisonError::into_inner).set(share, name)
        };
        let comparison = steadyfs_compare::run(&wanted, options, &tell);
        drop(bar);
        comparison.map_err(Failure::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    type Line = crate::line::Line<Arguments>;

    fn options(line: &str) -> Result<Options, clap::Error> {
        Line::try_parse_from(["compare"].into_iter().chain(line.split_whitespace()))
            .map(|line| line.arguments.options())
    }

    #[test]
    fn defaults_are_those_of_the_comparison() {
        assert_eq!(options("--all").unwrap(), Options::default());
    }

    #[test]
    fn every_argument_reaches_the_options() {
        let found =
            options("--device nor --case open,cuts --cuts 7 --patience 9 --seed 3").unwrap();
        let boards = Board::all().into_iter().filter(|board| board.id == "nor").collect();
        let expected = Options {
            boards,
            cases: vec![Case::named("open").unwrap()],
            cuts: 7,
            patience_s: 9,
            seed: 3,
        };
        assert_eq!(found, expected);
        assert_eq!(options("--case open").unwrap().cuts, 0, "cuts were not asked for");
    }

    #[test]
    fn unknown_names_are_usage_errors_that_name_the_known_ones() {
        for (line, known) in
            [("--device nano", "nand"), ("--contender steady", "steadyfs"), ("--case opn", "open")]
        {
            let error = options(line).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(known), "{error}");
        }
    }
}
