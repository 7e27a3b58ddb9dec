//! Errors of an image that is read.

use crate::TreeError;
use thiserror::Error;

/// The reason why an image of squashfs cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The superblock cannot be read.
    #[error("cannot be read: {0}")]
    Image(steadyfs_rom::Error),
    /// An inode, an entry or content cannot be read.
    #[error("cannot be read at {path}: {source}")]
    At {
        /// Path of the file or directory.
        path: String,
        /// The error of the read.
        source: steadyfs_rom::Error,
    },
    /// A directory has two names, or contains itself.
    #[error("has the directory {path}, which has another name already or holds itself")]
    DirectoryTwice {
        /// Path of the second name.
        path: String,
    },
    /// A directory lies deeper than Linux supports.
    #[error("has the directory {path}, whose path is longer than {limit} bytes")]
    TooDeep {
        /// Path of the directory.
        path: String,
        /// Bytes of the longest path.
        limit: usize,
    },
    /// A file has two attributes with the same name.
    #[error("has {path} with two attributes {name:?}")]
    AttributeTwice {
        /// Path of the file.
        path: String,
        /// Name of the attribute.
        name: String,
    },
    /// A part of the image does not fit into the tree.
    #[error("has {path}, and {source}")]
    Tree {
        /// Path of the file or directory.
        path: String,
        /// The reason.
        source: TreeError,
    },
    /// The read needs more work than an image of this size needs if it is not malicious.
    #[error("needs more than {limit} decoded bytes, far more than its files have")]
    Work {
        /// Maximum number of decoded bytes.
        limit: u64,
    },
}
