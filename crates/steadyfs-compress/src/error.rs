//! What can go wrong with a compressed file.

use crate::method::Method;
use core::fmt;

/// Why a call on a compressed file failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// What the file system says.
    Volume(steadyfs::Error),
    /// The file has no attribute that says that it is compressed.
    NotPacked,
    /// The attribute is none of this release: another version, or a chunk size that is none.
    Attribute,
    /// What a directory says of its files is none of this release: see [`Rule`](crate::Rule).
    Rule,
    /// The file is larger than a chunk: [`PackedFile::convert`](crate::PackedFile::convert) takes none that is.
    TooLarge,
    /// A [conversion](crate::PackedFile::convert) failed, and so did the way back: the volume is to be rolled back before it commits.
    NotUndone,
    /// The file says that it is larger than its chunks can be.
    Size,
    /// The entry of a chunk names no place in the file, or a form that is none.
    Entry {
        /// Which chunk, from 0.
        chunk: u32,
    },
    /// A chunk cannot be decoded: its bytes are damaged, or were never there.
    Chunk {
        /// Which chunk, from 0.
        chunk: u32,
    },
    /// A chunk is compressed by a method that this build is without.
    Method {
        /// Which chunk, from 0.
        chunk: u32,
        /// How it is compressed.
        method: Method,
    },
    /// The memory that was lent is smaller than [`Shape::read_bytes`](crate::Shape::read_bytes), or to write than [`Shape::write_bytes`](crate::Shape::write_bytes).
    MemoryTooSmall {
        /// Bytes that are needed.
        needed: usize,
        /// Bytes that were lent.
        lent: usize,
    },
}

/// Why a step of a call failed. One byte, so that results travel in registers; the call makes an [`Error`] of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// What the file system says.
    Volume(steadyfs::Error),
    /// The file says that it is larger than its chunks can be.
    Size,
    /// Of the chunk that was looked up last: its entry names no place.
    Entry,
    /// Of the chunk that was looked up last: it cannot be decoded.
    Chunk,
    /// Of the chunk that was looked up last: this build is without its method.
    Method,
    /// The memory suffices to read alone.
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
    /// What callers are told that know of plain files alone: [`Corrupt`](steadyfs::Error::Corrupt) of all that the file system does not say itself.
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
            Self::Attribute => f.write_str("the file is compressed in a way that this release does not know"),
            Self::Rule => f.write_str("the directory says that files are compressed in a way that this release does not know"),
            Self::NotUndone => f.write_str("the file could neither be compressed nor left as it was: roll the volume back"),
            Self::TooLarge => f.write_str("the file is larger than a chunk"),
            Self::Size => f.write_str("the compressed file says that it is larger than it can be"),
            Self::Entry { chunk } => write!(f, "the entry of chunk {chunk} of the compressed file names no place in it"),
            Self::Chunk { chunk } => write!(f, "chunk {chunk} of the compressed file cannot be decoded"),
            Self::Method { chunk, method } => {
                write!(f, "chunk {chunk} of the compressed file is compressed by {method}, which this build is without")
            }
            Self::MemoryTooSmall { needed, lent } => {
                write!(f, "the compressed file needs {needed} bytes of memory; {lent} were lent")
            }
        }
    }
}

impl core::error::Error for Error {}
