//! The blocks that are being programmed: one for each stream of the caller's pages, one or as many for moved frames, one for journal pages.
//!
//! A page's tag says which head has programmed it, so that a mount knows whose block it has found. Where there is one stream nothing of this costs
//! anything: the heads are three.

use super::NONE;
use super::table::{read_word, write_word};
use crate::config::{HEAD_BYTES, Layout};
use crate::media::{BlockIndex, Kind, Tag};

/// Bytes of a head: block, and next place in it.
const BYTES: usize = HEAD_BYTES as usize;

/// A place where the next program of its kind goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub block: BlockIndex,
    /// Next frame (or place of a journal record) in the block.
    pub next: u32,
}

impl Head {
    /// A head without a block.
    pub const IDLE: Self = Self { block: NONE, next: 0 };
}

/// Which head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadIndex {
    /// The caller's pages of a stream; those of stream 0, and leaves of the map.
    User(u8),
    /// Frames that reclamation moves; where these are kept apart, of a stream.
    Moved(u8),
    Journal,
}

impl HeadIndex {
    /// The head with the caller's pages that name no stream.
    pub const USER: Self = Self::User(0);

    /// Its place in the table.
    fn place(self) -> usize {
        match self {
            Self::User(0) => 0,
            Self::Moved(0) => 1,
            Self::Journal => 2,
            Self::User(stream) => 1 + 2 * usize::from(stream),
            Self::Moved(stream) => 2 + 2 * usize::from(stream),
        }
    }

    fn at_place(place: usize) -> Self {
        match place {
            0 => Self::User(0),
            1 => Self::Moved(0),
            2 => Self::Journal,
            _ if place % 2 == 1 => Self::User((place / 2) as u8),
            _ => Self::Moved((place / 2 - 1) as u8),
        }
    }

    /// The head that programs what a tag says.
    pub fn of(tag: &Tag) -> Option<Self> {
        match tag.kind {
            Kind::Super | Kind::Root => None,
            Kind::Journal | Kind::JournalDiscard | Kind::LeafChanged => Some(Self::Journal),
            Kind::Moved | Kind::MovedPending | Kind::MovedLeaf => Some(Self::Moved(tag.stream())),
            Kind::Data | Kind::DataCommit | Kind::Leaf => Some(Self::User(tag.stream())),
        }
    }

    /// The stream of the frames that it programs.
    pub fn stream(self) -> u8 {
        match self {
            Self::User(stream) | Self::Moved(stream) => stream,
            Self::Journal => 0,
        }
    }
}

/// The table of heads, in lent bytes as a root has them.
pub(super) struct Heads<'m> {
    bytes: &'m mut [u8],
}

impl<'m> Heads<'m> {
    /// Bytes of the table.
    pub const fn bytes_needed(layout: &Layout) -> u32 {
        layout.heads() * HEAD_BYTES
    }

    pub fn new(bytes: &'m mut [u8]) -> Self {
        let mut heads = Self { bytes };
        for head in heads.all() {
            heads.replace(head, Head::IDLE);
        }
        heads
    }

    pub fn get(&self, head: HeadIndex) -> Head {
        let at = head.place() * BYTES;
        Head { block: read_word(self.bytes, at, 4), next: read_word(self.bytes, at + 4, 2) }
    }

    /// Gives a head another place; returns where it was.
    pub fn replace(&mut self, head: HeadIndex, to: Head) -> Head {
        let (before, at) = (self.get(head), head.place() * BYTES);
        write_word(self.bytes, at, 4, to.block);
        write_word(self.bytes, at + 4, 2, to.next);
        before
    }

    /// All heads.
    pub fn all(&self) -> impl Iterator<Item = HeadIndex> + use<> {
        (0..self.bytes.len() / BYTES).map(HeadIndex::at_place)
    }

    /// Those that program frames.
    pub fn of_frames(&self) -> impl Iterator<Item = HeadIndex> + use<> {
        self.all().filter(|&head| head != HeadIndex::Journal)
    }

    /// Whether there is such a head. Only damaged tags name another one.
    pub fn has(&self, head: HeadIndex) -> bool {
        head.place() < self.bytes.len() / BYTES
    }

    /// Those that only a volume with several streams has.
    pub fn of_streams(&self) -> impl Iterator<Item = HeadIndex> + use<> {
        self.all().skip(3)
    }

    /// What a root has of these.
    pub fn streams_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[3 * BYTES..]
    }
}
