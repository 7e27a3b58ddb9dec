//! The effects of a power cut on sectors, and on pages made of them.

use super::{Cut, Sectors, Waiting};
use crate::fault::{Survivors, Tearable, Torn};
use steadyfs::media::sectors::{COMMAND_PAGES_MAX, SECTOR_BYTES, SectorPages, TagPlace};
use steadyfs::media::{BlockIndex, Failure, Flash, PageIndex, TAG_BYTES};

impl Sectors {
    /// Cuts power in one of the next `commands` commands that change data, drawn by the seed.
    pub fn cut_within(&mut self, commands: u32, torn: Torn) {
        self.cut = Some(Cut { after: self.rng.u32(..commands.max(1)), torn });
    }

    /// Cuts power between two commands.
    pub fn cut_now(&mut self) {
        (self.cut, self.off) = (None, true);
    }

    /// Restores power. The survivors of the cache are on the medium.
    pub fn power_on(&mut self) {
        (self.cut, self.off) = (None, false);
        let waiting = std::mem::take(&mut self.waiting);
        let survive = self.survivors_of(&waiting);
        for (waiting, _) in waiting.iter().zip(survive).filter(|(_, survives)| *survives) {
            self.store(waiting.sector, &waiting.data);
        }
    }

    /// Draws the sectors of the cache that survive: the first few, or any of them, as whole
    /// commands or single sectors.
    fn survivors_of(&mut self, waiting: &[Waiting]) -> Vec<bool> {
        if self.survivors == Some(Survivors::InOrder) {
            let first_lost = self.rng.usize(..=waiting.len());
            return (0..waiting.len()).map(|index| index < first_lost).collect();
        }
        let (by_command, mut last) = (self.rng.bool(), (u64::MAX, false));
        let mut survive = Vec::new();
        for waiting in waiting {
            if !by_command || waiting.command != last.0 {
                last = (waiting.command, self.rng.bool());
            }
            survive.push(last.1);
        }
        survive
    }

    /// Leaves the sectors of an interrupted write in a state that the cut may leave.
    pub(super) fn shear(&mut self, first: u32, sectors: &[[u8; SECTOR_BYTES]], torn: Torn) {
        match torn {
            Torn::Old => {}
            Torn::New => self.put(first, sectors),
            Torn::Garbled | Torn::Metastable | Torn::Unstable => {
                // The first few sectors are there, or the last few. One sector is garbage, or
                // unreadable.
                let cut = self.rng.usize(..=sectors.len());
                let kept = if self.rng.bool() { 0..cut } else { cut..sectors.len() };
                self.put(first + kept.start as u32, &sectors[kept]);
                let victim = first + self.rng.u32(..sectors.len() as u32);
                if torn != Torn::Garbled {
                    self.waiting.retain(|waiting| waiting.sector != victim);
                    self.unreadable.insert(victim);
                } else if self.rng.bool() {
                    let mut garbage = [0; SECTOR_BYTES];
                    self.rng.fill(&mut garbage);
                    self.put(victim, &[garbage]);
                }
            }
        }
    }
}

/// Returns the number of commands that program pages: one, or one for the pages and one for their
/// tags.
fn program_commands(pages: &SectorPages<Sectors>) -> u32 {
    if pages.layout().tags == TagPlace::Table { 2 } else { 1 }
}

/// Runs `act` while power fails in one of its `commands` commands.
fn cut_in(
    pages: &mut SectorPages<Sectors>,
    commands: u32,
    torn: Torn,
    act: impl FnOnce(&mut SectorPages<Sectors>) -> Result<(), Failure>,
) {
    pages.device_mut().cut_within(commands, torn);
    let result = act(pages);
    assert!(result.is_err(), "power was cut");
    pages.device_mut().off = false;
}

