//! A compressed file as it is stored, addressed by slot and position.

use crate::Volume;
use crate::error::Fault;
use crate::format::Shape;
use steadyfs::media::Flash;
use steadyfs::{File, FileSystem};

/// The plain file that holds the content, and its shape.
///
/// A position in the file consists of a slot and a number of bytes from the beginning of the slot.
/// Any chunk of the slot identifies the slot.
#[derive(Debug)]
pub(crate) struct Stored {
    pub file: File,
    pub shape: Shape,
}

impl Stored {
    /// Reads from a slot. Bytes that were never written read as zeros.
    pub fn read(
        &mut self,
        volume: &mut impl Volume,
        chunk: u32,
        position: u32,
        data: &mut [u8],
    ) -> Result<(), Fault> {
        let count = volume.read(&mut self.file, self.shape.place_of(chunk, position), data)?;
        data[count..].fill(0);
        Ok(())
    }

    pub fn write<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        chunk: u32,
        position: u32,
        data: &[u8],
    ) -> Result<(), Fault> {
        Ok(fs.write(&mut self.file, self.shape.place_of(chunk, position), data)?)
    }

    /// Frees all bytes of the file behind a position.
    pub fn cut<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        chunk: u32,
        position: u32,
    ) -> Result<(), Fault> {
        let end = self.shape.place_of(chunk, position);
        if fs.size(&mut self.file)? > end { Ok(fs.truncate(&mut self.file, end)?) } else { Ok(()) }
    }
}
