//! Pages of a chip that were read, in RAM of the host: a volume that is served for hours reads the same few pages of its tables again and again.
//!
//! The kernel keeps data of files, so what comes here is the rest. A page has one place, so data that passes by takes little away. After an hour a page
//! is read from the chip again: bits that flip meanwhile are noticed, and a page that nobody uses is not hidden from those who look after data at rest.
//!
//! A volume that does not believe what it has read, because a checksum is wrong, reads the page again at once, and wants to see the chip. So a page that is asked
//! for twice in a row comes from there, and is not kept.

use std::ops::Range;
use std::time::{Duration, Instant};
use steadyfs::media::{PageIndex, TAG_BYTES};

/// How long a page counts.
const AGE_MAX: Duration = Duration::from_secs(3600);

/// Pages that were read, and are on the chip as they are here.
#[derive(Debug)]
pub struct ReadCache {
    places: Vec<Option<Page>>,
    /// The page that was asked for last.
    asked: Option<PageIndex>,
    /// Whether it was so the time before as well.
    is_doubted: bool,
}

#[derive(Debug)]
struct Page {
    index: PageIndex,
    data: Box<[u8]>,
    tag: [u8; TAG_BYTES],
    since: Instant,
}

impl ReadCache {
    /// For pages of so many bytes in `bytes` of RAM; none where that is less than one.
    pub fn new(page_bytes: usize, bytes: usize) -> Self {
        let places = (0..bytes / (page_bytes + size_of::<Option<Page>>())).map(|_| None).collect();
        Self { places, asked: None, is_doubted: false }
    }

    /// The place of a page; none where there is no room at all.
    fn place(&mut self, page: PageIndex) -> Option<&mut Option<Page>> {
        let count = self.places.len();
        self.places.get_mut((page as usize).checked_rem(count)?)
    }

    /// Copies a page that is here; `false` where it is not, was not read for long, or is doubted.
    pub fn find(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES], now: Instant) -> bool {
        self.is_doubted = self.asked.replace(page) == Some(page);
        if self.is_doubted {
            self.forget(page..page + 1);
        }
        match self.place(page) {
            Some(Some(kept)) if kept.index == page && now.saturating_duration_since(kept.since) < AGE_MAX => {
                data.copy_from_slice(&kept.data);
                *tag = kept.tag;
                true
            }
            _ => false,
        }
    }

    /// Keeps what was read for the page that was asked for last.
    pub fn keep(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES], now: Instant) {
        let is_doubted = self.is_doubted;
        let Some(place) = self.place(page).filter(|_| !is_doubted) else { return };
        match place {
            Some(kept) => {
                kept.data.copy_from_slice(data);
                (kept.index, kept.tag, kept.since) = (page, *tag, now);
            }
            None => *place = Some(Page { index: page, data: data.into(), tag: *tag, since: now }),
        }
    }

    /// Forgets pages that are about to change, whatever comes of it.
    pub fn forget(&mut self, pages: Range<PageIndex>) {
        for page in pages {
            if let Some(place) = self.place(page)
                && place.as_ref().is_some_and(|kept| kept.index == page)
            {
                *place = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: [u8; 4] = [1, 2, 3, 4];
    const TAG: [u8; TAG_BYTES] = [7; TAG_BYTES];

    fn found(cache: &mut ReadCache, page: PageIndex, now: Instant) -> Option<[u8; 4]> {
        let (mut data, mut tag) = ([0; 4], [0; TAG_BYTES]);
        cache.find(page, &mut data, &mut tag, now).then(|| {
            assert_eq!(tag, TAG);
            data
        })
    }

    #[test]
    fn a_page_is_kept_until_it_changes_or_is_old_or_another_one_takes_its_place() {
        let now = Instant::now();
        let mut cache = ReadCache::new(4, 4 * (4 + size_of::<Option<Page>>()));
        let look = |cache: &mut ReadCache, page, now| {
            // Twice in a row is another story.
            cache.asked = None;
            found(cache, page, now)
        };
        assert_eq!(look(&mut cache, 5, now), None);
        cache.keep(5, &DATA, &TAG, now);
        assert_eq!(look(&mut cache, 5, now), Some(DATA));
        assert_eq!(look(&mut cache, 1, now), None, "it has the same place");
        assert_eq!(look(&mut cache, 5, now + AGE_MAX), None);
        cache.forget(0..5);
        cache.forget(6..9);
        assert_eq!(look(&mut cache, 5, now), Some(DATA));
        cache.forget(4..6);
        assert_eq!(look(&mut cache, 5, now), None);
        cache.keep(5, &DATA, &TAG, now);
        cache.keep(9, &[9; 4], &TAG, now);
        assert_eq!((look(&mut cache, 5, now), look(&mut cache, 9, now)), (None, Some([9; 4])));
    }

    #[test]
    fn a_page_that_is_read_again_at_once_comes_from_the_chip_and_is_not_kept() {
        let now = Instant::now();
        let mut cache = ReadCache::new(4, 4 * (4 + size_of::<Option<Page>>()));
        assert_eq!(found(&mut cache, 5, now), None);
        cache.keep(5, &[9; 4], &TAG, now);
        for _ in 0..3 {
            assert_eq!(found(&mut cache, 5, now), None, "the volume did not believe it");
            cache.keep(5, &[9; 4], &TAG, now);
        }
        assert_eq!((found(&mut cache, 6, now), found(&mut cache, 5, now)), (None, None));
        cache.keep(5, &DATA, &TAG, now);
        assert_eq!((found(&mut cache, 6, now), found(&mut cache, 5, now)), (None, Some(DATA)));
    }

    #[test]
    fn without_room_nothing_is_kept() {
        let now = Instant::now();
        let mut cache = ReadCache::new(2048, 2000);
        cache.keep(0, &[0; 2048], &TAG, now);
        assert_eq!(found(&mut cache, 0, now), None);
        cache.forget(0..1);
    }
}
