//! Errors of an image that is read, and of a tree that is written.

use crate::TreeError;
use thiserror::Error;

/// The reason why an image of cramfs is not read or written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// No superblock was found.
    #[error("is no cramfs image: found no superblock at byte 0 or 512")]
    NotCramfs,
    /// The superblock names features of another edition of the format.
    #[error("has the unknown features {flags:#x}; expected none")]
    Features {
        /// The unknown flags.
        flags: u32,
    },
    /// The file ends before the end of the image.
    #[error("has {found} bytes; expected {expected}, the size in the superblock")]
    Truncated {
        /// Bytes that the superblock names.
        expected: u64,
        /// Bytes that are there.
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
    /// A directory, or one of its entries, is not within the image.
    #[error("does not hold all of the directory {path}, at bytes {offset} to {end}")]
    Directory {
        /// The directory.
        path: String,
        /// Its begin.
        offset: usize,
        /// Its end.
        end: usize,
    },
    /// A directory shares bytes with another directory: it is linked twice, or contains itself.
    #[error("has the directory {path} at byte {offset}, the place of another directory")]
    Shared {
        /// The directory.
        path: String,
        /// Its begin.
        offset: usize,
    },
    /// A directory lies deeper than Linux supports.
    #[error("has the directory {path}, whose path is longer than {limit} bytes")]
    TooDeep {
        /// The directory.
        path: String,
        /// Bytes of the longest path.
        limit: usize,
    },
    /// A mode matches no kind of file.
    #[error("has {path} of mode {mode:#o}, which names no kind of file")]
    Mode {
        /// The file.
        path: String,
        /// Its mode.
        mode: u16,
    },
    /// A page of a file is not readable.
    #[error("has {path}, whose page {page} cannot be read: {source}")]
    Page {
        /// The file.
        path: String,
        /// Index of the page.
        page: usize,
        /// The fault.
        source: steadyfs_rom::Error,
    },
    /// An entry does not go into the tree.
    #[error("has the directory {path}, and {source}")]
    Tree {
        /// The directory with the entry.
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
        /// The file.
        path: String,
        /// The number that is too large, with its unit.
        what: &'static str,
        /// Its value.
        found: u64,
        /// Its maximum.
        limit: u64,
    },
    /// The group does not fit into eight bits, and the file gives its rights to each user who runs
    /// it.
    #[error("cannot hold {path}: it sets the group {gid} when run; the limit of groups is 255")]
    SetsGroup {
        /// The file.
        path: String,
        /// Its group.
        gid: u32,
    },
    /// A directory of the tree has two names.
    #[error("cannot hold {path}: the directory has another name already")]
    DirectoryTwice {
        /// The second name.
        path: String,
    },
}
