//! The worlds that are checked: each is a part of what may happen, to the depth that its size allows.

use crate::call::Call::{self, *};
use crate::chip::{Kind, Quality, Reading};
use crate::state::Scope;

/// How pages may read that a cut left: as programmed, with a wrong checksum, as nothing.
const PLAIN: &[Reading] = &[Reading::Good, Reading::Bad, Reading::Noise];
/// The same, and as a tag that was never programmed.
const FORGED: &[Reading] =
    &[Reading::Good, Reading::Bad, Reading::Noise, Reading::Forged(Kind::DataCommit), Reading::Forged(Kind::Journal)];
/// Every call.
const EVERYTHING: &[Call] = &[
    PowerOff,
    Write(0),
    Write(1),
    Save(0),
    Save(1),
    Patch(0),
    Patch(1),
    Flush(0),
    Commit,
    Rollback,
    Move,
    Fold,
    Checkpoint,
    Erase,
    Anchor,
    MoveJournal,
];

impl Scope {
    /// Every call, two cuts.
    pub const BROAD: Scope = Scope {
        name: "broad",
        blocks: (6, 2),
        anchors: (3, 6),
        checkpoint_pages: 2,
        listed: 3,
        overlay: 2,
        near_full: false,
        cuts: 2,
        failures: 0,
        failed: Quality::Good,
        readings: PLAIN,
        calls: EVERYTHING,
        depth: 4,
        without: None,
    };
    /// Mounts, and cuts in mounts.
    pub const RECOVERY: Scope =
        Scope { name: "recovery", calls: &[PowerOff, Save(0), Save(1), Move, Checkpoint], depth: 6, ..Scope::BROAD };
    /// Four anchors and three cuts, each of them perhaps in a mount.
    pub const NESTED: Scope =
        Scope { name: "nested", cuts: 3, anchors: (4, 6), calls: &[PowerOff, Save(0)], depth: 7, ..Scope::BROAD };
    /// Transactions of several pages and patches.
    pub const TRANSACTIONS: Scope = Scope {
        name: "transactions",
        cuts: 1,
        calls: &[PowerOff, Write(0), Write(1), Save(0), Patch(0), Flush(0), Commit, Rollback, Checkpoint, Move],
        depth: 6,
        ..Scope::BROAD
    };
    /// Transactions whose frames move.
    pub const PENDING: Scope =
        Scope { name: "pending", cuts: 0, calls: &[PowerOff, Write(0), Write(1), Move, Commit], depth: 8, ..Scope::BROAD };
    /// Leaves and moves, without cuts, so that blocks are used several times.
    pub const MAP: Scope =
        Scope { name: "map", cuts: 0, calls: &[Save(0), Save(1), Fold, Move, Checkpoint], depth: 9, ..Scope::BROAD };
    /// Leaves and moves, with a cut.
    pub const FOLDS: Scope =
        Scope { name: "folds", cuts: 1, calls: &[PowerOff, Save(0), Save(1), Fold, Move], depth: 7, ..Scope::BROAD };
    /// An overlay of one entry: every change folds.
    pub const NARROW: Scope = Scope {
        name: "narrow",
        cuts: 1,
        overlay: 1,
        calls: &[PowerOff, Save(0), Save(1), Write(0), Commit, Move],
        depth: 7,
        ..Scope::BROAD
    };
    /// Frames looked up at once, as where little is free.
    pub const FULL: Scope = Scope { name: "full", near_full: true, ..Scope::FOLDS };
    /// A program or an erase that fails, and a cut.
    pub const FAILURES: Scope = Scope {
        name: "failures",
        cuts: 1,
        failures: 1,
        failed: Quality::Metastable(None),
        anchors: (4, 6),
        calls: &[PowerOff, Save(0), Write(0), Commit, Move, Patch(1), Checkpoint],
        depth: 5,
        ..Scope::BROAD
    };
    /// Programs and erases that fail in mounts with two cuts.
    pub const FAILING_MOUNTS: Scope =
        Scope { name: "failing mounts", cuts: 2, calls: &[PowerOff, Save(0)], depth: 7, ..Scope::FAILURES };
    /// The same with checkpoints of one page, which may be all that is in an anchor.
    pub const SMALL_CHECKPOINTS: Scope = Scope { name: "small checkpoints", checkpoint_pages: 1, ..Scope::FAILING_MOUNTS };
    /// Pages that read as tags that were never programmed; three pages in a block.
    pub const FORGERY: Scope = Scope {
        name: "forgery",
        blocks: (5, 3),
        readings: FORGED,
        calls: &[PowerOff, Save(0), Erase, Checkpoint],
        depth: 6,
        ..Scope::BROAD
    };
    /// Anchors that take several checkpoints.
    pub const ROOMY: Scope = Scope {
        name: "roomy",
        anchors: (3, 12),
        calls: &[PowerOff, Save(0), Move, Checkpoint, Anchor, Erase],
        depth: 6,
        ..Scope::BROAD
    };
    /// The ring of anchors goes round while rescued frames lie in it: an anchor takes one checkpoint.
    pub const RING: Scope = Scope {
        name: "ring",
        cuts: 0,
        checkpoint_pages: 3,
        anchors: (3, 7),
        calls: &[PowerOff, Save(0), Save(1), Checkpoint],
        depth: 10,
        ..Scope::BROAD
    };

    /// Whether a page may read as a tag that was never programmed.
    pub fn has_forged(&self) -> bool {
        self.readings.iter().any(|reading| matches!(reading, Reading::Forged(_)))
    }
}
