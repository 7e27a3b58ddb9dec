//! A device that answers before it has programmed. Data that was not flushed may be lost when
//! power fails.

use super::forward;
use super::{Tearable, Torn};
use crate::meter::{Counters, Metered};
use fastrand::Rng;
use std::sync::Arc;
use steadyfs::media::{
    BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};

/// The programs and erases in the cache that survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Survivors {
    /// The first few operations, because the cache is written in order.
    InOrder,
    /// The first few operations of each erase block, because the cache is written in order for each
    /// block.
    InOrderOfBlocks,
    /// Any of the operations. A program may also survive if the erase before it was lost. It then
    /// replaces the content of the page.
    Any,
}

/// A program or an erase that waits.
#[derive(Clone, Debug)]
enum Waiting {
    Program { page: PageIndex, data: Arc<[u8]>, tag: [u8; TAG_BYTES] },
    Erase(BlockIndex),
}

/// A medium behind a volatile write cache, such as the cache of managed flash.
///
/// Programs and erases wait in the cache until [`sync`](Flash::sync), or until the cache is full
/// and writes the oldest operation to the medium. Reads return the cached content. The medium takes
/// the time of an operation, and panics on illegal use, only when the operation reaches it.
///
/// When power returns ([`power_on`](Tearable::power_on)), the seed determines which waiting
/// operations had reached the medium. On-chip copies are not supported. A failure of the medium is
/// reported as a [`Failure::Device`] of the sync, because the call that caused the failed operation
/// has already returned.
#[derive(Clone, Debug)]
pub struct WriteCache<F> {
    inner: F,
    rng: Rng,
    /// `None` if there is no cache. All calls are then passed on.
    survivors: Option<Survivors>,
    operations_max: usize,
    shorn_writes: bool,
    waiting: Vec<Waiting>,
    /// The state in which the power cut leaves the device's last operation.
    cut: Option<Torn>,
    /// True if the cache answered the last read.
    answered: bool,
}

impl<F: Tearable> WriteCache<F> {
    /// Wraps a medium, without a cache.
    pub fn new(inner: F, seed: u64) -> Self {
        Self {
            inner,
            rng: Rng::with_seed(seed),
            survivors: None,
            operations_max: usize::MAX,
            shorn_writes: false,
            waiting: Vec::new(),
            cut: None,
            answered: false,
        }
    }

    /// Adds a cache before the medium. The cache holds up to `operations_max` programs and erases.
    #[must_use]
    pub fn with_cache(mut self, survivors: Survivors, operations_max: usize) -> Self {
        (self.survivors, self.operations_max) = (Some(survivors), operations_max);
        self
    }

    /// Allows the power cut to tear the last operation that survives: a shorn write. Otherwise each
    /// operation survives as a whole or not at all.
    #[must_use]
    pub fn with_shorn_writes(mut self) -> Self {
        self.shorn_writes = true;
        self
    }

    /// Returns the number of waiting programs and erases.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the medium underneath.
    pub fn inner(&self) -> &F {
        &self.inner
    }

    /// Returns the medium underneath, mutable.
    pub fn inner_mut(&mut self) -> &mut F {
        &mut self.inner
    }

    fn block_of(&self, operation: &Waiting) -> BlockIndex {
        match operation {
            Waiting::Program { page, .. } => page / self.inner.geometry().pages_per_block,
            Waiting::Erase(block) => *block,
        }
    }

    fn wait(&mut self, operation: Waiting) -> Result<(), Failure> {
        self.waiting.push(operation);
        if self.waiting.len() > self.operations_max {
            let oldest = self.waiting.remove(0);
            self.apply(&oldest)?;
        }
        Ok(())
    }

    fn program_waits(page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) -> Waiting {
        Waiting::Program { page, data: data.into(), tag: *tag }
    }

    /// Applies a waiting operation to the medium.
    fn apply(&mut self, operation: &Waiting) -> Result<(), Failure> {
        let outcome = match operation {
            Waiting::Program { page, data, tag } => self.inner.program(*page, data, tag),
            Waiting::Erase(block) => self.inner.erase(*block),
        };
        outcome.map_err(|_| Failure::Device)
    }

    /// Returns the cached content of a page, or `None` if the cache does not contain the page.
    fn look_up(&self, page: PageIndex) -> Option<(&[u8], [u8; TAG_BYTES])> {
        let per_block = self.inner.geometry().pages_per_block;
        self.waiting.iter().rev().find_map(|operation| match operation {
            Waiting::Program { page: programmed, data, tag } => {
                (*programmed == page).then_some((&**data, *tag))
            }
            Waiting::Erase(block) => {
                (*block == page / per_block).then_some((&[][..], [0xFF; TAG_BYTES]))
            }
        })
    }

