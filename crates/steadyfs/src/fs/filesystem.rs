//! A mounted volume: mount, queries and unmount.

use super::commits::{CommitOn, Commits};
use super::directories::Directories;
#[cfg(doc)]
use super::handle::OpenOptions;
use super::inode::{InodeNumber, ROOT};
use super::lists::Lists;
use super::open_table::OpenTable;
use super::volume::Volume;
use crate::config::Config;
use crate::error::{ConfigError, Error, MountError};
use crate::ftl::{BlockInfo, Health};
use crate::media::{BlockIndex, Flash};
use crate::mount::{Access, Damage};
use crate::pages::Verify;
use crate::store::{Description, Store};

/// A change that the volume reports to the observer. It is part of the open transaction: a power
/// cut or a rollback may undo it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Change {
    /// A file or directory was created.
    Created(InodeNumber),
    /// The bytes, the size or the attributes of a file were changed.
    Updated(InodeNumber),
    /// A file or directory got another name.
    Renamed(InodeNumber),
    /// A file or directory was removed.
    Removed(InodeNumber),
    /// All changes since the last commit were undone.
    RolledBack,
}

/// Space of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Usage {
    /// Number of bytes, used or free, for file data and the file table. The first page of the file
    /// table is not included. The number stays the same, unless so many blocks go bad that the
    /// volume shrinks.
    pub usable_bytes: u64,
    /// Number of bytes in use. The pages of removed files are included, though writes [can
    /// use](FileSystem::free_bytes) them. The data of a file of up to 144 bytes lies in the file
    /// table, which has 256 bytes for each file.
    pub used_bytes: u64,
    /// Unit of allocation: number of bytes of a logical page.
    pub logical_bytes: u32,
    /// Maximum number of files and directories.
    pub files_max: u32,
    /// Number of files, directories, long names and sets of attributes. A removed file counts
    /// until all its pages are free.
    pub files: u32,
}

/// A mounted volume.
///
/// Changes become durable with [`commit`](Self::commit), after the chosen [events](CommitOn), or at
/// once through a [durable](OpenOptions::durable) handle. After a power cut, either all changes
/// between two commits are there, or none of them.
///
/// A volume has one owner: every call takes `&mut self`, so the compiler prevents two calls at
/// once. Firmware with several tasks puts the volume behind the mutex of its kernel. A program
/// on a host puts it behind a `std::sync::Mutex`.
///
/// | to | calls |
/// |---|---|
/// | begin and end | [`format`], [`mount`], [`unmount`] |
/// | use files | [`open`], [`read`], [`write`], [`append`], [`truncate`], [`reserve`], [`close`] |
/// | use names | [`create_dir`], [`list`], [`stat`], [`rename`], [`remove`], [`set_attribute`] |
/// | make changes durable, or undo | [`commit`], [`sync`], [`poll`], [`set_commit_on`], [`rollback`] |
/// | know how long a call takes | [`bounds`] |
/// | use idle time | [`maintain`], [`scrub`] |
/// | know how the medium is | [`health`], [`damage`], [`check`], [`repair`] |
///
/// [`format`]: Self::format
/// [`mount`]: Self::mount
/// [`unmount`]: Self::unmount
/// [`open`]: Self::open
/// [`read`]: Self::read
/// [`write`]: Self::write
/// [`append`]: Self::append
/// [`truncate`]: Self::truncate
/// [`reserve`]: Self::reserve
/// [`close`]: Self::close
/// [`create_dir`]: Self::create_dir
/// [`list`]: Self::list
/// [`stat`]: Self::stat
/// [`rename`]: Self::rename
/// [`remove`]: Self::remove
/// [`set_attribute`]: Self::set_attribute
/// [`commit`]: Self::commit
/// [`sync`]: Self::sync
/// [`poll`]: Self::poll
/// [`set_commit_on`]: Self::set_commit_on
/// [`rollback`]: Self::rollback
/// [`bounds`]: Self::bounds
/// [`maintain`]: Self::maintain
/// [`scrub`]: Self::scrub
/// [`health`]: Self::health
/// [`damage`]: Self::damage
/// [`check`]: Self::check
/// [`repair`]: Self::repair
///
/// Calls that only read neither program nor erase. So a power cut in such a call has no other
/// effect than a power cut between two calls. If a volume is dropped without
/// [`unmount`](Self::unmount), its state is the state after a power cut.
///
/// If the description of a call names no cost, the call does not touch the medium. A cost such as
/// [`Call::Open`](super::Call::Open) stands for the bound of this call. A *look* at a page of the
/// file system is at most two reads: a leaf of the map, and the page.
///
/// # Errors of every call
/// Every call may return [`Error::Device`] and [`Error::Corrupt`]. Calls that change something
/// may also return [`Error::ReadOnly`], [`Error::MediaFailing`], [`Error::TransactionTooLarge`]
/// and [`Error::Unknown`]. Calls that take a handle may also return [`Error::WrongMount`].
///
/// A call that returns an error has changed nothing. The open transaction is as it was before the
/// call: you can continue and commit it. There are two exceptions:
///
/// - After [`Error::Unknown`] it is unknown if the change took effect. The volume can then be read
///   until it is mounted again. Data that the device may have lost in a failed flush cannot be
///   read.
/// - A [`write`](Self::write) of more than one logical page is a sequence of such calls. The calls
///   before the failed call have taken effect.
///
/// # Example
/// See the [crate](crate).
pub struct FileSystem<'m, F> {
    pub(super) volume: Volume<'m, F>,
    pub(super) directories: Directories,
    pub(super) open: OpenTable<'m>,
    pub(super) lists: Lists,
    pub(super) commits: Commits,
    observer: Option<&'m mut (dyn FnMut(Change) + Send)>,
}

