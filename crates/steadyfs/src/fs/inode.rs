//! The inode: 256 bytes in the file table that describe a file or directory.
//!
//! ```text
//! 0      1        2          3      4            8        12     16          20           24
//! | kind | inline | name len | link | generation | parent | next | name ext. | attributes |
//! 24     32         40      44             48     112                                    256
//! | size | modified | extra | stream, seed | name | inline data, or 18 regions of 8 bytes |
//! ```
//!
//! - `link`: 1 if the data of the file is the target of a symbolic link.
//! - `parent`: the directory that contains the file; in an orphan, the previous inode in the list
//!   of orphans, plus one.
//! - `next`: the next inode of the trim list, or of the list of orphans, plus one.
//! - `name ext.`, `attributes`: number of an inode of kind *extension*, plus one. This inode holds
//!   the rest of a long name, or the attributes.
//! - `size`: number of bytes; in a directory, number of entries (32 bits) and number of directories
//!   among them (32 bits).
//! - `extra`: in a directory, the number of buckets; in a removed file, the first entry of its
//!   first index that belongs to this file.
//! - `stream`: one byte: 0 to 3, the stream of a file's pages. `seed`: three bytes: in a directory,
//!   the start value of the hashes of its names.
//!
//! On a volume with permissions, the last twelve bytes of the name field hold the permissions, and
//! longer names have an extension:
//!
//! ```text
//! 100                                     102  104     108     112
//! | bits 0..12: mode; bit 15: they are set | 0 | owner | group |
//! ```
//!
//! A *region* maps [`VolumePlan::region_pages`](super::volume::VolumePlan) pages of a file. The
//! first `count` of them are the *run*: consecutive logical pages from `logical` on. An index holds
//! the logical pages of all others.
//!
//! ```text
//! 0         3       5       8
//! | logical | count | index |
//! ```

use crate::config::INODE_BYTES;

/// Number of a file or directory, constant for its life. It is still valid after a mount.
pub type InodeNumber = u32;

/// Maximum number of bytes of a name.
pub const NAME_BYTES_MAX: usize = 255;

/// The directory at which every path begins.
pub const ROOT: u32 = 0;

pub(super) const NAME_BYTES_AT: u32 = 2;
pub(super) const NEXT_AT: u32 = 12;
pub(super) const NAME_MORE_AT: u32 = 16;
pub(super) const PARENT_AT: u32 = 8;
pub(super) const ATTRIBUTES_AT: u32 = 20;
pub(super) const SIZE_AT: u32 = 24;
pub(super) const MODIFIED_AT: u32 = 32;
pub(super) const EXTRA_AT: u32 = 40;
const STREAM_AT: usize = 44;
const SEED_AT: usize = 45;
/// Number of bits of a seed.
pub(super) const SEED_BITS: u32 = 24;
pub(super) const NAME_AT: u32 = 48;
/// Maximum number of bytes of a name in the inode itself; see
/// [`VolumePlan::name_inline`](super::volume::VolumePlan::name_inline).
pub(super) const NAME_ROOM: usize = 64;
pub(super) const AREA_AT: u32 = NAME_AT + NAME_ROOM as u32;
/// Number of bytes of the permissions, which lie before the area.
pub(super) const PERMISSIONS_BYTES: usize = 12;
pub(super) const PERMISSIONS_AT: u32 = AREA_AT - PERMISSIONS_BYTES as u32;
/// Number of bytes of the area, which holds inline data or regions.
pub(super) const AREA_BYTES: usize = (INODE_BYTES - AREA_AT) as usize;
pub(super) const REGION_BYTES: u32 = 8;
/// Number of regions of a file.
pub(super) const REGIONS: u32 = AREA_BYTES as u32 / REGION_BYTES;
/// Number of bytes before the name.
pub(super) const HEADER_BYTES: usize = NAME_AT as usize;
/// Number of bytes of an extension before its content.
pub(super) const EXTENSION_AT: u32 = 8;
/// Number of bytes of the content of an extension.
pub(super) const EXTENSION_BYTES: usize = (INODE_BYTES - EXTENSION_AT) as usize;

/// The kind of an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum InodeKind {
    File = 1,
    Directory = 2,
    /// A removed file or directory, or the end that was truncated from a file. Its pages are still
    /// being freed.
    Removed = 3,
    /// A removed file that is open.
    Orphan = 4,
    /// The rest of a name, or attributes.
    Extension = 5,
}

/// The header of an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InodeHeader {
    pub kind: InodeKind,
    /// True if the data lies in the inode.
    pub inline: bool,
    /// True if the data is the target of a symbolic link.
    pub is_link: bool,
    pub name_bytes: u8,
    /// Distinguishes files that had the same inode.
    pub generation: u32,
    pub parent: u32,
    pub next: u32,
    pub name_more: u32,
    pub attributes: u32,
    pub size: u64,
    pub modified_ns: u64,
    pub extra: u32,
    /// The stream of the file's pages.
    pub stream: u8,
    /// The start value of the hashes of a directory's names.
    pub seed: u32,
}

impl InodeHeader {
    /// Makes an inode without content.
    pub fn new(kind: InodeKind, generation: u32) -> Self {
        Self {
            kind,
            inline: kind == InodeKind::File,
            is_link: false,
            name_bytes: 0,
            generation,
            parent: 0,
            next: 0,
            name_more: 0,
            attributes: 0,
            size: 0,
            modified_ns: 0,
            extra: 0,
            stream: 0,
            seed: 0,
        }
    }

