//! The file of an image: bytes at an offset.

use super::Refusal;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use steadyfs::Access;

/// Bytes that [`Content::fill`] writes at once.
const CHUNK_BYTES: usize = 1 << 20;

/// Bytes of a chip, as a file stores them.
pub(crate) trait Bytes {
    /// Returns the number of stored bytes.
    fn length(&self) -> io::Result<u64>;

    /// Reads bytes from an offset on.
    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;
}

/// An open file.
#[derive(Debug)]
pub(super) struct Content {
    file: File,
    access: Access,
}

impl Content {
    pub fn new(file: File, access: Access) -> Self {
        Self { file, access }
    }

    /// Returns the number of bytes of the file.
    pub fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Fills a new file with erased bytes. Every byte `0xFF` is written, because a hole in a file
    /// would read as zeros.
    pub fn fill(&mut self, length: u64) -> io::Result<()> {
        let chunk = vec![0xFF; CHUNK_BYTES];
        let mut left = length;
        while left > 0 {
            let bytes = left.min(CHUNK_BYTES as u64);
            self.file.write_all(&chunk[..bytes as usize])?;
            left -= bytes;
        }
        Ok(())
    }

    pub fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), Refusal> {
        self.read_at(offset, bytes).map_err(|error| Refusal::Io {
            verb: "read",
            offset,
            reason: error.to_string(),
        })
    }

    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Refusal> {
        self.demand_writable()?;
        let result =
            self.file.seek(SeekFrom::Start(offset)).and_then(|_| self.file.write_all(bytes));
        result.map_err(|error| Refusal::Io { verb: "write", offset, reason: error.to_string() })
    }

    pub fn demand_writable(&self) -> Result<(), Refusal> {
        if self.access == Access::ReadWrite { Ok(()) } else { Err(Refusal::ReadOnly) }
    }

    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

impl Bytes for Content {
    fn length(&self) -> io::Result<u64> {
        Content::length(self)
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset)).and_then(|_| self.file.read_exact(bytes))
    }
}
