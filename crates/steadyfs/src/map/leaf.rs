//! Leaves: the part of the map that lies on the medium.

use super::{LeafReader, Map, Run};
use crate::config::Layout;
use crate::error::Error;
use crate::media::{Flash, TagKinds};
use crate::pages::{Expect, Pages, UNSTEADY_TRIES};
use crate::space::{Frame, Space};
use crate::table::{read_word, write_word};
use core::ops::Range;

impl Map<'_> {
    /// Returns the frame that the leaf on the medium names for a logical page.
    pub(super) fn leaf_entry<F: Flash>(
        &mut self,
        reader: LeafReader<'_, '_, F>,
        logical: u32,
    ) -> Result<Frame, Error> {
        let frames = reader.layout.frame_count();
        let frame = self.raw_leaf_entry(reader, logical)?;
        if frame >= frames { Err(Error::Corrupt) } else { Ok(frame) }
    }

    /// Returns the frame that the leaf names for a logical page, and the length of the run that
    /// starts at this page. A run is consecutive logical pages in consecutive frames, without
    /// entries in the overlay.
    pub(super) fn leaf_run<F: Flash>(
        &mut self,
        reader: LeafReader<'_, '_, F>,
        logical: u32,
    ) -> Result<(Frame, u32), Error> {
        let LeafReader { pages, layout, tries } = reader;
        let frame = self.leaf_entry(LeafReader { pages: &mut *pages, layout, tries }, logical)?;
        if frame == 0 {
            return Ok((0, 1));
        }
        let at = logical % layout.leaf_entries % layout.leaf_page_entries();
        let behind = self.overlay.lower_bound(logical + 1);
        // A page in the overlay ends the run: its entry in the leaf is old.
        let changed = if behind < self.overlay.len() {
            self.overlay.key(behind) - logical
        } else {
            Run::PAGES_MAX
        };
        let most = (layout.leaf_page_entries() - at)
            .min(layout.frame_count() - frame)
            .min(changed)
            .min(Run::PAGES_MAX);
        let follows = |count: &u32| entry_in(pages.bytes(), at + count, layout) == frame + count;
        Ok((frame, 1 + (1..most).take_while(follows).count() as u32))
    }

    /// Returns true if a repair has marked a logical page as missing: the leaf that named its
    /// frame was lost.
    pub fn is_missing<F: Flash>(
        &mut self,
        reader: LeafReader<'_, '_, F>,
        logical: u32,
    ) -> Result<bool, Error> {
        Ok(self.raw_leaf_entry(reader, logical)? == self.missing_entry())
    }

    fn raw_leaf_entry<F: Flash>(
        &mut self,
        reader: LeafReader<'_, '_, F>,
        logical: u32,
    ) -> Result<Frame, Error> {
        let LeafReader { pages, layout, tries } = reader;
        let (leaf, entry) = (logical / layout.leaf_entries, logical % layout.leaf_entries);
        let (index, at) = (entry / layout.leaf_page_entries(), entry % layout.leaf_page_entries());
        let mut is_there =
            self.load_leaf_page(&mut LeafReader { pages: &mut *pages, layout, tries }, leaf, index);
        // The copy and the overlay together have all entries of the lost leaf.
        if is_there == Err(Error::Corrupt) && self.take_copy(leaf) {
            is_there = self.load_leaf_page(
                &mut LeafReader { pages: &mut *pages, layout, tries },
                leaf,
                index,
            );
        }
        let is_there = is_there?;
        Ok(if is_there { entry_in(pages.bytes(), at, layout) } else { 0 })
    }

    /// Reads a page of a leaf into the page buffer. Returns `false` if the leaf was never
    /// written.
    pub fn load_leaf_page<F: Flash>(
        &self,
        reader: &mut LeafReader<'_, '_, F>,
        leaf: u32,
        index: u32,
    ) -> Result<bool, Error> {
        let (layout, tries) = (reader.layout, reader.tries);
        let frame = self.leaves.get(leaf);
        match frame {
            0 => return Ok(false),
            _ if frame >= layout.frame_count() => return Err(Error::Corrupt),
            _ => {}
        }
        let page = layout.frame_page(frame) + index;
        let expected = Expect { kinds: TagKinds::LEAF, logical: leaf, tries };
        if !reader.pages.find(page, expected, true) {
            reader.pages.read_uncached(page, expected, true)?;
            if !self.apply_log(reader.pages, layout, leaf, index) {
                // The buffer holds the page with only a part of its log applied.
                reader.pages.forget();
                return Err(Error::Corrupt);
            }
            // A log that a power cut may have touched can read differently the next time, so its
            // page is not cached.
            if layout.leaf_log_bytes() == 0 || self.is_log_known(leaf) {
                reader.pages.keep(expected);
            }
        }
        Ok(true)
    }

    /// Reads a page of a leaf, several times if it is damaged. If no read succeeds, reads the
    /// leaf's copy, if there is one.
    pub fn load_leaf_page_with_retry<F: Flash>(
        &mut self,
        reader: &mut LeafReader<'_, '_, F>,
        leaf: u32,
        index: u32,
    ) -> Result<bool, Error> {
        let mut result = self.load_leaf_page(reader, leaf, index);
        for attempt in 1..2 * UNSTEADY_TRIES {
            if result != Err(Error::Corrupt) || attempt == UNSTEADY_TRIES && !self.take_copy(leaf) {
                break;
            }
            result = self.load_leaf_page(reader, leaf, index);
        }
        result
    }

    /// Returns the leaf with the most overlay entries.
    pub fn fullest_leaf(&self, layout: &Layout) -> Option<u32> {
        let (mut best, mut best_count) = (None, 0);
        let mut from = 0;
        while from < self.overlay.len() {
            let leaf = self.overlay.key(from) / layout.leaf_entries;
            let to = self.overlay.lower_bound((leaf + 1) * layout.leaf_entries);
            if to - from > best_count {
                (best, best_count) = (Some(leaf), to - from);
            }
            from = to;
        }
        best
    }

    /// Makes a leaf that was written with its overlay entries the current version. Removes these
    /// entries from the overlay, and releases the leaf's old frame.
    pub fn adopt_leaf(&mut self, space: &mut Space<'_>, layout: &Layout, leaf: u32, frame: Frame) {
        let old = self.leaves.get(leaf);
        self.leaves.set(leaf, frame);
        self.forget_entries(space, layout, leaf);
        space.release(old);
    }

    /// Removes the overlay entries of a leaf that now contains them. If it is the first leaf, also
    /// drops its copy, which does not contain these entries.
    pub fn forget_entries(&mut self, space: &mut Space<'_>, layout: &Layout, leaf: u32) {
        if leaf == 0 {
            self.drop_copy(space);
        }
        let from = self.overlay.lower_bound(leaf * layout.leaf_entries);
        let to = self.overlay.lower_bound((leaf + 1) * layout.leaf_entries);
        self.overlay.remove(from, to - from);
    }

    /// Composes one page of a leaf in the page buffer, and releases the frames that its replaced
    /// entries name. If `replaces` is true and the old page cannot be read, the entries of the old
    /// page become missing entries.
    ///
    /// The frames can be released before the leaf is durable. The overlay's mapping is durable
    /// already, and no block is used again before the next root.
    pub fn compose_leaf_page<F: Flash>(
        &mut self,
        mut reader: LeafReader<'_, '_, F>,
        space: &mut Space<'_>,
        leaf: u32,
        index: u32,
        replaces: bool,
    ) -> Result<(), Error> {
        match self.load_leaf_page_with_retry(&mut reader, leaf, index) {
            Ok(true) => {}
            Ok(false) => reader.pages.bytes_mut().fill(0),
            Err(Error::Corrupt) if replaces => reader.pages.bytes_mut().fill(0xFF),
            Err(error) => return Err(error),
        }
        let LeafReader { pages, layout, .. } = reader;
        // The page buffer still has the old entries.
        self.release_entries(pages, space, layout, leaf, index);
        let (width, released) = (layout.entry_bytes, self.released_bit());
        let first = self.first_of_page(layout, leaf, index);
        for entry in self.overlay_of_page(layout, leaf, index) {
            let at = (self.overlay.key(entry) - first) * width;
            write_word(
                pages.bytes_mut(),
                at as usize,
                width as usize,
                self.overlay.value(entry) & !released,
            );
        }
        // The new page has the log's changes among its entries.
        self.clear_log(pages, layout);
        Ok(())
    }

    /// Releases the frames that the leaf's page in the page buffer names, if the overlay has
    /// replaced them.
    pub(super) fn release_entries<F: Flash>(
        &mut self,
        pages: &Pages<'_, F>,
        space: &mut Space<'_>,
        layout: &Layout,
        leaf: u32,
        index: u32,
    ) {
        let released = self.released_bit();
        let first = self.first_of_page(layout, leaf, index);
        for entry in self.overlay_of_page(layout, leaf, index) {
            let (logical, value) = (self.overlay.key(entry), self.overlay.value(entry));
            let old = entry_in(pages.bytes(), logical - first, layout);
            if value & released == 0 {
                self.overlay.set_value(entry, value | released);
                if old < layout.frame_count() && old != value {
                    space.release(old);
                }
            }
        }
    }

    /// Returns the first logical page that page `index` of a leaf maps.
    pub(super) fn first_of_page(&self, layout: &Layout, leaf: u32, index: u32) -> u32 {
        leaf * layout.leaf_entries + index * layout.leaf_page_entries()
    }

    /// Returns the overlay entries that belong to page `index` of a leaf.
    pub(super) fn overlay_of_page(&self, layout: &Layout, leaf: u32, index: u32) -> Range<u32> {
        let first = self.first_of_page(layout, leaf, index);
        self.overlay.lower_bound(first)
            ..self.overlay.lower_bound(first + layout.leaf_page_entries())
    }

    /// Passes on the valid entries of a leaf's page, in one or more parts. An entry is not valid if
    /// its logical page has an entry in the overlay.
    pub fn valid_parts(
        &self,
        page: &[u8],
        layout: &Layout,
        leaf: u32,
        index: u32,
        mut found: impl FnMut(&[u8]),
    ) {
        let (first, width) = (self.first_of_page(layout, leaf, index), layout.entry_bytes);
        let mut from = 0;
        // Both follow the order of the logical pages, so one pass suffices.
        for changed in self.overlay_of_page(layout, leaf, index) {
            let at = ((self.overlay.key(changed) - first) * width) as usize;
            found(&page[from..at]);
            from = at + width as usize;
        }
        // Behind the entries is the leaf's log.
        found(&page[from..(layout.leaf_page_entries() * width) as usize]);
    }
}

/// Returns an entry of a page of a leaf.
pub(super) fn entry_in(page: &[u8], entry: u32, layout: &Layout) -> u32 {
    let width = layout.entry_bytes as usize;
    read_word(page, entry as usize * width, width)
}
