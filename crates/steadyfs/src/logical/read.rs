//! Reading logical pages as the open transaction sees them.

use super::Logical;
use crate::error::Error;
use crate::media::{Flash, Kinds, PageIndex, TAG_BYTES};
use crate::pages::{Pages, check_page};
use crate::space::Frame;

/// Program pages that one command reads at most: so many tags are on the stack.
const MANY_PAGES: usize = 16;

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

    /// Reads bytes of what users wrote from a logical page on, of which `pages` follow each other, and returns how many: to the end of the page at least, or
    /// of what could be read `in_order`, which a call does not try again once it has failed.
    ///
    /// # Cost
    /// As [`read`](Self::read); pages that follow each other on the medium too are read in one command where it has one. Where that fails they are read
    /// once more.
    pub fn read_pages(
        &mut self,
        logical: u32,
        pages: u32,
        offset: u32,
        data: &mut [u8],
        in_order: &mut bool,
    ) -> Result<usize, Error> {
        let logical_bytes = self.ftl.layout.logical_bytes;
        if self.ftl.pages.flash().reads_many() && offset == 0 && *in_order {
            let found = self.pages_in_order(logical, pages, data.len())?;
            if let Some((first, count)) = found {
                let done = self.read_in_order(logical, first, count, data);
                *in_order = done == count;
                if done > 0 {
                    return Ok(done * self.ftl.layout.geometry.page_bytes as usize);
                }
            }
        }
        let length = data.len().min((logical_bytes - offset) as usize);
        self.read_content(logical, offset, &mut data[..length])?;
        Ok(length)
    }

    /// The first of the program pages from a logical page on that follow each other on the medium and need no look elsewhere, and how many of them fit
    /// into so many bytes; `None` where fewer than two do.
    fn pages_in_order(&mut self, logical: u32, pages: u32, bytes: usize) -> Result<Option<(PageIndex, usize)>, Error> {
        let (unit, page_bytes) = (u32::from(self.ftl.layout.config.unit_pages), self.ftl.layout.geometry.page_bytes as usize);
        let wanted = (bytes / page_bytes).min(MANY_PAGES) as u32;
        if wanted < 2 || self.ftl.is_unsteady() {
            return Ok(None);
        }
        let Some(frame) = self.plain_frame(logical)? else { return Ok(None) };
        let in_block = self.ftl.layout.frames_per_block - frame % self.ftl.layout.frames_per_block;
        let most = pages.min(in_block).min(wanted.div_ceil(unit));
        let mut frames = 1;
        while frames < most && self.plain_frame(logical + frames)? == Some(frame + frames) {
            frames += 1;
        }
        let count = wanted.min(frames * unit) as usize;
        Ok((count > 1).then(|| (self.ftl.layout.frame_page(frame), count)))
    }

    /// Reads so many program pages in one command, or more of them, from logical page `logical` on. Returns how many it has read that are what they
    /// should be; whoever reads the next one by itself finds out what that is.
    fn read_in_order(&mut self, logical: u32, first: PageIndex, count: usize, data: &mut [u8]) -> usize {
        let (unit, page_bytes) = (u32::from(self.ftl.layout.config.unit_pages), self.ftl.layout.geometry.page_bytes as usize);
        let (mut tags, mut done) = ([[0; TAG_BYTES]; MANY_PAGES], 0);
        while done < count {
            let (data, tags) = (&mut data[done * page_bytes..count * page_bytes], &mut tags[done..count]);
            let Ok(read) = self.ftl.pages.read_many(first + done as u32, data, tags) else { return done };
            for (page, tag) in data.chunks_exact(page_bytes).zip(&*tags).take(read) {
                let check = self.ftl.pages.checks_content().then(|| self.ftl.pages.checksum(page, 0));
                if check_page(check, tag, Kinds::DATA, logical + done as u32 / unit).is_err() {
                    return done;
                }
                done += 1;
            }
        }
        done
    }

    /// The frame of a logical page that is all there is of it; `None` where there is none, or a patch or the cache has some of it.
    fn plain_frame(&mut self, logical: u32) -> Result<Option<Frame>, Error> {
        if self.cached(logical).is_some() || self.journal.patches(logical) {
            return Ok(None);
        }
        Ok(Some(self.frame_of(logical)?).filter(|&frame| frame != 0))
    }

    /// Reads bytes of a logical page of what users wrote, which is checked as they [wish](crate::Verify). Small reads of one page after the other copy from the page buffer, without
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