    /// Answers a read from the cache, if it can.
    fn answer(&mut self, page: PageIndex, data: &mut [u8], tag: &mut [u8; TAG_BYTES]) -> bool {
        let found = self.look_up(page).map(|(cached, cached_tag)| {
            data.fill(0xFF);
            let bytes = cached.len().min(data.len());
            data[..bytes].copy_from_slice(&cached[..bytes]);
            *tag = cached_tag;
        });
        self.answered = found.is_some();
        self.answered
    }

    /// Draws the waiting operations that survive.
    fn draw_survivors(&mut self, waiting: &[Waiting]) -> Vec<bool> {
        let blocks: Vec<_> = waiting.iter().map(|operation| self.block_of(operation)).collect();
        match self.survivors {
            Some(Survivors::InOrder) => {
                let first_lost = self.rng.usize(..=waiting.len());
                (0..waiting.len()).map(|index| index < first_lost).collect()
            }
            Some(Survivors::InOrderOfBlocks) => {
                let mut survive = vec![true; waiting.len()];
                for block in blocks.iter().copied().collect::<std::collections::BTreeSet<_>>() {
                    let of_block: Vec<_> =
                        (0..waiting.len()).filter(|&index| blocks[index] == block).collect();
                    let first_lost = self.rng.usize(..=of_block.len());
                    of_block[first_lost..].iter().for_each(|&index| survive[index] = false);
                }
                survive
            }
            Some(Survivors::Any) => (0..waiting.len()).map(|_| self.rng.bool()).collect(),
            None => Vec::new(),
        }
    }

    /// Applies the survivors to the medium.
    fn lose(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let survive = self.draw_survivors(&waiting);
        let last = survive.iter().rposition(|&survives| survives);
        let cut = self.cut.take().filter(|_| self.shorn_writes);
        for (index, operation) in waiting.iter().enumerate().filter(|(index, _)| survive[*index]) {
            let block = self.block_of(operation);
            let erase = |index: &usize| match waiting[*index] {
                Waiting::Erase(erased) => erased == block,
                _ => false,
            };
            let erased_before = (0..index).rev().find(erase);
            if matches!(operation, Waiting::Program { .. })
                && erased_before.is_some_and(|erase| !survive[erase])
            {
                self.replace(operation);
            } else if let Some(torn) = cut.filter(|_| last == Some(index)) {
                self.apply_torn(operation, torn);
            } else {
                // An operation that fails here is also lost.
                let _ = self.apply(operation);
            }
        }
    }

    fn apply_torn(&mut self, operation: &Waiting, torn: Torn) {
        match operation {
            Waiting::Program { page, data, tag } => self.inner.program_torn(*page, data, tag, torn),
            Waiting::Erase(block) => self.inner.erase_torn(*block, torn),
        }
    }

    /// Programs a page of a block whose erase was lost. The device has put the new content beside
    /// the old content of the other pages. Pages that cannot be read are lost.
    fn replace(&mut self, operation: &Waiting) {
        let Waiting::Program { page: replaced, data: new, tag: new_tag } = operation else {
            return;
        };
        let Geometry { page_bytes, pages_per_block, .. } = self.inner.geometry();
        let block = replaced / pages_per_block;
        let mut pages = Vec::new();
        for page in block * pages_per_block..(block + 1) * pages_per_block {
            let (mut data, mut tag) = (vec![0xFF; page_bytes as usize], [0xFF; TAG_BYTES]);
            if page == *replaced {
                pages.push((page, new.to_vec(), *new_tag));
            } else if self.inner.read(page, &mut data, &mut tag).is_ok()
                && data.iter().chain(&tag).any(|&byte| byte != 0xFF)
            {
                pages.push((page, data, tag));
            }
        }
        let _ = self.inner.erase(block);
        for (page, data, tag) in pages {
            let _ = self.inner.program(page, &data, &tag);
        }
    }
}

impl<F: Tearable> Flash for WriteCache<F> {
    forward!(reads_many is_bad mark_bad);

    /// Returns the geometry. Only whole pages wait in the cache.
    fn geometry(&self) -> Geometry {
        let geometry = self.inner.geometry();
        Geometry { programs_bytes: geometry.programs_bytes && self.survivors.is_none(), ..geometry }
    }

    fn reorders(&self) -> bool {
        self.inner.reorders()
            || self.survivors.is_some_and(|survivors| survivors != Survivors::InOrder)
    }

    fn hides_damage(&self) -> bool {
        self.inner.hides_damage()
    }

