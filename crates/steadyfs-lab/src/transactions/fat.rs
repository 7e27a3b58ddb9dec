//! FAT: the stand-in for exFAT and TexFAT on managed flash, the FAT beside SteadyFS in `realtime`,
//! and the FAT on its disk in `compare`.

use fatfs::{FatType, FileSystem, FormatVolumeOptions, FsOptions};
use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::rc::Rc;
use steadyfs::media::sectors::{SECTOR_BYTES, SectorDevice};
use steadyfs_sim::sectors::{Controller, Timed};

/// Sectors of a volume on which only files are written. The writes to the device do not depend on
/// this size.
pub const VOLUME_SECTORS: u32 = (256 << 20) / SECTOR_BYTES as u32;
/// Bytes of a cluster.
pub const CLUSTER_BYTES: u32 = 4096;

/// Sectors below a FAT.
pub trait Device {
    /// Returns the number of sectors.
    fn count(&self) -> u32;
    /// Reads one sector.
    fn read(&mut self, sector: u32, data: &mut [u8; SECTOR_BYTES]) -> io::Result<()>;
    /// Writes whole sectors.
    fn write(&mut self, first: u32, data: &[u8]) -> io::Result<()>;
    /// Makes all written data durable.
    fn flush(&mut self) -> io::Result<()>;
}

impl<C: Controller> Device for Timed<C> {
    fn count(&self) -> u32 {
        self.sector_count()
    }
    fn read(&mut self, sector: u32, data: &mut [u8; SECTOR_BYTES]) -> io::Result<()> {
        SectorDevice::read(self, sector, &mut [data]).map_err(io::Error::other)
    }
    fn write(&mut self, first: u32, data: &[u8]) -> io::Result<()> {
        SectorDevice::write(self, first, &[data]).map_err(io::Error::other)
    }
    fn flush(&mut self) -> io::Result<()> {
        SectorDevice::flush(self).map_err(io::Error::other)
    }
}

/// A device that the file system and the measurement share.
pub type Shared<D> = Rc<RefCell<Disk<D>>>;

/// A device, and the sector on which a FAT driver works. A changed sector goes to the device when
/// another sector is needed, or when the call ends.
pub struct Disk<D> {
    /// The device below the driver.
    pub device: D,
    window: Option<Window>,
}

struct Window {
    sector: u32,
    data: [u8; SECTOR_BYTES],
    is_changed: bool,
}

impl<D: Device> Disk<D> {
    /// Puts a device below a FAT.
    pub fn share(device: D) -> Shared<D> {
        Rc::new(RefCell::new(Disk { device, window: None }))
    }

    /// Writes the driver's changed sector to the device, because a call has ended.
    pub fn hand_over(&mut self) -> io::Result<()> {
        match &mut self.window {
            Some(window) if window.is_changed => {
                window.is_changed = false;
                self.device.write(window.sector, &window.data)
            }
            _ => Ok(()),
        }
    }

    /// Writes the driver's changed sector to the device, and flushes the device's cache.
    pub fn flush(&mut self) -> io::Result<()> {
        self.hand_over()?;
        self.device.flush()
    }

    /// Returns the driver's sector. If it is another sector, reads it first.
    fn window(&mut self, sector: u32) -> io::Result<&mut Window> {
        if self.window.as_ref().is_none_or(|window| window.sector != sector) {
            self.hand_over()?;
            let mut data = [0; SECTOR_BYTES];
            self.device.read(sector, &mut data)?;
            self.window = Some(Window { sector, data, is_changed: false });
        }
        self.window.as_mut().ok_or_else(|| io::Error::other("a window was opened"))
    }

    /// Writes whole sectors in one command.
    fn write(&mut self, sector: u32, data: &[u8]) -> io::Result<()> {
        self.hand_over()?;
        self.window = None;
        self.device.write(sector, data)
    }
}

impl<C: Controller> Disk<Timed<C>> {
    /// Cuts power, and turns it on again. The driver's changed sector is lost as well.
    pub fn cut(&mut self) {
        self.device.sectors().cut_now();
        self.device.sectors().power_on();
        self.window = None;
    }
}

