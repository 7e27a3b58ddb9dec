//! Frames that a mount copies into the ring, behind the root that it writes.

use super::Ftl;
use crate::error::Error;
use crate::media::{Flash, Tag, TagKind, TagKinds};
use crate::pages::UNSTEADY_TRIES;
use crate::space::Frame;

/// A frame that is copied into the ring.
#[derive(Clone, Copy)]
pub(crate) struct Copied {
    pub kind: TagKind,
    pub logical: u32,
    pub from: Frame,
    /// The frame that the map names at present. It changes with each ring block that the mount
    /// tries.
    pub named: Frame,
}

impl<F: Flash> Ftl<'_, F> {
    /// Records the copy of a frame in the map.
    pub fn name_copy(&mut self, copied: &mut Copied, to: Frame) -> Result<(), Error> {
        // The old entry of the map is not looked up: its leaf may be copied as well, and not be at
        // its new place yet.
        if TagKinds::LEAF.has(copied.kind) {
            self.map.move_leaf(copied.logical, to);
        } else {
            self.map.replay(copied.logical, to | self.map.released_bit())?;
        }
        // If an earlier copy failed with its ring block, its frame there still counts as live.
        self.space.blocks_mut().set_live(core::mem::replace(&mut copied.named, to), false);
        self.space.blocks_mut().set_live(to, true);
        Ok(())
    }

    /// Copies the pages of a frame to the next pages of the ring, and checks each page. Each
    /// page is read several times, because it may be metastable.
    ///
    /// A page may have been lost after an earlier mount copied it, or before its frame was moved.
    /// Then only the content of this page is lost.
    pub fn copy_into_ring(&mut self, copied: &Copied) -> Result<(), Error> {
        let kinds = TagKinds::of(&[copied.kind]);
        let was_copied = self.ring.has(self.space.block_of(copied.from));
        for index in 0..u32::from(self.layout.config.pages_per_logical_page) {
            let from = self.layout.frame_page(copied.from) + index;
            let found = self
                .pages
                .read_tagged_in(UNSTEADY_TRIES, from, kinds)?
                .filter(|tag| tag.logical == copied.logical);
            let tag = Tag {
                sequence: self.copy_sequence(index),
                logical: copied.logical,
                kind: copied.kind,
                aux: 0,
            };
            let page = self.ring.take_pages(1, &self.layout);
            match found {
                Some(Tag { aux, .. }) => self.pages.program_buffer(page, &Tag { aux, ..tag })?,
                // The frame was whole before, so only this page's content is lost.
                None if was_copied
                    || self
                        .pages
                        .record_tag(from, kinds)?
                        .is_some_and(|tag| tag.logical == copied.logical) =>
                {
                    self.pages.program_lost(page, &tag)?
                }
                // A later mount may be able to read this record, so this mount ends with an error.
                None => return Err(Error::Corrupt),
            }
        }
        Ok(())
    }

    /// Returns the sequence number of page `index` of a copy in the ring. No record since the root
    /// may have this number. After an interrupted erase, a page may read as anything, even as the
    /// copy with its tag and its data.
    pub fn copy_sequence(&self, index: u32) -> u64 {
        self.space.sequence().saturating_sub(self.layout.config.pages_per_logical_page.into())
            + u64::from(index)
    }
}
