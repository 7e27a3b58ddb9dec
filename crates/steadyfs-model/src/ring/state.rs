//! The state of the model: the chip, what RAM knows, and what the caller may rely on.

use super::call::Call;
use super::chip::{Cell, Chip, Number, Root};
use super::rules::Rule;

/// The size of a world, and what may happen in it.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Its name.
    pub name: &'static str,
    /// Blocks of the ring.
    pub ring: u8,
    /// Pages of each.
    pub pages: u8,
    /// Pages of a root.
    pub root_pages: u8,
    /// Pages that are left out between a root and what is copied behind it.
    pub gap: u8,
    /// Whether a mark is programmed behind a closed root.
    pub marks: bool,
    /// Whether records are frames, which a mount need not read, or journal pages.
    pub frames: bool,
    /// Power cuts.
    pub cuts: u8,
    /// Failures of programs and erases in the ring.
    pub failures: u8,
    /// Reads that fail at mounts.
    pub reads: u8,
    /// Pages that are lost for good while the power is off.
    pub losses: u8,
    /// Whether an unsteady page may read as blank as well.
    pub reads_blank: bool,
    /// Whether each look at an unsteady page may tell something else, or only each mount.
    pub every_look: bool,
    /// Whether a mount may miss a root of which a cut erase has left a page: it can be read only, and the next one may find that nothing is missing.
    pub may_alarm: bool,
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

    /// Programs of a root with its copies.
    pub fn root_programs(&self) -> u8 {
        if self.root_pages > 1 { 2 * self.root_pages } else { 3 }
    }
}

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

/// What must never be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Violation {
    /// A mount found neither what was committed nor what was being committed.
    CommitLost,
    /// A page was programmed that was not erased since it was touched.
    ProgramOfTouchedPage,
    /// A mount found no root.
    NoRoot,
    /// A mount began with a root of which something it needs is destroyed.
    OldRoot,
    /// What was committed can be read no more, where nothing was lost.
    Unreadable,
    /// A page is lost, and no mount for writing succeeds any more, nor says what is lost.
    NeverMounts,
    /// A mount missed something where nothing was lost.
    ToldForNothing,
    /// No block of the ring may be erased.
    RingTooSmall,
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
