//! Programming of pages: from the page buffer, from a caller's bytes, or from the chip's register.

use super::resident::NONE;
use super::{LOST_CHECK, Pages};
use crate::error::Error;
use crate::media::{BlockIndex, Failure, Flash, PageIndex, TAG_BYTES, Tag};
use core::ops::Range;

impl<F: Flash> Pages<'_, F> {
    /// Programs a page whose last `missing` bytes stay erased. The tag contains the page's
    /// checksum. If `check` is `None`, the checksum is computed here.
    pub fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        missing: usize,
        check: Option<u32>,
        tag: &Tag,
    ) -> Result<(), Error> {
        program(self.device.certain()?, page, data, missing, check, tag)
    }

    /// Programs the first `bytes` bytes of page `index` of a record of several pages. The buffer
    /// holds the whole record.
    pub fn program_part(
        &mut self,
        page: PageIndex,
        index: u32,
        bytes: usize,
        tag: &Tag,
    ) -> Result<(), Error> {
        let here = &self.buffer[index as usize * self.page_bytes..][..bytes];
        program(self.device.certain()?, page, here, self.page_bytes - bytes, None, tag)
    }

    /// Programs the buffer with a checksum that the caller has computed.
    pub fn program_made(&mut self, page: PageIndex, check: u32, tag: &Tag) -> Result<(), Error> {
        self.held = NONE;
        program(self.device.certain()?, page, &self.buffer[..self.page_bytes], 0, Some(check), tag)
    }

    /// Programs the buffer.
    pub fn program_buffer(&mut self, page: PageIndex, tag: &Tag) -> Result<(), Error> {
        let check = self.check_as(Some(tag.kind));
        self.program_made(page, check, tag)
    }

    /// Programs a page whose data is lost.
    pub fn program_lost(&mut self, page: PageIndex, tag: &Tag) -> Result<(), Error> {
        self.fill_lost();
        self.program_made(page, LOST_CHECK, tag)
    }

    /// Programs the page that lies in the chip's page register.
    pub fn program_loaded(&mut self, page: PageIndex, check: u32, tag: &Tag) -> Result<(), Error> {
        Ok(self.device.certain()?.program_loaded(page, &tag.emit(check))?)
    }

    /// Programs bytes of the buffer. The buffer then holds no page, because the page on the medium
    /// has other bytes as well.
    pub fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        part: Range<usize>,
    ) -> Result<(), Failure> {
        self.held = NONE;
        let page = block * u32::from(self.pages_per_block) + offset / self.page_bytes as u32;
        self.read_cache.forget(
            page,
            1 + part.len().div_ceil(self.page_bytes) as u32,
            self.page_bytes,
        );
        self.device.certain()?.program_bytes(block, offset, &self.buffer[part])
    }

    /// Programs bytes at a blank place. They belong to no page in the buffer or in the read
    /// cache.
    pub fn program_mark(
        &mut self,
        block: BlockIndex,
        offset: u32,
        bytes: &[u8],
    ) -> Result<(), Failure> {
        self.device.certain()?.program_bytes(block, offset, bytes)
    }

    /// Programs consecutive pages in one command.
    pub fn program_many(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
    ) -> Result<(), Failure> {
        self.device.certain()?.program_many(first, data, tags)
    }
}

fn program<F: Flash>(
    flash: &mut F,
    page: PageIndex,
    data: &[u8],
    missing: usize,
    check: Option<u32>,
    tag: &Tag,
) -> Result<(), Error> {
    let check = check.unwrap_or_else(|| flash.checksum(data, missing));
    Ok(flash.program(page, data, &tag.emit(check))?)
}
