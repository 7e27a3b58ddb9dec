//! Images made node by node, with nodes that no tool makes: overwritten, truncated, removed and
//! torn nodes.

use crate::jffs2::node::{Order, crc};

/// Mode of a file.
pub(super) const FILE: u32 = 0o100_644;
/// Mode of a directory.
pub(super) const DIRECTORY: u32 = 0o040_755;

/// An image that grows node by node.
pub(super) struct Maker {
    order: Order,
    pub image: Vec<u8>,
}

/// Content of an inode node. [`write`](Maker::write) makes the node.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub inode: u32,
    pub version: u32,
    pub mode: u32,
    pub size_bytes: u32,
    pub offset: u32,
    pub unpacked_bytes: u32,
    pub compressor: u8,
    pub packed: &'a [u8],
}

impl<'a> Part<'a> {
    /// Makes a part of file 2 that is not packed.
    pub fn plain(version: u32, size_bytes: u32, offset: u32, content: &'a [u8]) -> Self {
        let unpacked_bytes = content.len() as u32;
        Self {
            inode: 2,
            version,
            mode: FILE,
            size_bytes,
            offset,
            unpacked_bytes,
            compressor: 0,
            packed: content,
        }
    }
}

impl Maker {
    pub fn new(order: Order) -> Self {
        Self { order, image: Vec::new() }
    }

    fn u16(&self, value: u16) -> [u8; 2] {
        match self.order {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        }
    }

    fn u32(&self, value: u32) -> [u8; 4] {
        match self.order {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        }
    }

    fn words(&self, words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|&word| self.u32(word)).collect()
    }

    /// Writes a node of a type. Returns its offset.
    pub fn node(&mut self, kind: u16, body: &[u8]) -> usize {
        let at = self.image.len();
        let mut head = [self.u16(0x1985), self.u16(kind)].concat();
        head.extend(self.u32(12 + body.len() as u32));
        let sum = crc(&head);
        self.image.extend([&head, &self.u32(sum)[..], body].concat());
        self.image.resize(self.image.len().next_multiple_of(4), 0xff);
        at
    }

    /// Writes a part of an inode. Its owner is 7 and its group is 8. Its time in seconds equals its
    /// version.
    pub fn write(&mut self, part: Part<'_>) -> usize {
        let head_bytes = 12 + 68 - 12 + part.packed.len();
        let mut head = [self.u16(0x1985), self.u16(0xe002)].concat();
        head.extend(self.u32(head_bytes as u32));
        head.extend(self.u32(crc(&head)));
        head.extend(self.words(&[part.inode, part.version, part.mode]));
        head.extend([self.u16(7), self.u16(8)].concat());
        head.extend(self.words(&[
            part.size_bytes,
            0,
            part.version,
            0,
            part.offset,
            part.packed.len() as u32,
            part.unpacked_bytes,
        ]));
        head.extend([part.compressor, 0, 0, 0]);
        let sums = self.words(&[crc(part.packed), crc(&head)]);
        self.node(0xe002, &[&head[12..], &sums, part.packed].concat())
    }

    /// Writes a directory entry. An `inode` of 0 removes the name.
    pub fn entry(&mut self, directory: u32, version: u32, inode: u32, name: &[u8]) -> usize {
        let mut head = [self.u16(0x1985), self.u16(0xe001)].concat();
        head.extend(self.u32(40 + name.len() as u32));
        head.extend(self.u32(crc(&head)));
        head.extend(self.words(&[directory, version, inode, 0]));
        head.extend([name.len() as u8, 8, 0, 0]);
        let sums = self.words(&[crc(&head), crc(name)]);
        self.node(0xe001, &[&head[12..], &sums, name].concat())
    }

    /// Writes an attribute with the prefix `user.`.
    pub fn attribute(&mut self, number: u32, version: u32, name: &[u8], value: &[u8]) -> usize {
        let data = [name, &[0], value].concat();
        let mut head = [self.u16(0x1985), self.u16(0xe008)].concat();
        head.extend(self.u32(32 + data.len() as u32));
        head.extend(self.u32(crc(&head)));
        head.extend(self.words(&[number, version]));
        head.extend([1, name.len() as u8]);
        head.extend(self.u16(value.len() as u16));
        head.extend(self.u32(crc(&data)));
        let sum = self.u32(crc(&head));
        self.node(0xe008, &[&head[12..], &sum, &data].concat())
    }

    /// Writes the reference of an inode to an attribute. An odd `sequence` removes the reference.
    pub fn reference(&mut self, inode: u32, number: u32, sequence: u32) -> usize {
        let mut head = [self.u16(0x1985), self.u16(0xe009)].concat();
        head.extend(self.u32(28));
        head.extend(self.u32(crc(&head)));
        head.extend(self.words(&[inode, number, sequence]));
        let sum = self.u32(crc(&head));
        self.node(0xe009, &[&head[12..], &sum].concat())
    }
}
