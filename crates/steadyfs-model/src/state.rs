//! The state of the model: the chip, the content of RAM, and the promises to the caller.

use crate::chip::{Cell, Chip};
use crate::numbers::{IDLE, NONE, Pages, Sequence};
use crate::scope::Scope;
use crate::table::{BlockState, Table};
use crate::violation::Violation;

/// Places of the roots, and the place of the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ring {
    /// Largest number of a root.
    pub number: Sequence,
    /// Place of the newest complete root.
    pub complete: u8,
    /// Place of the next root. `next` is its page there.
    pub place: u8,
    /// See `place`.
    pub next: u8,
    /// After a mount, one bit for each place that may not be erased.
    pub kept: u8,
    /// After a mount, one bit for each place without a readable root.
    pub unknown: u8,
    /// Number of the root that a mount begins with, if only one page of its copy can be read.
    pub uncertain: Option<Sequence>,
}

/// The content of RAM. A root stores its first field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ram {
    /// Content of a root.
    pub table: Table,
    /// Live frames, one bit each.
    pub live: u64,
    /// Patches of the journal buffer. 0 means no patch.
    pub patches: Pages<u8>,
    /// True if the buffer differs from the newest journal page.
    pub dirty: bool,
    /// The ring.
    pub ring: Ring,
    /// First sequence of the transaction that roll-forward committed last.
    pub committed_start: Sequence,
    /// At a mount, number of moves that could not be read and were passed over.
    pub lost_moves: u8,
    /// True if something is missing: the volume is mounted for reading.
    pub damaged: bool,
}

impl Ram {
    /// Makes the RAM of an empty volume.
    pub fn empty(scope: &Scope) -> Self {
        let state =
            |block| if scope.is_of_ring(block) { BlockState::Reserved } else { BlockState::Free };
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

/// Bytes on which the caller may rely.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Promise {
    /// Acknowledged bytes.
    pub committed: Pages<[u8; 2]>,
    /// Bytes in the open transaction.
    pub open: Pages<[u8; 2]>,
    /// Bytes that a cut commit may have made durable.
    pub attempted: Option<Pages<[u8; 2]>>,
    /// Bytes that were acknowledged before `committed`, if the last record may be lost.
    pub before: Option<Pages<[u8; 2]>>,
    /// True if a page was lost and no mount has succeeded since.
    pub lost: bool,
}

/// A state of the model, between two calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The chip.
    pub chip: Chip,
    /// RAM, or `None` while there is no power.
    pub ram: Option<Ram>,
    /// Bytes on which the caller may rely.
    pub promise: Promise,
    /// The violation, if there is one.
    pub broken: Option<Violation>,
}

impl State {
    /// Makes a blank chip.
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
