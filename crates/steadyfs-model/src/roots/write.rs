//! Writing roots: a mount's own, that of normal operation, the last one; and the mark.

use super::chip::{At, Cell, Kind, Page, Record, Root};
use super::machine::{Machine, Step, Stop};
use super::rules::Rule;
use super::state::{Found, Placed, Ram, Violation};

impl Machine<'_> {
    /// Writes the root of a mount, or of the first change after a clean one, into another ring block.
    pub fn settle(&mut self, found: &Found, mut failed: u16) -> Step {
        let mut last = found.next.number;
        loop {
            let block = self.other_block(found.base.block, found.keep | failed)?;
            let number = self.number_after(last, block);
            match self.settle_in(block, Root { number, ..found.next }, found) {
                Err(Stop::Failed) => {
                    failed |= u16::from(self.scope.has(Rule::FailedBlock)) << block;
                    last = number;
                }
                Ok(()) => {
                    self.ram().failed = failed;
                    return Ok(());
                }
                end => return end,
            }
        }
    }

    fn settle_in(&mut self, block: u8, mut root: Root, found: &Found) -> Step {
        if self.scope.has(Rule::Erase) || !self.chip.ring[usize::from(block)].is_empty() {
            self.erase_ring(block)?;
        }
        let page = self.program_root(block, 0, &mut root, found.rescue)?;
        let count = self.scope.kinds(&root).len();
        let newest = Placed { root, block };
        self.ram = Some(Ram {
            newest,
            before: found.base,
            certain: newest,
            next: Root { settled: false, ..root },
            page,
            names: if self.scope.twin { 2 } else { count as u8 - 1 },
            journaled: false,
            keep: 0,
            failed: 0,
            untouched: None,
        });
        Ok(())
    }

    /// Programs a root, its seals, and copies of what some heads wrote last: before it, or behind it where every root has copies.
    fn program_root(&mut self, block: u8, mut page: u8, root: &mut Root, heads: u8) -> Step<u8> {
        let twin = self.scope.twin;
        let mut next = page + if twin { self.scope.parts } else { 0 };
        for head in self.scope.heads().filter(|head| heads >> head & 1 != 0) {
            root.at[head] = At::Ring(block, next);
            next += 1;
        }
        if !twin {
            page = self.program_copies(block, page, root, heads)?;
        }
        for (index, &kind) in self.scope.kinds(root).iter().enumerate() {
            for part in 0..self.scope.parts {
                self.program_ring(block, page, Page { kind, part, root: *root, cell: Cell::Whole })?;
                page += 1;
            }
            if twin && index == 0 {
                page = self.program_copies(block, page, root, heads)?;
            }
        }
        Ok(page)
    }

    fn program_copies(&mut self, block: u8, mut page: u8, root: &Root, heads: u8) -> Step<u8> {
        for head in self.scope.heads().filter(|head| heads >> head & 1 != 0) {
            self.program_ring(block, page, Page { kind: Kind::Copy(head as u8), part: 0, root: *root, cell: Cell::Whole })?;
            page += 1;
        }
        Ok(page)
    }

    /// The next ring block after one that is not among some.
    fn other_block(&self, after: u8, taken: u16) -> Step<u8> {
        let ring = self.scope.ring;
        let mut blocks = (1..=ring).map(|step| (after + step) % ring);
        blocks.find(|block| taken >> block & 1 == 0).ok_or(Stop::Broken(Violation::RingTooSmall))
    }

    fn number_after(&self, number: u32, block: u8) -> u32 {
        let ring = u32::from(self.scope.ring);
        let rest = (u32::from(block) + ring - (number + 1) % ring) % ring;
        number + 1 + if self.scope.has(Rule::Number) { rest } else { 0 }
    }

    /// Does what the first change after a clean mount needs.
    pub fn open(&mut self) -> Step {
        let Some(found) = self.ram().untouched else { return Ok(()) };
        if self.scope.mark {
            if self.scope.has(Rule::Mark) {
                let root = found.base.root;
                let page = Page { kind: Kind::Mark, part: 0, root, cell: Cell::Whole };
                self.program_ring(found.base.block, found.mark, page)?;
            }
            let Root { heads, sequence, .. } = found.base.root;
            (self.ram().next.heads, self.ram().next.sequence) = (heads, sequence);
        } else if self.scope.has(Rule::Erase) {
            return self.settle(&found, self.ram.expect("mounted").failed);
        }
        let ram = self.ram();
        ram.untouched = None;
        ram.next.settled = false;
        Ok(())
    }

    /// Writes a record; the first one of a mount goes into the journal.
    pub fn write(&mut self, head: usize) -> Step {
        self.open()?;
        self.journal_first(head)?;
        let value = self.promise.newest + 1;
        self.record(head, Some(value))
    }

    fn journal_first(&mut self, head: usize) -> Step {
        let needed = head != 0 && !self.ram().journaled && self.scope.has(Rule::JournalFirst);
        if needed { self.record(0, None) } else { Ok(()) }
    }

    /// Writes a record, with a new value or with what the head wrote last.
    fn record(&mut self, head: usize, new: Option<u32>) -> Step {
        if let Some(value) = new {
            self.promise.newest = value;
            self.promise.flying = Some((head as u8, value));
        }
        let ram = *self.ram();
        let (place, value) = (ram.next.heads[head], new.unwrap_or(ram.next.values[head]));
        let record = Record { sequence: ram.next.sequence, name: ram.newest.root.number, value, cell: Cell::Whole };
        self.program_log(head, place, record)?;
        let twin = self.scope.twin;
        let ram = self.ram();
        ram.next.heads[head] += 1;
        ram.next.sequence += 1;
        ram.next.values[head] = value;
        ram.next.at[head] = At::Log(head as u8, place);
        ram.names = if twin { ram.names } else { (ram.names + 1).min(2) };
        ram.journaled = true;
        self.promise.acknowledged[head] = value;
        self.promise.flying = None;
        Ok(())
    }

    /// Writes a root, the last one with a seal.
    pub fn root(&mut self, closed: bool) -> Step {
        let root = Root { closed, settled: closed, ..self.ram().next };
        let pages = self.scope.parts * self.scope.kinds(&root).len() as u8 + u8::from(closed && self.scope.mark);
        loop {
            let ram = *self.ram();
            let (mut block, mut page) = (ram.newest.block, ram.page);
            let is_full = page + pages > self.scope.pages || ram.failed >> block & 1 != 0;
            if is_full {
                block = self.other_block(block, self.taken())?;
                page = 0;
            }
            let number = self.number_after(ram.next.number, block);
            self.ram().next.number = number;
            let mut root = Root { number, before: ram.newest.root.number, closed, settled: closed, ..self.ram().next };
            match self.root_in(block, page, &mut root, is_full) {
                Err(Stop::Failed) => self.ram().failed |= 1 << block,
                Ok(page) => {
                    self.adopt(root, block, page);
                    return Ok(());
                }
                Err(end) => return Err(end),
            }
        }
    }

    fn root_in(&mut self, block: u8, page: u8, root: &mut Root, erase: bool) -> Step<u8> {
        if !erase {
            return self.program_root(block, page, root, 0);
        }
        self.erase_ring(block)?;
        let in_ring = |head: &usize| matches!(root.at[*head], At::Ring(..)) && self.scope.has(Rule::OwnBlock);
        let heads = self.scope.heads().filter(in_ring).fold(0, |heads, head| heads | 1 << head);
        self.program_root(block, page, root, heads)
    }

    fn adopt(&mut self, root: Root, block: u8, page: u8) {
        let twin = self.scope.twin;
        let ram = self.ram();
        ram.certain = if ram.names >= 2 { ram.newest } else { ram.certain };
        ram.before = ram.newest;
        ram.newest = Placed { root, block };
        ram.next.at = root.at;
        (ram.page, ram.names, ram.keep) = (page, if twin { 2 } else { 0 }, 0);
    }

    /// The ring blocks that are not erased in normal operation.
    fn taken(&self) -> u16 {
        let ram = self.ram.expect("the volume is mounted");
        let certain = if ram.names >= 2 { ram.newest } else { ram.certain };
        let before = if self.scope.has(Rule::History) && !self.scope.twin { 1 << ram.before.block } else { 0 };
        let failed = if self.scope.has(Rule::FailedBlock) { ram.failed } else { 0 };
        ram.keep | failed | 1 << ram.newest.block | 1 << certain.block | before
    }
}
