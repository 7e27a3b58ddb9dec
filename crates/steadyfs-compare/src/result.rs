//! Results of the measurement, in the form for JSON.

use crate::counts::Processor;
use crate::cpu::Cpu;
use crate::entrant::Facts;
use serde::{Deserialize, Serialize};
use steadyfs_lab::backlog;
use steadyfs_lab::bench::{Case, Fault, Figures, Gauge, Row};
use steadyfs_lab::report::downsample;

/// Returns the rates for which tables show RAM, in bytes per second: ten in a decade from 1 kB/s
/// to 10 MB/s.
pub fn rates() -> Vec<u64> {
    (0..=40).map(|tenth| (1e3 * 10_f64.powf(f64::from(tenth) / 10.0)).round() as u64).collect()
}

/// Number of accesses that a figure shows.
const SHOWN: usize = 600;

/// A chip, or a part of it, on which contenders are measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    /// A short name, for options.
    pub id: String,
    /// A title for people.
    pub title: String,
    /// Name of the device profile.
    pub device: String,
    /// Bytes used, from the beginning.
    pub size_bytes: u64,
    /// Bytes of an erase block.
    pub erase_block_bytes: u32,
    /// Bytes used in the cases of wear, which write ten times as many.
    pub wear_bytes: u64,
    /// Bytes used when power is cut.
    pub cut_bytes: u64,
    /// Erases that a block takes, from the profile.
    pub endurance_erases: u32,
    /// Time of the driver for each command, in microseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub call_us: u32,
    /// The options that choose the board, if it is none of the usual boards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<String>,
}

/// Returns true if a number is 0.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// All results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Version of SteadyFS.
    pub version: String,
    /// Seed of places, orders and cuts.
    pub seed: u64,
    /// Chip time in seconds after which warming up, or measuring, ends before its last step.
    pub patience_s: u64,
    /// The chips.
    pub boards: Vec<Board>,
    /// The processor whose time is added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// The contenders.
    pub entries: Vec<Entry>,
}

/// A contender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The facts about the contender.
    pub facts: Facts,
    /// True if it was measured earlier.
    #[serde(default)]
    pub kept: bool,
    /// Its results on each board.
    pub standings: Vec<Standing>,
}

/// A contender on a board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The board.
    pub board: String,
    /// The reason why it is absent, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
    /// Bytes that files can take together.
    pub usable_bytes: u64,
    /// Bytes of RAM, with one file open.
    pub ram_bytes: u64,
    /// The cases.
    pub outcomes: Vec<Outcome>,
    /// The results of power cuts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuts: Option<Cuts>,
}

/// A case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its figures, or the reason why there are none.
    #[serde(flatten)]
    pub row: Row,
    /// Processor time, if a processor was chosen and the case has a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<Processor>,
    /// RAM before it, for each of some rates, if every call writes the same number of bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// Times of some of the calls in order, in microseconds: the longest of each few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times_us: Vec<f64>,
}

/// The results of power cuts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cuts {
    /// Number of cuts.
    pub cuts: u32,
    /// Cuts after which the volume could not be mounted, or a call on it failed.
    pub unusable: u32,
    /// Cuts after which an acknowledged file was gone, or held other bytes.
    pub lost: u32,
    /// Cuts after which the changed file was in none of these states: as before, as after, or
    /// empty as between opening and writing.
    pub torn: u32,
    /// Cuts after which the contender used the chip illegally, or stopped with an assertion.
    pub illegal: u32,
    /// Calls that failed without a cut, for lack of room or another reason.
    pub refused: u32,
    /// The description of the first bad result.
    pub first: Option<String>,
}

/// RAM that a rate needs beside the write in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Need {
    /// Bytes per second.
    pub rate: u64,
    /// Bytes; `None` if the rate is above 95 % of the mean rate.
    pub bytes: Option<u64>,
    /// True if the level still grew in the second half of the case: a longer case would need
    /// more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grows: bool,
}

