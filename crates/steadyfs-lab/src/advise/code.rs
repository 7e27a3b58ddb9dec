//! The code size of a build, from the page that the measurement on a Cortex-M3 writes.

use super::Workload;
use steadyfs::media::Geometry;

const FOOTPRINT: &str = include_str!("../../assets/footprint.md");

/// Returns the number in the second column of the row with this name; 0 if there is no such row.
fn row(first: &str) -> u64 {
    let rows = FOOTPRINT.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    let found = rows
        .filter(|(name, _)| *name == first)
        .map(|(_, rest)| rest.split(" |").next().unwrap_or_default());
    found
        .map(|number| number.replace(',', ""))
        .find_map(|number| number.trim().parse().ok())
        .unwrap_or(0)
}

/// Returns the cargo features that a workload on a medium needs or benefits from, and the bytes
/// of code of a logger with them.
pub(super) fn build(
    geometry: &Geometry,
    workload: Workload,
    cache: bool,
) -> (Vec<&'static str>, u64) {
    let wanted = [
        ("nor", geometry.programs_bytes),
        ("truncate", matches!(workload, Workload::Files | Workload::Configuration)),
        ("cache", cache),
        // NOR does not report the bits that it corrected.
        ("scrub", !geometry.programs_bytes),
        ("wear-levelling", true),
        // It nearly halves the processor time of reads and commits.
        ("fast-checksum", true),
    ];
    let features: Vec<&str> =
        wanted.iter().filter(|(_, is_wanted)| *is_wanted).map(|(name, _)| *name).collect();
    let bytes = features.iter().map(|name| row(&format!("`{name}`"))).sum::<u64>();
    (features, row("Code, NAND, a logger without features") + bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_each_row_that_is_asked_for() {
        for name in [
            "`nor`",
            "`truncate`",
            "`cache`",
            "`scrub`",
            "`wear-levelling`",
            "`fast-checksum`",
            "Code, NAND, a logger without features",
        ] {
            assert!(row(name) > 0, "{name}");
        }
        assert_eq!(row("Code"), 0);
    }

    #[test]
    fn features_that_nothing_needs_are_left_out() {
        let (features, nor_bytes) = build(&Geometry::of_nor(4096, 256), Workload::Log, false);
        assert_eq!(features, ["nor", "wear-levelling", "fast-checksum"]);
        let nand = Geometry {
            page_bytes: 2048,
            pages_per_block: 64,
            block_count: 64,
            programs_bytes: false,
        };
        let (features, nand_bytes) = build(&nand, Workload::Files, true);
        assert_eq!(features, ["truncate", "cache", "scrub", "wear-levelling", "fast-checksum"]);
        assert!(nor_bytes > nand_bytes && nand_bytes > 60_000, "{nor_bytes} {nand_bytes}");
    }
}
