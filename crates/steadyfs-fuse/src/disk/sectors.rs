//! Reads and writes of bytes at any offset, on a medium of sectors. If a write changes a part of a
//! sector, the sector is read first.

use crate::errno::errno;
use crate::upkeep::Upkeep;
use fuser::Errno;
use steadyfs::disk::{Disk, SECTOR_BYTES};
use steadyfs::media::{BlockIndex, Flash};
use steadyfs::{BlockInfo, Budget, CommitOn, Description, Error, Health};

const SECTOR: u64 = SECTOR_BYTES as u64;

/// The disk as an array of bytes.
pub(crate) struct Sectors<'v, 'm, F> {
    disk: &'v mut Disk<'m, F>,
    is_timed: bool,
    has_changed: bool,
}

/// Returns the sectors in which a part of the disk lies. The result is the first sector, the number
/// of bytes in it before the part, and the number of bytes of all these sectors.
fn cover(offset: u64, length: usize) -> (u32, usize, usize) {
    let before = (offset % SECTOR) as usize;
    ((offset / SECTOR) as u32, before, (before + length).next_multiple_of(SECTOR as usize))
}

impl<'v, 'm, F: Flash> Sectors<'v, 'm, F> {
    pub fn new(disk: &'v mut Disk<'m, F>, commit_on: CommitOn) -> Self {
        Self { disk, is_timed: commit_on.contains(CommitOn::TIMED), has_changed: false }
    }

    /// Returns the number of bytes of the disk.
    pub fn bytes(&self) -> u64 {
        u64::from(self.disk.sectors()) * SECTOR
    }

    /// Returns the number of bytes of a logical page.
    pub fn page_bytes(&self) -> u32 {
        self.disk.page_sectors() * SECTOR_BYTES
    }

    #[cfg(test)]
    pub fn disk(&mut self) -> &mut Disk<'m, F> {
        self.disk
    }

    /// Reads a part of the disk.
    pub fn read(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, Errno> {
        let (first, before, bytes) = cover(offset, length);
        let mut data = vec![0; bytes];
        self.disk.read(first, &mut data).map_err(errno)?;
        data.truncate(before + length);
        drop(data.drain(..before));
        Ok(data)
    }

    /// Writes a part of the disk.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Errno> {
        let (first, before, bytes) = cover(offset, data.len());
        self.has_changed = true;
        if before == 0 && bytes == data.len() {
            return self.disk.write(first, data).map_err(errno);
        }
        let mut whole = vec![0; bytes];
        let (sector, last) = (SECTOR as usize, bytes - SECTOR as usize);
        if before > 0 {
            self.disk.read(first, &mut whole[..sector]).map_err(errno)?;
        }
        // If there is only one sector, it may have been read already.
        if before + data.len() < bytes && (last > 0 || before == 0) {
            self.disk.read(first + (last / sector) as u32, &mut whole[last..]).map_err(errno)?;
        }
        whole[before..before + data.len()].copy_from_slice(data);
        self.disk.write(first, &whole).map_err(errno)
    }

    /// Fills a part of the disk with zeros. Trims the whole logical pages in it, and writes zeros
    /// to the rest.
    pub fn zero(&mut self, offset: u64, end: u64) -> Result<(), Errno> {
        let page = u64::from(self.page_bytes());
        let (first, last) = (offset.next_multiple_of(page), end / page * page);
        if first >= last {
            return self.write_zeros(offset, end);
        }
        self.write_zeros(offset, first)?;
        self.trim((first / SECTOR) as u32, (last / SECTOR) as u32)?;
        self.write_zeros(last, end)
    }

    /// Writes zeros to a part that is smaller than two logical pages.
    fn write_zeros(&mut self, offset: u64, end: u64) -> Result<(), Errno> {
        if offset >= end { Ok(()) } else { self.write(offset, &vec![0; (end - offset) as usize]) }
    }

    fn trim(&mut self, from: u32, to: u32) -> Result<(), Errno> {
        self.has_changed = true;
        let mut at = from;
        while at < to {
            at += self.disk.trim(at, to - at).map_err(errno)?;
        }
        Ok(())
    }
}

impl<F: Flash> Upkeep for Sectors<'_, '_, F> {
    fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    fn waits_for_timer(&self) -> bool {
        self.is_timed && self.disk.has_changes()
    }

    fn has_changes(&self) -> bool {
        self.disk.has_changes()
    }

    fn commit(&mut self) -> Result<(), Errno> {
        self.has_changed = true;
        self.disk.flush().map_err(errno)
    }

    fn maintain(&mut self, budget: Budget) -> Result<bool, Error> {
        self.disk.maintain(budget, 0)
    }

    /// Idle work frees no sectors, so this is always 0.
    fn used_bytes(&self) -> u64 {
        0
    }

    fn scrub(&mut self, budget: Budget) -> Result<bool, Error> {
        self.disk.scrub(budget)
    }

    fn health(&self) -> Health {
        self.disk.health()
    }

    fn describe(&self) -> Description {
        self.disk.describe()
    }

    fn block(&self, block: BlockIndex) -> Option<BlockInfo> {
        self.disk.block(block)
    }
}
