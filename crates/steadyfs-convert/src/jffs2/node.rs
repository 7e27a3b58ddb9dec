//! Parsers of the nodes of an image.
//!
//! | bytes | all nodes | | bytes | inode | | bytes | directory entry |
//! |---|---|---|---|---|---|---|---|
//! | 0..2 | magic 0x1985 | | 12..16 | inode | | 12..16 | inode of the directory |
//! | 2..4 | type | | 16..20 | version | | 16..20 | version |
//! | 4..8 | length of all | | 20..24 | mode | | 20..24 | inode, 0 for a name that was removed |
//! | 8..12 | CRC of 0..8 | | 24..26, 26..28 | owner, group | | 24..28 | time |
//! | | | | 28..32 | size of the file | | 28 | length of the name |
//! | | | | 32..44 | times: access, modified, changed | | 29 | type |
//! | | | | 44..48 | offset of the content | | 32..36 | CRC of 0..32 |
//! | | | | 48..52, 52..56 | packed and unpacked length | | 36..40 | CRC of the name |
//! | | | | 56 | compressor | | 40.. | name |
//! | | | | 60..64 | CRC of the packed bytes | | | |
//! | | | | 64..68 | CRC of 0..60 | | | |
//! | | | | 68.. | packed bytes | | | |
//!
//! | bytes | attribute | | bytes | reference to an attribute |
//! |---|---|---|---|---|
//! | 12..16 | its number | | 12..16 | inode |
//! | 16..20 | version | | 16..20 | number of the attribute |
//! | 20, 21, 22..24 | prefix, lengths of name and value | | 20..24 | sequence, odd if removed |
//! | 24..28 | CRC of name, zero and value | | 24..28 | CRC of 0..24 |
//! | 28..32 | CRC of 0..28 | | | |
//! | 32.. | name, zero, value | | | |
//!
//! Source: include/uapi/linux/jffs2.h of Linux.

/// Byte order of an image, which is the order of the machine that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    /// Returns the number in two bytes. The caller has checked that `bytes` contains them.
    pub fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let pair = [bytes[at], bytes[at + 1]];
        match self {
            Self::Little => u16::from_le_bytes(pair),
            Self::Big => u16::from_be_bytes(pair),
        }
    }

    /// Returns the number in four bytes. The caller has checked that `bytes` contains them.
    pub fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        match self {
            Self::Little => u32::from_le_bytes(four),
            Self::Big => u32::from_be_bytes(four),
        }
    }
}

/// Computes the CRC of JFFS2: a CRC-32 that begins with zero and is not inverted.
pub(super) fn crc(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(u32::MAX);
    hasher.update(bytes);
    !hasher.finalize()
}

/// Part of an inode: its metadata, and some of its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct InodeNode<'a> {
    pub at: usize,
    pub inode: u32,
    pub version: u32,
    pub mode: u32,
    pub uid: u16,
    pub gid: u16,
    pub size_bytes: u32,
    pub modified: u32,
    pub offset: u32,
    pub unpacked_bytes: u32,
    pub compressor: u8,
    pub packed: &'a [u8],
}

/// A name in a directory.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryNode<'a> {
    pub directory: u32,
    pub version: u32,
    pub inode: u32,
    pub name: &'a [u8],
}

/// An extended attribute, which several inodes may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttributeNode<'a> {
    pub number: u32,
    pub version: u32,
    pub prefix: u8,
    pub name: &'a [u8],
    pub value: &'a [u8],
}

/// Reference from an inode to its attribute.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReferenceNode {
    pub inode: u32,
    pub number: u32,
    pub sequence: u32,
}

impl<'a> InodeNode<'a> {
    /// Parses an inode node at offset `at` of the image. Returns `None` if the node is incomplete
    /// or a checksum is wrong.
    pub fn parse(node: &'a [u8], order: Order, at: usize) -> Option<Self> {
        let (head, rest) = node.split_at_checked(68)?;
        let packed = rest.get(..order.u32(head, 48) as usize)?;
        if crc(&head[..60]) != order.u32(head, 64) || crc(packed) != order.u32(head, 60) {
            return None;
        }
        Some(Self {
            at,
            inode: order.u32(head, 12),
            version: order.u32(head, 16),
            mode: order.u32(head, 20),
            uid: order.u16(head, 24),
            gid: order.u16(head, 26),
            size_bytes: order.u32(head, 28),
            modified: order.u32(head, 36),
            offset: order.u32(head, 44),
            unpacked_bytes: order.u32(head, 52),
            compressor: head[56],
            packed,
        })
    }
}

impl<'a> EntryNode<'a> {
    /// Parses a directory entry. Returns `None` if the node is incomplete or a checksum is wrong.
    pub fn parse(node: &'a [u8], order: Order) -> Option<Self> {
        let (head, rest) = node.split_at_checked(40)?;
        let name = rest.get(..usize::from(head[28]))?;
        if crc(&head[..32]) != order.u32(head, 32) || crc(name) != order.u32(head, 36) {
            return None;
        }
        let (directory, version, inode) =
            (order.u32(head, 12), order.u32(head, 16), order.u32(head, 20));
        Some(Self { directory, version, inode, name })
    }
}

impl<'a> AttributeNode<'a> {
    /// Parses an attribute. Returns `None` if the node is incomplete or a checksum is wrong.
    pub fn parse(node: &'a [u8], order: Order) -> Option<Self> {
        let (head, rest) = node.split_at_checked(32)?;
        let (name_bytes, value_bytes) = (usize::from(head[21]), usize::from(order.u16(head, 22)));
        let data = rest.get(..name_bytes + 1 + value_bytes)?;
        if crc(&head[..28]) != order.u32(head, 28) || crc(data) != order.u32(head, 24) {
            return None;
        }
        let (name, value) = (&data[..name_bytes], &data[name_bytes + 1..]);
        Some(Self {
            number: order.u32(head, 12),
            version: order.u32(head, 16),
            prefix: head[20],
            name,
            value,
        })
    }
}

impl ReferenceNode {
    /// Parses a reference. Returns `None` if the node is incomplete or a checksum is wrong.
    pub fn parse(node: &[u8], order: Order) -> Option<Self> {
        let head = node.get(..28)?;
        if crc(&head[..24]) != order.u32(head, 24) {
            return None;
        }
        Some(Self {
            inode: order.u32(head, 12),
            number: order.u32(head, 16),
            sequence: order.u32(head, 20),
        })
    }
}
