//! A disk on raw flash: sectors of 512 bytes that are rewritten in place. It serves a file system
//! without support for flash (FAT, ext4, littlefs on a block device).
//!
//! [`Disk`] is the [store](crate) without files. It has the same map, journal, reclamation and
//! roots, the same rules at a power cut, and a [bound](Disk::bound) for every call.
//!
//! A write waits for a [flush](Disk::flush), as in the write cache of any disk, and needs no
//! commit. A [durable write](Disk::write_durable) is on the medium when it returns.
//!
//! After a power cut the disk holds the result of all writes up to some point, in their order. All
//! flushed writes are among them. So a later write never survives without the earlier writes, and a
//! logical page is never half written. Reclamation does not move [trimmed](Disk::trim) sectors, so
//! they cost nothing more.
//!
//! ```
//! use steadyfs::disk::{Disk, DiskCall};
//! use steadyfs::{Access, Config};
//! # let small = steadyfs::media::Geometry {
//! #     page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false,
//! # };
//! # let flash = steadyfs_sim::Nand::with_geometry(small, steadyfs_sim::NandTiming::ROUND, 1);
//! let geometry = steadyfs::media::Flash::geometry(&flash);
//! let config = Config::for_disk(&geometry);
//! let mut memory = vec![0; config.memory_bytes(&geometry)];
//!
//! let flash = Disk::format(flash, &config, &mut memory)?;
//! let mut disk = Disk::mount(flash, Access::ReadWrite, &mut memory)?;
//! let bound = disk.bound(DiskCall::WriteDurable(512));
//! println!("{} sectors; a durable one takes at most {bound:?}", disk.sectors());
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
use crate::processor;
use crate::reclaim::{Buffer, Work, mount_bound};
use crate::store::{Description, Store};

/// Bytes of a sector.
pub const SECTOR_BYTES: u32 = 512;
/// Maximum number of logical pages that one call of [`Disk::trim`] discards.
const TRIM_PAGES: u32 = 8;
/// Maximum number of logical pages that one call of [`Disk::trim`] looks up.
const TRIM_LOOKS: u32 = 64;

/// A call for which [`Disk::bound`] returns the worst case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiskCall {
    /// A read of at most this number of bytes.
    Read(u32),
    /// A [write](Disk::write) of at most this number of bytes within one logical page.
    Write(u32),
    /// A [durable write](Disk::write_durable) of at most this number of bytes within one logical
    /// page.
    WriteDurable(u32),
    /// One call of [`trim`](Disk::trim).
    Trim,
    /// A [flush](Disk::flush).
    Flush,
}

impl DiskCall {
    /// Returns the base of the instructions of a call: [`processor`].
    const fn instructions(self) -> u32 {
        match self {
            DiskCall::Read(_) => 10_000,
            DiskCall::Write(_) | DiskCall::WriteDurable(_) => 400_000,
            DiskCall::Trim => 300_000,
            DiskCall::Flush => 300_000,
        }
    }
}

/// The options of [`Disk::write_with`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// True if the data must be on the medium when the call returns (FUA).
    pub durable: bool,
    /// Number of the [stream](crate::Config::streams) of the sectors; 0 for data without a stream.
    /// If the disk does not have this stream, the disk uses its last stream.
    pub stream: u8,
}

/// A mounted disk.
///
/// A disk has one owner: every call takes `&mut self`.
///
/// Every call returns the same errors as a call of a
/// [`FileSystem`](crate::FileSystem#errors-of-every-call), with the same meaning: a call that
/// returns an error has changed nothing. There are two exceptions. If a call covers several logical
/// pages, the pages before the error may have changed. After [`Error::Unknown`], it is unknown if
/// the call took effect.
pub struct Disk<'m, F> {
    store: Store<'m, F>,
    /// Number of logical pages of the disk. Blocks that go bad later do not reduce this number.
    pages: u32,
}

/// Checks that the settings belong to a disk.
fn check_disk(config: &Config) -> Result<(), MountError> {
    if config.is_disk() { Ok(()) } else { Err(ConfigError::FilesOrFailures.into()) }
}

impl<'m, F: Flash> Disk<'m, F> {
    /// Makes an empty disk on a medium: every sector reads as zeros. All data on the medium is
    /// lost. Take the settings from [`Config::for_disk`], or use other settings without files.
    ///
    /// # Power loss
    /// After a power cut, neither the new volume nor an earlier volume is reliable. Format again.
    ///
    /// # Errors
    /// - The errors of [`FileSystem::format`](crate::FileSystem::format).
    /// - [`ConfigError::FilesOrFailures`] if the settings have files.
    /// - [`ConfigError::SectorBytes`] if a logical page does not have whole sectors.
    pub fn format(flash: F, config: &Config, memory: &mut [u8]) -> Result<F, MountError> {
        check_disk(config)?;
        Store::format(flash, config, memory, None)
    }

