//! Why a tree does not become an image.

use thiserror::Error;

/// Why a tree does not become an image.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The size of the blocks is none that the format has.
    #[error("the block size is {0} bytes; expected a power of two from 4096 to 1048576")]
    BlockBytes(u32),
    /// The image cannot be padded to that.
    #[error("the padding is {0} bytes; expected a power of two up to 1048576")]
    PadBytes(u32),
    /// The compressor has no such level.
    #[error("the level of {compressor} is {level}; expected {expected}")]
    Level {
        /// Which compressor.
        compressor: &'static str,
        /// The level that was asked for.
        level: i32,
        /// The levels that it has.
        expected: &'static str,
    },
    /// A directory has two names or holds itself.
    #[error("the directory {0:?} has a second name or holds itself; expected one name for each directory")]
    DirectoryTwice(String),
    /// A name of an inode that the tree does not have.
    #[error("the directory {0:?} names an inode that the tree does not have")]
    NoInode(String),
    /// A target of a symbolic link that no system follows.
    #[error("the target of the link {path:?} has {bytes} bytes; expected 1 to 4095")]
    Target {
        /// The link.
        path: String,
        /// Bytes of its target.
        bytes: usize,
    },
    /// A device whose numbers the format does not hold.
    #[error("the device {path:?} is {major}:{minor}; expected at most 4095:1048575")]
    Device {
        /// The device.
        path: String,
        /// Its driver.
        major: u32,
        /// Which of the driver's devices.
        minor: u32,
    },
    /// More owners and groups than the format holds.
    #[error("at {0:?} there are more than 65535 different owners and groups, what the format holds")]
    Ids(String),
    /// An attribute whose name the format does not hold.
    #[error(
        "the attribute {name:?} of {path:?} has another name than the format holds; expected user., trusted. or security. \
         and at most 255 bytes"
    )]
    AttributeName {
        /// Whose attribute.
        path: String,
        /// Its whole name.
        name: String,
    },
    /// An attribute whose value no system takes.
    #[error("the attribute {name:?} of {path:?} has {bytes} bytes; expected at most 65536")]
    AttributeValue {
        /// Whose attribute.
        path: String,
        /// Its whole name.
        name: String,
        /// Bytes of its value.
        bytes: usize,
    },
    /// Something has more bytes or entries than its field holds.
    #[error("{0} is larger than its field in the format holds")]
    TooLarge(&'static str),
    /// The compressor failed, for want of memory as a rule.
    #[error("the compressor {compressor} failed: {reason}")]
    Compressor {
        /// Which compressor.
        compressor: &'static str,
        /// What it said.
        reason: String,
    },
}

/// Why a text names no compressor.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} names no compressor; expected lz4, lz4:fast, gzip[:1-10], zstd[:1-22], xz or lzo")]
pub struct ParseCompressorError(pub String);
