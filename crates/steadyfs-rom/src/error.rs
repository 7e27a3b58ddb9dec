//! Errors of read-only images.

use crate::compressor::Compressor;
use core::fmt;
use steadyfs::media::Failure;

/// The reason why a call failed. Calls that only read change nothing, so the caller may repeat
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Error of the medium.
    Medium(Failure),
    /// The image is not of this format: its first bytes differ.
    NoImage,
    /// The version of the image is not supported. The number is this version.
    Version(u16),
    /// The image has features that are not supported. The number contains their flags.
    Features(u32),
    /// The image is compressed by a method that this build does not contain. The number is this
    /// method.
    Method(u16),
    /// The image contains an invalid part. The number is its offset in bytes.
    Damaged(u64),
    /// A block does not have the signed content. The number is the index of the block from the
    /// start of the image, in blocks of the hash tree's block size. It may be a block of the tree
    /// itself.
    NotAuthentic(u64),
    /// The image has no hash tree, its signature does not match the key, or its root hash differs.
    NotSigned,
    /// A read goes beyond the end of the image. The number is the offset in bytes at which the read
    /// ends.
    End(u64),
    /// A file with this path does not exist.
    NotFound,
    /// The node is not a directory.
    NotADirectory,
    /// The node is not a file.
    NotAFile,
    /// The node is not a symbolic link.
    NotALink,
    /// The content is longer than the buffer for it.
    BufferTooSmall {
        /// Number of bytes that the call needs.
        needed: usize,
    },
    /// The lent memory is too small.
    MemoryTooSmall {
        /// Number of bytes that the call needs.
        needed: usize,
        /// Number of bytes that were lent.
        lent: usize,
    },
    /// The chip has too many bad blocks. They are more than the lent memory or the header can list.
    /// Or too many of the chip's first 32 blocks are bad.
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
