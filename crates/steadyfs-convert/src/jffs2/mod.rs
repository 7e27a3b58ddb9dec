//! Reader of JFFS2 images, the journalling file system of small flash.
//!
//! An image is a row of nodes in no order. Every node contains its inode and a version. Of two
//! nodes for the same bytes, or for the same name, the node with the higher version holds. So a
//! reader goes over the whole image, takes the nodes with right checksums, and compares the
//! versions:
//!
//! - `scan` finds the nodes, in the byte order of the image;
//! - `node` parses them;
//! - `content` makes the bytes of an inode from its nodes;
//! - `attributes` makes the extended attributes;
//! - `build` makes the tree.
//!
//! The reader follows the kernel. It skips nodes with a wrong checksum and nodes that are marked
//! obsolete. The newest node of an inode has its mode, owner, time and size. A name whose inode has
//! no sound node is left out. [`Tree::lost`] counts unsound nodes and such names. Summaries are
//! skipped, because they only repeat the nodes.
//!
//! Out-of-band bytes are not part of an image: a dump of NAND is made without them. The compressors
//! rubinmips and dynrubin, which the kernel has switched off since 2003, are refused by name.
//!
//! The image bounds the work: each node is unpacked at most once, and a byte unpacks to at most
//! about a thousand.
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

/// Returns true if these bytes begin as a JFFS2 image of either byte order. It begins with a sound
/// header of a node, after erased bytes if any.
pub fn is_jffs2(image: &[u8]) -> bool {
    scan::begins(image)
}

/// Returns true if these bytes hold a sound header of a node.
pub(crate) fn has_node(image: &[u8]) -> bool {
    scan::has_node(image)
}

/// Returns true if most of these bytes are sound nodes. The first erase block may be erased or
/// damaged.
pub fn is_damaged_jffs2(image: &[u8]) -> bool {
    scan::is_image(image)
}

/// Reads an image. The first sound node decides the byte order.
///
/// # Errors
/// [`enum@Error`] of each kind; [`Error::Tree`] if the image has more than the limit.
pub fn read(image: &[u8], limit: Limit) -> Result<Tree, Error> {
    let nodes = scan::scan(image)?;
    let mut tree = build::build(&nodes, limit)?;
    tree.lose(nodes.unsound);
    Ok(tree)
}
