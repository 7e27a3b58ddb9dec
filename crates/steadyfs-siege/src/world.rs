//! What a campaign runs on.

use crate::fault::{Fault, Kind, log_uniform};
use crate::strike::Cut;

/// Kinds of media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MediumKind {
    /// Raw flash: [`Chip`](crate::chip::Chip).
    #[default]
    Chip,
    /// The same. One command programs several pages, and a cut leaves any of them.
    ChipGroups,
    /// A device of sectors: [`Card`](crate::card::Card).
    Card,
    /// The same, whose pages hold their tags.
    CardWithin,
}

impl MediumKind {
    /// Finds a kind by its name on the command line.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "chip" => Some(Self::Chip),
            "chip-groups" => Some(Self::ChipGroups),
            "card" => Some(Self::Card),
            "card-within" => Some(Self::CardWithin),
            _ => None,
        }
    }

    /// Checks whether it is a device of sectors.
    pub fn is_card(self) -> bool {
        matches!(self, Self::Card | Self::CardWithin)
    }

    /// Its name.
    fn name(self) -> &'static str {
        match self {
            Self::Chip => "chip",
            Self::ChipGroups => "chip-groups",
            Self::Card => "card",
            Self::CardWithin => "card-within",
        }
    }
}

/// What the volumes of a campaign have in common.
#[derive(Clone, Copy, Debug, Default)]
pub struct World {
    /// What they lie on.
    pub medium: MediumKind,
    /// They have several streams.
    pub has_streams: bool,
    /// Their leaves have long logs, and their journal long records, where the medium programs bytes.
    pub has_long_logs: bool,
    /// They are nearly full, and all that is written makes pages move.
    pub is_full: bool,
    /// Each mount is lent caches, for what is written and for what is read.
    pub has_cache: bool,
    /// Each call is printed.
    pub is_traced: bool,
}

impl World {
    /// Checks whether pages move together all the time. They do on a full medium with commands for
    /// several.
    pub fn has_groups(&self) -> bool {
        self.is_full && self.medium != MediumKind::Chip
    }

    /// A power cut: one in two meets pages that move together, where they do.
    pub fn any_cut(&self, rng: &mut fastrand::Rng, limit: u32) -> Cut {
        if self.has_groups() && rng.bool() { Cut::Group(rng.u32(..6)) } else { Cut::Operation(log_uniform(rng, limit)) }
    }

    /// A fault: one in two meets pages that move together, where they do.
    pub fn any_fault(&self, rng: &mut fastrand::Rng) -> Fault {
        if self.has_groups() && rng.bool() {
            let after = rng.u32(..6);
            return Fault { kind: Kind::Group, ..Fault::any_program(after, rng) };
        }
        if self.medium.is_card() && rng.u32(..4) == 0 {
            return Fault::flush(log_uniform(rng, 40));
        }
        Fault::any(rng)
    }

    /// A fault to strike in a mount.
    pub fn any_fault_of_a_mount(&self, rng: &mut fastrand::Rng) -> Fault {
        if self.medium.is_card() && rng.u32(..4) == 0 {
            return Fault::flush(rng.u32(..3));
        }
        match rng.u32(..10) {
            0..6 => {
                let after = log_uniform(rng, 60);
                Fault::any_read(after, rng)
            }
            6..8 => {
                let after = rng.u32(..5);
                Fault::any_program(after, rng)
            }
            _ => {
                let after = rng.u32(..2);
                Fault::any_erase(after, rng)
            }
        }
    }

    /// The command that lets one volume of a campaign live again.
    pub fn replay(&self, campaign: &str, seed: u64, index: u32) -> String {
        let mut command = format!("cargo run --release -p steadyfs-siege -- {campaign} --seed {seed} --only {index} --trace");
        if self.medium != MediumKind::Chip {
            command.push_str(" --medium ");
            command.push_str(self.medium.name());
        }
        let flags = [
            (self.has_streams, " --streams"),
            (self.has_long_logs, " --long-logs"),
            (self.is_full, " --full"),
            (self.has_cache, " --cache"),
        ];
        flags.into_iter().filter(|(is_set, _)| *is_set).for_each(|(_, flag)| command.push_str(flag));
        command
    }
}
