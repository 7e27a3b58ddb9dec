//! JFFS2 images, read: the journalling file system of small flash.
//!
//! An image is a row of nodes in no order. Every node names the inode it belongs to and a version; of two nodes that say something about the same
//! bytes, or about the same name, the one of the higher version holds. So a reader goes over the whole image, takes the nodes whose checksums are
//! right and lets the versions decide:
//!
//! - `scan` finds the nodes, in the byte order of the image;
//! - `node` takes them apart;
//! - `content` makes the bytes of an inode from its nodes;
//! - `attributes` makes the extended attributes;
//! - `build` makes the tree.
//!
//! What the kernel does is done here: nodes with a wrong checksum and nodes that were marked obsolete are skipped, the newest node of an inode says
//! its mode, owner, time and size, and a name whose inode has no sound node is left out. Summaries are skipped, because they only repeat the nodes.
//!
//! Out-of-band bytes are not part of an image: a dump of NAND is made without them. The compressors rubinmips and dynrubin, which the kernel has
//! switched off since 2003, are refused by name.
//!
//! Work is bounded by the image: each node is unpacked at most once, and a byte unpacks to at most about a thousand.
//!
//! Source: include/uapi/linux/jffs2.h and the behaviour of fs/jffs2 of Linux.

mod attributes;
mod build;
mod content;
mod node;
mod scan;
mod unpack;

#[cfg(test)]
mod tests;

use crate::tree::{Limit, Tree, TreeError};
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

/// Whether these bytes begin as a JFFS2 image of either byte order: after erased bytes, if any, with a sound header of a node.
pub fn is_jffs2(image: &[u8]) -> bool {
    scan::begins(image)
}

/// Reads an image. The byte order is that of the first sound node.
///
/// # Errors
/// [`enum@Error`] of each kind; [`Error::Tree`] when the image holds more than the limit.
pub fn read(image: &[u8], limit: Limit) -> Result<Tree, Error> {
    let nodes = scan::scan(image)?;
    build::build(&nodes, limit)
}
