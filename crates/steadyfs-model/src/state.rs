//! The state of the model: the chip, what RAM knows, and what the caller may rely on.

use crate::call::Call;
use crate::chip::{Block, Cell, Chip, IDLE, NONE, Page, Reading, Sequence};
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
    /// Blocks of the ring.
    pub ring: u8,
    /// Pages of a root.
    pub root_pages: u8,
    /// Frames that may lie in a block of the ring.
    pub copied: u8,
    /// Blocks that a root lists.
    pub listed: u8,
    /// Entries of the overlay.
    pub overlay: u8,
    /// Whether the old frame of a page that changes is looked up at once.
    pub near_full: bool,
    /// Whether leaves have logs.
    pub logs: bool,
    /// Power cuts.
    pub cuts: u8,
    /// Failures of programs and erases.
    pub failures: u8,
    /// Pages that are lost for good while the power is off.
    pub losses: u8,
    /// Whether that may be the last record as well, which a mount takes for one that was cut.
    pub loses_last: bool,
    /// How unsteady pages may read.
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
        self.blocks.0 + self.ring
    }

    /// Whether a block is one of the ring.
    pub fn is_of_ring(&self, block: Block) -> bool {
        block >= self.blocks.0
    }

    /// Pages of a block of the ring: a root, what a mount copies, the root's copy.
    pub fn ring_pages(&self) -> u8 {
        2 * self.root_pages + self.copied + 1
    }

    /// Pages of a block.
    pub fn pages_of(&self, block: Block) -> Range<Page> {
        let (data, pages) = self.blocks;
        let of_ring = self.is_of_ring(block);
        let size = if of_ring { self.ring_pages() } else { pages };
        let first = if of_ring { data * pages + (block - data) * size } else { block * pages };
        first..first + size
    }

    /// Block of a page.
    pub fn block_of(&self, page: Page) -> Block {
        let (data, pages) = self.blocks;
        if page < data * pages { page / pages } else { data + (page - data * pages) / self.ring_pages() }
    }
}

/// State of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockState {
    /// Never used again.
    Bad,
    /// A block of the ring.
    Reserved,
    /// May be listed by the next root.
    Free,
    /// May be allocated before the next root, once erased.
    Listed,
    /// The same, erased since the mount.
    Erased,
    /// Empty, but a mount that begins with the newest root may need it.
    Dead,
    /// Closed.
    Used,
    /// A head programs it.
    Active,
    /// As `Used`; goes bad when it is empty.
    Retiring,
}

/// What a root stores.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// Frame of the leaf.
    pub leaf: Page,
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
    /// No cut or failure has touched the log of the leaf.
    pub log_is_known: bool,
    /// No head has programmed since the mount.
    pub heads_rest: bool,
    /// The use of the volume ended here.
    pub closed: bool,
}

/// Where roots are, and where the next one goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ring {
    /// No number is larger.
    pub number: Sequence,
    /// Place of the newest complete root.
    pub complete: u8,
    /// Place of the next root, and its page there.
    pub place: u8,
    /// See `place`.
    pub next: u8,
    /// After a mount: a bit for each place that may not be erased.
    pub kept: u8,
    /// After a mount: a bit for each place where no root can be read.
    pub unknown: u8,
    /// The number of the root that a mount begins with, if only one page of its copy can be read.
    pub uncertain: Option<Sequence>,
}

/// What RAM knows; the first part is what a root stores.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ram {
    /// What a root stores.
    pub table: Table,
    /// Live frames, a bit each.
    pub live: u64,
    /// Patches of the journal buffer; 0: none.
    pub patches: Pages<u8>,
    /// The buffer differs from the newest journal page.
    pub dirty: bool,
    /// The ring.
    pub ring: Ring,
    /// First sequence of the transaction that roll-forward committed last.
    pub committed_start: Sequence,
    /// At a mount, moves that could not be read and were passed over.
    pub lost_moves: u8,
    /// Something is missing: the volume is mounted for reading.
    pub damaged: bool,
}

impl Ram {
    /// An empty volume.
    pub fn empty(scope: &Scope) -> Self {
        let state = |block| if scope.is_of_ring(block) { BlockState::Reserved } else { BlockState::Free };
        let table = Table {
            leaf: NONE,
            overlay: Pages::default(),
            pending: Pages::default(),
            heads: [(NONE, 0); 3],
            blocks: (0..scope.block_count()).map(state).collect(),
            sequence: 1,
            start: IDLE,
            journal_at: NONE,
            log_is_known: false,
            heads_rest: true,
            closed: true,
        };
        Self {
            table,
            live: 0,
            patches: Pages::default(),
            dirty: false,
            ring: Ring::default(),
            committed_start: IDLE,
            lost_moves: 0,
            damaged: false,
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
    /// What was acknowledged before that, where the last record may be lost.
    pub before: Option<Pages<[u8; 2]>>,
    /// A page was lost, and no mount has succeeded since.
    pub lost: bool,
}

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
        let chip = Chip {
            cells: vec![Cell::Blank; usize::from(pages)],
            cuts: scope.cuts,
            failures: scope.failures,
            losses: scope.losses,
        };
        Self { chip, ram: Some(Ram::empty(scope)), promise: Promise::default(), broken: None }
    }
}
