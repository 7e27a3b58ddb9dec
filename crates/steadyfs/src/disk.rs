//! A disk on raw flash: sectors of 512 bytes that are rewritten in place, for a file system that knows no flash (FAT, ext4, littlefs on a block device).
//!
//! [`Disk`] is the [store](crate) without files: the same map, journal, reclamation and roots, the same rules at a power cut, and a
//! [bound](Disk::bound) for every call.
//!
//! A write waits for a [flush](Disk::flush), as in the write cache of any disk, and costs no commit of its own; or it is
//! [durable](Disk::write_durable) when it returns. After a power cut the disk holds what some of the writes in the order in which they were made have left, all
//! that were flushed among them: never a later one without the earlier, never half of a logical page. Sectors that are [trimmed](Disk::trim) cost
//! reclamation nothing any more.
//!
//! ```
//! use steadyfs::disk::{Disk, DiskCall};
//! use steadyfs::{Access, Config};
//! # let small = steadyfs::media::Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };
//! # let flash = steadyfs_sim::Nand::with_geometry(small, steadyfs_sim::NandTiming::ROUND, 1);
//! let geometry = steadyfs::media::Flash::geometry(&flash);
//! let config = Config::for_disk(&geometry);
//! let mut memory = vec![0; config.memory_bytes(&geometry)];
//!
//! let flash = Disk::format(flash, &config, &mut memory)?;
//! let mut disk = Disk::mount(flash, Access::ReadWrite, &mut memory)?;
//! println!("{} sectors; a durable one takes at most {:?}", disk.sectors(), disk.bound(DiskCall::WriteDurable(512)));
//! disk.write(7, &[1; 512])?;
//! disk.flush()?; // on the medium when it returns
//! let mut sector = [0; 512];
//! disk.read(7, &mut sector)?;
//! assert_eq!(sector, [1; 512]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::config::Config;
use crate::cost::{Bound, Budget, Cost};
use crate::error::{ConfigError, Error, MountError};
use crate::ftl::{BlockInfo, Health};
use crate::logical::Piece;
use crate::media::{BlockIndex, Flash};
use crate::mount::{Access, Damage};
use crate::pace::{Buffer, Work, mount_bound};
use crate::store::{Description, Store};

/// Bytes of a sector.
pub const SECTOR_BYTES: u32 = 512;
/// Logical pages that one call of [`Disk::trim`] forgets at most.
const TRIM_PAGES: u32 = 8;
/// Logical pages at which it looks at most.
const TRIM_LOOKS: u32 = 64;

/// A call whose worst case [`Disk::bound`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiskCall {
    /// A read of at most so many bytes.
    Read(u32),
    /// A [write](Disk::write) of at most so many bytes within one logical page.
    Write(u32),
    /// The same, [durable](Disk::write_durable).
    WriteDurable(u32),
    /// One call of [`trim`](Disk::trim).
    Trim,
    /// A [flush](Disk::flush).
    Flush,
}

/// How [`Disk::write_with`] writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// It is on the medium when the call returns (FUA).
    pub durable: bool,
    /// The [stream](crate::Config::streams) of the sectors: 0 for what names none; one that the disk does not have is the last one that it has.
    pub stream: u8,
}

/// A mounted disk.
///
/// It has one owner: every call takes `&mut self`. The errors of every call are those of a [`FileSystem`](crate::FileSystem#errors-of-every-call), and mean the same: an
/// error says that the call has changed nothing, but of a call on more than one logical page, of which those before may have taken effect, and but for
/// [`Error::Unknown`].
pub struct Disk<'m, F> {
    store: Store<'m, F>,
    /// Logical pages of the disk; what blocks that go bad later take from the room does not make it smaller.
    pages: u32,
}

/// Whether the settings are those of a disk.
fn check_disk(config: &Config) -> Result<(), MountError> {
    if config.is_disk() { Ok(()) } else { Err(ConfigError::FilesOrFailures.into()) }
}

