//! Reader of volumes of UBIFS, the file system for large raw flash. A volume lies on the logical
//! erase blocks of UBI.
//!
//! A volume is an image of mkfs.ubifs, or the bytes of a volume that
//! [`ubi::volumes`](crate::ubi::volumes) returns for a dump. The volume is read in the way in which
//! the kernel mounts it:
//!
//! - `volume` finds the superblock and the newer of the two master nodes;
//! - `index` walks the tree of the last commit, from the root to which the master node refers;
//! - `journal` reads the changes after that commit and applies them in the order of their sequence
//!   numbers;
//! - `build` makes the tree of files, and `unpack` the content.
//!
//! An image of mkfs.ubifs, an unmounted volume and a volume that lost its power are all read in
//! this way. In a torn journal head, everything before the tear is valid, except a group of nodes
//! that lacks its last node. If a power cut came between a file's data and its new size, the file
//! is as long as its data, as in a recovery of the kernel. If the journal is damaged *before* its
//! last page, the kernel would refuse the volume. This reader reads the intact part of the journal.
//!
//! Encrypted volumes are refused. Signatures of authenticated volumes are not checked, so a read
//! does not prove who made the image.
//!
//! Source: fs/ubifs/ubifs-media.h and the behaviour of replay.c and recovery.c of Linux.

mod build;
mod error;
mod index;
mod journal;
mod node;
mod state;
mod unpack;
mod volume;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::mkfs_image;

pub use error::{Error, Fault};
pub use node::Place;
pub(crate) use node::crc;

use crate::tree::{Limit, Tree};

/// Returns true if these bytes begin with the magic and the type of a superblock, as a UBIFS volume
/// does.
pub fn is_ubifs(image: &[u8]) -> bool {
    image.starts_with(&node::MAGIC.to_le_bytes()) && image.get(20) == Some(&node::SUPERBLOCK)
}

/// Reads a volume.
///
/// # Errors
/// [`enum@Error`] of each kind; [`Fault::Tree`] if the content of the volume exceeds the limit.
pub fn read(image: &[u8], limit: Limit) -> Result<Tree, Error> {
    let volume = volume::Volume::open(image)?;
    let mut state = index::walk(&volume)?;
    journal::replay(&volume, &mut state)?;
    build::build(&volume, &state, limit)
}
