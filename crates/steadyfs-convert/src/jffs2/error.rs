//! Errors of a JFFS2 image.

use crate::tree::TreeError;
use thiserror::Error;

/// The reason why an image is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The image has no node of JFFS2.
    #[error(
        "no node of JFFS2 is in these bytes; expected a header with the magic 0x1985 and a right checksum"
    )]
    NoJffs2,
    /// The image has a node of an unknown type that a reader must not skip.
    #[error(
        "the node at byte {at} has the type {kind:#06x}, which is not known and may not be passed over"
    )]
    UnknownNode {
        /// Offset of the node in the image, in bytes.
        at: usize,
        /// Its type.
        kind: u16,
    },
    /// A file is packed with an unsupported compressor.
    #[error(
        "{path}: the node at byte {at} is packed with {compressor}, which is not read; expected none, zero, rtime, zlib or lzo"
    )]
    Compressor {
        /// The file.
        path: String,
        /// Offset of the node in the image, in bytes.
        at: usize,
        /// Its compressor.
        compressor: String,
    },
    /// The checksum of a node is right, but its content does not unpack.
    #[error(
        "{path}: the node at byte {at} does not unpack to the {expected_bytes} bytes it promises"
    )]
    Unpack {
        /// The file.
        path: String,
        /// Offset of the node in the image, in bytes.
        at: usize,
        /// Expected bytes.
        expected_bytes: u32,
    },
    /// The mode of an inode matches no kind of file.
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
        /// Bytes of the numbers.
        bytes: usize,
    },
    /// A directory has two names, or lies within itself.
    #[error("{path}: this directory has another name already; expected one name for a directory")]
    DirectoryTwice {
        /// The second name.
        path: String,
    },
    /// A part of the image does not fit into a tree.
    #[error("{path}: {error}")]
    Tree {
        /// The file that does not fit.
        path: String,
        /// The reason.
        error: TreeError,
    },
}
