//! Errors of a UBIFS volume.

use super::node::Place;
use crate::tree::TreeError;
use thiserror::Error;

/// The reason why a volume is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The volume does not begin with a superblock.
    #[error(
        "found no UBIFS superblock; expected a node with the magic 0x06101831, type 6 and a valid \
         checksum at byte 0"
    )]
    NoUbifs,
    /// The superblock has an invalid value.
    #[error("in the superblock, {what} is {value}; expected {expected}")]
    Superblock {
        /// The invalid field.
        what: &'static str,
        /// Its value.
        value: u64,
        /// Accepted values.
        expected: &'static str,
    },
    /// The names and files are encrypted.
    #[error("the volume is encrypted: its files are not read without a key")]
    Encrypted,
    /// Neither copy of the master node is sound.
    #[error("no sound master node is in logical erase blocks 1 and 2")]
    NoMaster,
    /// A referenced node is not there.
    #[error("{place}: no sound node of type {kind}")]
    Node {
        /// Expected place.
        place: Place,
        /// Expected type.
        kind: u8,
    },
    /// The index is invalid.
    #[error("{place}: a node of the index {what}")]
    Index {
        /// Place of the node.
        place: Place,
        /// The fault.
        what: &'static str,
    },
    /// The journal is invalid.
    #[error("{place}: a node of the journal {what}")]
    Journal {
        /// Place of the node.
        place: Place,
        /// The fault.
        what: &'static str,
    },
    /// A file is not read.
    #[error("{path}: {fault}")]
    File {
        /// The file.
        path: String,
        /// The reason.
        fault: Fault,
    },
}

/// The reason why a file is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// Its name refers to an inode that is not there.
    #[error("the name refers to inode {0}, which is not in the volume")]
    NoInode(u64),
    /// One of its nodes is not there.
    #[error("no sound node of type {kind} is at {place}")]
    Node {
        /// Expected place.
        place: Place,
        /// Expected type.
        kind: u8,
    },
    /// Content does not unpack.
    #[error("the node at {place} does not decompress; expected {expected_bytes} bytes")]
    Unpack {
        /// Place of the node.
        place: Place,
        /// Expected bytes.
        expected_bytes: usize,
    },
    /// The compressor is unknown.
    #[error(
        "the node at {place} is compressed with method {compressor}; expected 0 for none, 1 for \
         LZO, 2 for zlib or 3 for zstd"
    )]
    Compressor {
        /// Place of the node.
        place: Place,
        /// Its compressor.
        compressor: u16,
    },
    /// The file is encrypted.
    #[error("it is encrypted and is not read without a key")]
    Encrypted,
    /// The mode matches no kind of file.
    #[error("the mode {0:#o} names no kind of file")]
    Mode(u32),
    /// A device's numbers have neither four nor eight bytes.
    #[error("the numbers of the device have {0} bytes; expected 4 or 8")]
    Device(usize),
    /// A directory has two names, or lies within itself.
    #[error("the directory has a second name; expected one")]
    DirectoryTwice,
    /// The file does not fit into a tree.
    #[error("{0}")]
    Tree(#[from] TreeError),
}
