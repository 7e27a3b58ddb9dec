//! The work of the [cache](crate::commit): filling its slots, and writing a page back when another
//! page needs the slot, or at the commit.

use super::Logical;
use super::compose::Source;
use super::edit::Piece;
#[cfg(feature = "cache")]
use crate::commit::Cache;
use crate::error::Error;
use crate::media::Flash;

#[cfg(feature = "cache")]
impl<'m, F: Flash> Logical<'m, F> {
    /// Returns true if the cache has dirty pages.
    pub fn has_cached(&self) -> bool {
        self.cache.dirty() > 0
    }

    /// Sets the memory of the cache. Dirty pages in the earlier cache are written first.
    pub fn lend_cache(&mut self, memory: &'m mut [u8]) -> Result<(), Error> {
        while let Some((slot, logical)) = self.cache.first_dirty() {
            self.write_slot(slot, logical, false)?;
        }
        self.cache = Cache::new(memory, self.ftl.layout.logical_bytes);
        Ok(())
    }
}

impl<F: Flash> Logical<'_, F> {
    /// Returns true if bytes may be written into the cache. A write into the cache cannot be
    /// undone, so it must be the last step of a call. A call that commits writes the page as a
    /// frame instead.
    pub(super) fn caches(&self, commits: bool) -> bool {
        self.cache.len() > 0 && !commits && !self.cache.has_replaced()
    }

    /// Writes bytes of a logical page into the cache. Call it only if [`caches`](Self::caches)
    /// returns true.
    ///
    /// # Cost
    /// If the page is not in the cache: as many reads as a logical page has program pages, and one
    /// read for the map. If a dirty page must be evicted: the programs of a frame.
    pub(super) fn write_back(&mut self, piece: &Piece<'_>) -> Result<(), Error> {
        let Piece { logical, offset, bytes, stream, .. } = *piece;
        self.ftl.check_logical(logical)?;
        // The page needs a slot in the table of pending pages when it is evicted.
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
        // From now on the page in the cache is the newest content. The page's patches and its
        // discard in the journal buffer are older, so they must not be applied to the page. Nothing
        // behind this line can fail.
        self.journal.remove(logical);
        self.cache.page_mut(slot)[offset as usize..offset as usize + bytes.len()]
            .copy_from_slice(bytes);
        self.cache.set_dirty(slot, logical, self.ftl.layout.stream(stream));
        Ok(())
    }

    /// Frees a slot of the cache; the slots take turns. If the slot's page is dirty, the page is
    /// written first.
    fn take_slot(&mut self) -> Result<usize, Error> {
        let slot = self.cache.take_slot();
        if self.cache.is_dirty(slot) {
            self.write_slot(slot, self.cache.logical(slot), false)?;
        }
        self.cache.free(slot);
        Ok(slot)
    }

    fn fill_slot(&mut self, slot: usize, logical: u32) -> Result<(), Error> {
        let (base, page_bytes) =
            (self.frame_of(logical)?, self.ftl.layout.geometry.page_bytes as usize);
        for index in 0..u32::from(self.ftl.layout.config.pages_per_logical_page) {
            self.compose_page(logical, base, index, 0, &[])?;
            let at = index as usize * page_bytes;
            self.cache.page_mut(slot)[at..at + page_bytes].copy_from_slice(self.ftl.pages.bytes());
        }
        Ok(())
    }

    /// Writes a page of the cache as a frame. The page stays in the cache.
    fn write_slot(&mut self, slot: usize, logical: u32, commit: bool) -> Result<(), Error> {
        let source = Source::Cached { slot };
        if commit && self.is_only_change(logical) {
            self.commit_page(logical, &source)?
        } else {
            self.write_same(logical, &source)?
        }
        self.cache.set_written(slot, logical);
        Ok(())
    }

    /// Writes every dirty page of the cache, because the transaction commits. A page that is the
    /// only change of the transaction commits itself.
    pub(super) fn write_cache(&mut self) -> Result<(), Error> {
        while let Some((slot, logical)) = self.cache.first_dirty() {
            // `write_slot` checks if the page is the only change of the transaction.
            self.write_slot(slot, logical, true)?;
        }
        Ok(())
    }
}
