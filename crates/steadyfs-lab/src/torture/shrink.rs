//! Makes a failing run smaller: fewer cuts, fewer faults, simpler torn states, fewer steps.

use super::course::Course;
use super::run::{Cut, Run, Span};
use super::torment::Failure;
use steadyfs_sim::Torn;

/// Runs that a shrink may take: a second, or two.
const RUNS_MAX: usize = 600;

/// Shrinks a run that fails.
pub(super) fn shrink(course: &Course, cuts: &[Cut], what: &str) -> Failure {
    let mut shrink = Shrink { course: course.clone(), cuts: cuts.to_vec(), what: what.to_string(), runs: 0 };
    shrink.drop_cuts();
    shrink.drop_faults();
    shrink.shorten();
    shrink.drop_steps();
    shrink.drop_cuts();
    shrink.simplify();
    Failure { replay: shrink.course.with_cuts(&shrink.cuts).to_string(), what: shrink.what }
}

struct Shrink {
    course: Course,
    cuts: Vec<Cut>,
    what: String,
    runs: usize,
}

impl Shrink {
    /// Takes a course and cuts if they still fail.
    fn try_take(&mut self, course: Course, cuts: Vec<Cut>) -> bool {
        self.runs += 1;
        if self.runs > RUNS_MAX {
            return false;
        }
        match course.play(&cuts) {
            Err(what) => {
                (self.course, self.cuts, self.what) = (course, cuts, what);
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
            index += usize::from(!self.try_take(self.course.clone(), cuts));
        }
    }

    fn drop_faults(&mut self) {
        let mut index = 0;
        while index < self.course.run.faults.len() {
            let mut run = self.course.run.clone();
            run.faults.remove(index);
            let made = Course::of(&run);
            let taken = made.is_ok_and(|course| self.try_take(course, self.cuts.clone()));
            index += usize::from(!taken);
        }
    }

    /// Leaves out what comes after the step of the first cut; the steps after the cut are drawn anyhow.
    fn shorten(&mut self) {
        let Some(first) = self.cuts.first() else { return };
        let Ok(marks) = self.course.marks() else { return };
        let begun = marks.iter().take_while(|mark| **mark < first.operation).count();
        // Steps that were left out count as well.
        let kept = (0..self.course.run.steps).filter(|step| !self.course.run.leaves_out(*step));
        let Some(last) = kept.take(begun).last() else { return };
        let run = Run { steps: last + 1, ..self.course.run.clone() };
        self.try_take(self.course.again(&run), self.cuts.clone());
    }

    /// Leaves out half of the steps, then quarters, down to single ones.
    fn drop_steps(&mut self) {
        let steps = self.course.run.steps;
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
        let run = Run { left_out: with_span(&self.course.run.left_out, span), ..self.course.run.clone() };
        if run.left_out == self.course.run.left_out || self.runs > RUNS_MAX {
            return;
        }
        let course = self.course.again(&run);
        let Some(first) = self.cuts.first() else {
            self.try_take(course, Vec::new());
            return;
        };
        let (Ok(before), Ok(after)) = (self.course.marks(), course.marks()) else { return };
        // Marks count from the end: the cut is in the last step that counts.
        let begun = before.iter().take_while(|mark| **mark < first.operation).count();
        let Some(step) = begun.checked_sub(1) else { return };
        let dropped = before.len() - after.len();
        let Some(start) = step.checked_sub(dropped).and_then(|step| after.get(step)) else { return };
        let operation = (start + first.operation).saturating_sub(before[step]);
        // The same place in the step first, and then those about it.
        for operation in [operation, operation + 1, operation.saturating_sub(1)].into_iter().filter(|n| *n > 0) {
            let mut cuts = self.cuts.clone();
            cuts[0].operation = operation;
            if self.try_take(course.clone(), cuts) {
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
                if self.try_take(self.course.clone(), cuts) {
                    break;
                }
            }
        }
    }
}

/// Ranges with one more, joined where they meet.
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
