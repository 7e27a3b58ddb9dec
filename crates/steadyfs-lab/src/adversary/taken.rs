//! The time of a call, and its bound with its parts.

use serde::{Deserialize, Serialize};

/// Time and bound of a call, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Time of the chip.
    pub time_ns: u64,
    /// Bound of the call, just before it.
    pub bound: Told,
}

/// The bound of a call, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The bound.
    pub bound_ns: u64,
    /// Its parts. If a write covers several pages, they are the parts of the first page's bound. A
    /// mount and an unmount have no parts.
    pub parts: Option<Parts>,
}

/// The parts of a bound ([`BoundBreakdown`](steadyfs::BoundBreakdown)), in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    /// The look-ups of the call, its pages, and the commit.
    pub call_ns: u64,
    /// Pages with small changes of earlier calls, and steps that free pages of removed files.
    pub earlier_ns: u64,
    /// Moves of frames, and leaf write-backs.
    pub reclamation_ns: u64,
    /// Programs of roots.
    pub root_ns: u64,
    /// Erases.
    pub erase_ns: u64,
}
