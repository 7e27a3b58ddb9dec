//! Seeds that can be replayed, and the [model](steadyfs_lab::model) that the integration tests
//! share with `steady torture`.

// The targets of the fuzzer use a part of this.
#![allow(dead_code, unused_imports)]

pub mod spy;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

pub use steadyfs_lab::model::*;

/// Runs `test` with seeds `0..count`, or with the seed in `STEADYFS_SEED`. A failure prints the
/// command that replays it.
///
/// `STEADYFS_TIMES` multiplies the number of seeds. With `STEADYFS_KEEP_GOING=1`, the test goes
/// on after a failure, to show all failures.
pub fn for_seeds(file: &str, test_name: &str, count: u64, test: impl Fn(u64)) {
    let seeds = match setting("STEADYFS_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..count * setting("STEADYFS_TIMES").unwrap_or(1),
    };
    let mut failed = 0;
    for seed in seeds {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| test(seed))) {
            eprintln!(
                "replay: STEADYFS_SEED={seed} cargo test -p steadyfs --test all {file}::{test_name}"
            );
            if setting("STEADYFS_KEEP_GOING").is_none() {
                resume_unwind(panic);
            }
            failed += 1;
        }
    }
    assert_eq!(failed, 0, "seeds that failed");
}

/// Returns a number from the environment.
pub fn setting(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}
