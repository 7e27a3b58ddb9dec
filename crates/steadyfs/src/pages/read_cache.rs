//! Pages that were read and verified, in lent memory. They are pages of directories, inodes,
//! indexes and the map, and data pages of which the caller reads a part.
//!
//! A page stays cached until its block is erased, a log in it grows, or another page needs its
//! *slot* (`place` in the code). Pages that were never found again are evicted first. So a page
//! that is read once does not evict a page that is read repeatedly. After some [finds](FINDS_MAX) a
//! page is read from the medium once more. So the volume finds bits that have flipped meanwhile,
//! and pages that now need more corrections by the ECC.

use super::expect::Expect;
use crate::features::READ_CACHE;
use crate::media::PageIndex;
use crate::table::{read_word, write_word};

/// Number of times that a page is found in the cache before it is read from the medium again.
const FINDS_MAX: u32 = 255;
/// Number of pages that the caller reads as a whole until one of them is cached.
const PASSING: u8 = 16;
/// Largest number of slots in which one page may be stored: the size of a set.
const WAYS_MAX: usize = 32;
/// Bytes of a slot before its page.
pub(crate) const HEAD_BYTES: usize = 12;

/// State of the page in a slot, in three words. The last word has the kinds in its low bits. Above
/// the kinds lie the number of finds and a flag.
#[derive(Clone, Copy)]
struct PlaceHead {
    /// The page plus one, or 0 if the slot is empty.
    page: u32,
    logical: u32,
    state: u32,
}

impl PlaceHead {
    const NOTHING: Self = Self { page: 0, logical: 0, state: 0 };
    const FIND: u32 = 1 << 16;
    /// The page was found since it was stored, or since its slot last had its turn.
    const USED: u32 = 1 << 24;

    fn new(page: PageIndex, expected: Expect) -> Self {
        Self { page: page + 1, logical: expected.logical, state: expected.kinds.bits().into() }
    }

    fn parse(place: &[u8]) -> Self {
        Self {
            page: read_word(place, 0, 4),
            logical: read_word(place, 4, 4),
            state: read_word(place, 8, 4),
        }
    }

    fn emit(self, place: &mut [u8]) {
        write_word(place, 0, 4, self.page);
        write_word(place, 4, 4, self.logical);
        write_word(place, 8, 4, self.state);
    }

    fn is_in(&self, first: PageIndex, count: u32) -> bool {
        self.page.wrapping_sub(1).wrapping_sub(first) < count && self.page > 0
    }

    fn is_used(&self) -> bool {
        self.state & Self::USED != 0
    }

    /// Returns true if the page meets the criteria, and was not found too often already.
    fn serves(&self, expected: Expect) -> bool {
        self.logical == expected.logical
            && self.state as u16 == expected.kinds.bits()
            && self.state / Self::FIND % (FINDS_MAX + 1) < FINDS_MAX
    }
}

/// Bytes of the memory before the slots. The first byte is the index, within a set, of the slot
/// that last had its turn. All sets share this index. The second byte counts the pages that the
/// caller read as a whole since one of them was cached.
pub(crate) const CONTROL_BYTES: usize = 2;

/// The pages in lent memory. Each slot has a head and a page. If there are many slots, each page
/// may be stored in only some of them. A build without the feature `read-cache` has no slots.
pub(super) struct ReadCache<'m>([&'m mut [u8]; READ_CACHE as usize]);

impl<'m> ReadCache<'m> {
    /// Creates a cache of as many pages as the memory has room for.
    pub fn new(mut bytes: &'m mut [u8]) -> Self {
        bytes.fill(0);
        Self([(); READ_CACHE as usize].map(|()| core::mem::take(&mut bytes)))
    }

