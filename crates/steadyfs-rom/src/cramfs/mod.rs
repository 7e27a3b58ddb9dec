//! Reads cramfs without a heap. Reading requires the feature `deflate`.

pub mod format;

use crate::bound::Bound;
use crate::codec::Decoder;
use crate::compressor::Compressor;
use crate::error::Error;
use crate::source::Source;
use crate::stat::{Kind, Stat};
use core::fmt;
use format::{
    BLOCK_BYTES, BOOT_BYTES, ENTRY_BYTES, Entry as Inode, FLAG_EXTENDED_POINTERS, FLAG_SORTED,
    NAME_BYTES_MAX, POINTER_DIRECT, POINTER_PLAIN, SUPERBLOCK_BYTES, Superblock,
};

/// Maximum bytes of a stored block. A block that compression does not shrink also has a header and
/// a checksum.
const STORED_MAX: usize = BLOCK_BYTES + 64;
/// A file, directory or anything else of an image.
#[derive(Clone, Copy, Debug)]
pub struct Node(Inode);

impl Node {
    /// Returns the node that an entry of a directory describes.
    pub const fn of(entry: format::Entry) -> Self {
        Self(entry)
    }

    /// Returns the metadata of the node. cramfs stores no times and no inode numbers.
    pub fn stat(&self) -> Stat {
        let device = self.0.size;
        let (kind, size) = match self.0.mode >> 12 {
            0o04 => (Kind::Directory, device),
            0o12 => (Kind::Symlink, device),
            0o06 => (Kind::BlockDevice(device), 0),
            0o02 => (Kind::CharacterDevice(device), 0),
            0o01 => (Kind::Fifo, 0),
            0o14 => (Kind::Socket, 0),
            _ => (Kind::File, device),
        };
        Stat { kind, size: u64::from(size), mode: self.0.mode & 0o7777, modified: 0, inode: 0 }
    }

    /// Returns owner and group.
    pub const fn owner(&self) -> (u32, u32) {
        (self.0.uid as u32, self.0.gid as u32)
    }

    /// Returns the offset of the node's content. Returns 0 if the node has no content. Files with
    /// the same content may share an offset.
    pub const fn content(&self) -> usize {
        self.0.offset
    }

    fn is_directory(&self) -> bool {
        self.0.mode >> 12 == 0o04
    }
}

/// Position in a list of entries. `Default` is the start of the list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor(u32);

/// An entry of a directory.
#[derive(Clone, Copy)]
pub struct Entry {
    name: [u8; NAME_BYTES_MAX],
    name_bytes: usize,
    /// The node that the entry describes.
    pub node: Node,
}

impl Entry {
    /// Returns the name of the entry.
    pub fn name(&self) -> &[u8] {
        &self.name[..self.name_bytes]
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name()).field("node", &self.node).finish()
    }
}

/// A mounted cramfs image.
pub struct Cramfs<'m, S> {
    source: S,
    superblock: Superblock,
    decoder: Decoder,
    room: &'m mut [u8],
    /// Offsets of the start and the end of the stored block that is decoded in the memory, and its
    /// number of decoded bytes.
    held: Option<(u64, u64, usize)>,
}

impl<'m, S: Source> Cramfs<'m, S> {
    /// Number of bytes of memory that an image needs.
    pub const MEMORY_BYTES: usize = BLOCK_BYTES + STORED_MAX;

    /// Mounts an image. `memory` has at least [`MEMORY_BYTES`](Self::MEMORY_BYTES) bytes. The
    /// superblock of the image may lie behind 512 bytes for a boot loader.
    ///
    /// # Cost
    /// The call makes at most two reads of 76 bytes.
    ///
    /// # Errors
    /// [`Error::NoImage`], [`Error::Version`], [`Error::Method`], [`Error::MemoryTooSmall`]; errors
    /// of the source.
    pub fn mount(mut source: S, memory: &'m mut [u8]) -> Result<Self, Error> {
        let decoder = Decoder::new(Compressor::Gzip as u16)?;
        let (needed, lent) = (Self::MEMORY_BYTES, memory.len());
        let room = memory.get_mut(..needed).ok_or(Error::MemoryTooSmall { needed, lent })?;
        let mut bytes = [0; SUPERBLOCK_BYTES];
        for at in [0, BOOT_BYTES] {
            source.read(at, &mut bytes)?;
            match Superblock::parse(&bytes) {
                Err(Error::NoImage) => {}
                parsed => {
                    return Ok(Self { source, superblock: parsed?, decoder, room, held: None });
                }
            }
        }
        Err(Error::NoImage)
    }

    /// Returns the source.
    pub fn unmount(self) -> S {
        self.source
    }

