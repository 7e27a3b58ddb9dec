//! What a volume's life showed: findings, and counts of what happened.

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::campaign::repair::{Costs, Held};
use crate::world::World;

/// Something that must not be.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The kind of failure, a few words.
    pub class: &'static str,
    /// What happened.
    pub detail: String,
}

/// Findings after which a volume lives on, because the model can follow: the error is another one than documented.
pub(crate) const WRONG_ERROR: &str = "a wrong error";
/// The same: what the open transaction had was undone by a call that met a fault.
pub(crate) const UNDONE_BY_FAULT: &str = "a fault undid the open transaction";
/// The same: by a call that lacked room.
pub(crate) const UNDONE_FOR_ROOM: &str = "want of room undid the open transaction";

/// Whether the model can follow what was found.
pub fn is_followed(class: &str) -> bool {
    [WRONG_ERROR, UNDONE_BY_FAULT, UNDONE_FOR_ROOM].contains(&class)
}

/// Everything that is noted while a volume lives.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Failures.
    pub findings: Vec<Finding>,
    /// Counts of what happened, to see that a campaign reaches what it means to.
    pub counts: BTreeMap<&'static str, u64>,
    /// What lost pages cost.
    pub costs: BTreeMap<Held, Costs>,
    /// What it lives on.
    pub world: World,
}

impl Log {
    /// Notes a failure.
    pub fn find(&mut self, class: &'static str, detail: impl Into<String>) {
        let detail = detail.into();
        self.trace(|| format!("FINDING {class}: {detail}"));
        self.findings.push(Finding { class, detail });
    }

    /// Takes in what was noted apart, its findings with the place where they were made.
    pub fn take_in(&mut self, other: Log, place: impl Display) {
        other.counts.into_iter().for_each(|(what, count)| *self.counts.entry(what).or_default() += count);
        other.costs.iter().for_each(|(held, costs)| self.costs.entry(*held).or_default().add(costs));
        let placed = |finding: Finding| Finding { detail: format!("{place}: {}", finding.detail), ..finding };
        self.findings.extend(other.findings.into_iter().map(placed));
    }

    /// Whether the model still knows what is on the volume.
    pub fn may_go_on(&self) -> bool {
        self.findings.iter().all(|finding| is_followed(finding.class))
    }

    /// Counts something.
    pub fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Prints a line where calls are traced.
    pub fn trace(&self, line: impl FnOnce() -> String) {
        if self.world.is_traced {
            println!("{}", line());
        }
    }
}
