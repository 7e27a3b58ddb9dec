//! The chip: superblocks, checkpoints and data in blocks of a few pages, and what a cut or a failure leaves of them.

use super::state::{Scope, States, Violation};
use crate::choices::Choices;

/// A block: 0 and 1 hold superblocks, the others are anchors, or hold data.
pub type Block = u8;
/// A program page of the chip.
pub type Page = u8;
/// Number of a program.
pub type Sequence = u16;
/// A ring of anchors: the block in each place.
pub type Ring = [Block; 5];
/// No block, page or place.
pub const NONE: u8 = u8::MAX;

/// What a page was programmed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// A superblock; its sequence is the generation.
    Super(Ring),
    /// A checkpoint.
    Checkpoint(Checkpoint),
    /// A journal page with a version of what is stored, rescued by a mount.
    Journal(u8),
    /// A page of data.
    Data,
}

/// What a checkpoint stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Checkpoint {
    /// Every later program has at least this number.
    pub sequence: Sequence,
    /// The version of what is stored; with a rescued journal page, that page has it.
    pub version: u8,
    /// The rescued journal page.
    pub journal_at: Page,
    /// Generation of the superblock that counts meanwhile.
    pub generation: Sequence,
    /// The superblock that is going to change.
    pub changing: Option<u8>,
    /// The place in the ring that the superblocks do not agree on, or will not.
    pub place: u8,
    /// States of the blocks.
    pub states: States,
}

/// What a page that is not steady reads as, until the power goes off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// What was programmed.
    Good,
    /// No tag.
    Noise,
    /// A good tag with a wrong checksum.
    Bad,
    /// Erased.
    Blank,
}

/// A program page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// Erased.
    Blank,
    /// Reads as erased, and was touched: a program does not hold.
    Weak,
    /// A page that can never be read again.
    Lost(Content),
    /// A page that reads as it was programmed.
    Page(Sequence, Content),
    /// A page that reads differently after each power-on; a reading is drawn when it is first read.
    Unsteady(Sequence, Content, Option<Reading>),
}

/// Why a call ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The power failed.
    Cut,
    /// A program or erase failed, or there is no anchor to go on to.
    Failed,
    /// A property does not hold.
    Broken(Violation),
}

/// The chip, and the faults that may still happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chip {
    /// All pages.
    pub cells: Vec<Cell>,
    /// Block 1 is marked as bad on the chip, where a mount without block 0 looks.
    pub is_marked: bool,
    /// Cuts that may still come.
    pub cuts: u8,
    /// Failures of programs and erases that may still come.
    pub failures: u8,
    /// Superblocks that may still be lost.
    pub losses: u8,
}

impl Chip {
    /// What a page reads as.
    pub fn read(&mut self, page: Page, scope: &Scope, choices: &mut Choices) -> (Reading, Sequence, Content) {
        match &mut self.cells[usize::from(page)] {
            Cell::Blank | Cell::Weak => (Reading::Blank, 0, Content::Data),
            Cell::Lost(content) => (Reading::Bad, 0, *content),
            Cell::Page(sequence, content) => (Reading::Good, *sequence, *content),
            Cell::Unsteady(sequence, content, reading) => {
                let reading = *reading.get_or_insert_with(|| *choices.of(scope.readings));
                (reading, *sequence, *content)
            }
        }
    }

    /// Programs a page, which must be erased: done; cut, before anything can be read or after; or failed.
    ///
    /// A page that is not steady stands for one that is whole and for garbage as well: it may read so each time.
    pub fn program(&mut self, page: Page, sequence: Sequence, content: Content, choices: &mut Choices) -> Result<(), Stop> {
        let cell = &mut self.cells[usize::from(page)];
        if *cell != Cell::Blank {
            return Err(Stop::Broken(Violation::ProgramOfTouchedPage));
        }
        let cuts = if self.cuts > 0 { 2 } else { 0 };
        let fate = choices.choose(1 + cuts + u8::from(self.failures > 0));
        *cell = match fate {
            0 => Cell::Page(sequence, content),
            1 if cuts > 0 => Cell::Weak,
            _ => Cell::Unsteady(sequence, content, None),
        };
        self.end(fate, cuts)
    }

    /// Erases the pages of a block: done; cut, each page reading as erased or not steadily as before; or failed.
    pub fn erase(&mut self, pages: std::ops::Range<Page>, scope: &Scope, choices: &mut Choices) -> Result<(), Stop> {
        let cuts = if self.cuts > 0 { 1 << pages.len() } else { 0 };
        let fate = choices.choose(1 + cuts + u8::from(self.failures > 0));
        for (index, page) in pages.enumerate() {
            let cell = &mut self.cells[usize::from(page)];
            *cell = match *cell {
                _ if fate == 0 => Cell::Blank,
                old if fate > cuts && !scope.harsh => old,
                Cell::Blank | Cell::Weak => Cell::Weak,
                Cell::Lost(content) => Cell::Lost(content),
                _ if fate <= cuts && (fate - 1) >> index & 1 != 0 => Cell::Weak,
                Cell::Page(sequence, content) | Cell::Unsteady(sequence, content, _) => Cell::Unsteady(sequence, content, None),
            };
        }
        self.end(fate, cuts)
    }

    fn end(&mut self, fate: u8, cuts: u8) -> Result<(), Stop> {
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

    /// Takes the power away: what is not steady may read as something else the next time.
    pub fn power_off(&mut self) {
        for cell in &mut self.cells {
            if let Cell::Unsteady(_, _, reading) = cell {
                *reading = None;
            }
        }
    }
}
