//! Which format an image has, and a tree of any of them.

use crate::{Limit, Tree, TreeError, cramfs, jffs2, squashfs, ubi, ubifs};
use std::fmt;
use thiserror::Error;

/// A format of embedded Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Compressed, read-only.
    Squashfs,
    /// Compressed, read-only, for small devices.
    Cramfs,
    /// For NOR and small NAND.
    Jffs2,
    /// A volume of UBI, for NAND.
    Ubifs,
    /// A whole chip of volumes.
    Ubi,
}

/// Bytes at the begin of an image that [`Format::of`] looks at, at most.
pub const HEAD_BYTES: usize = 1024;

/// Types of the nodes with which a JFFS2 begins: clean marker, entry, inode, padding, summary, attribute and reference to one.
///
/// Source: include/uapi/linux/jffs2.h of Linux.
const JFFS2_NODES: [u16; 7] = [0x2003, 0xE001, 0xE002, 0x2004, 0x2006, 0xE008, 0xE009];

impl Format {
    /// Tells the format by the first bytes, of which [`HEAD_BYTES`] are enough.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [b'h', b's', b'q', b's', ..] => Some(Self::Squashfs),
            [b'U', b'B', b'I', b'#', ..] => Some(Self::Ubi),
            [0x31, 0x18, 0x10, 0x06, ..] => Some(Self::Ubifs),
            [0x85, 0x19, low, high, ..] if JFFS2_NODES.contains(&u16::from_le_bytes([*low, *high])) => Some(Self::Jffs2),
            [0x19, 0x85, high, low, ..] if JFFS2_NODES.contains(&u16::from_be_bytes([*high, *low])) => Some(Self::Jffs2),
            _ => cramfs::is_cramfs(bytes).then_some(Self::Cramfs),
        }
    }
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

/// Why an image is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// It has none of the formats.
    #[error("is no image of a file system that is known; expected squashfs, cramfs, JFFS2, UBIFS or UBI")]
    Unknown,
    /// It is a UBI image without a volume of UBIFS.
    #[error("is UBI without a volume of UBIFS; expected one")]
    NoVolume,
    /// Its tree is none.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Of squashfs.
    #[error(transparent)]
    Squashfs(#[from] squashfs::ReadError),
    /// Of cramfs.
    #[error(transparent)]
    Cramfs(#[from] cramfs::Error),
    /// Of JFFS2.
    #[error(transparent)]
    Jffs2(#[from] jffs2::Error),
    /// Of UBIFS.
    #[error(transparent)]
    Ubifs(#[from] ubifs::Error),
    /// Of UBI.
    #[error(transparent)]
    Ubi(#[from] ubi::Error),
}

/// Reads an image of any format; of UBI, its first volume of UBIFS.
///
/// # Errors
/// [`Error::Unknown`], [`Error::NoVolume`], [`TreeError::TooDeep`]; what is wrong with the image in the words of its format.
pub fn read(bytes: &[u8], limit: Limit) -> Result<(Format, Tree), Error> {
    let format = Format::of(bytes).ok_or(Error::Unknown)?;
    let tree = match format {
        Format::Squashfs => squashfs::read(bytes, limit)?,
        Format::Cramfs => cramfs::read(bytes, limit)?,
        Format::Jffs2 => jffs2::read(bytes, limit)?,
        Format::Ubifs => ubifs::read(bytes, limit)?,
        Format::Ubi => {
            let volumes = ubi::volumes(bytes)?;
            let volume = volumes.iter().find(|volume| ubifs::is_ubifs(&volume.bytes)).ok_or(Error::NoVolume)?;
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
}
