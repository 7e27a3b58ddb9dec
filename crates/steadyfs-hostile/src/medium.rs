//! A medium in RAM that accepts any content, and a guard around any medium.
//!
//! Neither enforces the rules of a chip. Pages are programmed in any order and without an erase,
//! because a volume that was made to do harm requires that. The guard refuses:
//!
//! - an access beyond the medium,
//! - a buffer of another size than the size of a page,
//! - a call that does not end,
//! - a change by a reader.

use crate::checksum::crc_with;
use steadyfs::media::{
    BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};

/// The fault that a read of a page meets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// No fault.
    #[default]
    None,
    /// The ECC must correct nearly all that it can.
    Weak,
    /// More bits are wrong than the ECC corrects.
    Unreadable,
}

/// A medium in RAM.
#[derive(Clone, Debug)]
pub struct Ram {
    geometry: Geometry,
    /// True if the medium copies pages by itself.
    pub can_copy: bool,
    /// Every `fails_every`-th program fails; 0 for no failure.
    pub fails_every: u32,
    /// True if its cache may lose any data that was not flushed.
    pub reorders: bool,
    /// True if a damaged page may read as erased.
    pub hides_damage: bool,
    /// Data and tags of all pages, one after the other.
    bytes: Vec<u8>,
    faults: Vec<Fault>,
    loaded: PageIndex,
    corrected: Corrected,
    programs: u32,
}

impl Ram {
    /// Makes an erased medium.
    pub fn new(geometry: Geometry) -> Self {
        let count = (geometry.block_count * geometry.pages_per_block) as usize;
        Self {
            geometry,
            can_copy: false,
            fails_every: 0,
            reorders: false,
            hides_damage: false,
            bytes: vec![0xFF; count * (geometry.page_bytes as usize + TAG_BYTES)],
            faults: vec![Fault::None; count],
            loaded: 0,
            corrected: Corrected::default(),
            programs: 0,
        }
    }

    /// Returns the number of program pages.
    pub fn page_count(&self) -> usize {
        self.faults.len()
    }

    fn stride(&self) -> usize {
        self.geometry.page_bytes as usize + TAG_BYTES
    }

    /// Returns data and tag of a page, one after the other.
    pub fn page(&self, page: usize) -> &[u8] {
        &self.bytes[page * self.stride()..][..self.stride()]
    }

    /// Returns data and tag of a page, to be changed.
    pub fn page_mut(&mut self, page: usize) -> &mut [u8] {
        let stride = self.stride();
        &mut self.bytes[page * stride..][..stride]
    }

    /// Returns the data of a page, and its tag.
    pub fn parts(&self, page: usize) -> (&[u8], &[u8]) {
        self.page(page).split_at(self.geometry.page_bytes as usize)
    }

    /// Returns the data of a page and its tag, to be changed.
    pub fn parts_mut(&mut self, page: usize) -> (&mut [u8], &mut [u8]) {
        let page_bytes = self.geometry.page_bytes as usize;
        self.page_mut(page).split_at_mut(page_bytes)
    }

    /// Returns true if pages can be programmed byte by byte.
    pub fn programs_bytes(&self) -> bool {
        self.geometry.programs_bytes
    }

