//! A chip as pages with tags.

use super::families::{NandInfo, SPAN_MAX};
use super::link::{ERASE_FAILED, Link, PROGRAM_FAILED, command};
use super::{NandError, Settings};
use crate::bus::pause_us;
use embedded_hal::delay::DelayNs;
use embedded_hal::spi::SpiDevice;
use steadyfs::media::{
    BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};

/// Bytes of the table of replaced blocks: twenty entries.
const LINK_BYTES: usize = 80;

/// An SPI NAND chip. See the [module](super).
#[derive(Debug)]
pub struct NandChip<S, D> {
    link: Link<S, D>,
    info: NandInfo,
    settings: Settings,
    block_count: u32,
    corrected: u8,
    /// The page in the chip's page buffer, if the last call read the tag of this page. Otherwise
    /// `None`.
    loaded: Option<PageIndex>,
    last_error: Option<NandError>,
}

impl<S: SpiDevice, D: DelayNs> NandChip<S, D> {
    /// Resets a chip, identifies it, and unlocks it.
    ///
    /// # Errors
    /// [`NandError`].
    pub fn start(spi: S, delay: D, settings: Settings) -> Result<Self, NandError> {
        let mut link = Link::new(spi, delay);
        let info = link.start(&settings)?;
        let block_count =
            settings.blocks.unwrap_or(info.block_count.saturating_sub(settings.first_block));
        let end = settings.first_block.checked_add(block_count).ok_or(NandError::Range)?;
        if block_count == 0 || end > info.block_count {
            return Err(NandError::Range);
        }
        Ok(Self { link, info, settings, block_count, corrected: 0, loaded: None, last_error: None })
    }

    /// Returns the description of the chip.
    pub fn info(&self) -> &NandInfo {
        &self.info
    }

    /// Returns the last error. A call that succeeds does not clear this error.
    pub fn last_error(&self) -> Option<NandError> {
        self.last_error
    }

    /// Returns the bus and the delay.
    pub fn into_parts(self) -> (S, D) {
        self.link.into_parts()
    }

    fn keep<T>(&mut self, result: Result<T, NandError>) -> Result<T, Failure> {
        result.map_err(|error| {
            self.last_error = Some(error);
            error.failure()
        })
    }

    /// Returns the row address of a page: its number in the chip.
    fn row(&self, page: PageIndex) -> Result<PageIndex, NandError> {
        let pages = self.info.pages_per_block;
        if page >= self.block_count * pages {
            Err(NandError::Range)
        } else {
            Ok(page + self.settings.first_block * pages)
        }
    }

    /// Returns the row address of the first page of a block.
    fn block_row(&self, block: BlockIndex) -> Result<PageIndex, NandError> {
        self.row(block.checked_mul(self.info.pages_per_block).ok_or(NandError::Range)?)
    }

    /// Returns the address of a column in the page buffer. The address includes the plane of the
    /// page.
    fn column(&self, row: PageIndex, column: usize) -> [u8; 2] {
        let plane = row / self.info.pages_per_block % self.info.planes;
        // Data and spare bytes share a column range of twice the data bytes; the plane bit lies
        // above the column bits.
        (column as u16 | (plane * self.info.page_bytes * 2) as u16).to_be_bytes()
    }

    /// Reads bytes from the page buffer.
    fn take(&mut self, row: PageIndex, column: usize, data: &mut [u8]) -> Result<(), NandError> {
        let [high, low] = self.column(row, column);
        self.link.receive(&[command::READ, high, low, 0], data)
    }

    /// Writes bytes into the page buffer. `command` decides if the rest of the buffer becomes ones
    /// or stays unchanged.
    fn put(
        &mut self,
        command: u8,
        row: PageIndex,
        column: usize,
        data: &[u8],
    ) -> Result<(), NandError> {
        let [high, low] = self.column(row, column);
        self.link.send(&[command, high, low], data)
    }

    /// Loads a page into the buffer and returns its tag.
    fn load_tag(&mut self, page: PageIndex) -> Result<[u8; TAG_BYTES], NandError> {
        let row = self.row(page)?;
        let status = self.link.load(row, &self.info.times)?;
        let detail =
            self.info.ecc.detail(status).map_or(Ok(0), |address| self.link.register(address))?;
        self.corrected =
            self.info.ecc.corrected(status, detail).ok_or(NandError::Uncorrectable { page })?;
        let (first, bytes) = self.info.tag.span();
        let mut spare = [0; SPAN_MAX];
        self.take(row, self.info.page_bytes as usize + first, &mut spare[..bytes])?;
        let place = self.info.tag;
        Ok(core::array::from_fn(|index| spare[place.byte(index) - first]))
    }

    fn read_page(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), NandError> {
        if data.len() > self.info.page_bytes as usize {
            return Err(NandError::Range);
        }
        *tag = self.load_tag(page)?;
        self.take(self.row(page)?, 0, data)
    }

    /// Adds a tag to the page buffer, and programs the buffer.
    fn execute(
        &mut self,
        page: PageIndex,
        row: PageIndex,
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), NandError> {
        let (first, bytes) = self.info.tag.span();
        let mut spare = [0xFF; SPAN_MAX];
        tag.iter()
            .enumerate()
            .for_each(|(index, byte)| spare[self.info.tag.byte(index) - first] = *byte);
        self.put(command::LOAD_MORE, row, self.info.page_bytes as usize + first, &spare[..bytes])?;
        self.run(page, row)
    }

