//! Reading logical pages, including the changes of the open transaction.

use super::Logical;
use crate::error::Error;
use crate::media::{Flash, PageIndex, TAG_BYTES, TagKinds};
use crate::pages::{Pages, check_page};
use crate::space::Frame;

/// Largest number of program pages that one command reads. Their tags lie on the stack.
const MANY_PAGES: usize = 16;

impl<F: Flash> Logical<'_, F> {
    /// Reads bytes of a logical page, including changes of the open transaction. Unwritten bytes
    /// read as zeros.
    ///
    /// # Cost
    /// One read for the map if the overlay does not contain the page, and one read for each program
    /// page.
    pub fn read(&mut self, logical: u32, offset: u32, data: &mut [u8]) -> Result<(), Error> {
        if self.read_cached(logical, offset, data) {
            return Ok(());
        }
        let frame = self.shown_frame(logical)?;
        self.read_frame(frame, logical, offset, data, true)
    }

    /// Reads bytes of user data, starting in a logical page. The data continues in the following
    /// logical pages, `pages` in total. Returns the number of bytes read: at least up to the end of
    /// the first logical page, or all of `data`.
    ///
    /// `in_order` permits a read of consecutive pages in one command. It is set to false when such
    /// a command fails. The remaining pages of the caller's read are then read one by one.
    ///
    /// # Cost
    /// The cost of [`read`](Self::read). If the medium has a command for many pages, consecutive
    /// pages on the medium are read in one command. If this command fails, its pages are read once
    /// more.
    pub fn read_pages(
        &mut self,
        logical: u32,
        pages: u32,
        offset: u32,
        data: &mut [u8],
        in_order: &mut bool,
    ) -> Result<usize, Error> {
        let (logical_bytes, page_bytes) =
            (self.ftl.layout.logical_bytes as usize, self.ftl.layout.geometry.page_bytes as usize);
        let is_long = offset == 0 && data.len() >= 2 * page_bytes;
        // If RAM has changes of the page, or if pages may be unsteady, each page is read alone.
        if !(self.ftl.pages.flash().reads_many() && *in_order && is_long)
            || self.ftl.is_unsteady()
            || self.is_beside(logical)
        {
            let length = data.len().min(logical_bytes - offset as usize);
            return self.read_content(logical, offset, &mut data[..length]).map(|()| length);
        }
        let (frame, mut done) = (self.shown_frame(logical)?, 0);
        let count = self.pages_in_order(frame, logical, pages, data.len() / page_bytes)?;
        if count > 1 {
            done = self.read_in_order(logical, self.ftl.layout.frame_page(frame), count, data);
            *in_order = done == count;
            done *= page_bytes;
        }
        // Reads the rest of the logical page, whose frame is already known.
        let (index, within) = (done / logical_bytes, done % logical_bytes);
        if within > 0 || done == 0 {
            let end = data.len().min((index + 1) * logical_bytes);
            let (frame, is_checked) = (
                if frame == 0 { 0 } else { frame + index as u32 },
                self.ftl.pages.checks_content(),
            );
            self.read_frame(
                frame,
                logical + index as u32,
                within as u32,
                &mut data[done..end],
                is_checked,
            )?;
            done = end;
        }
        Ok(done)
    }

    /// Returns the number of program pages that can be read in one command, starting with the first
    /// page of a frame: at most `wanted`. These pages are consecutive on the medium, and neither
    /// the cache nor the journal has changes of them.
    fn pages_in_order(
        &mut self,
        frame: Frame,
        logical: u32,
        pages: u32,
        wanted: usize,
    ) -> Result<usize, Error> {
        if frame == 0 {
            return Ok(0);
        }
        let (unit, wanted) = (
            u32::from(self.ftl.layout.config.pages_per_logical_page),
            wanted.min(MANY_PAGES) as u32,
        );
        let in_block = self.ftl.layout.frames_per_block - frame % self.ftl.layout.frames_per_block;
        let most = pages.min(in_block).min(wanted.div_ceil(unit));
        let mut frames = 1;
        while frames < most
            && !self.is_beside(logical + frames)
            && self.frame_of(logical + frames)? == frame + frames
        {
            frames += 1;
        }
        Ok(wanted.min(frames * unit) as usize)
    }

    /// Reads `count` program pages, from logical page `logical` on, in as few commands as
    /// possible. Returns the number of leading pages that verified. Read the next page alone to
    /// get its error.
    fn read_in_order(
        &mut self,
        logical: u32,
        first: PageIndex,
        count: usize,
        data: &mut [u8],
    ) -> usize {
        let (unit, page_bytes) = (
            u32::from(self.ftl.layout.config.pages_per_logical_page),
            self.ftl.layout.geometry.page_bytes as usize,
        );
        let (mut tags, mut done) = ([[0; TAG_BYTES]; MANY_PAGES], 0);
        while done < count {
            let (data, tags) =
                (&mut data[done * page_bytes..count * page_bytes], &mut tags[done..count]);
            // A read of the next page alone returns its error.
            let Ok(read) = self.ftl.pages.read_many(first + done as u32, data, tags) else {
                return done;
            };
            for (page, tag) in data.chunks_exact(page_bytes).zip(&*tags).take(read) {
                let check =
                    self.ftl.pages.checks_content().then(|| self.ftl.pages.checksum(page, 0));
                if check_page(check, tag, TagKinds::DATA, logical + done as u32 / unit).is_err() {
                    return done;
                }
                done += 1;
            }
        }
        done
    }

    /// Returns true if the cache has a logical page, or the journal buffer has patches of it.
    fn is_beside(&self, logical: u32) -> bool {
        self.cached(logical).is_some() || self.journal.patches(logical)
    }

    /// Reads bytes of user data in a logical page, verified as the [setting](crate::Verify)
    /// requires. A small read of the page that the page buffer shows copies bytes from the buffer,
    /// without a look-up in map, cache and journal. A call that may change something first discards
    /// the note that the buffer shows a page.
    pub fn read_content(
        &mut self,
        logical: u32,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Error> {
        let page_bytes = self.ftl.layout.geometry.page_bytes;
        let (index, within) = (offset / page_bytes, (offset % page_bytes) as usize);
        if !self.ftl.pages.flash().is_clean()
            // Small reads in one page are frequent, so they come before all look-ups.
            && let Some(page) = self.ftl.pages.resident(logical, index)
            && let Some(bytes) = page.get(within..within + data.len())
        {
            data.copy_from_slice(bytes);
            return Ok(());
        }
        if self.read_cached(logical, offset, data) {
            return Ok(());
        }
        let frame = self.shown_frame(logical)?;
        let is_unsteady = self.ftl.is_unsteady();
        // A page that may be unsteady is always verified.
        let is_checked = self.ftl.pages.checks_content() || is_unsteady;
        let is_part = within + data.len() < page_bytes as usize;
        if !self.ftl.pages.flash().is_clean()
            && is_part
            && !is_unsteady
            && self.show_page(frame, logical, index, is_checked)?
        {
            data.copy_from_slice(&self.ftl.pages.bytes()[within..within + data.len()]);
            return Ok(());
        }
        self.read_frame(frame, logical, offset, data, is_checked)
    }

    /// Loads program page `index` of a logical page, with its patches, into the page buffer, and
    /// notes that the buffer shows this page. Returns `false` if the buffer does not show the page.
    /// A page with patches is loaded only at its second read in a row, because it displaces a page
    /// of the medium.
    fn show_page(
        &mut self,
        frame: Frame,
        logical: u32,
        index: u32,
        is_checked: bool,
    ) -> Result<bool, Error> {
        let page_bytes = self.ftl.layout.geometry.page_bytes;
        let start = index * page_bytes;
        let is_whole =
            frame != 0 && !self.journal.patches_within(logical, start..start + page_bytes);
        // A page with patches displaces a page of the medium. So it is loaded only if it is read
        // again.
        if !is_whole && !self.ftl.pages.asks_again(logical, index) {
            return Ok(false);
        }
        let page = self.ftl.layout.frame_page(frame) + index;
        if frame == 0 {
            self.ftl.pages.bytes_mut().fill(0);
        } else {
            self.ftl.pages.read_cached(
                page,
                self.ftl.expected(TagKinds::DATA, logical),
                is_checked,
            )?;
        }
        if is_whole {
            self.ftl.pages.set_resident(page, logical, index);
        } else {
            self.journal.apply(logical, start, self.ftl.pages.bytes_mut());
            self.ftl.pages.show_made(logical, index);
        }
        self.ftl.note_weak();
        Ok(true)
    }

    /// Reads bytes of a logical page from the cache, and applies the page's patches. Returns
    /// `false` if the cache does not have the page.
    fn read_cached(&mut self, logical: u32, offset: u32, data: &mut [u8]) -> bool {
        let Some(slot) = self.cached(logical) else { return false };
        data.copy_from_slice(&self.cache.page(slot)[offset as usize..offset as usize + data.len()]);
        self.journal.apply(logical, offset, data);
        true
    }

    /// Reads bytes of a logical page from its frame, and applies the page's patches. If the page
    /// has no frame, zeros replace the frame's bytes.
    fn read_frame(
        &mut self,
        frame: Frame,
        logical: u32,
        offset: u32,
        data: &mut [u8],
        is_checked: bool,
    ) -> Result<(), Error> {
        if frame == 0 {
            data.fill(0);
        } else {
            let page_bytes = self.ftl.layout.geometry.page_bytes as usize;
            let first = self.ftl.layout.frame_page(frame);
            // A read of more than a page does not use the read cache.
            let is_small = data.len() <= page_bytes;
            let mut done = 0;
            while done < data.len() {
                let at = offset as usize + done;
                let (index, within) = (at / page_bytes, at % page_bytes);
                let length = (page_bytes - within).min(data.len() - done);
                let target = &mut data[done..done + length];
                let page = first + index as u32;
                let expected = self.ftl.expected(TagKinds::DATA, logical);
                let bypasses_cache = |pages: &mut Pages<'_, F>| {
                    !is_small || pages.bypasses_cache(page, expected, is_checked)
                };
                // A whole page is read directly into the caller's memory.
                if length == page_bytes
                    && !self.ftl.pages.holds(page)
                    && !self.ftl.is_unsteady()
                    && bypasses_cache(&mut self.ftl.pages)
                {
                    let mut tag = [0; TAG_BYTES];
                    self.ftl.pages.read_to(page, target, &mut tag)?;
                    let check = is_checked.then(|| self.ftl.pages.checksum(target, 0));
                    check_page(check, &tag, TagKinds::DATA, logical)?;
                } else {
                    self.ftl.pages.read_cached(page, expected, is_checked)?;
                    target.copy_from_slice(&self.ftl.pages.bytes()[within..within + length]);
                }
                done += length;
            }
        }
        self.journal.apply(logical, offset, data);
        self.ftl.note_weak();
        Ok(())
    }

    /// Calls `look` with program page `index` of a logical page, including changes of the open
    /// transaction.
    ///
    /// # Cost
    /// One read, and one read for the map if the overlay does not contain the page.
    pub fn with_page<R>(
        &mut self,
        logical: u32,
        index: u32,
        look: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, Error> {
        self.load_page(logical, index)?;
        Ok(look(self.ftl.pages.bytes()))
    }

    /// Composes program page `index` of a logical page in the page buffer. Not inlined, because
    /// calls take less code.
    #[inline(never)]
    fn load_page(&mut self, logical: u32, index: u32) -> Result<(), Error> {
        let frame = self.frame_of(logical)?;
        // The page on the medium is not the whole content.
        if frame == 0 || self.journal.patches(logical) || self.cached(logical).is_some() {
            self.compose_page(logical, frame, index, 0, &[])
        } else {
            self.ftl.pages.read_cached(
                self.ftl.layout.frame_page(frame) + index,
                self.ftl.expected(TagKinds::DATA, logical),
                true,
            )
        }
    }

    /// Returns true if a logical page and the leaf that names it can be read and verify. Also
    /// returns true for an unwritten page.
    ///
    /// # Cost
    /// `pages_per_logical_page` reads, and the reads of the leaf.
    pub fn verify(&mut self, logical: u32) -> Result<bool, Error> {
        let frame = match self.frame_of(logical) {
            Ok(0) => return Ok(true),
            Ok(frame) => frame,
            Err(Error::Corrupt) => return Ok(false),
            Err(error) => return Err(error),
        };
        self.ftl.frame_is_complete(frame, TagKinds::DATA, logical)
    }
}
