//! Files on the store: one directory of names, small files inline, larger ones in regions.
//!
//! | file | idea |
//! |---|---|
//! | [`space`] | the logical address space, free pages and inodes |
//! | [`inode`] | the inode's bytes |
//! | [`directory`] | name → inode, by hash |
//! | [`file`] | reading and writing at an offset |
//! | [`trim`] | freeing the pages of removed and truncated files, a few per call |

mod directory;
mod file;
mod inode;
mod space;
mod trim;

pub use file::{File, OpenOptions};
pub use inode::NAME_BYTES_MAX;

use crate::config::Config;
use crate::cost::{Bound, Cost, Envelope};
use crate::error::{Error, MountError};
use crate::media::{Flash, Timing};
use crate::store::{Access, Store, merge_reads};

use space::{Plan, Space};

/// A call whose worst case [`FileSystem::bound`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Call {
    /// A write of one whole logical page that the file has already, through a durable handle.
    Overwrite,
    /// A write or append of at most one logical page's bytes anywhere, through a durable handle or followed by `sync`.
    Write,
    /// A read of at most this many bytes.
    Read(u32),
    /// `open` of a file that exists, `stat`.
    Open,
    /// `open` that creates a file, followed by `sync`.
    Create,
    /// `remove`, followed by `sync`.
    Remove,
    /// `sync`.
    Sync,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Size in bytes.
    pub size: u64,
    /// Number of the file, for its life.
    pub inode: u32,
}

/// One file of [`FileSystem::list`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    name: [u8; NAME_BYTES_MAX],
    name_bytes: u8,
    /// What the file is.
    pub stat: Stat,
}

impl Entry {
    /// Name of the file.
    pub fn name(&self) -> &str {
        core::str::from_utf8(&self.name[..usize::from(self.name_bytes)]).unwrap_or("?")
    }
}

/// Space of a volume, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Room for file data, taken and free.
    pub usable_bytes: u64,
    /// Taken by file data.
    pub used_bytes: u64,
    /// Unit in which room is taken.
    pub logical_bytes: u32,
}

/// A mounted volume.
///
/// Changes become durable with [`sync`](Self::sync), or at once through a [durable](OpenOptions::durable) handle. Everything
/// between two commits is there after a power cut, or nothing of it.
///
/// # Example
/// See the [crate](crate).
pub struct FileSystem<'m, F> {
    store: Store<'m, F>,
    plan: Plan,
    space: Space,
    /// Grows with every change of an inode; a handle that knows an older one looks its inode up again.
    stamp: u32,
    /// First inode of the trim list plus one, or 0.
    trim_head: u32,
    auto_commit: bool,
}

impl<'m, F: Flash> FileSystem<'m, F> {
    /// Makes an empty volume on a medium. Everything on it is lost.
    ///
    /// # Cost
    /// One look at the mark of each block, about ten erases, a few programs.
    ///
    /// # Errors
    /// [`MountError::Config`], [`MountError::MemoryTooSmall`], [`MountError::TooManyBadBlocks`], [`MountError::Volume`].
    pub fn format(flash: F, config: &Config, memory: &mut [u8]) -> Result<F, MountError> {
        Store::format(flash, config, memory)
    }

    /// Mounts a volume. `memory` is all the RAM that it uses: [`Config::memory_bytes`].
    ///
    /// # Power loss
    /// A mount may be cut as often as it likes.
    ///
    /// # Cost
    /// Bounded by the map and one checkpoint interval, whatever the number of files: [`mount_bound`](Self::mount_bound).
    ///
    /// # Errors
    /// [`MountError`] says what is wrong with the medium or the buffer.
    pub fn mount(flash: F, access: Access, memory: &'m mut [u8]) -> Result<Self, MountError> {
        let mut result = Store::open(flash, access, memory).map(|store| {
            let plan = Plan::new(store.layout());
            Self { store, plan, space: Space::default(), stamp: 1, trim_head: 0, auto_commit: true }
        });
        // Changed in place: a copy of the whole costs code and stack.
        if let Ok(fs) = &mut result {
            if !fs.store.recover()? {
                return Err(MountError::NoCheckpoint);
            }
            fs.load_space()?;
        }
        result
    }

