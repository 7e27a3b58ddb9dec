//! UBIFS volumes, read: the file system of large raw flash, which stands on the logical erase blocks of UBI.
//!
//! A volume is an image of mkfs.ubifs, or the bytes of a volume that [`ubi::volumes`](crate::ubi::volumes) took from a dump. It is read as the kernel
//! mounts it:
//!
//! - `volume` finds the superblock and the newer of the two master nodes;
//! - `index` walks the tree of the last commit, from the root that the master node names;
//! - `journal` goes over what was written after that commit and applies it in the order of its sequence numbers;
//! - `build` makes the tree of files, and `unpack` the content.
//!
//! An image of mkfs.ubifs, a volume that was unmounted and one that lost its power are all read so. Of a journal head that was torn, what comes
//! before the tear holds, but for a group of nodes whose last is missing; a file whose data came to the flash before its new size is as long as its
//! data, as in a recovery of the kernel. Where the kernel would refuse a volume whose journal is damaged *in front* of its last page, the sound
//! part is read here.
//!
//! Encrypted volumes are refused. Signatures of authenticated volumes are not checked: who wrote the image is not known after reading.
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

/// Whether these bytes begin as a UBIFS volume: with the magic and the type of a superblock.
pub fn is_ubifs(image: &[u8]) -> bool {
    image.starts_with(&node::MAGIC.to_le_bytes()) && image.get(20) == Some(&node::SUPERBLOCK)
}

/// Reads a volume.
///
/// # Errors
/// [`enum@Error`] of each kind; [`Fault::Tree`] when the volume holds more than the limit.
pub fn read(image: &[u8], limit: Limit) -> Result<Tree, Error> {
    let volume = volume::Volume::open(image)?;
    let mut state = index::walk(&volume)?;
    journal::replay(&volume, &mut state)?;
    build::build(&volume, &state, limit)
}
