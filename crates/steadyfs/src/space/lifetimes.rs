//! Lifetimes of pages. They choose the stream of a page, so the caller need not choose the stream.
//!
//! The logical pages are divided into 256 equal *extents*. A pass over an extent ends when the
//! extent has taken as many writes as it has pages. The mean duration of a pass is the expected
//! life of the extent's pages, whether they are written or moved. So the old version of a page,
//! which a write replaces, need not be read, and the memory does not grow with the medium. The
//! clock counts the caller's writes: it advances by 128 ticks while the caller writes as much as
//! the medium holds.

use crate::table::{read_word, write_word};

/// Number of extents.
const EXTENTS: u32 = 256;
/// Number of ticks in which the caller writes as much as the medium holds.
const TICKS: u32 = 128;
/// Shortest expected life, in ticks, with which a page belongs to the coldest stream. For each
/// warmer stream, the limit is an eighth of the limit of the next colder stream.
const COLDEST_TICKS: u8 = 96;
/// Largest age of a stored time, in ticks. A time has one byte, so a time that would become older
/// is advanced together with the clock.
const AGE_MAX: u8 = 254;

/// Offsets in the table: the clock, the number of writes since its last tick (24 bits), and three
/// bytes of each extent. These three bytes are the time at which the extent's pass began, the
/// number of writes to the extent since then, and its expected life.
const CLOCK: usize = 0;
const SINCE: usize = 1;
const BEGUN: usize = 4;
const WRITES: usize = BEGUN + EXTENTS as usize;
const LIFE: usize = WRITES + EXTENTS as usize;
/// Bytes of the table, in RAM and in a root.
pub(crate) const BYTES: u32 = LIFE as u32 + EXTENTS;

/// The table, in lent bytes and in the layout of a root. A damaged root may contain any values. The
/// values decide only in which block a page is stored.
pub(crate) struct Lifetimes<'t> {
    pub bytes: &'t mut [u8],
    /// Number of logical pages of the volume.
    pub pages: u32,
    /// Number of streams of the volume.
    pub streams: u8,
}

