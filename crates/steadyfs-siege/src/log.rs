//! The log of a volume's life: findings, and counts of events.

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::campaign::repair::{Costs, Held};
use crate::world::World;

/// A violation of the rules.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Kind of failure, in a few words.
    pub class: &'static str,
    /// Description of the failure.
    pub detail: String,
}

/// Finding: a call returned another error than documented. The model can follow this finding and
/// the next two, so the volume lives on.
pub(crate) const WRONG_ERROR: &str = "a wrong error";
/// Finding: a call that met a fault undid the open transaction.
pub(crate) const UNDONE_BY_FAULT: &str = "a fault undid the open transaction";
/// Finding: a call that lacked room undid the open transaction.
pub(crate) const UNDONE_FOR_ROOM: &str = "want of room undid the open transaction";

/// Returns true if the model can follow a finding of this class.
pub fn is_followed(class: &str) -> bool {
    [WRONG_ERROR, UNDONE_BY_FAULT, UNDONE_FOR_ROOM].contains(&class)
}

/// Notes about the life of a volume.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Failures.
    pub findings: Vec<Finding>,
    /// Counts of events. They show that a campaign reaches its targets.
    pub counts: BTreeMap<&'static str, u64>,
    /// Costs of lost pages.
    pub costs: BTreeMap<Held, Costs>,
    /// World of the volume.
    pub world: World,
}

impl Log {
    /// Notes a failure.
    pub fn find(&mut self, class: &'static str, detail: impl Into<String>) {
        let detail = detail.into();
        self.trace(|| format!("FINDING {class}: {detail}"));
        self.findings.push(Finding { class, detail });
    }

    /// Adds the notes of another log. Puts the place in front of each finding.
    pub fn take_in(&mut self, other: Log, place: impl Display) {
        other
            .counts
            .into_iter()
            .for_each(|(what, count)| *self.counts.entry(what).or_default() += count);
        other
            .costs
            .iter()
            .for_each(|(held, costs)| self.costs.entry(*held).or_default().add(costs));
        let placed = |finding: Finding| Finding {
            detail: format!("{place}: {}", finding.detail),
            ..finding
        };
        self.findings.extend(other.findings.into_iter().map(placed));
    }

    /// Returns true if the model can still follow the volume.
    pub fn may_go_on(&self) -> bool {
        self.findings.iter().all(|finding| is_followed(finding.class))
    }

    /// Counts an event.
    pub fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Prints a line if calls are traced.
    pub fn trace(&self, line: impl FnOnce() -> String) {
        if self.world.is_traced {
            println!("{}", line());
        }
    }
}
