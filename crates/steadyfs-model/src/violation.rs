//! The forbidden results.

/// A forbidden result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Violation {
    /// A mount found neither the committed data nor the data of the commit in progress.
    CommitLostOrMixed,
    /// A read returned other data than was written.
    WrongRead,
    /// A block with a page that a mount would name was about to be erased.
    EraseOfCommittedPage,
    /// A program met a page that was not erased, or not erased since it was touched.
    ProgramOfTouchedPage,
    /// Two logical pages claim one frame, or a frame does not belong to the logical page that
    /// claims it, or may change.
    WrongClaim,
    /// A frame that the map names may be taken for a dead one.
    LiveMarkLost,
    /// A mount has more to copy than a block of the ring takes.
    CargoTooLarge,
    /// A mount found no way on.
    MountRefused,
    /// A mount reported missing data although nothing was lost.
    ToldForNothing,
    /// A second mount found something else than the first.
    NotIdempotent,
}