impl<'m, F: Flash> Disk<'m, F> {
    /// Makes an empty disk on a medium: every sector reads as zeros. Everything on it is lost. The settings are those of
    /// [`Config::for_disk`], or others without files.
    ///
    /// # Power loss
    /// After a cut neither the new volume nor an earlier one can be relied on: format again.
    ///
    /// # Errors
    /// As [`FileSystem::format`](crate::FileSystem::format); [`ConfigError::FilesOrFailures`] where the settings have files,
    /// [`ConfigError::SectorBytes`] where a logical page is no whole sector.
    pub fn format(flash: F, config: &Config, memory: &mut [u8]) -> Result<F, MountError> {
        check_disk(config)?;
        Store::format(flash, config, memory, None)
    }

    /// The same, and erases every block that holds data, as [`FileSystem::format_erased`](crate::FileSystem::format_erased) does.
    ///
    /// # Power loss
    /// As [`format`](Self::format).
    ///
    /// # Cost
    /// That of [`format`](Self::format), and an erase of each block.
    ///
    /// # Errors
    /// Those of [`format`](Self::format).
    pub fn format_erased(flash: F, config: &Config, memory: &mut [u8], told: &mut dyn FnMut(u32, u32)) -> Result<F, MountError> {
        check_disk(config)?;
        Store::format(flash, config, memory, Some(told))
    }

    /// Mounts a disk. `memory` is all the RAM that it uses: [`Config::memory_bytes`].
    ///
    /// # Power loss
    /// A mount may be cut as often as it likes.
    ///
    /// # Cost
    /// [`mount_bound`](Self::mount_bound).
    ///
    /// # Errors
    /// [`MountError`] says what is wrong with the medium or the buffer.
    pub fn mount(flash: F, access: Access, memory: &'m mut [u8]) -> Result<Self, MountError> {
        let mut result = Self::empty(flash, access, memory);
        // Changed in place: a copy of the whole costs code and stack.
        if let Ok(disk) = &mut result
            && let Err(error) = disk.recover(access)
        {
            result = Err(error);
        }
        result
    }

    /// Reads what the disk is. Not inlined: what makes it is off the stack when it is recovered.
    #[inline(never)]
    fn empty(flash: F, access: Access, memory: &'m mut [u8]) -> Result<Self, MountError> {
        Store::open(flash, access, memory).map(|store| Self { pages: store.layout().usable, store })
    }

    /// Brings an empty disk to the state that was committed last.
    fn recover(&mut self, access: Access) -> Result<(), MountError> {
        if !self.config().is_disk() {
            return Err(MountError::IsFileSystem);
        }
        let is_there = match access {
            Access::ReadOnly => self.store.recover::<false>()?,
            Access::ReadWrite => self.store.recover::<true>()?,
        };
        if !is_there {
            return Err(MountError::NoRoot);
        }
        self.store.start_scrub();
        Ok(())
    }

    /// Sectors of the disk: one number for its whole life. All of them may hold data.
    pub fn sectors(&self) -> u32 {
        self.pages * self.page_sectors()
    }

    /// Sectors of a logical page, in which the disk is written and trimmed: a file system should take as much for its blocks or clusters, and begin there.
    pub fn page_sectors(&self) -> u32 {
        self.store.layout().logical_bytes / SECTOR_BYTES
    }

    /// Reads sectors from `sector` on; those that were never written, or are trimmed, are zeros. `data` are whole sectors.
    ///
    /// # Cost
    /// [`DiskCall::Read`].
    ///
    /// # Errors
    /// [`Error::NoSuchSector`].
    pub fn read(&mut self, sector: u32, data: &mut [u8]) -> Result<(), Error> {
        self.check_sectors(sector, data.len())?;
        let mut at = sector;
        let mut rest = data;
        while !rest.is_empty() {
            let (logical, offset, bytes) = self.piece(at, rest.len());
            let (now, later) = rest.split_at_mut(bytes);
            self.store.logical.read_content(logical, offset, now)?;
            (at, rest) = (at + bytes as u32 / SECTOR_BYTES, later);
        }
        Ok(())
    }

