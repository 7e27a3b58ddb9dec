//! Streams: data that dies together lies together.
//!
//! Pages of different streams go to blocks of their own, so that a block whose stream is written over becomes empty by itself, and nothing of it has to
//! be moved. A stream is a head, and costs nothing but the block that it has begun: what is left of that counts as free, and the reserve has a block
//! more for each.
//!
//! Where little space is left a victim holds more live frames for each head that has begun a block, so streams *join*: pages go to whichever head has
//! room, and no other one begins a block. That loses no frame, and parting again loses none.

use super::heads::{Head, HeadIndex};
use super::lifetimes::Lifetimes;
use super::program::Source;
use super::{NONE, Store};
use crate::features::STREAMS;
use crate::media::{Flash, Kinds, TAG_BYTES, Tag};

/// Streams join when fewer blocks than this for each head hold no data.
const SPARE_BLOCKS: u32 = 3;

impl<F: Flash> Store<'_, F> {
    /// Chooses the stream of what is written until the next choice; one that the volume does not have is the last one that it has.
    pub fn set_stream(&mut self, stream: u8) {
        self.stream = if STREAMS { stream.min(self.layout.config.streams - 1) } else { 0 };
    }

    /// The head that programs a frame. It is asked once for each.
    pub(super) fn head_for(&mut self, logical: u32, source: &Source<'_>) -> HeadIndex {
        let named = match *source {
            Source::Copy { loaded, .. } => return self.moved_head(loaded),
            Source::Leaf => return HeadIndex::USER,
            Source::Whole(_) | Source::Merged { .. } => self.stream,
            Source::Cached { slot } => self.cache.stream(slot),
            // Written because the journal buffer needs the room: nobody knows whose it was.
            Source::Earlier { .. } | Source::Edited { .. } => 0,
        };
        let (sequence, room) = (self.sequence, self.layout.frame_count());
        let found = self.lifetimes().map(|mut lifetimes| lifetimes.written(logical, sequence, room));
        self.user_head(found.unwrap_or(named))
    }

    /// How long pages live; `None` where the caller names streams.
    fn lifetimes(&mut self) -> Option<Lifetimes<'_>> {
        self.heads.lifetimes(self.layout.logical_count, self.layout.config.streams)
    }

    /// The head for a page of a stream.
    fn user_head(&self, stream: u8) -> HeadIndex {
        if !STREAMS || self.layout.config.streams == 1 {
            return HeadIndex::USER;
        }
        let has_room = |&head: &HeadIndex| head.is_user() && self.head_rest(head) > 0;
        if self.streams_join() {
            return self.heads.of_streams().find(has_room).unwrap_or(HeadIndex::USER);
        }
        HeadIndex::user(stream)
    }

    /// The head that programmed a page with this tag; `None` where none does.
    pub(super) fn head_of(&self, tag: &Tag) -> Option<HeadIndex> {
        HeadIndex::of(tag).map(|head| if head.is_moved() && self.layout.moves_join() { HeadIndex::USER } else { head })
    }

    /// The heads of frames that move.
    pub(super) fn moved_heads(&self) -> impl Iterator<Item = HeadIndex> + use<F> {
        (0..=self.layout.extra_moved_heads()).map(|stream| HeadIndex::moved(stream as u8))
    }

    /// The head for a frame with this tag that moves.
    pub(super) fn moved_head(&mut self, tag: &[u8; TAG_BYTES]) -> HeadIndex {
        if self.layout.moves_join() {
            return HeadIndex::USER;
        }
        let stream = match Tag::parse(tag) {
            Some(tag) if self.layout.moves_apart() && !self.streams_join() => match self.lifetimes() {
                Some(lifetimes) if Kinds::DATA.has(tag.kind) => lifetimes.at_rest(tag.logical),
                _ => tag.stream(),
            },
            _ => 0,
        };
        if STREAMS { HeadIndex::moved(stream.min(self.layout.config.streams - 1)) } else { HeadIndex::MOVED }
    }

    /// Whether so little space is left that streams share a block.
    fn streams_join(&self) -> bool {
        let room = self.layout.data_blocks * self.layout.frames_per_block;
        let spare = room.saturating_sub(self.blocks.live_total()) / self.layout.frames_per_block;
        spare < SPARE_BLOCKS * (2 + self.layout.extra_heads())
    }

    /// Gives up the blocks of streams that are full: they may not be written again for long.
    pub(super) fn close_full_streams(&mut self) {
        for head in self.heads.of_streams() {
            let Head { block, .. } = self.heads.get(head);
            if block != NONE && self.head_rest(head) == 0 {
                self.close(head);
            }
        }
    }
}
