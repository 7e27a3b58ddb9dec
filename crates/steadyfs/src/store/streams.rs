//! Streams: data that dies together lies together.
//!
//! Pages of different streams go to blocks of their own, so that a block whose stream is written over becomes empty by itself, and nothing of it has to
//! be moved. A stream is a head, and costs nothing but the block that it has begun: what is left of that counts as free, and the reserve has a block
//! more for each.
//!
//! Where little space is left a victim holds more live frames for each head that has begun a block, so streams *join*: pages go to whichever head has
//! room, and no other one begins a block. That loses no frame, and parting again loses none.

use super::Store;
use super::edit::Piece;
use super::program::Source;
use crate::media::Flash;
use crate::space::HeadIndex;

impl<F: Flash> Store<'_, F> {
    /// The head that programs a frame. It is asked once for each.
    pub(super) fn head_for(&mut self, logical: u32, source: &Source<'_>) -> HeadIndex {
        let named = match *source {
            Source::Copy { loaded, .. } => return self.space.moved_head(&self.layout, loaded),
            Source::Leaf => return HeadIndex::USER,
            Source::Whole { stream, .. } | Source::Merged { piece: Piece { stream, .. }, .. } => self.layout.stream(stream),
            Source::Cached { slot } => self.cache.stream(slot),
            // Written because the journal buffer needs the room: nobody knows whose it was.
            Source::Earlier { .. } | Source::Edited { .. } => 0,
        };
        let (sequence, room) = (self.space.sequence(), self.layout.frame_count());
        let found = self.space.lifetimes(&self.layout).map(|mut lifetimes| lifetimes.written(logical, sequence, room));
        self.space.user_head(&self.layout, found.unwrap_or(named))
    }
}