    /// Reads what RAM keeps of the file system's own pages.
    fn load_space(&mut self) -> Result<(), Error> {
        self.count_space()?;
        let mut head = [0; 4];
        self.store.read(0, 0, &mut head)?;
        self.trim_head = u32::from_le_bytes(head);
        if self.trim_head > self.plan.inode_count { Err(Error::Corrupt) } else { Ok(()) }
    }

    /// Makes all changes durable.
    ///
    /// # Power loss
    /// All changes since the last commit are there, or none.
    ///
    /// # Cost
    /// One program, or none when nothing has changed; then the share of reclamation.
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::MediaFailing`].
    pub fn sync(&mut self) -> Result<(), Error> {
        if !self.store.is_open() {
            return Ok(());
        }
        self.store.begin()?;
        self.store.commit()?;
        self.store.end()
    }

    /// Undoes all changes since the last commit.
    ///
    /// # Cost
    /// One read of the journal page, and those of [`count_space`](Self::mount).
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::Corrupt`].
    pub fn rollback(&mut self) -> Result<(), Error> {
        self.store.rollback()?;
        self.stamp = self.stamp.wrapping_add(1);
        self.load_space()
    }

    /// Whether a write set that is full is committed by itself, between two calls (the default), or refused with
    /// [`Error::TransactionTooLarge`] so that everything up to `sync` stays one transaction.
    pub fn set_auto_commit(&mut self, auto_commit: bool) {
        self.auto_commit = auto_commit;
    }

    /// Whether changes wait for a commit.
    ///
    /// A call that returns an error leaves the open transaction as it was, or, if it had begun to change it, undone as a whole:
    /// then this is `false`.
    pub fn has_changes(&self) -> bool {
        self.store.is_open()
    }

    /// Starts a call that changes the volume.
    fn begin(&mut self) -> Result<(), Error> {
        self.store.begin()?;
        if self.auto_commit && self.store.pending_room() < PENDING_PER_CALL {
            self.store.commit()?;
        }
        // In a transaction of its own where possible, so that undoing a step that fails undoes nothing else; in the open one
        // where its pages are needed.
        let needed = self.space.used + 2 >= self.capacity() && self.store.pending_room() >= PENDING_PER_CALL;
        if self.trim_head != 0 && (needed || !self.store.is_open()) {
            let step = self.trim_step();
            if let Err(error) = step {
                self.undo(error)?;
                return Err(error);
            }
            self.store.mark();
        }
        Ok(())
    }

    /// Ends a call that changes the volume, durably if asked to. A call that fails undoes the open transaction: half of a
    /// change must not become part of it.
    fn finish<T>(&mut self, result: Result<T, Error>, durable: bool) -> Result<T, Error> {
        let result = result.and_then(|value| {
            if durable {
                self.store.commit()?;
            }
            Ok(value)
        });
        match result {
            Ok(value) => {
                self.store.end()?;
                Ok(value)
            }
            Err(error) => {
                self.undo(error)?;
                Err(error)
            }
        }
    }

    /// After a call that failed: undoes the open transaction if the call had begun to change it.
    fn undo(&mut self, error: Error) -> Result<(), Error> {
        if error != Error::Device && self.store.is_changed() { self.rollback() } else { Ok(()) }
    }

    /// Space, in bytes. Costs nothing.
    pub fn usage(&self) -> Usage {
        let logical_bytes = self.store.layout().logical_bytes;
        Usage {
            usable_bytes: u64::from(self.capacity()) * u64::from(logical_bytes),
            used_bytes: u64::from(self.space.used) * u64::from(logical_bytes),
            logical_bytes,
        }
    }

    /// Largest size of a file, in bytes.
    pub fn size_max(&self) -> u64 {
        u64::from(inode::REGIONS) * u64::from(self.plan.region_pages) * u64::from(self.store.layout().logical_bytes)
    }

    /// Worst case of a call at the present fill, when no program fails. See `docs/design.md` for the formulas.
    pub fn bound(&self, call: Call) -> Bound {
        self.bound_with_failures(call, 0)
    }

    /// Worst case of a call at the present fill in which `failures` programs fail.
    pub fn bound_with_failures(&self, call: Call, failures: u32) -> Bound {
        let layout = self.store.layout();
        let unit = u32::from(layout.config.unit_pages);
        // A look at a page of the file system: the map's leaf and the page.
        let looks = |count: u32| Cost { reads: 2 * count, ..Cost::default() };
        let merges = |count: u32| Cost { reads: count * merge_reads(layout), ..Cost::default() };
        let map_pages = (self.plan.directory - self.plan.map) * unit;
        let probe_pages = 2 + directory::PROBE_BYTES_MAX.div_ceil(layout.geometry.page_bytes);
        let trim = looks(if self.trim_head == 0 { 0 } else { 24 });
        let trim_frames = if self.trim_head == 0 { 0 } else { 2 };
        let pages = 2 + u32::from(self.auto_commit);
        match call {
            Call::Overwrite if self.trim_head == 0 => self.store.bound(1, 0, failures).plus(&looks(2)),
            Call::Overwrite | Call::Write => self
                .store
                .bound(8 + trim_frames, pages, failures)
                .plus(&merges(8 + trim_frames))
                .plus(&looks(16 + map_pages))
                .plus(&trim),
            Call::Create => self
                .store
                .bound(6 + trim_frames, pages, failures)
                .plus(&merges(6 + trim_frames))
                .plus(&looks(16 + map_pages + 10 * probe_pages))
                .plus(&trim),
            Call::Remove => self
                .store
                .bound(6 + trim_frames, pages, failures)
                .plus(&merges(6 + trim_frames))
                .plus(&looks(24 + 10 * probe_pages))
                .plus(&trim),
            Call::Sync => self.store.bound(0, 1, failures),
            Call::Open => Bound::default().plus(&looks(16 + 10 * probe_pages)),
            Call::Read(bytes) => {
                let pages = bytes / layout.geometry.page_bytes + 2;
                let logical = bytes / layout.logical_bytes + 2;
                Bound::default().plus(&looks(4 * logical)).plus(&Cost { reads: pages, ..Cost::default() })
            }
        }
    }

    /// Envelopes of durable whole-page overwrites at the present fill: any `n` in a row take at most
    /// `burst_ns + n · rate_ns`, for each of them.
    pub fn envelopes(&self, call: Call, timing: &Timing) -> [Envelope; 2] {
        match call {
            Call::Overwrite => self.store.envelopes(1, 0, timing),
            _ => self.store.envelopes(8, 2, timing),
        }
    }

    /// Worst case of a mount after an unclean stop, at any fill.
    pub fn mount_bound(&self) -> Cost {
        let map_reads = 2 * (self.plan.directory - self.plan.map) * u32::from(self.store.layout().config.unit_pages);
        Store::<F>::mount_bound(self.store.layout()).plus(&Cost { reads: map_reads + 2, ..Cost::default() })
    }

    /// Settings of the volume.
    pub fn config(&self) -> &Config {
        &self.store.layout().config
    }

    /// The medium.
    pub fn flash(&self) -> &F {
        self.store.flash()
    }

    /// The medium, mutable: for counters of a simulator, not for changing what is on it.
    pub fn flash_mut(&mut self) -> &mut F {
        self.store.flash_mut()
    }

    /// Commits and gives the medium back.
    ///
    /// # Errors
    /// As [`sync`](Self::sync).
    pub fn unmount(mut self) -> Result<F, Error> {
        self.sync()?;
        Ok(self.store.into_flash())
    }
}

/// Pending pages that one call may need.
const PENDING_PER_CALL: u32 = 7;
