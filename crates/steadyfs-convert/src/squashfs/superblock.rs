//! The superblock: the first 96 bytes of an image.
//!
//! ```text
//!  0 "hsqs" | inodes u32 | time u32 | block bytes u32 | fragment blocks u32
//! 20 compressor u16 | log2 of block bytes u16 | flags u16 | ids u16 | version 4 u16, 0 u16
//! 32 place of the root's inode u64 | bytes of the image u64
//! 48 starts, u64 each: ids, attributes, inodes, directories, fragments, inodes by number
//! ```
//! The offset of an absent table is [`ABSENT`].
//!
//! Source: doc/format.adoc of squashfs-tools-ng, chapter 3.

/// Bytes of the superblock.
pub(super) const SUPERBLOCK_BYTES: usize = 96;
/// Offset of an absent table.
pub(super) const ABSENT: u64 = u64::MAX;

const MAGIC: &[u8; 4] = b"hsqs";
const VERSION: [u16; 2] = [4, 0];

/// Flags. To decode an image, readers need only [`flags::OPTIONS`]. The other flags describe how
/// the image was made.
pub(super) mod flags {
    /// Inodes and directories are not compressed.
    pub(in super::super) const PLAIN_INODES: u16 = 0x0001;
    /// Ends of long files are fragments.
    pub(in super::super) const TAILS: u16 = 0x0020;
    /// Equal files are stored once.
    pub(in super::super) const NO_DUPLICATES: u16 = 0x0040;
    /// The image has a table of inodes, indexed by their number.
    pub(in super::super) const EXPORT: u16 = 0x0080;
    /// Attributes are not compressed.
    pub(in super::super) const PLAIN_ATTRIBUTES: u16 = 0x0100;
    /// The image has no attributes.
    pub(in super::super) const NO_ATTRIBUTES: u16 = 0x0200;
    /// Options of the compressor follow the superblock.
    pub(in super::super) const OPTIONS: u16 = 0x0400;
    /// Owners and groups are not compressed.
    pub(in super::super) const PLAIN_IDS: u16 = 0x0800;
}

/// Fields of the superblock.
pub(super) struct Superblock {
    /// Number of inodes.
    pub(super) inode_count: u32,
    /// Time when the image was made, in seconds since 1970.
    pub(super) time: u32,
    /// Bytes of a block of data.
    pub(super) block_bytes: u32,
    /// Number of blocks of fragments.
    pub(super) fragment_count: u32,
    /// The number of the compressor.
    pub(super) compressor: u16,
    /// Flags of the image: see [`flags`].
    pub(super) flags: u16,
    /// Number of owners and groups.
    pub(super) id_count: u16,
    /// Position of the root's inode.
    pub(super) root: u64,
    /// Bytes of the image without padding.
    pub(super) bytes: u64,
    /// Offsets of the tables.
    pub(super) tables: Tables,
}

/// Offsets of the tables. The offset of an absent table is [`ABSENT`].
pub(super) struct Tables {
    /// Offset of the table of owners and groups.
    pub(super) ids: u64,
    /// Offset of the table of attributes.
    pub(super) attributes: u64,
    /// Offset of the table of inodes.
    pub(super) inodes: u64,
    /// Offset of the table of directories.
    pub(super) directories: u64,
    /// Offset of the table of fragment blocks.
    pub(super) fragments: u64,
    /// Offset of the table of inodes by their number.
    pub(super) export: u64,
}

impl Superblock {
    /// Returns the superblock's bytes.
    pub(super) fn emit(&self) -> [u8; SUPERBLOCK_BYTES] {
        let words = [self.inode_count, self.time, self.block_bytes, self.fragment_count];
        let log = self.block_bytes.trailing_zeros() as u16;
        let halves = [self.compressor, log, self.flags, self.id_count, VERSION[0], VERSION[1]];
        let Tables { ids, attributes, inodes, directories, fragments, export } = self.tables;
        let longs =
            [self.root, self.bytes, ids, attributes, inodes, directories, fragments, export];
        let mut all = [0; SUPERBLOCK_BYTES];
        all[..4].copy_from_slice(MAGIC);
        words
            .iter()
            .zip(all[4..20].chunks_exact_mut(4))
            .for_each(|(word, at)| at.copy_from_slice(&word.to_le_bytes()));
        halves
            .iter()
            .zip(all[20..32].chunks_exact_mut(2))
            .for_each(|(half, at)| at.copy_from_slice(&half.to_le_bytes()));
        longs
            .iter()
            .zip(all[32..].chunks_exact_mut(8))
            .for_each(|(long, at)| at.copy_from_slice(&long.to_le_bytes()));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_lies_where_the_format_says() {
        let tables = Tables {
            ids: 16,
            attributes: ABSENT,
            inodes: 17,
            directories: 18,
            fragments: 19,
            export: 20,
        };
        let superblock = Superblock {
            inode_count: 1,
            time: 2,
            block_bytes: 4096,
            fragment_count: 3,
            compressor: 6,
            flags: flags::EXPORT | flags::OPTIONS,
            id_count: 5,
            root: 0x1_0002,
            bytes: 500,
            tables,
        };
        let bytes = superblock.emit();
        assert_eq!(bytes[..12], *b"hsqs\x01\0\0\0\x02\0\0\0");
        assert_eq!(
            bytes[12..32],
            [0, 16, 0, 0, 3, 0, 0, 0, 6, 0, 12, 0, 0x80, 4, 5, 0, 4, 0, 0, 0]
        );
        let longs: Vec<u64> = bytes[32..]
            .chunks(8)
            .map(|long| u64::from_le_bytes(long.try_into().expect("eight bytes")))
            .collect();
        assert_eq!(longs, [0x1_0002, 500, 16, ABSENT, 17, 18, 19, 20]);
    }
}
