//! A mounted volume: it begins, is asked, and ends.

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

/// What an observer is told of. It is part of the open transaction: a power cut or a rollback may undo it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A file or directory was created.
    Created(InodeNumber),
    /// A file's bytes or size, or attributes, were changed.
    Updated(InodeNumber),
    /// A file or directory has another name.
    Renamed(InodeNumber),
    /// A file or directory was removed.
    Removed(InodeNumber),
    /// Everything since the last commit was undone.
    RolledBack,
}

/// Space of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Room for file data and for what the file table takes beyond its first page, taken and free, in bytes. It stays what it is, unless so many
    /// blocks go bad that the volume shrinks.
    pub usable_bytes: u64,
    /// Taken, in bytes. The pages of removed files are part of it, though writes
    /// [find](FileSystem::free_bytes) them. Data of files of up to 144 bytes lies in the file table,
    /// 256 bytes for each file.
    pub used_bytes: u64,
    /// Unit in which room is taken.
    pub logical_bytes: u32,
    /// Files and directories that there may be.
    pub files_max: u32,
    /// Files, directories, long names and sets of attributes that there are.
    pub files: u32,
}

/// A mounted volume.
///
/// Changes become durable with [`commit`](Self::commit), with the [events](CommitOn) that were chosen, or at once through a
/// [durable](OpenOptions::durable) handle. Everything between two commits is there after a power cut, or nothing of it.
///
/// It has one owner: every call takes `&mut self`, so that the compiler keeps two from running at once. Firmware with several tasks
/// puts it behind the mutex of its kernel, a program on a host behind a `std::sync::Mutex`.
///
/// | to | calls |
/// |---|---|
/// | begin and end | [`format`](Self::format), [`mount`](Self::mount), [`unmount`](Self::unmount) |
/// | use files | [`open`](Self::open), [`read`](Self::read), [`write`](Self::write), [`append`](Self::append), [`truncate`](Self::truncate), [`reserve`](Self::reserve), [`close`](Self::close) |
/// | use names | [`create_dir`](Self::create_dir), [`list`](Self::list), [`stat`](Self::stat), [`rename`](Self::rename), [`remove`](Self::remove), [`set_attribute`](Self::set_attribute) |
/// | make changes durable, or undo them | [`commit`](Self::commit), [`flush`](Self::flush), [`poll`](Self::poll), [`set_commit_on`](Self::set_commit_on), [`rollback`](Self::rollback) |
/// | know how long a call takes | [`bound`](Self::bound), [`envelopes`](Self::envelopes), [`mount_bound`](Self::mount_bound) |
/// | use idle time | [`maintain`](Self::maintain), [`scrub`](Self::scrub) |
/// | know how the medium is | [`health`](Self::health), [`damage`](Self::damage), [`check`](Self::check), [`repair`](Self::repair) |
///
/// # Power loss
/// A call that only reads programs and erases nothing, so that a power cut in it is one between two calls. A volume that is dropped without
/// [`unmount`](Self::unmount) is as after a power cut.
///
/// # Cost
/// A call whose description names no cost does not touch the medium.
///
/// # Errors of every call
/// [`Error::Device`], [`Error::Corrupt`]; of calls that change something also [`Error::ReadOnly`], [`Error::MediaFailing`],
/// [`Error::TransactionTooLarge`] and [`Error::Unknown`]; of calls that take a handle [`Error::WrongMount`].
///
/// An error says that the call has changed nothing: the open transaction is as it was before, and can go on and be committed. Only after
/// [`Error::Unknown`] nobody knows; the volume can then be read until it is mounted again, but for what the device may have lost in a flush that failed. Of a [`write`](Self::write) of more than one logical page,
/// which is the sum of such calls, those before the one that failed have taken effect.
///
/// # Example
/// See the [crate](crate).
pub struct FileSystem<'m, F> {
    pub(super) volume: Volume<'m, F>,
    pub(super) directories: Directories,
    pub(super) open: OpenTable<'m>,
    pub(super) lists: Lists,
    pub(super) commits: Commits,
    /// A rollback has changed what RAM keeps of the volume's own pages, and they could not be read yet.
    pub(super) is_stale: bool,
    observer: Option<&'m mut (dyn FnMut(Change) + Send)>,
}

