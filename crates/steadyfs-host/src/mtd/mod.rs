//! MTD devices of Linux, `/dev/mtdN`: NOR, and NAND whose driver writes data, tag and ECC of a page
//! in one program.
//!
//! [`Mtd::open`] returns a [`Flash`]. [`Mtd::error`] returns the reason why an operation failed.
//!
//! Linux 6.1 or newer is required: its `MEMREAD` reads data and tag at once. If a NOR chip is
//! locked after power-on, unlock it first (`flash_unlock`). Otherwise every erase fails, and the
//! kernel returns the same error as for a worn-out block.
//!
//! # Place and protection of the tag
//! The tag lies in the first free bytes of the spare area (`MTD_OPS_AUTO_OOB`), so that the
//! driver's ECC and bad-block mark keep their places. The ECC of many drivers does not cover these
//! bytes. The software ECC of Linux never covers them. So two bytes of a code of our own follow
//! each tag, if the spare area has enough free bytes. The code corrects one flipped bit.
//!
//! # Signs of a weak page
//! `MEMREAD` returns the corrected bits of the worst codeword of each read. `ecc_strength` in sysfs
//! is the number of bits that can be corrected. Without sysfs, weak data is not detected. A page
//! also counts as weak as soon as one bit of its tag has flipped, because only one bit can be
//! corrected.
//!
//! | file | idea |
//! |---|---|
//! | `abi` | the ioctls; the only unsafe code |
//! | `ecc` | corrected bits of a read |
//! | `guard` | the code that corrects a flipped bit of a tag |
//! | `nand`, `nor` | the two kinds of chips |
//! | `error` | the errors |

mod abi;
mod ecc;
mod error;
mod guard;
mod nand;
mod nor;

pub use error::MtdError;

use crate::image;
use nand::NandDevice;
use nor::NorDevice;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;
use steadyfs::media::groups::Groups;
use steadyfs::media::nor::{NorPages, page_bytes_for};
use steadyfs::media::{
    BlockIndex, Corrected, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing,
};
use steadyfs::{Access, Config};
use steadyfs_sim::{Counters, Metered};

/// A chip of this machine.
///
/// [`Metered`] counts the operations of the chip and measures their time on the machine's clock.
#[derive(Debug)]
pub struct Mtd {
    chip: Kind,
}

#[derive(Debug)]
enum Kind {
    Nand(NandDevice),
    Nor(NorPages<Groups<NorDevice>>),
}

impl Mtd {
    /// Opens a device. On NOR, the sizes of pages and blocks are read from the volume on the
    /// device. If there is no volume, the sizes are chosen for the device's erase blocks: a block
    /// consists of as many small erase blocks as [`Config::group_sectors`] returns.
    ///
    /// With [`Access::ReadOnly`] the device is never changed, and need not be writable.
    ///
    /// # Errors
    /// [`MtdError`] describes the property that this device lacks.
    pub fn open(path: impl AsRef<Path>, access: Access) -> Result<Self, MtdError> {
        let (file, info, size) = Self::look_at(path.as_ref(), access)?;
        if info.is_nand() {
            return Ok(Self { chip: Kind::Nand(NandDevice::new(file, &info, size)?) });
        }
        let (page_bytes, block_bytes) = shape_of_volume(&file, size).unwrap_or_else(|| {
            let block_bytes = usual_block_bytes(info.erase_bytes, size);
            (page_bytes_for(block_bytes), block_bytes)
        });
        Self::nor(file, &info, size, page_bytes, block_bytes)
    }

    /// Opens a device with any content, for formatting. On NOR, `divide` receives the bytes of an
    /// erase block and the number of erase blocks. It returns the bytes of a page and of a block of
    /// the volume. A block is one or more erase blocks.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open). [`MtdError::Blocks`] and [`MtdError::Pages`] if the
    /// device cannot be divided in this way.
    pub fn open_blank(
        path: impl AsRef<Path>,
        divide: impl FnOnce(u32, u32) -> (u32, u32),
    ) -> Result<Self, MtdError> {
        let (file, info, size) = Self::look_at(path.as_ref(), Access::ReadWrite)?;
        if info.is_nand() {
            return Ok(Self { chip: Kind::Nand(NandDevice::new(file, &info, size)?) });
        }
        let (page_bytes, block_bytes) =
            divide(info.erase_bytes, erase_blocks(info.erase_bytes, size));
        Self::nor(file, &info, size, page_bytes, block_bytes)
    }

    fn look_at(path: &Path, access: Access) -> Result<(File, abi::Info, u64), MtdError> {
        let opened = OpenOptions::new().read(true).write(access == Access::ReadWrite).open(path);
        let mut file = opened.map_err(|source| MtdError::Open { source })?;
        let info = abi::info(&file).map_err(|source| MtdError::NotMtd { source })?;
        if !info.is_nand() && !info.is_nor() {
            return Err(MtdError::Kind {
                found: info.kind,
                expected: "SLC NAND (4), NOR (3) or RAM (1)",
            });
        }
        // The size is determined by a seek, because the size in `MEMGETINFO` has only 32 bits.
        let size = file.seek(SeekFrom::End(0)).map_err(|source| MtdError::Open { source })?;
        Ok((file, info, size))
    }

