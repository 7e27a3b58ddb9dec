//! Reader of images of JFFS2, the journalling file system for small flash.
//!
//! An image is a sequence of nodes in any order. Every node contains its inode number and a
//! version. If two nodes describe the same bytes or the same name, the node with the higher version
//! is valid. So a reader scans the whole image, selects the nodes with right checksums, and
//! compares their versions:
//!
//! - `scan` finds the nodes, in the byte order of the image;
//! - `node` parses them;
//! - `content` makes the bytes of an inode from its nodes;
//! - `attributes` makes the extended attributes;
//! - `build` makes the tree.
//!
//! The reader follows the kernel. It skips nodes with a wrong checksum and nodes that are marked
//! obsolete. The newest node of an inode contains its mode, owner, time and size. A name whose
//! inode has no intact node is left out. [`Tree::lost`] counts damaged nodes and such names.
//! Summaries are skipped, because they only repeat the nodes.
//!
//! Out-of-band bytes do not belong to an image, so dump NAND without them. The compressors
//! rubinmips and dynrubin are refused with an error that contains their name. The kernel has
//! disabled them since 2003.
//!
//! The size of the image limits the work: each node is unpacked at most once, and a packed byte
//! unpacks to at most about a thousand bytes.
//!
//! Source: include/uapi/linux/jffs2.h and the behaviour of fs/jffs2 of Linux.

mod attributes;
mod build;
mod content;
mod error;
mod node;
mod scan;
mod unpack;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::small;

pub use error::Error;

use crate::tree::{Limit, Tree};

/// Returns true if these bytes begin as a JFFS2 image of either byte order. Erased bytes may
/// precede the first header of a node, which must be intact.
pub fn is_jffs2(image: &[u8]) -> bool {
    scan::begins(image)
}

/// Returns true if these bytes contain an intact header of a node.
pub(crate) fn has_node(image: &[u8]) -> bool {
    scan::has_node(image)
}

/// Returns true if most of these bytes are intact nodes. The first erase block may be erased or
/// damaged.
pub fn is_damaged_jffs2(image: &[u8]) -> bool {
    scan::is_image(image)
}

/// Reads an image. The first intact node determines the byte order.
///
/// # Errors
/// [`enum@Error`] of each kind; [`Error::Tree`] if the content of the image exceeds the limit.
pub fn read(image: &[u8], limit: Limit) -> Result<Tree, Error> {
    let nodes = scan::scan(image)?;
    let mut tree = build::build(&nodes, limit)?;
    tree.lose(nodes.unsound);
    Ok(tree)
}
