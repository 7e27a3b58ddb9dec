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
/// Maximum bytes of the content of a metadata block.
pub const METADATA_BYTES: usize = 8192;
/// Value of an offset if the table is absent.
pub const NONE: u64 = u64::MAX;
/// Value of an index if there is no fragment, or if there are no attributes.
pub const NO_INDEX: u32 = u32::MAX;
/// Bit in the size of a data block. It is set if the block is uncompressed.
pub const PLAIN_DATA: u32 = 1 << 24;
/// Bit in the size of a metadata block. It is set if the block is uncompressed.
pub const PLAIN_METADATA: u16 = 1 << 15;
/// Flag: inodes and directories are uncompressed.
pub const PLAIN_INODES: u16 = 1;
/// Flag: owners are uncompressed.
pub const PLAIN_IDS: u16 = 0x800;
/// Number of bytes by which the size of a directory exceeds its list.
pub const DIRECTORY_EXTRA: u32 = 3;
/// Bytes of a fragment's entry.
pub const FRAGMENT_BYTES: usize = 16;
/// Smallest and largest number of bytes of a block of a file.
const BLOCK_BYTES: (u32, u32) = (4096, 1 << 20);

/// Content of the superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Number of inodes of the image.
    pub inode_count: u32,
    /// Number of bytes of a block of a file.
    pub block_bytes: u32,
    /// Number of fragments.
    pub fragment_count: u32,
    /// Number of the compression method.
    pub compressor: u16,
    /// Flags of the image.
    pub flags: u16,
    /// Number of owners and groups.
    pub id_count: u16,
    /// Position of the root's inode: offset of the block from the start of the table of inodes, and
    /// offset in the block.
    pub root: u64,
    /// Number of bytes of the image.
    pub bytes_used: u64,
    /// Offset of the table of owners and groups. This offset and those that follow are [`NONE`] if
    /// their table is absent.
    pub ids: u64,
    /// Offset of the table of attributes.
    pub attributes: u64,
    /// Offset of the table of inodes.
    pub inodes: u64,
    /// Offset of the table of directories.
    pub directories: u64,
    /// Offset of the table of fragments.
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
    /// nevertheless, unless fragments are uncompressed too.)
    pub const fn is_plain(&self) -> bool {
        self.flags & PLAIN_INODES != 0 && self.flags & PLAIN_IDS != 0
    }
}
