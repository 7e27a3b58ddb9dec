//! Chips whose words can be written only once between erases. A page and a tag each consist of
//! whole words.
//!
//! ```text
//! block:  | tag 0 | tag 1 | … | (pad) | page 0 | page 1 | … |
//! ```
//!
//! [`NorPages`](steadyfs::media::nor::NorPages) has almost the same layout. The differences here: a
//! tag occupies whole words, and only pages and tags are programmed.

use super::error::RangeError;
use super::times::FlashTimes;
use super::window::{Window, check};
use core::ops::Range;
use embedded_storage::nor_flash::NorFlash;
use steadyfs::Config;
use steadyfs::media::nor::page_bytes_for;
use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};

/// A range of a [`NorFlash`] as a [`Flash`] of SteadyFS: pages and tags, whose words are written
/// once between erases.
///
/// The number of sectors of a block is the smallest power of two with which the usual settings fit.
///
/// # Example
/// ```
/// use steadyfs::{Access, Config, FileSystem, media::Flash};
/// use steadyfs_drivers::adapters::embedded_storage::{FlashTimes, FromWriteOnce};
/// # mod ram { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/hal.rs")); }
/// # let hal = ram::Hal::<1, 8, 2048>::new(512 << 10);
///
/// let flash = FromWriteOnce::new(hal, 0x4_0000..0x8_0000, FlashTimes::INTERNAL)?;
/// let config = Config::for_geometry(&flash.geometry());
/// let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
/// let flash = FileSystem::format(flash, &config, &mut memory)?;
/// let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FromWriteOnce<T: NorFlash> {
    window: Window<T>,
    block_bytes: u32,
    geometry: Geometry,
}

impl<T: NorFlash> FromWriteOnce<T> {
    /// Bytes of the slot of a tag.
    const TAG_SLOT: u32 =
        if T::WRITE_SIZE > TAG_BYTES { T::WRITE_SIZE as u32 } else { TAG_BYTES as u32 };

    /// Takes a chip, the range of the volume in it, and the times of the chip.
    ///
    /// # Errors
    /// [`RangeError`].
    pub fn new(flash: T, range: Range<u32>, times: FlashTimes) -> Result<Self, RangeError> {
        check(&flash, &range)?;
        let bytes = range.end - range.start;
        let geometry = Self::geometry(bytes).ok_or(RangeError::TooSmall)?;
        let block_bytes =
            bytes / T::ERASE_SIZE as u32 / geometry.block_count * T::ERASE_SIZE as u32;
        Ok(Self {
            window: Window::new(flash, range.start, times, Failure::Uncorrectable),
            block_bytes,
            geometry,
        })
    }

    /// Returns the shape of a volume on `bytes` bytes, or `None` if they are too few.
    pub const fn geometry(bytes: u32) -> Option<Geometry> {
        let (sector_bytes, sectors) = (T::ERASE_SIZE as u32, bytes / T::ERASE_SIZE as u32);
        let mut group = 1;
        while group <= sectors / 16 {
            let geometry = Self::shape(sector_bytes * group, sectors / group);
            if Config::for_geometry(&geometry).check(&geometry).is_ok() {
                return Some(geometry);
            }
            group *= 2;
        }
        None
    }

    const fn shape(block_bytes: u32, block_count: u32) -> Geometry {
        let page_bytes = page_bytes_for(block_bytes);
        let slots = block_bytes / page_bytes;
        let mut head = 1;
        while head < slots && (slots - head) * Self::TAG_SLOT > head * page_bytes {
            head += 1;
        }
        Geometry { page_bytes, pages_per_block: slots - head, block_count, programs_bytes: false }
    }

    /// Returns the chip underneath.
    pub const fn flash(&self) -> &T {
        &self.window.flash
    }

    /// Returns the chip underneath, mutable.
    pub const fn flash_mut(&mut self) -> &mut T {
        &mut self.window.flash
    }

    /// Returns the chip, and drops the adapter.
    pub fn into_flash(self) -> T {
        self.window.flash
    }

    /// Returns the last error of the chip's driver; a call that succeeds does not clear it.
    pub const fn last_error(&self) -> Option<&T::Error> {
        self.window.last_error.as_ref()
    }

    const fn tag_address(&self, page: PageIndex) -> u32 {
        let pages = self.geometry.pages_per_block;
        page / pages * self.block_bytes + page % pages * Self::TAG_SLOT
    }

    const fn data_address(&self, page: PageIndex) -> u32 {
        let Geometry { page_bytes, pages_per_block: pages, .. } = self.geometry;
        (page / pages + 1) * self.block_bytes - (pages - page % pages) * page_bytes
    }
}

impl<T: NorFlash> Flash for FromWriteOnce<T> {
    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn timing(&self) -> Timing {
        let (times, page_bytes) = (&self.window.times, self.geometry.page_bytes);
        let read_tag_ns = times.read(TAG_BYTES as u32);
        let read_ns = read_tag_ns + times.read(page_bytes);
        let program_ns = times.program(page_bytes) + times.program(Self::TAG_SLOT);
        let erase_ns = times.erase(self.block_bytes, T::ERASE_SIZE as u32);
        Timing {
            read_ns,
            read_tag_ns,
            program_ns,
            copy_ns: read_ns + program_ns,
            erase_ns,
            instruction_ps: 0,
        }
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.read_tag(page, tag)?;
        self.window.read(self.data_address(page), data)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.window.read(self.tag_address(page), tag)
    }

    /// Programs the data before the tag, because a page without its tag counts as never written.
    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        let used = data.iter().rposition(|&byte| byte != 0xFF).map_or(0, |last| last + 1);
        self.window
            .write(self.data_address(page), &data[..used], |found, wanted| found == wanted)?;
        self.window.write(self.tag_address(page), tag, |found, wanted| found == wanted)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.window.erase(block * self.block_bytes, self.block_bytes)
    }

    /// Returns false, because such chips have no bad-block marks.
    fn is_bad(&mut self, _block: BlockIndex) -> Result<bool, Failure> {
        Ok(false)
    }

    fn mark_bad(&mut self, _block: BlockIndex) -> Result<(), Failure> {
        Ok(())
    }
}
