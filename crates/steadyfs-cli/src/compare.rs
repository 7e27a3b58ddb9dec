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
use steadyfs_lab::units::parse_size;

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
    /// Boards, separated by commas: nor, nor-16, nand, or a device as in `steady devices` or a file
    /// in TOML [default: all boards]
    #[arg(long, value_name = "NAME|FILE.toml,…", value_delimiter = ',', value_parser = board)]
    device: Vec<String>,
    /// Bytes of each named board or device to use, from its beginning [default: all]
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        value_parser = parse_size,
        requires = "device"
    )]
    size: Option<u64>,
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
  steady compare --device w25q16jv --size 1MiB --case append-64
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

/// Reads the name of a board or of a device.
fn board(name: &str) -> Result<String, String> {
    match Board::all().iter().any(|board| board.id == name) {
        true => Ok(name.to_string()),
        false => crate::device::raw_flash(name).map_err(|reason| {
            format!("no such board; expected one of {}, or: {reason}", Board::names().join(", "))
        }),
    }
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

    let options = arguments.options()?;
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

    /// Returns the chosen boards, with the chosen size and driver.
    fn boards(&self) -> Result<Vec<Board>, Failure> {
        let all = Board::all();
        let chosen = |name: &String| match (all.iter().find(|board| board.id == *name), self.size) {
            (Some(board), None) => Ok(board.clone()),
            (Some(board), Some(size)) => board.with_size(size),
            (None, size) => Board::of_device(name, size),
        };
        let boards: Vec<Board> = match self.device.as_slice() {
            [] => all.clone(),
            names => {
                names.iter().map(chosen).collect::<Result<_, _>>().map_err(Failure::measuring)?
            }
        };
        let call_us = self.driver.call_us;
        Ok(boards.into_iter().map(|board| Board { call_us, ..board }).collect())
    }

    fn options(&self) -> Result<Options, Failure> {
        let named: Vec<Case> = self.case.iter().filter_map(|name| Case::named(name)).collect();
        let wants_cuts = self.case.is_empty() || self.case.iter().any(|name| name == CUTS);
        Ok(Options {
            boards: self.boards()?,
            cases: if self.case.is_empty() { Case::all() } else { named },
            cuts: if wants_cuts { self.cuts } else { 0 },
            patience_s: self.patience,
            seed: self.seed.seed,
        })
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
            .map(|line| line.arguments.options().expect("boards that exist"))
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
    fn devices_and_sizes_make_boards() {
        let found = options("--device w25q16jv,nor --size 512KiB").unwrap().boards;
        let of = |board: &Board| (board.id.clone(), board.size_bytes, board.options());
        assert_eq!(
            found.iter().map(of).collect::<Vec<_>>(),
            [
                (
                    "w25q16jv, 512 KiB".to_string(),
                    1 << 19,
                    "--device w25q16jv --size 524288".to_string()
                ),
                ("nor, 512 KiB".to_string(), 1 << 19, "--device nor --size 524288".to_string()),
            ]
        );
        let line = "compare --device nor --size 3000001".split_whitespace();
        let parsed = Line::try_parse_from(line).unwrap().arguments.options();
        assert!(parsed.unwrap_err().is_usage, "no whole blocks, and more than the chip");
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
