//! Losses and unsettled states of a volume, in words for people and programs.

use steadyfs::Damage;

/// Returns one word for programs.
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
            "the newest root cannot be read: what was committed since the one before may be missing"
        }
        Damage::Record => {
            "a change since the newest root cannot be read: what it was of has the content of before"
        }
        Damage::Journal => {
            "the newest journal page cannot be read: the small changes that it held are missing, with few files perhaps all since the format"
        }
        Damage::Leaf => "a page of the map cannot be read: nor can what it maps",
        Damage::Tables => "a table of the file system cannot be read: nobody knows what is free",
        Damage::Repair => "a repair was begun that has not ended",
        _ => "something cannot be read",
    }
}

/// Remedy for the damage.
pub const REMEDY: &str = "the volume can only be read until `steady check --repair` accepts that";

/// Effect of a mount for reading of a volume that was not unmounted, in one sentence.
pub const UNSETTLED: &str =
    "was not unmounted: until a mount for writing settles it, the last commit may be there or not";
