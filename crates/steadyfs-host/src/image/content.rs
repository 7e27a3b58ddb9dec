//! The file of an image: bytes at an offset.

use super::Refusal;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use steadyfs::Access;

/// Bytes that [`Content::fill`] writes at once.
const CHUNK_BYTES: usize = 1 << 20;

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

    /// Bytes of the file.
    pub fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// The first bytes of the file.
    pub fn head(&mut self, bytes: u64) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        (&self.file).take(bytes).read_to_end(&mut head)?;
        Ok(head)
    }

    /// Makes a new file erased: `0xFF` is written in full, since a hole in a file reads as zeros.
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
        let result = self.file.seek(SeekFrom::Start(offset)).and_then(|_| self.file.read_exact(bytes));
        result.map_err(|error| Refusal::Io { verb: "read", offset, reason: error.to_string() })
    }

    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Refusal> {
        self.demand_writable()?;
        let result = self.file.seek(SeekFrom::Start(offset)).and_then(|_| self.file.write_all(bytes));
        result.map_err(|error| Refusal::Io { verb: "write", offset, reason: error.to_string() })
    }

    pub fn demand_writable(&self) -> Result<(), Refusal> {
        if self.access == Access::ReadWrite { Ok(()) } else { Err(Refusal::ReadOnly) }
    }

    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}
