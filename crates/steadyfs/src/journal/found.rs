//! The place at which the last search for a logical page ended. A search may pass over many
//! records, and a reader searches several times for the same page and its neighbours.

use super::record::START;

/// The place of the first record, before the mark, of a logical page or of a later page.
///
/// It is valid until the records of an earlier page move.
#[derive(Clone, Copy)]
pub(super) struct SearchPlace {
    logical: u32,
    at: u16,
}

impl SearchPlace {
    /// The place for the first logical page, which is valid in every state of the buffer.
    pub const START: Self = Self { logical: 0, at: START as u16 };

    pub fn new(logical: u32, at: usize) -> Self {
        Self { logical, at: at as u16 }
    }

    /// Forgets the place if the records of an earlier page have moved. The records of pages before
    /// `first` have not moved.
    pub fn keep_before(&mut self, first: u32) {
        if self.logical > first {
            *self = Self::START;
        }
    }

    /// Returns a place from which to search for a logical page.
    pub fn start_for(self, logical: u32) -> usize {
        if self.logical <= logical { self.at.into() } else { START }
    }
}
