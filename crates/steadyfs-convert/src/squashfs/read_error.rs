//! Errors of an image that is read.

use crate::TreeError;
use thiserror::Error;

/// The reason why an image of squashfs is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The superblock is not readable.
    #[error("cannot be read: {0}")]
    Image(steadyfs_rom::Error),
    /// An inode, an entry or content is not readable.
    #[error("cannot be read at {path}: {source}")]
    At {
        /// The file or directory.
        path: String,
        /// The fault.
        source: steadyfs_rom::Error,
    },
    /// A directory has two names, or contains itself.
    #[error("has the directory {path}, which has another name already or holds itself")]
    DirectoryTwice {
        /// The second name.
        path: String,
    },
    /// A directory lies deeper than Linux supports.
    #[error("has the directory {path}, whose path is longer than {limit} bytes")]
    TooDeep {
        /// The directory.
        path: String,
        /// Bytes of the longest path.
        limit: usize,
    },
    /// A file has two attributes of one name.
    #[error("has {path} with two attributes {name:?}")]
    AttributeTwice {
        /// The file.
        path: String,
        /// The name.
        name: String,
    },
    /// A part of the image does not fit into the tree.
    #[error("has {path}, and {source}")]
    Tree {
        /// The file or directory.
        path: String,
        /// The reason.
        source: TreeError,
    },
    /// Reading takes more work than any honest image of this size needs.
    #[error("needs more than {limit} decoded bytes, far more than its files have")]
    Work {
        /// Maximum decoded bytes.
        limit: u64,
    },
}
