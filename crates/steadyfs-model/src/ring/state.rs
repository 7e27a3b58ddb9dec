//! The state of the model: the chip, what RAM knows, and what the caller may rely on.

use super::chip::{Cell, Chip, Number, Root};
use super::scope::Scope;
use super::violation::Violation;

/// What RAM knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ram {
    /// What the next root says.
    pub root: Root,
    /// The value that is stored.
    pub value: u8,
    /// No number is larger.
    pub number: Number,
    /// Place of the newest complete root.
    pub complete: u8,
    /// Its number.
    pub newest: Number,
    /// Place of the next root, and its page there.
    pub place: u8,
    /// See `place`.
    pub next: u8,
    /// After a mount: a bit for each place that may not be erased.
    pub kept: u8,
    /// After a mount: a bit for each place where no number can be read, and something is.
    pub unknown: u8,
    /// The number of the root that a mount begins with, if only one of its seals can be read.
    pub uncertain: Option<Number>,
    /// The page behind a closed root, for the mark.
    pub mark: Option<u8>,
    /// The last record may be unsteady.
    pub is_unsteady: bool,
    /// Something is missing: the volume is mounted for reading.
    pub damaged: bool,
    /// What is stored can be read no more.
    pub unreadable: bool,
}

/// What the caller may rely on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Promise {
    /// The value that was acknowledged.
    pub committed: u8,
    /// What a save that was cut may have stored.
    pub attempted: Option<u8>,
    /// What only older roots need is destroyed.
    pub needed: Number,
    /// The place of the last complete record, or of one that was cut if there is none, if no complete root knows of it.
    pub last: Option<u8>,
    /// What is stored may be lost: no mount has found it since a page was lost.
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
    /// A blank chip, and RAM that knows so.
    pub fn blank(scope: &Scope) -> Self {
        let chip = Chip {
            ring: vec![vec![Cell::Blank; usize::from(scope.pages)]; usize::from(scope.ring)],
            log: Vec::new(),
            cuts: scope.cuts,
            failures: scope.failures,
            reads: scope.reads,
            losses: scope.losses,
        };
        let root = Root { closed: true, sequence: 1, ..Root::default() };
        Self { chip, ram: Some(Ram { root, ..Ram::default() }), promise: Promise::default(), broken: None }
    }
}
