//! The rules of the ring, each of which can be taken away. The numbers refer to the invariants in
//! `docs/design.md`.
//!
//! Three properties are no rules here, because the checks succeed without them. The model has all
//! three:
//!
//! - Numbers of roots jump at a mount.
//! - If no root is certain, the oldest root that counts is not erased.
//! - The first change after a clean end erases the blocks with unknown content.

/// A rule of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// I8: a root counts only if a page of its copies can be read.
    SealedRoots,
    /// I25: a mount does not erase the newest certain root.
    CertainIsKept,
    /// I26: some roots have only one readable page of their copies. Such a root counts only if
    /// the content that it names in its own block can be read.
    OneSealNeedsItsOwn,
    /// I26: if something is missing behind such a root, the root before it is the newest.
    OneBefore,
    /// I29: a root that is not certain counts only if it follows the newest certain root.
    CertainIsFollowed,
    /// I29: a root that failed behind the first page of its copies counts, and the next root
    /// follows it.
    FailedIsFollowed,
    /// I6: numbers of new roots are larger than the numbers of roots that do not count.
    OutrankAllSeen,
    /// I5: each power cycle begins with its own block of the ring.
    FreshBlock,
    /// I5: a mount that found changes writes a root before its first answer.
    SettleRoot,
    /// I5: the copies of a mount are complete before the seals of its root.
    SealsComeLast,
    /// I5: all pages of the copies are programmed before anything else.
    WholeCopies,
    /// I5: the first change after a clean end writes a root before anything else.
    OpeningWritesRoot,
    /// I6: the last record is copied.
    LastIsCopied,
    /// I6: the record that an earlier mount copied is copied again.
    CopiesAreCarried,
    /// I6: if the record that an earlier mount copied is lost, its copy records the loss.
    LostIsCopied,
    /// I6: a place of the log is skipped.
    SkipPlaces,
    /// I25: a block with the newest record in it is not erased.
    BlockInUse,
    /// I22: before its first answer a mount erases the blocks with unknown content.
    UnknownAreErased,
    /// I22: the search for the end of a block passes over the gap between a root and the copies
    /// behind it.
    EndPassesGap,
    /// I15: if the first page of a block is lost, another page gives the number of its root.
    AnotherPageTells,
    /// I15: a page that reads as damaged is read again.
    ReadAgain,
    /// I19: a mount completes the mark before it begins a root of its own.
    MarkIsCompleted,
    /// I21: only a root that counts at every mount gets a mark.
    OnlyFirmRootsAreMarked,
    /// I21: a root gets a mark only if no part of a newer root was seen.
    OnlyNewestIsMarked,
}
