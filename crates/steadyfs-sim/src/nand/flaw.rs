//! The damage of a power cut or a failed operation to a page.

use crate::fault::Torn;
use fastrand::Rng;

/// The damage of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// The page reads as before, but a program would not hold.
    Weak,
    /// The page holds garbage: a read returns it, or fails.
    Garbled,
    /// The page reads well or badly.
    Metastable {
        /// True if it reads well, as far as that is decided.
        good: bool,
        /// The event that decides.
        decided: Decided,
    },
}

/// The event that decides if a metastable page reads well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decided {
    /// Each read separately.
    AtEachRead,
    /// The last power-on.
    AtPowerOn,
    /// A power-on some time ago: the page has settled.
    ForGood,
}

impl Flaw {
    /// Returns the flaw of a page that a program or an erase left metastable.
    pub(super) fn metastable(torn: Torn, rng: &mut Rng) -> Self {
        let decided = if torn == Torn::Unstable { Decided::AtEachRead } else { Decided::AtPowerOn };
        Self::Metastable { good: rng.bool(), decided }
    }
}
