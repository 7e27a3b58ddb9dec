//! Inodes of squashfs.

use super::blocks::{Blocks, Position};
use super::format::NO_INDEX;
use crate::error::Error;
use crate::fields::{u16_at, u32_at, u64_at};
use crate::source::Source;
use crate::stat::{Kind, Stat};

/// Bytes of the header of each inode.
const HEADER_BYTES: usize = 16;
/// Maximum bytes of an inode behind its header. They do not include lists.
pub const BODY_BYTES_MAX: usize = 40;

/// Inode of a file, directory or anything else of an image.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub(super) stat: Stat,
    /// Indices of owner and group in the table of IDs.
    pub(super) ids: (u16, u16),
    /// Index of the inode's attributes.
    pub(super) attributes: u32,
    pub(super) body: Body,
}

/// Fields that only one kind of inode has.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    Directory {
        /// Start of the directory's list: offset of the block from the start of the table, and
        /// offset in the block.
        list: (u32, u16),
        /// Position of the directory's index, and the number of entries in the index.
        index: (Position, u16),
    },
    File {
        /// Offset of the file's first block.
        start: u64,
        /// Index of the file's fragment, and the offset in the fragment.
        fragment: (u32, u32),
        /// Position of the sizes of the file's blocks.
        sizes: Position,
    },
    Symlink {
        /// Position of the link's target.
        target: Position,
        /// True if the index of the link's attributes follows the target.
        is_extended: bool,
    },
    Other,
}

impl Node {
    /// Returns the metadata of the node.
    pub const fn stat(&self) -> Stat {
        self.stat
    }

    /// Returns the number of its set of attributes. Nodes with the same number have the same
    /// attributes. Returns `None` for a node without attributes. Also returns `None` for a symbolic
    /// link, because its number is stored behind the target.
    pub const fn attribute_set(&self) -> Option<u32> {
        match self.attributes {
            NO_INDEX => None,
            index => Some(index),
        }
    }

    /// Returns true if the node is a directory.
    pub const fn is_directory(&self) -> bool {
        matches!(self.stat.kind, Kind::Directory)
    }
}

/// Reads the inode at a position.
pub fn read<S: Source>(blocks: &mut Blocks<'_, S>, mut at: Position) -> Result<Node, Error> {
    let begin = at.block;
    let mut header = [0; HEADER_BYTES];
    blocks.read_metadata(&mut at, &mut header)?;
    let kind = u16_at(&header, 0);
    let body_bytes = match kind {
        1 | 2 => 16,
        3..=5 => 8,
        6 | 7 => 4,
        8 => 24,
        9 => 40,
        10 => 8,
        11 | 12 => 12,
        13 | 14 => 8,
        _ => return Err(Error::Damaged(begin)),
    };
    let mut body = [0; BODY_BYTES_MAX];
    let body = &mut body[..body_bytes];
    blocks.read_metadata(&mut at, body)?;
    let (kind, size, attributes, body) = parse(kind, body, at);
    let stat = Stat {
        kind,
        size,
        mode: u16_at(&header, 2) & 0o7777,
        modified: u32_at(&header, 8),
        inode: u32_at(&header, 12),
    };
    Ok(Node { stat, ids: (u16_at(&header, 4), u16_at(&header, 6)), attributes, body })
}

/// Parses the part behind the header. `behind` is the position after this part.
fn parse(kind: u16, body: &[u8], behind: Position) -> (Kind, u64, u32, Body) {
    let number = |at| u32_at(body, at);
    let list = |block, offset, index| Body::Directory {
        list: (number(block), u16_at(body, offset)),
        index: (behind, index),
    };
    match kind {
        1 => (Kind::Directory, u64::from(u16_at(body, 8)), NO_INDEX, list(0, 10, 0)),
        8 => (Kind::Directory, u64::from(number(4)), number(20), list(8, 18, u16_at(body, 16))),
        2 => {
            let body = Body::File {
                start: u64::from(number(0)),
                fragment: (number(4), number(8)),
                sizes: behind,
            };
            (Kind::File, u64::from(number(12)), NO_INDEX, body)
        }
        9 => {
            let file = Body::File {
                start: u64_at(body, 0),
                fragment: (number(28), number(32)),
                sizes: behind,
            };
            (Kind::File, u64_at(body, 8), number(36), file)
        }
        3 | 10 => (
            Kind::Symlink,
            u64::from(number(4)),
            NO_INDEX,
            Body::Symlink { target: behind, is_extended: kind == 10 },
        ),
        4 | 11 => (Kind::BlockDevice(number(4)), 0, last(body, kind), Body::Other),
        5 | 12 => (Kind::CharacterDevice(number(4)), 0, last(body, kind), Body::Other),
        6 | 13 => (Kind::Fifo, 0, last(body, kind), Body::Other),
        _ => (Kind::Socket, 0, last(body, kind), Body::Other),
    }
}

/// Returns the index of attributes at the end of an extended inode. Returns [`NO_INDEX`] for other
/// inodes.
fn last(body: &[u8], kind: u16) -> u32 {
    if kind > 7 { u32_at(body, body.len() - 4) } else { NO_INDEX }
}
