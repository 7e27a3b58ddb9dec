//! The state of the model: the chip, the content of RAM, and the promises to the caller.

use super::chip::{Cell, Chip, Number, Root};
use super::scope::Scope;
use super::violation::Violation;

/// The content of RAM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ram {
    /// Content of the next root.
    pub root: Root,
    /// Stored value.
    pub value: u8,
    /// Largest number of a root.
    pub number: Number,
    /// Place of the newest complete root.
    pub complete: u8,
    /// Number of the newest complete root.
    pub newest: Number,
    /// Place of the next root. `next` is its page there.
    pub place: u8,
    /// See `place`.
    pub next: u8,
    /// After a mount, one bit for each place that may not be erased.
    pub kept: u8,
    /// After a mount, one bit for each place that is not blank, but without a readable number.
    pub unknown: u8,
    /// Number of the root that a mount begins with, if only one of its seals can be read.
    pub uncertain: Option<Number>,
    /// Page behind a closed root, for the mark.
    pub mark: Option<u8>,
    /// True if the last record may be unsteady.
    pub is_unsteady: bool,
    /// True if something is missing: the volume is mounted for reading.
    pub damaged: bool,
    /// True if the stored value cannot be read any more.
    pub unreadable: bool,
}

/// The state on which the caller may rely.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Promise {
    /// Acknowledged value.
    pub committed: u8,
    /// Value that a cut save may have stored.
    pub attempted: Option<u8>,
    /// Smallest number of a usable root. Data that only older roots need may be destroyed.
    pub needed: Number,
    /// Place of the last complete record, or of a cut record if there is no complete one. `None`
    /// if a complete root contains it.
    pub last: Option<u8>,
    /// True if the stored value may be lost: no mount has found it since a page was lost.
    pub lost: bool,
}

/// A state of the model, between two calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The chip.
    pub chip: Chip,
    /// RAM, or `None` while there is no power.
    pub ram: Option<Ram>,
    /// The state on which the caller may rely.
    pub promise: Promise,
    /// The violation, if there is one.
    pub broken: Option<Violation>,
}

impl State {
    /// Makes a blank chip, and the RAM for it.
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
        Self {
            chip,
            ram: Some(Ram { root, ..Ram::default() }),
            promise: Promise::default(),
            broken: None,
        }
    }
}
