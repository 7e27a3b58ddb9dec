//! The rules of how superblocks and anchors change, each of which can be taken away.

/// A rule of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A checkpoint says which superblock is going to change, and the place in doubt.
    Announcement,
    /// The place in doubt is not used.
    DoubtRests,
    /// A superblock that a cut may have hit is erased before it is written.
    TouchedIsErased,
    /// The only good superblock is not erased.
    OnlyOneStays,
    /// The block that lost its place is free only when both superblocks are written.
    LoserWaits,
    /// Where the second superblock goes bad, the list of block 0 stays.
    ListStays,
    /// Block 0 is then written anew all the same.
    OtherIsWritten,
    /// Block 0 has a larger generation then than anything that the other block may still be read as.
    FailedIsOutranked,
    /// Where both have gone bad, the one that failed last counts, and the place in doubt rests for good.
    LastBadCounts,
    /// A superblock's block that goes bad is not marked on the chip: a mount without block 0 would not look at it.
    SuperblockIsNotMarked,
    /// Where the superblock that counts is lost, it is written before the other one is erased.
    LostComesFirst,
    /// A checkpoint says which generation the superblock has that counts: one that lost its newest page looks older.
    GenerationIsKept,
    /// A superblock that is older than the other one is written anew.
    OlderIsWritten,
    /// A mount trusts the superblock that does not change.
    OtherIsTrusted,
    /// A superblock in a bad block is not trusted.
    BadIsNotTrusted,
    /// The sequence jumps beyond anchors that a mount passes over.
    JumpBeyondPassedOver,
    /// The anchor that a mount passes over is the first to be erased.
    PassedOverFirst,
    /// The anchor of the newest complete checkpoint is not erased.
    CompleteKept,
    /// Where the checkpoint of a mount goes on to another anchor, what was rescued is copied again, so that it names nothing in others.
    RescuedAgain,
    /// A mount erases the anchors whose first page is neither erased nor readable.
    UnreadableErased,
    /// An anchor whose first page cannot be read counts as empty.
    FirstPageCounts,
}
