//! `steady boards`: published measurements of real boards beside the lab.

use crate::Failure;
use crate::output::{check_file, print, write_file};
use clap::Args;
use std::path::PathBuf;
use steadyfs_compare::boards::{
    KeptRuns, Makers, Plan, Run, Settings, markdown, measure, standings,
};
use steadyfs_compare::{AnyEntrant, Facts, contenders};
use steadyfs_lab::table::{Align, table};

/// Arguments of `steady boards`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Runs, separated by commas [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    run: Vec<String>,
    /// Measurements of your own boards, in the form of crates/steadyfs-compare/assets/boards.toml
    /// [default: the built-in ones]
    #[arg(long, value_name = "FILE.toml", requires = "measure")]
    plan: Option<PathBuf>,
    /// Measure again: needs contenders in C, which `--features peers` builds
    /// (docs/results/contenders.md) [default: the kept results]
    #[arg(long)]
    measure: bool,
    /// Write the results, with the measured runs in place of the kept ones
    #[arg(long, value_name = "FILE.json", value_parser = crate::output::file)]
    keep: Option<PathBuf>,
    /// Write the page, as docs/results/boards.md
    #[arg(long, value_name = "FILE.md", value_parser = crate::output::file)]
    markdown: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Each row has a published figure of a real board, and the figure of the same work on a simulated
chip. A prediction uses the datasheet alone. A calibration uses one other figure of the board, which
is marked as `itself`. docs/results/boards.md has the sources and conditions.

Examples:
  steady boards
  steady boards --run esp-littlefs-512,teensy-260
  steady boards --markdown docs/results/boards.md";

/// Makes the contenders that this command was built with.
struct BuiltIn;

impl Makers for BuiltIn {
    fn make(&self, system: &str, settings: &Settings) -> Option<Box<dyn AnyEntrant>> {
        if system == "raw" {
            return Some(Box::new(contenders::Raw));
        }
        #[cfg(feature = "peers")]
        let found = steadyfs_peers::tuned(system, settings);
        #[cfg(not(feature = "peers"))]
        let found = {
            let _ = (system, settings);
            None
        };
        found
    }
}

/// Runs `steady boards`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    for path in arguments.keep.iter().chain(&arguments.markdown) {
        check_file(path)?;
    }
    let plan = arguments.plan()?;
    let mut kept =
        if arguments.plan.is_some() { KeptRuns::default() } else { KeptRuns::built_in() };
    let is_wanted = |run: &&Run| arguments.run.is_empty() || arguments.run.contains(&run.id);
    if arguments.measure {
        for run in plan.run.iter().filter(is_wanted) {
            let result = measure(run, &BuiltIn)
                .map_err(|reason| Failure::new(format!("{}: {reason}", run.id)))?;
            if let Some(entrant) = BuiltIn.make(&run.system, &Settings::default()) {
                let Facts { name, version, .. } = entrant.facts();
                kept.versions.extend((run.system != "raw").then_some((name, version)));
            }
            kept.runs.insert(run.id.clone(), result);
        }
    }
    if let Some(path) = &arguments.keep {
        write_file(path, &kept.text())?;
    }
    if let Some(path) = &arguments.markdown {
        write_file(path, &markdown(&plan, &kept))?;
    }
    print(&rows(&plan, &kept, |run| is_wanted(&run)))
}

impl Arguments {
    /// Returns the plan, which has the wanted runs.
    fn plan(&self) -> Result<Plan, Failure> {
        let plan = match &self.plan {
            None => Plan::built_in(),
            Some(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|error| Failure::at(path.display(), error))?;
                Plan::from_toml(&text).map_err(|error| Failure::at(path.display(), error))?
            }
        };
        match self.run.iter().find(|name| plan.run(name).is_none()) {
            None => Ok(plan),
            Some(name) => {
                let names: Vec<_> = plan.run.iter().map(|run| run.id.as_str()).collect();
                Err(Failure::usage(format!(
                    "no run `{name}`; expected one of {}",
                    names.join(", ")
                )))
            }
        }
    }
}

fn rows(plan: &Plan, kept: &KeptRuns, is_wanted: impl Fn(&Run) -> bool) -> String {
    let head = ["Run", "Figure", "Published", "Simulated", "Ratio", "Basis"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for standing in standings(plan, kept).iter().filter(|standing| is_wanted(standing.run)) {
        let unit = |value| standing.figure.measure.text(value);
        rows.push(vec![
            standing.run.id.clone(),
            standing.figure.what.clone(),
            unit(standing.figure.published),
            standing.simulated.map_or("not measured".to_string(), unit),
            standing.ratio().map_or(String::new(), |ratio| format!("{ratio:.2}")),
            standing.basis.to_string(),
        ]);
    }
    let align = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Left];
    table(&rows, &align)
}
