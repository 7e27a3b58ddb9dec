//! Power fails in every program, copy and erase of a workload, and again while the volume recovers and goes on.
//!
//! After each cut the whole content must be that of the last acknowledged commit, or of the one in flight.
//! `STEADYFS_CUTS` sets the number of runs; each has 1 to 7 cuts.

mod common;

use std::cell::OnceCell;

use common::oracle::{Model, fill, work};
use common::steps::{EXPLICIT, Limits, Op, long_transactions, name_changes, overwrites, random_steps};
use common::{Device, Rng, SHAPES, Shape, for_seeds, setting};
use steadyfs::{Error, MountError};

/// Percent of the volume that the files at rest take, and pages of write-back: with free blocks to spare, and so few that frames
/// move all the time.
const FILLS: [(u64, usize); 3] = [(70, 0), (92, 0), (80, 4)];
/// Steps of a workload that is cut.
const STEPS: usize = 80;

/// A volume on which reclamation is at work, and a workload whose operations are counted.
struct Stage {
    limits: Limits,
    device: Device,
    model: Model,
    /// Programs, copies and erases of the workload with seed 0, mount included.
    operations: u64,
}

impl Stage {
    fn new(shape: &Shape, percent: u64, cache_pages: usize) -> Self {
        let limits = shape.limits(6);
        let (mut device, mut model) = (shape.device(1).with_cache(cache_pages), Model::new(EXPLICIT));
        fill(&mut device, &mut model, percent);
        work(&mut device, &mut model, random_steps(u64::MAX, 1500, limits)).expect("churn");
        work(&mut device, &mut model, overwrites(0, 1000, limits)).expect("overwrites");
        let mut stage = Self { limits, device, model, operations: 0 };
        let (mut device, mut model) = (stage.device.clone(), stage.model.clone());
        let before = device.cut().operations();
        work(&mut device, &mut model, steps(0, STEPS, limits)).expect("workload without a cut");
        stage.operations = device.cut().operations() - before;
        stage
    }

    /// Cuts power in one operation of the workload, then goes on and cuts again.
    fn run(&self, seed: u64) {
        let (mut device, mut model) = (self.device.clone(), self.model.clone());
        let mut rng = Rng(seed);
        // Every kind of workload, and in each the cut wanders through its operations.
        let (workload, operation) = (seed % 8, seed / 8 * 61 % self.operations + 1);
        device.cut().cut_at(operation);
        let mut steps = self::steps(workload, STEPS, self.limits);
        for _ in 0..3 + rng.below(4) {
            match work(&mut device, &mut model, steps.by_ref()) {
                Ok(()) => {}
                Err(MountError::Volume(Error::Device)) => assert!(device.cut().is_off(), "nobody cut power"),
                Err(error) => panic!("{error}, last cut left {:?}", device.cut().last_torn()),
            }
            device.power_cycle();
            // Half of the cuts meet the recovery.
            let operation = if rng.one_in(2) { 1 + rng.below(10) } else { 1 + rng.below(150) };
            device.cut().cut_at(operation);
            steps = self::steps(rng.next(), STEPS / 2, self.limits);
        }
        device.power_cycle();
        work(&mut device, &mut model, steps).unwrap_or_else(|error| panic!("at last: {error}"));
    }
}

/// Random steps; overwrites all over the volume, which keep frames moving; transactions whose own frames are moved; names that
/// move about.
fn steps(seed: u64, count: usize, limits: Limits) -> Box<dyn Iterator<Item = Op>> {
    match seed % 4 {
        1 => Box::new(overwrites(seed, count, limits)),
        3 if seed % 8 == 3 => Box::new(long_transactions(seed, count, limits)),
        3 => Box::new(name_changes(seed, count, limits)),
        _ => Box::new(random_steps(seed, count, limits)),
    }
}

/// Runs chains of cuts on some shapes, one after the other.
fn torture(test_name: &str, shapes: &[Shape], runs: u64) {
    let kinds: Vec<(&Shape, (u64, usize))> =
        FILLS.iter().flat_map(|&fill| shapes.iter().map(move |shape| (shape, fill))).collect();
    let stages: Vec<OnceCell<Stage>> = kinds.iter().map(|_| OnceCell::new()).collect();
    for_seeds("power_cut", test_name, setting("STEADYFS_CUTS").unwrap_or(runs), |seed| {
        let index = seed as usize % kinds.len();
        let (shape, (fill, cache_pages)) = kinds[index];
        let stage = stages[index].get_or_init(|| Stage::new(shape, fill, cache_pages));
        let run = std::panic::AssertUnwindSafe(|| stage.run(seed / kinds.len() as u64));
        if let Err(panic) = std::panic::catch_unwind(run) {
            eprintln!("on {}, {fill} % full, {cache_pages} pages of write-back", shape.name);
            std::panic::resume_unwind(panic);
        }
    });
}

#[test]
fn nand_holds_old_or_new_after_any_chain_of_cuts() {
    torture("nand_holds_old_or_new_after_any_chain_of_cuts", &SHAPES[..4], 720);
}

#[test]
fn nor_holds_old_or_new_after_any_chain_of_cuts() {
    torture("nor_holds_old_or_new_after_any_chain_of_cuts", &SHAPES[4..], 360);
}
