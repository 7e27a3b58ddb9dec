//! Parts of all rows: the search of runs by their case, and numbers in words.

use super::result::{Finding, Run};
use crate::streams::Writes;
use crate::units::format_duration;

/// Text for a value that the paper shows in a figure, without a number in its text.
pub(super) const FIGURE: &str = "figure alone";
/// Text for a number, if there is nothing to measure.
pub(super) const NOTHING: &str = "–";

/// The runs, with a search by their case.
pub(super) struct Runs<'r>(pub(super) &'r [Run]);

impl Runs<'_> {
    pub(super) fn find(
        &self,
        system: &str,
        writes: Writes,
        fill: f64,
        ids: u8,
        moved_apart: bool,
    ) -> &Run {
        let is_it = |run: &&Run| {
            (run.system.as_str(), run.writes.as_str(), run.ids, run.moved_apart)
                == (system, writes.name(), ids, moved_apart)
                && run.fill == fill
        };
        self.0.iter().find(is_it).expect("every case is run")
    }

    /// Returns a run with one stream, and a run with three.
    pub(super) fn pair(&self, system: &str, writes: Writes, fill: f64) -> [&Run; 2] {
        [1, 3].map(|ids| self.find(system, writes, fill, ids, false))
    }

    /// Returns a run with one stream, and a run with three that moves keep apart.
    pub(super) fn pair_apart(&self, system: &str, writes: Writes, fill: f64) -> [&Run; 2] {
        [(1, false), (3, true)]
            .map(|(ids, moved_apart)| self.find(system, writes, fill, ids, moved_apart))
    }
}

/// Returns the share by which several streams lessen the amplification.
pub(super) fn less([one, several]: [&Run; 2]) -> f64 {
    1.0 - several.amplification / one.amplification
}

/// Returns a row of a part of the study: its name, its source, the three numbers, and the reason
/// for their difference.
pub(super) fn finding(
    part: &str,
    (what, source): (impl Into<String>, &str),
    [paper, plain, steadyfs]: [String; 3],
    why: impl Into<String>,
) -> Finding {
    Finding {
        part: part.into(),
        what: what.into(),
        source: source.into(),
        paper,
        plain,
        steadyfs,
        why: why.into(),
    }
}

/// Formats two numbers, and the change from one to the other.
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

/// Formats two times.
pub(super) fn times([one, several]: [&Run; 2], number: impl Fn(&Run) -> f64) -> String {
    format!("{} → {}", format_duration(1e3 * number(one)), format_duration(1e3 * number(several)))
}

/// Returns the jobs, in words.
pub(super) fn words(writes: Writes) -> &'static str {
    match writes {
        Writes::Sequential => "sizes, in order",
        Writes::Random => "sizes, at random",
        _ => "rates, at random",
    }
}

/// Returns the least and the greatest of some numbers.
pub(super) fn range(numbers: &[f64]) -> (f64, f64) {
    (
        numbers.iter().copied().fold(f64::MAX, f64::min),
        numbers.iter().copied().fold(f64::MIN, f64::max),
    )
}

/// Formats shares that are saved, from the least to the greatest, in whole percent. A share below
/// zero is lost.
pub(super) fn less_or_more(shares: &[f64]) -> String {
    let (least, most) = range(shares);
    match ((100.0 * least).round(), (100.0 * most).round()) {
        (least, most) if most < 0.0 => format!("{} more", percents(-most, -least)),
        (least, most) if least < 0.0 => format!("{:.0} % more to {most:.0} % less", -least),
        (least, most) => format!("{} less", percents(least, most)),
    }
}

fn percents(least: f64, most: f64) -> String {
    match least == most {
        true => format!("{most:.0} %"),
        false => format!("{least:.0} to {most:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_called_more_and_a_gain_less() {
        assert_eq!(less_or_more(&[0.2, 0.53, 0.3]), "20 to 53 % less");
        assert_eq!(less_or_more(&[0.2, 0.2]), "20 % less");
        assert_eq!(less_or_more(&[-0.08, 0.18]), "8 % more to 18 % less");
        assert_eq!(less_or_more(&[-0.08, -0.02]), "2 to 8 % more");
    }
}
