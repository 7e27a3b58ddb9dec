//! Cards and disks as block devices of a host: Linux block devices such as `/dev/mmcblk0p2`, and
//! files with the content of such a device.
//!
//! [`BlockFile`] is a [`SectorDevice`]. [`open`] returns a [`Flash`](steadyfs::media::Flash) on a
//! `BlockFile`, and [`create`] creates the file of a new card. Each commit waits until the host's
//! kernel and the device have written the data (`fdatasync`). An erase makes a hole in a file, or
//! discards the sectors of a device. The host's cache writes in any order, so a power cut may lose
//! any part of the unflushed data.

mod error;
mod search;

pub use error::BlockError;

use crate::superblocks;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Instant;
use steadyfs::media::Failure;
use steadyfs::media::sectors::{
    SECTOR_BYTES, SectorDevice, SectorLayout, SectorPages, SectorTimes,
};
use steadyfs::{Access, MountError, Superblocks};
use steadyfs_sim::{Counters, Metered, Sectors};

/// A file or block device. [`Metered`] counts its commands and measures their time on the machine's
/// clock.
#[derive(Debug)]
pub struct BlockFile {
    file: File,
    access: Access,
    sectors: u32,
    counters: Counters,
    error: Option<BlockError>,
}

/// Opens the volume that begins in the first sector of a file or block device. If both headers of
/// the first block are lost, the layout is read from the headers of a later block.
///
/// With [`Access::ReadOnly`] the device is never changed, and need not be writable.
///
/// # Errors
/// [`BlockError`] describes the fault.
pub fn open(path: impl AsRef<Path>, access: Access) -> Result<SectorPages<BlockFile>, BlockError> {
    let mut file = BlockFile::open(path, access)?;
    let found = SectorLayout::find(&mut file, 0).map_err(|_| file.take_error())?;
    match (found, file.cut_off()) {
        (Some(layout), _) => SectorPages::new(file, layout).ok_or(BlockError::NoVolume),
        (None, Some(error)) => Err(error),
        (None, None) => search::find(file, BlockFile::header_at).ok_or(BlockError::NoVolume),
    }
}

/// Returns true if a volume is on a file or device. If the first block of the volume is lost, this
/// call reads the first 128 MiB.
pub fn holds_volume(path: impl AsRef<Path>) -> bool {
    open(path, Access::ReadOnly).is_ok()
}

/// Reads both copies of the superblock. The first copy counts as damaged if the headers of its
/// block are lost. A mend writes the copy and these headers.
///
/// # Errors
/// As [`Superblocks::look`].
pub fn superblocks<D: SectorDevice>(pages: &mut SectorPages<D>) -> Result<Superblocks, MountError> {
    let copies = superblocks::look(pages)?;
    let first = pages.layout().first;
    let has_headers = SectorLayout::find(pages.device_mut(), first)?.is_some();
    Ok(if has_headers {
        copies
    } else {
        Superblocks { damaged: copies.damaged.or(Some(0)), ..copies }
    })
}

/// Makes a file of zeros for a device of `bytes` bytes. The file occupies no space on the host's
/// disk until it is written.
///
/// # Errors
/// [`BlockError::Open`], also if a file of this name exists.
pub fn create(path: impl AsRef<Path>, bytes: u64) -> Result<BlockFile, BlockError> {
    let made = OpenOptions::new().read(true).write(true).create_new(true).open(path);
    let file =
        made.and_then(|file| file.set_len(bytes).map(|()| file)).map_err(BlockError::Open)?;
    BlockFile::of(file, Access::ReadWrite)
}

/// Returns true if a file or device begins with a volume on sectors, even if its end is missing.
/// Returns false if the file or device cannot be read.
pub fn is_volume(path: impl AsRef<Path>) -> bool {
    BlockFile::open(path, Access::ReadOnly)
        .is_ok_and(|mut file| file.layout_of_any_length().is_some())
}

