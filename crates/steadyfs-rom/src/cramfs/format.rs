//! The superblock, and the entries of directories.
//!
//! ```text
//! superblock
//! 0      4     8      12    16                  32   36       40      44     48    64    76
//! |magic |size |flags |zero |"Compressed ROMFS" |CRC |edition |blocks |files |name |root |
//!
//! entry: twelve bytes, then the name, which zeros fill up to a multiple of four
//!         0             16             32
//! word 0  | mode        | uid          |     lowest bits first in an image of little-endian words,
//! word 1  | size, 24 bits     | gid, 8 |     highest bits first in one of big-endian words
//! word 2  | name / 4, 6 | offset / 4   |
//!
//! a file:  end of page 0 | end of page 1 | ... | zlib stream of page 0 | of page 1 | ...
//! ```
//!
//! The superblock is at offset 0 or, behind boot code, at offset 512. All offsets are relative to
//! the start of the image. The checksum is a CRC-32 of all bytes from the superblock to the end.
//! For its computation, the bytes of the checksum itself are zeros. A page that is stored in no
//! bytes contains zeros. The size field of a device contains the device numbers.
//!
//! Newer kernels support pointers with flags. With such pointers, a page may lie at any offset, and
//! may be uncompressed.
//!
//! Source: include/uapi/linux/cramfs_fs.h, fs/cramfs/README and fs/cramfs/inode.c of Linux.

use crate::error::Error;

/// Offset of the superblock behind boot code.
pub const BOOT_BYTES: u64 = 512;
/// Bytes of the superblock.
pub const SUPERBLOCK_BYTES: usize = 76;
/// Bytes of an entry without its name.
pub const ENTRY_BYTES: usize = 12;
/// Bytes of the longest name.
pub const NAME_BYTES_MAX: usize = 63 * 4;
/// Limit of the size of a content, in bytes. A content has fewer bytes.
pub const CONTENT_BYTES_END: u64 = 1 << 24;
/// Limit of offsets. Directories and files begin below this offset.
pub const OFFSET_END: u64 = 1 << 28;
/// Bytes of the longest image. The last content begins below `OFFSET_END`, and has less than 16
/// MiB.
pub const IMAGE_BYTES_MAX: u64 = OFFSET_END + CONTENT_BYTES_END;

/// Bytes of a page's content. An image does not contain this number. It is the size of a memory
/// page of the machine.
pub const BLOCK_BYTES: usize = 4096;

/// Flag of an extended pointer: the page is uncompressed.
pub const POINTER_PLAIN: u32 = 1 << 31;
/// Flag of an extended pointer: it contains the offset of the start of the page, in words. Without
/// this flag, it contains the offset of the end of the page, in bytes.
pub const POINTER_DIRECT: u32 = 1 << 30;

const MAGIC: u32 = 0x28CD_3D45;
const SIGNATURE: &[u8; 16] = b"Compressed ROMFS";
const ROOT_AT: usize = 64;

/// Flag: the size, the checksum and the numbers of pages and files are valid.
pub const FLAG_VERSION_2: u32 = 1;
/// Flag: the entries of directories are sorted by name.
pub const FLAG_SORTED: u32 = 2;
/// Flag: some pages are stored in no bytes.
pub const FLAG_HOLES: u32 = 0x100;
/// Flag: the image has another signature.
const FLAG_OTHER_SIGNATURE: u32 = 0x200;
/// Flag: the content of the root does not begin directly behind the superblock.
const FLAG_SHIFTED_ROOT: u32 = 0x400;
/// Flag: the pointers to pages contain two flags.
pub const FLAG_EXTENDED_POINTERS: u32 = 0x800;
/// Accepted flags. The low byte is free for features that older readers may ignore.
const FLAGS_KNOWN: u32 =
    0xFF | FLAG_HOLES | FLAG_OTHER_SIGNATURE | FLAG_SHIFTED_ROOT | FLAG_EXTENDED_POINTERS;

/// Order of the bytes of words: the order of the machine that the image is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The least significant byte comes first.
    Little,
    /// The most significant byte comes first.
    Big,
}

