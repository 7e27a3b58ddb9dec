//! Why an image does not become a tree.

use crate::TreeError;
use thiserror::Error;

/// Why an image of squashfs is not read.
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
        /// What is wrong with it.
        source: steadyfs_rom::Error,
    },
    /// A directory has two names or holds itself.
    #[error("has the directory {path}, which has another name already or holds itself")]
    DirectoryTwice {
        /// The second name.
        path: String,
    },
    /// A directory lies deeper than Linux reaches.
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
    /// Something does not go into the tree.
    #[error("has {path}, and {source}")]
    Tree {
        /// The file or directory.
        path: String,
        /// Why it does not go.
        source: TreeError,
    },
    /// To read it takes more work than any image of its size that was made to be read.
    #[error("would have to be decoded to more than {limit} bytes, far more than its files have")]
    Work {
        /// Bytes that are decoded at most.
        limit: u64,
    },
}
