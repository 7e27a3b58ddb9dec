//! The work of a thread on one scenario: it cuts power in the operations, counts, and keeps the
//! failures.

use super::Mode;
use super::failure::Failure;
use super::fault::FaultKind;
use super::run::{Cut, Run};
use super::scenario::{CUTS_MAX, Life, Scenario, Scene};
use super::shrink::shrink;
use crate::model::Rng;
use serde::{Deserialize, Serialize};
use steadyfs_sim::Torn;

/// Number of chains of cuts that are drawn for a scenario.
const CHAINS: u64 = 24;
/// Approximate number of cuts of a chain.
const CHAIN_CUTS: u64 = 3;
/// Number of cuts at an operation: one for each torn state, and a second one.
const OPERATION_CUTS: u64 = Torn::ALL.len() as u64 + 1;

/// Counts of the work, and the failures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Number of power cuts.
    pub cuts: u64,
    /// Number of cuts that left a page neither old nor new, or a block half erased.
    pub torn_cuts: u64,
    /// Number of cuts that met a recovery, or the calls just after it.
    pub double_cuts: u64,
    /// Number of states of the volume that were compared with the model, file by file or sector by
    /// sector.
    pub states: u64,
    /// Number of faults planned beside the cuts: programs and erases that fail, blocks that are
    /// bad.
    pub faults: u64,
    /// Number of workloads that were cut.
    pub workloads: u64,
    /// The failures, if there are any.
    pub failures: Vec<Failure>,
}

impl Tally {
    /// Adds the tally of another thread.
    pub fn add(&mut self, other: &Self) {
        self.cuts += other.cuts;
        self.torn_cuts += other.torn_cuts;
        self.double_cuts += other.double_cuts;
        self.states += other.states;
        self.faults += other.faults;
        self.workloads += other.workloads;
        let new = other.failures.iter().filter(|failure| !self.failures.contains(failure)).cloned();
        self.failures.extend(new.collect::<Vec<_>>());
    }
}

/// A share of the operations of one scenario.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub run: Run,
    pub fault: FaultKind,
    /// Remainder of the numbers of its operations...
    pub slice: u64,
    /// ...when divided by this number.
    pub slices: u64,
    /// Approximate number of cuts, if not every operation is cut.
    pub share: Option<u64>,
}

/// Cuts power as the mode requires. Returns the tally, and `false` if the time was up.
pub(super) fn runner(
    item: &Item,
    mode: Mode,
    is_over: &(dyn Fn() -> bool + Sync),
) -> (Tally, bool) {
    let mut tally = Tally { workloads: u64::from(item.slice == 0), ..Tally::default() };
    let scenario = match Scenario::with_faults(&item.run, item.fault) {
        Ok(scenario) => scenario,
        Err(what) => {
            tally.failures.push(Failure { replay: item.run.to_string(), what });
            return (tally, true);
        }
    };
    let operations = match scenario.operations() {
        Ok(operations) => operations,
        Err(what) => {
            tally.failures.push(shrink(&scenario, &[], &what));
            return (tally, true);
        }
    };
    let mut runner = Runner { scenario, tally, rng: Rng(item.run.seed ^ 0x702), is_over };
    let result = match mode {
        Mode::Sampled => runner.chains(
            operations,
            item.share.map_or(CHAINS, |cuts| (cuts / CHAIN_CUTS).clamp(1, CHAINS)),
        ),
        Mode::Every => runner
            .every(operations, item.share.map_or(u64::MAX, |cuts| cuts.div_ceil(OPERATION_CUTS))),
        Mode::Exhaustive => {
            runner.exhaustive((1..=operations).filter(|op| op % item.slices == item.slice))
        }
    };
    if let Err(Stop::Failed(cuts, what)) = &result {
        let failure = shrink(&runner.scenario, cuts, what);
        runner.tally.failures.push(failure);
    }
    (runner.tally, !matches!(result, Err(Stop::TimeIsUp)))
}

/// Reason for leaving a scenario.
enum Stop {
    TimeIsUp,
    /// These cuts led to a violation.
    Failed(Vec<Cut>, String),
}

struct Runner<'a> {
    scenario: Scenario,
    tally: Tally,
    rng: Rng,
    is_over: &'a (dyn Fn() -> bool + Sync),
}

