//! Reading only what was ended cleanly: for boot loaders.

use super::directories::Directories;
use super::handle::{File, OpenOptions};
use super::inode::InodeNumber;
use super::path::Place;
use super::stat::{Entry, Stat, stat_of};
use super::volume::{Cursor, Volume};
use crate::error::{Error, MountError};
use crate::media::{Clean, Flash};
use crate::mount::Access;
use crate::store::Store;

/// A volume that was ended cleanly.
pub struct CleanReader<'m, F> {
    volume: Volume<'m, Clean<F>>,
    directories: Directories,
}

impl<'m, F: Flash> CleanReader<'m, F> {
    /// Mounts a volume whose use was ended by [`FileSystem::unmount`], and to which nothing was done since.
    pub fn mount(flash: F, memory: &'m mut [u8]) -> Result<Self, MountError> {
        let mut store = Store::open(Clean::new(flash), Access::ReadOnly, memory)?;
        store.resume_closed()?;
        Ok(Self { volume: Volume::new(store), directories: Directories::default() })
    }

    /// Opens.
    pub fn open<'p>(&mut self, place: impl Into<Place<'p>>) -> Result<File, Error> {
        let (inode, header) = self.directories.find_file(&mut self.volume, place.into())?;
        self.volume.check_openable(&header)?;
        Ok(File::new(0, inode, &header, OpenOptions::READ, self.volume.stamp()))
    }

    /// Reads.
    pub fn read(&mut self, file: &mut File, offset: u64, data: &mut [u8]) -> Result<usize, Error> {
        self.volume.read_known(file, offset, data)
    }

    /// Closes a file.
    pub fn close(&mut self, file: File) {
        let _ = file;
    }

    /// Stat.
    pub fn stat<'p>(&mut self, place: impl Into<Place<'p>>) -> Result<Stat, Error> {
        let inode = self.directories.locate(&mut self.volume, place.into())?;
        Ok(stat_of(inode, &self.volume.read_header(inode)?))
    }

    /// List.
    pub fn list(&mut self, directory: InodeNumber, cursor: &mut Cursor) -> Result<Option<Entry>, Error> {
        self.directories.next_entry(&mut self.volume, directory, cursor)
    }

    /// Gives the medium back.
    pub fn unmount(self) -> F {
        self.volume.store.into_flash().into_inner()
    }
}
