//! The superblock and the entries of directories.
//!
//! ```text
//! superblock
//! 0       4      8       12     16                   32    36        40       44      48     64     76
//! | magic | size | flags | zero | "Compressed ROMFS" | CRC | edition | blocks | files | name | root |
//!
//! entry: twelve bytes, then the name, which zeros fill up to a multiple of four
//!         0             16             32
//! word 0  | mode        | uid          |        lowest bits first in an image of little-endian words,
//! word 1  | size, 24 bits     | gid, 8 |        highest bits first in one of big-endian words
//! word 2  | name / 4, 6 | offset / 4   |
//!
//! a file:  end of page 0 | end of page 1 | ... | zlib stream of page 0 | zlib stream of page 1 | ...
//! ```
//!
//! The superblock is at 0 or, behind boot code, at 512. All offsets count from the begin of the image. The checksum is a CRC-32 of everything from the superblock to
//! the end with zeros in its own place. Of a page that takes no bytes the content is zeros. Devices have their numbers in the size.
//!
//! Source: include/uapi/linux/cramfs_fs.h, fs/cramfs/README and fs/cramfs/inode.c of Linux.

use super::error::Error;

/// Where the superblock is behind boot code.
pub(super) const BOOT_BYTES: usize = 512;
/// Bytes of the superblock.
pub(super) const SUPERBLOCK_BYTES: usize = 76;
/// Bytes of an entry without its name.
pub(super) const ENTRY_BYTES: usize = 12;
/// Bytes of the longest name.
pub(super) const NAME_BYTES_MAX: usize = 63 * 4;
/// A content is below this many bytes.
pub(super) const CONTENT_BYTES_END: u64 = 1 << 24;
/// Directories and files begin below this offset.
pub(super) const OFFSET_END: u64 = 1 << 28;
/// The longest image: the last content begins below the end of offsets, and takes less than 16 MiB.
pub(super) const IMAGE_BYTES_MAX: u64 = OFFSET_END + CONTENT_BYTES_END;

const MAGIC: u32 = 0x28CD_3D45;
const SIGNATURE: &[u8; 16] = b"Compressed ROMFS";
const ROOT_AT: usize = 64;

/// The size, the checksum and the counts are there.
pub(super) const FLAG_VERSION_2: u32 = 1;
/// The entries of directories are in order.
pub(super) const FLAG_SORTED: u32 = 2;
/// Some pages take no bytes.
pub(super) const FLAG_HOLES: u32 = 0x100;
/// The signature is another one.
const FLAG_OTHER_SIGNATURE: u32 = 0x200;
/// The root is not directly behind the superblock.
const FLAG_SHIFTED_ROOT: u32 = 0x400;
/// The pointers of pages have two flags.
pub(super) const FLAG_EXTENDED_POINTERS: u32 = 0x800;
/// The low byte is free for what older readers need not know.
const FLAGS_KNOWN: u32 = 0xFF | FLAG_HOLES | FLAG_OTHER_SIGNATURE | FLAG_SHIFTED_ROOT | FLAG_EXTENDED_POINTERS;

/// In which order the bytes of words are, which is that of the machine the image is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// The word at `at`; `None` behind the end.
    pub fn word(self, bytes: &[u8], at: usize) -> Option<u32> {
        let word = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(match self {
            ByteOrder::Little => u32::from_le_bytes(word),
            ByteOrder::Big => u32::from_be_bytes(word),
        })
    }

    /// The half word at `at`; `None` behind the end.
    pub fn half(self, bytes: &[u8], at: usize) -> Option<u16> {
        let half = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(match self {
            ByteOrder::Little => u16::from_le_bytes(half),
            ByteOrder::Big => u16::from_be_bytes(half),
        })
    }

    pub fn bytes(self, word: u32) -> [u8; 4] {
        match self {
            ByteOrder::Little => word.to_le_bytes(),
            ByteOrder::Big => word.to_be_bytes(),
        }
    }

    /// A word of two fields, the first of `bits` bits.
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
pub(super) struct Superblock {
    pub order: ByteOrder,
    /// Bytes of the image, those before the superblock included.
    pub size: u32,
    pub flags: u32,
    pub crc: u32,
    pub edition: u32,
    /// Pages of all contents.
    pub blocks: u32,
    /// Files, directories and all else, the root included.
    pub files: u32,
    pub name: [u8; 16],
    pub root: Entry,
}

/// What a directory says of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Kind and permissions.
    pub mode: u16,
    pub uid: u16,
    /// Bytes of the content, or the numbers of a device.
    pub size: u32,
    pub gid: u8,
    /// Bytes of the name with the zeros that follow it.
    pub name_bytes: usize,
    /// Where the content begins.
    pub offset: usize,
}

