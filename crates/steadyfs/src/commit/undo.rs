//! Pages of the open transaction that the call in progress has replaced.

use crate::space::Frame;

/// Largest number of pages that a call may replace: pages that are already pending, and pages that
/// the call writes to make room.
pub(crate) const PAGES_MAX: u32 = 16;

/// Replaced pages of the call in progress.
#[derive(Clone, Copy, Default)]
pub(super) struct Undo {
    /// Logical page, and its pending entry from before the call.
    pages: [(u32, Frame); PAGES_MAX as usize],
    len: u8,
}

impl Undo {
    pub fn pages(&self) -> &[(u32, Frame)] {
        &self.pages[..usize::from(self.len)]
    }

    pub fn is_full(&self) -> bool {
        u32::from(self.len) == PAGES_MAX
    }

    pub fn has(&self, logical: u32) -> bool {
        self.pages().iter().any(|page| page.0 == logical)
    }

    /// Notes the earlier entry of a page. Returns `false` if there is no room for the note.
    pub fn note(&mut self, logical: u32, before: Frame) -> bool {
        if self.is_full() {
            return false;
        }
        self.pages[usize::from(self.len)] = (logical, before);
        self.len += 1;
        true
    }

    /// Removes the last note and returns it.
    pub fn take_last(&mut self) -> Option<(u32, Frame)> {
        let last = *self.pages().last()?;
        self.len -= 1;
        Some(last)
    }

    /// Discards all notes.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}
