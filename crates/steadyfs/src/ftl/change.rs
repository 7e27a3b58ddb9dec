//! Changes of the map and their effects: released frames, replaced leaves and moved frames.

use super::Ftl;
use crate::media::{Flash, Tag, TagKind, TagKinds};
use crate::space::Frame;

impl<F: Flash> Ftl<'_, F> {
    /// Changes the committed map.
    pub fn map_set(&mut self, logical: u32, frame: Frame) {
        self.call.changes += 1;
        let old = self.map.set(logical, frame);
        self.space.release(old);
    }

    /// Releases the old frame of a changed page, which the leaf still names, if few frames are
    /// left. Costs one read.
    pub fn release_old(&mut self, logical: u32) {
        // If few frames are left, a superseded frame that stays live costs more than the read.
        if self.space.near_full(&self.layout, 0) {
            let (map, reader) = self.map_and_reader();
            let old = map.take_old(reader, logical);
            self.space.release(old);
        }
    }

    /// Changes the committed map because reclamation moved a frame.
    fn map_move(&mut self, logical: u32, to: Frame) {
        self.call.changes += 1;
        self.map.move_page(logical, to);
    }

    /// Makes a written leaf the current one.
    pub fn adopt_leaf(&mut self, leaf: u32, frame: Frame) {
        self.map.adopt_leaf(&mut self.space, &self.layout, leaf, frame);
    }

    /// Returns the kind for the tag of a live frame's copy, and the frame's logical page or leaf.
    /// `tag` is the tag of the frame's first page. Returns `None` if the frame need not move; this
    /// function then releases it.
    pub fn moves_as(&mut self, frame: Frame, tag: Option<Tag>) -> Option<(TagKind, u32)> {
        if self.map.forget_copy(frame) {
            // Idle work, or the clean end of the volume's use, makes another copy.
            self.space.release(frame);
            return None;
        }
        let movable = |tag: &Tag| {
            self.layout.names_something(tag)
                && (TagKinds::LEAF.has(tag.kind) || TagKinds::DATA.has(tag.kind))
        };
        let Some(Tag { kind, logical, .. }) = tag.filter(movable) else {
            // The page or leaf to which this frame belongs can no longer be determined. The block
            // is never used again, so no other data is programmed over the frame.
            self.space.spoil(self.space.block_of(frame));
            self.space.release(frame);
            return None;
        };
        if TagKinds::LEAF.has(kind) {
            // A copy may have replaced a lost leaf. The frame of the lost leaf then stayed live.
            if self.map.leaf(logical) != frame {
                self.space.release(frame);
                return None;
            }
            return Some((TagKind::MovedLeaf, logical));
        }
        // Until the commit only the transaction names this frame.
        if self.transaction.holds(logical, frame) {
            return Some((TagKind::MovedPending, logical));
        }
        if self.map.supersedes(logical, frame) {
            // The leaf still names this frame. Another page may use the frame before the leaf is
            // written back, so the write-back must not release it.
            self.space.release(frame);
            return None;
        }
        Some((TagKind::Moved, logical))
    }

    /// Records the new frame of a logical page or leaf that was moved, and releases the old
    /// frame.
    pub fn record_move(&mut self, kind: TagKind, logical: u32, from: Frame, to: Frame) {
        match kind {
            // If a power cut has torn a change in the leaf's log, the copy contains the torn
            // change. So the recorded state of the log stays the same.
            TagKind::MovedLeaf => self.map.move_leaf(logical, to),
            TagKind::MovedPending if self.transaction.move_page(logical, to) => {}
            _ => self.map_move(logical, to),
        }
        self.space.release(from);
    }
}
