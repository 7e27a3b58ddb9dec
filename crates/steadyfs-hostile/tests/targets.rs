//! The bounded share of the fuzzing: every seed, and random inputs that are the same in each run.
//!
//! `STEADYFS_TIMES` multiplies the number of inputs.

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::path::{Path, PathBuf};
use steadyfs_hostile::TARGETS;

fn seeds(target: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let entries = std::fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// Runs random inputs, and shrinks one that fails.
fn random_inputs(name: &str, cases: u32) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    let times = std::env::var("STEADYFS_TIMES").map_or(1, |times| times.parse().expect("a number"));
    let config = Config {
        cases: cases * times,
        max_shrink_iters: 2000,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let outcome = runner.run(&vec(any::<u8>(), 0..=target.input_bytes), |input| {
        (target.run)(&input);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{name}: {failure}"));
}

#[test]
fn every_seed_runs() {
    for target in TARGETS {
        let seeds = seeds(target.name);
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        for path in seeds {
            let input = std::fs::read(&path).expect("a seed");
            let outcome = std::panic::catch_unwind(|| (target.run)(&input));
            assert!(outcome.is_ok(), "{}", path.display());
        }
    }
}

#[test]
fn any_medium_gives_errors_only() {
    random_inputs("mount_arbitrary", 2000);
}

#[test]
fn damaged_volumes_give_errors_only() {
    random_inputs("mount_mutated", 2000);
}

#[test]
fn a_disk_on_any_medium_gives_errors_only() {
    random_inputs("disk_arbitrary", 1000);
}

#[test]
fn damaged_disks_give_errors_only() {
    random_inputs("disk_mutated", 3000);
}

#[test]
fn forged_fields_give_errors_only() {
    random_inputs("mount_forged", 300);
    random_inputs("disk_forged", 300);
}

#[test]
fn any_calls_agree_with_the_oracle() {
    random_inputs("operations", 100);
}

#[test]
fn any_content_of_a_structure_gives_errors_only() {
    for target in TARGETS.iter().filter(|target| target.name.starts_with("parse_")) {
        random_inputs(target.name, 500);
    }
}

#[test]
fn hostile_blocks_and_compressed_files_give_errors_only() {
    random_inputs("packed_block", 4000);
    random_inputs("packed_file", 2000);
}

#[test]
fn images_of_others_give_errors_only() {
    for target in TARGETS.iter().filter(|target| target.name.starts_with("foreign_")) {
        random_inputs(target.name, 4000);
    }
}