    fn timing(&self) -> Timing {
        let timing = self.inner.timing();
        if self.can_copy() {
            timing
        } else {
            Timing { copy_ns: timing.read_ns + timing.program_ns, ..timing }
        }
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        if self.answer(page, data, tag) { Ok(()) } else { self.inner.read(page, data, tag) }
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        if self.answer(page, &mut [], tag) { Ok(()) } else { self.inner.read_tag(page, tag) }
    }

    fn corrected(&mut self) -> Corrected {
        if self.answered { Corrected::default() } else { self.inner.corrected() }
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        match self.survivors {
            Some(_) => self.wait(Self::program_waits(page, data, tag)),
            None => self.inner.program(page, data, tag),
        }
    }

    fn can_copy(&self) -> bool {
        self.survivors.is_none() && self.inner.can_copy()
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        if self.can_copy() { self.inner.program_loaded(page, tag) } else { Err(Failure::Device) }
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.inner.read_bytes(block, offset, data)
    }

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        self.inner.program_bytes(block, offset, data)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        match self.survivors {
            Some(_) => self.wait(Waiting::Erase(block)),
            None => self.inner.erase(block),
        }
    }

    fn sync(&mut self) -> Result<(), Failure> {
        for operation in std::mem::take(&mut self.waiting) {
            self.apply(&operation)?;
        }
        self.inner.sync()
    }
}

/// An interrupted operation is in the cache when power fails, unless the power cut leaves the old
/// content.
impl<F: Tearable> Tearable for WriteCache<F> {
    fn program_torn(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES], torn: Torn) {
        if self.survivors.is_none() {
            return self.inner.program_torn(page, data, tag, torn);
        }
        self.cut = Some(torn);
        if torn != Torn::Old {
            self.waiting.push(Self::program_waits(page, data, tag));
        }
    }

    fn program_loaded_torn(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES], torn: Torn) {
        if self.can_copy() {
            self.inner.program_loaded_torn(page, tag, torn);
        }
    }

    fn program_bytes_torn(&mut self, block: BlockIndex, offset: u32, data: &[u8], torn: Torn) {
        self.inner.program_bytes_torn(block, offset, data, torn);
    }

    fn erase_torn(&mut self, block: BlockIndex, torn: Torn) {
        if self.survivors.is_none() {
            return self.inner.erase_torn(block, torn);
        }
        self.cut = Some(torn);
        if torn != Torn::Old {
            self.waiting.push(Waiting::Erase(block));
        }
    }

    fn power_on(&mut self) {
        self.lose();
        self.inner.power_on();
    }
}

impl<F: Metered> Metered for WriteCache<F> {
    fn counters(&self) -> Counters {
        self.inner.counters()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Nand, NandTiming, PowerCut};
    use std::collections::BTreeSet;

    const TAG: [u8; TAG_BYTES] = [1; TAG_BYTES];

    fn nand() -> Nand {
        let geometry =
            Geometry { page_bytes: 256, pages_per_block: 8, block_count: 4, programs_bytes: false };
        Nand::with_geometry(geometry, NandTiming::ROUND, 1)
    }

    fn cache(survivors: Survivors, seed: u64) -> WriteCache<Nand> {
        WriteCache::new(nand(), seed).with_cache(survivors, 100)
    }

    /// Returns the first byte of a page: 0xFF if the page is erased.
    fn first_byte<F: Flash>(flash: &mut F, page: PageIndex) -> u8 {
        let mut data = [0; 256];
        flash.read(page, &mut data, &mut [0; TAG_BYTES]).unwrap();
        data[0]
    }

    fn fill<F: Flash>(flash: &mut F, block: BlockIndex, byte: u8) {
        (block * 8..block * 8 + 8)
            .for_each(|page| flash.program(page, &[byte; 256], &TAG).unwrap());
    }

    /// Returns the content of two blocks whose new content was not flushed, for many seeds.
    fn left(survivors: Survivors) -> BTreeSet<Vec<u8>> {
        let left_of = |seed| {
            let mut cache = cache(survivors, seed);
            (0..2).for_each(|block| fill(&mut cache, block, 1));
            cache.sync().unwrap();
            for block in 0..2 {
                cache.erase(block).unwrap();
                (block * 8..block * 8 + 3)
                    .for_each(|page| cache.program(page, &[2; 256], &TAG).unwrap());
            }
            cache.power_on();
            [0, 1, 2, 3, 8, 9, 10, 11].map(|page| first_byte(&mut cache, page)).to_vec()
        };
        (0..200).map(left_of).collect()
    }

