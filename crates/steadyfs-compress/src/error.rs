//! The errors of calls on compressed files.

use crate::method::Method;
use core::fmt;

/// The reason why a call on a compressed file failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The file system failed.
    Volume(steadyfs::Error),
    /// The file has no attribute of compressed files.
    NotPacked,
    /// This release does not support the attribute of the file: its version differs, or its chunk
    /// size is invalid.
    Attribute,
    /// This release does not support the rule that a directory has for its files: see
    /// [`Rule`](crate::Rule).
    Rule,
    /// The file is larger than a chunk, so [`PackedFile::convert`](crate::PackedFile::convert)
    /// refuses the file.
    TooLarge,
    /// A [conversion](crate::PackedFile::convert) failed, and so did the rollback. The volume
    /// must be rolled back before it commits.
    NotUndone,
    /// The stored size of the file is larger than its chunks can be.
    Size,
    /// The entry of a chunk contains an invalid position or an invalid form.
    Entry {
        /// Number of the chunk, from 0.
        chunk: u32,
    },
    /// A chunk cannot be decoded: its bytes are damaged, or were never written.
    Chunk {
        /// Number of the chunk, from 0.
        chunk: u32,
    },
    /// A chunk is compressed with a method that this build does not contain.
    Method {
        /// Number of the chunk, from 0.
        chunk: u32,
        /// The method of the chunk.
        method: Method,
    },
    /// The lent memory is smaller than [`Shape::read_bytes`](crate::Shape::read_bytes), or, for a
    /// write, smaller than [`Shape::write_bytes`](crate::Shape::write_bytes).
    MemoryTooSmall {
        /// Number of bytes that the call needs.
        needed: usize,
        /// Number of bytes that were lent.
        lent: usize,
    },
}

/// The reason why a step of a call failed. It is one byte, so that functions return it in
/// registers. The call converts it into an [`Error`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// The file system failed.
    Volume(steadyfs::Error),
    /// The stored size of the file is larger than its chunks can be.
    Size,
    /// The entry of the chunk that was looked up last contains an invalid position.
    Entry,
    /// The chunk that was looked up last cannot be decoded.
    Chunk,
    /// This build does not contain the method of the chunk that was looked up last.
    Method,
    /// The memory suffices for reads only.
    Memory,
}

impl From<steadyfs::Error> for Fault {
    fn from(error: steadyfs::Error) -> Self {
        Self::Volume(error)
    }
}

impl From<steadyfs::Error> for Error {
    fn from(error: steadyfs::Error) -> Self {
        Self::Volume(error)
    }
}

impl From<Error> for steadyfs::Error {
    /// Converts the error for callers that handle plain files only. An error that
    /// [`steadyfs::Error`] does not contain becomes [`Corrupt`](steadyfs::Error::Corrupt).
    /// [`Error::Method`] becomes [`Unsupported`](steadyfs::Error::Unsupported), and
    /// [`Error::NotUndone`] becomes [`Unknown`](steadyfs::Error::Unknown).
    fn from(error: Error) -> Self {
        match error {
            Error::Volume(error) => error,
            Error::Method { .. } => Self::Unsupported,
            Error::NotUndone => Self::Unknown,
            _ => Self::Corrupt,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Volume(error) => error.fmt(f),
            Self::NotPacked => f.write_str("the file is not compressed"),
            Self::Attribute => {
                f.write_str("this release does not support the attribute of the compressed file")
            }
            Self::Rule => f.write_str(
                "this release does not support the compression that the directory sets for its \
                 files",
            ),
            Self::NotUndone => f.write_str(
                "the file could neither be converted nor restored: roll the volume back",
            ),
            Self::TooLarge => f.write_str("the file is larger than a chunk"),
            Self::Size => f.write_str(
                "the stored size of the compressed file is larger than its chunks can be",
            ),
            Self::Entry { chunk } => {
                write!(f, "the entry of chunk {chunk} of the compressed file names no valid place")
            }
            Self::Chunk { chunk } => {
                write!(f, "chunk {chunk} of the compressed file cannot be decoded")
            }
            Self::Method { chunk, method } => {
                write!(
                    f,
                    "chunk {chunk} of the compressed file is compressed by {method}, which this \
                     build lacks"
                )
            }
            Self::MemoryTooSmall { needed, lent } => {
                write!(f, "the compressed file needs {needed} bytes of memory; {lent} were lent")
            }
        }
    }
}

impl core::error::Error for Error {}
