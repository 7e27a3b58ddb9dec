//! The meaning of the page buffer to the caller: page `index` of a logical page, without patches
//! over it.

use crate::media::PageIndex;

/// No page.
pub(super) const NONE: PageIndex = PageIndex::MAX;

/// A page of a logical page, and the page of the medium with its complete content. With
/// [`NONE`], the page that the caller read last.
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

    /// Returns true if the held page is the content of this page to the caller.
    #[inline(always)]
    pub fn is_by(&self, held: PageIndex, logical: u32, index: u32) -> bool {
        self.page == held && held != NONE && self.is_of(logical, index)
    }

    /// Returns true if the record is of this page, shown or only read.
    #[inline(always)]
    pub fn is_of(&self, logical: u32, index: u32) -> bool {
        (self.logical, self.index) == (logical, index)
    }
}