    /// Formats as [`format`](Self::format) does, and erases every block that holds data, as
    /// [`FileSystem::format_erased`](crate::FileSystem::format_erased) does.
    ///
    /// # Power loss
    /// As [`format`](Self::format).
    ///
    /// # Cost
    /// The cost of [`format`](Self::format), and an erase of each block.
    ///
    /// # Errors
    /// The errors of [`format`](Self::format).
    pub fn format_erased(
        flash: F,
        config: &Config,
        memory: &mut [u8],
        told: &mut dyn FnMut(u32, u32),
    ) -> Result<F, MountError> {
        check_disk(config)?;
        Store::format(flash, config, memory, Some(told))
    }

    /// Mounts a disk. `memory` is all the RAM that the disk uses: [`Config::memory_bytes`].
    ///
    /// # Power loss
    /// The power may be cut in a mount any number of times.
    ///
    /// # Cost
    /// [`mount_bound`](Self::mount_bound).
    ///
    /// # Errors
    /// A [`MountError`] that names the fault of the medium or the buffer.
    pub fn mount(flash: F, access: Access, memory: &'m mut [u8]) -> Result<Self, MountError> {
        let mut result = Self::empty(flash, access, memory);
        // Recover in place: a copy of the whole disk costs code and stack.
        if let Ok(disk) = &mut result
            && let Err(error) = disk.recover(access)
        {
            result = Err(error);
        }
        result
    }

    /// Opens the store of a disk.
    ///
    /// Not inlined, so that its stack is free during the recovery.
    #[inline(never)]
    fn empty(flash: F, access: Access, memory: &'m mut [u8]) -> Result<Self, MountError> {
        Store::open(flash, access, memory).map(|store| Self { pages: store.layout().usable, store })
    }

    /// Brings an opened disk to the last committed state.
    fn recover(&mut self, access: Access) -> Result<(), MountError> {
        if !self.config().is_disk() {
            return Err(MountError::IsFileSystem);
        }
        let is_there = match access {
            Access::ReadOnly => self.store.recover::<false>()?,
            Access::ReadWrite => self.store.recover::<true>()?,
        };
        if !is_there {
            return Err(self.store.without_root());
        }
        self.store.start_scrub();
        Ok(())
    }

    /// Returns the number of sectors, which is constant for the life of the disk. All sectors may
    /// hold data.
    pub fn sectors(&self) -> u32 {
        self.pages * self.page_sectors()
    }

    /// Returns the number of sectors of a logical page, the unit of writes and trims. The blocks or
    /// clusters of a file system should have this size and alignment.
    pub fn page_sectors(&self) -> u32 {
        self.store.layout().logical_bytes / SECTOR_BYTES
    }

    /// Reads sectors from `sector` on. Sectors that were never written, or are trimmed, read as
    /// zeros. The length of `data` is a whole number of sectors.
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

    /// Writes sectors from `sector` on. The length of `data` is a whole number of sectors.
    ///
    /// # Power loss
    /// The data is not durable before the next [`flush`](Self::flush). If some of the data survives
    /// a power cut, all earlier writes survive too.
    ///
    /// # Cost
    /// [`DiskCall::Write`] for each logical page. If only a short part of a logical page is
    /// written, the part is a patch in the journal buffer. On NAND a patch is at most a quarter of
    /// the buffer: one sector if the buffer has 2 KiB. A longer part programs the whole page.
    ///
    /// # Errors
    /// [`Error::NoSuchSector`].
    pub fn write(&mut self, sector: u32, data: &[u8]) -> Result<(), Error> {
        self.write_with(sector, data, WriteOptions::default())
    }

    /// Writes sectors as [`write`](Self::write) does, and makes each logical page durable (FUA),
    /// together with all waiting changes.
    ///
    /// # Power loss
    /// All data of a call that returned survives a power cut.
    ///
    /// # Cost
    /// [`DiskCall::WriteDurable`] for each logical page. A whole page takes
    /// `pages_per_logical_page` programs, if no other change waits.
    ///
    /// # Errors
    /// [`Error::NoSuchSector`].
    pub fn write_durable(&mut self, sector: u32, data: &[u8]) -> Result<(), Error> {
        self.write_with(sector, data, WriteOptions { durable: true, stream: 0 })
    }