impl BlockFile {
    /// Opens a file or block device, with any content.
    ///
    /// # Errors
    /// [`BlockError`].
    pub fn open(path: impl AsRef<Path>, access: Access) -> Result<Self, BlockError> {
        let writable = access == Access::ReadWrite;
        let file =
            OpenOptions::new().read(true).write(writable).open(path).map_err(BlockError::Open)?;
        Self::of(file, access)
    }

    fn of(mut file: File, access: Access) -> Result<Self, BlockError> {
        let bytes = file.seek(SeekFrom::End(0)).map_err(BlockError::Open)?;
        // Sectors beyond 2 TiB are not used.
        let sectors = u32::try_from(bytes / SECTOR_BYTES as u64).unwrap_or(u32::MAX);
        Ok(Self { file, access, sectors, counters: Counters::default(), error: None })
    }

    /// Returns the error of the last failed operation.
    pub fn error(&self) -> Option<&BlockError> {
        self.error.as_ref()
    }

    /// Returns the layout of the volume that begins in the first sector. The volume may be longer
    /// than the device.
    fn layout_of_any_length(&mut self) -> Option<SectorLayout> {
        self.header_at(0)
    }

    /// Reads the layout of a volume from the headers at a sector. The volume may be longer than the
    /// device.
    fn header_at(&mut self, sector: u32) -> Option<SectorLayout> {
        let sectors = std::mem::replace(&mut self.sectors, u32::MAX);
        let found = SectorLayout::find(self, sector);
        self.sectors = sectors;
        found.ok().flatten()
    }

    /// Returns an error if a volume begins in the first sector and is longer than the device.
    fn cut_off(&mut self) -> Option<BlockError> {
        let expected = self.layout_of_any_length()?.sectors;
        let bytes = |sectors: u32| u64::from(sectors) * SECTOR_BYTES as u64;
        (expected > self.sectors)
            .then(|| BlockError::CutOff { found: bytes(self.sectors), expected: bytes(expected) })
    }

    fn take_error(&mut self) -> BlockError {
        self.error.take().unwrap_or(BlockError::NoVolume)
    }

    /// Does one operation on the file, and measures its time.
    ///
    /// A sector that cannot be read is a fault of the page, not of the device. If the host's file
    /// system that contains the image is full, the image counts as locked. This is not a bad block.
    fn act(
        &mut self,
        verb: &'static str,
        sector: u32,
        act: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let begin = Instant::now();
        let result = act(&mut self.file);
        self.counters.time_ns += begin.elapsed().as_nanos() as u64;
        result.map_err(|reason| {
            let failure = match (verb, reason.raw_os_error()) {
                ("read", Some(EIO)) => Failure::Uncorrectable,
                ("written", Some(ENOSPC)) => Failure::WriteProtected,
                _ => Failure::Device,
            };
            self.error = Some(BlockError::Io { verb, sector, reason });
            failure
        })
    }

    fn demand_writable(&mut self) -> Result<(), Failure> {
        if self.access == Access::ReadWrite {
            return Ok(());
        }
        self.error = Some(BlockError::ReadOnly);
        Err(Failure::WriteProtected)
    }
}

/// Error number for a sector that cannot be read.
const EIO: i32 = 5;
/// Error number for a file whose file system is full.
const ENOSPC: i32 = 28;

fn seek(file: &mut File, sector: u32) -> io::Result<u64> {
    file.seek(SeekFrom::Start(u64::from(sector) * SECTOR_BYTES as u64))
}

impl SectorDevice for BlockFile {
    fn sector_count(&self) -> u32 {
        self.sectors
    }

    /// Returns round durations, because the real durations are unknown.
    fn times(&self) -> SectorTimes {
        Sectors::ROUND
    }

    fn read(&mut self, first: u32, parts: &mut [&mut [u8]]) -> Result<(), Failure> {
        self.counters.reads += 1;
        self.counters.bytes_read += parts.iter().map(|part| part.len() as u64).sum::<u64>();
        self.act("read", first, |file| {
            seek(file, first)?;
            parts.iter_mut().try_for_each(|part| file.read_exact(part))
        })
    }

