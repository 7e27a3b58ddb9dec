//! The conditions under which a campaign runs.

use crate::fault::{Fault, Kind, log_uniform};
use crate::strike::Cut;

/// Kinds of media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MediumKind {
    /// Raw flash: [`Chip`](crate::chip::Chip).
    #[default]
    Chip,
    /// Raw flash with commands for several pages. A cut leaves any of them.
    ChipGroups,
    /// A device of sectors: [`Card`](crate::card::Card).
    Card,
    /// A device of sectors, whose pages hold their tags.
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

    /// Returns true for a device of sectors.
    pub fn is_card(self) -> bool {
        matches!(self, Self::Card | Self::CardWithin)
    }

    /// Returns the name on the command line.
    fn name(self) -> &'static str {
        match self {
            Self::Chip => "chip",
            Self::ChipGroups => "chip-groups",
            Self::Card => "card",
            Self::CardWithin => "card-within",
        }
    }
}

/// Common properties of the volumes of a campaign.
#[derive(Clone, Copy, Debug, Default)]
pub struct World {
    /// Kind of their medium.
    pub medium: MediumKind,
    /// True if they have several streams.
    pub has_streams: bool,
    /// True if their leaves have long logs and their journals long records, on media that program
    /// bytes.
    pub has_long_logs: bool,
    /// True if they are nearly full, so that every write makes pages move.
    pub is_full: bool,
    /// True if each mount is lent a write cache and a read cache.
    pub has_cache: bool,
    /// True if each call is printed.
    pub is_traced: bool,
}

impl World {
    /// Returns true if pages move together all the time, as on a full medium with commands for
    /// several pages.
    pub fn has_groups(&self) -> bool {
        self.is_full && self.medium != MediumKind::Chip
    }

    /// Draws a power cut. If pages move together, every second cut meets such a move.
    pub fn any_cut(&self, rng: &mut fastrand::Rng, limit: u32) -> Cut {
        if self.has_groups() && rng.bool() {
            Cut::Group(rng.u32(..6))
        } else {
            Cut::Operation(log_uniform(rng, limit))
        }
    }

    /// Draws a fault. If pages move together, every second fault meets such a move.
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

    /// Draws a fault to strike in a mount.
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

    /// Returns the command that replays one volume of a campaign.
    pub fn replay(&self, campaign: &str, seed: u64, index: u32) -> String {
        let mut command = format!(
            "cargo run --release -p steadyfs-siege -- {campaign} --seed {seed} --only {index} \
             --trace"
        );
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
        flags
            .into_iter()
            .filter(|(is_set, _)| *is_set)
            .for_each(|(_, flag)| command.push_str(flag));
        command
    }
}
