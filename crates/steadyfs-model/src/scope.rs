//! The size of a world and its possible events, and the worlds that are checked. Each world has a
//! part of all events, to the depth that its size allows.

use crate::call::Call::{self, *};
use crate::numbers::{Block, Page};
use crate::page::{Kind, Reading};
use crate::rules::Rule;
use std::ops::Range;

/// The size of a world, and its possible events.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Its name.
    pub name: &'static str,
    /// Number of data blocks, and of pages in each.
    pub blocks: (u8, u8),
    /// Number of blocks of the ring.
    pub ring: u8,
    /// Number of pages of a root.
    pub root_pages: u8,
    /// Number of frames that may lie in a block of the ring.
    pub copied: u8,
    /// Number of blocks that a root lists.
    pub listed: u8,
    /// Number of entries of the overlay.
    pub overlay: u8,
    /// True if the old frame of a changed page is looked up at once.
    pub near_full: bool,
    /// True if leaves have logs.
    pub logs: bool,
    /// Number of power cuts.
    pub cuts: u8,
    /// Number of failures of programs and erases.
    pub failures: u8,
    /// Number of pages that are lost for good while the power is off.
    pub losses: u8,
    /// True if the last record may be lost as well. A mount takes it for a cut one.
    pub loses_last: bool,
    /// Possible readings of unsteady pages.
    pub readings: &'static [Reading],
    /// The calls.
    pub calls: &'static [Call],
    /// Maximum number of calls of a path, mounts included.
    pub depth: usize,
    /// The rule that is taken away.
    pub without: Option<Rule>,
}

impl Scope {
    /// Returns true if a rule holds.
    pub fn has(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    /// Returns the number of blocks.
    pub fn block_count(&self) -> Block {
        self.blocks.0 + self.ring
    }

    /// Returns true if a block belongs to the ring.
    pub fn is_of_ring(&self, block: Block) -> bool {
        block >= self.blocks.0
    }

    /// Returns the number of pages of a block of the ring: a root, the copies of a mount, the
    /// root's copy.
    pub fn ring_pages(&self) -> u8 {
        2 * self.root_pages + self.copied + 1
    }

    /// Returns the pages of a block.
    pub fn pages_of(&self, block: Block) -> Range<Page> {
        let (data, pages) = self.blocks;
        let of_ring = self.is_of_ring(block);
        let size = if of_ring { self.ring_pages() } else { pages };
        let first = if of_ring { data * pages + (block - data) * size } else { block * pages };
        first..first + size
    }

    /// Returns the block of a page.
    pub fn block_of(&self, page: Page) -> Block {
        let (data, pages) = self.blocks;
        if page < data * pages {
            page / pages
        } else {
            data + (page - data * pages) / self.ring_pages()
        }
    }
}

/// Readings of pages that a cut left: as programmed, with a wrong checksum, as nothing.
const PLAIN: &[Reading] = &[Reading::Good, Reading::Bad, Reading::Noise];
/// Readings of such pages if a cut leaves no trace.
const TRACELESS: &[Reading] = &[Reading::Good, Reading::Blank];
/// Readings with traces, and tags that were never programmed: with the number of another record,
/// and behind a jump.
const FORGED: &[Reading] = &[
    Reading::Good,
    Reading::Bad,
    Reading::Noise,
    Reading::Forged(Kind::DataCommit, 0),
    Reading::Forged(Kind::Journal, 1),
    Reading::Forged(Kind::Journal, 300),
];
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
    Root,
    End,
    Erase,
    MoveJournal,
];

