//! Heads: the blocks that are being programmed.
//!
//! - Each stream of the caller's pages has a head.
//! - Moved frames have one head, or one head for each stream.
//! - Journal pages have one head.
//!
//! A page's tag shows which head has programmed the page, so a mount can assign a block to its
//! head. A volume with one stream has three heads, so the support for streams costs this volume
//! nothing.

use super::frame::NONE;
use super::lifetimes::{self, Lifetimes};
use crate::config::{HEAD_BYTES, Layout};
use crate::features::STREAMS;
use crate::media::{BlockIndex, Tag, TagKind};
use crate::table::{read_word, write_word};

/// Bytes of a head: its block, and the next place in the block.
const BYTES: usize = HEAD_BYTES as usize;

/// The place at which the next page of one kind is programmed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub block: BlockIndex,
    /// Next frame (or place of a journal record) in the block.
    pub next: u32,
}

impl Head {
    /// A head without a block.
    pub const IDLE: Self = Self { block: NONE, next: 0 };
}

/// The index of a head in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadIndex(u8);

impl HeadIndex {
    /// The caller's pages of stream 0, and leaves of the map.
    pub const USER: Self = Self(0);
    /// Frames that reclamation moves. If each stream has its own head for moved frames, this is the
    /// head of stream 0.
    pub const MOVED: Self = Self(1);
    pub const JOURNAL: Self = Self(2);

    /// Returns the head that programs the caller's pages of a stream.
    pub const fn user(stream: u8) -> Self {
        if stream == 0 { Self::USER } else { Self(1 + 2 * stream) }
    }

    /// Returns the head that programs the moved frames of a stream.
    pub const fn moved(stream: u8) -> Self {
        if stream == 0 { Self::MOVED } else { Self(2 + 2 * stream) }
    }

    /// Returns the head that programs pages with this tag; `None` for superblocks and roots.
    #[inline(never)]
    pub fn of(tag: &Tag) -> Option<Self> {
        match tag.kind {
            TagKind::Super | TagKind::Root => None,
            _ if tag.is_among_data() => Some(Self::USER),
            TagKind::Journal | TagKind::JournalDiscard | TagKind::LeafChanged => {
                Some(Self::JOURNAL)
            }
            TagKind::Moved | TagKind::MovedPending | TagKind::MovedLeaf => {
                Some(Self::moved(tag.stream()))
            }
            TagKind::Data | TagKind::DataCommit | TagKind::Leaf | TagKind::LeafCopy => {
                Some(Self::user(tag.stream()))
            }
        }
    }

    /// Returns true if the head programs pages of the caller.
    pub fn is_user(self) -> bool {
        self == Self::USER || self.0 > 2 && self.0 % 2 == 1
    }

    /// Returns true if the head programs moved frames.
    pub fn is_moved(self) -> bool {
        self != Self::JOURNAL && !self.is_user()
    }

    /// Returns the bit that stands for the head in a set of heads.
    pub fn bit(self) -> u16 {
        1 << self.0
    }

    /// Returns the stream of the frames that the head programs.
    pub fn stream(self) -> u8 {
        self.0.saturating_sub(1) / 2
    }
}

/// The table of heads, in lent bytes and in the layout of a root. If [lifetimes](Lifetimes) choose
/// the streams, they follow the table in the same bytes.
pub(crate) struct Heads<'m> {
    bytes: &'m mut [u8],
}

impl<'m> Heads<'m> {
    /// Returns the number of bytes of the table.
    pub const fn bytes_needed(layout: &Layout) -> u32 {
        layout.head_table_bytes()
    }

    pub fn new(bytes: &'m mut [u8]) -> Self {
        let mut heads = Self { bytes };
        if let Some(Lifetimes { bytes, .. }) = heads.lifetimes(0, 1) {
            Lifetimes::clear(bytes);
        }
        for head in heads.all() {
            heads.replace(head, Head::IDLE);
        }
        heads
    }

    #[inline(never)]
    pub fn get(&self, head: HeadIndex) -> Head {
        let at = usize::from(head.0) * BYTES;
        Head { block: read_word(self.bytes, at, 4), next: read_word(self.bytes, at + 4, 2) }
    }

    /// Gives a head another place. Returns the head's earlier place.
    #[inline(never)]
    pub fn replace(&mut self, head: HeadIndex, to: Head) -> Head {
        let (before, at) = (self.get(head), usize::from(head.0) * BYTES);
        write_word(self.bytes, at, 4, to.block);
        write_word(self.bytes, at + 4, 2, to.next);
        before
    }

    fn count(&self) -> u8 {
        if STREAMS { (self.lifetimes_at() / BYTES) as u8 } else { 3 }
    }

    /// Returns the end of the table of heads.
    fn lifetimes_at(&self) -> usize {
        let len = self.bytes.len();
        len.checked_sub(lifetimes::BYTES as usize).unwrap_or(len)
    }

    /// Returns the lifetimes of a volume with `pages` logical pages and `streams` streams; `None`
    /// if lifetimes do not choose the streams.
    pub fn lifetimes(&mut self, pages: u32, streams: u8) -> Option<Lifetimes<'_>> {
        let at = self.lifetimes_at();
        if STREAMS && at < self.bytes.len() {
            Some(Lifetimes { bytes: &mut self.bytes[at..], pages, streams })
        } else {
            None
        }
    }

    /// Returns all heads.
    pub fn all(&self) -> impl Iterator<Item = HeadIndex> + use<> {
        (0..self.count()).map(HeadIndex)
    }

    /// Returns the heads that program frames.
    pub fn of_frames(&self) -> impl Iterator<Item = HeadIndex> + use<> {
        self.all().filter(|&head| head != HeadIndex::JOURNAL)
    }

    /// Returns true if the volume has this head. Only a damaged tag names a head that the volume
    /// does not have.
    pub fn has(&self, head: HeadIndex) -> bool {
        head.0 < self.count()
    }

    /// Returns the heads that only a volume with several streams has.
    pub fn of_streams(&self) -> impl Iterator<Item = HeadIndex> + use<> {
        (3..self.count()).map(HeadIndex)
    }

    /// Returns the bytes of these heads, which a root contains.
    pub fn streams_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[3 * BYTES..]
    }
}
