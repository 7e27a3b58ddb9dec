//! Pages that are programmed in one command: lent memory for the pages and their tags.

use crate::features::GROUPS;
use crate::media::TAG_BYTES;

/// Lent memory for pages, with a tag for each page behind them.
struct Lent<'m> {
    bytes: &'m mut [u8],
    /// Number of pages that fit.
    pages: u8,
}

/// A group of pages. A build without the feature for groups has no memory for a group.
pub(crate) struct Group<'m>([Lent<'m>; GROUPS as usize]);

impl<'m> Group<'m> {
    /// Creates a group of `pages` pages, which take all of `bytes`.
    pub fn new(mut bytes: &'m mut [u8], pages: u8) -> Self {
        Self([(); GROUPS as usize].map(|()| Lent { bytes: core::mem::take(&mut bytes), pages }))
    }

    /// Returns the memory of the pages and of their tags, or empty slices in a build without
    /// groups.
    fn parts_mut(&mut self) -> (&mut [u8], &mut [[u8; TAG_BYTES]]) {
        let Some(lent) = self.0.first_mut() else { return (&mut [], &mut []) };
        let (pages, tags) =
            lent.bytes.split_at_mut(lent.bytes.len() - usize::from(lent.pages) * TAG_BYTES);
        (pages, tags.as_chunks_mut().0)
    }

    /// Returns the memory of page `index` of the group.
    pub fn page_mut(&mut self, index: u32) -> &mut [u8] {
        let (pages, tags) = self.parts_mut();
        let page_bytes = pages.len() / tags.len();
        &mut pages[index as usize * page_bytes..][..page_bytes]
    }

    /// Returns the tag of page `index`.
    pub fn tag_mut(&mut self, index: u32) -> &mut [u8; TAG_BYTES] {
        &mut self.parts_mut().1[index as usize]
    }

    /// Stores page `index` of the group, and its tag.
    pub fn put(&mut self, index: u32, page: &[u8], tag: &[u8; TAG_BYTES]) {
        self.page_mut(index).copy_from_slice(page);
        *self.tag_mut(index) = *tag;
    }

    /// Returns the first `count` pages and their tags.
    pub fn filled(&mut self, count: u32) -> (&[u8], &[[u8; TAG_BYTES]]) {
        let (count, (pages, tags)) = (count as usize, self.parts_mut());
        (&pages[..count * (pages.len() / tags.len())], &tags[..count])
    }
}
