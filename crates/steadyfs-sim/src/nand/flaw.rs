//! The damage of a power cut or a failed operation to a page.

use crate::fault::Torn;
use fastrand::Rng;

/// The damage of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// The page reads as before, but a program of it would leave garbage.
    Weak,
    /// The page holds garbage: a read returns the garbage or fails.
    Garbled,
    /// The page reads well or badly.
    Metastable {
        /// True if the page reads well, if this is already decided.
        good: bool,
        /// The event that decides if the page reads well.
        decided: Decided,
    },
}

/// The event that decides if a metastable page reads well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decided {
    /// Each read decides separately.
    AtEachRead,
    /// The last power-on has decided.
    AtPowerOn,
    /// An earlier power-on has decided: the page has settled.
    ForGood,
}

impl Flaw {
    /// Returns the flaw of a page that a program or an erase left metastable.
    pub(super) fn metastable(torn: Torn, rng: &mut Rng) -> Self {
        let decided = if torn == Torn::Unstable { Decided::AtEachRead } else { Decided::AtPowerOn };
        Self::Metastable { good: rng.bool(), decided }
    }
}