impl ByteOrder {
    /// Returns the byte order of an image, by its first bytes.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        [Self::Little, Self::Big].into_iter().find(|order| order.word(bytes, 0) == Some(MAGIC))
    }

    /// Returns the word at offset `at`. Returns `None` if it lies behind the end.
    pub fn word(self, bytes: &[u8], at: usize) -> Option<u32> {
        let word = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(match self {
            ByteOrder::Little => u32::from_le_bytes(word),
            ByteOrder::Big => u32::from_be_bytes(word),
        })
    }

    /// Returns the half word at offset `at`. Returns `None` if it lies behind the end.
    pub fn half(self, bytes: &[u8], at: usize) -> Option<u16> {
        let half = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(match self {
            ByteOrder::Little => u16::from_le_bytes(half),
            ByteOrder::Big => u16::from_be_bytes(half),
        })
    }

    /// Returns the bytes of a word.
    pub fn bytes(self, word: u32) -> [u8; 4] {
        match self {
            ByteOrder::Little => word.to_le_bytes(),
            ByteOrder::Big => word.to_be_bytes(),
        }
    }

    /// Packs two fields into a word. The first field has `bits` bits.
    fn pack(self, first: u32, bits: u32, second: u32) -> [u8; 4] {
        self.bytes(match self {
            ByteOrder::Little => first | second << bits,
            ByteOrder::Big => first << (32 - bits) | second,
        })
    }

    fn unpack(self, word: u32, bits: u32) -> (u32, u32) {
        match self {
            ByteOrder::Little => (word & ((1 << bits) - 1), word >> bits),
            ByteOrder::Big => (word >> (32 - bits), word & (u32::MAX >> bits)),
        }
    }
}

/// The superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Byte order of the image.
    pub order: ByteOrder,
    /// Number of bytes of the image, including the bytes before the superblock.
    pub size: u32,
    /// Flags of the image.
    pub flags: u32,
    /// Checksum of the image, if the version defines one.
    pub crc: u32,
    /// Number of the edition, which the maker of the image assigns.
    pub edition: u32,
    /// Number of pages of all contents.
    pub blocks: u32,
    /// Number of files, directories and all other entries. It includes the root.
    pub files: u32,
    /// Name of the volume, filled up with zeros.
    pub name: [u8; 16],
    /// Entry of the root.
    pub root: Entry,
}

/// Entry of a directory, which describes a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Kind and permissions.
    pub mode: u16,
    /// User ID of the owner.
    pub uid: u16,
    /// Number of bytes of the content. For a device, the device numbers.
    pub size: u32,
    /// Group ID.
    pub gid: u8,
    /// Number of bytes of the name, including the zeros that follow the name.
    pub name_bytes: usize,
    /// Offset of the content in the image, in bytes.
    pub offset: usize,
}

impl Entry {
    /// Parses an entry. Returns `None` if it does not end within `bytes`.
    pub fn parse(order: ByteOrder, bytes: &[u8], at: usize) -> Option<Self> {
        let word = |index: usize| order.word(bytes, at.checked_add(4 * index)?);
        let (mode, uid) = order.unpack(word(0)?, 16);
        let (size, gid) = order.unpack(word(1)?, 24);
        let (name, offset) = order.unpack(word(2)?, 6);
        let (name_bytes, offset) = (name as usize * 4, offset as usize * 4);
        Some(Self { mode: mode as u16, uid: uid as u16, size, gid: gid as u8, name_bytes, offset })
    }

    /// Returns the bytes of an entry. Size, name and offset must fit their fields.
    pub fn emit(&self, order: ByteOrder) -> [u8; ENTRY_BYTES] {
        debug_assert!(
            u64::from(self.size) < CONTENT_BYTES_END
                && self.name_bytes <= NAME_BYTES_MAX
                && (self.offset as u64) < OFFSET_END
        );
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..4].copy_from_slice(&order.pack(self.mode.into(), 16, self.uid.into()));
        bytes[4..8].copy_from_slice(&order.pack(self.size, 24, self.gid.into()));
        bytes[8..].copy_from_slice(&order.pack(
            self.name_bytes as u32 / 4,
            6,
            self.offset as u32 / 4,
        ));
        bytes
    }
}

