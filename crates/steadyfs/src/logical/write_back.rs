//! What the [cache](crate::commit) brings with it: places that are filled, and pages that are written when another one needs the place, or at the commit.

use super::Logical;
use super::compose::Source;
use super::edit::Piece;
#[cfg(feature = "cache")]
use crate::commit::Cache;
use crate::error::Error;
use crate::media::Flash;

#[cfg(feature = "cache")]
impl<'m, F: Flash> Logical<'m, F> {
    /// Whether pages wait to be written.
    pub fn has_cached(&self) -> bool {
        self.cache.dirty() > 0
    }

    /// Takes memory for a cache; what the one before has not written yet is written.
    pub fn lend_cache(&mut self, memory: &'m mut [u8]) -> Result<(), Error> {
        while let Some((slot, logical)) = self.cache.first_dirty() {
            self.write_slot(slot, logical, false)?;
        }
        self.cache = Cache::new(memory, self.ftl.layout.logical_bytes);
        Ok(())
    }
}

impl<F: Flash> Logical<'_, F> {
    /// Whether bytes may be written into the cache: that cannot be undone, so it is the last thing that a call does, and a call that commits
    /// writes the page.
    pub(super) fn caches(&self, commits: bool) -> bool {
        self.cache.len() > 0 && !commits && !self.cache.has_replaced()
    }

    /// Writes bytes of a logical page into the cache, where it [may](Self::caches).
    ///
    /// # Cost
    /// As many reads as a logical page has program pages, and one for the map, when it is not there yet; a frame when another page
    /// has to make room.
    pub(super) fn write_back(&mut self, piece: &Piece<'_>) -> Result<(), Error> {
        let Piece { logical, offset, bytes, stream, .. } = *piece;
        self.ftl.check_logical(logical)?;
        self.check_pending_room(logical)?;
        let slot = match self.cache.find(logical) {
            Some(slot) => slot,
            None => self.take_slot()?,
        };
        if !self.cache.holds(slot, logical) {
            self.fill_slot(slot, logical)?;
        } else if !self.cache.is_dirty(slot) {
            self.journal.apply(logical, 0, self.cache.page_mut(slot));
        }
        // From now on the page is what counts: patches and a discard of the old one would not be in order with it. No error follows.
        self.journal.remove(logical);
        self.cache.page_mut(slot)[offset as usize..offset as usize + bytes.len()].copy_from_slice(bytes);
        self.cache.set_dirty(slot, logical, self.ftl.layout.stream(stream));
        Ok(())
    }

    /// Gives up a place, one after the other.
    fn take_slot(&mut self) -> Result<usize, Error> {
        let slot = self.cache.take_slot();
        if self.cache.is_dirty(slot) {
            self.write_slot(slot, self.cache.logical(slot), false)?;
        }
        self.cache.free(slot);
        Ok(slot)
    }

    fn fill_slot(&mut self, slot: usize, logical: u32) -> Result<(), Error> {
        let (base, page_bytes) = (self.frame_of(logical)?, self.ftl.layout.geometry.page_bytes as usize);
        for index in 0..u32::from(self.ftl.layout.config.unit_pages) {
            self.compose_page(logical, base, index, 0, &[])?;
            let at = index as usize * page_bytes;
            self.cache.page_mut(slot)[at..at + page_bytes].copy_from_slice(self.ftl.pages.bytes());
        }
        Ok(())
    }

    /// Writes a page of the cache as a frame; it stays there.
    fn write_slot(&mut self, slot: usize, logical: u32, commit: bool) -> Result<(), Error> {
        let source = Source::Cached { slot };
        if commit && self.is_alone(logical) {
            self.commit_page(logical, &source)?
        } else {
            self.write_same(logical, &source)?
        }
        self.cache.set_written(slot, logical);
        Ok(())
    }

    /// Writes every page of the cache that is not written yet, because the transaction commits. One that is all of it commits itself.
    pub(super) fn write_cache(&mut self) -> Result<(), Error> {
        while let Some((slot, logical)) = self.cache.first_dirty() {
            // Whether it is alone is known to whoever writes it.
            self.write_slot(slot, logical, true)?;
        }
        Ok(())
    }
}