    /// Returns a reference to the source.
    pub fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// Returns the number of decoded bytes since the mount. Bytes that were decoded twice count
    /// twice. This number is a measure of the processor time of reads.
    pub const fn decoded_bytes(&self) -> u64 {
        self.decoder.decoded_bytes()
    }

    /// Returns the superblock.
    pub const fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// Returns the root.
    pub const fn root(&self) -> Node {
        Node(self.superblock.root)
    }

    /// Finds the node of a path. Symbolic links are not followed.
    ///
    /// # Cost
    /// [`list_bound`](Self::list_bound) for the directory of each name.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotADirectory`], [`Error::Damaged`]; errors of the source.
    pub fn find(&mut self, path: &str) -> Result<Node, Error> {
        let mut names = path.split('/').filter(|name| !name.is_empty());
        names.try_fold(self.root(), |node, name| self.lookup(&node, name.as_bytes()))
    }

    /// Finds a name in a directory.
    ///
    /// # Cost
    /// [`list_bound`](Self::list_bound).
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn lookup(&mut self, directory: &Node, name: &[u8]) -> Result<Node, Error> {
        let mut cursor = Cursor::default();
        let is_sorted = self.superblock.flags & FLAG_SORTED != 0;
        while let Some(entry) = self.list(directory, &mut cursor)? {
            if entry.name() == name {
                return Ok(entry.node);
            }
            if is_sorted && entry.name() > name {
                break;
            }
        }
        Err(Error::NotFound)
    }

    /// Returns the next entry of a directory. Returns `None` at the end.
    ///
    /// # Errors
    /// [`Error::NotADirectory`], [`Error::Damaged`]; errors of the source.
    pub fn list(&mut self, directory: &Node, cursor: &mut Cursor) -> Result<Option<Entry>, Error> {
        if !directory.is_directory() {
            return Err(Error::NotADirectory);
        }
        if cursor.0 >= directory.0.size {
            return Ok(None);
        }
        let at = directory.0.offset as u64 + u64::from(cursor.0);
        let mut inode = [0; ENTRY_BYTES];
        self.read_bytes(at, &mut inode)?;
        let node = Node(Inode::parse(self.superblock.order, &inode, 0).ok_or(Error::Damaged(at))?);
        let mut entry = Entry { name: [0; NAME_BYTES_MAX], name_bytes: 0, node };
        let name = &mut entry.name[..node.0.name_bytes];
        self.read_bytes(at + ENTRY_BYTES as u64, name)?;
        entry.name_bytes = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        if entry.name_bytes == 0 {
            return Err(Error::Damaged(at));
        }
        cursor.0 += (ENTRY_BYTES + node.0.name_bytes) as u32;
        Ok(Some(entry))
    }

    /// Reads bytes of a file from an offset on. Returns the number of bytes that were read.
    ///
    /// # Cost
    /// [`read_bound`](Self::read_bound).
    ///
    /// # Errors
    /// [`Error::NotAFile`], [`Error::Damaged`]; errors of the source.
    pub fn read(&mut self, file: &Node, offset: u64, data: &mut [u8]) -> Result<usize, Error> {
        if file.stat().kind != Kind::File {
            return Err(Error::NotAFile);
        }
        self.read_content(file, offset, data)
    }

    /// Reads the target of a symbolic link. Returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::NotALink`], [`Error::BufferTooSmall`], [`Error::Damaged`]; errors of the source.
    pub fn read_link(&mut self, link: &Node, target: &mut [u8]) -> Result<usize, Error> {
        if link.stat().kind != Kind::Symlink {
            return Err(Error::NotALink);
        }
        let needed = link.0.size as usize;
        let target = target.get_mut(..needed).ok_or(Error::BufferTooSmall { needed })?;
        self.read_content(link, 0, target)
    }

    /// Returns the worst case of listing a directory, or of finding a name in it.
    pub fn list_bound(&self, directory: &Node) -> Bound {
        let bytes = u64::from(directory.0.size);
        self.source.bound(bytes, bytes.div_ceil(ENTRY_BYTES as u64 + 4) * 2)
    }

    /// Returns the worst case of reading `bytes` bytes of a file.
    pub fn read_bound(&self, file: &Node, bytes: u64) -> Bound {
        let blocks =
            (bytes.min(u64::from(file.0.size)) + 2 * BLOCK_BYTES as u64 - 2) / BLOCK_BYTES as u64;
        let pointers = self.source.bound(8, 2).plus(self.source.bound(2, 1));
        pointers
            .plus(self.source.bound(STORED_MAX as u64, 1))
            .decoding(BLOCK_BYTES as u64)
            .times(blocks)
    }

