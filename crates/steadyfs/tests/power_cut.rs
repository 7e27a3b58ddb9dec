//! Power fails in every program, copy and erase of a workload, and again during recovery and
//! later work.
//!
//! `steady torture` runs many more cuts in less time. This test runs with the core's own
//! assertions. `STEADYFS_CUTS` sets the number of cuts.

use crate::common::setting;
use steadyfs_lab::torture::{self, FaultKind, Mode, Options};

/// Runs chains of cuts on some chips, alone and with faults, up to this number of cuts.
fn holds(geometries: &[&str], cuts: u64) {
    let options = Options {
        volumes: geometries.iter().map(|name| name.parse().expect("a geometry")).collect(),
        faults: FaultKind::of_raw_flash(),
        mode: Mode::Sampled,
        cuts: Some(setting("STEADYFS_CUTS").unwrap_or(cuts)),
        threads: 2,
        failures_max: 1,
        ..Options::default()
    };
    let summary = torture::run(&options, None, &|_| true).expect("options");
    assert!(summary.tally.failures.is_empty(), "{summary}");
}

#[test]
fn nand_holds_old_or_new_after_any_chain_of_cuts() {
    holds(&["small", "small-copy", "small-cached", "nand", "nand-double"], 2000);
}

#[test]
fn nor_holds_old_or_new_after_any_chain_of_cuts() {
    holds(&["small-nor", "nor"], 1000);
}

#[test]
fn nor_in_groups_of_sectors_holds_old_or_new_after_any_chain_of_cuts() {
    holds(&["small-nor-groups"], 500);
}

#[test]
fn nor_with_long_records_of_the_journal_holds_old_or_new_after_any_chain_of_cuts() {
    holds(&["small-nor-journal"], 300);
}
