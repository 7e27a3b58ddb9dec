//! Composes the content of a program page of a logical page in the page buffer.

use super::Logical;
use super::edit::{Edit, Piece};
use crate::error::Error;
use crate::media::{Flash, PageIndex, TAG_BYTES, Tag, TagKinds};
use crate::pages::{LOST_CHECK, TRIES};
use crate::space::{Frame, NONE};

/// The source of a frame's content. Every source can be read again after a failed program.
#[derive(Clone, Copy)]
pub(super) enum Source<'s> {
    /// The caller's bytes: a whole logical page, and its stream.
    Whole { bytes: &'s [u8], stream: u8 },
    /// The content of `base`, then the journal's patches, then the caller's piece.
    Merged { base: Frame, piece: Piece<'s> },
    /// The content of `base` with the journal's patches from before the call in progress.
    Earlier { base: Frame },
    /// The content of logical page `of`: `base` with the journal's patches, and `edit` applied to
    /// each program page.
    Edited { of: u32, base: Frame, edit: Edit },
    /// The content of the frame `from`. Its checksums are copied, not computed. `loaded` is the tag
    /// of its first page, which the preceding operation on the device has read.
    Copy { from: Frame, loaded: &'s [u8; TAG_BYTES] },
    /// A page of the cache.
    Cached { slot: usize },
    /// The leaf, including its overlay entries.
    Leaf,
}

/// The location of the data of a page that is ready to be programmed.
#[derive(Clone, Copy)]
pub(super) enum Content {
    /// In the memory of the source.
    Source,
    /// In the page buffer. The value is the checksum.
    Buffer(u32),
    /// In the chip's page register. The value is the checksum.
    Register(u32),
}

impl<F: Flash> Logical<'_, F> {
    /// Composes program page `index` of a logical page in the page buffer: the content of `base`,
    /// then the journal's patches, then `bytes` at `offset`.
    pub(super) fn compose_page(
        &mut self,
        logical: u32,
        base: u32,
        index: u32,
        offset: u32,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let page_bytes = self.ftl.layout.geometry.page_bytes;
        let start = index * page_bytes;
        let (from, to) = (offset.max(start), (offset + bytes.len() as u32).min(start + page_bytes));
        // `bytes` replace the whole program page, so its old content need not be read.
        let is_whole = from < to && to - from == page_bytes;
        if !is_whole {
            self.load_base(logical, base, index)?;
        }
        self.journal.apply(logical, start, self.ftl.pages.bytes_mut());
        // `bytes` are newer than all patches.
        if from < to {
            let source = &bytes[(from - offset) as usize..(to - offset) as usize];
            self.ftl.pages.bytes_mut()[(from - start) as usize..(to - start) as usize]
                .copy_from_slice(source);
        }
        Ok(())
    }

    /// Loads program page `index` of a logical page into the page buffer, from the cache or from
    /// `base`, without patches.
    fn load_base(&mut self, logical: u32, base: u32, index: u32) -> Result<(), Error> {
        let page_bytes = self.ftl.layout.geometry.page_bytes;
        let start = index * page_bytes;
        // The page in the cache is newer than the frame.
        if let Some(slot) = self.cached(logical) {
            let cached = &self.cache.page(slot)[start as usize..(start + page_bytes) as usize];
            self.ftl.pages.bytes_mut().copy_from_slice(cached);
        } else if base == 0 {
            self.ftl.pages.bytes_mut().fill(0);
        } else {
            self.ftl.pages.load(
                self.ftl.layout.frame_page(base) + index,
                self.ftl.expected(TagKinds::DATA, logical),
            )?;
        }
        Ok(())
    }

    /// Makes program page `index` of a frame ready to be programmed. `again` is true if an earlier
    /// try failed.
    pub(super) fn prepare(
        &mut self,
        source: &Source<'_>,
        logical: u32,
        index: u32,
        again: bool,
    ) -> Result<Content, Error> {
        match *source {
            Source::Whole { .. } | Source::Cached { .. } => return Ok(Content::Source),
            Source::Copy { from, loaded } => {
                // The chip's register has the first page only until the first program.
                let loaded = if again || index > 0 { None } else { Some(loaded) };
                return self.load_copy(self.ftl.layout.frame_page(from) + index, loaded);
            }
            Source::Merged { base, piece } => {
                self.compose_page(logical, base, index, piece.offset, piece.bytes)?
            }
            Source::Earlier { base } => {
                if !self.load_base_with_retry(logical, base, index)? {
                    return Ok(self.lost_content());
                }
                self.journal.apply_earlier(
                    logical,
                    index * self.ftl.layout.geometry.page_bytes,
                    self.ftl.pages.bytes_mut(),
                );
            }
            Source::Edited { edit: Edit::Lost, .. } => return Ok(self.lost_content()),
            Source::Edited { of, base, edit: Edit::Salvage { fill, until } } => {
                // A page without a frame is treated as a page whose frame is lost.
                if base == 0 || !self.load_base_with_retry(of, base, index)? {
                    self.ftl.pages.bytes_mut().fill(fill);
                    Edit::Cut { keep: until }.apply(index, self.ftl.pages.bytes_mut());
                }
                self.journal.apply(
                    of,
                    index * self.ftl.layout.geometry.page_bytes,
                    self.ftl.pages.bytes_mut(),
                );
            }
            Source::Edited { of, base, edit: Edit::SalvageWhole } => {
                if self.load_base_with_retry(of, base, index)? {
                    self.journal.apply(
                        of,
                        index * self.ftl.layout.geometry.page_bytes,
                        self.ftl.pages.bytes_mut(),
                    );
                } else {
                    self.ftl.pages.bytes_mut().fill(0);
                }
            }
            Source::Edited { of, base, edit } => {
                self.compose_page(of, base, index, 0, &[])?;
                edit.apply(index, self.ftl.pages.bytes_mut());
            }
            Source::Leaf => self.ftl.compose_leaf_page(logical, index)?,
        }
        Ok(Content::Buffer(self.ftl.pages.check()))
    }

    /// Makes a copy of a page ready. The checksum of the data is copied, not computed, so damaged
    /// data stays recognisable.
    #[inline(never)]
    fn load_copy(
        &mut self,
        from: PageIndex,
        loaded: Option<&[u8; TAG_BYTES]>,
    ) -> Result<Content, Error> {
        let mut old = *loaded.unwrap_or(&[0; TAG_BYTES]);
        // A read of the tag leaves the page in the chip's register.
        if self.ftl.pages.flash().can_copy()
            && (loaded.is_some() || self.ftl.pages.read_tag_with_retry(from, &mut old)?)
        {
            return Ok(Content::Register(Tag::carried_check(&old)));
        }
        for _ in 0..TRIES {
            if self.ftl.pages.read_page(from, &mut old)? {
                return Ok(Content::Buffer(Tag::carried_check(&old)));
            }
        }
        Ok(self.lost_content())
    }

    /// Fills the page buffer with the content that stands for lost data. The checksum marks the
    /// page as lost.
    fn lost_content(&mut self) -> Content {
        self.ftl.pages.fill_lost();
        Content::Buffer(LOST_CHECK)
    }

    /// Loads program page `index` of a logical page into the page buffer, without patches, in
    /// several tries. Returns `false` if the page cannot be read any more, or if its frame is
    /// unknown. Even then the caller writes the page, because the page's patches must not take room
    /// in the journal for ever.
    fn load_base_with_retry(
        &mut self,
        logical: u32,
        base: Frame,
        index: u32,
    ) -> Result<bool, Error> {
        if base == NONE {
            return Ok(false);
        }
        for _ in 0..TRIES {
            match self.load_base(logical, base, index) {
                Err(Error::Corrupt) => {}
                result => return result.map(|()| true),
            }
        }
        Ok(false)
    }
}
