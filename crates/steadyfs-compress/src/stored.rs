//! A compressed file as it is stored: bytes by the slot in which they lie.

use crate::Volume;
use crate::error::Fault;
use crate::format::Shape;
use steadyfs::media::Flash;
use steadyfs::{File, FileSystem};

/// The file, and how it is compressed.
///
/// A place in it is that of a slot, which any of its chunks names, and so many bytes from there on.
#[derive(Debug)]
pub(crate) struct Stored {
    pub file: File,
    pub shape: Shape,
}

impl Stored {
    /// Reads; what was never written is zeros.
    pub fn read(&mut self, volume: &mut impl Volume, chunk: u32, position: u32, data: &mut [u8]) -> Result<(), Fault> {
        let count = volume.read(&mut self.file, self.shape.place_of(chunk, position), data)?;
        data[count..].fill(0);
        Ok(())
    }

    pub fn write<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, chunk: u32, position: u32, data: &[u8]) -> Result<(), Fault> {
        Ok(fs.write(&mut self.file, self.shape.place_of(chunk, position), data)?)
    }

    /// Gives back what lies behind a place.
    pub fn cut<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, chunk: u32, position: u32) -> Result<(), Fault> {
        let end = self.shape.place_of(chunk, position);
        if fs.size(&mut self.file)? > end { Ok(fs.truncate(&mut self.file, end)?) } else { Ok(()) }
    }
}
