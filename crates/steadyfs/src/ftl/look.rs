//! Look-ups of a logical page in the map, and checks of a frame.

use super::Ftl;
use crate::error::Error;
use crate::map::{LeafReader, Map};
use crate::media::{Flash, TagKinds};
use crate::pages::{Expect, UNSTEADY_TRIES};
use crate::space::Frame;

impl<'m, F: Flash> Ftl<'m, F> {
    /// Returns the criteria for a page: its kind, its logical page, and the largest number of
    /// reads. A page that may be unsteady is read until it meets the criteria, up to this number.
    pub fn expected(&self, kinds: TagKinds, logical: u32) -> Expect {
        Expect { kinds, logical, tries: self.looks() }
    }

    /// Returns the largest number of times that a page is read until it verifies.
    fn looks(&self) -> u32 {
        if self.pages.flash().is_clean() { 1 } else { self.status.looks() }
    }

    /// Returns true if a page may read differently each time.
    pub fn is_unsteady(&self) -> bool {
        !self.pages.flash().is_clean() && self.status.is_unsteady()
    }

    /// Returns the number of additional reads of a call on an unsteady volume. Only one frame may
    /// need them: the frame that was programmed last.
    pub fn unsteady_reads(&self) -> u32 {
        if self.status.is_unsteady() {
            UNSTEADY_TRIES * u32::from(self.layout.config.pages_per_logical_page)
        } else {
            0
        }
    }

    /// Returns an error if a logical page does not exist. Only damaged data can name such a page.
    pub fn check_logical(&self, logical: u32) -> Result<(), Error> {
        if logical < self.layout.logical_count { Ok(()) } else { Err(Error::Corrupt) }
    }

    /// Returns the map, and the parts that a look-up in it needs.
    pub fn map_and_reader(&mut self) -> (&mut Map<'m>, LeafReader<'_, 'm, F>) {
        let tries = self.looks();
        (&mut self.map, LeafReader { pages: &mut self.pages, layout: &self.layout, tries })
    }

    /// Returns true if a repair has marked the frame of a logical page as lost, because the leaf
    /// that named it was lost.
    pub fn is_missing(&mut self, logical: u32) -> Result<bool, Error> {
        self.check_logical(logical)?;
        let (map, reader) = self.map_and_reader();
        map.is_missing(reader, logical)
    }

    /// Reads a page of a leaf into the page buffer, several times if it is damaged. Returns
    /// `false` if the leaf was never written.
    pub(super) fn load_leaf_page_with_retry(
        &mut self,
        leaf: u32,
        index: u32,
    ) -> Result<bool, Error> {
        let (map, mut reader) = self.map_and_reader();
        map.load_leaf_page_with_retry(&mut reader, leaf, index)
    }

    /// Returns true if every page of a leaf can be read.
    pub fn leaf_can_be_read(&mut self, leaf: u32) -> Result<bool, Error> {
        for index in 0..u32::from(self.layout.config.pages_per_logical_page) {
            match self.load_leaf_page_with_retry(leaf, index) {
                Ok(_) => {}
                Err(Error::Corrupt) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Composes one page of a leaf in the page buffer. If no attempt can read the leaf, the volume
    /// becomes read-only, because the overlay cannot be emptied without the leaf. During a repair
    /// that replaces the leaf, the volume stays writable.
    pub fn compose_leaf_page(&mut self, leaf: u32, index: u32) -> Result<(), Error> {
        let (tries, replaces) = (self.status.looks(), self.status.replaces_leaves());
        let reader = LeafReader { pages: &mut self.pages, layout: &self.layout, tries };
        let result = self.map.compose_leaf_page(reader, &mut self.space, leaf, index, replaces);
        if result == Err(Error::Corrupt) {
            self.status.lose_leaf();
        }
        result
    }

    /// Checks every page of a frame. Returns true if the frame is complete.
    pub fn frame_is_complete(
        &mut self,
        frame: Frame,
        kinds: TagKinds,
        logical: u32,
    ) -> Result<bool, Error> {
        let first = self.layout.frame_page(frame);
        for page in first..first + u32::from(self.layout.config.pages_per_logical_page) {
            if !self.pages.read_sound(page, self.expected(kinds, logical))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
