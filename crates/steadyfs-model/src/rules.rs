//! The rules of crash consistency, each of which can be taken away. The numbers are those of the invariants in `docs/design.md`.
//!
//! Some things that the store does are no rules here, because nothing misses them as long as the others hold: that a failed record before a jump
//! does not count and that a commit counts once (either does, where a failed program is always repeated); that the last record is not applied
//! if it is a copy (it would be copied into the ring); that copies in the ring have sequences below the root's; that a block in which a program failed goes
//! bad; that the log of a leaf which moves is known only if it was so before (it takes more calls than any world here has). All are done all the same.

/// A rule of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// I1: a block without live frames is used again only after a root that was written when it was so.
    Quarantine,
    /// I1: a block with the newest journal page is not empty.
    JournalHoldsBlock,
    /// I2: records name the first sequence of their transaction, and a commit drops pending pages of an older one.
    CommitNamesTransaction,
    /// I3: the copy of a pending page changes the pending mapping only.
    PendingMovesApart,
    /// I3: a move begins with a look whether the fold that made room for it has released the frame.
    MoveOnlyLive,
    /// I4: a root inside a transaction stores the pending pages and the transaction's start.
    RootKeepsPending,
    /// I5: a mount that found changes writes a root before its first answer.
    SettleRoot,
    /// I5: the first change after a clean end writes a root before anything else.
    OpeningWritesRoot,
    /// I5: where the block of a mount's root fails, what was copied there is copied to the next one as well.
    CopiedAgain,
    /// I6: the frame of the last record is copied.
    LastIsCopied,
    /// I6: the journal page is copied, if it is the last record.
    JournalIsCopied,
    /// I6: what an earlier mount copied is copied again.
    CopiesAreCarried,
    /// I6: of what an earlier mount copied and is lost, it is copied that it is lost.
    LostIsCopied,
    /// I6: while a mount empties the ring no leaf is folded: it would be one frame too many for the next mount.
    NoFoldWhileEmptied,
    /// I6: a place of each head that may have been touched is skipped.
    SkipPlaces,
    /// I36: where there is something at the next place of a head that is no record, one place more is skipped.
    SkipBehindTraces,
    /// I36: whatever was programmed since the root says that the heads were in use, whether it can be read or not.
    TracesAreUse,
    /// I6: the places are skipped before the root is written.
    SkipBeforeRoot,
    /// I6: erases that no closed root proves are done again.
    EraseAgain,
    /// I6: the sequence jumps at a mount.
    SequenceJump,
    /// I32: where leaves have logs, the source of the last move counts.
    SourceIsKept,
    /// I37: a leaf with a change in its log that cannot be read, and was not cut, cannot be read.
    LogIsRead,
    /// I19: after a cut a leaf whose log may have been touched is written anew.
    LogIsKnown,
    /// I7: the first program of a head after a mount is a journal page.
    FirstIsJournal,
    /// I8: a root of which a page is missing is not taken.
    RootIsWhole,
    /// I8: a root lists the blocks that may be allocated after it.
    ListBeforeRoot,
    /// I9: a page that is written as a whole while the journal has patches of it is committed by a journal page.
    JournalIsCommitted,
    /// I10: a failed program is repeated in another block.
    RetryElsewhere,
    /// I11: folds happen before the program that commits.
    FoldBeforeCommit,
    /// I12: the last record of a block counts only if its checksum is right.
    LastIsChecked,
    /// I12: the first record of a listed block counts only with its checksum.
    FirstIsChecked,
    /// I15: a number that is missing is a record that is lost.
    GapIsTold,
    /// I23: the sequence jumps behind a program that failed.
    FailuresJump,
    /// I25: a block of the ring with a live frame or the journal page in it is not erased.
    RingBlockInUse,
    /// I27: a fold does not release a frame that was released before.
    SettledBit,
}
