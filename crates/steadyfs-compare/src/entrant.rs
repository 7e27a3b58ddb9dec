//! A file system that can be put on any chip.

use crate::chip::Chip;
use crate::cuts::{self, Cuts};
use crate::result::Outcome;
use serde::{Deserialize, Serialize};
use steadyfs_lab::bench::{Case, Contender, Fault, Medium, Terms, Volume, measure_case};
use steadyfs_lab::torture::caught;

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

/// What one needs to know of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes that files can take together.
    pub usable_bytes: u64,
    /// Bytes of RAM, with one file open.
    pub ram_bytes: u64,
}

/// [`Entrant`] whatever its type.
pub trait AnyEntrant: Sync {
    /// What it is.
    fn facts(&self) -> Facts;

    /// Room and RAM on a chip.
    ///
    /// # Errors
    /// Why it cannot be used there.
    fn extent(&self, chip: Chip) -> Result<Extent, String>;

    /// Measures a case on an erased chip.
    fn measure(&self, chip: Chip, case: Case, terms: &Terms<'_>, tick: &dyn Fn(f64)) -> Outcome;

    /// Cuts its power so many times; `None` where it promises nothing that a cut could break.
    fn cut(&self, medium: &Medium, cuts: u32, seed: u64, tick: &dyn Fn(f64)) -> Option<Cuts>;
}

fn extent_of(mut contender: impl Contender) -> Result<Extent, Fault> {
    contender.format()?;
    let ram_bytes = contender.ram_bytes();
    let usable_bytes = contender.mount()?.room()?.usable_bytes;
    Ok(Extent { usable_bytes, ram_bytes })
}

impl<E: Entrant> AnyEntrant for E {
    fn facts(&self) -> Facts {
        Entrant::facts(self)
    }

    fn extent(&self, chip: Chip) -> Result<Extent, String> {
        let contender = self.on(chip)?;
        caught(|| extent_of(contender))?.map_err(|fault| fault.to_string())
    }

    fn measure(&self, chip: Chip, case: Case, terms: &Terms<'_>, tick: &dyn Fn(f64)) -> Outcome {
        if let Some(reason) = self.cannot(case) {
            return Outcome::skipped(case, reason);
        }
        match self.on(chip) {
            // A chip that is used as none may be stops with the rule that was broken: that ends the case, not the comparison.
            Ok(contender) => match caught(|| measure_case(contender, case, terms, tick)) {
                Ok(result) => Outcome::of(case, result),
                Err(broken) => Outcome::of(case, Err(Fault::Failed(broken))),
            },
            Err(reason) => Outcome::skipped(case, reason),
        }
    }

    fn cut(&self, medium: &Medium, cuts: u32, seed: u64, tick: &dyn Fn(f64)) -> Option<Cuts> {
        self.survives_cuts().then(|| cuts::run(self, medium, cuts, seed, tick))
    }
}
