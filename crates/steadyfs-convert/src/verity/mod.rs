//! Appends hash trees of dm-verity and signatures to an image, and checks them.
//!
//! The module [`format`](steadyfs_rom::verity::format) of steadyfs-rom describes the layout.
//! steadyfs-rom reads this layout on a microcontroller. `veritysetup` and Linux read the same tree.
//!
//! ```
//! use steadyfs_convert::verity::{self, Settings, Trusted};
//!
//! let seed = [7; 32];
//! let settings = Settings { key: Some(seed), ..Settings::default() };
//! let sealed = verity::append(b"an image".to_vec(), &settings)?;
//! let key = verity::public_key(&seed)?;
//! verity::verify(&sealed.bytes, sealed.hash_offset, Trusted::Key(key))?;
//! # Ok::<(), verity::Error>(())
//! ```

mod append;
mod digest;
mod sign;
mod verify;

pub use append::{Sealed, Settings, append};
pub use sign::public_key;
pub use verify::{Trusted, verify};

use steadyfs_rom::verity::format::FormatError;
use thiserror::Error;

/// The reason why an image cannot be sealed, or does not match its seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no data.
    #[error("is empty; expected an image of at least one byte")]
    Empty,
    /// A tree cannot have these settings.
    #[error("cannot be sealed so that it {0}")]
    Settings(FormatError),
    /// The seed or the public key is invalid.
    #[error("cannot be signed or checked: the key is no Ed25519 key")]
    Key,
    /// The superblock cannot be read.
    #[error("has a superblock at byte {offset} that {source}")]
    Superblock {
        /// Offset at which the superblock was expected.
        offset: u64,
        /// The fault of the superblock.
        source: FormatError,
    },
    /// The record cannot be read.
    #[error("has a record at byte {offset} that {source}")]
    Record {
        /// Offset at which the record was expected.
        offset: u64,
        /// The fault of the record.
        source: FormatError,
    },
    /// The number of data bytes in the superblock differs from the number of bytes before the
    /// superblock.
    #[error("has a superblock at byte {offset} for {found} bytes of data")]
    DataBytes {
        /// Offset of the superblock.
        offset: u64,
        /// Number of data bytes in the superblock.
        found: u64,
    },
    /// The length of the image differs from the length that its superblock requires.
    #[error("has {found} bytes; expected {expected}, the size in the superblock")]
    Length {
        /// Number of bytes that the superblock requires.
        expected: u64,
        /// Number of bytes that the image has.
        found: u64,
    },
    /// The number of data bytes in the record is wrong, or its root hash does not match the UUID of
    /// the superblock.
    #[error("has a record that belongs to another superblock")]
    RecordOfAnother,
    /// The root hash of the record differs from the trusted root hash.
    #[error("has the root hash {}; expected {}", hex(.found), hex(.expected))]
    RootHash {
        /// The trusted root hash.
        expected: [u8; 32],
        /// The root hash of the record.
        found: [u8; 32],
    },
    /// The image has no signature.
    #[error("is not signed; expected a signature")]
    NotSigned,
    /// The signature belongs to another key, or to another image.
    #[error("has a signature that does not match the trusted key and this image")]
    Signature,
    /// A hash block does not match its digest in the level above.
    #[error(
        "has hash block {index} of level {level}, at byte {offset}, whose digest does not match"
    )]
    HashBlock {
        /// Level of the block. Level 0 contains the digests of data blocks.
        level: usize,
        /// Index of the block in the level.
        index: u64,
        /// Offset of the block.
        offset: u64,
    },
    /// A data block does not match its digest in the tree.
    #[error("has data block {index}, at byte {offset}, whose digest does not match")]
    DataBlock {
        /// Index of the block.
        index: u64,
        /// Offset of the block.
        offset: u64,
    },
}

fn hex(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