impl Superblock {
    /// Parses a superblock, and checks that all its features are supported.
    ///
    /// # Errors
    /// [`Error::NoImage`], [`Error::Features`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let order = ByteOrder::of(bytes).ok_or(Error::NoImage)?;
        let word = |at: usize| order.word(bytes, at).ok_or(Error::NoImage);
        let flags = word(8)?;
        if flags & FLAG_OTHER_SIGNATURE == 0 && bytes.get(16..32) != Some(SIGNATURE) {
            return Err(Error::NoImage);
        }
        if flags & !FLAGS_KNOWN != 0 {
            return Err(Error::Features(flags & !FLAGS_KNOWN));
        }
        Ok(Self {
            order,
            size: word(4)?,
            flags,
            crc: word(32)?,
            edition: word(36)?,
            blocks: word(40)?,
            files: word(44)?,
            name: bytes
                .get(48..ROOT_AT)
                .and_then(|name| name.try_into().ok())
                .ok_or(Error::NoImage)?,
            root: Entry::parse(order, bytes, ROOT_AT).ok_or(Error::NoImage)?,
        })
    }

    /// Returns the bytes of the superblock.
    pub fn emit(&self) -> [u8; SUPERBLOCK_BYTES] {
        let mut bytes = [0; SUPERBLOCK_BYTES];
        let words = [
            (0, MAGIC),
            (4, self.size),
            (8, self.flags),
            (32, self.crc),
            (36, self.edition),
            (40, self.blocks),
            (44, self.files),
        ];
        for (at, word) in words {
            bytes[at..at + 4].copy_from_slice(&self.order.bytes(word));
        }
        bytes[16..32].copy_from_slice(SIGNATURE);
        bytes[48..ROOT_AT].copy_from_slice(&self.name);
        bytes[ROOT_AT..].copy_from_slice(&self.root.emit(self.order));
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: Entry = Entry {
        mode: 0o100644,
        uid: 0x1234,
        size: 0xABCDEF,
        gid: 0x56,
        name_bytes: 8,
        offset: 0x0FED_CBA8,
    };

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            assert_eq!(Entry::parse(order, &ENTRY.emit(order), 0), Some(ENTRY));
        }
        assert_eq!(Entry::parse(ByteOrder::Little, &[0; 11], 0), None);
        assert_eq!(Entry::parse(ByteOrder::Little, &[0; 12], usize::MAX - 1), None);
    }

    #[test]
    fn the_fields_of_words_are_where_linux_has_them() {
        assert_eq!(
            ENTRY.emit(ByteOrder::Little),
            [0xA4, 0x81, 0x34, 0x12, 0xEF, 0xCD, 0xAB, 0x56, 0x82, 0xBA, 0xDC, 0xFE]
        );
        assert_eq!(
            ENTRY.emit(ByteOrder::Big),
            [0x81, 0xA4, 0x12, 0x34, 0xAB, 0xCD, 0xEF, 0x56, 0x0B, 0xFB, 0x72, 0xEA]
        );
    }

    #[test]
    fn a_superblock_is_read_as_it_was_written() {
        let root = Entry { mode: 0o40755, ..Entry::default() };
        let base = Superblock {
            order: ByteOrder::Big,
            size: 4096,
            flags: 3,
            crc: 5,
            edition: 6,
            blocks: 7,
            files: 8,
            name: *b"0123456789abcdef",
            root,
        };
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let superblock = Superblock { order, ..base };
            assert_eq!(Superblock::parse(&superblock.emit()), Ok(superblock));
            assert_eq!(Superblock::parse(&superblock.emit()[..75]), Err(Error::NoImage));
        }
    }

    #[test]
    fn features_that_are_not_known_are_refused() {
        let superblock = Superblock {
            order: ByteOrder::Little,
            size: 76,
            flags: 0x1003,
            crc: 0,
            edition: 0,
            blocks: 0,
            files: 1,
            name: [0; 16],
            root: Entry::default(),
        };
        assert_eq!(Superblock::parse(&superblock.emit()), Err(Error::Features(0x1000)));
    }
}
