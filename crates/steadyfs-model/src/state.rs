//! The state of the model: the chip, what RAM knows, and what the caller may rely on.

use crate::call::Call;
use crate::chip::{Block, Cell, Chip, IDLE, NONE, Page, Quality, Reading, Sequence};
use crate::rules::Rule;
use std::ops::Range;

/// Logical pages; one leaf maps them all.
pub const LOGICAL: usize = 2;
/// One value for each logical page.
pub type Pages<T> = [T; LOGICAL];
/// Index of a head.
pub const USER: usize = 0;
/// Index of a head.
pub const MOVED: usize = 1;
/// Index of a head.
pub const JOURNAL: usize = 2;

/// The size of a world, and what may happen in it.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Its name.
    pub name: &'static str,
    /// Data blocks, and pages in each.
    pub blocks: (u8, u8),
    /// Anchors, and pages in each: three for rescued frames, one for the journal, and the checkpoint's.
    pub anchors: (u8, u8),
    /// Pages of a checkpoint.
    pub checkpoint_pages: u8,
    /// Blocks that a checkpoint lists.
    pub listed: u8,
    /// Entries of the overlay.
    pub overlay: u8,
    /// Whether the old frame of a page that changes is looked up at once.
    pub near_full: bool,
    /// Power cuts.
    pub cuts: u8,
    /// Failures of programs and erases.
    pub failures: u8,
    /// How a page whose program failed reads, besides well and damaged.
    pub failed: Quality,
    /// How metastable pages and torn ones may read.
    pub readings: &'static [Reading],
    /// The calls.
    pub calls: &'static [Call],
    /// Most calls of a path, mounts included.
    pub depth: usize,
    /// The rule that is taken away.
    pub without: Option<Rule>,
}

impl Scope {
    /// Whether a rule holds.
    pub fn has(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    /// Number of blocks.
    pub fn block_count(&self) -> Block {
        self.blocks.0 + self.anchors.0
    }

    /// Whether a block is an anchor.
    pub fn is_anchor(&self, block: Block) -> bool {
        block >= self.blocks.0
    }

    /// Pages of a block.
    pub fn pages_of(&self, block: Block) -> Range<Page> {
        let (data, pages) = self.blocks;
        let size = if self.is_anchor(block) { self.anchors.1 } else { pages };
        let first = if self.is_anchor(block) { data * pages + (block - data) * size } else { block * pages };
        first..first + size
    }

    /// Block of a page.
    pub fn block_of(&self, page: Page) -> Block {
        let (data, pages) = self.blocks;
        if page < data * pages { page / pages } else { data + (page - data * pages) / self.anchors.1 }
    }
}

/// State of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockState {
    /// Never used again.
    Bad,
    /// An anchor.
    Reserved,
    /// May be listed by the next checkpoint.
    Free,
    /// May be allocated before the next checkpoint, once erased.
    Listed,
    /// The same, erased since the mount.
    Erased,
    /// Empty, but the last checkpoint's recovery may need it.
    Dead,
    /// Closed.
    Used,
    /// A head programs it.
    Active,
    /// As `Used`; goes bad when it is empty.
    Retiring,
}

/// What a checkpoint stores.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Checkpoint {
    /// Frame of the leaf.
    pub root: Page,
    /// Frame of each logical page that has changed since, and the settled bit.
    pub overlay: Pages<Option<(Page, bool)>>,
    /// Pages of the open transaction.
    pub pending: Pages<Option<Page>>,
    /// Block and next place of each head.
    pub heads: [(Block, u8); 3],
    /// States of the blocks.
    pub blocks: Vec<BlockState>,
    /// Every later program has at least this number.
    pub sequence: Sequence,
    /// First sequence of the open transaction.
    pub start: Sequence,
    /// Newest journal page.
    pub journal_at: Page,
    /// No head has programmed since the mount.
    pub unmarked: bool,
}

/// Where the next checkpoint goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Anchor {
    /// Index of the anchor in use.
    pub current: u8,
    /// Next page in it.
    pub next: u8,
    /// The anchor of the newest complete checkpoint.
    pub complete: u8,
    /// The anchor that is used next is erased.
    pub ready: bool,
}

/// What RAM knows; the first part is what a checkpoint stores.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ram {
    /// What a checkpoint stores.
    pub table: Checkpoint,
    /// Live frames, a bit each.
    pub live: u64,
    /// Patches of the journal buffer; 0: none.
    pub patches: Pages<u8>,
    /// The buffer differs from the newest journal page.
    pub dirty: bool,
    /// The ring of anchors.
    pub anchor: Anchor,
    /// First sequence of the transaction that roll-forward committed last.
    pub committed_start: Sequence,
    /// Until a mount settles, the newest sequence that an anchor begins with.
    pub newest_seen: Sequence,
    /// The anchor with it, if it is not the one that the mount found its checkpoint in.
    pub ignored: Option<u8>,
}

impl Ram {
    /// An empty volume.
    pub fn empty(scope: &Scope) -> Self {
        let state = |block| if scope.is_anchor(block) { BlockState::Reserved } else { BlockState::Free };
        let table = Checkpoint {
            root: NONE,
            overlay: Pages::default(),
            pending: Pages::default(),
            heads: [(NONE, 0); 3],
            blocks: (0..scope.block_count()).map(state).collect(),
            sequence: 1,
            start: IDLE,
            journal_at: NONE,
            unmarked: true,
        };
        Self {
            table,
            live: 0,
            patches: Pages::default(),
            dirty: false,
            anchor: Anchor { current: 0, next: 0, complete: NONE, ready: false },
            committed_start: IDLE,
            newest_seen: 0,
            ignored: None,
        }
    }
}

/// What the caller may rely on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Promise {
    /// What was acknowledged.
    pub committed: Pages<[u8; 2]>,
    /// What the open transaction sees.
    pub open: Pages<[u8; 2]>,
    /// What a commit that was cut may have made durable.
    pub attempted: Option<Pages<[u8; 2]>>,
}

/// What must never be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Violation {
    /// A mount found neither what was committed nor what was being committed.
    CommitLostOrMixed,
    /// A reader sees something else than was written.
    WrongRead,
    /// A block with a page that a recovery would name was about to be erased.
    EraseOfCommittedPage,
    /// A page was programmed that was not erased, or not since it was touched.
    ProgramOfTouchedPage,
    /// Two logical pages claim one frame, or a frame is not of the logical page that claims it, or may change.
    WrongClaim,
    /// A frame that the map names may be taken for a dead one.
    LiveMarkLost,
    /// A mount found no way on.
    MountRefused,
    /// A second recovery found something else than the first.
    NotIdempotent,
}

/// A state of the model, between two calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The chip.
    pub chip: Chip,
    /// RAM; `None` while there is no power.
    pub ram: Option<Ram>,
    /// What the caller may rely on.
    pub promise: Promise,
    /// What went wrong.
    pub broken: Option<Violation>,
}

impl State {
    /// A blank chip.
    pub fn blank(scope: &Scope) -> Self {
        let pages = scope.pages_of(scope.block_count() - 1).end;
        assert!(pages <= 64, "live frames are bits of 64");
        let chip = Chip { cells: vec![Cell::Blank; usize::from(pages)], cuts: scope.cuts, failures: scope.failures };
        Self { chip, ram: Some(Ram::empty(scope)), promise: Promise::default(), broken: None }
    }
}
