//! What a power cut or a failed operation does to a page.

use crate::fault::Torn;
use fastrand::Rng;

/// What is wrong with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// It reads as it did before, but a program would not hold.
    Weak,
    /// It holds garbage: a read gives that, or fails.
    Garbled,
    /// It reads well or badly.
    Metastable {
        /// Whether it reads well, as far as that is decided.
        good: bool,
        /// What decides.
        decided: Decided,
    },
}

/// What decides whether a metastable page reads well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decided {
    /// Each read for itself.
    AtEachRead,
    /// The last power-on.
    AtPowerOn,
    /// A power-on some time ago: the page has settled.
    ForGood,
}

impl Flaw {
    /// A page that a program or an erase left metastable.
    pub(super) fn metastable(torn: Torn, rng: &mut Rng) -> Self {
        let decided = if torn == Torn::Unstable { Decided::AtEachRead } else { Decided::AtPowerOn };
        Self::Metastable { good: rng.bool(), decided }
    }
}
