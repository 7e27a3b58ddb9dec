//! FAT on managed flash: what stands for exFAT and TexFAT, and the FAT beside SteadyFS in `realtime`.

use fatfs::{FatType, FileSystem, FormatVolumeOptions, FsOptions};
use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::rc::Rc;
use steadyfs::media::sectors::{SECTOR_BYTES, SectorDevice};
use steadyfs_sim::sectors::{Controller, Timed};

/// Sectors of a volume of which only files are written: what reaches the device does not depend on how large it is.
pub(crate) const VOLUME_SECTORS: u32 = (256 << 20) / SECTOR_BYTES as u32;

/// Bytes of a cluster.
pub(crate) const CLUSTER_BYTES: u32 = 4096;

/// A device that the file system and who measures it share.
pub(crate) type Shared<C> = Rc<RefCell<Timed<C>>>;

/// Bytes on a device, as `fatfs` wants them. The sector that was read last is kept, as every FAT keeps one.
pub(crate) struct Bytes<C> {
    device: Shared<C>,
    end: u64,
    at: u64,
    kept: Option<(u32, [u8; SECTOR_BYTES])>,
}

impl<C: Controller> Bytes<C> {
    /// The first sectors of a device, as many as it has at most.
    fn new(device: &Shared<C>, sectors: u32) -> Self {
        let end = u64::from(device.borrow().sector_count().min(sectors)) * SECTOR_BYTES as u64;
        Self { device: device.clone(), end, at: 0, kept: None }
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
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
        };
        self.at = at.filter(|&at| at <= self.end).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// A FAT volume.
pub(crate) type Fat<C> = FileSystem<Bytes<C>>;

/// Formats the first sectors of a device with clusters of 4 KiB.
pub(crate) fn format<C: Controller>(device: &Shared<C>, sectors: u32) -> io::Result<()> {
    let options = FormatVolumeOptions::new().bytes_per_cluster(CLUSTER_BYTES).fat_type(FatType::Fat32);
    fatfs::format_volume(Bytes::new(device, sectors), options)?;
    flush(device)
}

/// Has the device empty its cache.
pub(crate) fn flush<C: Controller>(device: &Shared<C>) -> io::Result<()> {
    device.borrow_mut().flush().map_err(io::Error::other)
}

/// The device again, once the file system has let go of it.
pub(crate) fn take_back<C>(device: Shared<C>) -> Timed<C> {
    Rc::into_inner(device).expect("the file system is unmounted").into_inner()
}

/// Mounts the first sectors of a device.
pub(crate) fn mount<C: Controller>(device: &Shared<C>, sectors: u32) -> io::Result<Fat<C>> {
    FileSystem::new(Bytes::new(device, sectors), FsOptions::new())
}
