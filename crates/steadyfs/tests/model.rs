//! Compares random steps with an oracle: every read, list and stat, the whole content at each
//! mount, and every call's bound.

use crate::common::oracle::{Model, Session, work};
use crate::common::steps::{EXPLICIT, Limits, Op, Raw};
use crate::common::{Device, SHAPES, Shape, for_seeds};
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use steadyfs::CommitOn;

/// Returns a volume and the limits for a seed. Every fourth volume has so many names that
/// directories grow. Every eighth has so few inodes that they run out. Three quarters have memory
/// for write-back.
fn stage(seed: u64, shape: &Shape) -> (Device, Limits) {
    let config = if seed % 8 == 5 {
        steadyfs::Config { files_max: 16, ..shape.config() }
    } else {
        shape.config()
    };
    let files = if seed % 4 == 3 { 60 } else { 6 };
    let cache_pages = [0, 2, 4, 16][seed as usize / SHAPES.len() % 4];
    (
        shape.device_with_config(config, seed).with_cache(cache_pages),
        Limits { files, ..shape.limits(24) },
    )
}

/// Runs random steps on an empty volume, and shrinks a failing sequence.
fn agrees_with_the_oracle(seed: u64, shape: &Shape, events: CommitOn) {
    let (empty, limits) = stage(seed, shape);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config =
        Config { cases: 1, max_shrink_iters: 400, failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let outcome = runner.run(&vec(any::<Raw>(), 1..400), |raws| {
        let ops = raws.into_iter().map(|raw| Op::decode(raw, &limits));
        let mut device = empty.clone();
        let mut model = Model::new(events);
        let session = work(&mut device, &mut model, ops)
            .and_then(|()| Session::mount(&mut device, &mut model));
        let empty = session.and_then(|mut session| Ok(session.remove_all()?));
        empty.map_err(|error| TestCaseError::fail(error.to_string()))
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, raws)) => {
            let steps: String =
                raws.iter().map(|raw| format!("\n  {:?}", Op::decode(*raw, &limits))).collect();
            panic!("{}: {reason}{steps}", shape.name);
        }
        Err(abort) => panic!("{}: {abort}", shape.name),
    }
}

#[test]
fn volume_agrees_with_the_oracle() {
    for_seeds("model", "volume_agrees_with_the_oracle", 240, |seed| {
        agrees_with_the_oracle(seed, &SHAPES[seed as usize % SHAPES.len()], EXPLICIT);
    });
}

#[test]
fn volume_that_commits_by_itself_agrees_with_the_oracle() {
    for_seeds("model", "volume_that_commits_by_itself_agrees_with_the_oracle", 240, |seed| {
        agrees_with_the_oracle(seed, &SHAPES[seed as usize % SHAPES.len()], CommitOn::ON_SYNC);
    });
}
