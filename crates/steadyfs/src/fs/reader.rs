//! Reading only: for boot loaders, and firmware that must not change a volume.

use super::filesystem::{FileSystem, Usage, demand_files};
use super::handle::{File, OpenOptions};
use super::inode::InodeNumber;
use super::path::Location;
use super::permissions::Permissions;
use super::stat::{Entry, Stat};
use super::volume::Cursor;
use crate::error::{Error, MountError};
use crate::media::Flash;
use crate::mount::{Access, Damage};
use crate::pages::Verify;

/// A volume that is only read. If a firmware uses nothing else of this crate, it contains no code
/// for programs or erases.
///
/// A [`CleanReader`](crate::CleanReader) takes half of the code, but reads only unmounted volumes.
///
/// After a power cut, one mount may show the last commit, and the next mount may not. A mount of a
/// [`FileSystem`] for writing decides this: see [`is_settled`](Self::is_settled). If committed data
/// is lost, the volume is shown without this data. So call [`damage`](Self::damage) before you
/// trust an image.
///
/// No call programs or erases, so the power may be cut in any of them. Each call costs as much as
/// the call of [`FileSystem`] with the same name.
///
/// ```
/// use steadyfs::{Config, FileSystem, Reader};
/// # use steadyfs::{Access, OpenOptions, media::{Flash, Geometry}};
/// # let geometry = Geometry {
/// #     page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false,
/// # };
/// # let flash = steadyfs_sim::Nand::with_geometry(geometry, steadyfs_sim::NandTiming::ROUND, 1);
/// # let config = Config::for_geometry(&geometry);
/// # let mut memory = vec![0; config.memory_bytes(&geometry)];
/// # let flash = FileSystem::format(flash, &config, &mut memory)?;
/// # let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
/// # let mut file = fs.open("firmware", OpenOptions::DURABLE)?;
/// # fs.write(&mut file, 0, b"image")?;
/// # let flash = fs.unmount()?;
/// let mut reader = Reader::mount(flash, &mut memory)?;
/// let mut file = reader.open("firmware")?;
/// let mut image = [0; 5];
/// reader.read(&mut file, 0, &mut image)?;
/// assert_eq!(&image, b"image");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Reader<'m, F>(FileSystem<'m, F>);

impl<'m, F: Flash> Reader<'m, F> {
    /// Mounts a volume as [`FileSystem::mount`] does, without a program or an erase.
    ///
    /// # Errors
    /// As [`FileSystem::mount`].
    pub fn mount(flash: F, memory: &'m mut [u8]) -> Result<Self, MountError> {
        let mut result = FileSystem::empty(flash, Access::ReadOnly, memory).map(Self);
        // Recover in place: a copy of the whole volume costs code and stack.
        if let Ok(reader) = &mut result {
            demand_files(reader.0.config())?;
            let is_there = reader.0.volume.store.recover::<false>()?;
            reader.0.finish_mount(is_there)?;
        }
        result
    }

    /// Opens an existing file.
    ///
    /// # Errors
    /// As [`FileSystem::open`].
    pub fn open<'p>(&mut self, place: impl Into<Location<'p>>) -> Result<File, Error> {
        let (inode, header) = self.0.directories.find_file(&mut self.0.volume, place.into())?;
        self.0.handle(inode, &header, OpenOptions::READ)
    }

    /// Reads from `offset` on; as [`FileSystem::read`].
    ///
    /// # Errors
    /// As [`FileSystem::read`].
    pub fn read(&mut self, file: &mut File, offset: u64, data: &mut [u8]) -> Result<usize, Error> {
        self.0.read(file, offset, data)
    }

    /// Chooses the pages whose checksum is verified; as [`FileSystem::set_verify`].
    pub fn set_verify(&mut self, verify: Verify) {
        self.0.set_verify(verify);
    }

    /// Returns the size of a file in bytes.
    ///
    /// # Errors
    /// As [`FileSystem::size`].
    pub fn size(&mut self, file: &mut File) -> Result<u64, Error> {
        self.0.size(file)
    }

    /// Closes a file. If the handle belongs to another mount, it is only dropped.
    pub fn close(&mut self, file: File) {
        if file.check_mount(self.0.volume.mount_id()).is_ok() {
            self.0.open.close(&file);
        }
    }

    /// Returns the metadata of a file or directory.
    ///
    /// # Errors
    /// As [`FileSystem::stat`].
    pub fn stat<'p>(&mut self, place: impl Into<Location<'p>>) -> Result<Stat, Error> {
        self.0.stat(place)
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
        self.0.list(directory, cursor)
    }

    /// Reads an attribute; as [`FileSystem::attribute`].
    ///
    /// # Errors
    /// As [`FileSystem::attribute`].
    pub fn attribute<'p>(
        &mut self,
        place: impl Into<Location<'p>>,
        key: &str,
        value: &mut [u8],
    ) -> Result<usize, Error> {
        self.0.attribute(place, key, value)
    }

    /// Reads the target of a symbolic link; as [`FileSystem::read_link`].
    ///
    /// # Errors
    /// As [`FileSystem::read_link`].
    pub fn read_link<'p>(
        &mut self,
        place: impl Into<Location<'p>>,
        target: &mut [u8],
    ) -> Result<usize, Error> {
        self.0.read_link(place, target)
    }

    /// Returns the permissions; as [`FileSystem::permissions`].
    ///
    /// # Errors
    /// As [`FileSystem::permissions`].
    pub fn permissions<'p>(
        &mut self,
        place: impl Into<Location<'p>>,
    ) -> Result<Option<Permissions>, Error> {
        self.0.permissions(place)
    }

    /// Returns the damage that the mount found; as [`FileSystem::damage`]. Costs nothing.
    ///
    /// A damaged volume shows an older state, or a mixture of states. Files may be missing, or may
    /// have bytes of an earlier time.
    pub fn damage(&self) -> Option<Damage> {
        self.0.damage()
    }

    /// Returns true if every later mount shows the same data; as [`FileSystem::is_settled`].
    pub fn is_settled(&self) -> bool {
        self.0.is_settled()
    }

    /// Returns the space of the volume.
    pub fn usage(&self) -> Usage {
        self.0.usage()
    }

    /// Ends the use of the volume and returns the medium.
    pub fn unmount(self) -> F {
        self.0.volume.store.into_flash()
    }
}
