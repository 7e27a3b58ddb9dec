//! The meaning of the page buffer to the caller: the buffer is page `index` of a logical page, with
//! no patches that change it.

use crate::media::PageIndex;

/// No page.
pub(super) const NONE: PageIndex = PageIndex::MAX;

/// A page of a logical page, and the page of the medium that has its complete content. If `page` is
/// [`NONE`], this is only the page that the caller read last.
pub(super) struct Resident {
    page: PageIndex,
    logical: u32,
    index: u32,
}

impl Resident {
    pub const NOTHING: Self = Self { page: NONE, logical: u32::MAX, index: 0 };

    pub fn new(page: PageIndex, logical: u32, index: u32) -> Self {
        Self { page, logical, index }
    }

    /// Returns true if the held page is the complete content of page `index` of the logical page.
    #[inline(always)]
    pub fn is_by(&self, held: PageIndex, logical: u32, index: u32) -> bool {
        self.page == held && held != NONE && self.is_of(logical, index)
    }

    /// Returns true if the record is about page `index` of the logical page.
    #[inline(always)]
    pub fn is_of(&self, logical: u32, index: u32) -> bool {
        (self.logical, self.index) == (logical, index)
    }
}
