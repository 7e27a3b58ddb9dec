//! The chip: the ring and the log, and what a cut, a failure or time leaves of their pages.

use super::luck::Event;
use super::machine::{Machine, Step, Stop};
use super::state::Violation;
use std::collections::BTreeMap;

/// Number of a root.
pub type Number = u32;
/// Most heads of the log.
pub const HEADS: usize = 3;

/// How a page that was touched reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// As it was programmed.
    Whole,
    /// As it was programmed, or as damaged, differently after each power-on.
    Unsteady,
    /// As erased, or as damaged.
    Weak,
    /// As it was programmed, as damaged, or as erased.
    Wild,
    /// Damaged for good.
    Lost,
    /// Erased, or in use for something else: nobody may need it.
    Gone,
}

/// Where a page lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum At {
    /// Nowhere: it was never written.
    Nowhere,
    /// In a head of the log.
    Log(u8, u32),
    /// In a block of the ring.
    Ring(u8, u8),
}

/// What a root stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Root {
    /// Its number.
    pub number: Number,
    /// The number of the root before it.
    pub before: Number,
    /// Sequence of the next record.
    pub sequence: u32,
    /// Next place of each head.
    pub heads: [u32; HEADS],
    /// What each head wrote last, and
    pub values: [u32; HEADS],
    /// where that lies.
    pub at: [At; HEADS],
    /// The volume was ended: nothing follows.
    pub closed: bool,
    /// A mount's own root: all heads but the journal's are untouched until a journal record follows.
    pub settled: bool,
}

/// What a page of the ring is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Part of a root.
    Root,
    /// Part of its first seal.
    First,
    /// Part of its second seal.
    Second,
    /// A copy of what a head wrote.
    Copy(u8),
    /// The mark that says that a closed root is open again.
    Mark,
    /// Erased, by an erase that was cut.
    Nothing,
}

/// A page of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Page {
    /// What it is.
    pub kind: Kind,
    /// Which of the root's pages.
    pub part: u8,
    /// What the root stores, all of it.
    pub root: Root,
    /// How it reads.
    pub cell: Cell,
}

/// A record of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// Its sequence.
    pub sequence: u32,
    /// The root that it names; what the tag holds is less.
    pub name: Number,
    /// What it stores.
    pub value: u32,
    /// How it reads.
    pub cell: Cell,
}

/// How often things may still happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Power cuts.
    pub cuts: u8,
    /// Failures of programs and erases.
    pub failures: u8,
    /// Failures of reads.
    pub misreads: u8,
    /// Pages that are lost for good.
    pub losses: u8,
}

/// The chip.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chip {
    /// The pages of each ring block, up to the last that was touched since its erase.
    pub ring: Vec<Vec<Page>>,
    /// The records of each head, by place.
    pub log: Vec<BTreeMap<u32, Record>>,
    /// What may still happen.
    pub budget: Budget,
}

/// What a page reads as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen<T> {
    /// As erased.
    Blank,
    /// As nothing that was ever written.
    Damaged,
    /// As what was written; the second says that not each reading was good.
    Good(T, bool),
}

impl<T> Seen<T> {
    /// Whether the page does not read as erased.
    pub fn is_touched(&self) -> bool {
        !matches!(self, Seen::Blank)
    }

    /// What was written, if that can be read.
    pub fn good(self) -> Option<T> {
        if let Seen::Good(content, _) = self { Some(content) } else { None }
    }
}

/// What a cut leaves of a page.
const AFTER_CUT: [Cell; 4] = [Cell::Weak, Cell::Unsteady, Cell::Whole, Cell::Wild];

impl Chip {
    /// The newest whole record.
    pub fn newest_record(&self) -> Option<At> {
        let all = self.log.iter().enumerate().flat_map(|(head, places)| places.iter().map(move |(place, record)| (head, place, record)));
        let whole = all.filter(|(_, _, record)| record.cell == Cell::Whole);
        whole.max_by_key(|(_, _, record)| record.sequence).map(|(head, &place, _)| At::Log(head as u8, place))
    }
}

