//! FAT, through the crate `fatfs`, on the disk of SteadyFS: a file system made for rewritable
//! sectors, not for flash.

use super::records::number_of;
use crate::chip::Chip;
use crate::entrant::{Entrant, Facts};
use fatfs::{FileSystem, FormatVolumeOptions, FsOptions};
use self_cell::{MutBorrow, self_cell};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem::size_of;
use steadyfs::disk::Disk;
use steadyfs::media::Flash;
use steadyfs::media::sectors::SECTOR_BYTES;
use steadyfs::{Access, Config};
use steadyfs_lab::bench::{BenchChip, Contender, Fault, Mode, Room, Volume};
use steadyfs_lab::transactions::fat::{self, Bytes, Device};
use steadyfs_sim::{Counters, Metered};

/// The directory of all files: the root of a FAT12 or FAT16 holds few names.
const DIRECTORY: &str = "d";
/// Maximum number of files in measured volumes. FAT could hold more, but the crate searches the
/// whole directory for each new file.
const FILES_MAX: u32 = 4_096;

/// FAT on SteadyFS's disk.
pub struct FatOnDisk;

impl Entrant for FatOnDisk {
    type On = FatDisk;

    fn facts(&self) -> Facts {
        Facts {
            id: "fat-on-disk".into(),
            name: "FAT on SteadyFS's disk".into(),
            version: "fatfs 0.3.6".into(),
            source: "https://crates.io/crates/fatfs".into(),
            licence: "MIT".into(),
            configuration: "type and clusters as format_volume chooses them; Config::for_disk; a \
                durable call flushes the file and the disk at its end; all files in one directory, \
                at most 4,096, with names of eight digits"
                .into(),
            because:
                "fatfs documents that File::flush writes the data and the directory entry; it \
                 supports neither trim nor fast seek, so neither is used"
                    .into(),
            contract: "no promise for a cut within a call: FAT writes a name, a cluster chain and \
                a size one after the other, and a rename over a file first removes that file"
                .into(),
            timing: "none".into(),
        }
    }

    fn on(&self, chip: Chip) -> Result<FatDisk, String> {
        let geometry = chip.geometry();
        if (geometry.page_bytes as usize) < SECTOR_BYTES {
            return Err(
                "the disk needs pages of at least a sector, so it would have to group erase \
                 sectors of 4 KiB into larger blocks"
                    .to_string(),
            );
        }
        let config = Config::for_disk(&geometry);
        let memory_bytes = config.memory_bytes(&geometry);
        Ok(FatDisk { chip, config, memory_bytes })
    }
}

/// A chip with a disk and a FAT on it.
pub struct FatDisk {
    chip: Chip,
    config: Config,
    memory_bytes: usize,
}

type MountedDisk<'m> = Disk<'m, Chip>;

self_cell!(
    /// A disk with the memory that it uses.
    struct DiskCell {
        owner: MutBorrow<Vec<u8>>,
        #[not_covariant]
        dependent: MountedDisk,
    }
);

/// A mounted disk, which can lose its power.
pub struct Sectors {
    disk: DiskCell,
    sectors: u32,
    is_off: bool,
}

impl Sectors {
    fn mount(contender: &FatDisk) -> Result<Sectors, Fault> {
        let memory = MutBorrow::new(vec![0; contender.memory_bytes]);
        let chip = contender.chip.clone();
        let disk = DiskCell::try_new(memory, |memory| {
            Disk::mount(chip, Access::ReadWrite, memory.borrow_mut())
        });
        let disk = disk.map_err(|error| Fault::Failed(error.to_string()))?;
        let sectors = disk.with_dependent(|_, disk| disk.sectors());
        Ok(Sectors { disk, sectors, is_off: false })
    }

    fn call<T>(
        &mut self,
        act: impl FnOnce(&mut MountedDisk<'_>) -> Result<T, steadyfs::Error>,
    ) -> io::Result<T> {
        if self.is_off {
            return Err(io::Error::other("power is off"));
        }
        self.disk.with_dependent_mut(|_, disk| act(disk)).map_err(io::Error::other)
    }
}

impl Device for Sectors {
    fn count(&self) -> u32 {
        self.sectors
    }