    fn write(&mut self, first: u32, parts: &[&[u8]]) -> Result<(), Failure> {
        self.demand_writable()?;
        // All parts are written in one call, because other programs may read at the same time.
        let bytes = parts.concat();
        self.counters.programs += 1;
        self.counters.bytes_programmed += bytes.len() as u64;
        self.act("written", first, |file| {
            seek(file, first)?;
            file.write_all(&bytes)
        })
    }

    fn flush(&mut self) -> Result<(), Failure> {
        if self.access == Access::ReadOnly {
            return Ok(());
        }
        self.counters.flushes += 1;
        self.act("flushed", 0, |file| file.sync_data())
    }

    /// Does nothing if the host's file system or the device does not support discards.
    fn discard(&mut self, first: u32, count: u32) -> Result<(), Failure> {
        self.demand_writable()?;
        self.counters.erases += 1;
        self.act("discarded", first, |file| {
            punch(
                file,
                u64::from(first) * SECTOR_BYTES as u64,
                u64::from(count) * SECTOR_BYTES as u64,
            );
            Ok(())
        })
    }
}

#[cfg(target_os = "linux")]
fn punch(file: &File, offset: u64, bytes: u64) {
    use rustix::fs::{FallocateFlags, fallocate};
    let _ = fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, bytes);
}

#[cfg(not(target_os = "linux"))]
fn punch(_file: &File, _offset: u64, _bytes: u64) {}

impl Metered for BlockFile {
    fn counters(&self) -> Counters {
        self.counters
    }
}

/// Returns the number of bytes of the erase unit that a device prefers, if Linux reports it. For
/// cards this is `preferred_erase_size`.
pub fn unit_bytes(path: impl AsRef<Path>) -> Option<u32> {
    let text = attribute(path.as_ref(), "preferred_erase_size")?;
    text.trim()
        .parse()
        .ok()
        .filter(|bytes: &u32| *bytes >= 1 << 16 && bytes.is_multiple_of(SECTOR_BYTES as u32))
}

/// Returns the used share of an eMMC's life, as the device reports it, in percent. It is the larger
/// of two estimates, in steps of ten. The real share is at most the returned value. 110 means that
/// the life is used up. Returns `None` if Linux reports no estimate, as for SD cards, or if the
/// device does not define it.
pub fn life_used_percent(path: impl AsRef<Path>) -> Option<u32> {
    life_of(&attribute(path.as_ref(), "life_time")?)
}

/// Parses the sysfs attribute `life_time`: `DEVICE_LIFE_TIME_EST_TYP_A` and `_B` of JEDEC
/// JESD84-B51, 7.4.29 and 7.4.30.
fn life_of(text: &str) -> Option<u32> {
    let estimate = |word: &str| {
        u32::from_str_radix(word.strip_prefix("0x")?, 16)
            .ok()
            .filter(|step| (1..=11).contains(step))
    };
    text.split_whitespace().filter_map(estimate).max().map(|step| 10 * step)
}

/// Returns an attribute of a path's device, or of the device that this device is a part of.
fn attribute(path: &Path, name: &str) -> Option<String> {
    let path = path.canonicalize().ok()?;
    let device = Path::new("/sys/class/block").join(path.file_name()?).canonicalize().ok()?;
    ["device", "../device"]
        .iter()
        .find_map(|place| std::fs::read_to_string(device.join(place).join(name)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn life_is_the_worse_of_two_estimates_and_nothing_where_none_is_defined() {
        assert_eq!(
            [life_of("0x01 0x03\n"), life_of("0x0b 0x01"), life_of("0x00 0x02")],
            [Some(30), Some(110), Some(20)]
        );
        assert_eq!(
            [life_of("0x00 0x00"), life_of(""), life_of("12"), life_of("0xff 0xzz")],
            [None; 4]
        );
    }
}
