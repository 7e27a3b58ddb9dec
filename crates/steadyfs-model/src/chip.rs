//! The chip: pages, what a cut or a failure leaves in them, and how they read.

use crate::choices::Choices;
use crate::state::{Checkpoint, Pages, Scope, Violation};
use std::sync::Arc;

/// A program page of the chip. A frame is one page here.
pub type Page = u8;
/// A block: data blocks first, then anchors.
pub type Block = u8;
/// Number of a program; canonical states keep the order and which numbers follow each other.
pub type Sequence = u16;
/// No page or block.
pub const NONE: u8 = u8::MAX;
/// No transaction.
pub const IDLE: Sequence = Sequence::MAX;

/// What a page holds, as its tag says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A page of a checkpoint.
    Checkpoint,
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
}

/// The tag of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag {
    /// What the page holds.
    pub kind: Kind,
    /// Logical page; of a journal page the number of pending pages; of a checkpoint the place in it.
    pub logical: u8,
    /// Number of the program.
    pub sequence: Sequence,
    /// First sequence of the transaction (on the medium: the distance to it).
    pub start: Sequence,
    /// Where a moved frame came from.
    pub from: Page,
}

/// The bytes of a page. A logical page has two: a write changes both, a patch the second.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// A logical page.
    Data([u8; 2]),
    /// Frame of each logical page.
    Leaf(Pages<Page>),
    /// Patch of each logical page; 0: none.
    Patches(Pages<u8>),
    /// A checkpoint's first page.
    Checkpoint(Arc<Checkpoint>),
    /// A checkpoint's other pages, and what no recovery can need.
    Nothing,
}

/// How a page that was programmed reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quality {
    /// As it was programmed.
    Good,
    /// The tag reads well and the checksum is wrong.
    Bad,
    /// Differently after each power-on; a reading is drawn when it is first read.
    Metastable(Option<Reading>),
}

/// What a metastable or garbled page reads as.
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
    /// A tag of this kind, newer than all others, with a wrong checksum.
    Forged(Kind),
}

/// A program page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// Erased.
    Blank,
    /// Reads as erased, and was touched: a program does not hold.
    Weak,
    /// Reads as no tag, or a wrong one.
    Garbled(Reading),
    /// An old page that nothing names any more.
    Stale,
    /// A page.
    Page(Tag, Content, Quality),
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
}

impl Chip {
    /// What a page reads as: its tag, its content, and whether the checksum is right. `Err(true)`: blank; `Err(false)`: no tag.
    pub fn read(
        &mut self,
        page: Page,
        newest: Sequence,
        scope: &Scope,
        choices: &mut Choices,
    ) -> Result<(Tag, Content, bool), bool> {
        let forged =
            |kind| (Tag { kind, logical: 0, sequence: newest + 8, start: newest + 8, from: NONE }, Content::Nothing, false);
        match &mut self.cells[usize::from(page)] {
            Cell::Blank | Cell::Weak => Err(true),
            Cell::Garbled(Reading::Forged(kind)) => Ok(forged(*kind)),
            Cell::Garbled(_) | Cell::Stale => Err(false),
            Cell::Page(tag, content, quality) => {
                if *quality == Quality::Metastable(None) {
                    *quality = Quality::Metastable(Some(*choices.of(scope.readings)));
                }
                match *quality {
                    Quality::Good | Quality::Metastable(None | Some(Reading::Good)) => Ok((*tag, content.clone(), true)),
                    Quality::Bad | Quality::Metastable(Some(Reading::Bad)) => Ok((*tag, content.clone(), false)),
                    Quality::Metastable(Some(Reading::Blank)) => Err(true),
                    Quality::Metastable(Some(Reading::Noise)) => Err(false),
                    Quality::Metastable(Some(Reading::Forged(kind))) => Ok(forged(kind)),
                }
            }
        }
    }

    /// Programs a page, which must be erased.
    pub fn program(&mut self, page: Page, tag: Tag, content: Content, scope: &Scope, choices: &mut Choices) -> Result<(), Stop> {
        let cell = &mut self.cells[usize::from(page)];
        if *cell != Cell::Blank {
            return Err(Stop::Broken(Violation::ProgramOfTouchedPage));
        }
        // Done, a cut that leaves nothing, a page, a metastable page or garbage; a failure that leaves a page or garbage.
        let torn = scope.readings.len() as u8;
        let (cuts, failures) = (if self.cuts > 0 { 2 + torn } else { 0 }, if self.failures > 0 { 3 } else { 0 });
        let fate = choices.choose(1 + cuts + failures);
        let page = |quality| Cell::Page(tag, content.clone(), quality);
        if fate == 0 {
            *cell = page(Quality::Good);
            return Ok(());
        }
        if fate > cuts {
            self.failures -= 1;
            *cell = match fate - cuts {
                1 => page(Quality::Bad),
                2 => page(Quality::Good),
                _ => page(scope.failed),
            };
            return Err(Stop::Failed);
        }
        self.cuts -= 1;
        *cell = match fate {
            1 => Cell::Weak,
            2 => page(Quality::Metastable(None)),
            fate => match scope.readings[usize::from(fate - 3)] {
                Reading::Good => page(Quality::Good),
                Reading::Bad => page(Quality::Bad),
                Reading::Blank => return Err(Stop::Cut).inspect_err(|_| *cell = Cell::Weak),
                reading => Cell::Garbled(reading),
            },
        };
        Err(Stop::Cut)
    }

    /// Erases the pages of a block.
    pub fn erase(&mut self, pages: std::ops::Range<Page>, scope: &Scope, choices: &mut Choices) -> Result<(), Stop> {
        let torn = if self.cuts > 0 { 2 + scope.readings.len() as u8 } else { 0 };
        let fate = choices.choose(1 + torn + u8::from(self.failures > 0));
        let range = usize::from(pages.start)..usize::from(pages.end);
        let cells = &mut self.cells[range];
        if fate > torn {
            self.failures -= 1;
            return Err(Stop::Failed);
        }
        for (index, cell) in cells.iter_mut().enumerate() {
            *cell = match (fate, core::mem::replace(cell, Cell::Blank)) {
                (0, _) => Cell::Blank,
                (_, Cell::Blank | Cell::Weak) => Cell::Weak,
                // Nothing happened, or everything seems to have.
                (1, old) => old,
                (2, _) => Cell::Weak,
                // The first page reads as something else, and the others as erased.
                (fate, old) => match (index, scope.readings[usize::from(fate - 3)], old) {
                    (0, Reading::Good, Cell::Page(tag, content, _)) => Cell::Page(tag, content, Quality::Metastable(None)),
                    (0, Reading::Bad, Cell::Page(tag, content, _)) => Cell::Page(tag, content, Quality::Bad),
                    (0, reading @ (Reading::Noise | Reading::Forged(_)), _) => Cell::Garbled(reading),
                    _ => Cell::Weak,
                },
            };
        }
        if fate == 0 {
            return Ok(());
        }
        self.cuts -= 1;
        Err(Stop::Cut)
    }
}