/// Whether the settings have files.
fn check_files(config: &Config) -> Result<(), MountError> {
    if config.is_disk() { Err(ConfigError::FilesOrFailures.into()) } else { Ok(()) }
}

/// Refuses a disk.
pub(super) fn demand_files(config: &Config) -> Result<(), MountError> {
    if config.is_disk() { Err(MountError::IsDisk) } else { Ok(()) }
}

impl<'m, F: Flash> FileSystem<'m, F> {
    /// Makes an empty volume on a medium. Everything on it is lost.
    ///
    /// # Power loss
    /// After a cut neither the new volume nor an earlier one can be relied on: format again.
    ///
    /// # Cost
    /// One look at the mark of each block and one read, some sixteen erases (superblocks, ring, and what the first calls use), a few programs.
    ///
    /// # Errors
    /// [`MountError::Config`], [`MountError::MemoryTooSmall`], [`MountError::TooManyBadBlocks`], [`MountError::OwnBlocksBad`], [`MountError::Volume`].
    pub fn format(flash: F, config: &Config, memory: &mut [u8]) -> Result<F, MountError> {
        check_files(config)?;
        Store::format(flash, config, memory, None)
    }

    /// The same, and erases every block that holds data, so that no call has to until all of them were used: the first volume of writes is as fast as programs are.
    /// Calls `told` after each block with how many are done, and of how many. For NOR above all, where an erase lasts as long as hundreds of programs.
    ///
    /// # Power loss
    /// As [`format`](Self::format).
    ///
    /// # Cost
    /// That of [`format`](Self::format), and an erase of each block: 38 seconds on 16 MiB of NOR in blocks of 64 KiB.
    ///
    /// # Errors
    /// Those of [`format`](Self::format).
    pub fn format_erased(flash: F, config: &Config, memory: &mut [u8], told: &mut dyn FnMut(u32, u32)) -> Result<F, MountError> {
        check_files(config)?;
        Store::format(flash, config, memory, Some(told))
    }

    /// Mounts a volume. `memory` is all the RAM that it uses: [`Config::memory_bytes`]. What is more than that takes open files,
    /// twelve bytes each.
    ///
    /// # Power loss
    /// A mount may be cut as often as it likes.
    ///
    /// # Cost
    /// Bounded by the map and the programs between two roots, whatever the number of files: [`mount_bound`](Self::mount_bound).
    ///
    /// # Errors
    /// [`MountError`] says what is wrong with the medium or the buffer.
    // Not inlined: less of the stack is in use while the volume is recovered.
    #[inline(never)]
    pub fn mount(flash: F, access: Access, memory: &'m mut [u8]) -> Result<Self, MountError> {
        let mut result = Self::empty(flash, access, memory);
        // Changed in place: a copy of the whole costs code and stack.
        if let Ok(fs) = &mut result
            && let Err(error) = fs.recover(access)
        {
            result = Err(error);
        }
        result
    }

    /// Brings an empty volume to the state that was committed last.
    fn recover(&mut self, access: Access) -> Result<(), MountError> {
        demand_files(self.config())?;
        let is_there = match access {
            Access::ReadOnly => self.volume.store.recover::<false>()?,
            Access::ReadWrite => self.volume.store.recover::<true>()?,
        };
        self.finish_mount(is_there)
    }

    /// Reads what the volume is. Not inlined: what makes it is off the stack when it is recovered.
    #[inline(never)]
    pub(super) fn empty(flash: F, access: Access, memory: &'m mut [u8]) -> Result<Self, MountError> {
        Store::open(flash, access, memory).map(|mut store| Self {
            open: OpenTable::new(store.take_spare()),
            volume: Volume::new(store),
            directories: Directories::default(),
            lists: Lists::default(),
            commits: Commits::new(),
            is_stale: false,
            observer: None,
        })
    }

