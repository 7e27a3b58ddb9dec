//! The calls of a volume that reads need.

use steadyfs::media::Flash;
use steadyfs::{Error, File, FileSystem, InodeNumber, Reader};

/// A volume that can be read: a [`FileSystem`], or a [`Reader`], which links no code that writes.
pub trait Volume {
    /// As [`FileSystem::read`].
    ///
    /// # Errors
    /// As [`FileSystem::read`].
    fn read(&mut self, file: &mut File, offset: u64, data: &mut [u8]) -> Result<usize, Error>;

    /// As [`FileSystem::attribute`].
    ///
    /// # Errors
    /// As [`FileSystem::attribute`].
    fn attribute(
        &mut self,
        inode: InodeNumber,
        key: &str,
        value: &mut [u8],
    ) -> Result<usize, Error>;
}

impl<F: Flash> Volume for FileSystem<'_, F> {
    fn read(&mut self, file: &mut File, offset: u64, data: &mut [u8]) -> Result<usize, Error> {
        FileSystem::read(self, file, offset, data)
    }

    fn attribute(
        &mut self,
        inode: InodeNumber,
        key: &str,
        value: &mut [u8],
    ) -> Result<usize, Error> {
        FileSystem::attribute(self, inode, key, value)
    }
}

impl<F: Flash> Volume for Reader<'_, F> {
    fn read(&mut self, file: &mut File, offset: u64, data: &mut [u8]) -> Result<usize, Error> {
        Reader::read(self, file, offset, data)
    }

    fn attribute(
        &mut self,
        inode: InodeNumber,
        key: &str,
        value: &mut [u8],
    ) -> Result<usize, Error> {
        Reader::attribute(self, inode, key, value)
    }
}
