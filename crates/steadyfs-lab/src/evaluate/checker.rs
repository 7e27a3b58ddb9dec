//! Holds every call to its bound, and every run of calls to the envelopes.

use super::tracker::TagTracker;
use super::{EvaluateError, Phase, Work};
use crate::envelope::Envelope;
use crate::evaluation::Kind;
use steadyfs::media::Flash;
use steadyfs::{Bound, Budget, Call, Cost, Error, FileSystem};
use steadyfs_sim::{Counters, Metered};

/// The volume under test. It borrows the chip, so that the chip outlives a dropped volume.
pub type Volume<'m, 's, C> = FileSystem<'m, &'s mut TagTracker<C>>;

/// Number of accesses between two reports of progress.
const REPORT_EVERY: u64 = 256;

/// The progress that all phases of a run share.
pub struct Progress<'p> {
    /// Number of accesses expected in all phases together.
    pub expected: u64,
    /// Number of accesses so far.
    pub done: u64,
    /// Receives the completed share and the phase.
    pub report: &'p mut dyn FnMut(f64, &str),
}

/// The checker of one phase. An access is one call or a few, and takes the sum of their times.
pub struct Checker<'p, 'r> {
    phase: Phase,
    /// Function that changes each bound before a call is held to it. It returns the bound
    /// itself, except in tests.
    promise: fn(Bound) -> Bound,
    progress: &'r mut Progress<'p>,
    /// True if calls are held to their bounds, and their times are kept.
    checks: bool,
    accesses: u64,
    calls_ns: Vec<u64>,
    envelopes: [Envelope; 2],
    access_ns: Vec<u64>,
    /// Time and bound of the access in progress.
    access: (u64, u64),
    /// Operations of the access in progress.
    working: Work,
    work: Vec<Work>,
    met: Met,
    /// True if the access in progress has a call that is not a write.
    changes_file: bool,
    writes: Kind,
    changes: Kind,
}

/// Numbers of accesses with moves and with erases. Idle work can do both before an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// Number of accesses in which reclamation moved a page.
    pub moves: u64,
    /// Number of accesses in which a block was erased.
    pub erases: u64,
}

/// The result of a phase.
pub struct Verdict {
    /// Times of the accesses, in nanoseconds.
    pub access_ns: Vec<u64>,
    /// Operations of each access.
    pub work: Vec<Work>,
    /// The accesses with writes alone.
    pub writes: Kind,
    /// The accesses with other calls: they change the file.
    pub changes: Kind,
    /// The loosest envelopes that were promised for the calls.
    pub envelopes: [Envelope; 2],
    /// Numbers of accesses with moves and with erases.
    pub met: Met,
}

impl<'p, 'r> Checker<'p, 'r> {
    /// Begins a phase.
    pub fn new(phase: Phase, promise: fn(Bound) -> Bound, progress: &'r mut Progress<'p>) -> Self {
        let none = Envelope { burst_ns: 0, rate_ns: 0 };
        let (calls_ns, access_ns) = (Vec::new(), Vec::new());
        Checker {
            phase,
            promise,
            progress,
            checks: true,
            accesses: 0,
            calls_ns,
            envelopes: [none; 2],
            access_ns,
            access: (0, 0),
            working: Work::default(),
            work: Vec::new(),
            met: Met::default(),
            changes_file: false,
            writes: Kind::default(),
            changes: Kind::default(),
        }
    }

    /// Begins a phase that only counts its accesses. Such a phase may be long, and chips may
    /// fail in it more often than a bound allows for.
    pub fn only_counting(phase: Phase, progress: &'r mut Progress<'p>) -> Self {
        Checker { checks: false, ..Checker::new(phase, |bound| bound, progress) }
    }

    /// Returns the number of accesses that have ended.
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Makes a call of the volume.
    ///
    /// # Errors
    /// [`EvaluateError::Volume`]; [`EvaluateError::BoundBroken`] and [`EvaluateError::TimeBroken`].
    pub fn call<'m, 's, C: Flash + Metered, T>(
        &mut self,
        fs: &mut Volume<'m, 's, C>,
        call: Call,
        act: impl FnOnce(&mut Volume<'m, 's, C>) -> Result<T, Error>,
    ) -> Result<T, EvaluateError> {
        let (phase, access) = (self.phase, self.accesses());
        if !self.checks {
            return act(fs).map_err(|error| EvaluateError::Volume { phase, access, call, error });
        }
        let timing = fs.flash().timing();
        let bound = (self.promise)(fs.bounds().of(call));
        for (loosest, promised) in
            self.envelopes.iter_mut().zip(fs.bounds().envelopes(call, &timing))
        {
            loosest.burst_ns = loosest.burst_ns.max(promised.burst_ns);
            loosest.rate_ns = loosest.rate_ns.max(promised.rate_ns);
        }
        let (before, moves_before) = (fs.flash().counts(), fs.flash().moves());
        let value =
            act(fs).map_err(|error| EvaluateError::Volume { phase, access, call, error })?;
        let spent = fs.flash().counts().since(&before);
        let (observed, bound_ns) = (cost(&spent), bound.time_ns(&timing));
        if !bound.holds(&observed) {
            return Err(EvaluateError::BoundBroken { phase, access, call, observed, bound });
        }
        if spent.time_ns > bound_ns {
            return Err(EvaluateError::TimeBroken {
                phase,
                access,
                call,
                observed_ns: spent.time_ns,
                bound_ns,
            });
        }
        self.calls_ns.push(spent.time_ns);
        let is_write = matches!(
            call,
            Call::Overwrite | Call::Write(_) | Call::WriteLarge(_) | Call::WriteInline(_)
        );
        self.changes_file |= !is_write;
        self.access.0 += spent.time_ns;
        self.access.1 += bound_ns;
        let moves = fs.flash().moves() - moves_before;
        let programs = (spent.programs + spent.copies).saturating_sub(moves);
        let reads = spent.reads + spent.tag_reads;
        self.working.add(Work { programs, moves, erases: spent.erases, reads });
        Ok(value)
    }

