//! What the page buffer is to the caller: page `index` of a logical page, with nothing to be laid over it.

use crate::media::PageIndex;

/// No page.
pub(super) const NONE: PageIndex = PageIndex::MAX;

/// A page of a logical page, and the page of the medium that is all that there is of it; with [`NONE`], what the caller asked for last.
pub(super) struct Shown {
    page: PageIndex,
    logical: u32,
    index: u32,
}

impl Shown {
    pub const NOTHING: Self = Self { page: NONE, logical: u32::MAX, index: 0 };

    pub fn new(page: PageIndex, logical: u32, index: u32) -> Self {
        Self { page, logical, index }
    }

    /// Whether the page that is held is what the caller sees there.
    #[inline(always)]
    pub fn is_by(&self, held: PageIndex, logical: u32, index: u32) -> bool {
        self.page == held && held != NONE && self.is_of(logical, index)
    }

    /// Whether this is, or was asked to be, that page.
    #[inline(always)]
    pub fn is_of(&self, logical: u32, index: u32) -> bool {
        (self.logical, self.index) == (logical, index)
    }
}
