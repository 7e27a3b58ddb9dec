//! An open file with the traits of [`embedded_io`]: crates that read from a [`Read`] or write to a
//! [`Write`], such as parsers and compressors, work on a file.
//!
//! [`FileStream`] also has the traits of [`embedded_io_async`]. All calls of SteadyFS block, so
//! these futures are ready at their first poll. With the feature `async`, inside `Meanwhile::run`
//! of the module `waiting`, the rest of the program is polled while a call waits for the flash.
//!
//! ```
//! use embedded_io::{Read, Seek, SeekFrom, Write};
//! use steadyfs::{Access, Config, FileSystem, OpenOptions};
//! use steadyfs_drivers::adapters::embedded_io::FileStream;
//! # use steadyfs::media::{Flash, Geometry};
//! # let geometry = Geometry {
//! #     page_bytes: 512, pages_per_block: 16, block_count: 64, programs_bytes: false,
//! # };
//! # let flash = steadyfs_sim::Nand::with_geometry(geometry, steadyfs_sim::NandTiming::ROUND, 1);
//! # let config = Config::for_geometry(&geometry);
//! # let mut memory = vec![0; config.memory_bytes(&geometry)];
//! # let flash = FileSystem::format(flash, &config, &mut memory)?;
//! # let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
//! let mut file = fs.open("log", OpenOptions::CREATE)?;
//! let mut stream = FileStream::new(&mut fs, &mut file);
//! write!(stream, "{} degrees\n", 21.5)?;
//! stream.flush()?; // durable
//! stream.seek(SeekFrom::Start(5))?;
//! let mut unit = [0; 7];
//! stream.read_exact(&mut unit)?;
//! assert_eq!(&unit, b"degrees");
//! fs.close(file)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use core::fmt;
use embedded_io::{ErrorKind, ErrorType, Read, Seek, SeekFrom, Write};
use steadyfs::media::Flash;
use steadyfs::{CommitOn, Error, File, FileSystem};

/// The reason for the failure of a call of a [`FileStream`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum StreamError {
    /// A call of the file system failed.
    FileSystem(Error),
    /// The position of a seek is before the beginning of the file, or does not fit in 64 bits. The
    /// position has not changed.
    Position,
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FileSystem(error) => error.fmt(f),
            Self::Position => f.write_str(
                "the position is before the beginning of the file, or does not fit in 64 bits",
            ),
        }
    }
}

impl core::error::Error for StreamError {}

impl From<Error> for StreamError {
    fn from(error: Error) -> Self {
        Self::FileSystem(error)
    }
}

impl embedded_io::Error for StreamError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Position => ErrorKind::InvalidInput,
            Self::FileSystem(error) => match error {
                Error::NotFound | Error::Stale => ErrorKind::NotFound,
                Error::NotReadable | Error::NotWritable | Error::ReadOnly => {
                    ErrorKind::PermissionDenied
                }
                Error::Corrupt => ErrorKind::InvalidData,
                Error::FileTooLarge | Error::WrongMount => ErrorKind::InvalidInput,
                Error::NoSpace | Error::TransactionTooLarge => ErrorKind::OutOfMemory,
                Error::Unsupported => ErrorKind::Unsupported,
                _ => ErrorKind::Other,
            },
        }
    }
}

/// An open file with a position, at first 0. It borrows the volume and the file, and does not close
/// the file.
///
/// # Power loss
/// A write is durable after [`flush`](Write::flush), or at once if the file was opened
/// [durable](steadyfs::OpenOptions::durable).
pub struct FileStream<'f, 'm, F> {
    fs: &'f mut FileSystem<'m, F>,
    file: &'f mut File,
    position: u64,
}

impl<'f, 'm, F: Flash> FileStream<'f, 'm, F> {
    /// Takes a mounted volume, and a file that is open on it.
    pub fn new(fs: &'f mut FileSystem<'m, F>, file: &'f mut File) -> Self {
        Self { fs, file, position: 0 }
    }

    /// Returns the offset of the next read or write.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the offset of the next write. A file that was opened for appending is written at
    /// its end.
    fn write_position(&mut self) -> Result<u64, Error> {
        if self.file.options().append { self.fs.size(self.file) } else { Ok(self.position) }
    }
}

impl<F> ErrorType for FileStream<'_, '_, F> {
    type Error = StreamError;
}

impl<F: Flash> Read for FileStream<'_, '_, F> {
    /// Reads at the position. The number of bytes is less than the length of `data` only at the end
    /// of the file, and 0 at or behind the end.
    fn read(&mut self, data: &mut [u8]) -> Result<usize, StreamError> {
        let count = self.fs.read(self.file, self.position, data)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl<F: Flash> Write for FileStream<'_, '_, F> {
    /// Writes all of `data` at the position, or at the end if the file was opened for appending.
    /// After an error, some logical pages may be written, and the position is unchanged.
    fn write(&mut self, data: &[u8]) -> Result<usize, StreamError> {
        let position = self.write_position()?;
        self.fs.write(self.file, position, data)?;
        self.position = position + data.len() as u64;
        Ok(data.len())
    }

    /// Commits, unless the [events](FileSystem::set_commit_on) of the volume are without
    /// [`CommitOn::FSYNC`].
    fn flush(&mut self) -> Result<(), StreamError> {
        Ok(self.fs.sync(CommitOn::FSYNC)?)
    }
}

impl<F: Flash> Seek for FileStream<'_, '_, F> {
    /// Sets the position. It may be behind the end: a read there returns 0 bytes, and a write fills
    /// the gap with zeros.
    fn seek(&mut self, to: SeekFrom) -> Result<u64, StreamError> {
        let position = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(distance) => self.position.checked_add_signed(distance),
            SeekFrom::End(distance) => self.fs.size(self.file)?.checked_add_signed(distance),
        };
        self.position = position.ok_or(StreamError::Position)?;
        Ok(self.position)
    }
}

impl<F: Flash> embedded_io_async::Read for FileStream<'_, '_, F> {
    async fn read(&mut self, data: &mut [u8]) -> Result<usize, StreamError> {
        Read::read(self, data)
    }
}

impl<F: Flash> embedded_io_async::Write for FileStream<'_, '_, F> {
    async fn write(&mut self, data: &[u8]) -> Result<usize, StreamError> {
        Write::write(self, data)
    }

    async fn flush(&mut self) -> Result<(), StreamError> {
        Write::flush(self)
    }
}

impl<F: Flash> embedded_io_async::Seek for FileStream<'_, '_, F> {
    async fn seek(&mut self, to: SeekFrom) -> Result<u64, StreamError> {
        Seek::seek(self, to)
    }
}
