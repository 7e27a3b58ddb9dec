//! What must never be.

/// What must never be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Violation {
    /// A mount found neither what was committed nor what was being committed.
    CommitLost,
    /// A page was programmed that was not erased since it was touched.
    ProgramOfTouchedPage,
    /// A mount found no root.
    NoRoot,
    /// A mount began with a root of which something it needs is destroyed.
    OldRoot,
    /// What was committed can be read no more, where nothing was lost.
    Unreadable,
    /// A page is lost, and no mount for writing succeeds any more, nor says what is lost.
    NeverMounts,
    /// A mount missed something where nothing was lost.
    ToldForNothing,
    /// No block of the ring may be erased.
    RingTooSmall,
}
