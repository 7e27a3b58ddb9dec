//! What a check of files and one of a disk tell alike: what the mount found missing, and the findings.

use serde::Serialize;
use steadyfs::Damage;
use steadyfs_host::damage;

/// What the mount found missing.
#[derive(Serialize, Clone, Copy)]
pub(super) struct Missing {
    /// Root, record, journal or leaf; nothing where all is there.
    pub(super) damage: Option<&'static str>,
    /// Whether that is accepted.
    pub(super) repaired: bool,
    #[serde(skip)]
    pub(super) lost: Option<Damage>,
}

impl Missing {
    /// What was missing, and is accepted now or not.
    pub(super) fn of(lost: Option<Damage>, left: Option<Damage>) -> Self {
        Self { damage: lost.map(damage::name), repaired: lost.is_some() && left.is_none(), lost }
    }

    pub(super) fn count(&self) -> u64 {
        self.lost.is_some().into()
    }

    pub(super) fn line(&self) -> String {
        let Some(lost) = self.lost else { return String::new() };
        let then = if self.repaired { "that is accepted, and the volume can be changed again" } else { damage::REMEDY };
        format!("{}; {then}\n", damage::describe(lost))
    }
}

/// A line for each.
pub(super) fn lines(findings: &[String]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}
