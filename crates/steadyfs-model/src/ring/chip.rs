//! The chip: the blocks of the ring, the places of the log, what a cut or a failure leaves in them, and how they read.

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
/// Stands for the place of a block where pages of the log are meant.
pub const LOG: u8 = u8::MAX;

/// What a root says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Root {
    /// Its number.
    pub number: Number,
    /// The number of the last complete root when it was begun; 0: none.
    pub follows: Number,
    /// It ends the use of the volume.
    pub closed: bool,
    /// Every record behind it has at least this number.
    pub sequence: Sequence,
    /// The next place of the log.
    pub head: u8,
    /// Where the newest record lies; `None`: there is none.
    pub newest: Option<At>,
    /// A bit for each ring block that is bad.
    pub bad: u8,
}

/// What a record says: the value that is stored, in one page with its commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The value.
    pub value: u8,
    /// Its number.
    pub sequence: Sequence,
}

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Page {
    /// A page of a root, counted on into its copies.
    Root(Root, u8),
    /// A record, or a mount's copy of one.
    Record(Record),
    /// A mount's copy of a record that was lost: it says so by its checksum.
    Lost,
    /// Zeros behind a closed root.
    Mark,
}

/// A program page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// Erased.
    Blank,
    /// An erase or a program of it was cut, and what it held before is nothing: reads as blank or as damaged.
    Touched,
    /// Programmed.
    Good(Page),
    /// Programmed, or its erase was cut: reads as what it holds, as damaged or as blank, differently each time.
    Unsteady(Page),
    /// Was programmed, and cannot be read any more.
    Lost,
}

/// How a page reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// As erased.
    Blank,
    /// As nothing.
    Damaged,
    /// As what it holds.
    Page(Page),
}

/// Why a call ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The power failed.
    Cut,
    /// A program or an erase failed.
    Failed,
    /// A read failed, or what is unsteady cannot be read: the mount ends, and the next one may succeed.
    Unread,
    /// A property does not hold.
    Broken(Violation),
}

/// The chip, and the faults that may still happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chip {
    /// The blocks of the ring.
    pub ring: Vec<Vec<Cell>>,
    /// The log, as far as it was programmed.
    pub log: Vec<Cell>,
    /// Cuts that may still come.
    pub cuts: u8,
    /// Failures of programs and erases in the ring that may still come.
    pub failures: u8,
    /// Reads that may still fail.
    pub reads: u8,
    /// Pages that may still be lost.
    pub losses: u8,
}

impl Chip {
    /// The cell of a page.
    pub fn cell(&self, at: At) -> Cell {
        let block = if at.0 == LOG { &self.log } else { &self.ring[usize::from(at.0)] };
        block.get(usize::from(at.1)).copied().unwrap_or(Cell::Blank)
    }

    /// The same, to change it.
    pub fn cell_mut(&mut self, at: At) -> &mut Cell {
        let block = if at.0 == LOG { &mut self.log } else { &mut self.ring[usize::from(at.0)] };
        let index = usize::from(at.1);
        if index >= block.len() {
            block.resize(index + 1, Cell::Blank);
        }
        &mut block[index]
    }

    /// How a page reads, whatever the number of tries.
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
            Cell::Unsteady(page) if scope.reads_blank => *choices.of(&[Seen::Page(page), Seen::Damaged, Seen::Blank]),
            Cell::Unsteady(page) => *choices.of(&[Seen::Page(page), Seen::Damaged]),
        })
    }

    /// Programs a page, which must be erased. What a cut leaves may read as anything from then on; so may what a failure leaves.
    pub fn program(&mut self, at: At, page: Page, choices: &mut Choices) -> Result<(), Stop> {
        let (cuts, failures) = (u8::from(self.cuts > 0), u8::from(self.failures > 0 && at.0 != LOG));
        let cell = self.cell_mut(at);
        // The mark may be programmed again, and where it is complete that changes nothing.
        let is_marked = page == Page::Mark && matches!(cell, Cell::Good(Page::Mark) | Cell::Unsteady(Page::Mark));
        if *cell != Cell::Blank && !is_marked {
            return Err(Stop::Broken(Violation::ProgramOfTouchedPage));
        }
        let fate = choices.choose(1 + cuts + failures);
        *cell = if fate == 0 || *cell == Cell::Good(page) { Cell::Good(page) } else { Cell::Unsteady(page) };
        self.suffer(fate, cuts)
    }

    /// Erases a block of the ring. One that does not erase stays as it is.
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