impl Lifetimes<'_> {
    /// Makes the table of an empty volume: no page is expected to be written again soon.
    pub fn clear(bytes: &mut [u8]) {
        bytes[..BEGUN].fill(0);
        bytes[BEGUN..WRITES].fill(0u8.wrapping_sub(AGE_MAX));
        bytes[WRITES..LIFE].fill(u8::MAX);
        bytes[LIFE..].fill(AGE_MAX);
    }

    /// Counts one write of the caller to a page, and returns the stream of the page. `sequence` is
    /// any number that differs for each write. `room` is the number of pages that the medium holds.
    pub fn written(&mut self, logical: u32, sequence: u64, room: u32) -> u8 {
        let since = read_word(self.bytes, SINCE, 3) + 1;
        let ticks = since * TICKS >= room;
        write_word(self.bytes, SINCE, 3, if ticks { 0 } else { since });
        if ticks {
            self.tick();
        }
        let (extent, size) = self.extent(logical);
        // A byte counts the writes of an extent. If the extent has more than 255 pages, only one of
        // several writes is counted. This write is chosen at random, because several writers may
        // write in turn.
        let share = size.div_ceil(u8::MAX.into());
        let full = size.div_ceil(share) as u8;
        if self.bytes[WRITES + extent] >= full {
            let life = u32::from(self.bytes[LIFE + extent]);
            self.bytes[LIFE + extent] = ((3 * life + u32::from(self.age(extent))) / 4) as u8;
            self.bytes[BEGUN + extent] = self.bytes[CLOCK];
            self.bytes[WRITES + extent] = 0;
        }
        if ((sequence as u32).wrapping_mul(0x9E37_79B1) >> 16).is_multiple_of(share) {
            self.bytes[WRITES + extent] += 1;
        }
        self.stream_of(self.bytes[LIFE + extent])
    }

    /// Returns the stream of a moved page. If the extent's pass has lasted longer than its expected
    /// life, the age of the pass is used. A page that was not written for long may never be written
    /// again.
    pub fn at_rest(&self, logical: u32) -> u8 {
        let (extent, _) = self.extent(logical);
        self.stream_of(self.bytes[LIFE + extent].max(self.age(extent)))
    }

    /// Returns the stream of pages that live `ticks` ticks; 0 for the pages that die first.
    fn stream_of(&self, ticks: u8) -> u8 {
        (1..self.streams)
            .map(|warmer| COLDEST_TICKS >> (3 * (warmer - 1)))
            .filter(|&least| ticks >= least)
            .count() as u8
    }

    /// Returns the extent that contains a page, and the number of pages of an extent. A damaged tag
    /// may name a page that does not exist.
    fn extent(&self, logical: u32) -> (usize, u32) {
        let size = self.pages.div_ceil(EXTENTS);
        ((logical / size).min(EXTENTS - 1) as usize, size)
    }

    /// Returns the number of ticks since an extent's pass began.
    fn age(&self, extent: usize) -> u8 {
        self.bytes[CLOCK].wrapping_sub(self.bytes[BEGUN + extent])
    }

    /// Advances the clock by one tick. A stored time that would become older than [`AGE_MAX`] is
    /// advanced as well.
    fn tick(&mut self) {
        self.bytes[CLOCK] = self.bytes[CLOCK].wrapping_add(1);
        for extent in 0..EXTENTS as usize {
            if self.age(extent) > AGE_MAX {
                self.bytes[BEGUN + extent] = self.bytes[BEGUN + extent].wrapping_add(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: u32 = 4096;
    const EXTENT: u32 = PAGES / EXTENTS;

    fn table(bytes: &mut [u8]) -> Lifetimes<'_> {
        Lifetimes::clear(bytes);
        Lifetimes { bytes, pages: PAGES, streams: 3 }
    }

    #[test]
    fn what_is_written_more_often_is_of_a_hotter_stream() {
        let mut bytes = [0; BYTES as usize];
        let mut times = table(&mut bytes);
        assert_eq!(times.at_rest(0), 2, "nothing is known");
        // Every second write goes to the first extent, and one write of sixteen goes to the next
        // ten extents. The other writes go to the remaining extents.
        for write in 0..40 * PAGES {
            let page = match write % 16 {
                0 => EXTENT + write / 16 % (10 * EXTENT),
                odd if odd % 2 == 1 => write / 2 % EXTENT,
                _ => 11 * EXTENT + write % (PAGES - 11 * EXTENT),
            };
            times.written(page, write.into(), PAGES);
        }
        assert_eq!(
            [times.at_rest(0), times.at_rest(5 * EXTENT), times.at_rest(PAGES - 1)],
            [0, 1, 2]
        );
    }

    #[test]
    fn what_is_not_written_any_more_cools() {
        let mut bytes = [0; BYTES as usize];
        let mut times = table(&mut bytes);
        for write in 0..10 * PAGES {
            times.written(write % EXTENT, write.into(), PAGES);
        }
        assert_eq!(times.at_rest(0), 0);
        for write in 0..10 * PAGES {
            times.written(PAGES / 2 + write % EXTENT, write.into(), PAGES);
        }
        assert_eq!([times.at_rest(0), times.at_rest(PAGES / 2)], [2, 0]);
    }

    #[test]
    fn any_bytes_are_a_table() {
        for byte in [0, 0x5A, 0xFF] {
            let mut bytes = [byte; BYTES as usize];
            let mut times = Lifetimes { bytes: &mut bytes, pages: 0xFF_FFFF, streams: 4 };
            for write in 0..2000 {
                assert!(times.written(write * 8_000 % 0xFF_FFFF, write.into(), u32::MAX) <= 3);
                assert!(times.at_rest(write) <= 3);
            }
            times.pages = 300;
            assert!(
                times.at_rest(u32::MAX) <= 3 && times.written(u32::MAX, 1, 1) <= 3,
                "a page that there is not"
            );
        }
    }
}
