//! Why a UBIFS volume is not read.

use super::node::Place;
use crate::tree::TreeError;
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