impl Entry {
    /// Reads an entry; `None` where it goes beyond the end.
    pub fn parse(order: ByteOrder, bytes: &[u8], at: usize) -> Option<Self> {
        let word = |index: usize| order.word(bytes, at.checked_add(4 * index)?);
        let (mode, uid) = order.unpack(word(0)?, 16);
        let (size, gid) = order.unpack(word(1)?, 24);
        let (name, offset) = order.unpack(word(2)?, 6);
        let (name_bytes, offset) = (name as usize * 4, offset as usize * 4);
        Some(Self { mode: mode as u16, uid: uid as u16, size, gid: gid as u8, name_bytes, offset })
    }

    /// Writes an entry. Its size, name and offset are within what the fields hold.
    pub fn emit(&self, order: ByteOrder) -> [u8; ENTRY_BYTES] {
        debug_assert!(
            u64::from(self.size) < CONTENT_BYTES_END && self.name_bytes <= NAME_BYTES_MAX && (self.offset as u64) < OFFSET_END
        );
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..4].copy_from_slice(&order.pack(self.mode.into(), 16, self.uid.into()));
        bytes[4..8].copy_from_slice(&order.pack(self.size, 24, self.gid.into()));
        bytes[8..].copy_from_slice(&order.pack(self.name_bytes as u32 / 4, 6, self.offset as u32 / 4));
        bytes
    }
}

impl Superblock {
    /// Reads the superblock that is at `at`, and checks that all features are known.
    ///
    /// # Errors
    /// [`Error::NotCramfs`], [`Error::Features`].
    pub fn parse(image: &[u8], at: usize) -> Result<Self, Error> {
        let order = order_at(image, at).ok_or(Error::NotCramfs)?;
        let word = |field: usize| order.word(image, at + field).ok_or(Error::NotCramfs);
        let flags = word(8)?;
        if flags & FLAG_OTHER_SIGNATURE == 0 && image.get(at + 16..at + 32) != Some(SIGNATURE) {
            return Err(Error::NotCramfs);
        }
        if flags & !FLAGS_KNOWN != 0 {
            return Err(Error::Features { flags: flags & !FLAGS_KNOWN });
        }
        Ok(Self {
            order,
            size: word(4)?,
            flags,
            crc: word(32)?,
            edition: word(36)?,
            blocks: word(40)?,
            files: word(44)?,
            name: image.get(at + 48..at + ROOT_AT).and_then(|name| name.try_into().ok()).ok_or(Error::NotCramfs)?,
            root: Entry::parse(order, image, at + ROOT_AT).ok_or(Error::NotCramfs)?,
        })
    }

    /// Writes the superblock.
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

/// Computes the checksum of an image whose superblock is at `at`.
pub(super) fn checksum(image: &[u8], at: usize) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&image[at..at + 32]);
    crc.update(&[0; 4]);
    crc.update(&image[at + 36..]);
    crc.finalize()
}

/// Where the superblock is, if there is one.
pub(super) fn superblock_at(image: &[u8]) -> Option<usize> {
    [0, BOOT_BYTES].into_iter().find(|&at| order_at(image, at).is_some())
}

/// Tells whether an image begins as those of cramfs do, in either byte order, behind boot code or not.
pub fn is_cramfs(image: &[u8]) -> bool {
    superblock_at(image).is_some_and(|at| Superblock::parse(image, at).is_ok())
}

fn order_at(image: &[u8], at: usize) -> Option<ByteOrder> {
    [ByteOrder::Little, ByteOrder::Big].into_iter().find(|order| order.word(image, at) == Some(MAGIC))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: Entry = Entry { mode: 0o100644, uid: 0x1234, size: 0xABCDEF, gid: 0x56, name_bytes: 8, offset: 0x0FED_CBA8 };

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
        assert_eq!(ENTRY.emit(ByteOrder::Little), [0xA4, 0x81, 0x34, 0x12, 0xEF, 0xCD, 0xAB, 0x56, 0x82, 0xBA, 0xDC, 0xFE]);
        assert_eq!(ENTRY.emit(ByteOrder::Big), [0x81, 0xA4, 0x12, 0x34, 0xAB, 0xCD, 0xEF, 0x56, 0x0B, 0xFB, 0x72, 0xEA]);
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
            let mut image = vec![0xFF; BOOT_BYTES];
            image.extend(superblock.emit());
            assert_eq!(superblock_at(&image), Some(BOOT_BYTES));
            assert_eq!(Superblock::parse(&image, BOOT_BYTES).expect("a superblock"), superblock);
            assert!(is_cramfs(&image) && !is_cramfs(&image[..image.len() - 1]));
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
        assert!(matches!(Superblock::parse(&superblock.emit(), 0), Err(Error::Features { flags: 0x1000 })));
    }
}
