//! The scenarios, and their order.

use super::run::Run;
use super::runner::Item;
use super::workload::Workload;
use super::{Mode, Options};

/// A prime by which the items of a round are dealt out, so that a short run contains some of
/// everything.
const DEAL: u64 = 7919;

/// Number of cuts of an item from which none of its operations is left out. This many are nearly as
/// good as all, which are a few hundred.
const WHOLE: u64 = 256;

/// Number of shares of an exhaustive scenario. One share takes some seconds.
const SLICES: u64 = 16;

impl Options {
    /// Returns the number of items of one round.
    fn round(&self) -> u64 {
        (self.volumes.len() * self.workloads.len() * self.faults.len()) as u64 * self.slices()
    }

    fn slices(&self) -> u64 {
        if self.mode == Mode::Exhaustive { SLICES } else { 1 }
    }

    /// Returns the number of items; `None` if there is no end.
    pub(super) fn items(&self) -> Option<u64> {
        let once = self.mode == Mode::Exhaustive || (self.cuts.is_none() && self.time.is_none());
        once.then(|| self.round())
    }

    /// Returns the number of cuts of an item, if too few cuts were requested to cut every
    /// operation. They are spread over the round. Chains of cuts are drawn anyway, so they are all
    /// made in its first item.
    pub(super) fn share(&self) -> Option<u64> {
        let cuts = self.cuts?;
        let share = match self.mode {
            Mode::Every => cuts.div_ceil(self.round()),
            Mode::Sampled => cuts,
            Mode::Exhaustive => return None,
        };
        (share < WHOLE).then_some(share)
    }

    /// Returns the n-th item. Rounds follow each other, each with another seed.
    pub(super) fn item(&self, n: u64) -> Item {
        let (round, rest) = (n / self.round(), n % self.round());
        let rest =
            if self.round().is_multiple_of(DEAL) { rest } else { rest * DEAL % self.round() };
        let (slice, rest) = (rest % self.slices(), (rest / self.slices()) as usize);
        let (workload, rest) =
            (self.workloads[rest % self.workloads.len()], rest / self.workloads.len());
        let (volume, fault) =
            (self.volumes[rest % self.volumes.len()], self.faults[rest / self.volumes.len()]);
        let (steps, after) = match self.mode {
            Mode::Sampled => (80, 40),
            Mode::Every | Mode::Exhaustive => (40, 5),
        };
        let run = Run {
            volume,
            workload,
            seed: self.seed.wrapping_add(round),
            steps: self.steps.unwrap_or(steps),
            after,
            left_out: Vec::new(),
            faults: Vec::new(),
            cuts: Vec::new(),
        };
        Item { run, fault, slice, slices: self.slices(), share: self.share() }
    }

    /// Returns the approximate cost of a cut of the n-th item. Every run reads the whole volume.
    /// The sectors of a disk are compared faster than the files of a tree.
    pub(super) fn cut_work(&self, n: u64) -> u64 {
        let Run { volume, workload, .. } = self.item(n).run;
        let bytes = u64::from(volume.page_bytes)
            * u64::from(volume.pages_per_block)
            * u64::from(volume.block_count);
        (if workload == Workload::Disk { bytes / 4 } else { bytes }).max(1)
    }

    /// Returns the mean of this cost over a round.
    pub(super) fn cut_work_mean(&self) -> f64 {
        let round = self.round();
        (0..round).map(|n| self.cut_work(n) as f64).sum::<f64>() / round as f64
    }

    /// Returns a text of everything that decides the items. Work continues only if this text is the
    /// same.
    pub(super) fn identity(&self) -> String {
        let join = |values: Vec<String>| values.join("+");
        let volumes = join(self.volumes.iter().map(ToString::to_string).collect());
        let workloads = join(self.workloads.iter().map(ToString::to_string).collect());
        let faults = join(self.faults.iter().map(ToString::to_string).collect());
        let steps = self.steps.map_or("default".to_string(), |steps| steps.to_string());
        let share =
            self.share().map_or(String::new(), |cuts| format!(", about {cuts} cuts of each"));
        format!(
            "{} of {volumes}, {workloads}, faults {faults}, seed {}, steps {steps}{share}",
            self.mode, self.seed
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torture::{FaultKind, Workload};
    use std::collections::HashSet;

    #[test]
    fn a_round_has_every_combination_once_and_the_next_has_another_seed() {
        let volumes = ["small", "nor"].map(|name| name.parse().unwrap()).to_vec();
        let options = Options {
            volumes,
            faults: vec![FaultKind::None, FaultKind::Erases],
            ..Options::default()
        };
        let items = options.items().unwrap();
        assert_eq!(items, 2 * 2 * Workload::ALL.len() as u64);
        let name = |n| {
            let item = options.item(n);
            (item.run.to_string(), item.fault.to_string())
        };
        assert_eq!((0..items).map(name).collect::<HashSet<_>>().len() as u64, items);
        assert_eq!((options.item(0).run.seed, options.item(items).run.seed), (1, 2));
    }

    #[test]
    fn few_cuts_are_spread_over_the_round_and_many_leave_nothing_out() {
        let share = |mode, cuts| Options { mode, cuts, ..Options::default() }.share();
        assert_eq!(
            (share(Mode::Every, Some(20)), share(Mode::Every, Some(256 * 8))),
            (Some(3), None)
        );
        assert_eq!(
            (share(Mode::Sampled, Some(20)), share(Mode::Sampled, Some(500))),
            (Some(20), None)
        );
        assert_eq!((share(Mode::Exhaustive, Some(1)), share(Mode::Every, None)), (None, None));
    }

    #[test]
    fn slices_of_an_exhaustive_course_are_of_the_same_run() {
        let options = Options { mode: Mode::Exhaustive, ..Options::default() };
        let mut slices: Vec<u64> = (0..options.items().unwrap())
            .map(|n| options.item(n))
            .filter(|item| item.run == options.item(0).run)
            .map(|item| item.slice)
            .collect();
        slices.sort_unstable();
        assert_eq!(slices, (0..SLICES).collect::<Vec<_>>());
    }
}
