//! Hash trees of dm-verity and signatures: appended to an image, and checked.
//!
//! Where everything is, [`format`](steadyfs_rom::verity::format) of steadyfs-rom says, which reads it on a microcontroller. `veritysetup` and Linux read the same tree.
//!
//! ```
//! use steadyfs_convert::verity::{self, Settings, Trusted};
//!
//! let seed = [7; 32];
//! let sealed = verity::append(b"an image".to_vec(), &Settings { key: Some(seed), ..Settings::default() })?;
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

/// Why an image is not sealed, or is not what was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no data.
    #[error("is empty; expected an image of at least one byte")]
    Empty,
    /// Settings that no tree can have.
    #[error("was to be sealed so that it {0}")]
    Settings(FormatError),
    /// A seed, or a public key, that is none.
    #[error("was to be signed or checked with a key that is none of Ed25519")]
    Key,
    /// The superblock is not readable.
    #[error("has a superblock at byte {offset} that {source}")]
    Superblock {
        /// Where it was expected.
        offset: u64,
        /// What is wrong with it.
        source: FormatError,
    },
    /// The record is not readable.
    #[error("has a record at byte {offset} that {source}")]
    Record {
        /// Where it was expected.
        offset: u64,
        /// What is wrong with it.
        source: FormatError,
    },
    /// The superblock names another number of data bytes than those before it.
    #[error("has a superblock at byte {offset} for {found} bytes of data")]
    DataBytes {
        /// Where the superblock is.
        offset: u64,
        /// Bytes of data that it names.
        found: u64,
    },
    /// The image ends elsewhere than its superblock says.
    #[error("has {found} bytes; expected {expected}, as the superblock says")]
    Length {
        /// Bytes that the superblock names.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// The record names another number of data bytes, or another root hash than the UUID of the superblock.
    #[error("has a record that is of another superblock")]
    RecordOfAnother,
    /// The record has another root hash than the trusted one.
    #[error("has the root hash {}; expected {}", hex(.found), hex(.expected))]
    RootHash {
        /// The trusted root hash.
        expected: [u8; 32],
        /// The root hash of the record.
        found: [u8; 32],
    },
    /// There is no signature.
    #[error("is not signed; expected a signature")]
    NotSigned,
    /// The signature is of another key, or of another image.
    #[error("has a signature that is not of the trusted key and this image")]
    Signature,
    /// A hash block is not the one whose digest is in the level above.
    #[error("has hash block {index} of level {level}, at byte {offset}, whose digest does not match")]
    HashBlock {
        /// Level, 0 for the one with the digests of data blocks.
        level: usize,
        /// Index of the block in the level.
        index: u64,
        /// Where it begins.
        offset: u64,
    },
    /// A data block is not the one whose digest is in the tree.
    #[error("has data block {index}, at byte {offset}, whose digest does not match")]
    DataBlock {
        /// Index of the block.
        index: u64,
        /// Where it begins.
        offset: u64,
    },
}

fn hex(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