    /// Reads what RAM keeps, once the store was recovered.
    pub(super) fn finish_mount(&mut self, is_there: bool) -> Result<(), MountError> {
        if !is_there {
            return Err(MountError::NoRoot);
        }
        // A read that fails once says nothing of the page.
        match (0..3).map(|_| self.load_tables()).find(|result| *result != Err(Error::Corrupt)) {
            // Intact pages can be read. The free pages are unknown, or no path leads to a file.
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

    /// Lets `observer` be told of every change, in the call that makes it and after it was made. Its own time is in no
    /// [bound](Self::bound).
    pub fn set_observer(&mut self, observer: &'m mut (dyn FnMut(Change) + Send)) {
        self.observer = Some(observer);
    }

    /// Chooses which pages are checked against their checksum when they are read; all of them after a mount. Costs nothing, and saves the
    /// checksum of each data page that is read: nine tenths of a long read's instructions.
    pub fn set_verify(&mut self, verify: Verify) {
        self.volume.store.set_verify(verify);
    }

    /// Tells the observer. Not inlined: the caller's code is called from one place.
    #[inline(never)]
    pub(super) fn notify(&mut self, change: Change) {
        if let Some(observer) = &mut self.observer {
            observer(change);
        }
    }

    /// Largest size of a file, in bytes. Costs nothing.
    pub fn size_max(&self) -> u64 {
        self.volume.size_max()
    }

    /// Space of the volume. Costs nothing.
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

    /// Settings of the volume, as its superblock has them. Costs nothing.
    pub fn config(&self) -> &Config {
        &self.volume.store.layout().config
    }

    /// Where things are on the medium, for tools. Costs nothing.
    pub fn describe(&self) -> Description {
        self.volume.store.describe()
    }

    /// What is known of a block; `None` behind the last one. Costs nothing.
    pub fn block(&self, block: BlockIndex) -> Option<BlockInfo> {
        self.volume.store.block(block)
    }

    /// How the medium is doing: spare blocks, wear, corrected bits. Costs nothing.
    ///
    /// When more blocks have gone bad than [`Config::bad_blocks_max`], the volume shrinks with each further one: there is less
    /// [room](Self::usage). When what it holds does not leave reclamation the room that it needs, the volume can only be read: every
    /// change is refused with [`Error::ReadOnly`], and what was committed stays.
    pub fn health(&self) -> Health {
        self.volume.store.health()
    }

    /// The medium. Costs nothing.
    pub fn flash(&self) -> &F {
        self.volume.store.flash()
    }

    /// The medium, mutable: for counters of a simulator, not for changing what is on it.
    pub fn flash_mut(&mut self) -> &mut F {
        self.volume.store.flash_mut()
    }

    /// What the mount found missing; `None` when everything is there. With damage a volume can only be read until it is
    /// [repaired](Self::repair).
    ///
    /// A [leaf of the map](Damage::Leaf) may also be lost later. It is noticed when it is to be written anew, which may be after any call that
    /// changes something; what was committed stays, and the next mount can begin a repair.
    pub fn damage(&self) -> Option<Damage> {
        self.volume.store.status().damage()
    }

    /// Whether every later mount shows what was committed last as this one does. Costs nothing.
    ///
    /// `false` after a mount [for reading](Access::ReadOnly) of a volume that was not [unmounted](Self::unmount): a page that a power cut or a
    /// failure left metastable may read otherwise the next time, so that the last commit is there, or is not. A mount
    /// [for writing](Access::ReadWrite) decides it, unless the medium takes no more programs. `false` also after [`Error::Unknown`], and
    /// with [damage](Self::damage).
    pub fn is_settled(&self) -> bool {
        self.volume.store.status().is_settled()
    }

    /// Ends the use of a volume and gives the medium back; commits where [`CommitOn::UNMOUNT`] is chosen, as it is by default.
    ///
    /// The next mount searches nothing and programs nothing, unless the root could not be written: then it does as after a power cut, nothing is
    /// lost, and this is no error. Where nothing was changed since the mount nothing is programmed: what a [`CleanReader`](crate::CleanReader) would not take before it
    /// does not take now.
    ///
    /// # Power loss
    /// What was committed stays; the next mount may have to search.
    ///
    /// # Cost
    /// That of [`commit`](Self::commit), or of [`rollback`](Self::rollback) where uncommitted changes are dropped; then a root:
    /// [`unmount_cost`](Self::unmount_cost).
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn unmount(mut self) -> Result<F, Error> {
        if self.commits.events().contains(CommitOn::UNMOUNT) {
            self.commit()?;
        } else if self.volume.store.logical.is_open() {
            self.rollback()?;
        }
        // Without it the next mount searches; nothing is lost.
        let _ = self.volume.store.end_use();
        Ok(self.volume.store.into_flash())
    }
}
