//! Errors of a tree that is written.

use thiserror::Error;

/// The reason why a tree cannot be written as an image.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The format does not support the size of the blocks.
    #[error("the block size is {0} bytes; expected a power of two from 4096 to 1048576")]
    BlockBytes(u32),
    /// The image cannot be padded to this number of bytes.
    #[error("the padding is {0} bytes; expected a power of two up to 1048576")]
    PadBytes(u32),
    /// The compressor does not support this level.
    #[error("the level of {compressor} is {level}; expected {expected}")]
    Level {
        /// Name of the compressor.
        compressor: &'static str,
        /// The requested level.
        level: i32,
        /// The levels of the compressor.
        expected: &'static str,
    },
    /// A directory has two names, or contains itself.
    #[error(
        "the directory {0:?} has a second name or holds itself; expected one name for each \
         directory"
    )]
    DirectoryTwice(String),
    /// A name refers to an inode that the tree does not have.
    #[error("the directory {0:?} names an inode that the tree does not have")]
    NoInode(String),
    /// The target of a symbolic link has a length that no system supports.
    #[error("the target of the link {path:?} has {bytes} bytes; expected 1 to 4095")]
    Target {
        /// Path of the link.
        path: String,
        /// Number of bytes of the target.
        bytes: usize,
    },
    /// The numbers of a device do not fit into their fields.
    #[error("the device {path:?} is {major}:{minor}; expected at most 4095:1048575")]
    Device {
        /// Path of the device.
        path: String,
        /// Number of its driver.
        major: u32,
        /// Number of the device at its driver.
        minor: u32,
    },
    /// The tree has more owners and groups than the format supports.
    #[error(
        "at {0:?} there are more than 65535 different owners and groups, the limit of the format"
    )]
    Ids(String),
    /// The format does not support the name of an attribute.
    #[error(
        "the format cannot store the name of the attribute {name:?} of {path:?}; expected user., \
         trusted. or security. and at most 255 bytes"
    )]
    AttributeName {
        /// Path of the file with the attribute.
        path: String,
        /// Whole name of the attribute.
        name: String,
    },
    /// No system accepts the value of an attribute.
    #[error("the attribute {name:?} of {path:?} has {bytes} bytes; expected at most 65536")]
    AttributeValue {
        /// Path of the file with the attribute.
        path: String,
        /// Whole name of the attribute.
        name: String,
        /// Number of bytes of the value.
        bytes: usize,
    },
    /// A part of the tree has more bytes or entries than its field allows.
    #[error("{0} is larger than its field in the format")]
    TooLarge(&'static str),
    /// The compressor failed, usually because of a lack of memory.
    #[error("the compressor {compressor} failed: {reason}")]
    Compressor {
        /// Name of the compressor.
        compressor: &'static str,
        /// Message of the compressor.
        reason: String,
    },
}

/// The text is not the name of a compressor.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} names no compressor; expected lz4, lz4:fast, gzip[:1-10], zstd[:1-22], xz or lzo")]
pub struct ParseCompressorError(pub String);
