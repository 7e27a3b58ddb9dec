//! The next record of each block in which roll-forward looks for them.

use crate::config::LISTED_MAX;
use crate::media::{Kind, Tag};

/// Furthest that a record's sequence may be from its root's.
pub(super) const HORIZON: u64 = 1 << 22;

/// One for each head that every volume has, and for each listed block.
pub(super) type Cursors = [Option<Cursor>; LISTED_MAX + 3];

/// The next record of a block. There are as many as blocks, on the stack of a mount: so each number takes the three bytes that its range needs, and the
/// sequence is relative to the root's.
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    /// Frame, or place of a journal record.
    place: u32,
    /// Places that it takes of its head.
    places: u16,
    kind: Kind,
    distance: [u8; 3],
    logical: [u8; 3],
    aux: [u8; 3],
}

impl Cursor {
    /// At a place with the tag of a record no further from `base`, the sequence of the root, than [`HORIZON`].
    pub fn new(tag: &Tag, base: u64, place: u32) -> Self {
        Self {
            place,
            places: 1,
            kind: tag.kind,
            distance: three((tag.sequence - base) as u32),
            logical: three(tag.logical),
            aux: three(tag.aux),
        }
    }

    /// The same of a record that takes more places than one.
    pub fn of_places(self, places: u32) -> Self {
        Self { places: places as u16, ..self }
    }

    pub fn place(self) -> u32 {
        self.place
    }

    pub fn places(self) -> u32 {
        self.places.into()
    }

    /// How far its sequence is from the root's.
    pub fn distance(self) -> u32 {
        number(self.distance)
    }

    fn tag(self, base: u64) -> Tag {
        Tag { sequence: base + u64::from(self.distance()), logical: number(self.logical), kind: self.kind, aux: number(self.aux) }
    }
}

fn three(number: u32) -> [u8; 3] {
    let [a, b, c, _] = number.to_le_bytes();
    [a, b, c]
}

fn number([a, b, c]: [u8; 3]) -> u32 {
    u32::from_le_bytes([a, b, c, 0])
}

/// The cursor whose record has the lowest sequence, and its tag.
pub(super) fn lowest(cursors: &Cursors, base: u64) -> Option<(usize, Tag)> {
    let cursors = cursors.iter().enumerate().filter_map(|(slot, cursor)| Some((slot, (*cursor)?)));
    let (slot, cursor) = cursors.min_by_key(|(_, cursor)| cursor.distance())?;
    Some((slot, cursor.tag(base)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_sixteen_bytes_and_holds_the_largest_numbers() {
        assert_eq!(size_of::<Option<Cursor>>(), 16);
        let base = (1 << 36) - 1 - HORIZON;
        let tag = Tag { sequence: base + HORIZON - 1, logical: 0xFF_FFFF, kind: Kind::MovedLeaf, aux: 0xFF_FFFF };
        let cursor = Cursor::new(&tag, base, u32::MAX - 1).of_places(512);
        assert_eq!((cursor.tag(base), cursor.place(), cursor.places()), (tag, u32::MAX - 1, 512));
    }
}
