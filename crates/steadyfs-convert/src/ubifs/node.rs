//! Parsers of the nodes of a volume. All numbers are little-endian.
//!
//! | bytes | all nodes | | bytes | inode | | bytes | name |
//! |---|---|---|---|---|---|---|---|
//! | 0..4 | magic 0x06101831 | | 24..40 | key | | 24..40 | key |
//! | 4..8 | CRC of 8.. | | 48..56 | size of the file | | 40..48 | inode, 0 for a removed name |
//! | 8..16 | sequence number | | 72..80 | time of change | | 50..52 | length of the name |
//! | 16..20 | length of all | | 92..96 | links | | 56.. | name, zero |
//! | 20 | type | | 96..100, 100..104 | owner, group | | | data |
//! | 21 | place in a group | | 104..108 | mode | | 24..40 | key |
//! | | | | 108..112 | flags | | 40..44 | unpacked length |
//! | | | | 112..116 | length of content | | 44..46 | compressor |
//! | | | | 160.. | content | | 48.. | packed bytes |
//!
//! | bytes | index | | bytes | truncation | | bytes | reference |
//! |---|---|---|---|---|---|---|---|
//! | 24..26 | branches | | 24..28 | inode | | 24..28 | logical erase block |
//! | 26..28 | level | | 40..48 | size before | | 28..32 | offset in it |
//! | 28.. | each: block, offset, length, key, a hash or none | | 48..56 | size after | | 32..36 | journal head |
//!
//! Source: fs/ubifs/ubifs-media.h of Linux.

use std::fmt;

/// Magic of each node.
pub(super) const MAGIC: u32 = 0x0610_1831;

pub(super) const INODE: u8 = 0;
pub(super) const DATA: u8 = 1;
pub(super) const NAME: u8 = 2;
pub(super) const ATTRIBUTE: u8 = 3;
pub(super) const TRUNCATION: u8 = 4;
pub(super) const PADDING: u8 = 5;
pub(super) const SUPERBLOCK: u8 = 6;
pub(super) const MASTER: u8 = 7;
pub(super) const REFERENCE: u8 = 8;
pub(super) const INDEX: u8 = 9;
pub(super) const COMMIT_START: u8 = 10;
pub(super) const SIGNATURE: u8 = 12;

/// Number of bytes of the head that each node has.
pub(super) const HEAD_BYTES: usize = 24;
/// Maximum bytes of content in one data node.
pub(super) const BLOCK_BYTES: usize = 4096;
/// Padding byte, for padding that is too short for a node.
const PAD: u8 = 0xce;
/// Maximum bytes of padding without a node.
const PAD_BYTES_MAX: usize = 28;
/// Group mark of a node that belongs to a group and is not its last node.
pub(super) const IN_GROUP: u8 = 1;

/// Returns the maximum bytes of a node of a type.
pub(super) fn bytes_max(kind: u8) -> usize {
    match kind {
        INODE => 160 + BLOCK_BYTES,
        DATA => 48 + BLOCK_BYTES,
        NAME | ATTRIBUTE => 56 + 256,
        _ => usize::MAX,
    }
}

/// Position of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of the logical erase block.
    pub block: u32,
    /// Offset in the logical erase block, in bytes.
    pub offset: u32,
    /// Length of the node in bytes.
    pub bytes: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "logical erase block {}, byte {}", self.block, self.offset)
    }
}

/// Returns the number in two bytes. The caller has checked that `bytes` contains them.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// Returns the number in four bytes. The caller has checked that `bytes` contains them.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// Returns the number in eight bytes. The caller has checked that `bytes` contains them.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Computes the CRC of UBIFS and UBI: a CRC-32 that is not inverted at the end.
pub(crate) fn crc(bytes: &[u8]) -> u32 {
    !crc32fast::hash(bytes)
}

/// A node with a right checksum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    pub place: Place,
    pub kind: u8,
    pub group: u8,
    pub sequence: u64,
    /// The whole node, from the head.
    pub bytes: &'a [u8],
}