    fn read(&mut self, sector: u32, data: &mut [u8; SECTOR_BYTES]) -> io::Result<()> {
        self.call(|disk| disk.read(sector, data))
    }

    fn write(&mut self, first: u32, data: &[u8]) -> io::Result<()> {
        self.call(|disk| disk.write(first, data))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.call(|disk| disk.flush())
    }
}

type OpenFiles<'f> = Vec<Option<fatfs::File<'f, Bytes<Sectors>>>>;

self_cell!(
    /// A FAT with its open files.
    struct FatCell {
        owner: fat::Fat<Sectors>,
        #[not_covariant]
        dependent: OpenFiles,
    }
);

/// A mounted FAT.
pub struct MountedFat {
    fat: Option<FatCell>,
    sectors: fat::Shared<Sectors>,
    chip: Chip,
}

/// An open file: its slot among the open files, and true if each write is durable.
pub struct OpenFile {
    slot: usize,
    is_durable: bool,
}

impl Contender for FatDisk {
    type File = OpenFile;
    type Volume<'a> = MountedFat;

    fn system(&self) -> String {
        "FAT on SteadyFS's disk".to_string()
    }

    fn format(&mut self) -> Result<(), Fault> {
        Disk::format(self.chip.clone(), &self.config, &mut vec![0; self.memory_bytes])
            .map_err(|error| Fault::Failed(error.to_string()))?;
        let shared = fat::Disk::share(Sectors::mount(self)?);
        let whole = Bytes::new(&shared, u32::MAX);
        fatfs::format_volume(whole, FormatVolumeOptions::new()).map_err(fault)?;
        let volume =
            FileSystem::new(Bytes::new(&shared, u32::MAX), FsOptions::new()).map_err(fault)?;
        volume.root_dir().create_dir(DIRECTORY).map_err(fault)?;
        volume.unmount().map_err(fault)?;
        shared.borrow_mut().flush().map_err(fault)
    }

    fn mount(&mut self) -> Result<MountedFat, Fault> {
        let sectors = fat::Disk::share(Sectors::mount(self)?);
        let volume = fat::mount(&sectors, u32::MAX).map_err(fault)?;
        Ok(MountedFat {
            fat: Some(FatCell::new(volume, |_| Vec::new())),
            sectors,
            chip: self.chip.clone(),
        })
    }

    fn ram_bytes(&self) -> u64 {
        let structs = size_of::<MountedDisk<'_>>()
            + size_of::<fat::Fat<Sectors>>()
            + size_of::<fatfs::File<'_, Bytes<Sectors>>>();
        (self.memory_bytes + structs + SECTOR_BYTES) as u64
    }

    fn counters(&self) -> Counters {
        self.chip.counters()
    }

    fn erase_counts(&self) -> Vec<u32> {
        self.chip.erase_counts()
    }
}

impl MountedFat {
    fn with<T>(
        &mut self,
        act: impl for<'f> FnOnce(&'f fat::Fat<Sectors>, &mut OpenFiles<'f>) -> io::Result<T>,
    ) -> Result<T, Fault> {
        let Some(cell) = &mut self.fat else { return Err(Fault::Failed("unmounted".to_string())) };
        cell.with_dependent_mut(|fat, files| act(fat, files)).map_err(fault)
    }

    /// Runs `act` on an open file.
    fn with_file<T>(
        &mut self,
        file: &OpenFile,
        act: impl FnOnce(&mut fatfs::File<'_, Bytes<Sectors>>) -> io::Result<T>,
    ) -> Result<T, Fault> {
        self.with(|_, files| match files.get_mut(file.slot) {
            Some(Some(open)) => act(open),
            _ => Err(io::ErrorKind::NotFound.into()),
        })
    }

    /// Hands over the data that the driver holds. A durable call flushes it to the chip.
    fn end(&mut self, is_durable: bool) -> Result<(), Fault> {
        let mut disk = self.sectors.borrow_mut();
        if is_durable { disk.flush() } else { disk.hand_over() }.map_err(fault)
    }
}

impl Drop for MountedFat {
    fn drop(&mut self) {
        if let Ok(mut sectors) = self.sectors.try_borrow_mut() {
            sectors.device.is_off = true;
        }
    }
}

fn fault(error: io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::WriteZero => Fault::NoRoom(error.to_string()),
        _ if error.to_string().contains("No space") => Fault::NoRoom(error.to_string()),
        _ => Fault::Failed(error.to_string()),
    }
}

/// Returns the path of a file. A number replaces its name, and is short enough to be its short
/// name as well.
///
/// If many longer names begin alike, the crate searches the directory repeatedly for a free short
/// name.
fn full(path: &str) -> String {
    format!("{DIRECTORY}/{:08x}", number_of(path))
}

impl Volume for MountedFat {
    type File = OpenFile;