/// Refuses settings without files.
fn check_files(config: &Config) -> Result<(), MountError> {
    if config.is_disk() { Err(ConfigError::FilesOrFailures.into()) } else { Ok(()) }
}

/// Refuses a disk.
pub(super) fn demand_files(config: &Config) -> Result<(), MountError> {
    if config.is_disk() { Err(MountError::IsDisk) } else { Ok(()) }
}

impl<'m, F: Flash> FileSystem<'m, F> {
    /// Makes an empty volume on a medium. All data on the medium is lost.
    ///
    /// # Power loss
    /// After a power cut, neither the new volume nor an earlier volume is reliable: format again.
    ///
    /// # Cost
    /// - For each block, a check of its bad-block mark, and one read.
    /// - Some sixteen erases: for the superblocks, the ring, and the blocks that the first calls
    ///   use.
    /// - A few programs.
    ///
    /// # Errors
    /// [`MountError::Config`], [`MountError::MemoryTooSmall`],
    /// [`MountError::TooManyBadBlocks`], [`MountError::OwnBlocksBad`], [`MountError::Volume`].
    pub fn format(flash: F, config: &Config, memory: &mut [u8]) -> Result<F, MountError> {
        check_files(config)?;
        Store::format(flash, config, memory, None)
    }

    /// Formats a medium as [`format`](Self::format) does, and erases every block for data. No call
    /// then has to erase until all these blocks were used. So until the writes have filled the
    /// volume, they take only the time of programs. After each block, this function calls `told`
    /// with the number of finished blocks and the number of all blocks. It is mainly for NOR, where
    /// an erase lasts as long as hundreds of programs.
    ///
    /// # Power loss
    /// As [`format`](Self::format).
    ///
    /// # Cost
    /// The cost of [`format`](Self::format), and an erase of each block: 38 seconds on 16 MiB
    /// of NOR in blocks of 64 KiB.
    ///
    /// # Errors
    /// As [`format`](Self::format).
    pub fn format_erased(
        flash: F,
        config: &Config,
        memory: &mut [u8],
        told: &mut dyn FnMut(u32, u32),
    ) -> Result<F, MountError> {
        check_files(config)?;
        Store::format(flash, config, memory, Some(told))
    }

