//! What a campaign runs on.

use std::fmt::Write;

/// Kinds of media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MediumKind {
    /// Raw flash: [`Chip`](crate::chip::Chip).
    #[default]
    Chip,
    /// A device of sectors: [`Card`](crate::card::Card).
    Card,
}

impl MediumKind {
    /// Finds a kind by its name on the command line.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "chip" => Some(Self::Chip),
            "card" => Some(Self::Card),
            _ => None,
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
    /// Each call is printed.
    pub is_traced: bool,
}

impl World {
    /// The command that lets one volume of a campaign live again.
    pub fn replay(&self, campaign: &str, seed: u64, index: u32) -> String {
        let mut command = format!("cargo run --release -p steadyfs-siege -- {campaign} --seed {seed} --only {index} --trace");
        if self.medium == MediumKind::Card {
            write!(command, " --medium card").expect("a string takes everything");
        }
        if self.has_streams {
            write!(command, " --streams").expect("a string takes everything");
        }
        if self.has_long_logs {
            write!(command, " --long-logs").expect("a string takes everything");
        }
        command
    }
}