    /// Lets the volume work while it is idle. Returns the counters of this work, and true if the
    /// volume has prepared all of the burst.
    ///
    /// # Errors
    /// [`EvaluateError::Idle`]; [`EvaluateError::IdleBroken`] if it worked longer than
    /// `idle_ns`.
    pub fn idle<C: Flash + Metered>(
        &mut self,
        fs: &mut Volume<'_, '_, C>,
        idle_ns: u64,
        burst_bytes: u64,
    ) -> Result<(Counters, bool), EvaluateError> {
        let access = self.accesses();
        let before = fs.flash().counts();
        let prepared = fs
            .maintain(Budget::TimeNs(idle_ns), burst_bytes)
            .map_err(|error| EvaluateError::Idle { access, error })?;
        let spent = fs.flash().counts().since(&before);
        check_idle(access, spent.time_ns, idle_ns)?;
        Ok((spent, prepared))
    }

    /// Excludes the calls since the last access from the next one.
    pub fn leave_out(&mut self) {
        (self.access, self.working, self.changes_file) = ((0, 0), Work::default(), false);
    }

    /// Ends an access.
    pub fn end_access(&mut self) {
        let (time_ns, bound_ns) = std::mem::take(&mut self.access);
        self.accesses += 1;
        let work = std::mem::take(&mut self.working);
        if self.checks {
            self.access_ns.push(time_ns);
            self.work.push(work);
        }
        let changes_file = std::mem::take(&mut self.changes_file);
        let kind = if changes_file { &mut self.changes } else { &mut self.writes };
        kind.add(time_ns, bound_ns);
        self.met.moves += u64::from(work.moves > 0);
        self.met.erases += u64::from(work.erases > 0);
        self.progress.done += 1;
        if self.accesses() % REPORT_EVERY == 1 {
            let share = self.progress.done as f64 / self.progress.expected.max(1) as f64;
            (self.progress.report)(share.min(1.0), &self.phase.to_string());
        }
    }

    /// Ends the phase, and checks that every run of its calls lies within the envelopes.
    ///
    /// # Errors
    /// [`EvaluateError::EnvelopeBroken`].
    pub fn finish(self) -> Result<Verdict, EvaluateError> {
        for envelope in self.envelopes {
            check_envelope(self.phase, envelope, &self.calls_ns)?;
        }
        let Checker { access_ns, work, writes, changes, envelopes, met, .. } = self;
        Ok(Verdict { access_ns, work, writes, changes, envelopes, met })
    }
}

/// Holds idle work to its time.
fn check_idle(access: u64, observed_ns: u64, budget_ns: u64) -> Result<(), EvaluateError> {
    if observed_ns <= budget_ns {
        Ok(())
    } else {
        Err(EvaluateError::IdleBroken { access, observed_ns, budget_ns })
    }
}

/// Finds the calls that together exceed an envelope most. Returns an error if they exceed its
/// burst.
fn check_envelope(phase: Phase, envelope: Envelope, calls_ns: &[u64]) -> Result<(), EvaluateError> {
    let (mut first, mut excess_ns) = (0, 0_u64);
    let mut worst = (0, 0..0);
    for (last, &call_ns) in calls_ns.iter().enumerate() {
        if excess_ns == 0 {
            first = last;
        }
        excess_ns = (excess_ns + call_ns).saturating_sub(envelope.rate_ns);
        if excess_ns > worst.0 {
            worst = (excess_ns, first..last + 1);
        }
    }
    if worst.0 <= envelope.burst_ns {
        return Ok(());
    }
    let calls = &calls_ns[worst.1.clone()];
    Err(EvaluateError::EnvelopeBroken {
        phase,
        last_call: worst.1.end as u64 - 1,
        calls: calls.len() as u64,
        observed_ns: calls.iter().sum(),
        envelope,
    })
}

/// Converts counted operations to a cost.
pub fn cost(spent: &Counters) -> Cost {
    let count = |operations: u64| u32::try_from(operations).unwrap_or(u32::MAX);
    Cost {
        reads: count(spent.reads),
        tag_reads: count(spent.tag_reads),
        programs: count(spent.programs),
        copies: count(spent.copies),
        erases: count(spent.erases),
        instructions: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_work_beyond_its_time_is_an_error() {
        assert_eq!(check_idle(7, 20, 20), Ok(()));
        let error = check_idle(7, 21_000, 20_000).unwrap_err().to_string();
        assert_eq!(error, "idle work before access 7: took 21 µs, but its budget was 20 µs");
    }

    #[test]
    fn broken_envelope_names_the_worst_calls() {
        let envelope = Envelope { burst_ns: 10, rate_ns: 3 };
        let calls_ns = [3, 9, 1, 8, 6, 3, 1];
        assert_eq!(
            check_envelope(Phase::Measure, Envelope { burst_ns: 12, ..envelope }, &calls_ns),
            Ok(())
        );
        let error = check_envelope(Phase::Measure, envelope, &calls_ns).unwrap_err();
        let expected = EvaluateError::EnvelopeBroken {
            phase: Phase::Measure,
            last_call: 4,
            calls: 4,
            observed_ns: 24,
            envelope,
        };
        assert_eq!(error, expected);
        assert!(
            error
                .to_string()
                .starts_with("measure, the 4 calls up to call 4: took 0.024 µs together"),
            "{error}"
        );
    }
}