    /// Mounts a volume. `memory` is all the RAM that it uses: [`Config::memory_bytes`]. If `memory`
    /// is larger, more files can be open at once: one more for each twelve bytes.
    ///
    /// # Power loss
    /// The power may be cut in a mount any number of times.
    ///
    /// # Cost
    /// At most [`CallBounds::mount`](super::CallBounds::mount). It depends on the map and on the
    /// number of programs between two roots, not on the number of files.
    ///
    /// # Errors
    /// [`MountError`] names the fault of the medium or of the buffer.
    // Not inlined: more of the stack is then free during recovery.
    #[inline(never)]
    pub fn mount(flash: F, access: Access, memory: &'m mut [u8]) -> Result<Self, MountError> {
        let mut result = Self::empty(flash, access, memory);
        // Recover in place: a copy of the whole volume costs code and stack.
        if let Ok(fs) = &mut result
            && let Err(error) = fs.recover(access)
        {
            result = Err(error);
        }
        result
    }

    /// Brings an empty volume to the state of the last commit.
    fn recover(&mut self, access: Access) -> Result<(), MountError> {
        demand_files(self.config())?;
        let is_there = match access {
            Access::ReadOnly => self.volume.store.recover::<false>()?,
            Access::ReadWrite => self.volume.store.recover::<true>()?,
        };
        self.finish_mount(is_there)
    }

    /// Reads the superblock, and makes a volume without content. Not inlined: its stack is free
    /// again before the recovery.
    #[inline(never)]
    pub(super) fn empty(
        flash: F,
        access: Access,
        memory: &'m mut [u8],
    ) -> Result<Self, MountError> {
        Store::open(flash, access, memory).map(|mut store| Self {
            open: OpenTable::new(store.take_spare()),
            volume: Volume::new(store),
            directories: Directories::default(),
            lists: Lists::default(),
            commits: Commits::new(),
            observer: None,
        })
    }

    /// Reads the tables that RAM keeps, after the recovery of the store.
    pub(super) fn finish_mount(&mut self, is_there: bool) -> Result<(), MountError> {
        if !is_there {
            return Err(self.volume.store.without_root());
        }
        // One failed read does not prove that the page is lost.
        match (0..3).map(|_| self.load_tables()).find(|result| *result != Err(Error::Corrupt)) {
            // Other pages can still be read. But the free pages are unknown, or no path leads to a
            // file.
            None => self.volume.store.find_tables_lost(),
            Some(result) => result?,
        }
        self.volume.store.start_scrub();
        Ok(())
    }

    /// Reads the tables that RAM keeps, and the inode of the root directory.
    fn load_tables(&mut self) -> Result<(), Error> {
        self.lists.load_with_space(&mut self.volume)?;
        self.volume.read_header(ROOT).map(drop)
    }

    /// Sets an observer. The volume calls it once for every change, after the change, within the
    /// call that made the change. No [bound](super::CallBounds::of) includes the observer's own
    /// time.
    pub fn set_observer(&mut self, observer: &'m mut (dyn FnMut(Change) + Send)) {
        self.observer = Some(observer);
    }

    /// Chooses the pages whose checksum is verified when they are read. After a mount, all pages
    /// are verified. Costs nothing. In a long read, the checksums of data pages take nine tenths of
    /// the instructions. If these pages are not verified, the read saves them.
    pub fn set_verify(&mut self, verify: Verify) {
        self.volume.store.set_verify(verify);
    }

    /// Calls the observer. Not inlined: the code for this call exists once.
    #[inline(never)]
    pub(super) fn notify(&mut self, change: Change) {
        if let Some(observer) = &mut self.observer {
            observer(change);
        }
    }

    /// Returns the largest size of a file, in bytes. Costs nothing.
    pub fn size_max(&self) -> u64 {
        self.volume.size_max()
    }

    /// Returns the space of the volume. Costs nothing.
    pub fn usage(&self) -> Usage {
        let logical_bytes = self.volume.store.layout().logical_bytes;
        let bytes = |pages: u32| u64::from(pages) * u64::from(logical_bytes);
        let usable = self.volume.capacity_empty();
        let free = self.volume.capacity().min(usable).saturating_sub(self.volume.space().used);
        Usage {
            usable_bytes: bytes(usable),
            used_bytes: bytes(usable - free),
            logical_bytes,
            files_max: self.volume.plan().files_max(),
            files: self.volume.space().inodes,
        }
    }

