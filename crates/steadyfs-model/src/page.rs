//! What a page says: its tag, its bytes, the log of a leaf; and what it may read as.

use crate::choices::Choices;
use crate::numbers::{Page, Pages, Sequence};
use crate::table::Table;
use std::sync::Arc;

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
    pub fn read(&mut self, choices: &mut Choices) -> Self {
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
