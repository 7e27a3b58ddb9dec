//! What can go wrong with a read-only image.

use crate::compressor::Compressor;
use core::fmt;
use steadyfs::media::Failure;

/// Why a call failed. No call changes anything, so each may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// What the medium says.
    Medium(Failure),
    /// The image is none of this format: its first bytes are others.
    NoImage,
    /// The image is of a version that is not read here.
    Version(u16),
    /// The image has features, by their flags, that are not read here.
    Features(u32),
    /// The image is compressed by a method that this build is without.
    Method(u16),
    /// Something of the image cannot be as it is, at this offset in bytes.
    Damaged(u64),
    /// The block of the image with this number, of those that are verified, is not what was signed.
    NotAuthentic(u64),
    /// The image has no hash tree, or its signature is not that of the key, or its root hash another one.
    NotSigned,
    /// The image ends before this offset in bytes.
    End(u64),
    /// There is no such file.
    NotFound,
    /// It is no directory.
    NotADirectory,
    /// It is no file.
    NotAFile,
    /// It is no symbolic link.
    NotALink,
    /// What is asked for is longer than the buffer that is there for it.
    BufferTooSmall {
        /// Bytes that are needed.
        needed: usize,
    },
    /// The memory that was lent is too small.
    MemoryTooSmall {
        /// Bytes that are needed.
        needed: usize,
        /// Bytes that were lent.
        lent: usize,
    },
    /// The chip has more bad blocks than the memory that was lent can list.
    TooManyBadBlocks,
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Medium(failure)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Medium(failure) => failure.fmt(f),
            Self::NoImage => f.write_str("there is no image of this format"),
            Self::Version(version) => write!(f, "the image is of version {version}, which is not read here"),
            Self::Features(flags) => write!(f, "the image has features {flags:#x}, which are not read here"),
            Self::Method(id) => match Compressor::of(*id) {
                Some(method) => write!(f, "the image is compressed by {method}, which this build is without"),
                None => write!(f, "the image is compressed by method {id}, which is none that is known"),
            },
            Self::Damaged(offset) => write!(f, "the image is damaged at byte {offset}"),
            Self::NotAuthentic(block) => write!(f, "block {block} of the image is not what was signed"),
            Self::NotSigned => f.write_str("the image is not signed by this key"),
            Self::End(offset) => write!(f, "the image ends before byte {offset}"),
            Self::NotFound => f.write_str("there is no such file"),
            Self::NotADirectory => f.write_str("it is no directory"),
            Self::NotAFile => f.write_str("it is no file"),
            Self::NotALink => f.write_str("it is no symbolic link"),
            Self::BufferTooSmall { needed } => write!(f, "it has {needed} bytes, more than the buffer"),
            Self::MemoryTooSmall { needed, lent } => write!(f, "the image needs {needed} bytes of memory; {lent} were lent"),
            Self::TooManyBadBlocks => f.write_str("the chip has more bad blocks than the memory that was lent can list"),
        }
    }
}

impl core::error::Error for Error {}