    /// Returns the slots, for pages of `page_bytes` bytes, or `None` if there is no room for a
    /// slot.
    fn places(&mut self, page_bytes: usize) -> Option<Places<'_>> {
        let (control, bytes) = self.0.first_mut()?.split_first_chunk_mut::<CONTROL_BYTES>()?;
        let place_bytes = HEAD_BYTES + page_bytes;
        let count = bytes.len() / place_bytes;
        let ways = count / count.div_ceil(WAYS_MAX).max(1);
        (ways > 0).then(|| Places {
            control,
            bytes: &mut bytes[..count * place_bytes],
            place_bytes,
            ways,
        })
    }

    /// Counts a page that the caller reads as a whole. Returns true if this page must be cached.
    /// One of every [`PASSING`] such pages is cached.
    pub fn admits(&mut self, page_bytes: usize) -> bool {
        let Some(Places { control: [_, passed], .. }) = self.places(page_bytes) else {
            return false;
        };
        *passed = (*passed + 1) % PASSING;
        *passed == 0
    }

    /// Copies a page into `data` if the cache has the page. Returns true if the cache has the page.
    pub fn find(&mut self, page: PageIndex, expected: Expect, data: &mut [u8]) -> bool {
        let Some(mut places) = self.places(data.len()) else { return false };
        let Some(place) = places.set(page).find(|place| PlaceHead::parse(place).is_in(page, 1))
        else {
            return false;
        };
        let head = PlaceHead::parse(place);
        // A page that was found very often is read and verified again.
        if !head.serves(expected) {
            PlaceHead::NOTHING.emit(place);
            return false;
        }
        PlaceHead { state: (head.state + PlaceHead::FIND) | PlaceHead::USED, ..head }.emit(place);
        data.copy_from_slice(&place[HEAD_BYTES..]);
        true
    }

    /// Stores a page that was read and verified.
    pub fn keep(&mut self, page: PageIndex, expected: Expect, data: &[u8]) {
        let Some(mut places) = self.places(data.len()) else { return };
        let at = places.at_for(page);
        if let Some(place) = places.set(page).nth(at) {
            PlaceHead::new(page, expected).emit(place);
            place[HEAD_BYTES..].copy_from_slice(data);
        }
    }

    /// Removes `count` pages of `page_bytes` bytes, because they change.
    pub fn forget(&mut self, first: PageIndex, count: u32, page_bytes: usize) {
        let Some(places) = self.places(page_bytes) else { return };
        let all = places.bytes.chunks_exact_mut(places.place_bytes);
        all.filter(|place| PlaceHead::parse(place).is_in(first, count))
            .for_each(|place| PlaceHead::NOTHING.emit(place));
    }
}

/// The slots; at least one.
struct Places<'m> {
    control: &'m mut [u8; CONTROL_BYTES],
    bytes: &'m mut [u8],
    place_bytes: usize,
    /// Number of slots in which one page may be stored.
    ways: usize,
}