impl Outcome {
    /// Returns a case that was not measured.
    pub fn skipped(case: Case, reason: String) -> Outcome {
        let row = Row {
            case: case.name().to_string(),
            figures: None,
            skipped: Some(reason),
            failed: None,
        };
        Outcome { row, processor: None, needs: Vec::new(), times_us: Vec::new() }
    }

    /// Returns the outcome of a case.
    pub fn of(case: Case, result: Result<(Figures, Gauge), Fault>) -> Outcome {
        let mut outcome = Outcome::skipped(case, String::new());
        outcome.row.skipped = None;
        match result {
            Ok((figures, gauge)) => {
                if case == Case::Random && !gauge.steps_ns.is_empty() {
                    outcome.needs = needs(&gauge.steps_ns, 4096);
                    let shown = downsample(&gauge.steps_ns, SHOWN);
                    outcome.times_us = shown.into_iter().map(|(_, ns)| ns as f64 / 1e3).collect();
                }
                (outcome.row.figures, outcome.row.failed) = (Some(figures), gauge.broken);
            }
            Err(Fault::NoRoom(reason) | Fault::Cannot(reason)) => {
                outcome.row.skipped = Some(reason)
            }
            Err(Fault::Failed(reason)) => outcome.row.failed = Some(reason),
        }
        outcome
    }
}

/// Returns the RAM for each rate, by the backlog equation.
fn needs(access_ns: &[u64], write_bytes: u64) -> Vec<Need> {
    let need = |rate| {
        let needed = backlog::need(access_ns, write_bytes, rate);
        Need {
            rate,
            bytes: needed.map(|need| need.worst.left_bytes),
            grows: needed.is_some_and(|need| need.grows),
        }
    };
    rates().into_iter().map(need).collect()
}

impl Entry {
    /// Returns the results on a board.
    pub fn on(&self, board: &str) -> Option<&Standing> {
        self.standings.iter().find(|standing| standing.board == board)
    }
}

impl Standing {
    /// Returns the outcome of a case.
    pub fn outcome(&self, case: &str) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.row.case == case)
    }

    /// Returns the figures of a case, if it did not fail.
    pub fn figures(&self, case: &str) -> Option<&Figures> {
        self.outcome(case)
            .filter(|outcome| outcome.row.failed.is_none())
            .and_then(|outcome| outcome.row.figures.as_ref())
    }
}

impl Cuts {
    /// Returns the number of cuts with a bad result, by every contract that keeps acknowledged
    /// data.
    pub fn bad(&self) -> u32 {
        self.unusable + self.lost + self.torn + self.illegal
    }
}

impl Comparison {
    /// Returns the failures of SteadyFS, as `board, case: reason`.
    pub fn failures(&self) -> Vec<String> {
        let own = self.entries.iter().filter(|entry| entry.facts.is_ours() && !entry.kept);
        let rows = own.flat_map(|entry| &entry.standings).flat_map(|standing| {
            let reason = |outcome: &Outcome| {
                let row = &outcome.row;
                row.failed
                    .as_ref()
                    .map(|reason| format!("{}, {}: {reason}", standing.board, row.case))
            };
            standing.outcomes.iter().filter_map(reason).collect::<Vec<_>>()
        });
        rows.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ram_grows_with_the_rate_until_near_the_mean() {
        let needs = needs(&[1_000_000, 1_000_000, 4_000_000], 4096);
        assert_eq!(
            (needs[0], needs.len()),
            (Need { rate: 1_000, bytes: Some(0), grows: false }, 41)
        );
        // An access takes 2 ms on average: 2.048 MB/s. In the longest access 7,981.05 bytes come,
        // and 4,096 have gone. 1,995,262 B/s are above 95 % of the mean.
        let at = |rate: u64| needs.iter().find(|need| need.rate == rate).unwrap().bytes;
        assert_eq!((at(1_584_893), at(1_995_262), at(2_511_886)), (Some(2_244), None, None));
        assert!(
            needs.windows(2).all(|pair| pair[1].bytes.is_none() || pair[0].bytes <= pair[1].bytes)
        );
    }
}