    #[test]
    fn without_a_cache_everything_is_passed_on() {
        let mut off = WriteCache::new(nand(), 1);
        off.program(0, &[2; 256], &TAG).unwrap();
        off.power_on();
        assert_eq!(
            (first_byte(&mut off, 0), off.can_copy(), off.counters().programs),
            (2, true, 1)
        );
    }

    #[test]
    fn reads_see_what_waits_and_sync_programs_it() {
        let mut cache = cache(Survivors::Any, 1);
        fill(&mut cache, 0, 1);
        cache.sync().unwrap();
        cache.erase(0).unwrap();
        cache.program(2, &[2; 100], &TAG).unwrap();
        let mut tag = [0; TAG_BYTES];
        cache.read_tag(2, &mut tag).unwrap();
        assert_eq!((tag, first_byte(&mut cache, 2), first_byte(&mut cache, 0)), (TAG, 2, 0xFF));
        assert_eq!((cache.waiting(), cache.counters().erases), (2, 0));
        cache.sync().unwrap();
        assert_eq!(
            (cache.waiting(), cache.counters().erases, first_byte(&mut cache, 2)),
            (0, 1, 2)
        );
        cache.power_on();
        assert_eq!(first_byte(&mut cache, 2), 2, "what was flushed survives");
    }

    #[test]
    fn in_order_the_first_survive() {
        let left = left(Survivors::InOrder);
        assert_eq!(left.len(), 9, "{left:?}");
        assert!(
            left.iter().all(|pages| pages[4..] == [1; 4] || pages[..4] == [2, 2, 2, 0xFF]),
            "{left:?}"
        );
    }

    #[test]
    fn in_order_of_blocks_the_first_of_each_block_survive() {
        let left = left(Survivors::InOrderOfBlocks);
        assert_eq!(left.len(), 25, "each of 5 states of either block: {left:?}");
        let in_order = |pages: &[u8]| {
            pages == [1; 4] || pages[..3].is_sorted_by_key(|&byte| byte == 0xFF) && pages[3] == 0xFF
        };
        assert!(
            left.iter().all(|pages| in_order(&pages[..4]) && in_order(&pages[4..])),
            "{left:?}"
        );
    }

    #[test]
    fn any_may_survive_also_a_program_whose_erase_was_lost() {
        let left = left(Survivors::Any);
        assert!(left.len() > 100, "{}", left.len());
        assert!(left.iter().any(|pages| pages[..4] == [1, 2, 1, 1]), "new content beside old");
        assert!(
            left.iter().any(|pages| pages[..4] == [0xFF, 2, 0xFF, 0xFF]),
            "the erase, but not the first program"
        );
    }

    #[test]
    fn a_full_cache_makes_room_by_programming_the_oldest() {
        let mut cache = WriteCache::new(nand(), 1).with_cache(Survivors::InOrder, 3);
        fill(&mut cache, 0, 2);
        assert_eq!((cache.waiting(), cache.counters().programs), (3, 5));
        cache.power_on();
        assert!((0..5).all(|page| first_byte(&mut cache, page) == 2));
    }

    #[test]
    fn a_power_cut_loses_what_was_not_flushed() {
        let mut lost = [0; 2];
        for seed in 0..32 {
            let mut cut = PowerCut::new(cache(Survivors::InOrder, seed), seed);
            cut.program(0, &[2; 256], &TAG).unwrap();
            cut.sync().unwrap();
            cut.program(1, &[2; 256], &TAG).unwrap();
            cut.cut_at(1);
            cut.program(2, &[2; 256], &TAG).unwrap_err();
            cut.power_on();
            assert_eq!(first_byte(&mut cut, 0), 2);
            lost[usize::from(first_byte(&mut cut, 1) == 2)] += 1;
        }
        assert!(lost[0] > 4 && lost[1] > 4, "{lost:?}");
    }

    #[test]
    fn shorn_writes_tear_the_last_survivor() {
        let shorn_of = |seed| {
            let mut cut = PowerCut::new(cache(Survivors::InOrder, seed).with_shorn_writes(), seed);
            cut.program(0, &[2; 256], &TAG).unwrap();
            cut.cut_at_leaving(1, Torn::Garbled);
            cut.program(1, &[2; 256], &TAG).unwrap_err();
            cut.power_on();
            let mut data = [0; 256];
            (0..2).any(|page| {
                cut.read(page, &mut data, &mut [0; TAG_BYTES]).is_err()
                    || data != [2; 256] && data != [0xFF; 256]
            })
        };
        let shorn = (0..64).filter(|&seed| shorn_of(seed)).count();
        assert!((20..60).contains(&shorn), "{shorn} of 64");
    }
}
