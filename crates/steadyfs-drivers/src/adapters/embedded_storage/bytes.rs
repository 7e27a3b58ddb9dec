//! Chips whose words can be written several times between erases. Bytes are programmed separately,
//! and incomplete words are filled up with ones.

use super::error::RangeError;
use super::times::FlashTimes;
use super::window::{Window, check};
use core::ops::Range;
use embedded_storage::nor_flash::MultiwriteNorFlash;
use steadyfs::Config;
use steadyfs::media::nor::{NorFlash, NorPages};
use steadyfs::media::{BlockIndex, Failure, Geometry};

/// Returns true if SteadyFS was built for media that program bytes.
fn has_nor() -> bool {
    let usual = Geometry::of_nor(4096, 256);
    Config::for_geometry(&usual).check(&usual).is_ok()
}

/// A range of a [`MultiwriteNorFlash`] as a [`NorFlash`] of SteadyFS. [`new`](Self::new) makes it
/// the [`Flash`](steadyfs::media::Flash) of a volume.
///
/// A block has as many sectors as the [usual settings need](Config::group_sectors). Its sectors are
/// erased in ascending order, so a power cut during an erase leaves the first sectors erased.
#[derive(Debug)]
pub struct FromMultiwrite<T: MultiwriteNorFlash> {
    window: Window<T>,
    block_bytes: u32,
    block_count: u32,
}

impl<T: MultiwriteNorFlash> FromMultiwrite<T> {
    /// Takes a chip, the range of the volume in it, and the times of the chip.
    ///
    /// # Errors
    /// [`RangeError`].
    pub fn new(
        flash: T,
        range: Range<u32>,
        times: FlashTimes,
    ) -> Result<NorPages<Self>, RangeError> {
        check(&flash, &range)?;
        let bytes = range.end - range.start;
        let geometry = Self::geometry(bytes).ok_or(if has_nor() {
            RangeError::TooSmall
        } else {
            RangeError::WithoutNor
        })?;
        let block_bytes =
            bytes / T::ERASE_SIZE as u32 / geometry.block_count * T::ERASE_SIZE as u32;
        let window = Window::new(flash, range.start, times, Failure::Device);
        Ok(NorPages::new(
            Self { window, block_bytes, block_count: geometry.block_count },
            geometry.page_bytes,
        ))
    }

    /// Returns the shape of a volume on `bytes` bytes, or `None` if they are too few. It is a
    /// `const fn`, so a program can compute the size of an array with it:
    /// ```
    /// # use steadyfs::{Config, media::Geometry};
    /// # use steadyfs_drivers::adapters::embedded_storage::FromMultiwrite;
    /// # mod ram { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/hal.rs")); }
    /// # type QspiFlash = ram::Hal<1, 4, 4096>;
    /// const GEOMETRY: Geometry = FromMultiwrite::<QspiFlash>::geometry(512 << 10).unwrap();
    /// const MEMORY_BYTES: usize = Config::for_geometry(&GEOMETRY).memory_bytes(&GEOMETRY);
    /// let memory = [0u8; MEMORY_BYTES];
    /// # assert!(memory.iter().all(|byte| *byte == 0) && MEMORY_BYTES < 3000);
    /// ```
    pub const fn geometry(bytes: u32) -> Option<Geometry> {
        let (sector_bytes, sectors) = (T::ERASE_SIZE as u32, bytes / T::ERASE_SIZE as u32);
        match Config::group_sectors(sector_bytes, sectors) {
            Some(group) => Some(Geometry::of_nor(sector_bytes * group, sectors / group)),
            None => None,
        }
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
}

impl<T: MultiwriteNorFlash> NorFlash for FromMultiwrite<T> {
    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn block_count(&self) -> u32 {
        self.block_count
    }

    fn times_ns(&self, bytes: u32) -> (u64, u64, u64) {
        let times = &self.window.times;
        // Words at both ends may be filled up with ones.
        let program_ns = times.program(bytes.next_multiple_of(T::WRITE_SIZE as u32));
        (times.read(bytes), program_ns, times.erase(self.block_bytes, T::ERASE_SIZE as u32))
    }

    fn read(&mut self, address: u32, data: &mut [u8]) -> Result<(), Failure> {
        self.window.read(address, data)
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        // Zeros of earlier programs remain zeros.
        self.window.write(address, data, |found, wanted| found & !wanted == 0)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.window.erase(block * self.block_bytes, self.block_bytes)
    }
}
