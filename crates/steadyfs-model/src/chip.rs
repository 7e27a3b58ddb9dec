//! The chip: pages, what a cut or a failure leaves in them, and how they read.

use crate::choices::Choices;
use crate::state::{Pages, Scope, Table, Violation};
use std::sync::Arc;

/// A program page of the chip. A frame is one page here.
pub type Page = u8;
/// A block: data blocks first, then the ring.
pub type Block = u8;
/// Number of a program; canonical states keep the order and which numbers follow each other.
pub type Sequence = u16;
/// No page or block.
pub const NONE: u8 = u8::MAX;
/// No transaction.
pub const IDLE: Sequence = Sequence::MAX;
/// Stands for a byte that is lost: whoever reads it is told.
pub const LOST: u8 = u8::MAX;

/// What a page holds, as its tag says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A page of a root, or of its copy.
    Root,
    /// A logical page of an open transaction.
    Data,
    /// A logical page that is a transaction of its own.
    DataCommit,
    /// Patches; commits the transaction.
    Journal,
    /// A committed logical page that was moved.
    Moved,
    /// A pending logical page that was moved.
    MovedPending,
    /// The map.
    Leaf,
    /// The map, moved.
    MovedLeaf,
    /// A record of the journal's head: the log of the leaf has its changes.
    LeafChanged,
}

impl Kind {
    /// Whether the journal's head programs it.
    pub fn is_of_journal(self) -> bool {
        matches!(self, Self::Journal | Self::LeafChanged)
    }
}

/// The tag of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag {
    /// What the page holds.
    pub kind: Kind,
    /// Logical page; of a journal page the number of pending pages; of a root the page in it, counted on into its copy.
    pub logical: u8,
    /// Number of the program; of a root its own number.
    pub sequence: Sequence,
    /// First sequence of the transaction (on the medium: the distance to it).
    pub start: Sequence,
    /// The page that it was moved from, where leaves have logs.
    pub source: Page,
}

/// The bytes of a page. A logical page has two: a write changes both, a patch the second.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// A logical page.
    Data([u8; 2]),
    /// Frame of each logical page, and what was programmed behind them.
    Leaf(Pages<Page>, Log),
    /// Patch of each logical page; 0: none.
    Patches(Pages<u8>),
    /// A root. Each of its pages has it here; it counts only with all of them.
    Root(Arc<Table>),
    /// What no mount can need.
    Nothing,
    /// What was lost before it was copied. The checksum says so.
    Lost,
}

/// The log of a leaf, where the medium programs bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Log {
    /// The newest whole change of each logical page.
    pub whole: Pages<Option<Page>>,
    /// Changes whose program was cut or failed.
    pub unsteady: Pages<Option<Page>>,
    /// How those read; drawn when the log is first read.
    pub reading: Option<Pages<Change>>,
    /// Changes of which there is something that cannot be read.
    pub unreadable: Pages<bool>,
}

/// How a change reads whose program was cut or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// As it was programmed.
    Whole,
    /// As nothing.
    Blank,
    /// As damaged.
    Torn,
}

impl Log {
    /// How it reads until the power fails: each change that was cut or failed is whole, is not there, or cannot be read.
    fn read(&mut self, choices: &mut Choices) -> Self {
        let unsteady = self.unsteady;
        let mut draw =
            |change: Option<Page>| change.map_or(Change::Blank, |_| *choices.of(&[Change::Whole, Change::Blank, Change::Torn]));
        let reading = *self.reading.get_or_insert_with(|| unsteady.map(&mut draw));
        let mut read = Self { whole: self.whole, unreadable: self.unreadable, ..Self::default() };
        for (logical, change) in reading.into_iter().enumerate() {
            match change {
                Change::Whole => read.whole[logical] = unsteady[logical],
                Change::Blank => {}
                Change::Torn => read.unreadable[logical] = true,
            }
        }
        read
    }
}

/// What an unsteady page reads as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// What was programmed.
    Good,
    /// A good tag with a wrong checksum.
    Bad,
    /// Erased.
    Blank,
    /// No tag.
    Noise,
    /// A tag that was never programmed, with a wrong checksum: of this kind, and so far from the next number.
    Forged(Kind, Sequence),
}

/// A program page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// Erased.
    Blank,
    /// Reads as erased, and was touched: a program does not hold.
    Touched,
    /// An old page that nothing names any more.
    Stale,
    /// Was programmed, and cannot be read any more.
    Lost,
    /// A page.
    Good(Tag, Content),
    /// A page whose program or erase was cut, or whose program failed: it reads differently after each power-on. The reading is drawn when it is
    /// first read.
    Unsteady(Tag, Content, Option<Reading>),
}

