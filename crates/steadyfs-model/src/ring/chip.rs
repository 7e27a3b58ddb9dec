//! The chip: the blocks of the ring, the places of the log, the results of cuts and failures in
//! them, and their reads.

use super::rules::Rule;
use super::scope::Scope;
use super::violation::Violation;
use crate::choices::Choices;

/// Number of a root.
pub type Number = u16;
/// Number of a program.
pub type Sequence = u16;
/// A page: place in the ring (or [`LOG`]), and page in that block.
pub type At = (u8, u8);
/// Place that stands for the log instead of a block of the ring.
pub const LOG: u8 = u8::MAX;

/// Content of a root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Root {
    /// Its number.
    pub number: Number,
    /// Number of the last complete root when this one was begun. 0 means no root.
    pub follows: Number,
    /// True if it ends the use of the volume.
    pub closed: bool,
    /// Lower limit for the numbers of all records behind it.
    pub sequence: Sequence,
    /// Next place of the log.
    pub head: u8,
    /// Place of the newest record, or `None` without a record.
    pub newest: Option<At>,
    /// Bad blocks of the ring, one bit each.
    pub bad: u8,
}

/// Content of a record: the stored value, in one page with its commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The value.
    pub value: u8,
    /// Its number.
    pub sequence: Sequence,
}

/// Content of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Page {
    /// A page of a root, counted on into its copies.
    Root(Root, u8),
    /// A record, or a mount's copy of one.
    Record(Record),
    /// A mount's copy of a lost record. Its checksum marks it as lost.
    Lost,
    /// Zeros behind a closed root.
    Mark,
}

/// A program page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// Erased.
    Blank,
    /// A program or erase of it was cut, and it had no content before. It reads as blank or as
    /// damaged.
    Touched,
    /// Programmed.
    Good(Page),
    /// Its program was cut or failed, or its erase was cut. It reads as its content, as damaged
    /// or as blank, differently each time.
    Unsteady(Page),
    /// Was programmed, and cannot be read any more.
    Lost,
}

/// Result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// The page reads as erased.
    Blank,
    /// The page reads as damaged.
    Damaged,
    /// The page reads as its content.
    Page(Page),
}

/// Reason why a call ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The power failed.
    Cut,
    /// A program or an erase failed.
    Failed,
    /// A read failed, or an unsteady page cannot be read. The mount ends, and the next one may
    /// succeed.
    Unread,
    /// A property does not hold.
    Broken(Violation),
}

/// The chip, and the faults that may still happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chip {
    /// The blocks of the ring.
    pub ring: Vec<Vec<Cell>>,
    /// The log, up to its last programmed page.
    pub log: Vec<Cell>,
    /// Number of cuts that may still come.
    pub cuts: u8,
    /// Number of failures of programs and erases in the ring that may still come.
    pub failures: u8,
    /// Number of reads that may still fail.
    pub reads: u8,
    /// Number of pages that may still be lost.
    pub losses: u8,
}

impl Chip {
    /// Returns the cell of a page.
    pub fn cell(&self, at: At) -> Cell {
        let block = if at.0 == LOG { &self.log } else { &self.ring[usize::from(at.0)] };
        block.get(usize::from(at.1)).copied().unwrap_or(Cell::Blank)
    }

    /// Returns the same cell, to change it.
    pub fn cell_mut(&mut self, at: At) -> &mut Cell {
        let block = if at.0 == LOG { &mut self.log } else { &mut self.ring[usize::from(at.0)] };
        let index = usize::from(at.1);
        if index >= block.len() {
            block.resize(index + 1, Cell::Blank);
        }
        &mut block[index]
    }

    /// Reads a page. Several tries count as one read.
    pub fn read(&mut self, at: At, scope: &Scope, choices: &mut Choices) -> Result<Seen, Stop> {
        let cell = self.cell(at);
        if self.reads > 0 {
            let may_hide = matches!(cell, Cell::Good(_)) && !scope.has(Rule::ReadAgain);
            match choices.choose(2 + u8::from(may_hide)) {
                0 => {}
                fate => {
                    self.reads -= 1;
                    return if fate == 1 { Err(Stop::Unread) } else { Ok(Seen::Damaged) };
                }
            }
        }
        Ok(match cell {
            Cell::Blank => Seen::Blank,
            Cell::Good(page) => Seen::Page(page),
            Cell::Lost => Seen::Damaged,
            Cell::Touched => *choices.of(&[Seen::Blank, Seen::Damaged]),
            Cell::Unsteady(page) if scope.reads_blank => {
                *choices.of(&[Seen::Page(page), Seen::Damaged, Seen::Blank])
            }
            Cell::Unsteady(page) => *choices.of(&[Seen::Page(page), Seen::Damaged]),
        })
    }

    /// Programs a page, which must be erased. After a cut or a failure, the page may read as
    /// anything from then on.
    pub fn program(&mut self, at: At, page: Page, choices: &mut Choices) -> Result<(), Stop> {
        let (cuts, failures) =
            (u8::from(self.cuts > 0), u8::from(self.failures > 0 && at.0 != LOG));
        let cell = self.cell_mut(at);
        // The mark may be programmed again. If it is complete, that changes nothing.
        let is_marked = page == Page::Mark
            && matches!(cell, Cell::Good(Page::Mark) | Cell::Unsteady(Page::Mark));
        if *cell != Cell::Blank && !is_marked {
            return Err(Stop::Broken(Violation::ProgramOfTouchedPage));
        }
        let fate = choices.choose(1 + cuts + failures);
        *cell = if fate == 0 || *cell == Cell::Good(page) {
            Cell::Good(page)
        } else {
            Cell::Unsteady(page)
        };
        self.suffer(fate, cuts)
    }

    /// Erases a block of the ring. If the erase fails, the block stays as it is.
    pub fn erase(&mut self, place: u8, choices: &mut Choices) -> Result<(), Stop> {
        let cuts = u8::from(self.cuts > 0);
        let fate = choices.choose(1 + cuts + u8::from(self.failures > 0));
        for cell in &mut self.ring[usize::from(place)] {
            *cell = match *cell {
                old if fate > cuts => old,
                _ if fate == 0 => Cell::Blank,
                Cell::Blank => Cell::Touched,
                Cell::Good(page) => Cell::Unsteady(page),
                old => old,
            };
        }
        self.suffer(fate, cuts)
    }

    fn suffer(&mut self, fate: u8, cuts: u8) -> Result<(), Stop> {
        match fate {
            0 => Ok(()),
            fate if fate <= cuts => {
                self.cuts -= 1;
                Err(Stop::Cut)
            }
            _ => {
                self.failures -= 1;
                Err(Stop::Failed)
            }
        }
    }
}