    /// Parses the header in `bytes`. Returns `None` if no inode can have such a header. The root is
    /// always a directory.
    pub fn parse(bytes: &[u8; HEADER_BYTES], inode: u32) -> Option<Self> {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let kind = match bytes[0] {
            0 if inode == ROOT => InodeKind::Directory,
            1 => InodeKind::File,
            2 => InodeKind::Directory,
            3 => InodeKind::Removed,
            4 => InodeKind::Orphan,
            5 => InodeKind::Extension,
            _ => return None,
        };
        let header = Self {
            kind,
            inline: bytes[1] != 0,
            is_link: bytes[3] != 0,
            name_bytes: bytes[NAME_BYTES_AT as usize],
            generation: word(4),
            parent: word(PARENT_AT as usize),
            next: word(NEXT_AT as usize),
            name_more: word(NAME_MORE_AT as usize),
            attributes: word(ATTRIBUTES_AT as usize),
            size: long(SIZE_AT as usize),
            modified_ns: long(MODIFIED_AT as usize),
            extra: word(EXTRA_AT as usize),
            stream: bytes[STREAM_AT],
            seed: word(STREAM_AT) >> 8,
        };
        (!header.inline || header.size <= AREA_BYTES as u64).then_some(header)
    }

    pub fn emit(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = self.kind as u8;
        bytes[1] = u8::from(self.inline);
        bytes[2] = self.name_bytes;
        bytes[3] = u8::from(self.is_link);
        let words = [self.generation, self.parent, self.next, self.name_more, self.attributes];
        for (place, word) in bytes[4..24].chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes[24..32].copy_from_slice(&self.size.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.modified_ns.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.extra.to_le_bytes());
        bytes[STREAM_AT] = self.stream;
        bytes[SEED_AT..].copy_from_slice(&self.seed.to_le_bytes()[..3]);
        bytes
    }

    /// Returns the number of entries of a directory.
    pub fn entries(&self) -> u32 {
        self.size as u32
    }

    /// Returns the number of directories among the entries of a directory.
    pub fn subdirectories(&self) -> u32 {
        (self.size >> 32) as u32
    }
}

/// The logical pages of the pages of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Region {
    /// The first page of the run.
    pub logical: u32,
    /// Number of pages of the run, which starts the region.
    pub count: u32,
    /// The logical page of the index of the other pages, or 0.
    pub index: u32,
}

impl Region {
    pub const EMPTY: Self = Self { logical: 0, count: 0, index: 0 };

    pub fn parse(bytes: &[u8]) -> Self {
        Self {
            logical: u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]),
            count: u32::from(u16::from_le_bytes([bytes[3], bytes[4]])),
            index: u32::from_le_bytes([bytes[5], bytes[6], bytes[7], 0]),
        }
    }

    /// Splits the run. Returns two parts: at most `keep` first pages without the index, and the
    /// other pages with the index.
    pub fn split(&self, keep: u32) -> (Self, Self) {
        let run = |logical, count| {
            if count > 0 { Self { logical, count, index: 0 } } else { Self::EMPTY }
        };
        let here = self.count.min(keep);
        (
            run(self.logical, here),
            Self { index: self.index, ..run(self.logical + here, self.count - here) },
        )
    }

    /// Returns the region with a run of only `count` pages.
    pub fn without_end(self, count: u32) -> Self {
        Self { count, logical: if count > 0 { self.logical } else { 0 }, ..self }
    }

    pub fn emit(&self) -> [u8; REGION_BYTES as usize] {
        let (l, c, i) =
            (self.logical.to_le_bytes(), self.count.to_le_bytes(), self.index.to_le_bytes());
        [l[0], l[1], l[2], c[0], c[1], i[0], i[1], i[2]]
    }

    /// Parses region `index` in the bytes of an inode's area.
    pub fn of(area: &[u8; AREA_BYTES], index: u32) -> Self {
        let at = (index * REGION_BYTES) as usize;
        Self::parse(&area[at..at + REGION_BYTES as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_and_regions_survive_emit_and_parse() {
        let header = InodeHeader {
            name_bytes: 9,
            is_link: true,
            parent: 5,
            next: 12,
            name_more: 3,
            attributes: 4,
            size: 1 << 33 | 7,
            modified_ns: 1 << 60,
            extra: 6,
            stream: 2,
            seed: 0x30_4050,
            ..InodeHeader::new(InodeKind::Directory, 7)
        };
        assert_eq!(InodeHeader::parse(&header.emit(), 1), Some(header));
        assert_eq!((header.entries(), header.subdirectories()), (7, 2));
        for region in [Region::EMPTY, Region { logical: 70_000, count: 2048, index: 9 }] {
            assert_eq!(Region::parse(&region.emit()), region);
        }
    }

    #[test]
    fn impossible_headers_are_refused() {
        assert_eq!(InodeHeader::parse(&[0xFF; HEADER_BYTES], 1), None);
        assert_eq!(InodeHeader::parse(&[0; HEADER_BYTES], 1), None, "a free inode");
        assert!(
            InodeHeader::parse(&[0; HEADER_BYTES], ROOT).is_some(),
            "the root was never written"
        );
        let mut bytes = [0; HEADER_BYTES];
        (bytes[0], bytes[1], bytes[25]) = (1, 1, 1);
        assert_eq!(InodeHeader::parse(&bytes, 1), None, "inline data larger than the inode");
    }
}