    /// Writes sectors from `sector` on. `data` are whole sectors.
    ///
    /// # Power loss
    /// Nothing of it need be there before the next [`flush`](Self::flush); what was written before it is there wherever some of it is.
    ///
    /// # Cost
    /// For each logical page [`DiskCall::Write`].
    ///
    /// # Errors
    /// [`Error::NoSuchSector`].
    pub fn write(&mut self, sector: u32, data: &[u8]) -> Result<(), Error> {
        self.write_with(sector, data, WriteOptions::default())
    }

    /// Writes sectors as [`write`](Self::write) does, and makes each logical page durable (FUA), with all that waits.
    ///
    /// # Power loss
    /// All of it is there.
    ///
    /// # Cost
    /// For each logical page [`DiskCall::WriteDurable`]: `unit_pages` programs for a whole one beside which nothing waits.
    ///
    /// # Errors
    /// [`Error::NoSuchSector`].
    pub fn write_durable(&mut self, sector: u32, data: &[u8]) -> Result<(), Error> {
        self.write_with(sector, data, WriteOptions { durable: true, stream: 0 })
    }

    /// Writes sectors as [`write`](Self::write) or [`write_durable`](Self::write_durable) does, into a stream. Sectors that share a logical page share its stream,
    /// that of the last write.
    ///
    /// # Power loss, cost, errors
    /// Those of the two.
    pub fn write_with(&mut self, sector: u32, data: &[u8], options: WriteOptions) -> Result<(), Error> {
        self.check_sectors(sector, data.len())?;
        let mut at = sector;
        let mut rest = data;
        while !rest.is_empty() {
            let (logical, offset, bytes) = self.piece(at, rest.len());
            let (now, later) = rest.split_at(bytes);
            self.begin(&self.store.bounds().work_of_write(bytes as u32))?;
            let piece = Piece { logical, offset, bytes: now, stream: options.stream, commits: options.durable };
            let result = self.store.logical.write_or_patch(&piece, false);
            self.finish(result, options.durable)?;
            (at, rest) = (at + bytes as u32 / SECTOR_BYTES, later);
        }
        Ok(())
    }

    /// Says that nobody needs some sectors any more. Whole logical pages among them read as zeros from then on, and their room is won back; the other sectors
    /// stay as they are.
    ///
    /// One call forgets a few pages, so that its cost does not depend on `count`; it returns with how many of the sectors it is done, and is to be
    /// called again for the rest. Pages that hold nothing are passed over quickly.
    ///
    /// # Power loss
    /// As in a [`write`](Self::write).
    ///
    /// # Cost
    /// [`DiskCall::Trim`].
    ///
    /// # Errors
    /// [`Error::NoSuchSector`].
    pub fn trim(&mut self, sector: u32, count: u32) -> Result<u32, Error> {
        let end = sector.checked_add(count).filter(|&end| end <= self.sectors()).ok_or(Error::NoSuchSector)?;
        let per_page = self.page_sectors();
        let (mut page, last) = (sector.div_ceil(per_page), end / per_page);
        if page >= last {
            return Ok(count);
        }
        self.begin(&TRIM)?;
        let result = self.trim_pages(&mut page, last);
        self.finish(result, false)?;
        Ok(if page >= last { count } else { page * per_page - sector })
    }

    fn trim_pages(&mut self, page: &mut u32, last: u32) -> Result<(), Error> {
        let mut left = TRIM_PAGES;
        for _ in 0..TRIM_LOOKS {
            if *page >= last || left == 0 {
                break;
            }
            if self.store.logical.is_written(*page)? {
                self.store.logical.discard(*page)?;
                left -= 1;
            }
            *page += 1;
        }
        Ok(())
    }

    /// Makes everything durable that was written or trimmed.
    ///
    /// # Power loss
    /// All of it is there.
    ///
    /// # Cost
    /// [`DiskCall::Flush`]: one program, or none when nothing waits; then the share of reclamation.
    pub fn flush(&mut self) -> Result<(), Error> {
        if !self.store.logical.is_open() {
            return Ok(());
        }
        self.store.begin()?;
        self.finish(Ok(()), true)
    }

