//! The superblock of squashfs 4.0, and the numbers of its parts.
//!
//! ```text
//! | superblock, 96 B | data and fragment blocks | inodes | directories | fragment table
//! | export table | ids | attributes |
//! ```
//!
//! Source: `Documentation/filesystems/squashfs.rst` of Linux.

use crate::error::Error;
use crate::fields::{u16_at, u32_at, u64_at};

/// Bytes of the superblock.
pub const SUPERBLOCK_BYTES: usize = 96;
/// Maximum content of a block of metadata, in bytes.
pub const METADATA_BYTES: usize = 8192;
/// Offset of an absent table.
pub const NONE: u64 = u64::MAX;
/// Index for no fragment, or no attributes.
pub const NO_INDEX: u32 = u32::MAX;
/// Bit in the size of a block of data that is uncompressed.
pub const PLAIN_DATA: u32 = 1 << 24;
/// Bit in the size of a block of metadata that is uncompressed.
pub const PLAIN_METADATA: u16 = 1 << 15;
/// Flag: inodes and directories are uncompressed.
pub const PLAIN_INODES: u16 = 1;
/// Flag: owners are uncompressed.
pub const PLAIN_IDS: u16 = 0x800;
/// Bytes by which the size of a directory exceeds its list.
pub const DIRECTORY_EXTRA: u32 = 3;
/// Bytes of a fragment's entry.
pub const FRAGMENT_BYTES: usize = 16;
/// Minimum and maximum bytes of a block of a file.
const BLOCK_BYTES: (u32, u32) = (4096, 1 << 20);

/// Content of the superblock.
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
    /// Position of the root's inode: block from the begin of its table, and offset in the block.
    pub root: u64,
    /// Bytes of the image.
    pub bytes_used: u64,
    /// Begin of the table of owners and groups. Each of these offsets is [`NONE`] if its table is
    /// absent.
    pub ids: u64,
    /// Begin of the table of attributes.
    pub attributes: u64,
    /// Begin of the table of inodes.
    pub inodes: u64,
    /// Begin of the table of directories.
    pub directories: u64,
    /// Begin of the table of fragments.
    pub fragments: u64,
}

impl Superblock {
    /// Parses the first bytes of an image.
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
        let is_size = superblock.block_bytes.is_power_of_two()
            && (least..=most).contains(&superblock.block_bytes);
        if is_size { Ok(superblock) } else { Err(Error::Damaged(12)) }
    }

    /// Returns true if metadata is uncompressed. (`mksquashfs` compresses the table of fragments
    /// all the same, unless fragments are uncompressed too.)
    pub const fn is_plain(&self) -> bool {
        self.flags & PLAIN_INODES != 0 && self.flags & PLAIN_IDS != 0
    }
}
