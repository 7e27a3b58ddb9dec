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

pub use node::Place;
pub(crate) use node::crc;

use crate::tree::{Limit, Tree, TreeError};
use thiserror::Error;

/// Why a volume is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// It does not begin with a superblock.
    #[error(
        "no superblock of UBIFS is at the front of these bytes; expected a node with the magic 0x06101831, type 6 and a right checksum"
    )]
    NoUbifs,
    /// The superblock makes no sense.
    #[error("the superblock says {what} is {value}; expected {expected}")]
    Superblock {
        /// What is wrong.
        what: &'static str,
        /// What stands there.
        value: u64,
        /// What could stand there.
        expected: &'static str,
    },
    /// The names and files are encrypted.
    #[error("the volume is encrypted: its files are not read without a key")]
    Encrypted,
    /// Neither copy of the master node is sound.
    #[error("no sound master node is in logical erase blocks 1 and 2")]
    NoMaster,
    /// A node that is referred to is not there.
    #[error("{place}: no sound node of type {kind}")]
    Node {
        /// Where it was to stand.
        place: Place,
        /// Type that was expected.
        kind: u8,
    },
    /// The index makes no sense.
    #[error("{place}: a node of the index {what}")]
    Index {
        /// Where the node stands.
        place: Place,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The journal makes no sense.
    #[error("{place}: a node of the journal {what}")]
    Journal {
        /// Where the node stands.
        place: Place,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A file is not read.
    #[error("{path}: {fault}")]
    File {
        /// The file.
        path: String,
        /// Why not.
        fault: Fault,
    },
}

/// Why a file is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// Its name stands for an inode that is not there.
    #[error("this name stands for inode {0}, which is not in the volume")]
    NoInode(u64),
    /// A node of it is not there.
    #[error("no sound node of type {kind} is at {place}")]
    Node {
        /// Where it was to stand.
        place: Place,
        /// Type that was expected.
        kind: u8,
    },
    /// Content does not unpack.
    #[error("the node at {place} does not unpack to the {expected_bytes} bytes it promises")]
    Unpack {
        /// Where the node stands.
        place: Place,
        /// Bytes that were expected.
        expected_bytes: usize,
    },
    /// A compressor that is not known.
    #[error(
        "the node at {place} is packed with compressor {compressor}; expected 0 for none, 1 for LZO, 2 for zlib or 3 for zstd"
    )]
    Compressor {
        /// Where the node stands.
        place: Place,
        /// Its compressor.
        compressor: u16,
    },
    /// The file is encrypted.
    #[error("it is encrypted and is not read without a key")]
    Encrypted,
    /// The mode is of no kind of file.
    #[error("the mode {0:#o} is of no kind of file")]
    Mode(u32),
    /// A device's numbers have neither four nor eight bytes.
    #[error("a device with {0} bytes of numbers; expected 4 or 8")]
    Device(usize),
    /// A directory has two names, or lies within itself.
    #[error("this directory has another name already; expected one name for a directory")]
    DirectoryTwice,
    /// It does not go into a tree.
    #[error("{0}")]
    Tree(#[from] TreeError),
}

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
