//! The rules of crash consistency, each of which can be taken away.

/// A rule of the protocol; the numbers are those of "Power loss" in `docs/design.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// 1: a block without live frames is used again only after a checkpoint that was written when it was so.
    Quarantine,
    /// 2: records name the first sequence of their transaction, and a commit drops pending pages of an older one.
    CommitNamesTransaction,
    /// 3: the newest copy of a page counts, whatever it was copied from: the one before may be of a program that failed.
    RepetitionCounts,
    /// 3: the copy of a pending page changes the pending mapping only.
    PendingMovesApart,
    /// 4: a checkpoint inside a transaction stores the pending pages and the transaction's start.
    CheckpointKeepsPending,
    /// 5: a mount goes on to a freshly erased anchor.
    FreshAnchor,
    /// 5: the frame of the last record is copied.
    RescueFrame,
    /// 5: the journal page is copied.
    RescueJournal,
    /// 5: frames that an earlier mount rescued are collected from the anchor that was current.
    CollectRescued,
    /// They are collected from every other anchor as well.
    CollectFromAll,
    /// 5: the sequence jumps, so that no number is used twice.
    SequenceJump,
    /// 5: it jumps beyond newer anchors that hold nothing complete: theirs may read as complete later.
    JumpBeyondIgnored,
    /// 5: the newest of these is the first to be erased: it may name frames in another one.
    IgnoredIsErased,
    /// 5: where the checkpoint of a mount fails, what was rescued is copied to the next anchor as well.
    RescuedAgain,
    /// 5: an anchor of a mount begins with another page than its checkpoint, so that it can be told when that one is not complete.
    CheckpointIsNotFirst,
    /// 5: a mount ends with a checkpoint.
    SettleCheckpoint,
    /// 5: a place of each head that may have been touched is skipped.
    SkipPlaces,
    /// 5: the places are skipped before the checkpoint is written.
    SkipBeforeCheckpoint,
    /// 5: erases that no checkpoint proves are done again.
    EraseAgain,
    /// 5: the last record counts only if its checksum is right.
    LastIsChecked,
    /// An anchor with a live frame or the journal page in it is not erased.
    AnchorInUse,
    /// A mount knows the live frames before it erases an anchor.
    AnchorInUseAtMount,
    /// The anchor of the newest complete checkpoint is not erased.
    CompleteAnchorKept,
    /// A checkpoint of which a page is missing is not adopted.
    CheckpointIsComplete,
    /// A checkpoint lists the blocks that may be allocated after it.
    ListBeforeCheckpoint,
    /// A block with the newest journal page is not empty.
    JournalHoldsBlock,
    /// The settled bit: a fold does not release a frame that was released before.
    SettledBit,
    /// A move begins with a look whether the fold that made room for it has released the frame.
    MoveOnlyLive,
    /// 6: a page that is written as a whole while the journal has patches of it is committed by a journal page.
    JournalIsCommitted,
    /// 7: the first program after a mount is a journal page.
    FirstIsJournal,
    /// 8: a failed program is repeated in another block.
    RetryElsewhere,
    /// 8: a record before a gap is looked at as a whole.
    GapIsVerified,
    /// 8: the repetition of a journal page commits nothing a second time.
    CommitCountsOnce,
    /// 8: the block of a failed program goes bad when it is empty.
    Retire,
    /// 9: folds happen before the program that commits.
    FoldBeforeCommit,
    /// 10: the first record of a listed block counts only with its checksum.
    FirstIsChecked,
}
