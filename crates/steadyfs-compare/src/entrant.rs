//! A file system that can be used on any chip.

use crate::chip::Chip;
use serde::{Deserialize, Serialize};
use steadyfs_lab::bench::{Case, Contender};

/// The identity of a contender, and its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// A short name without spaces, for options and files.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its version, or the commit that was built.
    pub version: String,
    /// Its source.
    pub source: String,
    /// Its licence.
    pub licence: String,
    /// The chosen settings.
    pub configuration: String,
    /// The reason for these settings, from its own documentation.
    pub because: String,
    /// Its promise about power cuts.
    pub contract: String,
    /// Its promise about the time of a call.
    pub timing: String,
}

impl Facts {
    /// Returns true for SteadyFS, with any format.
    pub fn is_ours(&self) -> bool {
        self.id.starts_with("steadyfs")
    }

    /// Returns true for a file system, and false for the chip alone.
    pub fn is_file_system(&self) -> bool {
        self.id != "raw"
    }
}

/// A contender before it has a chip.
pub trait Entrant: Sync {
    /// The contender on a chip.
    type On: Contender;

    /// Returns the facts about the contender.
    fn facts(&self) -> Facts;

    /// Puts the contender on a chip. Formats nothing.
    ///
    /// # Errors
    /// The reason why the contender cannot be used on such a chip.
    fn on(&self, chip: Chip) -> Result<Self::On, String>;

    /// Returns the same volume on a twin of its chip, not mounted. A contender with data outside
    /// the chip copies the data here.
    ///
    /// # Errors
    /// As for [`Entrant::on`].
    fn twin(&self, of: &Self::On, chip: Chip) -> Result<Self::On, String> {
        let _ = of;
        self.on(chip)
    }

    /// Returns the reason why the contender cannot run a case, if it cannot.
    fn cannot(&self, case: Case) -> Option<String> {
        let _ = case;
        None
    }

    /// Returns true if the contender takes the smallest erase size of a chip, and not the erase size
    /// of the board.
    fn takes_sectors(&self) -> bool {
        false
    }

    /// Returns true for a file system, for which power cuts are meaningful.
    fn survives_cuts(&self) -> bool {
        true
    }
}
