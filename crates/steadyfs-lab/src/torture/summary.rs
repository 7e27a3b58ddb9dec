//! The results of a torture, for people and programs.

use super::Options;
use super::runner::Tally;
use serde::{Serialize, Serializer};
use std::fmt;
use std::time::Duration;

/// The results. As JSON: `cuts`, `torn_cuts`, `double_cuts`, `states`, `faults`, `workloads`,
/// `failures` (strings for `steady torture --replay`), `reasons` (the description of each failure),
/// `mode`, `seed`, `complete`, `seconds`.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Counts of the work, and the failures.
    pub tally: Tally,
    /// True if all requested work was done; `None` if the work has no end.
    pub complete: Option<bool>,
    /// Duration of this invocation.
    pub duration: Duration,
    mode: String,
    seed: u64,
    /// True if only a part of the operations of each workload was cut.
    is_part: bool,
}

impl Summary {
    pub(super) fn new(
        options: &Options,
        tally: Tally,
        complete: Option<bool>,
        duration: Duration,
    ) -> Self {
        Self {
            tally,
            complete,
            duration,
            mode: options.mode.to_string(),
            seed: options.seed,
            is_part: options.share().is_some(),
        }
    }
}

/// Fields of the JSON.
#[derive(Serialize)]
struct Numbers<'s> {
    mode: &'s str,
    seed: u64,
    cuts: u64,
    torn_cuts: u64,
    double_cuts: u64,
    states: u64,
    faults: u64,
    workloads: u64,
    failures: Vec<&'s str>,
    reasons: Vec<&'s str>,
    complete: Option<bool>,
    seconds: f64,
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Tally { cuts, torn_cuts, double_cuts, states, faults, workloads, failures } =
            &self.tally;
        Numbers {
            mode: &self.mode,
            seed: self.seed,
            cuts: *cuts,
            torn_cuts: *torn_cuts,
            double_cuts: *double_cuts,
            states: *states,
            faults: *faults,
            workloads: *workloads,
            failures: failures.iter().map(|failure| failure.replay.as_str()).collect(),
            reasons: failures.iter().map(|failure| failure.what.as_str()).collect(),
            complete: self.complete,
            seconds: (self.duration.as_secs_f64() * 10.0).round() / 10.0,
        }
        .serialize(serializer)
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { cuts, torn_cuts, double_cuts, states, faults, workloads, failures } =
            &self.tally;
        let rows = [
            ("power cuts", cuts, "in programs, copies and erases"),
            ("  torn", torn_cuts, "that left a page or block neither old nor new"),
            ("  double", double_cuts, "during a recovery or the calls just after it"),
            (
                "states",
                states,
                "compared with the expected state, file by file or sector by sector",
            ),
            ("faults", faults, "beside the cuts: operations that failed, bad blocks"),
            ("workloads", workloads, ""),
        ];
        for (name, count, meaning) in rows {
            let line = format!("{name:<12}{count:>12}  {meaning}");
            writeln!(f, "{}", line.trim_end())?;
        }
        writeln!(f, "{:<12}{:>12}", "failures", failures.len())?;
        for failure in failures {
            writeln!(
                f,
                "\n{}\n  replay: steady torture --replay {}",
                failure.what.trim(),
                failure.replay
            )?;
        }
        let end = match self.complete {
            Some(true) => "all runs are done",
            Some(false) => "stopped before all runs were done",
            None if self.is_part => "a part of each workload; more cuts meet all of it",
            None => "seeds go on without end",
        };
        writeln!(
            f,
            "\n{} from seed {}, {:.1} s: {end}",
            self.mode,
            self.seed,
            self.duration.as_secs_f64()
        )
    }
}
