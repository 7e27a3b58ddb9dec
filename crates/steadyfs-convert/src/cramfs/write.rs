//! Writer: from a tree to an image.

use super::error::Error;
use super::format::{
    BLOCK_BYTES, BOOT_BYTES, ByteOrder, CONTENT_BYTES_END, ENTRY_BYTES, Entry, FLAG_HOLES,
    FLAG_SORTED, FLAG_VERSION_2, NAME_BYTES_MAX, OFFSET_END, SUPERBLOCK_BYTES, Superblock,
    checksum,
};
use super::plan::{Node, Plan};
use crate::{Inode, InodeIndex, Kind, Tree};
use miniz_oxide::deflate::compress_to_vec_zlib;
use std::collections::HashMap;

/// Settings of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Effort of the compression, 0 (none) to 10. A higher effort takes longer, and makes smaller
    /// images. Usual: 10.
    pub level: u8,
    /// Name of the volume, filled up with zeros. Usual: `Compressed`, as in other tools.
    pub name: [u8; 16],
    /// True if words begin with their high byte, for big-endian machines.
    pub big_endian: bool,
    /// Number of the edition. Usual: 0.
    pub edition: u32,
    /// True if pages of zeros are stored in no bytes. Linux can read such pages, but `fsck.cramfs`
    /// cannot. Usual: false.
    pub holes: bool,
    /// True to reserve 512 bytes for boot code before the superblock. Usual: false.
    pub boot_bytes: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let name = *b"Compressed\0\0\0\0\0\0";
        Self { level: 10, name, big_endian: false, edition: 0, holes: false, boot_bytes: false }
    }
}

/// An image, and the parts of the tree that it does not contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The image. It consists of whole pages.
    pub image: Vec<u8>,
    /// The parts of the tree that the image does not contain.
    pub left_out: LeftOut,
}

/// Numbers of the parts of the tree that the image does not contain, because the format does not
/// support them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Number of inodes with a time.
    pub times: usize,
    /// Number of inodes whose group is above 255. In the image they belong to group 0.
    pub groups: usize,
    /// Number of extended attributes.
    pub attributes: usize,
    /// Number of further names of inodes with hard links. In the image, each such name is a
    /// separate file that shares the pages.
    pub hard_links: usize,
}

impl LeftOut {
    /// Returns true if the image contains the whole tree.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Writes a tree as an image of version 2.
///
/// # Errors
/// [`Error::Settings`], [`Error::TooLarge`], [`Error::SetsGroup`], [`Error::DirectoryTwice`].
pub fn write(tree: &Tree, settings: &Settings) -> Result<Written, Error> {
    if settings.level > 10 {
        return Err(Error::Settings(format!("the level {}; expected 0 to 10", settings.level)));
    }
    let plan = Plan::new(tree)?;
    let mut writer = Writer::new(tree, settings, plan);
    let offsets = writer.place_directories()?;
    let root = writer.entry(0, &offsets)?;
    for number in 1..writer.plan.nodes.len() {
        let entry = writer.entry(number, &offsets)?.emit(writer.order);
        writer.emit_entry(number, &entry);
    }
    let left_out = writer.left_out;
    Ok(Written { image: writer.finish(root), left_out })
}

struct Writer<'a> {
    tree: &'a Tree,
    settings: &'a Settings,
    order: ByteOrder,
    plan: Plan<'a>,
    image: Vec<u8>,
    /// Offset of the next entry.
    at: usize,
    /// The contents that are in the image, and their offsets.
    contents: HashMap<&'a [u8], usize>,
    /// Offset of the content of each inode.
    placed: HashMap<InodeIndex, usize>,
    /// Number of pages in the image.
    blocks: u32,
    holes: bool,
    left_out: LeftOut,
}

impl<'a> Writer<'a> {
    fn new(tree: &'a Tree, settings: &'a Settings, plan: Plan<'a>) -> Self {
        Self {
            tree,
            settings,
            order: if settings.big_endian { ByteOrder::Big } else { ByteOrder::Little },
            plan,
            image: vec![0; Self::superblock_at(settings) + SUPERBLOCK_BYTES],
            at: Self::superblock_at(settings) + SUPERBLOCK_BYTES,
            contents: HashMap::new(),
            placed: HashMap::new(),
            blocks: 0,
            holes: false,
            left_out: LeftOut::default(),
        }
    }

    fn superblock_at(settings: &Settings) -> usize {
        if settings.boot_bytes { BOOT_BYTES as usize } else { 0 }
    }

    /// Assigns consecutive offsets to the directories, and extends the image by the bytes of all
    /// directories.
    fn place_directories(&mut self) -> Result<Vec<usize>, Error> {
        let mut end = self.image.len();
        let mut offsets = Vec::with_capacity(self.plan.nodes.len());
        for number in 0..self.plan.nodes.len() {
            offsets.push(end);
            let bytes = self.plan.nodes[number].directory_bytes;
            self.limit(number, "directory of bytes", bytes, CONTENT_BYTES_END - 1)?;
            self.limit(number, "begin at byte", end as u64, OFFSET_END - 4)?;
            end += bytes as usize;
        }
        self.image.resize(end, 0);
        Ok(offsets)
    }

