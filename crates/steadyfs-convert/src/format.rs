//! Recognition of the format of an image, and a reader for images of any format.

use crate::{Limit, Tree, TreeError, cramfs, jffs2, squashfs, ubi, ubifs};
use std::fmt;
use thiserror::Error;

/// A format of embedded Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// squashfs, which is compressed and read-only.
    Squashfs,
    /// cramfs, which is compressed and read-only, for small devices.
    Cramfs,
    /// JFFS2, for NOR and small NAND.
    Jffs2,
    /// UBIFS, a volume of UBI, for NAND.
    Ubifs,
    /// UBI, a whole chip with volumes.
    Ubi,
}

/// Maximum number of bytes at the start of an image that [`Format::of`] examines.
pub const HEAD_BYTES: usize = 1024;

/// Types of nodes with which a JFFS2 image may begin: clean marker, entry, inode, padding, summary,
/// attribute, and reference to an attribute.
///
/// Source: include/uapi/linux/jffs2.h of Linux.
const JFFS2_NODES: [u16; 7] = [0x2003, 0xE001, 0xE002, 0x2004, 0x2006, 0xE008, 0xE009];

impl Format {
    /// Recognises the format by the first [`HEAD_BYTES`]. See [`find`](Self::find) for damaged
    /// images.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [b'h', b's', b'q', b's', ..] => Some(Self::Squashfs),
            [b'U', b'B', b'I', b'#', ..] => Some(Self::Ubi),
            [0x31, 0x18, 0x10, 0x06, ..] => Some(Self::Ubifs),
            [0x85, 0x19, low, high, ..]
                if JFFS2_NODES.contains(&u16::from_le_bytes([*low, *high])) =>
            {
                Some(Self::Jffs2)
            }
            [0x19, 0x85, high, low, ..]
                if JFFS2_NODES.contains(&u16::from_be_bytes([*high, *low])) =>
            {
                Some(Self::Jffs2)
            }
            _ => cramfs::is_cramfs(bytes).then_some(Self::Cramfs),
        }
    }

    /// Recognises the format of a whole image. One intact erase block of a dump of JFFS2 or UBI is
    /// enough, as in the kernel. So the first block may be erased or damaged.
    ///
    /// # Cost
    /// If the first bytes of the image match no format, one or two passes over the image.
    pub fn find(image: &[u8]) -> Option<Self> {
        Self::of(image).or_else(|| match () {
            () if is_boot_sector(image) => None,
            () if ubi::is_damaged_ubi(image) => Some(Self::Ubi),
            () if jffs2::is_damaged_jffs2(image) => Some(Self::Jffs2),
            () => None,
        })
    }

    /// Returns false if [`find`](Self::find) would find no format in an image that begins with
    /// these bytes. If this check of [`SEARCH_BYTES`] bytes returns false, the whole image need not
    /// be searched.
    pub fn may_be_found(begin: &[u8]) -> bool {
        Self::of(begin).is_some()
            || (!is_boot_sector(begin) && (ubi::has_header(begin) || jffs2::has_node(begin)))
    }
}

/// Number of bytes at the start of an image that [`Format::may_be_found`] examines. They contain
/// several erase blocks of any size.
pub const SEARCH_BYTES: usize = 16 << 20;

/// Returns true if these bytes begin with a boot sector. A disk with partitions or FAT may contain
/// an image in one of its files.
fn is_boot_sector(image: &[u8]) -> bool {
    image.get(510..512) == Some(&[0x55, 0xAA])
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Squashfs => "squashfs",
            Self::Cramfs => "cramfs",
            Self::Jffs2 => "JFFS2",
            Self::Ubifs => "UBIFS",
            Self::Ubi => "UBI",
        })
    }
}

