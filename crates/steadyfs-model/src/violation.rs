//! What must never be.

/// What must never be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Violation {
    /// A mount found neither what was committed nor what was being committed.
    CommitLostOrMixed,
    /// A reader sees something else than was written.
    WrongRead,
    /// A block with a page that a mount would name was about to be erased.
    EraseOfCommittedPage,
    /// A page was programmed that was not erased, or not since it was touched.
    ProgramOfTouchedPage,
    /// Two logical pages claim one frame, or a frame is not of the logical page that claims it, or may change.
    WrongClaim,
    /// A frame that the map names may be taken for a dead one.
    LiveMarkLost,
    /// A mount has more to copy than a block of the ring takes.
    CargoTooLarge,
    /// A mount found no way on.
    MountRefused,
    /// A mount missed something where nothing was lost.
    ToldForNothing,
    /// A second mount found something else than the first.
    NotIdempotent,
}