impl Machine<'_> {
    /// Programs the next page of a ring block, which must be blank.
    pub fn program_ring(&mut self, block: u8, index: u8, page: Page) -> Step {
        let pages = &mut self.chip.ring[usize::from(block)];
        let repeats_mark = page.kind == Kind::Mark && pages.get(usize::from(index)).is_some_and(|old| old.kind == Kind::Mark);
        if repeats_mark {
            pages.pop();
        }
        if self.chip.ring[usize::from(block)].len() != usize::from(index) {
            return Err(Stop::Broken(Violation::ProgrammedTwice));
        }
        let (cell, end) = self.programmed();
        self.chip.ring[usize::from(block)].push(Page { cell, ..page });
        self.memo.remove(&At::Ring(block, index));
        end
    }

    /// Programs a place of the log, which must be blank.
    pub fn program_log(&mut self, head: usize, place: u32, record: Record) -> Step {
        if self.chip.log[head].contains_key(&place) {
            return Err(Stop::Broken(Violation::ProgrammedTwice));
        }
        // Programs that fail in the log are the business of the other model.
        let failures = std::mem::take(&mut self.chip.budget.failures);
        let (cell, end) = self.programmed();
        self.chip.budget.failures = failures;
        self.chip.log[head].insert(place, Record { cell, ..record });
        end
    }

    /// How a program ends, and what it leaves.
    fn programmed(&mut self) -> (Cell, Step) {
        let fates = if self.scope.wild { &AFTER_CUT[..] } else { &AFTER_CUT[..3] };
        if self.cut() {
            return (fates[usize::from(self.luck.choose(fates.len() as u8))], Err(Stop::Cut));
        }
        if self.fails() {
            return (fates[usize::from(self.luck.choose(fates.len() as u8))], Err(Stop::Failed));
        }
        (Cell::Whole, Ok(()))
    }

    /// Erases a ring block.
    pub fn erase_ring(&mut self, block: u8) -> Step {
        self.memo.retain(|at, _| !matches!(at, At::Ring(of, _) if *of == block));
        let end = if self.cut() {
            Err(Stop::Cut)
        } else if self.fails() {
            Err(Stop::Failed)
        } else {
            self.chip.ring[usize::from(block)].clear();
            return Ok(());
        };
        self.leave_half_erased(block);
        end
    }

    /// Leaves a block as an erase that was cut: each page has a fate of its own, or all have the same.
    fn leave_half_erased(&mut self, block: u8) {
        let mut pages = std::mem::take(&mut self.chip.ring[usize::from(block)]);
        let fates = [Cell::Unsteady, Cell::Weak, Cell::Whole, Cell::Wild];
        let fates = if self.scope.wild { &fates[..] } else { &fates[..3] };
        let kinds = if self.scope.uneven { 4 } else { 2 };
        let kind = self.luck.choose(kinds);
        for page in pages.iter_mut() {
            let fate = match kind {
                0 => Cell::Unsteady,
                1 => Cell::Weak,
                _ => fates[usize::from(self.luck.choose(fates.len() as u8))],
            };
            page.cell = match page.cell {
                Cell::Weak | Cell::Lost => page.cell,
                old if fate == Cell::Whole => old,
                _ => fate,
            };
        }
        let blank = Page { kind: Kind::Nothing, part: 0, root: Root::NONE, cell: Cell::Weak };
        pages.resize(self.scope.pages.into(), blank);
        self.chip.ring[usize::from(block)] = pages;
    }

    fn cut(&mut self) -> bool {
        let may = self.chip.budget.cuts > 0 && self.luck.happens(Event::Cut);
        self.chip.budget.cuts -= u8::from(may && self.chip.budget.cuts < u8::MAX);
        may
    }

    fn fails(&mut self) -> bool {
        let may = self.chip.budget.failures > 0 && self.luck.happens(Event::Failure);
        self.chip.budget.failures -= u8::from(may && self.chip.budget.failures < u8::MAX);
        may
    }

    /// Reads a page of the ring.
    pub fn look_ring(&mut self, block: u8, index: u8) -> Step<Seen<Page>> {
        let page = self.chip.ring[usize::from(block)].get(usize::from(index)).copied();
        let seen = self.look(At::Ring(block, index), page.map(|page| page.cell))?;
        Ok(seen.with(page.filter(|page| page.kind != Kind::Nothing)))
    }

    /// Reads a place of the log.
    pub fn look_log(&mut self, head: usize, place: u32) -> Step<Seen<Record>> {
        let record = self.chip.log[head].get(&place).copied();
        let seen = self.look(At::Log(head as u8, place), record.map(|record| record.cell))?;
        Ok(seen.with(record))
    }

    /// How a page reads; the same until the power goes off.
    fn look(&mut self, at: At, cell: Option<Cell>) -> Step<Seen<()>> {
        if let Some(&seen) = self.memo.get(&at) {
            return Ok(seen);
        }
        let (good, unsteady) = (Seen::Good((), false), Seen::Good((), true));
        let three = self.scope.has(super::rules::Rule::ThreeReads);
        let mut seen = match cell {
            None => Seen::Blank,
            Some(Cell::Whole) => good,
            Some(Cell::Lost | Cell::Gone) => Seen::Damaged,
            Some(Cell::Weak) => [Seen::Blank, Seen::Damaged][usize::from(self.luck.choose(2))],
            Some(Cell::Unsteady) if three && self.scope.misreads > 0 => [good, Seen::Damaged, unsteady][usize::from(self.luck.choose(3))],
            Some(Cell::Unsteady) => [good, Seen::Damaged][usize::from(self.luck.choose(2))],
            Some(Cell::Wild) => [good, Seen::Damaged, unsteady, Seen::Blank][usize::from(self.luck.choose(4))],
        };
        if self.read_fails(Event::DeviceError) {
            return Err(Stop::Told(super::state::Told::Device));
        }
        if cell == Some(Cell::Whole) && self.read_fails(Event::Misread) {
            seen = if three { unsteady } else { Seen::Damaged };
        }
        if cell == Some(Cell::Whole) && !self.is_newest(at) && self.read_fails(Event::Blind) {
            seen = Seen::Damaged;
        }
        self.memo.insert(at, seen);
        Ok(seen)
    }

    /// Whether a page is the newest whole record: nobody can tell one that is lost from one that was cut.
    fn is_newest(&self, at: At) -> bool {
        self.chip.newest_record() == Some(at)
    }

    fn read_fails(&mut self, event: Event) -> bool {
        let may = self.chip.budget.misreads > 0 && self.luck.happens(event);
        if may {
            self.misread = true;
            self.chip.budget.misreads -= u8::from(self.chip.budget.misreads < u8::MAX);
        }
        may
    }
}

impl Seen<()> {
    fn with<T>(self, content: Option<T>) -> Seen<T> {
        match (self, content) {
            (Seen::Good(_, unsteady), Some(content)) => Seen::Good(content, unsteady),
            (Seen::Blank, _) => Seen::Blank,
            _ => Seen::Damaged,
        }
    }
}

impl Root {
    /// What stands for a root where there is none.
    pub const NONE: Root = Root {
        number: 0,
        before: 0,
        sequence: 0,
        heads: [0; HEADS],
        values: [0; HEADS],
        at: [At::Nowhere; HEADS],
        closed: false,
        settled: false,
    };
}
