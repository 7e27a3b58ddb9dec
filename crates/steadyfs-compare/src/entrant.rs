//! A file system that can be put on any chip.

use crate::chip::Chip;
use serde::{Deserialize, Serialize};
use steadyfs_lab::bench::{Case, Contender};

/// What a contender is, and how it was set up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// A short name without spaces, for options and files.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its version, or the commit that was built.
    pub version: String,
    /// Where it comes from.
    pub source: String,
    /// Its licence.
    pub licence: String,
    /// The settings that were chosen.
    pub configuration: String,
    /// Why these: what its own documentation says.
    pub because: String,
    /// What it promises of a power cut.
    pub contract: String,
    /// What it promises of the time of a call.
    pub timing: String,
}

impl Facts {
    /// Whether it is SteadyFS, however it was formatted.
    pub fn is_ours(&self) -> bool {
        self.id.starts_with("steadyfs")
    }

    /// Whether it is a file system, and not the chip alone.
    pub fn is_file_system(&self) -> bool {
        self.id != "raw"
    }
}

/// A contender before it has a chip.
pub trait Entrant: Sync {
    /// The contender on a chip.
    type On: Contender;

    /// What it is.
    fn facts(&self) -> Facts;

    /// Puts it on a chip; nothing is formatted yet.
    ///
    /// # Errors
    /// Why it cannot be used on such a chip.
    fn on(&self, chip: Chip) -> Result<Self::On, String>;

    /// The same volume on a twin of its chip; nothing is mounted. Who knows what is not on the chip as well tells it here.
    ///
    /// # Errors
    /// Those of [`Entrant::on`].
    fn twin(&self, of: &Self::On, chip: Chip) -> Result<Self::On, String> {
        let _ = of;
        self.on(chip)
    }

    /// Why it cannot do a case, if that is so.
    fn cannot(&self, case: Case) -> Option<String> {
        let _ = case;
        None
    }

    /// Whether it is a file system, of which power cuts say something.
    fn survives_cuts(&self) -> bool {
        true
    }
}
