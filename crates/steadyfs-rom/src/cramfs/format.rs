//! The superblock and inodes of cramfs, in either byte order.
//!
//! ```text
//! superblock: | magic | size | flags | future | "Compressed ROMFS" | checksum, edition, blocks, files | name, 16 B | root, 12 B |
//! inode:      | mode 16, uid 16 | size 24, gid 8 | name length ÷ 4: 6, offset ÷ 4: 26 |     bit fields from the least significant end, in big-endian images from the other
//! ```
//!
//! Source: `include/uapi/linux/cramfs_fs.h` and `fs/cramfs/README` of Linux.

use crate::error::Error;
use crate::fields::{u16_at, u32_at};

/// Bytes of the superblock, with the root.
pub const SUPERBLOCK_BYTES: usize = 76;
/// Bytes of an inode.
pub const INODE_BYTES: usize = 12;
/// Content of a block.
pub const BLOCK_BYTES: usize = 4096;
/// Where the superblock lies in an image that leaves room for a boot loader. Offsets count from the begin of the image all the same.
pub const PADDING_BYTES: u64 = 512;
/// The first four bytes.
pub const MAGIC: u32 = 0x28CD_3D45;
/// Behind the fields of the superblock.
pub const SIGNATURE: &[u8; 16] = b"Compressed ROMFS";
/// Flag: names of a directory ascend.
pub const SORTED: u32 = 2;
/// Flag: block pointers have bits that say how a block is stored.
pub const EXTENDED_POINTERS: u32 = 0x800;
/// In such a pointer: the block is stored as it is.
pub const POINTER_PLAIN: u32 = 1 << 31;
/// In such a pointer: it tells where the block begins, in words; else where it ends, in bytes.
pub const POINTER_DIRECT: u32 = 1 << 30;
/// Flags of images that are read here: version 2, sorted, holes, a shifted root, extended pointers, and the eight bits that any reader may ignore.
const KNOWN_FLAGS: u32 = 0x1 | SORTED | 0x100 | 0x400 | EXTENDED_POINTERS | 0xFF;

/// The order of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The least significant byte comes first.
    Little,
    /// The most significant byte comes first.
    Big,
}

impl Order {
    /// The 32 bits at an offset.
    pub fn u32_at(self, bytes: &[u8], at: usize) -> u32 {
        let little = u32_at(bytes, at);
        if self == Self::Little { little } else { little.swap_bytes() }
    }

    /// The 16 bits at an offset.
    pub fn u16_at(self, bytes: &[u8], at: usize) -> u16 {
        let little = u16_at(bytes, at);
        if self == Self::Little { little } else { little.swap_bytes() }
    }
}

/// What the superblock says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// The order of bytes of the image.
    pub order: Order,
    /// Bytes of the image.
    pub bytes: u32,
    /// Flags.
    pub flags: u32,
    /// The root.
    pub root: Inode,
}

impl Superblock {
    /// Reads the first bytes of an image.
    ///
    /// # Errors
    /// [`Error::NoImage`]; [`Error::Version`], with flags that are not known.
    pub fn parse(bytes: &[u8; SUPERBLOCK_BYTES]) -> Result<Self, Error> {
        let orders = [Order::Little, Order::Big];
        let order = orders.into_iter().find(|order| order.u32_at(bytes, 0) == MAGIC).ok_or(Error::NoImage)?;
        if &bytes[16..32] != SIGNATURE {
            return Err(Error::NoImage);
        }
        let flags = order.u32_at(bytes, 8);
        if flags & !KNOWN_FLAGS != 0 {
            return Err(Error::Version((flags >> 8) as u16));
        }
        Ok(Self { order, bytes: order.u32_at(bytes, 4), flags, root: Inode::parse(&bytes[64..76], order) })
    }
}

/// An inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inode {
    /// Kind and permissions.
    pub mode: u16,
    /// Owner.
    pub uid: u16,
    /// Bytes; of a device, its number.
    pub size: u32,
    /// Group.
    pub gid: u8,
    /// Bytes of the name behind it, with the zeros that fill its last word.
    pub name_bytes: usize,
    /// Where its entries or block pointers are.
    pub offset: u32,
}

impl Inode {
    /// Reads twelve bytes.
    pub fn parse(bytes: &[u8], order: Order) -> Self {
        let (size, place) = (order.u32_at(bytes, 4), order.u32_at(bytes, 8));
        let is_little = order == Order::Little;
        let (size, gid) = if is_little { (size & 0xFF_FFFF, (size >> 24) as u8) } else { (size >> 8, size as u8) };
        let (name, offset) = if is_little { (place & 63, place >> 6) } else { (place >> 26, place & 0x3FF_FFFF) };
        let (mode, uid) = (order.u16_at(bytes, 0), order.u16_at(bytes, 2));
        Self { mode, uid, size, gid, name_bytes: 4 * name as usize, offset: 4 * offset }
    }
}