    /// Worst case of a call, made now, in which no program fails. It computes, and does not touch the medium.
    pub fn bound(&self, call: DiskCall) -> Bound {
        let layout = self.store.layout();
        let unit = u32::from(layout.config.unit_pages);
        let reads = |reads| Cost { reads: reads + self.store.unsteady_reads(), ..Cost::default() };
        let (work, reads) = match call {
            DiskCall::Read(bytes) => {
                let pages = bytes / layout.logical_bytes + 2;
                return Bound::default().plus(&reads(pages + bytes / layout.geometry.page_bytes + 2));
            }
            // The page's place, and what it held.
            DiskCall::Write(bytes) => (self.store.bounds().work_of_write(bytes), reads(1 + unit)),
            DiskCall::WriteDurable(bytes) => {
                let work = self.store.bounds().work_of_write(bytes);
                let commits = u32::from(work.frames == 0 || self.store.logical.waits_beside(0));
                (Work { commits, ..work }, reads(1 + unit))
            }
            DiskCall::Trim => (TRIM, reads(TRIM_LOOKS)),
            DiskCall::Flush => (Work::COMMIT, reads(0)),
        };
        let first = u32::from(call != DiskCall::Flush && self.commits_first(&work));
        let work = Work { commits: work.commits + first, ..work };
        self.store.bounds().bound(&work, Buffer::AsItIs, 0).plus(&reads)
    }

    /// Worst case of a mount after an unclean stop; twice that where the medium turns out to take no program.
    pub fn mount_bound(&self) -> Cost {
        mount_bound(self.store.layout())
    }

    /// Prepares the disk in idle time, so that the next `burst_bytes` of writes meet neither reclamation nor erase; whether there is nothing
    /// left to prepare. As [`FileSystem::maintain`](crate::FileSystem::maintain).
    ///
    /// # Power loss
    /// What was flushed stays.
    ///
    /// # Cost
    /// Never more than `budget`, when no operation fails.
    pub fn maintain(&mut self, budget: Budget, burst_bytes: u64) -> Result<bool, Error> {
        let layout = self.store.layout();
        let frames = burst_bytes >> layout.logical_bytes.trailing_zeros();
        let frames = u32::try_from(frames).unwrap_or(u32::MAX).min(layout.frame_count()) + 1;
        self.store.idle_within(budget, frames)
    }

    /// Reads data at rest, so that pages whose bits have begun to flip are noticed in time. As [`FileSystem::scrub`](crate::FileSystem::scrub).
    ///
    /// # Cost
    /// Never more than `budget`.
    #[cfg(feature = "scrub")]
    pub fn scrub(&mut self, budget: Budget) -> Result<bool, Error> {
        self.store.scrub_within(budget)
    }

    /// How the medium is doing: spare blocks, wear, corrected bits. Costs nothing.
    pub fn health(&self) -> Health {
        self.store.health()
    }

    /// What the mount found missing; `None` when everything is there. With damage a disk can only be read until it is [repaired](Self::repair).
    pub fn damage(&self) -> Option<Damage> {
        self.store.status().damage()
    }

    /// Accepts what the mount found missing as lost, so that the disk can be changed again. Sectors that are lost are [`Error::Corrupt`] until they are
    /// written anew; what they meant is for the file system on the disk to find out.
    ///
    /// # Power loss
    /// The disk can only be read until a repair ends.
    ///
    /// # Cost
    /// That of a mount, and a frame for each lost leaf of the map.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] when it was mounted for reading.
    pub fn repair(&mut self) -> Result<(), Error> {
        if self.damage().is_none() {
            return Ok(());
        }
        self.store.begin_repair(0)?;
        self.store.end_repair(true)
    }

    /// Whether every later mount shows what was flushed last as this one does; as [`FileSystem::is_settled`](crate::FileSystem::is_settled).
    pub fn is_settled(&self) -> bool {
        self.store.status().is_settled()
    }

    /// Whether anything waits for a [flush](Self::flush). Costs nothing.
    pub fn has_changes(&self) -> bool {
        self.store.logical.is_open()
    }