    fn open(&mut self, path: &str, mode: Mode) -> Result<OpenFile, Fault> {
        let path = full(path);
        let slot = self.with(|fat, files| {
            let root = fat.root_dir();
            let mut file = match mode {
                Mode::Read | Mode::Write | Mode::Replace => root.open_file(&path)?,
                Mode::Create | Mode::Durable => root.create_file(&path)?,
            };
            if mode == Mode::Replace {
                file.truncate()?;
            }
            let slot = files.iter().position(Option::is_none).unwrap_or(files.len());
            if slot == files.len() {
                files.push(None);
            }
            files[slot] = Some(file);
            Ok(slot)
        })?;
        self.end(false)?;
        Ok(OpenFile { slot, is_durable: mode == Mode::Durable })
    }

    fn close(&mut self, file: OpenFile) -> Result<(), Fault> {
        self.with(|_, files| {
            files[file.slot] = None;
            Ok(())
        })?;
        self.end(false)
    }

    fn read(&mut self, file: &mut OpenFile, offset: u64, data: &mut [u8]) -> Result<usize, Fault> {
        self.with_file(file, |open| {
            open.seek(SeekFrom::Start(offset))?;
            let mut length = 0;
            while length < data.len() {
                match open.read(&mut data[length..])? {
                    0 => break,
                    more => length += more,
                }
            }
            Ok(length)
        })
    }

    fn write(&mut self, file: &mut OpenFile, offset: u64, data: &[u8]) -> Result<(), Fault> {
        let is_durable = file.is_durable;
        self.with_file(file, |open| {
            open.seek(SeekFrom::Start(offset))?;
            open.write_all(data)?;
            if is_durable { open.flush() } else { Ok(()) }
        })?;
        self.end(is_durable)
    }

    fn sync(&mut self, file: &mut OpenFile) -> Result<(), Fault> {
        self.with_file(file, |open| open.flush())?;
        self.end(true)
    }

    fn remove(&mut self, path: &str) -> Result<(), Fault> {
        let path = full(path);
        self.with(|fat, _| fat.root_dir().remove(&path))?;
        self.end(true)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), Fault> {
        let (from, to) = (full(from), full(to));
        self.with(|fat, _| {
            let root = fat.root_dir();
            match root.remove(&to) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            root.rename(&from, &root, &to)
        })?;
        self.end(true)
    }

    fn stat(&mut self, path: &str) -> Result<u64, Fault> {
        let path = full(path);
        self.with(|fat, _| fat.root_dir().open_file(&path)?.seek(SeekFrom::End(0)))
    }

    fn unmount(mut self) -> Result<(), Fault> {
        if let Some(cell) = self.fat.take() {
            cell.into_owner().unmount().map_err(fault)?;
        }
        self.end(true)
    }

    fn room(&mut self) -> Result<Room, Fault> {
        let (cluster, all, free) = self.with(|fat, _| {
            let stats = fat.stats()?;
            Ok((stats.cluster_size(), stats.total_clusters(), stats.free_clusters()))
        })?;
        // The directory of all files takes a cluster, and more with many names.
        let bytes = |clusters: u32| u64::from(clusters.saturating_sub(1)) * u64::from(cluster);
        let (usable_bytes, free_bytes) = (bytes(all), bytes(free));
        Ok(Room {
            usable_bytes,
            free_bytes,
            unit_bytes: cluster,
            files_max: FILES_MAX,
            file_bytes_max: usable_bytes,
        })
    }

    fn counters(&self) -> Counters {
        self.chip.counters()
    }
}