    /// Returns the pages of a run of bytes of a block. For each page, it also returns the place
    /// of the run in its data, and the length of the run there.
    fn run(
        &self,
        block: BlockIndex,
        offset: u32,
        bytes: usize,
    ) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let Geometry { page_bytes, pages_per_block, .. } = self.geometry;
        let (mut offset, mut left) = (offset, bytes);
        std::iter::from_fn(move || {
            let at = (offset % page_bytes) as usize;
            let part = left.min(page_bytes as usize - at);
            let page = (block * pages_per_block + offset / page_bytes) as usize;
            (offset, left) = (offset + part as u32, left - part);
            (part > 0).then_some((page, at, part))
        })
    }

    /// Returns a run of data bytes of a block.
    pub fn bytes(&self, block: BlockIndex, offset: u32, bytes: usize) -> Vec<u8> {
        self.run(block, offset, bytes)
            .flat_map(|(page, at, part)| self.parts(page).0[at..at + part].iter().copied())
            .collect()
    }

    /// Puts a run of data bytes into a block.
    pub fn set_bytes(&mut self, block: BlockIndex, offset: u32, bytes: &[u8]) {
        let mut rest = bytes;
        for (page, at, part) in self.run(block, offset, bytes.len()) {
            let (here, behind) = rest.split_at(part);
            self.parts_mut(page).0[at..at + part].copy_from_slice(here);
            rest = behind;
        }
    }

    /// Makes reads of a page meet a fault until its block is erased.
    pub fn set_fault(&mut self, page: usize, fault: Fault) {
        self.faults[page] = fault;
    }

    fn look(&mut self, page: PageIndex) -> Result<(), Failure> {
        self.loaded = page;
        self.corrected = Corrected::default();
        match self.faults[page as usize] {
            Fault::None => Ok(()),
            Fault::Weak => {
                self.corrected = Corrected { bits: 8, strength: 8 };
                Ok(())
            }
            Fault::Unreadable => Err(Failure::Uncorrectable),
        }
    }

    fn count_program(&mut self) -> Result<(), Failure> {
        self.programs += 1;
        if self.fails_every > 0 && self.programs.is_multiple_of(self.fails_every) {
            Err(Failure::BadBlock)
        } else {
            Ok(())
        }
    }
}

impl Flash for Ram {
    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn timing(&self) -> Timing {
        Timing {
            read_ns: 1,
            read_tag_ns: 1,
            program_ns: 4,
            copy_ns: 5,
            erase_ns: 40,
            instruction_ps: 0,
        }
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.look(page)?;
        let (from, from_tag) = self.parts(page as usize);
        data.copy_from_slice(from);
        tag.copy_from_slice(from_tag);
        Ok(())
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.look(page)?;
        tag.copy_from_slice(self.parts(page as usize).1);
        Ok(())
    }

    fn corrected(&mut self) -> Corrected {
        self.corrected
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.count_program()?;
        let (to, to_tag) = self.parts_mut(page as usize);
        to.fill(0xFF);
        to[..data.len()].copy_from_slice(data);
        to_tag.copy_from_slice(tag);
        Ok(())
    }

    fn can_copy(&self) -> bool {
        self.can_copy
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        let data = self.parts(self.loaded as usize).0.to_vec();
        self.program(page, &data, tag)
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        for (page, ..) in self.run(block, offset, data.len()) {
            self.look(page as PageIndex)?;
        }
        data.copy_from_slice(&self.bytes(block, offset, data.len()));
        Ok(())
    }

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        self.count_program()?;
        self.set_bytes(block, offset, data);
        Ok(())
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        let pages = self.geometry.pages_per_block as usize;
        let (first, stride) = (block as usize * pages, self.stride());
        self.bytes[first * stride..(first + pages) * stride].fill(0xFF);
        self.faults[first..first + pages].fill(Fault::None);
        Ok(())
    }

    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        crc_with(data, missing)
    }

    fn reorders(&self) -> bool {
        self.reorders
    }

    fn hides_damage(&self) -> bool {
        self.hides_damage
    }

    fn is_bad(&mut self, _block: BlockIndex) -> Result<bool, Failure> {
        Ok(false)
    }

    fn mark_bad(&mut self, _block: BlockIndex) -> Result<(), Failure> {
        Ok(())
    }
}

/// A guard around a medium.
#[derive(Debug)]
pub struct Guarded<F> {
    inner: F,
    geometry: Geometry,
    /// Operations until the guard takes the present call to be endless.
    left: u64,
    /// Most operations of a call.
    budget: u64,
    is_read_only: bool,
}

impl<F: Flash> Guarded<F> {
    /// Guards a medium. Calls may make any number of operations until [`grant`](Self::grant) sets
    /// a budget.
    pub fn new(inner: F) -> Self {
        Self { geometry: inner.geometry(), inner, left: u64::MAX, budget: 0, is_read_only: false }
    }

    /// Returns the medium behind the guard.
    pub fn inner_mut(&mut self) -> &mut F {
        &mut self.inner
    }