    /// Makes the entry of a node, and adds the node's content to the image.
    fn entry(&mut self, number: usize, offsets: &[usize]) -> Result<Entry, Error> {
        let Node { inode: index, name, directory_bytes, is_first, .. } = self.plan.nodes[number];
        let inode = self.tree.inode(index);
        self.limit(number, "owner", inode.uid.into(), u16::MAX.into())?;
        self.limit(number, "name of bytes", name.len() as u64, NAME_BYTES_MAX as u64)?;
        let gid = self.group(number, inode)?;
        self.count_left_out(inode, is_first);
        let (kind, size, offset) = match &inode.kind {
            Kind::Fifo => (0o01, 0, 0),
            Kind::Device { is_block, major, minor } => {
                (if *is_block { 0o06 } else { 0o02 }, self.device(number, *major, *minor)?, 0)
            }
            Kind::Directory(_) => (
                0o04,
                directory_bytes as u32,
                if directory_bytes == 0 { 0 } else { offsets[number] },
            ),
            Kind::File(content) => (0o10, content.len() as u32, self.content(number, content)?),
            Kind::Symlink(target) => (0o12, target.len() as u32, self.content(number, target)?),
            Kind::Socket => (0o14, 0, 0),
        };
        let mode = kind << 12 | (inode.mode & 0o7777);
        Ok(Entry {
            mode,
            uid: inode.uid as u16,
            size,
            gid,
            name_bytes: name.len().next_multiple_of(4),
            offset,
        })
    }

    fn emit_entry(&mut self, number: usize, entry: &[u8; ENTRY_BYTES]) {
        let name = self.plan.nodes[number].name;
        let at = self.at + ENTRY_BYTES;
        self.image[self.at..at].copy_from_slice(entry);
        self.image[at..at + name.len()].copy_from_slice(name);
        self.at = at + name.len().next_multiple_of(4);
    }

    fn group(&self, number: usize, inode: &Inode) -> Result<u8, Error> {
        match u8::try_from(inode.gid) {
            Ok(gid) => Ok(gid),
            Err(_) if inode.mode & 0o2000 != 0 && !inode.is_directory() => {
                Err(Error::SetsGroup { path: self.plan.path(number), gid: inode.gid })
            }
            Err(_) => Ok(0),
        }
    }

    fn count_left_out(&mut self, inode: &Inode, is_first: bool) {
        if !is_first {
            self.left_out.hard_links += 1;
            return;
        }
        self.left_out.times += usize::from(inode.modified != 0);
        self.left_out.groups += usize::from(inode.gid > 255);
        self.left_out.attributes += inode.attributes.len();
    }

    /// Returns the numbers of a device in eight bits each, because Linux reads only eight bits.
    fn device(&self, number: usize, major: u32, minor: u32) -> Result<u32, Error> {
        self.limit(number, "major number", major.into(), 255)?;
        self.limit(number, "minor number", minor.into(), 255)?;
        Ok(major << 8 | minor)
    }

    /// Adds a content to the image, unless the image already contains it. Returns the offset of the
    /// content.
    fn content(&mut self, number: usize, content: &'a [u8]) -> Result<usize, Error> {
        if content.is_empty() {
            return Ok(0);
        }
        let inode = self.plan.nodes[number].inode;
        if let Some(&offset) = self.placed.get(&inode) {
            return Ok(offset);
        }
        self.limit(number, "content of bytes", content.len() as u64, CONTENT_BYTES_END - 1)?;
        let offset = match self.contents.get(content) {
            Some(&offset) => offset,
            None => {
                let offset = self.image.len().next_multiple_of(4);
                self.limit(number, "begin at byte", offset as u64, OFFSET_END - 4)?;
                self.append(offset, content);
                self.contents.insert(content, offset);
                offset
            }
        };
        self.placed.insert(inode, offset);
        Ok(offset)
    }

    /// Appends the pointers and the pages of a content.
    fn append(&mut self, offset: usize, content: &[u8]) {
        let pages = content.chunks(BLOCK_BYTES);
        self.blocks += pages.len() as u32;
        self.image.resize(offset + 4 * pages.len(), 0);
        for (index, page) in pages.enumerate() {
            if self.settings.holes && page.iter().all(|&byte| byte == 0) {
                self.holes = true;
            } else {
                self.image.extend(compress_to_vec_zlib(page, self.settings.level));
            }
            let pointer = offset + 4 * index;
            let end = self.order.bytes(self.image.len() as u32);
            self.image[pointer..pointer + 4].copy_from_slice(&end);
        }
    }

    /// Fills the last page, and writes the superblock.
    fn finish(mut self, root: Entry) -> Vec<u8> {
        self.image.resize(self.image.len().next_multiple_of(BLOCK_BYTES), 0);
        let at = Self::superblock_at(self.settings);
        let mut superblock = Superblock {
            order: self.order,
            size: self.image.len() as u32,
            flags: FLAG_VERSION_2 | FLAG_SORTED | if self.holes { FLAG_HOLES } else { 0 },
            crc: 0,
            edition: self.settings.edition,
            blocks: self.blocks,
            files: self.plan.nodes.len() as u32,
            name: self.settings.name,
            root: Entry { name_bytes: 0, ..root },
        };
        self.image[at..at + SUPERBLOCK_BYTES].copy_from_slice(&superblock.emit());
        superblock.crc = checksum(&self.image, at);
        self.image[at..at + SUPERBLOCK_BYTES].copy_from_slice(&superblock.emit());
        self.image
    }

    fn limit(
        &self,
        number: usize,
        what: &'static str,
        found: u64,
        limit: u64,
    ) -> Result<(), Error> {
        match found > limit {
            true => Err(Error::TooLarge { path: self.plan.path(number), what, found, limit }),
            false => Ok(()),
        }
    }
}