    /// Returns the settings of the volume that are stored in its superblock. Costs nothing.
    pub fn config(&self) -> &Config {
        &self.volume.store.layout().config
    }

    /// Returns the positions of all structures on the medium, for tools. Costs nothing.
    pub fn describe(&self) -> Description {
        self.volume.store.describe()
    }

    /// Returns the state of a block, its wear and its number of live pages, or `None` behind the
    /// last block. Costs nothing.
    pub fn block(&self, block: BlockIndex) -> Option<BlockInfo> {
        self.volume.store.block(block)
    }

    /// Returns the health of the medium: spare blocks, wear, corrected bits. Costs nothing.
    ///
    /// If more blocks go bad than [`Config::bad_blocks_max`], the volume shrinks with each further
    /// bad block: there is less [room](Self::usage). If the stored data leaves too little room for
    /// reclamation, the volume can only be read. It then refuses every change with
    /// [`Error::ReadOnly`], and committed data stays.
    pub fn health(&self) -> Health {
        self.volume.store.health()
    }

    /// Returns the medium. Costs nothing.
    pub fn flash(&self) -> &F {
        self.volume.store.flash()
    }

    /// Returns the medium as a mutable reference, for counters of a simulator. Do not change its
    /// content.
    pub fn flash_mut(&mut self) -> &mut F {
        self.volume.store.flash_mut()
    }

    /// Returns the damage that the mount found, or `None` if nothing is lost. A damaged volume can
    /// only be read until it is [repaired](Self::repair).
    ///
    /// A [leaf of the map](Damage::Leaf) may also be lost later. The volume finds this loss when it
    /// writes the leaf back, in any call that changes something. Committed data stays, and a repair
    /// is possible after the next mount.
    pub fn damage(&self) -> Option<Damage> {
        self.volume.store.status().damage()
    }

    /// Returns true if every later mount is certain to show the same last commit as this mount.
    /// Costs nothing.
    ///
    /// It returns `false` in each of these cases:
    ///
    /// - This mount was [for reading](Access::ReadOnly), and the volume was not
    ///   [unmounted](Self::unmount). A power cut or a failure may have left a metastable page. The
    ///   next read of such a page may return something else, so the last commit may be there or
    ///   not. A mount [for writing](Access::ReadWrite) decides this, unless the medium accepts no
    ///   more programs.
    /// - A call has returned [`Error::Unknown`].
    /// - The volume has [damage](Self::damage).
    pub fn is_settled(&self) -> bool {
        self.volume.store.status().is_settled()
    }

    /// Ends the use of a volume and returns the medium. If [`CommitOn::UNMOUNT`] is chosen, as it
    /// is by default, it commits first.
    ///
    /// The next mount searches nothing and programs nothing. If the root could not be written, the
    /// next mount works as after a power cut. Then nothing is lost, and `unmount` returns no error.
    /// If nothing was changed since the mount, `unmount` programs nothing. In this case, a
    /// [`CleanReader`](crate::CleanReader) still refuses the volume if it refused the volume
    /// before. The next mount may then also work as after a power cut:
    /// [`CallBounds::clean_mount`](super::CallBounds::clean_mount) returns its worst case.
    ///
    /// # Power loss
    /// Committed data stays. After a power cut, the next mount may have to search.
    ///
    /// # Cost
    /// The cost of [`commit`](Self::commit), or of [`rollback`](Self::rollback) if uncommitted
    /// changes are dropped. In addition, the cost of a root:
    /// [`CallBounds::unmount`](super::CallBounds::unmount).
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn unmount(mut self) -> Result<F, Error> {
        if self.commits.events().contains(CommitOn::UNMOUNT) {
            self.commit()?;
        } else if self.volume.store.logical.is_open() {
            self.rollback()?;
        }
        // Without the root the next mount must search, but nothing is lost.
        let _ = self.volume.store.end_use();
        Ok(self.volume.store.into_flash())
    }
}