    fn nor(
        file: File,
        info: &abi::Info,
        size: u64,
        page_bytes: u32,
        block_bytes: u32,
    ) -> Result<Self, MtdError> {
        let device = NorDevice::new(file, info, size)?;
        let erase_bytes = info.erase_bytes;
        if block_bytes == 0 || !block_bytes.is_multiple_of(erase_bytes) {
            return Err(MtdError::Blocks { block_bytes, erase_bytes });
        }
        if !page_bytes.is_power_of_two() || block_bytes / page_bytes < 5 {
            return Err(MtdError::Pages { page_bytes, block_bytes });
        }
        Ok(Self {
            chip: Kind::Nor(NorPages::new(
                Groups::new(device, block_bytes / erase_bytes),
                page_bytes,
            )),
        })
    }

    /// Replaces the durations of [`Flash::timing`]. By default they describe a typical chip,
    /// because the kernel does not report durations.
    ///
    /// Bounds in time are computed with the durations, and garbage collection uses them to set its
    /// pace. On NOR, the durations are computed from the number of bytes, and this call has no
    /// effect.
    #[must_use]
    pub fn with_timing(mut self, timing: Timing) -> Self {
        if let Kind::Nand(device) = &mut self.chip {
            device.set_timing(timing);
        }
        self
    }

    /// Returns the reason why the last operation failed.
    pub fn error(&self) -> Option<&MtdError> {
        match &self.chip {
            Kind::Nand(device) => device.error(),
            Kind::Nor(pages) => pages.chip().chip().error(),
        }
    }

    fn flash(&self) -> &dyn Flash {
        match &self.chip {
            Kind::Nand(device) => device,
            Kind::Nor(pages) => pages,
        }
    }

    fn flash_mut(&mut self) -> &mut dyn Flash {
        match &mut self.chip {
            Kind::Nand(device) => device,
            Kind::Nor(pages) => pages,
        }
    }
}

/// The bytes of a NOR device.
struct Device<'f> {
    file: &'f File,
    size: u64,
}

impl image::Bytes for Device<'_> {
    fn length(&self) -> io::Result<u64> {
        Ok(self.size)
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }
}

/// Returns the sizes of a page and of a block of the volume on a NOR device. Returns `None` if
/// there is no volume.
fn shape_of_volume(file: &File, size: u64) -> Option<(u32, u32)> {
    match image::recognise(&mut Device { file, size }) {
        Ok(image::Shape::Nor { page_bytes, block_bytes, .. }) => Some((page_bytes, block_bytes)),
        _ => None,
    }
}

/// Returns the bytes of a block for a NOR device without a volume: as many erase blocks as the
/// usual settings need. If no number fits, a block is one erase block. A format then fails and
/// returns the reason.
fn usual_block_bytes(erase_bytes: u32, size: u64) -> u32 {
    if erase_bytes == 0 {
        return 0;
    }
    erase_bytes * Config::group_sectors(erase_bytes, erase_blocks(erase_bytes, size)).unwrap_or(1)
}

/// Returns the number of erase blocks of a device.
fn erase_blocks(erase_bytes: u32, size: u64) -> u32 {
    u32::try_from(size / u64::from(erase_bytes.max(1))).unwrap_or(u32::MAX)
}

impl Flash for Mtd {
    fn geometry(&self) -> Geometry {
        self.flash().geometry()
    }

    fn timing(&self) -> Timing {
        self.flash().timing()
    }

    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.flash_mut().read(page, data, tag)
    }

    fn reads_many(&self) -> bool {
        self.flash().reads_many()
    }

    fn read_many(
        &mut self,
        first: PageIndex,
        data: &mut [u8],
        tags: &mut [[u8; TAG_BYTES]],
    ) -> Result<usize, Failure> {
        self.flash_mut().read_many(first, data, tags)
    }

    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        self.flash_mut().read_tag(page, tag)
    }

    fn corrected(&mut self) -> Corrected {
        self.flash_mut().corrected()
    }

    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.flash_mut().program(page, data, tag)
    }

    fn read_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &mut [u8],
    ) -> Result<(), Failure> {
        self.flash_mut().read_bytes(block, offset, data)
    }

    fn program_bytes(
        &mut self,
        block: BlockIndex,
        offset: u32,
        data: &[u8],
    ) -> Result<(), Failure> {
        self.flash_mut().program_bytes(block, offset, data)
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.flash_mut().erase(block)
    }

    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.flash_mut().is_bad(block)
    }

    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.flash_mut().mark_bad(block)
    }
}

impl Metered for Mtd {
    fn counters(&self) -> Counters {
        match &self.chip {
            Kind::Nand(device) => device.counters(),
            Kind::Nor(pages) => pages.counters(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_erase_blocks_are_grouped_as_images_group_them_and_large_ones_are_not() {
        let kib = |erase_kib: u32, size_kib: u64| {
            usual_block_bytes(erase_kib << 10, size_kib << 10) >> 10
        };
        assert_eq!([1, 2, 16, 64].map(|mib| kib(4, mib << 10)), [4, 8, 16, 32]);
        assert_eq!((kib(64, 16 << 10), kib(64, 4 << 10)), (64, 64));
        // If no number fits, the size stays unchanged. This also holds if the kernel reports an
        // impossible size.
        assert_eq!((kib(64, 128), usual_block_bytes(0, 1 << 20)), (64, 0));
    }
}