    /// Makes the guard panic if a page is programmed or a block is erased.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { is_read_only: true, ..self }
    }

    /// Allows the next call `per_page` operations for each page of the medium.
    pub fn grant(&mut self, per_page: u64) {
        self.budget = per_page * u64::from(self.page_count());
        self.left = self.budget;
    }

    fn page_count(&self) -> u32 {
        self.geometry.pages_per_block * self.geometry.block_count
    }

    fn count(&mut self) {
        self.left = self
            .left
            .checked_sub(1)
            .unwrap_or_else(|| panic!("no end after {} operations", self.budget));
    }

    fn look(&mut self, page: PageIndex) {
        self.count();
        assert!(page < self.page_count(), "page {page} is read, of {}", self.page_count());
    }

    /// Returns the first and the last page of a run of bytes in a block.
    fn ends(&self, block: BlockIndex, offset: u32, bytes: usize) -> [PageIndex; 2] {
        let Geometry { page_bytes, pages_per_block, block_count, programs_bytes } = self.geometry;
        assert!(programs_bytes, "bytes of block {block} on a medium of pages");
        let end = offset + bytes as u32;
        assert!(block < block_count, "bytes of block {block}, of {block_count}");
        assert!(
            bytes > 0 && end <= pages_per_block * page_bytes,
            "bytes {offset} to {end} of a block"
        );
        [offset, end - 1].map(|at| block * pages_per_block + at / page_bytes)
    }

    fn change(&mut self, page: PageIndex) {
        self.count();
        assert!(!self.is_read_only, "page {page} is changed by what only reads");
        assert!(page < self.page_count(), "page {page} is changed, of {}", self.page_count());
    }
}

impl<F: Flash> Flash for Guarded<F> {
    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn timing(&self) -> Timing {
        self.inner.timing()
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.look(page);
        assert_eq!(
            data.len(),
            self.geometry.page_bytes as usize,
            "bytes of the buffer for page {page}"
        );
        self.inner.read(page, data, tag)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.look(page);
        self.inner.read_tag(page, tag)
    }

    fn corrected(&mut self) -> Corrected {
        self.inner.corrected()
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.change(page);
        assert!(
            data.len() <= self.geometry.page_bytes as usize,
            "{} bytes for page {page}",
            data.len()
        );
        self.inner.program(page, data, tag)
    }

    fn can_copy(&self) -> bool {
        self.inner.can_copy()
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        self.change(page);
        self.inner.program_loaded(page, tag)
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.ends(block, offset, data.len()).into_iter().for_each(|page| self.look(page));
        self.inner.read_bytes(block, offset, data)
    }

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        self.ends(block, offset, data.len()).into_iter().for_each(|page| self.change(page));
        self.inner.program_bytes(block, offset, data)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        assert!(
            block < self.geometry.block_count,
            "block {block} is erased, of {}",
            self.geometry.block_count
        );
        self.change(block * self.geometry.pages_per_block);
        self.inner.erase(block)
    }

    fn sync(&mut self) -> Result<(), Failure> {
        self.inner.sync()
    }

    fn checksum(&mut self, data: &[u8], missing: usize) -> u32 {
        self.inner.checksum(data, missing)
    }

    fn reorders(&self) -> bool {
        self.inner.reorders()
    }

    fn hides_damage(&self) -> bool {
        self.inner.hides_damage()
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.inner.is_bad(block)
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.inner.mark_bad(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEOMETRY: Geometry =
        Geometry { page_bytes: 256, pages_per_block: 4, block_count: 2, programs_bytes: false };

    #[test]
    #[should_panic(expected = "page 8 is read, of 8")]
    fn an_access_beyond_the_end_panics() {
        let _ = Guarded::new(Ram::new(GEOMETRY)).read_tag(8, &mut [0; TAG_BYTES]);
    }

    #[test]
    #[should_panic(expected = "no end after 16 operations")]
    fn a_call_without_end_panics() {
        let mut medium = Guarded::new(Ram::new(GEOMETRY));
        medium.grant(2);
        (0..17).for_each(|_| medium.read_tag(0, &mut [0; TAG_BYTES]).unwrap());
    }

    #[test]
    #[should_panic(expected = "page 4 is changed by what only reads")]
    fn a_reader_that_erases_panics() {
        let _ = Guarded::new(Ram::new(GEOMETRY)).read_only().erase(1);
    }
}
