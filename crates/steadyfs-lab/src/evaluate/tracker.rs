//! Tracks the block of each logical page by the tags of programmed pages.
//!
//! The adversary needs the fullest block, and the file system has no hooks that report it. The
//! format shows it: bytes 5 to 7 of a tag are the logical page, and byte 8 is the kind of page
//! (`docs/format.md`). The data itself shows which page of the file a logical page holds:
//! [`PageMark`].

use steadyfs::media::{
    BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};
use steadyfs_sim::{Counters, Metered, Trace};

/// Kinds of pages that reclamation moved: committed and pending logical pages, and leaves of the
/// map.
const KINDS_MOVED: [u8; 3] = [7, 8, 10];
/// No block, or no page of the file.
const NONE: u32 = u32::MAX;
/// Kinds of pages that hold a logical page: written, written alone, moved, and moved before its
/// commit.
const KINDS_WITH_LOGICAL: [u8; 4] = [3, 4, 7, 8];

/// The first bytes of each page of the file: the number of the page, and the write that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageMark {
    /// Index of the page in the file, in logical pages.
    pub page: u32,
    /// Number of the write.
    pub stamp: u64,
}

impl PageMark {
    /// Bytes of a mark.
    pub const BYTES: usize = 16;
    const MAGIC: [u8; 4] = *b"mark";

    /// Parses a mark. Returns `None` if there is no mark.
    pub fn parse(bytes: &[u8]) -> Option<PageMark> {
        let bytes = bytes.get(..PageMark::BYTES)?;
        let page = u32::from_le_bytes(bytes[4..8].try_into().ok()?);
        let stamp = u64::from_le_bytes(bytes[8..].try_into().ok()?);
        (bytes[..4] == PageMark::MAGIC).then_some(PageMark { page, stamp })
    }

    /// Returns the bytes of the mark.
    pub fn emit(&self) -> [u8; PageMark::BYTES] {
        let mut bytes = [0; PageMark::BYTES];
        bytes[..4].copy_from_slice(&PageMark::MAGIC);
        bytes[4..8].copy_from_slice(&self.page.to_le_bytes());
        bytes[8..].copy_from_slice(&self.stamp.to_le_bytes());
        bytes
    }
}

/// A chip that counts its operations and tracks its logical pages.
#[derive(Clone)]
pub struct TagTracker<C> {
    chip: Trace<C>,
    pages_per_block: u32,
    /// Block of the newest program of each logical page.
    block_of: Vec<u32>,
    /// Page of the file that each logical page holds.
    file_page_of: Vec<u32>,
    /// Number of logical pages whose newest program lies in each block.
    live: Vec<u32>,
    /// Logical pages programmed in each block since its erase.
    contents: Vec<Vec<u32>>,
    erase_counts: Vec<u32>,
    /// Number of programs of each kind of page.
    kinds: [u64; 16],
}

/// Numbers of page programs by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds {
    /// Caller data, and the file system's own logical pages.
    pub data: u64,
    /// Journal pages, one for each commit that is not a lone page.
    pub journal: u64,
    /// Leaves of the map.
    pub leaves: u64,
    /// Roots and their copies.
    pub roots: u64,
    /// Pages that reclamation moved.
    pub moves: u64,
}

impl<C: Flash + Metered> TagTracker<C> {
    /// Wraps an erased chip.
    pub fn new(chip: C) -> TagTracker<C> {
        let Geometry { pages_per_block, block_count, .. } = chip.geometry();
        TagTracker {
            chip: Trace::with_cap(chip, 0),
            pages_per_block,
            block_of: Vec::new(),
            file_page_of: Vec::new(),
            live: vec![0; block_count as usize],
            contents: vec![Vec::new(); block_count as usize],
            erase_counts: vec![0; block_count as usize],
            kinds: [0; 16],
        }
    }

    /// Returns the chip.
    pub fn chip(&self) -> &C {
        self.chip.inner()
    }

    /// Returns the chip, mutable.
    pub fn chip_mut(&mut self) -> &mut C {
        self.chip.inner_mut()
    }

    /// Returns the operations of the [`Flash`] interface so far, and their time.
    pub fn counts(&self) -> Counters {
        self.chip.counts()
    }

    /// Returns the number of pages that reclamation has moved.
    pub fn moves(&self) -> u64 {
        KINDS_MOVED.iter().map(|&kind| self.kinds[usize::from(kind)]).sum()
    }

    /// Returns the page programs so far, by purpose.
    pub fn kinds(&self) -> Kinds {
        let sum = |kinds: &[usize]| kinds.iter().map(|&kind| self.kinds[kind]).sum();
        Kinds {
            data: sum(&[3, 4]),
            journal: sum(&[5, 6]),
            leaves: sum(&[9]),
            roots: sum(&[2]),
            moves: self.moves(),
        }
    }

    /// Returns the erase count of each block, without bad blocks.
    pub fn good_erase_counts(&mut self) -> Vec<u32> {
        let blocks = 0..self.erase_counts.len();
        blocks
            .filter(|&block| self.chip.is_bad(block as u32) != Ok(true))
            .map(|block| self.erase_counts[block])
            .collect()
    }

    /// Returns the pages of the file in the block with the most live logical pages; empty if no
    /// block holds a page of the file.
    pub fn fullest(&self) -> Vec<u32> {
        let (mut fullest, mut most) = (0, 0);
        for (block, &live) in self.live.iter().enumerate() {
            if live > most && self.file_pages(block).next().is_some() {
                (fullest, most) = (block, live);
            }
        }
        self.file_pages(fullest).collect()
    }

