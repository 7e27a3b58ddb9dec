//! Makes a failing run smaller: fewer cuts, fewer faults, simpler torn states, fewer steps.

use super::failure::Failure;
use super::run::{Cut, Run, Span};
use super::scenario::Scenario;
use steadyfs_sim::Torn;

/// Maximum number of runs of a shrink: a second or two.
const RUNS_MAX: usize = 600;

/// Shrinks a run that fails.
pub(super) fn shrink(scenario: &Scenario, cuts: &[Cut], what: &str) -> Failure {
    let mut shrink =
        Shrink { scenario: scenario.clone(), cuts: cuts.to_vec(), what: what.to_string(), runs: 0 };
    shrink.drop_cuts();
    shrink.drop_faults();
    shrink.shorten();
    shrink.drop_steps();
    shrink.drop_cuts();
    shrink.simplify();
    Failure { replay: shrink.scenario.with_cuts(&shrink.cuts).to_string(), what: shrink.what }
}

struct Shrink {
    scenario: Scenario,
    cuts: Vec<Cut>,
    what: String,
    runs: usize,
}

impl Shrink {
    /// Takes a scenario and cuts if they still fail.
    fn try_take(&mut self, scenario: Scenario, cuts: Vec<Cut>) -> bool {
        self.runs += 1;
        if self.runs > RUNS_MAX {
            return false;
        }
        match scenario.play(&cuts) {
            Err(what) => {
                (self.scenario, self.cuts, self.what) = (scenario, cuts, what);
                true
            }
            Ok(_) => false,
        }
    }

    fn drop_cuts(&mut self) {
        let mut index = 0;
        while index < self.cuts.len() {
            let mut cuts = self.cuts.clone();
            cuts.remove(index);
            index += usize::from(!self.try_take(self.scenario.clone(), cuts));
        }
    }

    fn drop_faults(&mut self) {
        let mut index = 0;
        while index < self.scenario.run.faults.len() {
            let mut run = self.scenario.run.clone();
            run.faults.remove(index);
            let made = Scenario::of(&run);
            let taken = made.is_ok_and(|scenario| self.try_take(scenario, self.cuts.clone()));
            index += usize::from(!taken);
        }
    }

    /// Leaves out the steps after the step of the first cut. If the mount is cut, keeps the first
    /// step. The steps after the cut are drawn in any case.
    fn shorten(&mut self) {
        let Some(first) = self.cuts.first() else { return };
        let Ok(marks) = self.scenario.marks() else { return };
        let begun = marks.iter().take_while(|mark| **mark < first.operation).count();
        // Steps that are left out also count.
        let kept = (0..self.scenario.run.steps).filter(|step| !self.scenario.run.leaves_out(*step));
        let Some(last) = kept.take(begun.max(1)).last() else { return };
        let run = Run { steps: last + 1, ..self.scenario.run.clone() };
        self.try_take(self.scenario.again(&run), self.cuts.clone());
    }

    /// Leaves out half of the steps, then quarters, down to single steps.
    fn drop_steps(&mut self) {
        let steps = self.scenario.run.steps;
        let mut length = steps.next_power_of_two() / 2;
        while length > 0 {
            let mut first = 0;
            while first < steps {
                self.drop_span(Span { first, last: (first + length).min(steps) - 1 });
                first += length;
            }
            length /= 2;
        }
    }

    /// Leaves out steps. The first cut stays in its step.
    fn drop_span(&mut self, span: Span) {
        let run = Run {
            left_out: with_span(&self.scenario.run.left_out, span),
            ..self.scenario.run.clone()
        };
        if run.left_out == self.scenario.run.left_out || self.runs > RUNS_MAX {
            return;
        }
        let scenario = self.scenario.again(&run);
        let Some(first) = self.cuts.first() else {
            self.try_take(scenario, Vec::new());
            return;
        };
        let (Ok(before), Ok(after)) = (self.scenario.marks(), scenario.marks()) else { return };
        // The cut is in the last step that begins before it. Dropped steps shift the index of this
        // step.
        let begun = before.iter().take_while(|mark| **mark < first.operation).count();
        let Some(step) = begun.checked_sub(1) else { return };
        let dropped = before.len() - after.len();
        let Some(start) = step.checked_sub(dropped).and_then(|step| after.get(step)) else {
            return;
        };
        let operation = (start + first.operation).saturating_sub(before[step]);
        // The same place in the step is first, then its neighbours.
        for operation in
            [operation, operation + 1, operation.saturating_sub(1)].into_iter().filter(|n| *n > 0)
        {
            let mut cuts = self.cuts.clone();
            cuts[0].operation = operation;
            if self.try_take(scenario.clone(), cuts) {
                return;
            }
        }
    }

    fn simplify(&mut self) {
        for index in 0..self.cuts.len() {
            for torn in [Torn::New, Torn::Old, Torn::Garbled, Torn::Metastable] {
                let mut cuts = self.cuts.clone();
                if cuts[index].torn == torn {
                    break;
                }
                cuts[index].torn = torn;
                if self.try_take(self.scenario.clone(), cuts) {
                    break;
                }
            }
        }
    }
}

/// Adds a range to ranges, and joins ranges that meet.
fn with_span(spans: &[Span], span: Span) -> Vec<Span> {
    let mut all: Vec<Span> = spans.iter().copied().chain([span]).collect();
    all.sort_by_key(|span| span.first);
    let mut joined: Vec<Span> = Vec::new();
    for span in all {
        match joined.last_mut() {
            Some(last) if span.first <= last.last + 1 => last.last = last.last.max(span.last),
            _ => joined.push(span),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_joined_where_they_meet() {
        let span = |first, last| Span { first, last };
        let spans = with_span(&[span(0, 3), span(8, 9)], span(4, 5));
        assert_eq!(spans, [span(0, 5), span(8, 9)]);
        assert_eq!(with_span(&spans, span(6, 7)), [span(0, 9)]);
    }
}
