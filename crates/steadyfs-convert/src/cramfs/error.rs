//! Errors of an image that is read, and of a tree that is written.

use crate::TreeError;
use thiserror::Error;

/// The reason why an image of cramfs cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// No superblock was found.
    #[error("is no cramfs image: found no superblock at byte 0 or 512")]
    NotCramfs,
    /// The superblock has flags for unsupported features.
    #[error("has the unknown features {flags:#x}; expected none")]
    Features {
        /// The unknown flags.
        flags: u32,
    },
    /// The file ends before the end of the image.
    #[error("has {found} bytes; expected {expected}, the size in the superblock")]
    Truncated {
        /// Number of bytes of the image, as the superblock states it.
        expected: u64,
        /// Number of bytes that the file contains.
        found: u64,
    },
    /// The image is damaged.
    #[error(
        "has the checksum {found:#010x}; expected {expected:#010x}, the checksum in the superblock"
    )]
    Checksum {
        /// The checksum in the superblock.
        expected: u32,
        /// The checksum of the image.
        found: u32,
    },
    /// A directory or one of its entries lies outside the image.
    #[error("does not hold all of the directory {path}, at bytes {offset} to {end}")]
    Directory {
        /// Path of the directory.
        path: String,
        /// Offset of the start of the directory.
        offset: usize,
        /// Offset of the end of the directory.
        end: usize,
    },
    /// A directory shares bytes with another directory: it is linked twice, or contains itself.
    #[error("has the directory {path} at byte {offset}, the place of another directory")]
    Shared {
        /// Path of the directory.
        path: String,
        /// Offset of the start of the directory.
        offset: usize,
    },
    /// A directory lies deeper than Linux supports.
    #[error("has the directory {path}, whose path is longer than {limit} bytes")]
    TooDeep {
        /// Path of the directory.
        path: String,
        /// Bytes of the longest path.
        limit: usize,
    },
    /// A mode matches no kind of file.
    #[error("has {path} of mode {mode:#o}, which names no kind of file")]
    Mode {
        /// Path of the file.
        path: String,
        /// Mode of the file.
        mode: u16,
    },
    /// A page of a file cannot be read.
    #[error("has {path}, whose page {page} cannot be read: {source}")]
    Page {
        /// Path of the file.
        path: String,
        /// Index of the page.
        page: usize,
        /// The error of the read.
        source: steadyfs_rom::Error,
    },
    /// An entry cannot be added to the tree.
    #[error("has the directory {path}, and {source}")]
    Tree {
        /// Path of the directory that contains the entry.
        path: String,
        /// The reason.
        source: TreeError,
    },
    /// No image can have these settings.
    #[error("cannot have {0}")]
    Settings(String),
    /// A number of the tree is larger than its field in an image.
    #[error("cannot hold {path}: {what} {found}; the limit is {limit}")]
    TooLarge {
        /// Path of the file.
        path: String,
        /// The number that is too large, with its unit.
        what: &'static str,
        /// The value of the number.
        found: u64,
        /// The largest value that fits.
        limit: u64,
    },
    /// The file runs with the rights of its group (set-group-ID), but the number of the group does
    /// not fit into eight bits.
    #[error("cannot hold {path}: it sets the group {gid} when run; the limit of groups is 255")]
    SetsGroup {
        /// Path of the file.
        path: String,
        /// Group of the file.
        gid: u32,
    },
    /// A directory of the tree has two names.
    #[error("cannot hold {path}: the directory has another name already")]
    DirectoryTwice {
        /// Path of the second name.
        path: String,
    },
}
