//! Torture: power that fails in every operation of a workload, again during the recovery, and among
//! other faults.
//!
//! ```text
//!   volume ── a chip and settings ──┐
//!   workload ── steps ──────────────┼── scenario: a volume at work, its steps ── runner: cuts in them ── shrink
//!   fault ── what else goes wrong ──┘             │                                     │
//!                                        model: what must be there              run: the string that replays it
//! ```
//!
//! The oracle ([`model`](crate::model)) contains the acknowledged changes. After each cut, the
//! whole content must be the content of the last commit, or of the commit in flight; nothing
//! between. The content of a [disk](Workload::Disk) must be the effect of a first part of the
//! calls, in their order. This part must include all flushed calls. The text of a run ([`Run`])
//! decides it wholly. A failure is made smaller before it is reported.
//!
//! ```
//! use steadyfs_lab::torture::{self, Options, Workload};
//!
//! let options = Options { workloads: vec![Workload::Log], cuts: Some(100), ..Options::default() };
//! let summary = torture::run(&options, None, &|_| true).unwrap();
//! assert!(summary.tally.cuts >= 100 && summary.tally.failures.is_empty());
//! ```

mod bad_input;
mod caught;
mod face;
mod failure;
mod fault;
mod plan;
mod pool;
mod run;
mod runner;
mod scenario;
mod sectors;
mod shrink;
mod stage;
mod state;
mod summary;
mod volume;
mod workload;

pub use bad_input::BadInput;
pub use caught::caught;
pub use failure::Failure;
pub use fault::{Fault, FaultKind};
pub use pool::{Progress, run};
pub use run::{Cut, Run, Span};
pub use runner::Tally;
pub use summary::Summary;
pub use volume::{Chip, Volume};
pub use workload::Workload;

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::Duration;

/// The operations that are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every operation of a workload in every torn state. A second cut follows one in five of these
    /// cuts.
    Every,
    /// Chains of cuts, drawn by the seed.
    Sampled,
    /// Every operation of a workload in every torn state. After each of these cuts, every operation
    /// of the recovery and of the calls after it, in every torn state.
    Exhaustive,
}

/// Options of a torture: the volumes, workloads and faults, and the length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Volumes. Default `small`.
    pub volumes: Vec<Volume>,
    /// Workloads. Default all.
    pub workloads: Vec<Workload>,
    /// Faults beside the cuts, one kind at a time. Default none.
    pub faults: Vec<FaultKind>,
    /// Operations that are cut.
    pub mode: Mode,
    /// The first seed. Each round takes the next.
    pub seed: u64,
    /// Steps of a workload. Default 40, and 80 for chains.
    pub steps: Option<usize>,
    /// Number of cuts after which the rounds end. Without this and `time`, there is one round. If a
    /// round would make many more cuts, each workload is cut in a part of its operations, evenly.
    /// The same number makes the same cuts on any number of threads.
    pub cuts: Option<u64>,
    /// Time after which the rounds end.
    pub time: Option<Duration>,
    /// Number of threads. Default: one for each core.
    pub threads: usize,
    /// Number of failures after which the torture stops.
    pub failures_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            volumes: vec!["small".parse().expect("a name")],
            workloads: Workload::ALL.to_vec(),
            faults: vec![FaultKind::None],
            mode: Mode::Every,
            seed: 1,
            steps: None,
            cuts: None,
            time: None,
            threads: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            failures_max: 5,
        }
    }
}

/// Result of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Mounts, steps and power failures, in order.
    pub story: Vec<String>,
    /// The violation, if there is one.
    pub failure: Option<String>,
    /// Number of cuts that met an operation. It is less than in the string if the volume needs
    /// fewer operations than before.
    pub cuts_met: usize,
}

/// Makes a run again, and returns its story.
pub fn replay(run: &Run) -> Replay {
    let scenario = match scenario::Scenario::of(run) {
        Ok(scenario) => scenario,
        Err(what) => return Replay { story: Vec::new(), failure: Some(what), cuts_met: 0 },
    };
    let (story, result) = scenario.tell(&run.cuts);
    let cuts_met = *result.as_ref().unwrap_or(&run.cuts.len());
    Replay { story, failure: result.err(), cuts_met }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Every => "every",
            Mode::Sampled => "sampled",
            Mode::Exhaustive => "exhaustive",
        })
    }
}

impl FromStr for Mode {
    type Err = BadInput;

    fn from_str(text: &str) -> Result<Self, BadInput> {
        let modes = [Mode::Every, Mode::Sampled, Mode::Exhaustive];
        let found = modes.into_iter().find(|mode| mode.to_string() == text);
        found.ok_or_else(|| {
            BadInput(format!("mode {text:?}: expected every, sampled or exhaustive"))
        })
    }
}