impl Runner<'_> {
    /// Cuts every operation in every torn state, or `most` operations, evenly. After one of the
    /// states, cuts again somewhere in the recovery or just after it.
    fn every(&mut self, operations: u64, most: u64) -> Result<(), Stop> {
        let stride = (operations / most).max(1);
        let first = if stride > 1 { 1 + self.rng.below(stride) } else { 1 };
        for operation in (first..=operations)
            .step_by(stride as usize)
            .take(usize::try_from(most).unwrap_or(usize::MAX))
        {
            let second = self.rng.below(Torn::ALL.len() as u64) as usize;
            for (index, torn) in Torn::ALL.into_iter().enumerate() {
                let mut cuts = vec![Cut { operation, torn }];
                let Some(scene) = self.cut(&self.scenario.start(), &cuts)? else { continue };
                let further = self.close(scene.clone(), &cuts)?;
                if index == second && further > 0 {
                    cuts.push(self.draw(further));
                    if let Some(scene) = self.cut(&scene, &cuts)? {
                        self.close(scene, &cuts)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Cuts every operation in every torn state, and then every operation of the recovery and of
    /// the calls after it in every torn state.
    fn exhaustive(&mut self, operations: impl Iterator<Item = u64>) -> Result<(), Stop> {
        for operation in operations {
            for torn in Torn::ALL {
                let first = Cut { operation, torn };
                let Some(scene) = self.cut(&self.scenario.start(), &[first])? else { continue };
                let further = self.close(scene.clone(), &[first])?;
                for second in (1..=further)
                    .flat_map(|operation| Torn::ALL.map(|torn| Cut { operation, torn }))
                {
                    let cuts = [first, second];
                    if let Some(scene) = self.cut(&scene, &cuts)? {
                        self.close(scene, &cuts)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes chains of cuts anywhere. Half of the later cuts meet the recovery of the cut before.
    fn chains(&mut self, operations: u64, count: u64) -> Result<(), Stop> {
        for _ in 0..count {
            let mut scene = self.scenario.start();
            let mut cuts = vec![self.draw(operations.max(1))];
            let length = 1 + self.rng.below(CUTS_MAX as u64 - 2) as usize;
            while let Some(next) = self.cut(&scene, &cuts)? {
                scene = next;
                if cuts.len() == length {
                    break;
                }
                let reach = if self.rng.one_in(2) { 10 } else { 150 };
                cuts.push(self.draw(reach));
            }
            self.close(scene, &cuts)?;
        }
        Ok(())
    }

    fn draw(&mut self, operations: u64) -> Cut {
        let torn = Torn::ALL[self.rng.below(Torn::ALL.len() as u64) as usize];
        Cut { operation: 1 + self.rng.below(operations), torn }
    }

    /// Continues from a scene to the last of the cuts, and counts it. Returns `None` if the cut was
    /// not reached.
    fn cut(&mut self, scene: &Scene, cuts: &[Cut]) -> Result<Option<Scene>, Stop> {
        if (self.is_over)() {
            return Err(Stop::TimeIsUp);
        }
        let (mut scene, cut) = (scene.clone(), cuts.last().copied());
        let is_second = cuts.len() > 1;
        // Each life but the first began with a comparison.
        self.tally.states += u64::from(is_second);
        match self
            .scenario
            .live(&mut scene, cut)
            .map_err(|what| Stop::Failed(cuts.to_vec(), what))?
        {
            Life::Through(_) => Ok(None),
            Life::Locked => {
                self.close(scene, cuts)?;
                Ok(None)
            }
            Life::Cut { torn } => {
                self.tally.cuts += 1;
                self.tally.torn_cuts += u64::from(torn);
                self.tally.double_cuts += u64::from(is_second);
                self.tally.faults += self.scenario.faults();
                Ok(Some(scene))
            }
        }
    }

    fn close(&mut self, mut scene: Scene, cuts: &[Cut]) -> Result<u64, Stop> {
        // One at the mount, one after the last step, and one after the last mount.
        self.tally.states += 3;
        self.scenario.close(&mut scene).map_err(|what| Stop::Failed(cuts.to_vec(), what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torture::Options;
    use std::sync::Mutex;

    #[test]
    fn every_operation_of_every_workload_is_cut_in_every_torn_state() {
        let options = Options { steps: Some(10), ..Options::default() };
        for n in 0..options.items().unwrap() {
            let item = options.item(n);
            let operations = Scenario::of(&item.run).unwrap().operations().unwrap();
            let (tally, whole) = runner(&item, Mode::Every, &|| false);
            assert!(whole && operations > 5, "{}", item.run);
            assert_eq!(
                tally.cuts - tally.double_cuts,
                operations * Torn::ALL.len() as u64,
                "{}",
                item.run
            );
            assert_eq!(tally.double_cuts, operations, "{}", item.run);
            assert_eq!(tally.failures, []);
        }
    }

    #[test]
    fn work_ends_when_time_is_up() {
        let calls = Mutex::new(0);
        let is_over = || {
            let mut calls = calls.lock().unwrap();
            *calls += 1;
            *calls > 7
        };
        let (tally, whole) = runner(&Options::default().item(0), Mode::Every, &is_over);
        assert!(!whole && tally.cuts <= 7, "{tally:?}");
    }
}