    fn run(&mut self, page: PageIndex, row: PageIndex) -> Result<(), NandError> {
        let times = self.info.times.program_us;
        if self.link.change(command::EXECUTE, row, PROGRAM_FAILED, times)? {
            Err(NandError::ProgramFailed { page })
        } else {
            Ok(())
        }
    }

    fn program_page(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), NandError> {
        if data.len() > self.info.page_bytes as usize {
            return Err(NandError::Range);
        }
        let row = self.row(page)?;
        self.link.enable()?;
        self.put(command::LOAD, row, 0, data)?; // fills the rest with ones
        self.execute(page, row, tag)
    }

    fn copy_page(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), NandError> {
        let row = self.row(page)?;
        self.loaded.take().filter(|_| self.info.can_copy).ok_or(NandError::NotLoaded)?;
        self.link.enable()?;
        self.execute(page, row, tag)
    }

    fn erase_block(&mut self, block: BlockIndex) -> Result<(), NandError> {
        let row = self.block_row(block)?;
        self.link.enable()?;
        let has_failed =
            self.link.change(command::ERASE, row, ERASE_FAILED, self.info.times.erase_us)?;
        if has_failed { Err(NandError::EraseFailed { block }) } else { Ok(()) }
    }

    /// Returns true if a block has its maker's mark, or if the chip has replaced the block. The
    /// mark lies in the first spare byte of the block's first page. The call ignores the result of
    /// the ECC.
    fn has_mark(&mut self, block: BlockIndex) -> Result<bool, NandError> {
        let row = self.block_row(block)?;
        self.link.load(row, &self.info.times)?;
        let mut mark = [0];
        self.take(row, self.info.page_bytes as usize, &mut mark)?;
        if mark != [0xFF] {
            return Ok(true);
        }
        if !self.info.has_links {
            return Ok(false);
        }
        // The address of a replaced block leads to its replacement. Without this check the
        // replacement would belong to the volume twice.
        let mut links = [0; LINK_BYTES];
        self.link.receive(&[command::LINKS, 0], &mut links)?;
        let number = row / self.info.pages_per_block;
        let is_replaced = |link: &[u8]| {
            link[0] & 0x80 != 0 && u32::from(link[0] & 3) << 8 | u32::from(link[1]) == number
        };
        Ok(links.chunks(4).any(is_replaced))
    }

    fn put_mark(&mut self, block: BlockIndex) -> Result<(), NandError> {
        let row = self.block_row(block)?;
        // The erase makes the first page programmable again. The data of the block is no longer
        // needed.
        match self.erase_block(block) {
            Ok(()) | Err(NandError::EraseFailed { .. }) => {}
            Err(error) => return Err(error),
        }
        self.link.enable()?;
        self.put(command::LOAD, row, self.info.page_bytes as usize, &[0])?;
        self.run(block * self.info.pages_per_block, row)
    }

    /// Returns the nanoseconds of an operation: `bytes` bytes on the bus, 32 bytes of commands and
    /// status reads, the time inside the chip, and the processor's time.
    fn ns(&self, bytes: u32, (typical_us, maximum_us): (u32, u32)) -> u64 {
        let inside_us = u64::from(maximum_us) + u64::from(pause_us(typical_us, maximum_us));
        u64::from(bytes + 32) * (8_000_000_000 / u64::from(self.settings.bus_hz.max(1)))
            + (inside_us + u64::from(self.settings.call_us)) * 1000
    }
}

impl<S: SpiDevice, D: DelayNs> Flash for NandChip<S, D> {
    fn geometry(&self) -> Geometry {
        self.info.geometry(self.block_count)
    }

    fn timing(&self) -> Timing {
        let (times, tag_bytes) = (&self.info.times, self.info.tag.span().1 as u32);
        let whole = self.info.page_bytes + tag_bytes;
        // The check for a bad block may transfer the table of replaced blocks.
        let least = if self.info.has_links { LINK_BYTES as u32 } else { tag_bytes };
        let (read_ns, program_ns) =
            (self.ns(whole, times.read_us), self.ns(whole, times.program_us));
        let read_tag_ns = self.ns(least.max(tag_bytes), times.read_us);
        let copy_ns = if self.info.can_copy {
            read_tag_ns + self.ns(tag_bytes, times.program_us)
        } else {
            read_ns + program_ns
        };
        Timing {
            read_ns,
            read_tag_ns,
            program_ns,
            copy_ns,
            erase_ns: self.ns(0, times.erase_us),
            instruction_ps: 0,
        }
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.loaded = None;
        let result = self.read_page(page, data, tag);
        self.keep(result)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.loaded = None;
        let result = self.load_tag(page);
        *tag = self.keep(result)?;
        self.loaded = Some(page);
        Ok(())
    }

    fn corrected(&mut self) -> Corrected {
        Corrected { bits: self.corrected, strength: self.info.ecc.strength() }
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.loaded = None;
        let result = self.program_page(page, data, tag);
        self.keep(result)
    }

    fn can_copy(&self) -> bool {
        self.info.can_copy
    }

    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        let result = self.copy_page(page, tag);
        self.loaded = None;
        self.keep(result)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.loaded = None;
        let result = self.erase_block(block);
        self.keep(result)
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.loaded = None;
        let result = self.has_mark(block);
        self.keep(result)
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.loaded = None;
        let result = self.put_mark(block);
        self.keep(result)
    }
}
