//! The state of the model: the chip, what RAM knows, and what the caller may rely on.

use super::call::Call;
use super::chip::{Block, Cell, Checkpoint, Chip, Content, NONE, Page, Reading, Ring, Sequence};
use super::rules::Rule;
use std::ops::Range;

/// State of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockState {
    /// Never used again.
    Bad,
    /// Holds superblocks or checkpoints.
    Reserved,
    /// Holds nothing that a recovery needs.
    Free,
    /// Empty, but the newest checkpoint may need it.
    Dead,
    /// Holds data.
    Used,
}

/// State of each block; those beyond the last one are bad.
pub type States = [BlockState; 8];

/// The size of a world, and what may happen in it.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Its name.
    pub name: &'static str,
    /// Pages of a block.
    pub pages: u8,
    /// Anchors.
    pub anchors: u8,
    /// Blocks that are neither anchors nor hold superblocks.
    pub spare: u8,
    /// Whether the logs of superblocks are full at first.
    pub full: bool,
    /// Power cuts.
    pub cuts: u8,
    /// Failures of programs and erases.
    pub failures: u8,
    /// Superblocks that are lost long after they were written.
    pub losses: u8,
    /// Whether a block that does not erase reads unsteadily from then on.
    pub harsh: bool,
    /// How pages may read that are not steady.
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
        2 + self.anchors + self.spare
    }

    /// The pages of a block.
    pub fn pages_of(&self, block: Block) -> Range<Page> {
        block * self.pages..(block + 1) * self.pages
    }
}

/// A block that holds superblocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Superblocks {
    /// The page after the newest one.
    pub next: u8,
    /// A cut may have hit it: only an erase makes it good.
    pub touched: bool,
}

/// The ring of anchors, and the superblocks. As in the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Anchors {
    /// The block in each place of the ring.
    pub blocks: Ring,
    /// The place in use.
    pub current: u8,
    /// Next page in it.
    pub next: u8,
    /// The place of the newest complete checkpoint.
    pub complete: u8,
    /// The place that is erased and used next.
    pub prepared: u8,
    /// The place whose block the superblocks do not agree on, and the block that loses it.
    pub doubt: (u8, Block),
    /// The two logs.
    pub superblocks: [Superblocks; 2],
    /// Sequence of the newest superblock.
    pub generation: Sequence,
    /// Generation of the superblock that counts while the other one changes.
    pub counts: Sequence,
    /// At a mount, the generations that were found.
    pub found: [Sequence; 2],
    /// The superblock that is to change.
    pub changing: Option<u8>,
    /// The newest checkpoint says so.
    pub announced: bool,
    /// The superblock whose list `blocks` is, or will be.
    pub list_of: u8,
    /// Until a mount settles, the newest sequence that an anchor begins with.
    pub newest_seen: Sequence,
    /// At a mount, a bit for each place whose first page can be read neither as erased nor as whole.
    pub unreadable: u8,
    /// The place of the anchor that begins so, if its checkpoint is not complete.
    pub passed_over: u8,
    /// At a mount, the superblock that is older than the other one.
    pub older: Option<u8>,
}

/// What RAM knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ram {
    /// States of the blocks.
    pub states: States,
    /// Number of the next program.
    pub sequence: Sequence,
    /// The version of what is stored.
    pub version: u8,
    /// The journal page in an anchor; none if it lies among the data.
    pub journal_at: Page,
    /// The ring and the superblocks.
    pub anchors: Anchors,
    /// Nothing is programmed or erased until the next mount.
    pub read_only: bool,
}

impl Ram {
    /// An empty volume.
    pub fn empty(scope: &Scope) -> Self {
        let (mut states, mut blocks) = ([BlockState::Bad; 8], [NONE; 5]);
        for block in 0..scope.block_count() {
            let reserved = block < 2 + scope.anchors;
            states[usize::from(block)] = if reserved { BlockState::Reserved } else { BlockState::Free };
        }
        for place in 0..scope.anchors {
            blocks[usize::from(place)] = 2 + place;
        }
        let anchors = Anchors {
            blocks,
            current: 0,
            next: 0,
            complete: NONE,
            prepared: NONE,
            doubt: (NONE, NONE),
            superblocks: [Superblocks { next: 1, touched: false }; 2],
            generation: 1,
            counts: 1,
            found: [0; 2],
            changing: None,
            announced: false,
            list_of: 0,
            newest_seen: 0,
            unreadable: 0,
            passed_over: NONE,
            older: None,
        };
        Self { states, sequence: 1, version: 0, journal_at: NONE, anchors, read_only: false }
    }

    /// What a checkpoint stores.
    pub fn checkpoint(&self, scope: &Scope) -> Checkpoint {
        let announced = scope.has(Rule::Announcement);
        Checkpoint {
            sequence: self.sequence,
            version: self.version,
            journal_at: self.journal_at,
            generation: self.anchors.counts,
            changing: self.anchors.changing.filter(|_| announced),
            place: if announced { self.anchors.doubt.0 } else { NONE },
            states: self.states,
        }
    }
}

/// What the caller may rely on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Promise {
    /// The version that was acknowledged.
    pub committed: u8,
    /// The first version that calls which did not end well since may have made durable.
    pub attempted: Option<u8>,
    /// The newest version that was ever stored, or was to be.
    pub newest: u8,
}

impl Promise {
    /// Whether a mount may find a version.
    pub fn allows(&self, version: u8) -> bool {
        version == self.committed || self.attempted.is_some_and(|first| (first..=self.newest).contains(&version))
    }
}

/// What must never be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Violation {
    /// A mount found neither what was acknowledged nor what was being written.
    WrongVersion,
    /// A page was programmed that was not erased since it was touched.
    ProgramOfTouchedPage,
    /// The anchor of the newest complete checkpoint was about to be erased.
    EraseOfCheckpoint,
    /// A block with data was about to be erased, or its data is not there.
    DataLost,
    /// A mount found no superblock or no checkpoint.
    MountRefused,
    /// Nothing has failed, or one thing of many anchors, and there is no anchor to go on to.
    Stuck,
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
    /// A formatted chip without power: an empty checkpoint, and two superblocks of the first generation.
    pub fn formatted(scope: &Scope) -> Self {
        assert!(scope.anchors <= 5 && scope.block_count() <= 8, "rings and states have a fixed size");
        let mut ram = Ram::empty(scope);
        let mut cells = vec![Cell::Blank; usize::from(scope.pages_of(scope.block_count() - 1).end)];
        let written = if scope.full { scope.pages } else { 1 };
        for (page, generation) in (0..2).flat_map(|block| scope.pages_of(block).take(written.into()).zip(1..)) {
            cells[usize::from(page)] = Cell::Page(generation, Content::Super(ram.anchors.blocks));
        }
        ram.sequence += 1;
        cells[usize::from(scope.pages_of(2).start)] = Cell::Page(1, Content::Checkpoint(ram.checkpoint(scope)));
        let chip = Chip { cells, is_marked: false, cuts: scope.cuts, failures: scope.failures, losses: scope.losses };
        Self { chip, ram: None, promise: Promise::default(), broken: None }
    }
}
