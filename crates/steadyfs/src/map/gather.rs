//! Gathering: the map of a volume with few pages, all of it in the overlay.
//!
//! A leaf is there once. On a volume with few pages one leaf names all of them, and a repair cannot
//! replace a leaf that names the tables of the file system. The overlay is part of each root, which
//! is there twice. So where the overlay has room for all entries, the root that ends the use of a
//! volume has them, and no leaf is needed.

use super::leaf::entry_in;
use super::{Look, Map, Recent};
use crate::error::Error;
use crate::media::Flash;
use crate::space::Space;

/// Leaves that are read for this, at most.
pub(crate) const GATHERED_LEAVES: u32 = 2;

impl Map<'_> {
    /// Moves all entries of the leaves into the overlay, if it has no more than `most` then and few
    /// leaves were written. Else, and where a leaf cannot be read, the map stays as it is.
    ///
    /// # Cost
    /// Reads the pages of two leaves at most, twice.
    pub fn gather<F: Flash>(&mut self, look: &mut Look<'_, '_, F>, space: &mut Space<'_>, most: u32) -> Result<(), Error> {
        let written = self.leaves().filter(|&(_, frame)| frame != 0).count() as u32;
        if written == 0 || written > GATHERED_LEAVES || !self.has_room_for_leaves(look, most)? {
            return Ok(());
        }
        for leaf in 0..self.leaves.len() {
            let frame = self.leaves.get(leaf);
            if frame == 0 {
                continue;
            }
            for index in 0..look.layout.config.unit_pages.into() {
                self.load_leaf_page(look, leaf, index)?;
                self.release_entries(look.pages, space, look.layout, leaf, index);
                self.insert_entries(look, leaf, index);
            }
            self.leaves.set(leaf, 0);
            space.release(frame);
        }
        self.recent = Recent::default();
        Ok(())
    }

    /// Returns true if the overlay has no more than `most` entries with those of all leaves, none of which is
    /// missing.
    fn has_room_for_leaves<F: Flash>(&mut self, look: &mut Look<'_, '_, F>, most: u32) -> Result<bool, Error> {
        let mut count = self.len();
        for leaf in 0..self.leaves.len() {
            for index in 0..look.layout.config.unit_pages.into() {
                if count > most || !self.load_leaf_page(look, leaf, index)? {
                    break;
                }
                let entries = 0..look.layout.leaf_page_entries();
                let mut frames = entries.map(|at| entry_in(look.pages.bytes(), at, look.layout));
                if frames.any(|frame| frame >= look.layout.frame_count()) {
                    return Ok(false);
                }
                count += self.frames_in(look.pages.bytes(), look.layout, leaf, index).count() as u32;
            }
        }
        Ok(count <= most)
    }

    /// Adds the entries of the page of a leaf in the page buffer to the overlay, save those of which
    /// it has a newer one. The frames stay marked as live, once.
    fn insert_entries<F: Flash>(&mut self, look: &Look<'_, '_, F>, leaf: u32, index: u32) {
        let first = self.first_of_page(look.layout, leaf, index);
        for at in 0..look.layout.leaf_page_entries() {
            let frame = entry_in(look.pages.bytes(), at, look.layout);
            if frame != 0 && self.overlay.find(first + at).is_none() {
                self.move_page(first + at, frame);
            }
        }
    }
}
