//! Errors of a UBIFS volume.

use super::node::Place;
use crate::tree::TreeError;
use thiserror::Error;

/// The reason why a volume cannot be read.
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
        /// The value of the field.
        value: u64,
        /// Accepted values.
        expected: &'static str,
    },
    /// The names and files are encrypted.
    #[error("the volume is encrypted: its files are not read without a key")]
    Encrypted,
    /// Neither copy of the master node is intact.
    #[error("no sound master node is in logical erase blocks 1 and 2")]
    NoMaster,
    /// A node that another node refers to is missing.
    #[error("{place}: no sound node of type {kind}")]
    Node {
        /// Position at which the node was expected.
        place: Place,
        /// Type that was expected.
        kind: u8,
    },
    /// The index is invalid.
    #[error("{place}: a node of the index {what}")]
    Index {
        /// Position of the node.
        place: Place,
        /// The fault of the node.
        what: &'static str,
    },
    /// The journal is invalid.
    #[error("{place}: a node of the journal {what}")]
    Journal {
        /// Position of the node.
        place: Place,
        /// The fault of the node.
        what: &'static str,
    },
    /// A file cannot be read.
    #[error("{path}: {fault}")]
    File {
        /// Path of the file.
        path: String,
        /// The reason.
        fault: Fault,
    },
}

/// The reason why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The name of the file refers to an inode that is missing.
    #[error("the name refers to inode {0}, which is not in the volume")]
    NoInode(u64),
    /// A node of the file is missing.
    #[error("no sound node of type {kind} is at {place}")]
    Node {
        /// Position at which the node was expected.
        place: Place,
        /// Type that was expected.
        kind: u8,
    },
    /// Content of the file cannot be unpacked.
    #[error("the node at {place} does not decompress; expected {expected_bytes} bytes")]
    Unpack {
        /// Position of the node.
        place: Place,
        /// Number of bytes that the content should have.
        expected_bytes: usize,
    },
    /// The compressor is unknown.
    #[error(
        "the node at {place} is compressed with method {compressor}; expected 0 for none, 1 for \
         LZO, 2 for zlib or 3 for zstd"
    )]
    Compressor {
        /// Position of the node.
        place: Place,
        /// Compressor of the node.
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
