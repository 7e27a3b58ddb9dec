//! The rules of crash consistency, each of which can be taken away. The numbers refer to the
//! invariants in `docs/design.md`.
//!
//! Some properties of the store are no rules here, because the checks succeed without them as
//! long as the rules hold. The model has these properties all the same:
//!
//! - A failed record before a jump does not count, and a commit counts once. Either one suffices
//!   if a failed program is always repeated.
//! - The last record is not applied if it is a copy. It would be copied into the ring.
//! - Copies in the ring have sequences below the root's sequence.
//! - A block in which a program failed goes bad.
//! - The log of a moved leaf is known only if it was known before. A test of this takes more
//!   calls than any world here has.

/// A rule of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// I1: a block without live frames is used again only after a root that was written in that
    /// state.
    Quarantine,
    /// I1: a block with the newest journal page is not empty.
    JournalHoldsBlock,
    /// I2: records name the first sequence of their transaction, and a commit drops pending pages
    /// of an older one.
    CommitNamesTransaction,
    /// I3: the copy of a pending page changes the pending mapping only.
    PendingMovesApart,
    /// I3: a move first checks that the fold which made room for it has not released the frame.
    MoveOnlyLive,
    /// I4: a root inside a transaction stores the pending pages and the transaction's start.
    RootKeepsPending,
    /// I5: a mount that found changes writes a root before its first answer.
    SettleRoot,
    /// I5: the first change after a clean end writes a root before anything else.
    OpeningWritesRoot,
    /// I5: if the block of a mount's root fails, the frames copied there are copied to the next
    /// block as well.
    CopiedAgain,
    /// I6: the frame of the last record is copied.
    LastIsCopied,
    /// I6: the journal page is copied, if it is the last record.
    JournalIsCopied,
    /// I6: the frames that an earlier mount copied are copied again.
    CopiesAreCarried,
    /// I6: if a frame that an earlier mount copied is lost, its copy records the loss.
    LostIsCopied,
    /// I6: while a mount empties the ring no leaf is folded. A fold would be one frame too many
    /// for the next mount.
    NoFoldWhileEmptied,
    /// I6: one place of each head that may have been touched is skipped.
    SkipPlaces,
    /// I36: if the next place of a head holds something that is no record, one more place is
    /// skipped.
    SkipBehindTraces,
    /// I36: anything that was programmed since the root proves that the heads were in use,
    /// readable or not.
    TracesAreUse,
    /// I6: the places are skipped before the root is written.
    SkipBeforeRoot,
    /// I6: erases that no closed root proves are done again.
    EraseAgain,
    /// I6: the sequence jumps at a mount.
    SequenceJump,
    /// I32: if leaves have logs, the source of the last move counts.
    SourceIsKept,
    /// I37: if a change in the log of a leaf is unreadable, and was not cut, the leaf is
    /// unreadable.
    LogIsRead,
    /// I19: after a cut, a leaf whose log may have been touched is written anew.
    LogIsKnown,
    /// I7: the first program of a head after a mount is a journal page.
    FirstIsJournal,
    /// I8: a root with a missing page is not used.
    RootIsWhole,
    /// I8: a root lists the blocks that may be allocated after it.
    ListBeforeRoot,
    /// I9: a journal page commits a page that is written as a whole while the journal has patches
    /// of it.
    JournalIsCommitted,
    /// I10: a failed program is repeated in another block.
    RetryElsewhere,
    /// I11: folds happen before the program that commits.
    FoldBeforeCommit,
    /// I12: the last record of a block counts only if its checksum is right.
    LastIsChecked,
    /// I12: the first record of a listed block counts only with its checksum.
    FirstIsChecked,
    /// I15: a missing number is a lost record.
    GapIsTold,
    /// I23: the sequence jumps behind a failed program.
    FailuresJump,
    /// I25: a block of the ring with a live frame or the journal page in it is not erased.
    RingBlockInUse,
    /// I27: a fold does not release a frame that was released before.
    SettledBit,
}
