//! The forbidden results.

/// A forbidden result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Violation {
    /// A mount found neither the committed value nor the value of the commit in progress.
    CommitLost,
    /// A program met a page that was not erased since it was touched.
    ProgramOfTouchedPage,
    /// A mount found no root.
    NoRoot,
    /// A mount began with a root that needs destroyed data.
    OldRoot,
    /// The committed value cannot be read any more, although nothing was lost.
    Unreadable,
    /// A page is lost, no mount for writing succeeds any more, and no mount reports the loss.
    NeverMounts,
    /// A mount reported missing data although nothing was lost.
    ToldForNothing,
    /// No block of the ring may be erased.
    RingTooSmall,
}
