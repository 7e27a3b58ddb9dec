//! The life of a disk: calls in random order.

use crate::counter::Counter;
use crate::life::Failed;
use crate::random::Random;
use crate::watch::{DISK, Start, Watch};
use board::meter::Meter;
use steadyfs::disk::{Disk, DiskCall, SECTOR_BYTES};
use steadyfs::media::Flash;
use steadyfs::{Access, Config, Error};

/// Sectors of the largest transfer, which is a logical page of NAND.
const PAGE_SECTORS: u32 = 8;
const CALLS: u32 = 6000;

/// Makes some thousand calls on a new disk, and prints a row for each kind.
pub fn live<C: Meter>(
    medium: &str,
    chip: &mut Counter<C>,
    memory: &mut [u8],
) -> Result<(), Failed> {
    let geometry = chip.geometry();
    let config = Config::for_disk(&geometry);
    let memory = &mut memory[..config.memory_bytes(&geometry)];
    let chip = Disk::format(chip, &config, memory)?;
    let (mut watch, mut random) = (Watch::new(chip), Random(3));
    let mut disk = Disk::mount(chip, Access::ReadWrite, memory)?;
    let mut data = [0x3E; (PAGE_SECTORS * SECTOR_BYTES) as usize];
    let pages = disk.sectors() / PAGE_SECTORS;
    for page in 0..pages / 5 * 4 {
        disk.write(page * PAGE_SECTORS, &data)?;
    }
    for _ in 0..CALLS {
        let sectors = [1, 3, PAGE_SECTORS][random.below(3) as usize];
        let bytes = sectors * SECTOR_BYTES;
        let sector = random.below(pages) * PAGE_SECTORS + random.below(PAGE_SECTORS + 1 - sectors);
        let (kind, call) = match random.below(8) {
            0 => (0, DiskCall::Read(bytes)),
            1 | 2 => (1, DiskCall::Write(bytes)),
            3..6 => (2, DiskCall::WriteDurable(bytes)),
            6 => (3, DiskCall::Trim),
            _ => (4, DiskCall::Flush),
        };
        let (bound, start) = (disk.bound(call), Start::of(disk.flash()));
        let data = &mut data[..bytes as usize];
        let result = match call {
            DiskCall::Read(_) => disk.read(sector, data),
            DiskCall::Write(_) => disk.write(sector, data),
            DiskCall::WriteDurable(_) => disk.write_durable(sector, data),
            DiskCall::Trim => disk.trim(sector, 4 * PAGE_SECTORS).map(drop),
            _ => disk.flush(),
        };
        watch.compare(DISK + kind, start, disk.flash(), &bound);
        match result {
            // A trim beyond the end.
            Err(Error::NoSuchSector) => {}
            Err(Error::TransactionTooLarge) => disk.flush()?,
            other => other?,
        }
    }
    watch.print(medium);
    Ok(())
}
