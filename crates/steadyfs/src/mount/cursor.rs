//! The next record of each block in which roll-forward searches records.

use crate::config::LISTED_MAX;
use crate::media::{Tag, TagKind};

/// Upper limit of the distance of a record's sequence number from the root's sequence number.
pub(super) const HORIZON: u64 = 1 << 22;

/// One cursor for each head that every volume has, and one for each listed block.
pub(super) type RecordCursors = [Option<RecordCursor>; LISTED_MAX + 3];

/// The next record of a block. A mount has one cursor for each block on its stack. So the cursor
/// stores only the distance of the sequence number from the root's number, which halves the size of
/// the cursor.
#[derive(Clone, Copy)]
pub(super) struct RecordCursor {
    /// Frame of the record, or place of a journal record.
    place: u32,
    distance: u32,
    logical: u32,
    aux: u32,
    /// Number of places of its head that the record takes.
    places: u16,
    kind: TagKind,
}

impl RecordCursor {
    /// Creates a cursor for the record at a place, from the record's tag. `base` is the sequence
    /// number of the root; the record's number is less than [`HORIZON`] beyond it.
    pub fn new(tag: &Tag, base: u64, place: u32) -> Self {
        let distance = (tag.sequence - base) as u32;
        Self { place, distance, logical: tag.logical, aux: tag.aux, places: 1, kind: tag.kind }
    }

    /// Returns this cursor for a record that takes `places` places.
    pub fn of_places(self, places: u32) -> Self {
        Self { places: places as u16, ..self }
    }

    pub fn place(self) -> u32 {
        self.place
    }

    pub fn places(self) -> u32 {
        self.places.into()
    }

    /// Returns the distance of the record's sequence number from the root's sequence number.
    pub fn distance(self) -> u32 {
        self.distance
    }
}

/// Returns the cursor whose record has the lowest sequence number, and its tag.
pub(super) fn lowest(cursors: &RecordCursors, base: u64) -> Option<(usize, Tag)> {
    // One sequence counts the programs of all heads, so the record with the lowest number was
    // programmed first.
    let (mut slot, mut lowest) = (0, u32::MAX);
    for (index, cursor) in cursors.iter().enumerate() {
        if let Some(cursor) = cursor
            && cursor.distance < lowest
        {
            (slot, lowest) = (index, cursor.distance);
        }
    }
    cursors[slot].map(|RecordCursor { distance, logical, kind, aux, .. }| {
        (slot, Tag { sequence: base + u64::from(distance), logical, kind, aux })
    })
}
