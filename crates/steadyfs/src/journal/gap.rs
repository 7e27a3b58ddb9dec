//! A logical page without a record in the buffer. A reader looks for the same page several times,
//! and each search passes over all records. So the last page without a record is stored.

/// The logical page that was last found to have no record in the buffer, not even a superseded
/// one.
#[derive(Clone, Copy)]
pub(super) struct Gap(u32);

impl Gap {
    /// No such page.
    pub const UNKNOWN: Self = Self(u32::MAX);

    /// Records that no record of a logical page was found.
    pub fn of(logical: u32) -> Self {
        Self(logical)
    }

    /// Returns true if this logical page is recorded as having no record.
    pub fn is_of(self, logical: u32) -> bool {
        self.0 == logical
    }

    /// Clears this state if it names the logical page, because the buffer gets a record of that
    /// page. If a record is removed, no call is needed.
    pub fn fill(&mut self, logical: u32) {
        if self.is_of(logical) {
            *self = Self::UNKNOWN;
        }
    }
}
