//! Reading only what was ended cleanly: for boot loaders.

use super::directories::Directories;
#[cfg(doc)]
use super::filesystem::FileSystem;
use super::handle::{File, OpenOptions};
use super::inode::InodeNumber;
use super::path::Place;
#[cfg(doc)]
use super::reader::Reader;
use super::stat::{Entry, Stat, stat_of};
use super::volume::{Cursor, Volume};
use crate::cost::Cost;
use crate::error::{Error, MountError};
use crate::media::{Clean, Flash};
use crate::mount::Access;
use crate::pace::clean_mount_bound;
use crate::store::Store;

/// A volume that was [unmounted](FileSystem::unmount), or made, and is as it was then. It is only read.
///
/// For a boot loader that reads an image which was written and unmounted. A firmware that uses nothing else of this crate links neither code that programs or
/// erases nor what puts a power cut right: half of the code of a [`Reader`], which shows the same.
///
/// Whatever is in doubt is [`MountError::NeedsRecovery`]: then a [`Reader`] shows the state that was committed last, and it is so until a [`FileSystem`] has changed
/// something and was unmounted.
///
/// No call programs or erases, so that power may be cut in any of them. Every page is checked against its checksum. Each call costs what that of [`FileSystem`]
/// costs which has its name, and reads some pages again that a [`FileSystem`] remembers.
///
/// ```
/// use steadyfs::{CleanReader, Config, FileSystem, MountError};
/// # use steadyfs::{Access, OpenOptions, media::{Flash, Geometry}};
/// # let geometry = Geometry { page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false };
/// # let flash = steadyfs_sim::Nand::with_geometry(geometry, steadyfs_sim::NandTiming::ROUND, 1);
/// # let config = Config::for_geometry(&geometry);
/// # let mut memory = vec![0; config.memory_bytes(&geometry)];
/// # let flash = FileSystem::format(flash, &config, &mut memory)?;
/// let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
/// let mut file = fs.open("firmware", OpenOptions::DURABLE)?;
/// fs.write(&mut file, 0, b"image")?;
/// let flash = fs.unmount()?;
///
/// let mut reader = CleanReader::mount(flash, &mut memory)?;
/// let mut file = reader.open("firmware")?;
/// let mut image = [0; 5];
/// reader.read(&mut file, 0, &mut image)?;
/// assert_eq!(&image, b"image");
///
/// let flash = reader.unmount();
/// let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
/// fs.create_dir("logs")?;
/// fs.commit()?;
/// # let flash = fs.flash().clone();
/// drop(fs); // not unmounted: as after a power cut
/// assert_eq!(CleanReader::mount(flash, &mut memory).err(), Some(MountError::NeedsRecovery));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CleanReader<'m, F> {
    volume: Volume<'m, Clean<F>>,
    directories: Directories,
}

impl<'m, F: Flash> CleanReader<'m, F> {
    /// Mounts a volume. `memory` is as much as [`FileSystem::mount`] takes; open files take none.
    ///
    /// # Cost
    /// No leaf of the map is read, nor what says which pages are free: of a volume in which all can be read,
    ///
    /// - `2 + R + C` pages, with `R` [blocks of the ring](crate::Description::ring_blocks) and `C` pages of a root and its copies: the superblock, the first page
    ///   of each of the blocks, the root, the journal's page; where the medium programs bytes, of the journal what its chain has;
    /// - `3·(log₂ P + 2) + (C + 2)·R` tags, with `P` pages of a block: the end of a block, and blocks of the ring that are blank.
    ///
    /// [`mount_bound`](Self::mount_bound) has what cannot be read at the first look as well.
    ///
    /// # Errors
    /// [`MountError::NeedsRecovery`] where the volume was not unmounted, anything was changed since, the newest root, its copies or the journal's page cannot be
    /// read, a repair was begun and has not ended, or the ring holds anything that nobody can tell; the others as [`FileSystem::mount`].
    pub fn mount(flash: F, memory: &'m mut [u8]) -> Result<Self, MountError> {
        let mut store = Store::open(Clean::new(flash), Access::ReadOnly, memory)?;
        store.resume_closed()?;
        Ok(Self { volume: Volume::new(store), directories: Directories::default() })
    }

    /// Worst case of a mount. Costs nothing.
    pub fn mount_bound(&self) -> Cost {
        clean_mount_bound(self.volume.store.layout())
    }

    /// Opens a file that exists. There may be any number of open files.
    ///
    /// # Errors
    /// As [`FileSystem::open`].
    pub fn open<'p>(&mut self, place: impl Into<Place<'p>>) -> Result<File, Error> {
        let (inode, header) = self.directories.find_file(&mut self.volume, place.into())?;
        self.volume.check_openable(&header)?;
        Ok(File::new(0, inode, &header, OpenOptions::READ, self.volume.mark_of_handle()))
    }

    /// Reads from `offset` on; as [`FileSystem::read`].
    ///
    /// # Errors
    /// As [`FileSystem::read`].
    pub fn read(&mut self, file: &mut File, offset: u64, data: &mut [u8]) -> Result<usize, Error> {
        file.check_mount(self.volume.mount_id())?;
        self.volume.read_known(file, offset, data)
    }

    /// Size of a file in bytes, as its handle has it. Costs nothing.
    pub fn size(&self, file: &File) -> u64 {
        file.size
    }

    /// Closes a file. Costs nothing.
    pub fn close(&mut self, file: File) {
        let _ = file;
    }

    /// Tells what a file or directory is.
    ///
    /// # Errors
    /// As [`FileSystem::stat`].
    pub fn stat<'p>(&mut self, place: impl Into<Place<'p>>) -> Result<Stat, Error> {
        let inode = self.directories.locate(&mut self.volume, place.into())?;
        Ok(stat_of(inode, &self.volume.read_header(inode)?))
    }

    /// The next entry of a directory; as [`FileSystem::list`].
    ///
    /// # Errors
    /// As [`FileSystem::list`].
    pub fn list(&mut self, directory: InodeNumber, cursor: &mut Cursor) -> Result<Option<Entry>, Error> {
        self.directories.next_entry(&mut self.volume, directory, cursor)
    }

    /// The medium. Costs nothing.
    pub fn flash(&self) -> &F {
        self.volume.store.flash().inner()
    }

    /// Gives the medium back.
    pub fn unmount(self) -> F {
        self.volume.store.into_flash().into_inner()
    }
}