impl Scope {
    /// Every call, two cuts.
    pub const BROAD: Scope = Scope {
        name: "every call",
        blocks: (6, 2),
        ring: 4,
        root_pages: 2,
        copied: 2,
        listed: 3,
        overlay: 2,
        near_full: false,
        logs: false,
        cuts: 2,
        failures: 0,
        losses: 0,
        loses_last: false,
        readings: PLAIN,
        calls: EVERYTHING,
        depth: 4,
        without: None,
    };
    /// Mounts, and cuts in mounts.
    pub const RECOVERY: Scope = Scope {
        name: "recovery",
        calls: &[PowerOff, Save(0), Save(1), Move, Root, End],
        depth: 6,
        ..Scope::BROAD
    };
    /// The same mounts and cuts; a cut leaves no trace.
    pub const TRACELESS: Scope = Scope {
        name: "no traces",
        blocks: (5, 3),
        readings: TRACELESS,
        calls: &[PowerOff, Save(0), Move, Root, End],
        depth: 7,
        ..Scope::BROAD
    };
    /// Three cuts, each of them perhaps in a mount.
    pub const NESTED: Scope =
        Scope { name: "nested", cuts: 3, calls: &[PowerOff, Save(0)], depth: 8, ..Scope::BROAD };
    /// Transactions of several pages and patches.
    pub const TRANSACTIONS: Scope = Scope {
        name: "transactions",
        cuts: 1,
        calls: &[
            PowerOff,
            Write(0),
            Write(1),
            Save(0),
            Patch(0),
            Flush(0),
            Commit,
            Rollback,
            Root,
            Move,
        ],
        depth: 6,
        ..Scope::BROAD
    };
    /// Transactions whose frames move.
    pub const PENDING: Scope = Scope {
        name: "pending",
        cuts: 0,
        calls: &[PowerOff, Write(0), Write(1), Move, Commit],
        depth: 8,
        ..Scope::BROAD
    };
    /// Leaves and moves, without cuts, so that blocks are used several times.
    pub const MAP: Scope = Scope {
        name: "map",
        cuts: 0,
        calls: &[Save(0), Save(1), Fold, Move, Root],
        depth: 9,
        ..Scope::BROAD
    };
    /// Leaves and moves, with a cut.
    pub const FOLDS: Scope = Scope {
        name: "folds",
        cuts: 1,
        calls: &[PowerOff, Save(0), Save(1), Fold, Move],
        depth: 7,
        ..Scope::BROAD
    };
    /// An overlay of one entry: every change folds.
    pub const NARROW: Scope = Scope {
        name: "narrow",
        cuts: 1,
        overlay: 1,
        calls: &[PowerOff, Save(0), Save(1), Write(0), Commit, Move],
        depth: 7,
        ..Scope::BROAD
    };
    /// Frames looked up at once, as on a volume with little free space.
    pub const FULL: Scope = Scope { name: "full", near_full: true, ..Scope::FOLDS };
    /// Leaves with logs, and two cuts.
    pub const LOGS: Scope = Scope {
        name: "logs of leaves",
        blocks: (6, 3),
        logs: true,
        calls: &[PowerOff, Save(0), Fold, Move],
        depth: 9,
        ..Scope::BROAD
    };
    /// The same with a program that fails.
    pub const FAILING_LOGS: Scope =
        Scope { name: "failing logs", ring: 5, cuts: 1, failures: 1, depth: 8, ..Scope::LOGS };
    /// Logs of leaves behind which roots are written. The ring is too long to come round: the
    /// store lets it come round only with records between.
    pub const LOGS_AND_ROOTS: Scope = Scope {
        name: "logs and roots",
        blocks: (5, 4),
        ring: 6,
        cuts: 1,
        calls: &[PowerOff, Save(0), Fold, Move, Root],
        ..Scope::LOGS
    };
    /// A change in the log of a leaf is lost.
    pub const LOST_CHANGES: Scope = Scope {
        name: "lost changes",
        cuts: 1,
        losses: 1,
        calls: &[PowerOff, Save(0), Save(1), Fold, End],
        depth: 8,
        ..Scope::LOGS
    };
    /// Two programs or erases that fail, perhaps in one call.
    pub const FAILURES: Scope = Scope {
        name: "failures",
        ring: 5,
        cuts: 0,
        failures: 2,
        calls: &[PowerOff, Save(0), Write(0), Commit, Move, Patch(1), Root],
        depth: 5,
        ..Scope::BROAD
    };
    /// A program or an erase that fails, and a cut.
    pub const FAILURE: Scope =
        Scope { name: "failure and cut", cuts: 1, failures: 1, ..Scope::FAILURES };
    /// Programs and erases that fail in mounts with two cuts.
    pub const FAILING_MOUNTS: Scope = Scope {
        name: "failing mounts",
        cuts: 2,
        failures: 1,
        calls: &[PowerOff, Save(0)],
        depth: 6,
        ..Scope::FAILURES
    };
    /// Pages that read as tags that were never programmed; three pages in a block.
    pub const FORGERY: Scope = Scope {
        name: "forgery",
        blocks: (5, 3),
        readings: FORGED,
        calls: &[PowerOff, Save(0), Erase, Root],
        depth: 6,
        ..Scope::BROAD
    };
    /// A page is lost for good.
    pub const LOSSES: Scope = Scope {
        name: "losses",
        cuts: 1,
        losses: 1,
        calls: &[PowerOff, Save(0), Save(1), Write(0), Patch(1), Commit, Fold, Move],
        depth: 6,
        ..Scope::BROAD
    };
    /// The last record is lost, and a cut has met the program behind it.
    pub const LOST_LAST: Scope = Scope {
        name: "last record lost",
        blocks: (5, 3),
        loses_last: true,
        calls: &[PowerOff, Save(0), Patch(1), Commit],
        depth: 8,
        ..Scope::LOSSES
    };
    /// The ring goes round while copied frames lie in it.
    pub const ROUND: Scope = Scope {
        name: "round",
        cuts: 1,
        overlay: 3,
        calls: &[PowerOff, Save(0), Save(1), Root],
        depth: 8,
        ..Scope::BROAD
    };
    /// The same, but a mount has to empty the ring although the overlay is full.
    pub const EMPTIED: Scope = Scope { name: "emptied", overlay: 2, ..Scope::ROUND };
    /// A frame that a mount copied is lost before a leaf names it, and other mounts are cut.
    pub const LOST_COPIES: Scope = Scope {
        name: "lost copies",
        cuts: 2,
        overlay: 3,
        calls: &[PowerOff, Save(0), Save(1), Move],
        depth: 7,
        ..Scope::LOSSES
    };
    /// The same loss, after a leaf names the frame.
    pub const LOST_LEAF_COPIES: Scope = Scope {
        name: "lost copies of a leaf",
        overlay: 1,
        calls: &[PowerOff, Save(0), Save(1)],
        depth: 7,
        ..Scope::LOSSES
    };

    /// Returns true if a page may read as a tag that was never programmed.
    pub fn has_forged(&self) -> bool {
        self.readings.iter().any(|reading| matches!(reading, Reading::Forged(..)))
    }
}
