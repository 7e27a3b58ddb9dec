//! Errors of a JFFS2 image.

use crate::tree::TreeError;
use thiserror::Error;

/// The reason why an image cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The image has no node of JFFS2.
    #[error("found no JFFS2 node; expected a header with the magic 0x1985 and a valid checksum")]
    NoJffs2,
    /// The image has a node of an unknown type that a reader must not skip.
    #[error(
        "the node at byte {at} has the type {kind:#06x}, which is unknown and must not be skipped"
    )]
    UnknownNode {
        /// Offset of the node in the image, in bytes.
        at: usize,
        /// Type of the node.
        kind: u16,
    },
    /// A file is packed with an unsupported compressor.
    #[error(
        "{path}: the node at byte {at} is compressed with {compressor}; expected none, zero, \
         rtime, zlib or lzo"
    )]
    Compressor {
        /// Path of the file.
        path: String,
        /// Offset of the node in the image, in bytes.
        at: usize,
        /// Compressor of the node.
        compressor: String,
    },
    /// The checksum of a node is right, but its content cannot be unpacked.
    #[error("{path}: the node at byte {at} does not decompress; expected {expected_bytes} bytes")]
    Unpack {
        /// Path of the file.
        path: String,
        /// Offset of the node in the image, in bytes.
        at: usize,
        /// Number of bytes that the content should have.
        expected_bytes: u32,
    },
    /// The mode of an inode matches no kind of file.
    #[error("{path}: the mode {mode:#o} names no kind of file")]
    Mode {
        /// Path of the file.
        path: String,
        /// Mode of the file.
        mode: u32,
    },
    /// A device's numbers have neither two nor four bytes.
    #[error("{path}: the numbers of the device have {bytes} bytes; expected 2 or 4")]
    Device {
        /// Path of the file.
        path: String,
        /// Number of bytes of the device's numbers.
        bytes: usize,
    },
    /// A directory has two names, or lies within itself.
    #[error("{path}: the directory has a second name; expected one")]
    DirectoryTwice {
        /// Path of the second name.
        path: String,
    },
    /// A part of the image does not fit into a tree.
    #[error("{path}: {error}")]
    Tree {
        /// Path of the file that does not fit.
        path: String,
        /// The reason.
        error: TreeError,
    },
}
