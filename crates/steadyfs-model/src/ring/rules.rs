//! The rules of the ring, each of which can be taken away. The numbers are those of the invariants in `docs/design.md`.
//!
//! Three things are no rules here, because nothing misses them: numbers of roots jump at a mount, where no root is certain the oldest one that counts
//! is not erased, and the first change after a clean end erases the blocks of which nobody can tell what they hold. All are done.

/// A rule of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// I8: a root counts only when a page of its copies can be read.
    SealedRoots,
    /// I25: a mount does not erase the newest certain root.
    CertainIsKept,
    /// I26: a root that only one page of its copies names counts only if what it names in its own block can be read.
    OneSealNeedsItsOwn,
    /// I26: should something be missing behind such a root, the one before is the newest.
    OneBefore,
    /// I29: a root that is not certain counts only if it follows the newest one that is.
    CertainIsFollowed,
    /// I29: a root that failed behind the first page of its copies counts, and the next one follows it.
    FailedIsFollowed,
    /// I6: they are larger than those of roots that do not count.
    OutrankAllSeen,
    /// I5: each power cycle begins with a block of the ring of its own.
    FreshBlock,
    /// I5: a mount that found changes writes a root before its first answer.
    SettleRoot,
    /// I5: what a mount copies is complete before the seals of its root.
    SealsComeLast,
    /// I5: all pages of the copies are programmed before anything else.
    WholeCopies,
    /// I5: the first change after a clean end writes a root before anything else.
    OpeningWritesRoot,
    /// I6: the last record is copied.
    LastIsCopied,
    /// I6: what an earlier mount copied is copied again.
    CopiesAreCarried,
    /// I6: of what an earlier mount copied and is lost, it is copied that it is lost.
    LostIsCopied,
    /// I6: a place of the log is skipped.
    SkipPlaces,
    /// I25: a block with the newest record in it is not erased.
    BlockInUse,
    /// I22: before its first answer a mount erases the blocks of which nobody can tell what they hold.
    UnknownAreErased,
    /// I22: the search for the end of a block passes over the gap between a root and what was copied.
    EndPassesGap,
    /// I15: where the first page of a block is lost, another one tells the number of its root.
    AnotherPageTells,
    /// I15: a page that reads as damaged is read again.
    ReadAgain,
    /// I19: a mount completes the mark before it begins a root of its own.
    MarkIsCompleted,
    /// I21: only a root that counts at every mount gets a mark.
    OnlyFirmRootsAreMarked,
    /// I21: and only where nothing of a newer one was seen.
    OnlyNewestIsMarked,
}