impl Places<'_> {
    /// Returns the slots in which a page may be stored.
    fn set(&mut self, page: PageIndex) -> impl Iterator<Item = &mut [u8]> {
        let sets = self.bytes.len() / self.place_bytes / self.ways;
        let first = page as usize % sets * self.ways;
        self.bytes.chunks_exact_mut(self.place_bytes).skip(first).take(self.ways)
    }

    /// Returns the index of the slot for a page, within its set. *Next* is the slot whose turn it
    /// is. The first of these slots that exists is chosen:
    ///
    /// - the slot that already has the page,
    /// - the first slot at or behind *next* whose page was not found since that slot's last turn,
    /// - the first slot before *next* whose page was not found since that slot's last turn,
    /// - *next* itself.
    ///
    /// If the page in *next* was found, it counts as not found from now on.
    fn at_for(&mut self, page: PageIndex) -> usize {
        let next = (usize::from(self.control[0]) + 1) % self.ways;
        let (mut own, mut behind, mut before) = (None, None, None);
        for (at, place) in self.set(page).enumerate() {
            let head = PlaceHead::parse(place);
            if head.is_in(page, 1) {
                own = Some(at);
            } else if !head.is_used() {
                let unused = if at < next { &mut before } else { &mut behind };
                unused.get_or_insert(at);
            } else if at == next {
                PlaceHead { state: head.state & !PlaceHead::USED, ..head }.emit(place);
            }
        }
        self.control[0] = next as u8;
        own.or(behind).or(before).unwrap_or(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::TagKinds;
    use std::vec::Vec;

    const PAGE: usize = 4;
    const PLACE: usize = HEAD_BYTES + PAGE;

    fn expected(logical: u32) -> Expect {
        Expect { kinds: TagKinds::DATA, logical, tries: 1 }
    }

    /// Returns the data of a page whose logical page has the same number, if the cache has the
    /// page.
    fn found(cache: &mut ReadCache<'_>, page: PageIndex) -> Option<[u8; 4]> {
        let mut data = [0; 4];
        cache.find(page, expected(page), &mut data).then_some(data)
    }

    fn keep(cache: &mut ReadCache<'_>, page: PageIndex) {
        cache.keep(page, expected(page), &[page as u8; 4]);
    }

    #[test]
    fn what_is_read_once_takes_nothing_away_from_what_is_read_again() {
        let mut memory = [0xA5; CONTROL_BYTES + 4 * PLACE + 3];
        let mut cache = ReadCache::new(&mut memory);
        for page in 0..3 {
            assert_eq!(found(&mut cache, page), None);
            keep(&mut cache, page);
            assert_eq!(found(&mut cache, page), Some([page as u8; 4]));
        }
        for page in 10..50 {
            keep(&mut cache, page);
        }
        assert!(
            (0..3).all(|page| found(&mut cache, page).is_none()),
            "nobody has found them for a long time"
        );
        for page in 0..3 {
            keep(&mut cache, page);
        }
        for page in 10..50 {
            assert!(
                (0..3).all(|page| found(&mut cache, page).is_some()),
                "they are found between the others"
            );
            keep(&mut cache, page);
        }
        assert_eq!((found(&mut cache, 48), found(&mut cache, 49)), (None, Some([49; 4])));
    }

    #[test]
    fn a_page_is_forgotten_with_its_block() {
        let mut memory = [0; CONTROL_BYTES + 4 * PLACE];
        let mut cache = ReadCache::new(&mut memory);
        (8..12).for_each(|page| keep(&mut cache, page));
        cache.forget(0, 8, PAGE);
        cache.forget(12, 4, PAGE);
        assert!((8..12).all(|page| found(&mut cache, page).is_some()));
        cache.forget(9, 2, PAGE);
        assert_eq!(
            [8, 9, 10, 11].map(|page| found(&mut cache, page).is_some()),
            [true, false, false, true]
        );
        cache.forget(0, u32::MAX, PAGE);
        assert!((8..12).all(|page| found(&mut cache, page).is_none()));
    }

    #[test]
    fn only_what_is_wanted_is_found_and_not_for_ever() {
        let mut memory = [0; CONTROL_BYTES + 2 * PLACE];
        let mut cache = ReadCache::new(&mut memory);
        let mut data = [0; 4];
        keep(&mut cache, 7);
        assert!(!cache.find(7, expected(8), &mut data), "another logical page");
        keep(&mut cache, 7);
        assert!(
            !cache.find(7, Expect { kinds: TagKinds::LEAF, ..expected(7) }, &mut data),
            "another kind"
        );
        keep(&mut cache, 7);
        assert_eq!(
            (0..1000).take_while(|_| found(&mut cache, 7).is_some()).count(),
            FINDS_MAX as usize
        );
        keep(&mut cache, 7);
        assert!(found(&mut cache, 7).is_some());
    }

    #[test]
    fn of_many_places_a_page_may_be_in_some() {
        let mut memory = std::vec![0; CONTROL_BYTES + 100 * PLACE];
        let mut cache = ReadCache::new(&mut memory);
        (0..100).for_each(|page| keep(&mut cache, page));
        assert_eq!((0..100).filter(|&page| found(&mut cache, page).is_some()).count(), 100);
        (100..300).for_each(|page| keep(&mut cache, page));
        let kept: Vec<_> = (0..300).filter(|&page| found(&mut cache, page).is_some()).collect();
        assert_eq!(kept.len(), 100);
        cache.forget(kept[7], 1, PAGE);
        assert_eq!((0..300).filter(|&page| found(&mut cache, page).is_some()).count(), 99);
    }

    #[test]
    fn without_room_for_a_page_nothing_is_kept() {
        for bytes in [0, 1, CONTROL_BYTES + PLACE - 1] {
            let mut memory = std::vec![0; bytes];
            let mut cache = ReadCache::new(&mut memory);
            keep(&mut cache, 1);
            assert_eq!(found(&mut cache, 1), None);
            cache.forget(0, 100, PAGE);
        }
    }
}
