//! Operations on RAM and chip together: roots, the blocks of the ring, settling, as in
//! `root/program.rs` and `store/settle.rs`.

use super::chip::{At, Cell, Chip, LOG, Number, Page, Record, Seen, Sequence, Stop};
use super::rules::Rule;
use super::scope::Scope;
use super::state::Ram;
use super::violation::Violation;
use crate::choices::Choices;

/// Distance by which the sequence jumps at a mount.
const JUMP: Sequence = 32;

/// Result of a step.
pub type Step<T = ()> = Result<T, Stop>;

/// A chip with power.
pub struct Machine<'a> {
    /// The world.
    pub scope: &'a Scope,
    /// The chip.
    pub chip: Chip,
    /// RAM.
    pub ram: Ram,
    /// Answers to the choices.
    pub choices: &'a mut Choices,
    /// Readings of unsteady pages since the power came on.
    pub seen: Vec<(At, Seen)>,
}

impl Machine<'_> {
    /// Looks at a page.
    pub fn look(&mut self, at: At) -> Step<Seen> {
        if let Some(seen) = self.seen.iter().find(|seen| seen.0 == at) {
            return Ok(seen.1);
        }
        let seen = self.chip.read(at, self.scope, self.choices)?;
        if !self.scope.every_look {
            self.seen.push((at, seen));
        }
        Ok(seen)
    }

    fn program(&mut self, at: At, page: Page) -> Step {
        self.seen.retain(|seen| seen.0 != at);
        self.chip.program(at, page, self.choices)
    }

    /// Erases a block of the ring. Marks it as bad if the erase fails.
    fn erase(&mut self, place: u8) -> Step<bool> {
        self.seen.retain(|seen| seen.0.0 != place);
        match self.chip.erase(place, self.choices) {
            Err(Stop::Failed) => {
                self.ram.root.bad |= 1 << place;
                Ok(false)
            }
            result => result.map(|()| true),
        }
    }

    /// Returns true if the content of a block is not needed.
    fn place_rests(&self, place: u8) -> bool {
        let holds_newest = self.ram.root.newest.is_some_and(|at| at.0 == place)
            && self.scope.has(Rule::BlockInUse);
        place != self.ram.place
            && place != self.ram.complete
            && (self.ram.kept | self.ram.root.bad) >> place & 1 == 0
            && !holds_newest
    }

    /// Goes on to the next block, which is erased.
    fn advance_ring(&mut self) -> Step {
        for step in 1..self.scope.ring {
            let place = (self.ram.place + step) % self.scope.ring;
            if self.place_rests(place) && self.erase(place)? {
                (self.ram.place, self.ram.next) = (place, 0);
                return Ok(());
            }
        }
        Err(Stop::Broken(Violation::RingTooSmall))
    }

    /// Erases the blocks with unknown content.
    fn erase_unknown(&mut self) -> Step {
        for place in 0..self.scope.ring {
            if self.ram.unknown >> place & 1 != 0 && self.place_rests(place) {
                self.erase(place)?;
            }
            self.ram.unknown &= !(1 << place);
        }
        Ok(())
    }

    /// Removes blank blocks from the unknown ones. Such a block holds nothing that a later mount
    /// could read.
    pub fn know_blank_places(&mut self) -> Step {
        for place in 0..self.scope.ring {
            if self.ram.unknown >> place & 1 != 0 && self.has_no_root(place)? {
                self.ram.unknown &= !(1 << place);
            }
        }
        Ok(())
    }

    fn has_no_root(&mut self, place: u8) -> Step<bool> {
        for page in 0..self.scope.root_programs() {
            if self.look((place, page))? != Seen::Blank {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the smallest number beyond all others that belongs to the place.
    fn next_number(&mut self) -> Number {
        let (count, least) = (Number::from(self.scope.ring), self.ram.number + 1);
        self.ram.number = least + (Number::from(self.ram.place) + count - least % count) % count;
        self.ram.root.follows = self.ram.newest;
        self.ram.number
    }

    /// Programs pages of a root or of its copies. From the root's page count on, an index means a
    /// page of the copies.
    fn program_root_pages(&mut self, pages: std::ops::Range<u8>) -> Step {
        for index in pages {
            let at = (self.ram.place, self.ram.next);
            self.ram.next += 1;
            let result = self.program(at, Page::Root(self.ram.root, index));
            if result.is_err()
                && index > self.scope.root_pages
                && self.scope.has(Rule::FailedIsFollowed)
            {
                self.ram.newest = self.ram.root.number;
            }
            result?;
        }
        Ok(())
    }

    /// Returns the number of pages to program for a root with its copies.
    fn programs(&self) -> u8 {
        if self.scope.has(Rule::WholeCopies) {
            self.scope.root_programs()
        } else {
            self.scope.root_pages + 1
        }
    }

    /// Writes a root with its copies, in the next block if necessary.
    pub fn write_root(&mut self) -> Step {
        for _ in 0..self.scope.ring {
            if self.ram.next + self.scope.root_programs() > self.scope.pages {
                self.advance_ring()?;
            }
            self.ram.root.number = self.next_number();
            let result = self.program_root_pages(0..self.programs());
            if self.root_was_written(result)? {
                return Ok(());
            }
        }
        Err(Stop::Failed)
    }

    fn root_was_written(&mut self, result: Step) -> Step<bool> {
        match result {
            Ok(()) => {
                (self.ram.complete, self.ram.kept) = (self.ram.place, 0);
                self.ram.newest = self.ram.root.number;
                Ok(true)
            }
            Err(Stop::Failed) => {
                self.ram.root.bad |= 1 << self.ram.place;
                self.ram.next = self.scope.pages;
                Ok(false)
            }
            Err(stop) => Err(stop),
        }
    }

    /// Prepares the ring for the first change after a clean end.
    pub fn open_ring(&mut self) -> Step {
        self.ram.root.closed = false;
        let may_mark = self.ram.unknown == 0;
        if let Some(page) = self.ram.mark.take().filter(|_| may_mark) {
            let result = self.program((self.ram.complete, page), Page::Mark);
            if result != Err(Stop::Failed) {
                return result;
            }
        }
        if self.scope.has(Rule::OpeningWritesRoot) {
            self.advance_ring()?;
            self.write_root()?;
        }
        self.erase_unknown()
    }

    /// Makes the programs of a mount before its first answer.
    pub fn settle(&mut self) -> Step {
        let record = self.cargo()?;
        if let Some(page) = self.ram.mark.take()
            && self.scope.has(Rule::MarkIsCompleted)
        {
            match self.program((self.ram.complete, page), Page::Mark) {
                Err(Stop::Failed) => self.ram.root.bad |= 1 << self.ram.complete,
                result => result?,
            }
        }
        self.ram.root.sequence += JUMP;
        self.ram.root.head += u8::from(self.scope.has(Rule::SkipPlaces));
        loop {
            if self.scope.has(Rule::FreshBlock)
                || self.ram.next + self.scope.root_programs() + self.scope.gap + 1
                    > self.scope.pages
            {
                self.advance_ring()?;
            }
            self.ram.root.number = self.next_number();
            let result = self.program_settled(record);
            if self.root_was_written(result)? {
                break;
            }
        }
        if self.scope.has(Rule::UnknownAreErased) { self.erase_unknown() } else { Ok(()) }
    }

    /// Returns the record that must be copied: the last one, or one that an earlier mount copied.
    /// If that is a frame, it may be lost.
    fn cargo(&mut self) -> Step<Option<Page>> {
        let rule = if self.ram.is_unsteady { Rule::LastIsCopied } else { Rule::CopiesAreCarried };
        let in_ring = self.ram.root.newest.is_some_and(|at| at.0 != LOG);
        let copies = (self.ram.is_unsteady || in_ring) && self.scope.has(rule);
        match self.ram.root.newest.filter(|_| copies) {
            None => Ok(None),
            Some(at) => match self.look(at)? {
                Seen::Page(Page::Record(record)) => Ok(Some(Page::Record(record))),
                _ if in_ring && self.scope.frames && self.scope.has(Rule::LostIsCopied) => {
                    Ok(Some(Page::Lost))
                }
                _ if self.chip.cell(at) == Cell::Lost => Err(Stop::Broken(Violation::NeverMounts)),
                _ => Err(Stop::Unread),
            },
        }
    }

    fn program_settled(&mut self, record: Option<Page>) -> Step {
        let (pages, all, first) = (self.scope.root_pages, self.programs(), self.ram.next);
        let seals_come_last = self.scope.has(Rule::SealsComeLast);
        let to =
            (self.ram.place, first + if seals_come_last { pages + self.scope.gap } else { all });
        if record.is_some() {
            self.ram.root.newest = Some(to);
        }
        self.program_root_pages(0..if seals_come_last { pages } else { all })?;
        if let Some(record) = record {
            self.ram.next = to.1 + 1;
            // The copy has a number below the root's number.
            let sequence = self.ram.root.sequence - 1;
            let copy = if let Page::Record(record) = record {
                Page::Record(Record { sequence, ..record })
            } else {
                record
            };
            self.program(to, copy)?;
        }
        if seals_come_last { self.program_root_pages(pages..all) } else { Ok(()) }
    }
}