    /// Returns the pages of the file that lie in a block.
    fn file_pages(&self, block: usize) -> impl Iterator<Item = u32> {
        let here = move |logical: &&u32| self.block_of[**logical as usize] == block as u32;
        let live = self.contents[block].iter().filter(here);
        live.map(|&logical| self.file_page_of[logical as usize]).filter(|&page| page != NONE)
    }

    /// Returns the number of blocks of the chip.
    pub fn block_count(&self) -> usize {
        self.contents.len()
    }

    /// Returns the logical pages that were programmed in a block since its erase, in order. The
    /// second value is true if it is the newest copy.
    pub fn logical_pages(&self, block: usize) -> impl Iterator<Item = (u32, bool)> {
        let contents = &self.contents[block];
        contents.iter().enumerate().map(move |(at, &logical)| {
            let is_here = self.block_of[logical as usize] == block as u32;
            (logical, is_here && !contents[at + 1..].contains(&logical))
        })
    }

    /// Records a program.
    fn follow(&mut self, page: PageIndex, data: &[u8], tag: &[u8; TAG_BYTES]) {
        self.kinds[usize::from(tag[8] & 15)] += 1;
        if !KINDS_WITH_LOGICAL.contains(&(tag[8] & 15)) {
            return;
        }
        let logical = u32::from_le_bytes([tag[5], tag[6], tag[7], 0]);
        let (index, block) = (logical as usize, page / self.pages_per_block);
        if index >= self.block_of.len() {
            self.block_of.resize(index + 1, NONE);
            self.file_page_of.resize(index + 1, NONE);
        }
        let old = std::mem::replace(&mut self.block_of[index], block);
        if let Some(live) = self.live.get_mut(old as usize) {
            *live -= 1;
        }
        self.live[block as usize] += 1;
        let contents = &mut self.contents[block as usize];
        if contents.last() != Some(&logical) {
            contents.push(logical);
        }
        if let Some(mark) = PageMark::parse(data) {
            self.file_page_of[index] = mark.page;
        }
    }
}

impl<C: Flash + Metered> Flash for TagTracker<C> {
    fn geometry(&self) -> Geometry {
        self.chip.geometry()
    }

    fn timing(&self) -> Timing {
        self.chip.timing()
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.chip.read(page, data, tag)
    }

    fn reads_many(&self) -> bool {
        self.chip.reads_many()
    }

    fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        self.chip.read_many(first, data, tags)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.chip.read_tag(page, tag)
    }

    fn corrected(&mut self) -> Corrected {
        self.chip.corrected()
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.chip.program(page, data, tag)?;
        self.follow(page, data, tag);
        Ok(())
    }

    fn can_copy(&self) -> bool {
        self.chip.can_copy()
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        self.chip.program_loaded(page, tag)?;
        self.follow(page, &[], tag);
        Ok(())
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.chip.read_bytes(block, offset, data)
    }

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        self.chip.program_bytes(block, offset, data)
    }

    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        self.chip.checksum(data, missing)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.contents[block as usize].clear();
        self.erase_counts[block as usize] += 1;
        self.chip.erase(block)
    }

    fn sync(&mut self) -> Result<(), Failure> {
        self.chip.sync()
    }

    fn reorders(&self) -> bool {
        self.chip.reorders()
    }

    fn hides_damage(&self) -> bool {
        self.chip.hides_damage()
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.chip.is_bad(block)
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.mark_bad(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadyfs_sim::{Nand, NandTiming};

    fn tag(logical: u32, kind: u8) -> [u8; TAG_BYTES] {
        let mut tag = [0; TAG_BYTES];
        tag[5..8].copy_from_slice(&logical.to_le_bytes()[..3]);
        tag[8] = kind;
        tag
    }

    fn program(tracker: &mut TagTracker<Nand>, at: PageIndex, logical: u32, page: u32) {
        tracker.program(at, &PageMark { page, stamp: 0 }.emit(), &tag(logical, 4)).unwrap();
    }

    #[test]
    fn fullest_block_follows_programs_and_copies() {
        let geometry =
            Geometry { page_bytes: 256, pages_per_block: 8, block_count: 4, programs_bytes: false };
        let mut tracker = TagTracker::new(Nand::with_geometry(geometry, NandTiming::ROUND, 1));
        assert!(tracker.fullest().is_empty());
        program(&mut tracker, 0, 70, 0);
        program(&mut tracker, 1, 71, 1);
        program(&mut tracker, 8, 72, 2);
        assert_eq!(tracker.fullest(), [0, 1]);
        tracker.read_tag(0, &mut [0; TAG_BYTES]).unwrap();
        tracker.program_loaded(9, &tag(70, 7)).unwrap();
        assert_eq!((tracker.fullest(), tracker.moves()), (vec![2, 0], 1));
        // A journal page holds no logical page.
        tracker.program(10, &[], &tag(72, 5)).unwrap();
        assert_eq!(tracker.kinds(), Kinds { data: 3, journal: 1, moves: 1, ..Kinds::default() });
        assert_eq!(tracker.fullest(), [2, 0]);
        program(&mut tracker, 16, 72, 2);
        assert_eq!(tracker.fullest(), [1], "one each: the first block");
        tracker.erase(0).unwrap();
        assert_eq!((tracker.counts().erases, tracker.good_erase_counts()), (1, vec![1, 0, 0, 0]));
    }

    #[test]
    fn mark_is_read_back_and_other_bytes_are_none() {
        let mark = PageMark { page: 7, stamp: 1 << 40 };
        assert_eq!(PageMark::parse(&mark.emit()), Some(mark));
        assert_eq!((PageMark::parse(&[0; 64]), PageMark::parse(&[])), (None, None));
    }
}
