//! The state of the model: the chip, what RAM knows, and what the caller may rely on.

use crate::chip::{Cell, Chip};
use crate::numbers::{IDLE, NONE, Pages, Sequence};
use crate::scope::Scope;
use crate::table::{BlockState, Table};
use crate::violation::Violation;

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