    /// Whether the logical page of a sector holds anything: whether it was written since it was trimmed last.
    ///
    /// # Cost
    /// One read for the map, where the overlay does not know.
    ///
    /// # Errors
    /// [`Error::NoSuchSector`].
    pub fn is_written(&mut self, sector: u32) -> Result<bool, Error> {
        self.check_sectors(sector, SECTOR_BYTES as usize)?;
        self.store.logical.is_written(sector / self.page_sectors())
    }

    /// Where things are on the medium, for tools. Costs nothing.
    pub fn describe(&self) -> Description {
        self.store.describe()
    }

    /// As [`FileSystem::lend_read_cache`](crate::FileSystem::lend_read_cache): what the map says, and sectors of which a page has several.
    #[cfg(feature = "read-cache")]
    pub fn lend_read_cache(&mut self, memory: &'m mut [u8]) {
        self.store.logical.ftl.pages.lend_read_cache(memory);
    }

    /// What is known of a block; `None` behind the last one. Costs nothing.
    pub fn block(&self, block: BlockIndex) -> Option<BlockInfo> {
        self.store.block(block)
    }

    /// Settings, as the superblock has them. Costs nothing.
    pub fn config(&self) -> &Config {
        &self.store.layout().config
    }

    /// The medium. Costs nothing.
    pub fn flash(&self) -> &F {
        self.store.flash()
    }

    /// The medium, mutable: for counters of a simulator, not for changing what is on it.
    pub fn flash_mut(&mut self) -> &mut F {
        self.store.flash_mut()
    }

    /// Flushes, ends the use of the disk and gives the medium back. The next mount searches nothing and programs nothing.
    ///
    /// # Power loss
    /// What was flushed stays.
    ///
    /// # Cost
    /// [`DiskCall::Flush`], and a root.
    pub fn unmount(mut self) -> Result<F, Error> {
        self.flush()?;
        // Without it the next mount searches; nothing is lost.
        let _ = self.store.end_use();
        Ok(self.store.into_flash())
    }

    /// Refuses sectors that there are not.
    fn check_sectors(&self, sector: u32, bytes: usize) -> Result<(), Error> {
        let left = self.sectors().checked_sub(sector).ok_or(Error::NoSuchSector)?;
        let fits = bytes.is_multiple_of(SECTOR_BYTES as usize) && bytes / SECTOR_BYTES as usize <= left as usize;
        if fits { Ok(()) } else { Err(Error::NoSuchSector) }
    }

    /// The logical page of a sector, where in it the sector begins, and how many of the next `bytes` lie in that page.
    fn piece(&self, sector: u32, bytes: usize) -> (u32, u32, usize) {
        let per_page = self.page_sectors();
        let within = sector % per_page;
        (sector / per_page, within * SECTOR_BYTES, bytes.min(((per_page - within) * SECTOR_BYTES) as usize))
    }

    /// Starts a call that changes the disk; with a commit where the transaction has no room for it.
    fn begin(&mut self, work: &Work) -> Result<(), Error> {
        self.store.begin()?;
        self.store.logical.accept();
        if !self.commits_first(work) {
            return Ok(());
        }
        let result = self.store.logical.commit();
        match result {
            Ok(()) => self.store.logical.accept(),
            Err(error) => self.undo(error),
        }
        result
    }

    /// Whether a call begins with a commit.
    fn commits_first(&self, work: &Work) -> bool {
        self.store.logical.is_open() && self.store.bounds().lacks_room(work)
    }

    /// Ends a call that changes the disk. One that fails is undone.
    fn finish(&mut self, result: Result<(), Error>, durable: bool) -> Result<(), Error> {
        let result = result.and_then(|()| if durable { self.store.logical.commit() } else { Ok(()) });
        match result {
            Ok(()) => self.store.end(),
            Err(error) => self.undo(error),
        }
        result
    }

    fn undo(&mut self, error: Error) {
        if error != Error::Unknown {
            self.store.logical.undo();
        }
    }
}

/// A call of [`Disk::trim`].
const TRIM: Work = Work { discards: TRIM_PAGES, ..Work::NONE };
