//! Reading of cleanly unmounted volumes only: for boot loaders.

use super::directories::Directories;
#[cfg(doc)]
use super::filesystem::FileSystem;
use super::handle::{File, OpenOptions};
use super::inode::InodeNumber;
use super::path::Location;
#[cfg(doc)]
use super::reader::Reader;
use super::stat::{Entry, Stat, stat_of};
use super::volume::{Cursor, Volume};
use crate::cost::Cost;
use crate::error::{Error, MountError};
use crate::media::{Clean, Flash};
use crate::mount::Access;
use crate::reclaim::clean_mount_bound;
use crate::store::Store;

/// A volume that is unchanged since its [unmount](FileSystem::unmount) or its format. A program can
/// only read it.
///
/// A `CleanReader` is for a boot loader that reads a finished and unmounted image. If a firmware
/// uses nothing else of this crate, it contains no code for programs, erases or recovery from a
/// power cut. A `CleanReader` takes half of the code of a [`Reader`], which shows the same data.
///
/// If the mount is not certain that the volume is unchanged, it returns
/// [`MountError::NeedsRecovery`]. A [`Reader`] then shows the state of the last commit. The mount
/// returns this error until a [`FileSystem`] has changed something and was unmounted.
///
/// No call programs or erases, so the power may be cut in any of them. The checksum of every page
/// is verified. Each call costs as much as the call of [`FileSystem`] with the same name. In
/// addition, it reads some pages again that a [`FileSystem`] would keep in RAM.
///
/// ```
/// use steadyfs::{CleanReader, Config, FileSystem, MountError};
/// # use steadyfs::{Access, OpenOptions, media::{Flash, Geometry}};
/// # let geometry = Geometry {
/// #     page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false,
/// # };
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
    /// Mounts a volume. `memory` has the same size as for [`FileSystem::mount`]. Open files need no
    /// memory.
    ///
    /// # Cost
    /// The mount reads no leaf of the map and no allocation map. If all pages can be read, it
    /// takes:
    ///
    /// - `2 + R + C` pages. `R` is the number of [blocks of the
    ///   ring](crate::Description::ring_blocks), and `C` is the number of pages of a root and its
    ///   copies. The pages are the superblock, the first page of each block of the ring, the root,
    ///   and the journal page. On media that program bytes, the mount reads the records of the
    ///   journal's chain instead of the journal page.
    /// - `3·(log₂ P + 2) + (C + 2)·R` tags. `P` is the number of pages in a block. The tags are
    ///   read to find the end of a block, and blank blocks of the ring.
    ///
    /// [`mount_bound`](Self::mount_bound) also includes pages that can be read only at a second
    /// attempt.
    ///
    /// # Errors
    /// [`MountError::NeedsRecovery`] in each of these cases:
    ///
    /// - The volume was not unmounted, or was changed since.
    /// - The newest root, its copies or the journal page cannot be read.
    /// - A repair was begun and has not ended.
    /// - The ring holds content that cannot be identified.
    ///
    /// The other errors are as for [`FileSystem::mount`].
    pub fn mount(flash: F, memory: &'m mut [u8]) -> Result<Self, MountError> {
        let mut store = Store::open(Clean::new(flash), Access::ReadOnly, memory)?;
        store.resume_closed()?;
        Ok(Self { volume: Volume::new(store), directories: Directories::default() })
    }

    /// Returns the worst case of a mount. Costs nothing.
    pub fn mount_bound(&self) -> Cost {
        clean_mount_bound(self.volume.store.layout())
    }

    /// Opens an existing file. The number of open files has no limit.
    ///
    /// # Errors
    /// As [`FileSystem::open`].
    pub fn open<'p>(&mut self, place: impl Into<Location<'p>>) -> Result<File, Error> {
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

    /// Returns the size of a file in bytes that its handle stores. Costs nothing.
    pub fn size(&self, file: &File) -> u64 {
        file.size
    }

    /// Closes a file. Costs nothing.
    pub fn close(&mut self, file: File) {
        let _ = file;
    }

    /// Returns the metadata of a file or directory.
    ///
    /// # Errors
    /// As [`FileSystem::stat`].
    pub fn stat<'p>(&mut self, place: impl Into<Location<'p>>) -> Result<Stat, Error> {
        let (inode, header) = match self.directories.locate(&mut self.volume, place.into())? {
            (inode, Some(header)) => (inode, header),
            (inode, None) => (inode, self.volume.read_header(inode)?),
        };
        Ok(stat_of(inode, &header))
    }

    /// Returns the next entry of a directory; as [`FileSystem::list`].
    ///
    /// # Errors
    /// As [`FileSystem::list`].
    pub fn list(
        &mut self,
        directory: InodeNumber,
        cursor: &mut Cursor,
    ) -> Result<Option<Entry>, Error> {
        self.directories.next_entry(&mut self.volume, directory, cursor)
    }

    /// Returns the medium. Costs nothing.
    pub fn flash(&self) -> &F {
        self.volume.store.flash().inner()
    }

    /// Ends the use of the volume and returns the medium.
    pub fn unmount(self) -> F {
        self.volume.store.into_flash().into_inner()
    }
}