/// A program takes two writes at most, an erase a discard and a write.
///
/// The wrapper that makes power fail keeps it off. The device itself answers again, because a
/// command may also fail without a cut. Pages of a device are never metastable: it corrects them,
/// or cannot read them.
impl Tearable for SectorPages<Sectors> {
    fn program_torn(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES], torn: Torn) {
        let commands = program_commands(self);
        cut_in(self, commands, torn, |pages| pages.program(page, data, tag));
    }

    fn joins_programs(&self) -> bool {
        true
    }

    fn program_many_torn(
        &mut self,
        first: PageIndex,
        data: &[u8],
        tags: &[[u8; TAG_BYTES]],
        torn: Torn,
    ) {
        let commands = program_commands(self) * tags.len().div_ceil(COMMAND_PAGES_MAX) as u32;
        cut_in(self, commands, torn, |pages| pages.program_many(first, data, tags));
    }

    fn program_loaded_torn(&mut self, _page: PageIndex, _tag: &[u8; TAG_BYTES], _torn: Torn) {}

    fn erase_torn(&mut self, block: BlockIndex, torn: Torn) {
        cut_in(self, 2, torn, |pages| pages.erase(block));
    }

    fn power_on(&mut self) {
        self.device_mut().power_on();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FailOps, PowerCut};
    use std::collections::BTreeSet;
    use steadyfs::media::sectors::{SectorDevice, SectorLayout, TagPlace};

    const TAG: [u8; TAG_BYTES] = [7; TAG_BYTES];
    const OTHER: [u8; TAG_BYTES] = [9; TAG_BYTES];

    fn pages(tags: TagPlace, device: Sectors) -> SectorPages<Sectors> {
        let layout = SectorLayout {
            first: 3,
            sectors: 1040,
            block_sectors: 65,
            page_bytes: 1024,
            tags,
            volume: 7,
        };
        SectorPages::new(device, layout).unwrap()
    }

    fn device() -> Sectors {
        Sectors::new(1100, Sectors::ROUND, 1)
    }

    fn tag_of<D: SectorDevice>(pages: &mut SectorPages<D>, page: PageIndex) -> [u8; TAG_BYTES] {
        let mut tag = [0; TAG_BYTES];
        pages.read_tag(page, &mut tag).unwrap();
        tag
    }

    #[test]
    fn pages_of_an_earlier_generation_read_as_erased() {
        for tags in [TagPlace::Beside, TagPlace::Table, TagPlace::Within] {
            let mut pages = pages(tags, device());
            let count = pages.geometry().pages_per_block;
            let expected = match tags {
                TagPlace::Beside => 21,
                TagPlace::Table => 20,
                TagPlace::Within => 31,
            };
            assert_eq!((count, pages.geometry().block_count), (expected, 16));
            for round in 1..4_u8 {
                pages.erase(2).unwrap();
                let first = 2 * count;
                for page in first..first + count {
                    assert_eq!(tag_of(&mut pages, page), [0xFF; TAG_BYTES]);
                    pages.program(page, &[round; 700], &TAG).unwrap();
                }
                let (mut data, mut tag) =
                    (vec![0; pages.geometry().page_bytes as usize], [0; TAG_BYTES]);
                pages.read(first + count - 1, &mut data, &mut tag).unwrap();
                assert_eq!((&data[..700], tag), (&[round; 700][..], TAG));
                assert!(data[700..].iter().all(|&byte| byte == 0xFF));
            }
        }
    }

    #[test]
    fn what_an_erase_left_is_never_taken_for_new() {
        for (seed, torn) in (0..40).flat_map(|seed| Torn::ALL.map(|torn| (seed, torn))) {
            let mut pages = pages(TagPlace::Beside, Sectors::new(1100, Sectors::ROUND, seed));
            pages.erase(1).unwrap();
            (21..42).for_each(|page| pages.program(page, &[1; 1024], &TAG).unwrap());
            pages.erase_torn(1, torn);
            pages.power_on();
            // A page that reads well is whole: old, or erased.
            let (mut data, mut tag) = (vec![0; 1024], [0; TAG_BYTES]);
            for page in 21..42 {
                pages.read(page, &mut data, &mut tag).unwrap();
                assert!(tag == TAG || tag == [0xFF; TAG_BYTES]);
            }
            pages.erase(1).unwrap();
            (21..42).for_each(|page| {
                assert_eq!(tag_of(&mut pages, page), [0xFF; TAG_BYTES], "{torn:?} {seed}")
            });
        }
    }

    #[test]
    fn cache_in_order_keeps_the_first_and_a_flush_keeps_all() {
        for seed in 0..20 {
            let device =
                Sectors::new(1100, Sectors::ROUND, seed).with_cache(Survivors::InOrder, 100);
            let mut pages = pages(TagPlace::Beside, device);
            pages.erase(0).unwrap();
            pages.program(0, &[1; 1024], &TAG).unwrap();
            pages.sync().unwrap();
            (1..5).for_each(|page| pages.program(page, &[2; 1024], &OTHER).unwrap());
            pages.device_mut().cut_now();
            assert_eq!(pages.read_tag(0, &mut [0; TAG_BYTES]), Err(Failure::Device));
            pages.power_on();
            assert_eq!(tag_of(&mut pages, 0), TAG);
            let there: Vec<_> = (1..5).map(|page| tag_of(&mut pages, page) == OTHER).collect();
            assert!(there.is_sorted_by(|a, b| a >= b), "{there:?}");
        }
    }

    #[test]
    fn a_cache_that_reorders_may_keep_the_last_alone() {
        let kept_alone = (0..200).any(|seed| {
            let device = Sectors::new(1100, Sectors::ROUND, seed).with_cache(Survivors::Any, 100);
            let mut pages = pages(TagPlace::Beside, device);
            assert!(pages.reorders());
            pages.erase(0).unwrap();
            pages.sync().unwrap();
            (0..4).for_each(|page| pages.program(page, &[2; 1024], &OTHER).unwrap());
            pages.device_mut().cut_now();
            pages.power_on();
            (0..4).all(|page| (tag_of(&mut pages, page) == OTHER) == (page == 3))
        });
        assert!(kept_alone);
    }

    /// The headers were torn, and the block began again with the generation of its old pages. The
    /// old pages came back.
    #[test]
    fn no_page_comes_back_where_both_headers_are_torn() {
        for tags in [TagPlace::Beside, TagPlace::Table, TagPlace::Within] {
            let mut pages = pages(tags, device());
            let count = pages.geometry().pages_per_block;
            pages.erase(1).unwrap();
            (count..2 * count).for_each(|page| pages.program(page, &[1; 900], &TAG).unwrap());
            let header = 3 + 65;
            let mut torn = [[0; 512]; 2];
            torn.iter_mut()
                .zip(header..)
                .for_each(|(torn, sector)| pages.device_mut().read(sector, &mut [torn]).unwrap());
            torn.iter_mut().for_each(|torn| torn[20..30].fill(0x5A));
            // The headers are partly written, and the tag of the first page is discarded: power
            // failed while an erase wrote and discarded them.
            let nothing = [0; 2 * 512];
            let discarded = if tags == TagPlace::Within { &nothing } else { &nothing[..512] };
            pages.device_mut().write(header, &[&torn[0], &torn[1], discarded]).unwrap();
            (0..3).for_each(|_| {
                pages.erase(1).unwrap();
                (count..2 * count).for_each(|page| {
                    assert_eq!(tag_of(&mut pages, page), [0xFF; TAG_BYTES], "page {page}")
                });
            });
        }
    }

    /// Returns the subsets of five pages, programmed by one command, that survive, for many
    /// seeds.
    fn left_of_five(
        mut act: impl FnMut(SectorPages<Sectors>, u64) -> SectorPages<Sectors>,
    ) -> BTreeSet<Vec<bool>> {
        let left = (0..300).map(|seed| {
            let mut pages = pages(TagPlace::Beside, Sectors::new(1100, Sectors::ROUND, seed));
            pages.erase(1).unwrap();
            let mut pages = act(pages, seed);
            pages.power_on();
            (21..26)
                .map(|page| {
                    pages.read(page, &mut [0; 1024], &mut [0; TAG_BYTES]).is_ok()
                        && tag_of(&mut pages, page) == TAG
                })
                .collect()
        });
        left.collect()
    }

    #[test]
    fn a_command_of_several_pages_is_cut_as_one_and_fails_as_one() {
        let (data, tags) = ([1; 5 * 1024], [TAG; 5]);
        let cut = left_of_five(|pages, seed| {
            let mut cut = PowerCut::new(pages, seed);
            cut.cut_at(1);
            assert_eq!(cut.program_many(21, &data, &tags), Err(Failure::Device));
            assert_eq!(cut.operations(), 1);
            cut.into_inner()
        });
        let failed = left_of_five(|pages, seed| {
            let mut failing = FailOps::new(pages, seed);
            failing.fail_program(1);
            assert_eq!(failing.program_many(21, &data, &tags), Err(Failure::BadBlock));
            assert_eq!(failing.programs(), 1);
            failing.into_inner()
        });
        for left in [cut, failed] {
            let without_order = |there: &Vec<bool>| !there.is_sorted_by(|a, b| a >= b);
            assert!(
                left.iter().any(without_order),
                "the last ones alone, or all but one in the middle: {left:?}"
            );
        }
    }

    /// A device of which one sector cannot be read a few times.
    struct Failing(Sectors, u32, u32);

    impl SectorDevice for Failing {
        fn sector_count(&self) -> u32 {
            self.0.sector_count()
        }
        fn times(&self) -> steadyfs::media::sectors::SectorTimes {
            self.0.times()
        }
        fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure> {
            if first == self.1 && self.2 > 0 {
                self.2 -= 1;
                return Err(Failure::Uncorrectable);
            }
            self.0.read(first, parts)
        }
        fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure> {
            self.0.write(first, parts)
        }
    }

    /// The header of a block could not be read for a while. Pages programmed under the previous
    /// generation were lost when it could be read again.
    #[test]
    fn a_header_that_cannot_be_read_for_a_while_loses_nothing() {
        for (sector, times) in
            (0..2).flat_map(|header| (0..8).map(move |times| (3 + 65 + header, times)))
        {
            let mut healthy = pages(TagPlace::Beside, device());
            (0..3).for_each(|_| {
                healthy.erase(1).unwrap();
                healthy.program(21, &[1; 1024], &OTHER).unwrap();
            });
            healthy.erase(1).unwrap();
            let layout = *healthy.layout();
            let mut pages =
                SectorPages::new(Failing(healthy.into_device(), sector, times), layout).unwrap();
            let programmed = (0..4).any(|_| pages.program(21, &[2; 1024], &TAG).is_ok());
            assert!(programmed, "it can be read after {times} looks");
            let mut pages = SectorPages::new(pages.into_device().0, layout).unwrap();
            assert_eq!(tag_of(&mut pages, 21), TAG, "header {sector}, {times} times");
        }
    }

    #[test]
    fn layout_is_found_again_from_the_first_sector() {
        for tags in [TagPlace::Beside, TagPlace::Table, TagPlace::Within] {
            let mut pages = pages(tags, device());
            assert_eq!(SectorLayout::find(pages.device_mut(), 3).unwrap(), None);
            pages.erase(0).unwrap();
            let layout = *pages.layout();
            assert_eq!(SectorLayout::find(&mut pages.into_device(), 3).unwrap(), Some(layout));
        }
    }
}
