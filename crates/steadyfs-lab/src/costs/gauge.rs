//! Measures calls. Each call is held to its bound, a few calls form a step, and many steps give
//! a mean and a maximum.

use super::{CallCost, CostsError};
use crate::evaluate::cost;
use steadyfs::media::Flash;
use steadyfs::{Bound, Call, Error, FileSystem};
use steadyfs_sim::{Counters, Metered, Trace};

/// The volume under test. It borrows the chip.
pub type Volume<'m, 's, C> = FileSystem<'m, &'s mut Trace<C>>;

/// One step: a call, or a few that belong together.
pub struct Step<'n> {
    name: &'n str,
    /// Function that changes each bound before a call is held to it. It returns the bound
    /// itself, except in tests.
    promise: fn(Bound) -> Bound,
    spent: Counters,
    bound_ns: u64,
}

impl<'n> Step<'n> {
    /// Begins a step.
    pub fn new(name: &'n str, promise: fn(Bound) -> Bound) -> Step<'n> {
        Step { name, promise, spent: Counters::default(), bound_ns: 0 }
    }

    /// Makes a call of the volume.
    ///
    /// # Errors
    /// [`CostsError::Volume`], [`CostsError::BoundBroken`], [`CostsError::TimeBroken`].
    pub fn call<'m, 's, C: Flash + Metered, T>(
        &mut self,
        fs: &mut Volume<'m, 's, C>,
        call: Call,
        act: impl FnOnce(&mut Volume<'m, 's, C>) -> Result<T, Error>,
    ) -> Result<T, CostsError> {
        let bound = (self.promise)(fs.bounds().of(call));
        let bound_ns = bound.time_ns(&fs.flash().timing());
        let before = fs.flash().counts();
        let step = || self.name.to_string();
        let value = act(fs).map_err(|error| CostsError::Volume { step: step(), call, error })?;
        let spent = fs.flash().counts().since(&before);
        let observed = cost(&spent);
        if !bound.holds(&observed) {
            let bound = Box::new(bound);
            return Err(CostsError::BoundBroken { step: step(), call, observed, bound });
        }
        if spent.time_ns > bound_ns {
            return Err(CostsError::TimeBroken {
                step: step(),
                call,
                observed_ns: spent.time_ns,
                bound_ns,
            });
        }
        self.spent.reads += spent.reads + spent.tag_reads;
        self.spent.programs += spent.programs + spent.copies;
        self.spent.erases += spent.erases;
        self.spent.time_ns += spent.time_ns;
        self.bound_ns += bound_ns;
        Ok(value)
    }
}

/// Mean and maximum of many steps.
#[derive(Default)]
pub struct Tally {
    steps: u64,
    sum: Counters,
    most: Counters,
    bound_ns: u64,
}

impl Tally {
    /// Records a step.
    pub fn note(&mut self, step: &Step<'_>) {
        self.steps += 1;
        for (sum, most, spent) in [
            (&mut self.sum.reads, &mut self.most.reads, step.spent.reads),
            (&mut self.sum.programs, &mut self.most.programs, step.spent.programs),
            (&mut self.sum.erases, &mut self.most.erases, step.spent.erases),
            (&mut self.sum.time_ns, &mut self.most.time_ns, step.spent.time_ns),
        ] {
            *sum += spent;
            *most = spent.max(*most);
        }
        self.bound_ns = self.bound_ns.max(step.bound_ns);
    }

    /// Returns the row of these steps.
    pub fn row(&self, name: &str) -> CallCost {
        let mean = |sum: u64| sum as f64 / self.steps.max(1) as f64;
        CallCost {
            call: name.to_string(),
            calls: self.steps,
            programs_mean: mean(self.sum.programs),
            programs_max: self.most.programs,
            reads_mean: mean(self.sum.reads),
            reads_max: self.most.reads,
            erases_mean: mean(self.sum.erases),
            erases_max: self.most.erases,
            mean_us: mean(self.sum.time_ns) / 1e3,
            max_us: self.most.time_ns as f64 / 1e3,
            bound_us: self.bound_ns as f64 / 1e3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tally_keeps_mean_and_most() {
        let mut tally = Tally::default();
        for (programs, bound_ns) in [(1, 5_000), (4, 4_000)] {
            let spent = Counters { programs, time_ns: programs * 1_000, ..Counters::default() };
            tally.note(&Step { spent, bound_ns, ..Step::new("write", |bound| bound) });
        }
        let row = tally.row("write");
        assert_eq!((row.calls, row.programs_mean, row.programs_max), (2, 2.5, 4));
        assert_eq!((row.mean_us, row.max_us, row.bound_us, row.reads_max), (2.5, 4.0, 5.0, 0));
    }
}