/// Why a call ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The power failed.
    Cut,
    /// A program or erase failed.
    Failed,
    /// There is no block to program: the caller is refused.
    NoSpace,
    /// A property does not hold.
    Broken(Violation),
}

/// The chip, and the faults that may still happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chip {
    /// All pages.
    pub cells: Vec<Cell>,
    /// Cuts that may still come.
    pub cuts: u8,
    /// Failures of programs and erases that may still come.
    pub failures: u8,
    /// Pages that may still be lost.
    pub losses: u8,
}

/// How a page was read.
pub enum Seen {
    /// As erased.
    Blank,
    /// As nothing.
    Noise,
    /// As a page of long ago.
    Old,
    /// A tag and a content; whether the checksum is right.
    Page(Tag, Content, bool),
}

impl Chip {
    /// Reads a page. `next` is the number of the next record.
    pub fn read(&mut self, page: Page, next: Sequence, scope: &Scope, choices: &mut Choices) -> Seen {
        // In the ring nothing counts without its checksum, so that the other readings are one.
        let readings = if scope.is_of_ring(scope.block_of(page)) { &[Reading::Good, Reading::Noise] } else { scope.readings };
        let cell = &mut self.cells[usize::from(page)];
        if let Cell::Good(tag, Content::Leaf(frames, log)) = cell {
            return Seen::Page(*tag, Content::Leaf(*frames, log.read(choices)), true);
        }
        match cell {
            Cell::Blank | Cell::Touched => Seen::Blank,
            Cell::Stale => Seen::Old,
            Cell::Lost => Seen::Noise,
            Cell::Good(tag, content) => Seen::Page(*tag, content.clone(), *content != Content::Lost),
            Cell::Unsteady(tag, content, reading) => match *reading.get_or_insert_with(|| *choices.of(readings)) {
                Reading::Good => Seen::Page(*tag, content.clone(), *content != Content::Lost),
                Reading::Bad => Seen::Page(*tag, content.clone(), false),
                Reading::Blank => Seen::Blank,
                Reading::Noise => Seen::Noise,
                Reading::Forged(kind, distance) => {
                    let sequence = next + distance;
                    Seen::Page(Tag { kind, logical: 0, sequence, start: sequence, source: NONE }, Content::Nothing, false)
                }
            },
        }
    }

    /// Programs a page, which must be erased.
    pub fn program(&mut self, page: Page, tag: Tag, content: Content, choices: &mut Choices) -> Result<(), Stop> {
        let cell = &mut self.cells[usize::from(page)];
        if *cell != Cell::Blank {
            return Err(Stop::Broken(Violation::ProgramOfTouchedPage));
        }
        let (cuts, failures) = (u8::from(self.cuts > 0), u8::from(self.failures > 0));
        let fate = choices.choose(1 + cuts + failures);
        *cell = if fate == 0 { Cell::Good(tag, content) } else { Cell::Unsteady(tag, content, None) };
        self.suffer(fate, cuts)
    }

    /// Programs changes into the log of the leaf in a page.
    pub fn program_log(&mut self, page: Page, changes: Pages<Option<Page>>, choices: &mut Choices) -> Result<(), Stop> {
        let (cuts, failures) = (u8::from(self.cuts > 0), u8::from(self.failures > 0));
        let fate = choices.choose(1 + cuts + failures);
        let Cell::Good(_, Content::Leaf(_, log)) = &mut self.cells[usize::from(page)] else {
            return Err(Stop::Broken(Violation::ProgramOfTouchedPage));
        };
        if log.unsteady != Pages::default() {
            return Err(Stop::Broken(Violation::ProgramOfTouchedPage));
        }
        if fate == 0 {
            for (whole, change) in log.whole.iter_mut().zip(changes) {
                *whole = change.or(*whole);
            }
        } else {
            (log.unsteady, log.reading) = (changes, None);
        }
        self.suffer(fate, cuts)
    }

    /// Erases the pages of a block. One that does not erase stays as it is.
    pub fn erase(&mut self, pages: std::ops::Range<Page>, choices: &mut Choices) -> Result<(), Stop> {
        let cuts = u8::from(self.cuts > 0);
        let fate = choices.choose(1 + cuts + u8::from(self.failures > 0));
        if fate <= cuts {
            for cell in &mut self.cells[usize::from(pages.start)..usize::from(pages.end)] {
                *cell = match core::mem::replace(cell, Cell::Blank) {
                    _ if fate == 0 => Cell::Blank,
                    Cell::Good(tag, content) | Cell::Unsteady(tag, content, _) => Cell::Unsteady(tag, content, None),
                    Cell::Blank | Cell::Touched => Cell::Touched,
                    other => other,
                };
            }
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
