//! Tests FAT on the disk. FAT itself does not survive power cuts, but the disk keeps the order of
//! its writes. After every power cut, all files are there whose flush returned.

use crate::common::{Chip, SHAPES, for_seeds};
use fatfs::{FileSystem as Fat, FormatVolumeOptions, FsOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use steadyfs::disk::{Disk, SECTOR_BYTES};
use steadyfs::media::Flash;
use steadyfs::{Access, Config};
use steadyfs_sim::{FailOps, PowerCut, Trace};

/// A byte stream on sectors, as `fatfs` requires it.
struct Bytes<'d, 'm, 'c> {
    disk: &'d mut Disk<'m, &'c mut Chip>,
    at: u64,
}

impl Bytes<'_, '_, '_> {
    /// Reads the sector of the current position. Returns its number, the offset in it, and its
    /// bytes.
    fn sector(&mut self) -> io::Result<(u32, usize, [u8; SECTOR_BYTES as usize])> {
        let (sector, within) =
            ((self.at / u64::from(SECTOR_BYTES)) as u32, self.at as usize % SECTOR_BYTES as usize);
        let mut bytes = [0; SECTOR_BYTES as usize];
        self.disk.read(sector, &mut bytes).map_err(io::Error::other)?;
        Ok((sector, within, bytes))
    }
}

impl Read for Bytes<'_, '_, '_> {
    fn read(&mut self, data: &mut [u8]) -> io::Result<usize> {
        let (_, within, bytes) = self.sector()?;
        let count = data.len().min(bytes.len() - within);
        data[..count].copy_from_slice(&bytes[within..][..count]);
        self.at += count as u64;
        Ok(count)
    }
}

impl Write for Bytes<'_, '_, '_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let (sector, within, mut bytes) = self.sector()?;
        let count = data.len().min(bytes.len() - within);
        bytes[within..][..count].copy_from_slice(&data[..count]);
        self.disk.write(sector, &bytes).map_err(io::Error::other)?;
        self.at += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.disk.flush().map_err(io::Error::other)
    }
}

impl Seek for Bytes<'_, '_, '_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let end = u64::from(self.disk.sectors()) * u64::from(SECTOR_BYTES);
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => end.checked_add_signed(by),
        };
        self.at = at.filter(|&at| at <= end).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

fn content(number: usize) -> Vec<u8> {
    (0..300 + number * 137 % 3000).map(|at| (at ^ number) as u8).collect()
}

/// Writes files. Each third file replaces an older file. Records each file whose flush returned.
fn write_files(bytes: Bytes<'_, '_, '_>, acknowledged: &mut Vec<usize>) -> io::Result<()> {
    let fat = Fat::new(bytes, FsOptions::new())?;
    let root = fat.root_dir();
    for number in 0..40 {
        if number % 3 == 2 {
            root.remove(&format!("file {} with a long name", number - 2))?;
            acknowledged.retain(|&old| old != number - 2);
        }
        let mut file = root.create_file(&format!("file {number} with a long name"))?;
        file.write_all(&content(number))?;
        file.flush()?;
        acknowledged.push(number);
    }
    Ok(())
}

#[test]
fn flushed_files_on_fat_survive_a_power_cut() {
    for_seeds("disk_fat", "flushed_files_on_fat_survive_a_power_cut", 4, |seed| {
        let shape = &SHAPES[[0, 1, 3, 4][seed as usize % 4]];
        let config = Config { files_max: 0, ..shape.config() };
        let mut chip = Trace::new(PowerCut::new(FailOps::new(shape.medium(seed), seed), seed));
        let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
        Disk::format(&mut chip, &config, &mut memory).expect("format");
        let made = with_disk(&mut chip, &mut memory, |bytes| {
            fatfs::format_volume(bytes, FormatVolumeOptions::new())
        });
        made.expect("format FAT");
        let mut n = 1 + seed;
        loop {
            let (mut chip, mut acknowledged) = (chip.clone(), Vec::new());
            chip.inner_mut().cut_at(n);
            let result =
                with_disk(&mut chip, &mut memory, |bytes| write_files(bytes, &mut acknowledged));
            if result.is_ok() {
                assert_eq!(acknowledged.len(), 27);
                break;
            }
            chip.inner_mut().power_on();
            with_disk(&mut chip, &mut memory, |bytes| {
                let fat = Fat::new(bytes, FsOptions::new())?;
                for &number in &acknowledged {
                    let mut found = Vec::new();
                    fat.root_dir()
                        .open_file(&format!("file {number} with a long name"))?
                        .read_to_end(&mut found)?;
                    assert!(found == content(number), "{}: cut {n}: file {number}", shape.name);
                }
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{}: cut {n}: {error}", shape.name));
            n += 37;
        }
    });
}

/// Mounts the disk, calls `act` with its bytes, and unmounts it.
fn with_disk<T>(
    chip: &mut Chip,
    memory: &mut [u8],
    act: impl FnOnce(Bytes<'_, '_, '_>) -> io::Result<T>,
) -> io::Result<T> {
    let mut disk = Disk::mount(chip, Access::ReadWrite, memory).map_err(io::Error::other)?;
    let result = act(Bytes { disk: &mut disk, at: 0 })?;
    disk.unmount().map_err(io::Error::other)?;
    Ok(result)
}
