//! What all rows are made of: runs that are found by what was run, and numbers in words.

use super::result::{Finding, Run};
use crate::streams::Writes;
use crate::units::format_duration;

/// What the paper shows in a figure and its text has no number for.
pub(super) const FIGURE: &str = "figure alone";
/// Nothing to be measured.
pub(super) const NOTHING: &str = "–";

/// The runs, to be found by what was run.
pub(super) struct Runs<'r>(pub(super) &'r [Run]);

impl Runs<'_> {
    pub(super) fn find(&self, system: &str, writes: Writes, fill: f64, ids: u8, moved_apart: bool) -> &Run {
        let is_it = |run: &&Run| {
            (run.system.as_str(), run.writes.as_str(), run.ids, run.moved_apart) == (system, writes.name(), ids, moved_apart)
                && run.fill == fill
        };
        self.0.iter().find(is_it).expect("every case is run")
    }

    /// A run with one stream, and one with three.
    pub(super) fn pair(&self, system: &str, writes: Writes, fill: f64) -> [&Run; 2] {
        [1, 3].map(|ids| self.find(system, writes, fill, ids, false))
    }

    /// A run with one stream, and one with three that moves keep apart.
    pub(super) fn pair_apart(&self, system: &str, writes: Writes, fill: f64) -> [&Run; 2] {
        [(1, false), (3, true)].map(|(ids, moved_apart)| self.find(system, writes, fill, ids, moved_apart))
    }
}

/// By which share several streams lessen the amplification.
pub(super) fn less([one, several]: [&Run; 2]) -> f64 {
    1.0 - several.amplification / one.amplification
}

/// A row of a part of the study: what it is, its source, the three numbers, and why they differ.
pub(super) fn finding(
    part: &str,
    (what, source): (impl Into<String>, &str),
    [paper, plain, steadyfs]: [String; 3],
    why: impl Into<String>,
) -> Finding {
    Finding { part: part.into(), what: what.into(), source: source.into(), paper, plain, steadyfs, why: why.into() }
}

/// Two numbers, and the change from one to the other.
pub(super) fn change([one, several]: [&Run; 2], number: impl Fn(&Run) -> f64) -> String {
    let (one, several) = (number(one), number(several));
    let percent = (100.0 * (several / one - 1.0)).round();
    let sign = match percent {
        0.0 => "±",
        more if more > 0.0 => "+",
        _ => "−",
    };
    format!("{one:.2} → {several:.2} ({sign}{:.0} %)", percent.abs())
}

/// Two times.
pub(super) fn times([one, several]: [&Run; 2], number: impl Fn(&Run) -> f64) -> String {
    format!("{} → {}", format_duration(1e3 * number(one)), format_duration(1e3 * number(several)))
}

/// The jobs, in words.
pub(super) fn words(writes: Writes) -> &'static str {
    match writes {
        Writes::Sequential => "sizes, in order",
        Writes::Random => "sizes, at random",
        _ => "rates, at random",
    }
}

/// The least and the greatest of some numbers.
pub(super) fn range(numbers: &[f64]) -> (f64, f64) {
    (numbers.iter().copied().fold(f64::MAX, f64::min), numbers.iter().copied().fold(f64::MIN, f64::max))
}

/// Shares from the least to the greatest, in whole percent.
pub(super) fn percents(shares: &[f64]) -> String {
    let (least, most) = range(shares);
    match ((100.0 * least).round(), (100.0 * most).round()) {
        (least, most) if least == most => format!("{most:.0} %"),
        (least, most) => format!("{least:.0} to {most:.0} %"),
    }
}