    /// Writes sectors into a stream, as [`write`](Self::write) or
    /// [`write_durable`](Self::write_durable) does. All sectors of one logical page are in the same
    /// stream: the stream of the last write to the page.
    ///
    /// # Power loss, cost, errors
    /// As [`write`](Self::write) or [`write_durable`](Self::write_durable).
    pub fn write_with(
        &mut self,
        sector: u32,
        data: &[u8],
        options: WriteOptions,
    ) -> Result<(), Error> {
        self.check_sectors(sector, data.len())?;
        let mut at = sector;
        let mut rest = data;
        while !rest.is_empty() {
            let (logical, offset, bytes) = self.piece(at, rest.len());
            let (now, later) = rest.split_at(bytes);
            // Each logical page is a separate call, so that its bound holds.
            self.begin(&self.store.bounds().work_of_write(bytes as u32))?;
            let piece = Piece {
                logical,
                offset,
                bytes: now,
                stream: options.stream,
                commits: options.durable,
            };
            let result = self.store.logical.write_or_patch(&piece, false);
            self.finish(result, options.durable)?;
            (at, rest) = (at + bytes as u32 / SECTOR_BYTES, later);
        }
        Ok(())
    }

    /// Discards sectors. Whole logical pages among them read as zeros from then on, and
    /// reclamation regains their room. The other sectors stay as they are.
    ///
    /// One call discards a few pages, so its cost does not depend on `count`. It returns the number
    /// of sectors that it has finished. Call it again for the remaining sectors. Empty pages are
    /// skipped quickly.
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
        let end = sector
            .checked_add(count)
            .filter(|&end| end <= self.sectors())
            .ok_or(Error::NoSuchSector)?;
        let per_page = self.page_sectors();
        // Only whole logical pages are discarded; the sectors beside them stay.
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
            // An empty page takes no room of the transaction.
            if self.store.logical.is_written(*page)? {
                self.store.logical.discard(*page)?;
                left -= 1;
            }
            *page += 1;
        }
        Ok(())
    }

    /// Makes all written and trimmed sectors durable.
    ///
    /// # Power loss
    /// All changes before a flush that returned survive a power cut.
    ///
    /// # Cost
    /// [`DiskCall::Flush`]: one program, or no program if no change waits. In addition, the share
    /// of reclamation.
    pub fn flush(&mut self) -> Result<(), Error> {
        if !self.store.logical.is_open() {
            return Ok(());
        }
        self.store.begin()?;
        self.finish(Ok(()), true)
    }

    /// Returns the worst case of a call that is made now, if no program fails. The computation does
    /// not access the medium.
    pub fn bound(&self, call: DiskCall) -> Bound {
        let layout = self.store.layout();
        let unit = u32::from(layout.config.pages_per_logical_page);
        let reads = |reads| Cost {
            reads: reads + self.store.unsteady_reads(),
            instructions: processor::base(layout, call.instructions()),
            ..Cost::default()
        };
        let (work, reads) = match call {
            DiskCall::Read(bytes) => {
                let pages = bytes / layout.logical_bytes + 2;
                return Bound::default()
                    .plus(&reads(pages + bytes / layout.geometry.page_bytes + 2));
            }
            // Reads the map entry of the page and its old content.
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

    /// Returns the worst case of a mount after an unclean stop. If the medium accepts no program,
    /// the mount may cost twice as much.
    pub fn mount_bound(&self) -> Cost {
        mount_bound(self.store.layout())
    }

    /// Prepares the disk in idle time, so that the next `burst_bytes` of writes need neither
    /// reclamation nor an erase. Returns true if nothing is left to prepare. See
    /// [`FileSystem::maintain`](crate::FileSystem::maintain).
    ///
    /// # Power loss
    /// Flushed data survives.
    ///
    /// # Cost
    /// At most `budget`, if no operation fails.
    pub fn maintain(&mut self, budget: Budget, burst_bytes: u64) -> Result<bool, Error> {
        let layout = self.store.layout();
        let frames = burst_bytes >> layout.logical_bytes.trailing_zeros();
        let frames = u32::try_from(frames).unwrap_or(u32::MAX).min(layout.frame_count()) + 1;
        self.store.idle_within(budget, frames)
    }

    /// Reads data at rest, so that pages with flipped bits are found in time. See
    /// [`FileSystem::scrub`](crate::FileSystem::scrub).
    ///
    /// # Cost
    /// At most `budget`.
    #[cfg(feature = "scrub")]
    pub fn scrub(&mut self, budget: Budget) -> Result<bool, Error> {
        self.store.scrub_within(budget)
    }

    /// Returns the health of the medium: spare blocks, wear, corrected bits. Costs nothing.
    pub fn health(&self) -> Health {
        self.store.health()
    }

    /// Returns the damage that the mount found, or `None` if nothing is lost. A disk with damage is
    /// read-only until it is [repaired](Self::repair).
    pub fn damage(&self) -> Option<Damage> {
        self.store.status().damage()
    }

    /// Accepts the losses that the mount found, so that the disk can be changed again. Reads of
    /// lost sectors return [`Error::Corrupt`] until the sectors are rewritten. Afterwards, run the
    /// check of the file system on the disk.
    ///
    /// # Power loss
    /// The disk is read-only until a repair ends.
    ///
    /// # Cost
    /// The cost of a mount, and a frame for each lost leaf of the map.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] if the disk was mounted for reading.
    pub fn repair(&mut self) -> Result<(), Error> {
        if self.damage().is_none() {
            return Ok(());
        }
        self.store.begin_repair(0)?;
        self.store.end_repair(true)
    }

    /// Returns true if every later mount is certain to show the same last flushed state as this
    /// mount. See [`FileSystem::is_settled`](crate::FileSystem::is_settled).
    pub fn is_settled(&self) -> bool {
        self.store.status().is_settled()
    }

    /// Returns true if a change waits for a [flush](Self::flush). Costs nothing.
    pub fn has_changes(&self) -> bool {
        self.store.logical.is_open()
    }

    /// Returns true if the logical page of a sector was written since its last trim.
    ///
    /// # Cost
    /// One read of the map, if the overlay has no entry for the page.
    ///
    /// # Errors
    /// [`Error::NoSuchSector`].
    pub fn is_written(&mut self, sector: u32) -> Result<bool, Error> {
        self.check_sectors(sector, SECTOR_BYTES as usize)?;
        self.store.logical.is_written(sector / self.page_sectors())
    }

    /// Returns the positions of all structures on the medium, for tools. Costs nothing.
    pub fn describe(&self) -> Description {
        self.store.describe()
    }

    /// Lends a read cache, as [`FileSystem::lend_read_cache`](crate::FileSystem::lend_read_cache)
    /// does. The cache keeps pages of the map. If a program page has several sectors, it also keeps
    /// sectors.
    #[cfg(feature = "read-cache")]
    pub fn lend_read_cache(&mut self, memory: &'m mut [u8]) {
        self.store.logical.ftl.pages.lend_read_cache(memory);
    }

    /// Returns the state of a block, its wear and its number of live pages, or `None` behind the
    /// last block. Costs nothing.
    pub fn block(&self, block: BlockIndex) -> Option<BlockInfo> {
        self.store.block(block)
    }

    /// Returns the settings in the superblock. Costs nothing.
    pub fn config(&self) -> &Config {
        &self.store.layout().config
    }

    /// Returns the medium. Costs nothing.
    pub fn flash(&self) -> &F {
        self.store.flash()
    }

    /// Returns the medium as a mutable reference, for counters of a simulator. Do not change its
    /// content.
    pub fn flash_mut(&mut self) -> &mut F {
        self.store.flash_mut()
    }

    /// Flushes, ends the use of the disk and returns the medium. The next mount then needs no
    /// search and programs nothing.
    ///
    /// # Power loss
    /// Flushed data survives.
    ///
    /// # Cost
    /// [`DiskCall::Flush`], and the programs of a root.
    pub fn unmount(mut self) -> Result<F, Error> {
        self.flush()?;
        // If this fails, the next mount must search, but nothing is lost.
        let _ = self.store.end_use();
        Ok(self.store.into_flash())
    }

    /// Refuses sectors that do not exist, and lengths that are not whole sectors.
    fn check_sectors(&self, sector: u32, bytes: usize) -> Result<(), Error> {
        let left = self.sectors().checked_sub(sector).ok_or(Error::NoSuchSector)?;
        let fits = bytes.is_multiple_of(SECTOR_BYTES as usize)
            && bytes / SECTOR_BYTES as usize <= left as usize;
        if fits { Ok(()) } else { Err(Error::NoSuchSector) }
    }

    /// Returns the logical page of a sector and the offset of the sector in this page. Also returns
    /// how many of the next `bytes` bytes lie in this page.
    fn piece(&self, sector: u32, bytes: usize) -> (u32, u32, usize) {
        let per_page = self.page_sectors();
        let within = sector % per_page;
        (
            sector / per_page,
            within * SECTOR_BYTES,
            bytes.min(((per_page - within) * SECTOR_BYTES) as usize),
        )
    }

    /// Starts a call that changes the disk. Commits first if the transaction has no room for the
    /// call.
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

    /// Returns true if a call begins with a commit.
    fn commits_first(&self, work: &Work) -> bool {
        self.store.logical.is_open() && self.store.bounds().lacks_room(work)
    }

    /// Ends a call that changes the disk. Undoes a call that failed.
    fn finish(&mut self, result: Result<(), Error>, durable: bool) -> Result<(), Error> {
        let result =
            result.and_then(|()| if durable { self.store.logical.commit() } else { Ok(()) });
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

/// The work of a call of [`Disk::trim`].
const TRIM: Work = Work { discards: TRIM_PAGES, ..Work::NONE };
