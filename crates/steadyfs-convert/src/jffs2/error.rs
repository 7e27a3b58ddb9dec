//! Why a JFFS2 image is not read.

use crate::tree::TreeError;
use thiserror::Error;

/// Why an image is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no node of JFFS2 in it.
    #[error("no node of JFFS2 is in these bytes; expected a header with the magic 0x1985 and a right checksum")]
    NoJffs2,
    /// A node says that who does not know it must not read the image.
    #[error("the node at byte {at} has the type {kind:#06x}, which is not known and may not be passed over")]
    UnknownNode {
        /// Where it stands in the image, in bytes.
        at: usize,
        /// Its type.
        kind: u16,
    },
    /// A file is packed with a compressor that is not read.
    #[error(
        "{path}: the node at byte {at} is packed with {compressor}, which is not read; expected none, zero, rtime, zlib or lzo"
    )]
    Compressor {
        /// The file.
        path: String,
        /// Where the node stands in the image, in bytes.
        at: usize,
        /// Its compressor.
        compressor: String,
    },
    /// The checksum of a node is right, but its content does not unpack.
    #[error("{path}: the node at byte {at} does not unpack to the {expected_bytes} bytes it promises")]
    Unpack {
        /// The file.
        path: String,
        /// Where the node stands in the image, in bytes.
        at: usize,
        /// Bytes that were expected.
        expected_bytes: u32,
    },
    /// The mode of an inode is of no kind of file.
    #[error("{path}: the mode {mode:#o} is of no kind of file")]
    Mode {
        /// The file.
        path: String,
        /// Its mode.
        mode: u32,
    },
    /// A device's numbers have neither two nor four bytes.
    #[error("{path}: a device with {bytes} bytes of numbers; expected 2 or 4")]
    Device {
        /// The file.
        path: String,
        /// How many bytes there are.
        bytes: usize,
    },
    /// A directory has two names, or lies within itself.
    #[error("{path}: this directory has another name already; expected one name for a directory")]
    DirectoryTwice {
        /// The second name.
        path: String,
    },
    /// What the image holds does not go into a tree.
    #[error("{path}: {error}")]
    Tree {
        /// The file that did not go in.
        path: String,
        /// Why not.
        error: TreeError,
    },
}
