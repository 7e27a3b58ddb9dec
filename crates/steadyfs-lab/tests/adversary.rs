//! An adversary that always rewrites what lies in the fullest block holds a volume to its bounds, nearly full and full.
//!
//! On NOR roots that could wait waited until a call that moves took the last erased block, and erased beside its moves; on NAND moves filled the overlay,
//! so that a leaf was written back beside them. Random writes met neither.

use steadyfs_lab::evaluate::{Options, Workload, run};

/// Overwrites at a fill, in percent; every call is held to its bound.
fn hold(device: &str, fill: u32, seed: u64, accesses: u64) {
    let options = Options {
        device: device.to_string(),
        fill: f64::from(fill) / 100.0,
        workload: Workload::Adversary,
        accesses,
        seed,
        ..Options::default()
    };
    let outcome = run(&options, &mut |_, _| ());
    let found = outcome.map(|outcome| outcome.evaluation.max_us <= outcome.evaluation.bound_us);
    assert_eq!(found, Ok(true), "{device}, {fill} % full, seed {seed}");
}

#[test]
fn nor_keeps_its_bounds_nearly_full_and_full() {
    hold("w25q128jv", 90, 4, 2_000);
    hold("w25q128jv", 95, 3, 2_000);
    hold("w25q128jv", 100, 3, 2_000);
}

#[test]
fn nand_keeps_its_bounds_when_it_is_full() {
    hold("mt29f1g01abafd", 100, 3, 2_000);
}
