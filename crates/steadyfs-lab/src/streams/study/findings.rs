//! Rows for each number and each figure of the paper. This module has the rows of the set-up.

use super::case::{FILLS, PLAIN, STEADYFS};
use super::figures::{CAPACITY_GB, PAGE_KB, SUPERBLOCK_MB, WRITTEN_GB};
use super::plain::{self, BLOCKS, SHOWN_BLOCKS};
use super::result::{Finding, Run};
use super::rows::{NOTHING, Runs, finding, range};
use super::{amplification, others};
use crate::streams::Writes;
use crate::units::{format_count, format_size};
use steadyfs::media::Geometry;

/// Returns the devices and their scale in one line.
pub(super) fn scale(geometry: &Geometry, pages_per_block: u32) -> String {
    let chip = u64::from(geometry.page_bytes)
        * u64::from(geometry.pages_per_block)
        * u64::from(geometry.block_count);
    let pages = 1024 * SUPERBLOCK_MB / PAGE_KB;
    format!(
        "Paper: {} superblocks of {} pages. Plain layer: as many of {pages_per_block}, 1 : {} in \
         size. SteadyFS: {} blocks of {}, {}",
        format_count(BLOCKS.into()),
        format_count(pages.into()),
        pages / pages_per_block,
        format_count(geometry.block_count.into()),
        geometry.pages_per_block,
        format_size(chip)
    )
}

/// Returns all rows.
pub(super) fn all(
    runs: &[Run],
    geometry: &Geometry,
    pages_per_block: u32,
    spare: f64,
) -> Vec<Finding> {
    let runs = Runs(runs);
    let mut rows = set_up(&runs, geometry, pages_per_block, spare);
    rows.extend(amplification::all(&runs));
    rows.extend(others::all(&runs));
    rows
}

fn set_up(runs: &Runs, geometry: &Geometry, pages_per_block: u32, spare: f64) -> Vec<Finding> {
    const PART: &str = "Set-up, and the paper's example";
    let written = |system| {
        let (least, most) = range(
            &FILLS.map(|fill| runs.find(system, Writes::Random, fill, 1, false).written_times),
        );
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
                "The paper writes {WRITTEN_GB:.0} GB to {CAPACITY_GB:.0} GB. This run writes whole \
                 passes over the pages in use."
            ),
        ),
        finding(
            PART,
            ("Pages of a superblock", "section 2"),
            [
                format_count(pages.into()),
                pages_per_block.to_string(),
                geometry.pages_per_block.to_string(),
            ],
            "Scaled to save time. The number of superblocks, and the share of spare ones, decide \
             the amplification. Their length decides the longest write.",
        ),
        finding(
            PART,
            ("Spare pages", NOTHING),
            [
                "not given".into(),
                format!("{:.1} %", 100.0 * usual),
                format!("{:.1} %", 100.0 * spare),
            ],
            "The plain layer has the usual share. SteadyFS counts superblocks, roots, journal, \
             map, heads and their reserve as spare, a large share of a small chip. Its fill is the \
             fill of the disk with the most streams. So both are compared at equal spare pages as \
             well.",
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
