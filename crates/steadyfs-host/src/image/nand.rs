//! NAND in a file. Each page is stored as its data, followed by its spare area.

use super::content::Content;
use super::error::Refusal;
use super::shape::TAG_OFFSET;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs_sim::{Counters, Metered, NandTiming};

/// Value of a spare byte without a mark.
const UNMARKED: u8 = 0xFF;
/// Bytes that `mark_bad` writes over the two bytes of the mark.
const BAD: [u8; TAG_OFFSET as usize] = [0; TAG_OFFSET as usize];

/// State of a block in the file. It is read when the block is first programmed or erased.
#[derive(Clone, Copy, Debug)]
struct Block {
    bad: bool,
    /// Number of pages up to the highest programmed page. The next program must be at or above this
    /// index.
    used: u32,
}

/// A NAND chip whose content is a file.
#[derive(Debug)]
pub(super) struct NandImage {
    content: Content,
    geometry: Geometry,
    spare_bytes: u32,
    timing: NandTiming,
    on_chip_copy: bool,
    blocks: Vec<Option<Block>>,
    /// The page in the page register, if the previous operation was a `read_tag`.
    loaded: Option<PageIndex>,
    counters: Counters,
    refusal: Option<Refusal>,
}

impl NandImage {
    pub fn new(content: Content, geometry: Geometry, spare_bytes: u32, timing: NandTiming) -> Self {
        Self {
            content,
            geometry,
            spare_bytes,
            timing,
            on_chip_copy: true,
            blocks: vec![None; geometry.block_count as usize],
            loaded: None,
            counters: Counters::default(),
            refusal: None,
        }
    }

    pub fn set_timing(&mut self, timing: NandTiming, on_chip_copy: bool) {
        self.timing = timing;
        self.on_chip_copy = on_chip_copy;
    }

    pub fn content(&self) -> &Content {
        &self.content
    }

