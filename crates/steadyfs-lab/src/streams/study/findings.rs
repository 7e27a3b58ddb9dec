//! A row for each number and each figure of the paper: here the set-up, and what all rows are made of.

use super::figures::{CAPACITY_GB, PAGE_KB, SUPERBLOCK_MB, WRITTEN_GB};
use super::plain::{self, BLOCKS, SHOWN_BLOCKS};
use super::{FILLS, Finding, PLAIN, Run, STEADYFS, amplification, others};
use crate::streams::Writes;
use crate::units::{format_count, format_duration, format_size};
use steadyfs::media::Geometry;

/// What the paper shows in a figure and its text has no number for.
pub(super) const FIGURE: &str = "figure alone";
/// Nothing to be measured.
pub(super) const NOTHING: &str = "–";

/// The devices and their scale in one line.
pub(super) fn scale(geometry: &Geometry, pages_per_block: u32) -> String {
    let chip = u64::from(geometry.page_bytes) * u64::from(geometry.pages_per_block) * u64::from(geometry.block_count);
    let pages = 1024 * SUPERBLOCK_MB / PAGE_KB;
    format!(
        "Paper: {} superblocks of {} pages. Plain layer: as many of {pages_per_block}, 1 : {} in size. SteadyFS: {} blocks of {}, {}",
        format_count(BLOCKS.into()),
        format_count(pages.into()),
        pages / pages_per_block,
        format_count(geometry.block_count.into()),
        geometry.pages_per_block,
        format_size(chip)
    )
}

/// All rows.
pub(super) fn all(runs: &[Run], geometry: &Geometry, pages_per_block: u32, spare: f64) -> Vec<Finding> {
    let runs = Runs(runs);
    let mut rows = set_up(&runs, geometry, pages_per_block, spare);
    rows.extend(amplification::all(&runs));
    rows.extend(others::all(&runs));
    rows
}

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

fn set_up(runs: &Runs, geometry: &Geometry, pages_per_block: u32, spare: f64) -> Vec<Finding> {
    const PART: &str = "Set-up, and the paper's example";
    let written = |system| {
        let (least, most) = range(&FILLS.map(|fill| runs.find(system, Writes::Random, fill, 1, false).written_times));
        format!("{least:.1} to {most:.1} times")
    };
    let paper = format!("{:.1} times", WRITTEN_GB / CAPACITY_GB);
    let pages = 1024 * SUPERBLOCK_MB / PAGE_KB;
    let usual = f64::from(BLOCKS - SHOWN_BLOCKS) / f64::from(SHOWN_BLOCKS);
    let [mixed, parted] = plain::example();
    vec![
        finding(
            PART,
            ("Written, sizes of the device", "section 6.2, table 1"),
            [paper, written(PLAIN), written(STEADYFS)],
            format!(
                "The paper's {WRITTEN_GB:.0} GB are for {CAPACITY_GB:.0} GB; here whole passes over the pages in use are written."
            ),
        ),
        finding(
            PART,
            ("Pages of a superblock", "section 2"),
            [format_count(pages.into()), pages_per_block.to_string(), geometry.pages_per_block.to_string()],
            "Scaled, for time: amplification follows from how many superblocks there are and how many of them are spare; \
             how long one is decides the longest write.",
        ),
        finding(
            PART,
            ("Spare pages", NOTHING),
            ["not said".into(), format!("{:.1} %", 100.0 * usual), format!("{:.1} %", 100.0 * spare)],
            "The plain layer has what is usual. SteadyFS counts superblocks, roots, journal, map, heads and their reserve as spare, \
             a large share of a small chip, and the fill is that of the disk with most streams; so both are compared at equal spare pages as well.",
        ),
        finding(
            PART,
            ("Pages to move, figure 1, mixed → parted", "figure 1, section 3"),
            ["2 → 0".into(), format!("{mixed} → {parted}"), NOTHING.into()],
            "",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_pages_that_die_together_leave_nothing_to_be_moved_in_a_block_of_their_own() {
        assert_eq!(plain::example(), [2, 0]);
    }
}
