//! The superblock of squashfs 4.0, and the numbers of its parts.
//!
//! ```text
//! | superblock, 96 B | data and fragment blocks | inodes | directories | fragment table | export table | ids | attributes |
//! ```
//!
//! Source: `Documentation/filesystems/squashfs.rst` of Linux.

use crate::error::Error;
use crate::fields::{u16_at, u32_at, u64_at};

/// Bytes of the superblock.
pub const SUPERBLOCK_BYTES: usize = 96;
/// Content of a block of metadata at most.
pub const METADATA_BYTES: usize = 8192;
/// A position of a table that is not there.
pub const NONE: u64 = u64::MAX;
/// No fragment, no attributes.
pub const NO_INDEX: u32 = u32::MAX;
/// Set in the size of a block of data that is stored as it is.
pub const PLAIN_DATA: u32 = 1 << 24;
/// Set in the size of a block of metadata that is stored as it is.
pub const PLAIN_METADATA: u16 = 1 << 15;
/// Flag: inodes and directories are stored as they are.
pub const PLAIN_INODES: u16 = 1;
/// Flag: owners are stored as they are.
pub const PLAIN_IDS: u16 = 0x800;
/// What the size of a directory has more than its list.
pub const DIRECTORY_EXTRA: u32 = 3;
/// Bytes of a fragment's entry.
pub const FRAGMENT_BYTES: usize = 16;
/// Blocks of a file have at least and at most so many bytes.
const BLOCK_BYTES: (u32, u32) = (4096, 1 << 20);

/// What the superblock says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Inodes of the image.
    pub inode_count: u32,
    /// Bytes of a block of a file.
    pub block_bytes: u32,
    /// Fragments.
    pub fragment_count: u32,
    /// The number of the method.
    pub compressor: u16,
    /// Flags.
    pub flags: u16,
    /// Owners and groups.
    pub id_count: u16,
    /// Where the inode of the root is: block from the table's begin, and offset in it.
    pub root: u64,
    /// Bytes of the image.
    pub bytes_used: u64,
    /// Where each table begins; [`NONE`] where it is not there.
    pub ids: u64,
    /// Attributes.
    pub attributes: u64,
    /// Inodes.
    pub inodes: u64,
    /// Directories.
    pub directories: u64,
    /// Fragments.
    pub fragments: u64,
}

impl Superblock {
    /// Reads the first bytes of an image.
    ///
    /// # Errors
    /// [`Error::NoImage`], [`Error::Version`], [`Error::Damaged`].
    pub fn parse(bytes: &[u8; SUPERBLOCK_BYTES]) -> Result<Self, Error> {
        if &bytes[..4] != b"hsqs" {
            return Err(Error::NoImage);
        }
        let version = u16_at(bytes, 28);
        if version != 4 {
            return Err(Error::Version(version));
        }
        let superblock = Self {
            inode_count: u32_at(bytes, 4),
            block_bytes: u32_at(bytes, 12),
            fragment_count: u32_at(bytes, 16),
            compressor: u16_at(bytes, 20),
            flags: u16_at(bytes, 24),
            id_count: u16_at(bytes, 26),
            root: u64_at(bytes, 32),
            bytes_used: u64_at(bytes, 40),
            ids: u64_at(bytes, 48),
            attributes: u64_at(bytes, 56),
            inodes: u64_at(bytes, 64),
            directories: u64_at(bytes, 72),
            fragments: u64_at(bytes, 80),
        };
        let (least, most) = BLOCK_BYTES;
        let is_size = superblock.block_bytes.is_power_of_two() && (least..=most).contains(&superblock.block_bytes);
        if is_size { Ok(superblock) } else { Err(Error::Damaged(12)) }
    }

    /// Whether metadata is stored as it is. (`mksquashfs` compresses the table of fragments all the same, unless fragments are not either.)
    pub const fn is_plain(&self) -> bool {
        self.flags & PLAIN_INODES != 0 && self.flags & PLAIN_IDS != 0
    }
}