/// Bytes on a device, in the form that `fatfs` requires.
pub struct Bytes<D> {
    disk: Shared<D>,
    end: u64,
    at: u64,
}

impl<D: Device> Bytes<D> {
    /// Returns the first `sectors` sectors of a device, or all of them if it has fewer.
    pub fn new(disk: &Shared<D>, sectors: u32) -> Self {
        let end = u64::from(disk.borrow().device.count().min(sectors)) * SECTOR_BYTES as u64;
        Self { disk: disk.clone(), end, at: 0 }
    }

    /// Returns the number of the sector at the position, and the offset in it.
    fn place(&self) -> (u32, usize) {
        ((self.at / SECTOR_BYTES as u64) as u32, self.at as usize % SECTOR_BYTES)
    }
}

impl<D: Device> Read for Bytes<D> {
    fn read(&mut self, data: &mut [u8]) -> io::Result<usize> {
        let (sector, within) = self.place();
        let count = data.len().min(SECTOR_BYTES - within);
        data[..count]
            .copy_from_slice(&self.disk.borrow_mut().window(sector)?.data[within..within + count]);
        self.at += count as u64;
        Ok(count)
    }
}

impl<D: Device> Write for Bytes<D> {
    /// Writes whole sectors to the device at once.
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let (sector, within) = self.place();
        let whole = data.len() / SECTOR_BYTES * SECTOR_BYTES;
        let mut disk = self.disk.borrow_mut();
        let count = if within == 0 && whole > 0 {
            disk.write(sector, &data[..whole])?;
            whole
        } else {
            let count = data.len().min(SECTOR_BYTES - within);
            let window = disk.window(sector)?;
            window.data[within..within + count].copy_from_slice(&data[..count]);
            window.is_changed = true;
            count
        };
        self.at += count as u64;
        Ok(count)
    }

    /// Writes the driver's changed sector to the device. It does not flush the device's cache; call
    /// the device for that.
    fn flush(&mut self) -> io::Result<()> {
        self.disk.borrow_mut().hand_over()
    }
}

impl<D: Device> Seek for Bytes<D> {
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
pub type Fat<D> = FileSystem<Bytes<D>>;

/// Formats the first sectors of a device.
pub fn format<D: Device>(disk: &Shared<D>, sectors: u32) -> io::Result<()> {
    let options =
        FormatVolumeOptions::new().bytes_per_cluster(CLUSTER_BYTES).fat_type(FatType::Fat32);
    fatfs::format_volume(Bytes::new(disk, sectors), options)?;
    disk.borrow_mut().flush()
}

/// Returns the device, after the file system has released it.
pub fn take_back<D>(disk: Shared<D>) -> D {
    Rc::into_inner(disk).expect("the file system is unmounted").into_inner().device
}

/// Mounts the first sectors of a device.
pub fn mount<D: Device>(disk: &Shared<D>, sectors: u32) -> io::Result<Fat<D>> {
    FileSystem::new(Bytes::new(disk, sectors), FsOptions::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadyfs_sim::Metered;
    use steadyfs_sim::managed::ManagedProfile;
    use steadyfs_sim::sectors::Managed;

    /// A FAT wrote each field of an entry by itself. It took 30 ms to create a file on a card.
    #[test]
    fn fields_of_a_sector_reach_the_device_together_when_the_call_ends() {
        let disk = Disk::share(Managed::of(&ManagedProfile::named("sd-consumer").unwrap(), 1));
        let mut bytes = Bytes::new(&disk, VOLUME_SECTORS);
        bytes.seek(SeekFrom::Start(1000)).unwrap();
        for byte in 0..100 {
            bytes.write_all(&[byte]).unwrap();
        }
        assert_eq!(disk.borrow().device.counters().programs, 1, "the first sector is complete");
        disk.borrow_mut().hand_over().unwrap();
        disk.borrow_mut().hand_over().unwrap();
        assert_eq!(disk.borrow().device.counters().programs, 2);
        let mut found = [0; 100];
        bytes.seek(SeekFrom::Start(1000)).unwrap();
        bytes.read_exact(&mut found).unwrap();
        assert!(found.iter().enumerate().all(|(at, &byte)| usize::from(byte) == at));
    }
}
