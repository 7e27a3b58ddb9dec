//! The content of a page: its tag, its bytes, the log of a leaf; and the possible reads of it.

use crate::choices::Choices;
use crate::numbers::{Page, Pages, Sequence};
use crate::table::Table;
use std::sync::Arc;

/// Kind of a page's content, from its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A page of a root, or of its copy.
    Root,
    /// A logical page of an open transaction.
    Data,
    /// A logical page that is a transaction of its own.
    DataCommit,
    /// Patches. The page commits the transaction.
    Journal,
    /// A committed logical page that was moved.
    Moved,
    /// A pending logical page that was moved.
    MovedPending,
    /// The map.
    Leaf,
    /// The map, moved.
    MovedLeaf,
    /// A record of the journal's head: the log of the leaf contains its changes.
    LeafChanged,
}

impl Kind {
    /// Returns true if the journal's head programs this kind.
    pub fn is_of_journal(self) -> bool {
        matches!(self, Self::Journal | Self::LeafChanged)
    }
}

/// The tag of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag {
    /// Kind of the content.
    pub kind: Kind,
    /// Logical page. For a journal page, the number of pending pages. For a root, the page in it,
    /// counted on into its copy.
    pub logical: u8,
    /// Number of the program. For a root, its own number.
    pub sequence: Sequence,
    /// First sequence of the transaction (on the medium: the distance to it).
    pub start: Sequence,
    /// Page from which it was moved, if leaves have logs.
    pub source: Page,
}

/// The bytes of a page. A logical page has two: a write changes both, a patch the second.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// A logical page.
    Data([u8; 2]),
    /// Frame of each logical page, and the log programmed behind them.
    Leaf(Pages<Page>, Log),
    /// Patch of each logical page. 0 means no patch.
    Patches(Pages<u8>),
    /// A root. Each of its pages contains all of it here, but the root counts only with all
    /// pages.
    Root(Arc<Table>),
    /// Content that no mount can need.
    Nothing,
    /// A copy of lost content. Its checksum marks it as lost.
    Lost,
}

/// The log of a leaf, on media that program bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Log {
    /// The newest whole change of each logical page.
    pub whole: Pages<Option<Page>>,
    /// Changes whose program was cut or failed.
    pub unsteady: Pages<Option<Page>>,
    /// Readings of the unsteady changes. The first read of the log draws them.
    pub reading: Option<Pages<Change>>,
    /// True for each logical page with a change that cannot be read.
    pub unreadable: Pages<bool>,
}

/// Reading of a change whose program was cut or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Reads as programmed.
    Whole,
    /// Reads as erased.
    Blank,
    /// Reads as damaged.
    Torn,
}

impl Log {
    /// Reads the log. Until the power fails, each change that was cut or failed reads as whole,
    /// as absent, or as unreadable.
    pub fn read(&mut self, choices: &mut Choices) -> Self {
        let unsteady = self.unsteady;
        let mut draw = |change: Option<Page>| {
            change.map_or(Change::Blank, |_| {
                *choices.of(&[Change::Whole, Change::Blank, Change::Torn])
            })
        };
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

/// Reading of an unsteady page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// The programmed content.
    Good,
    /// A good tag with a wrong checksum.
    Bad,
    /// Erased.
    Blank,
    /// No tag.
    Noise,
    /// A tag that was never programmed, with a wrong checksum. It has this kind, and this
    /// distance from the next number.
    Forged(Kind, Sequence),
}