    pub fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_ref()
    }

    /// Returns the number of data and spare bytes of a page.
    fn stride(&self) -> usize {
        (self.geometry.page_bytes + self.spare_bytes) as usize
    }

    /// Returns the offset of a page in the file.
    fn offset(&self, page: PageIndex) -> u64 {
        u64::from(page) * self.stride() as u64
    }

    /// Returns the offset of a page's spare area in the file.
    fn spare_offset(&self, page: PageIndex) -> u64 {
        self.offset(page) + u64::from(self.geometry.page_bytes)
    }

    fn first_page(&self, block: BlockIndex) -> PageIndex {
        block * self.geometry.pages_per_block
    }

    fn demand_page(&self, page: PageIndex) -> Result<(), Refusal> {
        demand_index("page", page, self.geometry.pages_per_block * self.geometry.block_count)
    }

    fn demand_block(&self, block: BlockIndex) -> Result<(), Refusal> {
        demand_index("block", block, self.geometry.block_count)
    }

    fn demand_bytes(&self, page: PageIndex, given: usize, fits: bool) -> Result<(), Refusal> {
        let expected = self.geometry.page_bytes;
        if fits { Ok(()) } else { Err(Refusal::BufferSize { page, given, expected }) }
    }

    /// Returns the state of a block in the file.
    fn block(&mut self, block: BlockIndex) -> Result<Block, Refusal> {
        if let Some(known) = self.blocks[block as usize] {
            return Ok(known);
        }
        let found = Block { bad: self.is_marked(block)?, used: self.used_pages(block)? };
        self.blocks[block as usize] = Some(found);
        Ok(found)
    }

    fn is_marked(&mut self, block: BlockIndex) -> Result<bool, Refusal> {
        let mut mark = [0];
        self.content.read(self.spare_offset(self.first_page(block)), &mut mark)?;
        Ok(mark[0] != UNMARKED)
    }

    /// Searches from the end of a block for a page that is not erased. Returns the number of pages
    /// up to this page.
    fn used_pages(&mut self, block: BlockIndex) -> Result<u32, Refusal> {
        let mut bytes = vec![0; self.stride()];
        for index in (0..self.geometry.pages_per_block).rev() {
            self.content.read(self.offset(self.first_page(block) + index), &mut bytes)?;
            if bytes.iter().any(|&byte| byte != 0xFF) {
                return Ok(index + 1);
            }
        }
        Ok(0)
    }

    /// Refuses a program that the rules of NAND forbid.
    fn demand_programmable(&mut self, page: PageIndex) -> Result<(), Refusal> {
        self.content.demand_writable()?;
        self.demand_page(page)?;
        let (block, index) =
            (page / self.geometry.pages_per_block, page % self.geometry.pages_per_block);
        let Block { bad, used } = self.block(block)?;
        let highest = self.first_page(block) + used.saturating_sub(1);
        match () {
            () if bad => Err(Refusal::BadBlock { block }),
            () if index >= used => Ok(()),
            () if page == highest => Err(Refusal::ProgrammedTwice { page, block }),
            () => Err(Refusal::OutOfOrder { page, highest, block }),
        }
    }

    /// Writes data and spare area of a programmable page at once.
    fn store(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Refusal> {
        let mut bytes = vec![0xFF; self.stride()];
        bytes[..data.len()].copy_from_slice(data);
        bytes[(self.geometry.page_bytes + TAG_OFFSET) as usize..][..TAG_BYTES].copy_from_slice(tag);
        let per_block = self.geometry.pages_per_block;
        self.change((page / per_block) as usize, self.offset(page), &bytes, page % per_block + 1)
    }

    /// Writes into a good block, which has `used` pages afterwards. If the write fails, the state
    /// of the block is read again later.
    fn change(
        &mut self,
        block: usize,
        offset: u64,
        bytes: &[u8],
        used: u32,
    ) -> Result<(), Refusal> {
        self.blocks[block] = None;
        self.content.write(offset, bytes)?;
        self.blocks[block] = Some(Block { bad: false, used });
        Ok(())
    }

    fn read_page(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Refusal> {
        self.demand_page(page)?;
        self.demand_bytes(page, data.len(), data.len() == self.geometry.page_bytes as usize)?;
        self.count_read(data.len() + TAG_BYTES);
        self.counters.reads += 1;
        self.content.read(self.offset(page), data)?;
        self.content.read(self.spare_offset(page) + u64::from(TAG_OFFSET), tag)
    }

    fn read_tag_of(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Refusal> {
        self.demand_page(page)?;
        self.count_read(TAG_BYTES);
        self.counters.tag_reads += 1;
        self.content.read(self.spare_offset(page) + u64::from(TAG_OFFSET), tag)?;
        self.loaded = Some(page);
        Ok(())
    }

    fn program_page(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Refusal> {
        self.demand_programmable(page)?;
        self.demand_bytes(page, data.len(), data.len() <= self.geometry.page_bytes as usize)?;
        self.count_program(data.len() + TAG_BYTES);
        self.counters.programs += 1;
        self.store(page, data, tag)
    }

    fn copy_page(
        &mut self,
        source: Option<PageIndex>,
        page: PageIndex,
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Refusal> {
        if !self.on_chip_copy {
            return Err(Refusal::NoCopy { page });
        }
        let source = source.ok_or(Refusal::NothingLoaded { page })?;
        self.demand_programmable(page)?;
        let mut data = vec![0; self.geometry.page_bytes as usize];
        self.content.read(self.offset(source), &mut data)?;
        self.count_program(TAG_BYTES);
        self.counters.copies += 1;
        self.store(page, &data, tag)
    }

    fn erase_block(&mut self, block: BlockIndex) -> Result<(), Refusal> {
        self.content.demand_writable()?;
        self.demand_block(block)?;
        let Block { bad, used } = self.block(block)?;
        if bad {
            return Err(Refusal::BadBlock { block });
        }
        self.counters.erases += 1;
        self.counters.time_ns += self.timing.erase_ns();
        // Pages above the highest programmed one are erased already.
        let erased = vec![0xFF; used as usize * self.stride()];
        self.change(block as usize, self.offset(self.first_page(block)), &erased, 0)
    }

    fn look_at_mark(&mut self, block: BlockIndex) -> Result<bool, Refusal> {
        self.demand_block(block)?;
        self.count_read(TAG_BYTES);
        self.counters.tag_reads += 1;
        self.is_marked(block)
    }

    fn mark_block(&mut self, block: BlockIndex) -> Result<(), Refusal> {
        self.content.demand_writable()?;
        self.demand_block(block)?;
        self.count_program(TAG_BYTES);
        self.counters.programs += 1;
        self.content.write(self.spare_offset(self.first_page(block)), &BAD)?;
        self.blocks[block as usize] = None;
        Ok(())
    }

    fn count_read(&mut self, bytes: usize) {
        self.counters.bytes_read += bytes as u64;
        self.counters.time_ns += self.timing.read_ns(bytes);
    }

    fn count_program(&mut self, bytes: usize) {
        self.counters.bytes_programmed += bytes as u64;
        self.counters.time_ns += self.timing.program_ns(bytes);
    }

    /// Does one operation, which empties the page register. If the operation is refused, stores the
    /// reason.
    fn act<T>(
        &mut self,
        operation: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Failure> {
        self.loaded = None;
        operation(self).map_err(|refusal| {
            let failure = refusal.failure();
            self.refusal = Some(refusal);
            failure
        })
    }
}

impl Flash for NandImage {
    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn timing(&self) -> Timing {
        self.timing.summary(&self.geometry, self.on_chip_copy)
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.act(|chip| chip.read_page(page, data, tag))
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.act(|chip| chip.read_tag_of(page, tag))
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.act(|chip| chip.program_page(page, data, tag))
    }

    fn can_copy(&self) -> bool {
        self.on_chip_copy
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        let source = self.loaded;
        self.act(|chip| chip.copy_page(source, page, tag))
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.act(|chip| chip.erase_block(block))
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.act(|chip| chip.look_at_mark(block))
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.act(|chip| chip.mark_block(block))
    }
}

impl Metered for NandImage {
    fn counters(&self) -> Counters {
        self.counters
    }
}

fn demand_index(what: &'static str, index: u32, count: u32) -> Result<(), Refusal> {
    if index < count {
        Ok(())
    } else {
        Err(Refusal::OutOfRange { what, index: index.into(), count: count.into() })
    }
}
