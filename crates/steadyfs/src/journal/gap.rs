//! A logical page of which the buffer says nothing: who reads on asks for the same one several times, and each answer takes a walk over all records.

/// The logical page that was last found to have no record in the buffer, superseded ones included.
#[derive(Clone, Copy)]
pub(super) struct Gap(u32);

impl Gap {
    /// None is known.
    pub const UNKNOWN: Self = Self(u32::MAX);

    /// No record of a logical page was found.
    pub fn of(logical: u32) -> Self {
        Self(logical)
    }

    /// Whether a logical page is known to have no record.
    pub fn is_of(self, logical: u32) -> bool {
        self.0 == logical
    }

    /// A record of a logical page comes. What goes needs no such note.
    pub fn fill(&mut self, logical: u32) {
        if self.is_of(logical) {
            *self = Self::UNKNOWN;
        }
    }
}
