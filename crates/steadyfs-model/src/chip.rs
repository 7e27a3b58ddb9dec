//! The chip: the result of a cut or a failure in its pages, and their reads.

use crate::choices::Choices;
use crate::numbers::{NONE, Page, Pages, Sequence};
use crate::page::{Content, Reading, Tag};
use crate::scope::Scope;
use crate::violation::Violation;

/// A program page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// Erased.
    Blank,
    /// Reads as erased, but was touched: it does not hold a program.
    Touched,
    /// An old page that nothing names any more.
    Stale,
    /// Was programmed, and cannot be read any more.
    Lost,
    /// A page.
    Good(Tag, Content),
    /// A page whose program or erase was cut, or whose program failed. It reads differently after
    /// each power-on. Its first read draws the reading.
    Unsteady(Tag, Content, Option<Reading>),
}

/// Reason why a call ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The power failed.
    Cut,
    /// A program or erase failed.
    Failed,
    /// No block can be programmed, and the call is refused.
    NoSpace,
    /// A property does not hold.
    Broken(Violation),
}

/// The chip, and the faults that may still happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chip {
    /// All pages.
    pub cells: Vec<Cell>,
    /// Number of cuts that may still come.
    pub cuts: u8,
    /// Number of failures of programs and erases that may still come.
    pub failures: u8,
    /// Number of pages that may still be lost.
    pub losses: u8,
}

/// Result of a read.
pub enum Seen {
    /// The page reads as erased.
    Blank,
    /// The page has no tag.
    Noise,
    /// A page of long ago.
    Old,
    /// A tag and a content. The flag is true if the checksum is right.
    Page(Tag, Content, bool),
}

impl Chip {
    /// Reads a page. `next` is the number of the next record.
    pub fn read(
        &mut self,
        page: Page,
        next: Sequence,
        scope: &Scope,
        choices: &mut Choices,
    ) -> Seen {
        // In the ring nothing counts without its checksum, so the other readings behave the same.
        let readings = if scope.is_of_ring(scope.block_of(page)) {
            &[Reading::Good, Reading::Noise]
        } else {
            scope.readings
        };
        let cell = &mut self.cells[usize::from(page)];
        if let Cell::Good(tag, Content::Leaf(frames, log)) = cell {
            return Seen::Page(*tag, Content::Leaf(*frames, log.read(choices)), true);
        }
        match cell {
            Cell::Blank | Cell::Touched => Seen::Blank,
            Cell::Stale => Seen::Old,
            Cell::Lost => Seen::Noise,
            Cell::Good(tag, content) => {
                Seen::Page(*tag, content.clone(), *content != Content::Lost)
            }
            Cell::Unsteady(tag, content, reading) => {
                match *reading.get_or_insert_with(|| *choices.of(readings)) {
                    Reading::Good => Seen::Page(*tag, content.clone(), *content != Content::Lost),
                    Reading::Bad => Seen::Page(*tag, content.clone(), false),
                    Reading::Blank => Seen::Blank,
                    Reading::Noise => Seen::Noise,
                    Reading::Forged(kind, distance) => {
                        let sequence = next + distance;
                        Seen::Page(
                            Tag { kind, logical: 0, sequence, start: sequence, source: NONE },
                            Content::Nothing,
                            false,
                        )
                    }
                }
            }
        }
    }

    /// Programs a page, which must be erased.
    pub fn program(
        &mut self,
        page: Page,
        tag: Tag,
        content: Content,
        choices: &mut Choices,
    ) -> Result<(), Stop> {
        let cell = &mut self.cells[usize::from(page)];
        if *cell != Cell::Blank {
            return Err(Stop::Broken(Violation::ProgramOfTouchedPage));
        }
        let (cuts, failures) = (u8::from(self.cuts > 0), u8::from(self.failures > 0));
        let fate = choices.choose(1 + cuts + failures);
        *cell =
            if fate == 0 { Cell::Good(tag, content) } else { Cell::Unsteady(tag, content, None) };
        self.suffer(fate, cuts)
    }

    /// Programs changes into the log of the leaf in a page.
    pub fn program_log(
        &mut self,
        page: Page,
        changes: Pages<Option<Page>>,
        choices: &mut Choices,
    ) -> Result<(), Stop> {
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

    /// Erases the pages of a block. If the erase fails, the block stays as it is.
    pub fn erase(
        &mut self,
        pages: std::ops::Range<Page>,
        choices: &mut Choices,
    ) -> Result<(), Stop> {
        let cuts = u8::from(self.cuts > 0);
        let fate = choices.choose(1 + cuts + u8::from(self.failures > 0));
        if fate <= cuts {
            for cell in &mut self.cells[usize::from(pages.start)..usize::from(pages.end)] {
                *cell = match core::mem::replace(cell, Cell::Blank) {
                    _ if fate == 0 => Cell::Blank,
                    Cell::Good(tag, content) | Cell::Unsteady(tag, content, _) => {
                        Cell::Unsteady(tag, content, None)
                    }
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