/// The reason why an image cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The image has none of the supported formats.
    #[error("is an image of no known file system; expected squashfs, cramfs, JFFS2, UBIFS or UBI")]
    Unknown,
    /// The image is a UBI image that contains no volume of UBIFS.
    #[error("is a UBI image without a UBIFS volume; expected one")]
    NoVolume,
    /// The tree of the image is invalid.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Error of squashfs.
    #[error(transparent)]
    Squashfs(#[from] squashfs::ReadError),
    /// Error of cramfs.
    #[error(transparent)]
    Cramfs(#[from] cramfs::Error),
    /// Error of JFFS2.
    #[error(transparent)]
    Jffs2(#[from] jffs2::Error),
    /// Error of UBIFS.
    #[error(transparent)]
    Ubifs(#[from] ubifs::Error),
    /// Error of UBI.
    #[error(transparent)]
    Ubi(#[from] ubi::Error),
}

/// Reads an image of any format. For UBI, it reads the first volume of UBIFS.
///
/// # Errors
/// [`Error::Unknown`], [`Error::NoVolume`], [`TreeError::TooDeep`], and the errors of the image's
/// format.
pub fn read(bytes: &[u8], limit: Limit) -> Result<(Format, Tree), Error> {
    let format = Format::find(bytes).ok_or(Error::Unknown)?;
    let tree = match format {
        Format::Squashfs => squashfs::read(bytes, limit)?,
        Format::Cramfs => cramfs::read(bytes, limit)?,
        Format::Jffs2 => jffs2::read(bytes, limit)?,
        Format::Ubifs => ubifs::read(bytes, limit)?,
        Format::Ubi => {
            let volumes = ubi::volumes(bytes)?;
            let volume = volumes
                .iter()
                .find(|volume| ubifs::is_ubifs(&volume.bytes))
                .ok_or(Error::NoVolume)?;
            ubifs::read(&volume.bytes, limit)?
        }
    };
    tree.check_depth()?;
    Ok((format, tree))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Inode, Kind};

    #[test]
    fn formats_are_told_by_their_first_bytes() {
        let begins: [(&[u8], _); 7] = [
            (b"hsqs", Some(Format::Squashfs)),
            (b"UBI#", Some(Format::Ubi)),
            (&[0x31, 0x18, 0x10, 0x06], Some(Format::Ubifs)),
            (&[0x85, 0x19, 0x03, 0x20], Some(Format::Jffs2)),
            (&[0x19, 0x85, 0xE0, 0x01], Some(Format::Jffs2)),
            (&[0x85, 0x19, 0xFF, 0xFF], None),
            (&[], None),
        ];
        for (begin, format) in begins {
            assert_eq!(Format::of(begin), format, "{begin:02x?}");
            assert!(read(begin, Limit::default()).is_err());
        }
    }

    #[test]
    fn an_image_of_either_format_becomes_its_tree() {
        let mut tree = Tree::new(Limit::default());
        tree.insert(0, b"a", Inode::new(Kind::File(vec![7; 100]), 0o644)).expect("room");
        let squashfs = squashfs::write(&tree, &squashfs::Settings::default()).expect("an image");
        let cramfs = cramfs::write(&tree, &cramfs::Settings::default()).expect("an image").image;
        for (image, format) in [(squashfs, Format::Squashfs), (cramfs, Format::Cramfs)] {
            assert_eq!(Format::of(&image[..HEAD_BYTES]), Some(format));
            let (found, read) = read(&image, Limit::default()).expect("a tree");
            assert_eq!((found, &read.inode(1).kind), (format, &tree.inode(1).kind));
        }
    }

    /// Returns copies of an image whose first block is damaged. Each copy has another kind of
    /// damage.
    fn damaged(image: &[u8], block_bytes: usize) -> impl Iterator<Item = Vec<u8>> {
        let mut noise = fastrand::Rng::with_seed(7);
        let begins: Vec<Vec<u8>> = [4, 64, block_bytes]
            .into_iter()
            .flat_map(|bytes| {
                [
                    vec![0xff; bytes],
                    vec![0; bytes],
                    std::iter::repeat_with(|| noise.u8(..)).take(bytes).collect(),
                ]
            })
            .collect();
        let image = image.to_vec();
        begins.into_iter().map(move |begin| [&begin[..], &image[begin.len()..]].concat())
    }

    /// JFFS2 and UBI were recognised only by their first four bytes. A dump with a damaged first
    /// block was not recognised as any image.
    #[test]
    fn dumps_whose_first_block_is_damaged_are_recognised_by_the_others() {
        for is_big_endian in [false, true] {
            for image in damaged(&jffs2::small(is_big_endian), 4096) {
                assert_eq!(Format::find(&image), Some(Format::Jffs2));
                assert!(Format::may_be_found(&image));
                let (_, tree) = read(&image, Limit::default()).expect("a tree");
                assert!(
                    tree.inodes().iter().any(|inode| matches!(inode.kind, Kind::File(_))),
                    "the file is there"
                );
            }
        }
        for image in damaged(&ubi::small().0, ubi::SMALL_BLOCK_BYTES) {
            assert_eq!(Format::find(&image), Some(Format::Ubi));
            assert!(Format::may_be_found(&image));
            assert_eq!(
                read(&image, Limit::default()).err(),
                Some(Error::NoVolume),
                "its volume is none of UBIFS"
            );
        }
    }

    #[test]
    fn other_bytes_are_no_dump_though_a_file_among_them_may_be_one() {
        let mut random = fastrand::Rng::with_seed(3);
        let noise: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(1 << 20).collect();
        let (jffs2, ubi) = (jffs2::small(false), ubi::small().0);
        let mut disk = vec![0; 4096];
        disk[510..512].copy_from_slice(&[0x55, 0xAA]);
        let others = [
            noise.clone(),
            vec![0xff; 1 << 20],
            vec![0; 1 << 20],
            [&noise[..], &jffs2].concat(),
            [&noise[..], &ubi].concat(),
            [&disk[..], &jffs2].concat(),
            [&disk[..], &ubi].concat(),
            [&noise[..100], &ubi[..64]].concat(),
            b"UBI#".repeat(10_000)[1..].to_vec(),
            [0x85, 0x19, 0x01, 0xe0].repeat(10_000)[1..].to_vec(),
        ];
        for (number, other) in others.iter().enumerate() {
            assert_eq!(Format::find(other), None, "{number}");
        }
    }
}
