//! A share of each campaign; what fails here is replayed with the command that it prints.

use std::ops::Range;
use steadyfs_siege::campaign::Campaign;

/// Runs a few volumes of a campaign, and says how to replay those that fail.
fn hold(name: &str, seed: u64, volumes: Range<u32>) {
    hold_with(name, seed, volumes, false);
}

/// The same, on volumes with several streams or without.
fn hold_with(name: &str, seed: u64, volumes: Range<u32>, has_streams: bool) {
    let campaign = Campaign::named(name).expect("a campaign");
    let mut failures = Vec::new();
    for index in volumes.clone() {
        for finding in campaign.run(seed, index, false, has_streams).findings {
            failures.push(format!(
                "{}: {}\n    cargo run --release -p steadyfs-siege -- {name} --seed {seed} --only {index} --trace{}",
                finding.class,
                finding.detail,
                if has_streams { " --streams" } else { "" }
            ));
        }
    }
    assert!(failures.is_empty(), "{} findings in volumes {volumes:?}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn a_failure_that_passes_costs_its_call_alone() {
    hold("transient", 2, 0..300);
}

#[test]
fn a_page_that_is_lost_costs_what_is_in_it() {
    hold("lost", 2, 0..2);
}

#[test]
fn cut_mounts_in_a_row_lose_nothing() {
    hold("chains", 2, 0..200);
}

#[test]
fn volumes_with_streams_lose_nothing() {
    hold_with("transient", 3, 0..150, true);
    hold_with("chains", 3, 0..100, true);
    hold_with("lives", 3, 0..100, true);
}

#[test]
fn long_lives_with_torn_tags_lose_nothing() {
    hold("lives", 2, 0..100);
}

/// Both closed, both behind the first page of their copies. One mount began with the first, the next with the second.
#[test]
fn two_roots_that_fail_at_the_end_of_a_use_hide_no_commit() {
    hold("lives", 2, 5010..5011);
}
