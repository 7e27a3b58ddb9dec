//! FAT on managed flash, as the document's exFAT and TexFAT use it: never flushed, or written through.

use fatfs::{FatType, FileSystem, FormatVolumeOptions, FsOptions};
use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::rc::Rc;
use steadyfs::media::sectors::{SECTOR_BYTES, SectorDevice};
use steadyfs_sim::sectors::{Controller, Timed};

/// Sectors of a volume at most: what is written to it does not depend on how large it is.
pub(super) const VOLUME_SECTORS: u32 = (256 << 20) / SECTOR_BYTES as u32;

/// A device that the file system and who measures it share.
pub(super) type Shared<C> = Rc<RefCell<Timed<C>>>;

/// Bytes on a device, as `fatfs` wants them. The sector that was read last is kept, as every FAT keeps one.
pub(super) struct Bytes<C> {
    device: Shared<C>,
    at: u64,
    kept: Option<(u32, [u8; SECTOR_BYTES])>,
}

impl<C: Controller> Bytes<C> {
    pub fn new(device: Shared<C>) -> Self {
        Self { device, at: 0, kept: None }
    }

    fn end(&self) -> u64 {
        u64::from(self.device.borrow().sector_count().min(VOLUME_SECTORS)) * SECTOR_BYTES as u64
    }

    /// Number of the sector in which the position lies, and the place in it.
    fn place(&self) -> (u32, usize) {
        ((self.at / SECTOR_BYTES as u64) as u32, self.at as usize % SECTOR_BYTES)
    }

    fn sector(&mut self, sector: u32) -> io::Result<[u8; SECTOR_BYTES]> {
        if let Some((_, data)) = self.kept.filter(|(kept, _)| *kept == sector) {
            return Ok(data);
        }
        let mut data = [0; SECTOR_BYTES];
        self.device.borrow_mut().read(sector, &mut [&mut data]).map_err(io::Error::other)?;
        self.kept = Some((sector, data));
        Ok(data)
    }
}

impl<C: Controller> Read for Bytes<C> {
    fn read(&mut self, data: &mut [u8]) -> io::Result<usize> {
        let (sector, within) = self.place();
        let bytes = self.sector(sector)?;
        let count = data.len().min(SECTOR_BYTES - within);
        data[..count].copy_from_slice(&bytes[within..within + count]);
        self.at += count as u64;
        Ok(count)
    }
}

impl<C: Controller> Write for Bytes<C> {
    /// Whole sectors go to the device in one command.
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let (sector, within) = self.place();
        let whole = data.len() / SECTOR_BYTES * SECTOR_BYTES;
        let count = if within == 0 && whole > 0 {
            self.device.borrow_mut().write(sector, &[&data[..whole]]).map_err(io::Error::other)?;
            self.kept = None;
            whole
        } else {
            let mut bytes = self.sector(sector)?;
            let count = data.len().min(SECTOR_BYTES - within);
            bytes[within..within + count].copy_from_slice(&data[..count]);
            self.device.borrow_mut().write(sector, &[&bytes]).map_err(io::Error::other)?;
            self.kept = Some((sector, bytes));
            count
        };
        self.at += count as u64;
        Ok(count)
    }

    /// Who wants the cache emptied says so to the device.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<C: Controller> Seek for Bytes<C> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let end = self.end();
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => end.checked_add_signed(by),
        };
        self.at = at.filter(|&at| at <= end).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// A FAT volume.
pub(super) type Fat<C> = FileSystem<Bytes<C>>;

/// Formats a device with clusters of 4 KiB.
pub(super) fn format<C: Controller>(device: &Shared<C>) -> io::Result<()> {
    let options = FormatVolumeOptions::new().bytes_per_cluster(4096).fat_type(FatType::Fat32);
    fatfs::format_volume(Bytes::new(device.clone()), options)?;
    device.borrow_mut().flush().map_err(io::Error::other)
}

/// The device again, once the file system has let go of it.
pub(super) fn take_back<C>(device: Shared<C>) -> Timed<C> {
    Rc::into_inner(device).expect("the file system is unmounted").into_inner()
}

/// Mounts a device.
pub(super) fn mount<C: Controller>(device: &Shared<C>) -> io::Result<Fat<C>> {
    FileSystem::new(Bytes::new(device.clone()), FsOptions::new())
}