    /// Reads bytes of a file, or of a link's target, from an offset on. Returns the number of bytes
    /// that were read.
    ///
    /// # Errors
    /// [`Error::Damaged`]; errors of the source.
    pub fn read_content(
        &mut self,
        node: &Node,
        offset: u64,
        data: &mut [u8],
    ) -> Result<usize, Error> {
        let size = u64::from(node.0.size);
        let count = data.len().min(size.saturating_sub(offset) as usize);
        let mut done = 0;
        while done < count {
            let at = offset + done as u64;
            let (index, within) =
                ((at / BLOCK_BYTES as u64) as u32, (at % BLOCK_BYTES as u64) as usize);
            let piece = (BLOCK_BYTES - within).min(count - done);
            self.piece(node, index, within, &mut data[done..done + piece])?;
            done += piece;
        }
        Ok(count)
    }

    /// Reads bytes of one block. The block must contain all these bytes.
    fn piece(
        &mut self,
        node: &Node,
        index: u32,
        within: usize,
        out: &mut [u8],
    ) -> Result<(), Error> {
        let (start, end, is_plain) = self.block(node, index)?;
        if start == end {
            out.fill(0);
            return Ok(());
        }
        if is_plain {
            return self.read_bytes(start + within as u64, out);
        }
        if self.held.is_none_or(|(from, to, _)| (from, to) != (start, end)) {
            let expected = (node.0.size - index * BLOCK_BYTES as u32).min(BLOCK_BYTES as u32);
            self.decode(start, end, expected as usize)?;
        }
        let made = self.held.map_or(0, |(_, _, made)| made);
        let content = &self.room[..made];
        out.copy_from_slice(content.get(within..within + out.len()).ok_or(Error::Damaged(start))?);
        Ok(())
    }

    fn decode(&mut self, start: u64, end: u64, expected: usize) -> Result<(), Error> {
        self.held = None;
        let stored = end
            .checked_sub(start)
            .filter(|&stored| stored <= STORED_MAX as u64)
            .ok_or(Error::Damaged(start))? as usize;
        let from = self.room.len() - stored;
        self.source.read(start, &mut self.room[from..])?;
        let made = self
            .decoder
            .decode(self.room, stored, BLOCK_BYTES)
            .filter(|&made| made == expected)
            .ok_or(Error::Damaged(start))?;
        self.held = Some((start, end, made));
        Ok(())
    }

    /// Returns the offsets of the start and the end of a stored block, and true if the block is
    /// uncompressed.
    fn block(&mut self, node: &Node, index: u32) -> Result<(u64, u64, bool), Error> {
        let table = node.0.offset as u64;
        let count = node.0.size.div_ceil(BLOCK_BYTES as u32);
        let pointer_at = table + 4 * u64::from(index);
        if self.superblock.flags & FLAG_EXTENDED_POINTERS == 0 {
            let first = table + 4 * u64::from(count);
            let start = if index == 0 { first } else { u64::from(self.number(pointer_at - 4)?) };
            return Ok((start, u64::from(self.number(pointer_at)?), false));
        }
        let pointer = self.number(pointer_at)?;
        let is_plain = pointer & POINTER_PLAIN != 0;
        let value = u64::from(pointer & !(POINTER_PLAIN | POINTER_DIRECT));
        let plain_bytes =
            u64::from(node.0.size - index * BLOCK_BYTES as u32).min(BLOCK_BYTES as u64);
        if pointer & POINTER_DIRECT != 0 {
            let start = 4 * value;
            if is_plain {
                return Ok((start, start + plain_bytes, true));
            }
            let mut bytes = [0; 2];
            self.read_bytes(start, &mut bytes)?;
            let stored =
                u64::from(self.superblock.order.half(&bytes, 0).ok_or(Error::Damaged(start))?);
            return Ok((start + 2, start + 2 + stored, false));
        }
        let start = if index == 0 {
            table + 4 * u64::from(count)
        } else {
            self.end_of(pointer_at - 4, node, index - 1)?
        };
        Ok((start, value, is_plain))
    }

    /// Returns the end of a block that an extended pointer describes.
    fn end_of(&mut self, pointer_at: u64, node: &Node, index: u32) -> Result<u64, Error> {
        let pointer = self.number(pointer_at)?;
        if pointer & POINTER_DIRECT != 0 {
            return Ok(self.block(node, index)?.1);
        }
        Ok(u64::from(pointer & !(POINTER_PLAIN | POINTER_DIRECT)))
    }

    fn number(&mut self, at: u64) -> Result<u32, Error> {
        let mut bytes = [0; 4];
        self.read_bytes(at, &mut bytes)?;
        self.superblock.order.word(&bytes, 0).ok_or(Error::Damaged(at))
    }

    fn read_bytes(&mut self, at: u64, out: &mut [u8]) -> Result<(), Error> {
        self.source.read(at, out)
    }
}