impl<'a> Node<'a> {
    /// Returns the node at an offset of a logical erase block. Returns `None` if there is no node
    /// with a right checksum.
    pub fn at(block: u32, content: &'a [u8], offset: usize) -> Option<Self> {
        let rest = content.get(offset..)?;
        let head = rest.get(..HEAD_BYTES)?;
        let node_bytes = u32_at(head, 16);
        if u32_at(head, 0) != MAGIC || (node_bytes as usize) < HEAD_BYTES {
            return None;
        }
        let bytes = rest.get(..node_bytes as usize)?;
        let place = Place { block, offset: offset as u32, bytes: node_bytes };
        let (kind, group, sequence) = (head[20], head[21], u64_at(head, 8));
        (crc(&bytes[8..]) == u32_at(head, 4)).then_some(Self {
            place,
            kind,
            group,
            sequence,
            bytes,
        })
    }

    /// Returns the key of a node that has a key.
    pub fn key(&self) -> Option<Key> {
        self.bytes.get(24..32).map(Key::parse)
    }
}

/// Returns all nodes of a logical erase block from an offset on, in their order, without padding.
/// The scan ends at erased or damaged bytes.
pub(super) fn scan(block: u32, content: &[u8], from: usize) -> Vec<Node<'_>> {
    let (mut nodes, mut at) = (Vec::new(), from);
    while at < content.len() {
        if let Some(node) = Node::at(block, content, at) {
            at = (at + node.bytes.len()).next_multiple_of(8);
            if node.kind == PADDING && node.bytes.len() >= 28 {
                at = padded(node.place.offset as usize, node.bytes);
            } else {
                nodes.push(node);
            }
        } else {
            let pads =
                content[at..].iter().take(PAD_BYTES_MAX).take_while(|&&byte| byte == PAD).count();
            if pads == 0 || !pads.is_multiple_of(8) {
                break;
            }
            at += pads;
        }
    }
    nodes
}

/// Returns the end of a padding node and of the padding behind it.
fn padded(offset: usize, node: &[u8]) -> usize {
    (offset + node.len())
        .saturating_add(u32_at(node, 24) as usize)
        .checked_next_multiple_of(8)
        .unwrap_or(usize::MAX)
}

/// Key of a node: an inode, a type, and the number of a block or the hash of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub inode: u32,
    pub kind: u8,
    pub rest: u32,
}

impl Key {
    /// Parses the first eight bytes of a key. The caller has checked that `bytes` contains them.
    pub fn parse(bytes: &[u8]) -> Self {
        let word = u32_at(bytes, 4);
        Self { inode: u32_at(bytes, 0), kind: (word >> 29) as u8, rest: word & 0x1fff_ffff }
    }
}

/// Content of an inode node.
#[derive(Clone, Copy, Debug)]
pub(super) struct InodeNode<'a> {
    pub size_bytes: u64,
    pub modified: i64,
    pub links: u32,
    pub uid: u32,
    pub gid: u32,
    pub mode: u32,
    pub flags: u32,
    pub content: &'a [u8],
}

impl<'a> InodeNode<'a> {
    /// Parses an inode node. Returns `None` if its lengths do not fit.
    pub fn parse(node: &Node<'a>) -> Option<Self> {
        let (head, content) = node.bytes.split_at_checked(160)?;
        let content = content.get(..u32_at(head, 112) as usize)?;
        Some(Self {
            size_bytes: u64_at(head, 48),
            modified: u64_at(head, 72) as i64,
            links: u32_at(head, 92),
            uid: u32_at(head, 96),
            gid: u32_at(head, 100),
            mode: u32_at(head, 104),
            flags: u32_at(head, 108),
            content,
        })
    }
}

/// A name in a directory, or of an attribute.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameNode<'a> {
    /// The directory, or the inode with the attribute.
    pub inode: u32,
    /// Inode number of the name. It is 0 if the name was removed.
    pub target: u64,
    pub name: &'a [u8],
}

impl<'a> NameNode<'a> {
    /// Parses a name. Returns `None` if its lengths do not fit.
    pub fn parse(node: &Node<'a>) -> Option<Self> {
        let (head, name) = node.bytes.split_at_checked(56)?;
        let name = name.get(..usize::from(u16_at(head, 50)))?;
        (name.len() <= 255).then_some(Self {
            inode: u32_at(head, 24),
            target: u64_at(head, 40),
            name,
        })
    }
}
