//! The parts that checks of files and of disks share: the damage that the mount found, and the
//! findings.

use serde::Serialize;
use steadyfs::Damage;
use steadyfs_host::damage;

/// The damage that the mount found.
#[derive(Serialize, Clone, Copy)]
pub(super) struct Missing {
    /// Root, record, journal or leaf; `None` if everything is there.
    pub(super) damage: Option<&'static str>,
    /// True if the damage is accepted.
    pub(super) repaired: bool,
    #[serde(skip)]
    pub(super) lost: Option<Damage>,
}

impl Missing {
    /// Returns the damage `lost`. It is accepted now if the damage `left` is `None`.
    pub(super) fn of(lost: Option<Damage>, left: Option<Damage>) -> Self {
        Self { damage: lost.map(damage::name), repaired: lost.is_some() && left.is_none(), lost }
    }

    pub(super) fn count(&self) -> u64 {
        self.lost.is_some().into()
    }

    pub(super) fn line(&self) -> String {
        let Some(lost) = self.lost else { return String::new() };
        let then = if self.repaired {
            "that is accepted, and the volume can be changed again"
        } else {
            damage::REMEDY
        };
        format!("{}; {then}\n", damage::describe(lost))
    }
}

/// Returns a line for each finding.
pub(super) fn lines(findings: &[String]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}
