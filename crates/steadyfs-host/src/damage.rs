//! Descriptions of losses and unsettled states of a volume, for people and programs.

use steadyfs::Damage;

/// Returns the name of the damage, one word for programs.
pub fn name(damage: Damage) -> &'static str {
    match damage {
        Damage::Root => "root",
        Damage::Record => "record",
        Damage::Journal => "journal",
        Damage::Leaf => "leaf",
        Damage::Repair => "repair",
        Damage::Tables => "tables",
        _ => "unknown",
    }
}

/// Describes the loss and its effect, in one sentence.
pub fn describe(damage: Damage) -> &'static str {
    match damage {
        Damage::Root => {
            "the newest root cannot be read: commits since the root before it may be missing"
        }
        Damage::Record => {
            "a change since the newest root cannot be read: the changed page has its earlier \
             content"
        }
        Damage::Journal => {
            "the newest journal page cannot be read: its small changes are missing; with few \
             files, these may be all changes since the format"
        }
        Damage::Leaf => "a page of the map cannot be read, nor the pages that it maps",
        Damage::Tables => "a table of the file system cannot be read: the free room is unknown",
        Damage::Repair => "a repair began and has not ended",
        _ => "a part of the volume cannot be read",
    }
}

macro_rules! remedy {
    ($repair:literal) => {
        concat!("the volume is read-only until `", $repair, "` accepts the loss")
    };
}

/// Text that describes the remedy for the damage, on the command line.
pub const REMEDY: &str = remedy!("steady check --repair");
/// Text that describes the remedy for the damage, in Python.
pub const REMEDY_IN_PYTHON: &str = remedy!("check(repair=True)");

/// One sentence about the effect of a read-only mount on a volume that was not unmounted.
pub const UNSETTLED: &str =
    "was not unmounted: the last commit may be there or not, until a mount for writing decides";
