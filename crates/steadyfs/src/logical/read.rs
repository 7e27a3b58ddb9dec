//! Reading logical pages as the open transaction sees them.

use super::Logical;
use crate::error::Error;
use crate::media::{Flash, Kinds, TAG_BYTES};
use crate::pages::{Pages, check_page};
use crate::space::Frame;

impl<F: Flash> Logical<'_, F> {
    /// Reads bytes of a logical page as the open transaction sees it; what was never written reads as zero.
    ///
    /// # Cost
    /// One read for the map, where the overlay does not know, and one per program page.
    pub fn read(&mut self, logical: u32, offset: u32, data: &mut [u8]) -> Result<(), Error> {
        if self.read_cached(logical, offset, data) {
            return Ok(());
        }
        let frame = self.frame_of(logical)?;
        self.read_frame(frame, logical, offset, data, true)
    }

    /// The same for what users wrote, which is checked as they [wish](crate::Verify). Small reads of one page after the other copy from the page buffer, without
    /// a look at map, cache and journal, until a call begins that may change something.
    pub fn read_content(&mut self, logical: u32, offset: u32, data: &mut [u8]) -> Result<(), Error> {
        let page_bytes = self.ftl.layout.geometry.page_bytes;
        let (index, within) = (offset / page_bytes, (offset % page_bytes) as usize);
        if !self.ftl.pages.flash().is_clean()
            && let Some(page) = self.ftl.pages.shown(logical, index)
            && let Some(bytes) = page.get(within..within + data.len())
        {
            data.copy_from_slice(bytes);
            return Ok(());
        }
        if self.read_cached(logical, offset, data) {
            return Ok(());
        }
        let frame = self.frame_of(logical)?;
        let is_unsteady = self.ftl.is_unsteady();
        let is_checked = self.ftl.pages.checks_content() || is_unsteady;
        let is_part = within + data.len() < page_bytes as usize;
        if !self.ftl.pages.flash().is_clean() && is_part && !is_unsteady && self.show_page(frame, logical, index, is_checked)? {
            data.copy_from_slice(&self.ftl.pages.bytes()[within..within + data.len()]);
            return Ok(());
        }
        self.read_frame(frame, logical, offset, data, is_checked)
    }

    /// Makes page `index` of a logical page, as the caller sees it, what the page buffer shows. One on which patches are to be laid is made only when it is
    /// asked for a second time: it is none of the medium then.
    fn show_page(&mut self, frame: Frame, logical: u32, index: u32, is_checked: bool) -> Result<bool, Error> {
        let page_bytes = self.ftl.layout.geometry.page_bytes;
        let start = index * page_bytes;
        let is_whole = frame != 0 && !self.journal.patches_within(logical, start..start + page_bytes);
        if !is_whole && !self.ftl.pages.asks_again(logical, index) {
            return Ok(false);
        }
        let page = self.ftl.layout.frame_page(frame) + index;
        if frame == 0 {
            self.ftl.pages.bytes_mut().fill(0);
        } else {
            self.ftl.pages.load_kept(page, self.ftl.wanted(Kinds::DATA, logical), is_checked)?;
        }
        if is_whole {
            self.ftl.pages.show(page, logical, index);
        } else {
            self.journal.apply(logical, start, self.ftl.pages.bytes_mut());
            self.ftl.pages.show_made(logical, index);
        }
        self.ftl.note_weak();
        Ok(true)
    }

    /// Reads bytes of a logical page that the cache has, patches included; `false` where it has not.
    fn read_cached(&mut self, logical: u32, offset: u32, data: &mut [u8]) -> bool {
        let Some(slot) = self.cached(logical) else { return false };
        data.copy_from_slice(&self.cache.page(slot)[offset as usize..offset as usize + data.len()]);
        self.journal.apply(logical, offset, data);
        true
    }

    /// Reads bytes of a logical page that lies in a frame, or in none, patches included.
    fn read_frame(&mut self, frame: Frame, logical: u32, offset: u32, data: &mut [u8], is_checked: bool) -> Result<(), Error> {
        if frame == 0 {
            data.fill(0);
        } else {
            let page_bytes = self.ftl.layout.geometry.page_bytes as usize;
            let first = self.ftl.layout.frame_page(frame);
            // A longer read passes by.
            let is_small = data.len() <= page_bytes;
            let mut done = 0;
            while done < data.len() {
                let at = offset as usize + done;
                let (index, within) = (at / page_bytes, at % page_bytes);
                let length = (page_bytes - within).min(data.len() - done);
                let target = &mut data[done..done + length];
                let page = first + index as u32;
                let wanted = self.ftl.wanted(Kinds::DATA, logical);
                let passes_by = |pages: &mut Pages<'_, F>| !is_small || pages.passes_by(page, wanted, is_checked);
                if length == page_bytes
                    && !self.ftl.pages.holds(page)
                    && !self.ftl.is_unsteady()
                    && passes_by(&mut self.ftl.pages)
                {
                    let mut tag = [0; TAG_BYTES];
                    self.ftl.pages.read_to(page, target, &mut tag)?;
                    let check = is_checked.then(|| self.ftl.pages.checksum(target, 0));
                    check_page(check, &tag, Kinds::DATA, logical)?;
                } else {
                    self.ftl.pages.load_kept(page, wanted, is_checked)?;
                    target.copy_from_slice(&self.ftl.pages.bytes()[within..within + length]);
                }
                done += length;
            }
        }
        self.journal.apply(logical, offset, data);
        self.ftl.note_weak();
        Ok(())
    }

    /// Lets `look` see program page `index` of a logical page, as the open transaction has it.
    ///
    /// # Cost
    /// One read, and one for the map where the overlay does not know.
    pub fn with_page<R>(&mut self, logical: u32, index: u32, look: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        self.load_page(logical, index)?;
        Ok(look(self.ftl.pages.bytes()))
    }

    /// Makes program page `index` of a logical page in the page buffer. Not inlined: a call is shorter.
    #[inline(never)]
    fn load_page(&mut self, logical: u32, index: u32) -> Result<(), Error> {
        let frame = self.frame_of(logical)?;
        if frame == 0 || self.journal.patches(logical) || self.cached(logical).is_some() {
            self.compose_page(logical, frame, index, 0, &[])
        } else {
            self.ftl.pages.load_kept(self.ftl.layout.frame_page(frame) + index, self.ftl.wanted(Kinds::DATA, logical), true)
        }
    }

    /// Whether a logical page is what was written, and the map that names it; pages that never were are.
    ///
    /// # Cost
    /// `unit_pages` reads, and those of the leaf.
    pub fn verify(&mut self, logical: u32) -> Result<bool, Error> {
        let frame = match self.frame_of(logical) {
            Ok(0) => return Ok(true),
            Ok(frame) => frame,
            Err(Error::Corrupt) => return Ok(false),
            Err(error) => return Err(error),
        };
        self.ftl.frame_is_complete(frame, Kinds::DATA, logical)
    }
}
