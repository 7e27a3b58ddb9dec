//! Errors of read-only images.

use crate::compressor::Compressor;
use core::fmt;
use steadyfs::media::Failure;

/// The reason why a call failed. Calls that read change nothing, so each may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Error of the medium.
    Medium(Failure),
    /// The image is not of this format: its first bytes differ.
    NoImage,
    /// The image has this version, which is not supported.
    Version(u16),
    /// The image has features with these flags, which are not supported.
    Features(u32),
    /// The image is compressed by a method that this build does not contain.
    Method(u16),
    /// The image has an invalid part at this offset in bytes.
    Damaged(u64),
    /// The block with this number does not have the signed content. The number counts blocks of the
    /// hash tree's size from the begin of the image; blocks of the tree itself have numbers too.
    NotAuthentic(u64),
    /// The image has no hash tree, its signature does not match the key, or its root hash differs.
    NotSigned,
    /// The image ends before this offset in bytes.
    End(u64),
    /// There is no such file.
    NotFound,
    /// This is not a directory.
    NotADirectory,
    /// This is not a file.
    NotAFile,
    /// This is not a symbolic link.
    NotALink,
    /// The content is longer than the buffer for it.
    BufferTooSmall {
        /// Bytes that are needed.
        needed: usize,
    },
    /// The lent memory is too small.
    MemoryTooSmall {
        /// Bytes that are needed.
        needed: usize,
        /// Bytes that were lent.
        lent: usize,
    },
    /// The chip has too many bad blocks: more than the lent memory or the header can list, or too
    /// many among its first 32 blocks.
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
            Self::Version(version) => {
                write!(f, "the image has version {version}, which this release does not read")
            }
            Self::Features(flags) => {
                write!(f, "the image has features {flags:#x}, which this release does not read")
            }
            Self::Method(id) => match Compressor::of(*id) {
                Some(method) => {
                    write!(f, "the image is compressed by {method}, which this build lacks")
                }
                None => {
                    write!(f, "the image is compressed by the unknown method {id}")
                }
            },
            Self::Damaged(offset) => write!(f, "the image is damaged at byte {offset}"),
            Self::NotAuthentic(block) => {
                write!(f, "block {block} of the image is not the signed block")
            }
            Self::NotSigned => f.write_str("the image is not signed by this key"),
            Self::End(offset) => write!(f, "the image ends before byte {offset}"),
            Self::NotFound => f.write_str("there is no such file"),
            Self::NotADirectory => f.write_str("it is no directory"),
            Self::NotAFile => f.write_str("it is no file"),
            Self::NotALink => f.write_str("it is no symbolic link"),
            Self::BufferTooSmall { needed } => {
                write!(f, "it has {needed} bytes, more than the buffer")
            }
            Self::MemoryTooSmall { needed, lent } => {
                write!(f, "the image needs {needed} bytes of memory; {lent} were lent")
            }
            Self::TooManyBadBlocks => {
                f.write_str("the chip has more bad blocks than the lent memory can list")
            }
        }
    }
}

impl core::error::Error for Error {}
