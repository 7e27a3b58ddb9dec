//! Measures steps. A step is a call, or a few that belong together. Each call is held to its
//! bound.

use super::contender::{Fault, Mode, Operation, Volume};
use crate::units::format_duration;
use steadyfs_sim::Counters;

/// The measurements of the steps of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gauge {
    /// Time of each step, in nanoseconds.
    pub steps_ns: Vec<u64>,
    /// Counters of the chip, summed over the steps.
    pub spent: Counters,
    /// The largest bound of a step; `None` if a step has no bound.
    pub bound_ns: Option<u64>,
    /// The first call that took longer than its bound, warm-up included.
    pub broken: Option<String>,
    /// Number of steps that the volume refused for lack of room, and that changed nothing.
    /// `steps_ns` does not include their times.
    pub refused: u64,
}

impl Default for Gauge {
    fn default() -> Gauge {
        Gauge {
            steps_ns: Vec::new(),
            spent: Counters::default(),
            bound_ns: Some(0),
            broken: None,
            refused: 0,
        }
    }
}

impl Gauge {
    /// Ends the warm-up: discards the steps so far, but keeps a broken bound.
    pub fn begin(&mut self) {
        *self = Gauge { broken: self.broken.take(), ..Gauge::default() };
    }

    /// Ends an unmeasured part.
    ///
    /// # Errors
    /// [`Fault::Failed`] if a bound was broken.
    pub fn end_unmeasured(self) -> Result<(), Fault> {
        self.broken.map_or(Ok(()), |broken| Err(Fault::Failed(broken)))
    }

    /// Measures a step on a volume.
    ///
    /// # Errors
    /// [`Fault`] of a call.
    pub fn step<V: Volume, T>(
        &mut self,
        volume: &mut V,
        act: impl FnOnce(&mut Step<'_, V>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let before = volume.counters();
        let mut step = Step { volume, bound_ns: Some(0), broken: &mut self.broken };
        let value = act(&mut step)?;
        let (spent, bound_ns) = (step.volume.counters().since(&before), step.bound_ns);
        self.note(&spent, bound_ns);
        Ok(value)
    }

    /// Measures a step that a volume without room may refuse. Returns true if the step was made.
    ///
    /// # Errors
    /// [`Fault`] of a call, except [`Fault::NoRoom`].
    pub fn try_step<V: Volume>(
        &mut self,
        volume: &mut V,
        act: impl FnOnce(&mut Step<'_, V>) -> Result<(), Fault>,
    ) -> Result<bool, Fault> {
        let before = volume.counters();
        match self.step(volume, act) {
            Ok(()) => Ok(true),
            Err(Fault::NoRoom(_)) => {
                self.refused += 1;
                self.spent = self.spent.plus(&volume.counters().since(&before));
                Ok(false)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Records a step that was measured elsewhere.
    pub fn note(&mut self, spent: &Counters, bound_ns: Option<u64>) {
        self.steps_ns.push(spent.time_ns);
        self.spent = self.spent.plus(spent);
        self.bound_ns = self.bound_ns.zip(bound_ns).map(|(most, bound)| most.max(bound));
    }

    /// Records a mount and holds it to its bound.
    pub fn note_mount(&mut self, spent: &Counters, bound_ns: Option<u64>) {
        hold(&mut self.broken, "mount", spent.time_ns, bound_ns);
        self.note(spent, bound_ns);
    }
}

/// Records a call that took longer than its bound, if it is the first.
fn hold(broken: &mut Option<String>, call: &str, observed_ns: u64, bound_ns: Option<u64>) {
    if let Some(bound_ns) = bound_ns.filter(|&bound_ns| observed_ns > bound_ns) {
        let (observed, bound) =
            (format_duration(observed_ns as f64), format_duration(bound_ns as f64));
        broken.get_or_insert_with(|| format!("{call} took {observed}, but its bound was {bound}"));
    }
}

/// A step during its measurement. Its bound is the sum of the bounds of its calls.
pub struct Step<'v, V> {
    volume: &'v mut V,
    bound_ns: Option<u64>,
    broken: &'v mut Option<String>,
}

impl<V: Volume> Step<'_, V> {
    /// Makes a call and holds it to a bound.
    fn call<T>(
        &mut self,
        name: &str,
        bound_ns: Option<u64>,
        act: impl FnOnce(&mut V) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let before = self.volume.counters();
        let value = act(self.volume)?;
        hold(self.broken, name, self.volume.counters().since(&before).time_ns, bound_ns);
        self.bound_ns = self.bound_ns.zip(bound_ns).map(|(sum, bound)| sum + bound);
        Ok(value)
    }

    /// [`Volume::open`].
    pub fn open(&mut self, path: &str, mode: Mode) -> Result<V::File, Fault> {
        let bound = self.volume.bound_ns(&Operation::Open(mode));
        self.call("open", bound, |volume| volume.open(path, mode))
    }

    /// [`Volume::close`].
    pub fn close(&mut self, file: V::File) -> Result<(), Fault> {
        let bound = self.volume.bound_ns(&Operation::Close);
        self.call("close", bound, |volume| volume.close(file))
    }

    /// [`Volume::read`].
    pub fn read(
        &mut self,
        file: &mut V::File,
        offset: u64,
        data: &mut [u8],
    ) -> Result<usize, Fault> {
        let bound = self.volume.bound_ns(&Operation::Read(data.len()));
        self.call("read", bound, |volume| volume.read(file, offset, data))
    }

    /// [`Volume::write`].
    pub fn write(&mut self, file: &mut V::File, offset: u64, data: &[u8]) -> Result<(), Fault> {
        let bound = self.volume.bound_ns(&Operation::Write { file, offset, bytes: data.len() });
        self.call("write", bound, |volume| volume.write(file, offset, data))
    }

    /// [`Volume::sync`].
    pub fn sync(&mut self, file: &mut V::File) -> Result<(), Fault> {
        let bound = self.volume.bound_ns(&Operation::Sync);
        self.call("sync", bound, |volume| volume.sync(file))
    }

    /// [`Volume::remove`].
    pub fn remove(&mut self, path: &str) -> Result<(), Fault> {
        let bound = self.volume.bound_ns(&Operation::Remove);
        self.call("remove", bound, |volume| volume.remove(path))
    }

    /// [`Volume::rename`].
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), Fault> {
        let bound = self.volume.bound_ns(&Operation::Rename);
        self.call("rename", bound, |volume| volume.rename(from, to))
    }

    /// [`Volume::stat`].
    pub fn stat(&mut self, path: &str) -> Result<u64, Fault> {
        let bound = self.volume.bound_ns(&Operation::Stat);
        self.call("stat", bound, |volume| volume.stat(path))
    }
}
