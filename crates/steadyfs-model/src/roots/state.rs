//! The state of the model: the chip, what RAM knows, what the caller may rely on; sizes; violations.

use super::call::Call;
use super::chip::{At, Budget, Cell, Chip, HEADS, Kind, Number, Page, Root};
use super::rules::Rule;
use std::collections::BTreeMap;

/// The size of a world, and what may happen in it.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Its name.
    pub name: &'static str,
    /// Blocks of the ring.
    pub ring: u8,
    /// Pages of a ring block.
    pub pages: u8,
    /// Pages of a root.
    pub parts: u8,
    /// Heads of the log; the first takes journal records.
    pub heads: u8,
    /// A record names the number of its root modulo this.
    pub names: u32,
    /// Whether every root is followed by whole copies before anything else is programmed; records name no roots then.
    pub twin: bool,
    /// Whether the first change programs a mark, as on NOR, or a root, as on NAND.
    pub mark: bool,
    /// Whether each page of a block whose erase was cut has a fate of its own.
    pub uneven: bool,
    /// Whether pages may read as anything.
    pub wild: bool,
    /// Power cuts.
    pub cuts: u8,
    /// Failures of programs and erases.
    pub failures: u8,
    /// Failures of reads.
    pub misreads: u8,
    /// Pages that are lost for good.
    pub losses: u8,
    /// The calls.
    pub calls: &'static [Call],
    /// Most calls of a path, mounts included.
    pub depth: usize,
    /// The rule that is taken away.
    pub without: Option<Rule>,
    /// Another one.
    pub also_without: Option<Rule>,
}

impl Scope {
    /// Whether a rule holds.
    pub fn has(&self, rule: Rule) -> bool {
        self.without != Some(rule) && self.also_without != Some(rule)
    }

    /// The heads.
    pub fn heads(&self) -> std::ops::Range<usize> {
        0..usize::from(self.heads)
    }

    /// How many pages before the end of a ring block a mount reads.
    pub fn window(&self) -> u8 {
        if self.twin { 2 * self.parts * self.twin_kinds().len() as u8 + self.heads + 1 } else { 3 * self.parts + 1 }
    }

    /// What a root consists of where every root has copies: with one page it has two, else one.
    fn twin_kinds(&self) -> &'static [Kind] {
        if self.parts == 1 { &[Kind::Root, Kind::First, Kind::Second] } else { &[Kind::Root, Kind::First] }
    }

    /// What a root consists of.
    pub fn kinds(&self, root: &Root) -> &'static [Kind] {
        let all = &[Kind::Root, Kind::First, Kind::Second];
        match (root.closed, root.settled) {
            _ if self.twin => self.twin_kinds(),
            (true, _) => &all[..2],
            (false, true) if self.has(Rule::First) => all,
            (false, true) => &all[..2],
            (false, false) => &all[..1],
        }
    }

    /// By how much a mount's number exceeds what it can read.
    pub fn jump(&self) -> Number {
        u32::from(self.ring) * u32::from(self.pages)
    }

    /// Whether a record's name is that of a root.
    pub fn is_name_of(&self, name: Number, number: Number) -> bool {
        name % self.names == number % self.names
    }
}

/// A root and the block in which it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placed {
    /// What it stores.
    pub root: Root,
    /// Its block.
    pub block: u8,
}

/// What a mount found and has not written yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Found {
    /// The root that it begins with.
    pub base: Placed,
    /// What the next root is to store; its number is the largest that is known.
    pub next: Root,
    /// The ring blocks that are not erased, a bit each.
    pub keep: u16,
    /// The heads of which the last page is to be copied, a bit each.
    pub rescue: u8,
    /// Page behind the seal of a closed base, where the mark goes.
    pub mark: u8,
}

/// What RAM knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ram {
    /// The newest root, written or adopted.
    pub newest: Placed,
    /// The root before it.
    pub before: Placed,
    /// The newest root that is certain.
    pub certain: Placed,
    /// What the next root is to store; its number is the largest that was used.
    pub next: Root,
    /// Next page in the block of the newest root.
    pub page: u8,
    /// Pages that were completed in this power cycle and name the newest root.
    pub names: u8,
    /// A record was written since the mount.
    pub journaled: bool,
    /// Ring blocks that are not erased before two records name the newest root, a bit each.
    pub keep: u16,
    /// Ring blocks in which a program or erase failed in this power cycle, a bit each.
    pub failed: u16,
    /// A mount of a closed volume has changed nothing yet.
    pub untouched: Option<Found>,
}

/// What the caller may rely on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Promise {
    /// What each head wrote last and acknowledged.
    pub acknowledged: [u32; HEADS],
    /// What a head was writing when the power failed.
    pub flying: Option<(u8, u32)>,
    /// The newest value that was ever written.
    pub newest: u32,
    /// What roots of smaller numbers need may be gone.
    pub gone: Number,
}

impl Promise {
    /// Whether a mount may find this.
    pub fn allows(&self, values: [u32; HEADS]) -> bool {
        let mut flown = self.acknowledged;
        if let Some((head, value)) = self.flying {
            flown[usize::from(head)] = value;
        }
        values == self.acknowledged || values == flown
    }
}

/// Why a mount refuses, or is read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Told {
    /// The device answered with an error.
    Device,
    /// No root counts, or none that does can be read.
    NoRoot,
    /// A root is lost and cannot be passed over.
    RootLost,
    /// A record is lost.
    RecordLost,
    /// A page is lost that the state needs.
    PageLost,
}

/// What must never be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Violation {
    /// A mount found neither what was acknowledged nor what was being written.
    WrongData,
    /// A page was programmed that was not erased since it was last touched.
    ProgrammedTwice,
    /// A mount began with a root whose history is destroyed.
    HistoryDestroyed,
    /// A mount began with a root that is not whole.
    HalfRoot,
    /// A page that the state needs is gone, or may read differently at the next mount.
    NotSteady,
    /// There is no ring block for the next root.
    RingTooSmall,
    /// A mount refused, or was read-only, although no page is lost and no read failed in it.
    ToldWithoutCause(Told),
    /// A mount refused although all that is lost is a page of the ring.
    RefusedForRing(Told),
}

/// A state of the model, between two calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The chip.
    pub chip: Chip,
    /// RAM; `None` while there is no power, or the volume is read-only.
    pub ram: Option<Ram>,
    /// What the caller may rely on.
    pub promise: Promise,
    /// The page that is lost for good.
    pub lost: Option<At>,
    /// What the last mount told.
    pub told: Option<Told>,
    /// What went wrong.
    pub broken: Option<Violation>,
}

impl State {
    /// A formatted volume without power: its first root is closed and sealed twice.
    pub fn formatted(scope: &Scope) -> Self {
        let root = Root { number: scope.ring.into(), before: 0, sequence: 1, closed: true, settled: true, ..Root::NONE };
        let kinds = [Kind::Root, Kind::First, Kind::Second];
        let pages = kinds.into_iter().flat_map(|kind| (0..scope.parts).map(move |part| Page { kind, part, root, cell: Cell::Whole }));
        let mut ring = vec![Vec::new(); scope.ring.into()];
        ring[0] = pages.collect();
        let budget = Budget { cuts: scope.cuts, failures: scope.failures, misreads: scope.misreads, losses: scope.losses };
        let chip = Chip { ring, log: vec![BTreeMap::new(); scope.heads.into()], budget };
        Self { chip, ram: None, promise: Promise::default(), lost: None, told: None, broken: None }
    }
}
