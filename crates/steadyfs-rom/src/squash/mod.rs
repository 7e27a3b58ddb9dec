//! Reads squashfs 4.0 without a heap.

mod attributes;
mod blocks;
mod directory;
mod file;
pub mod format;
mod node;

pub use attributes::{Attribute, Cursor as AttributeCursor};
pub use directory::{Cursor, Entry};
pub use file::File;
pub use node::Node;

use crate::bound::Bound;
use crate::codec::Decoder;
use crate::compressor::Compressor;
use crate::error::Error;
use crate::fields::{u32_at, u64_at};
use crate::source::Source;
use blocks::{Blocks, Position, Stored};
use directory::{List, NAME_MAX};
use file::Sizes;
use format::{FRAGMENT_BYTES, METADATA_BYTES, NO_INDEX, SUPERBLOCK_BYTES, Superblock};
use node::Body;

/// The memory that an image needs, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Minimum memory: a buffer for a block of a file or a block of metadata, whichever is larger.
    /// If metadata is uncompressed, a buffer for a block of a file.
    pub least: usize,
    /// Memory for both buffers: one for a block of a file and one for a block of metadata.
    /// Sequential reads of a file then do not decode metadata again.
    pub both: usize,
    /// Additional memory for each further metadata block that is cached, up to 16 blocks. The
    /// look-up of a path with five names needs ten blocks.
    pub each: usize,
}

impl Needs {
    /// Reads the needs of an image from its superblock.
    ///
    /// # Errors
    /// As [`Squash::mount`].
    pub fn of(source: &mut impl Source) -> Result<Self, Error> {
        let superblock = superblock(source)?;
        let method = Decoder::new(superblock.compressor)?.method();
        Ok(Self::for_blocks(method, superblock.block_bytes as usize, superblock.is_plain()))
    }

    /// Returns the needs of an image with the given method and block size.
    pub const fn for_blocks(method: Compressor, block_bytes: usize, plain_metadata: bool) -> Self {
        let data = method.room_bytes(block_bytes);
        let metadata = method.room_bytes(METADATA_BYTES);
        let least = if plain_metadata || data > metadata { data } else { metadata };
        Self { least, both: data + metadata, each: metadata }
    }
}

/// A mounted squashfs image.
///
/// A path consists of names that are separated by slashes. Calls do not follow symbolic links, but
/// [`read_link`](Self::read_link) returns their targets. Calls never change the medium. So a power
/// cut at any time does no harm, and a failed call may be repeated.
pub struct Squash<'m, S> {
    blocks: Blocks<'m, S>,
    superblock: Superblock,
}

fn superblock(source: &mut impl Source) -> Result<Superblock, Error> {
    let mut bytes = [0; SUPERBLOCK_BYTES];
    source.read(0, &mut bytes)?;
    Superblock::parse(&bytes)
}

impl<'m, S: Source> Squash<'m, S> {
    /// Mounts an image. `memory` has at least [`Needs::least`] bytes. If it has [`Needs::both`]
    /// bytes, metadata has a separate buffer. With more memory, metadata has several buffers.
    ///
    /// # Cost
    /// The call makes one read of 96 bytes.
    ///
    /// # Errors
    /// [`Error::NoImage`], [`Error::Version`], [`Error::Method`], [`Error::MemoryTooSmall`],
    /// [`Error::Damaged`]; errors of the source.
    pub fn mount(mut source: S, memory: &'m mut [u8]) -> Result<Self, Error> {
        let superblock = superblock(&mut source)?;
        let decoder = Decoder::new(superblock.compressor)?;
        let needed = Needs::for_blocks(
            decoder.method(),
            superblock.block_bytes as usize,
            superblock.is_plain(),
        )
        .least;
        if memory.len() < needed {
            return Err(Error::MemoryTooSmall { needed, lent: memory.len() });
        }
        Ok(Self {
            blocks: Blocks::new(source, decoder, superblock.block_bytes as usize, memory),
            superblock,
        })
    }

    /// Returns the source.
    pub fn unmount(self) -> S {
        self.blocks.into_source()
    }

    /// Returns a reference to the source.
    pub fn source_mut(&mut self) -> &mut S {
        self.blocks.source()
    }

    /// Returns the number of decoded bytes of files and metadata since the mount. Bytes that were
    /// decoded twice count twice. This number is a measure of the processor time of reads.
    pub const fn decoded_bytes(&self) -> u64 {
        self.blocks.decoded_bytes()
    }

    /// Returns the superblock.
    pub const fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// Returns the root.
    ///
    /// # Cost
    /// [`node_bound`](Self::node_bound).
    ///
    /// # Errors
    /// [`Error::Damaged`]; errors of the source.
    pub fn root(&mut self) -> Result<Node, Error> {
        let root = self.superblock.root;
        self.node((root >> 16) as u32, root as u16)
    }

    /// Finds the node of a path.
    ///
    /// # Cost
    /// [`node_bound`](Self::node_bound) for the root and each name, and
    /// [`lookup_bound`](Self::lookup_bound) for the directory of each name.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotADirectory`], [`Error::Damaged`]; errors of the source.
    pub fn find(&mut self, path: &str) -> Result<Node, Error> {
        let mut node = self.root()?;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            node = self.lookup(&node, name.as_bytes())?;
        }
        Ok(node)
    }

    /// Finds a name in a directory.
    ///
    /// # Cost
    /// [`lookup_bound`](Self::lookup_bound) and [`node_bound`](Self::node_bound).
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn lookup(&mut self, directory: &Node, name: &[u8]) -> Result<Node, Error> {
        let entry =
            self.list_of(directory)?.find(&mut self.blocks, name)?.ok_or(Error::NotFound)?;
        self.entry_node(&entry)
    }

    /// Returns the next entry of a directory, in the order of the names' bytes. Returns `None` at
    /// the end.
    ///
    /// # Cost
    /// [`list_bound`](Self::list_bound) for a whole list. If files are read between two entries,
    /// each entry may decode its block again.
    ///
    /// # Errors
    /// [`Error::NotADirectory`], [`Error::Damaged`]; errors of the source.
    pub fn list(&mut self, directory: &Node, cursor: &mut Cursor) -> Result<Option<Entry>, Error> {
        self.list_of(directory)?.next(&mut self.blocks, cursor)
    }

    /// Reads the node of an entry.
    ///
    /// # Cost
    /// [`node_bound`](Self::node_bound).
    ///
    /// # Errors
    /// [`Error::Damaged`]; errors of the source.
    pub fn entry_node(&mut self, entry: &Entry) -> Result<Node, Error> {
        self.node(entry.inode.0, entry.inode.1)
    }

    /// Opens the file with a path.
    ///
    /// # Cost
    /// As [`find`](Self::find) and [`open_node`](Self::open_node).
    ///
    /// # Errors
    /// As [`find`](Self::find), and [`Error::NotAFile`].
    pub fn open(&mut self, path: &str) -> Result<File, Error> {
        let node = self.find(path)?;
        self.open_node(&node)
    }

    /// Opens a file.
    ///
    /// # Cost
    /// [`open_bound`](Self::open_bound).
    ///
    /// # Errors
    /// [`Error::NotAFile`], [`Error::Damaged`]; errors of the source.
    pub fn open_node(&mut self, node: &Node) -> Result<File, Error> {
        let Body::File { start, fragment: (index, offset), sizes: list } = node.body else {
            return Err(Error::NotAFile);
        };
        let block_bytes = u64::from(self.superblock.block_bytes);
        let size = node.stat.size;
        let tail = if index == NO_INDEX { None } else { Some((self.fragment(index)?, offset)) };
        let count = if tail.is_some() { size / block_bytes } else { size.div_ceil(block_bytes) };
        let block_count = u32::try_from(count).map_err(|_| Error::Damaged(list.block))?;
        Ok(File { size, start, list, tail, block_count, sizes: Sizes::before(start, list) })
    }

    /// Reads bytes of a file from an offset on. Returns the number of bytes that were read. Only at
    /// the end of the file it is smaller than the length of `data`.
    ///
    /// # Cost
    /// [`read_bound`](Self::read_bound).
    ///
    /// # Errors
    /// [`Error::Damaged`]; errors of the source.
    pub fn read(&mut self, file: &mut File, offset: u64, data: &mut [u8]) -> Result<usize, Error> {
        file.read(&mut self.blocks, self.superblock.block_bytes, offset, data)
    }

    /// Reads the target of a symbolic link. Returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::NotALink`], [`Error::BufferTooSmall`], [`Error::Damaged`]; errors of the source.
    pub fn read_link(&mut self, node: &Node, target: &mut [u8]) -> Result<usize, Error> {
        let Body::Symlink { target: mut at, .. } = node.body else { return Err(Error::NotALink) };
        let bytes = node.stat.size as usize;
        let target = target.get_mut(..bytes).ok_or(Error::BufferTooSmall { needed: bytes })?;
        self.blocks.read_metadata(&mut at, target)?;
        Ok(bytes)
    }

    /// Reads owner and group.
    ///
    /// # Errors
    /// [`Error::Damaged`]; errors of the source.
    pub fn owner(&mut self, node: &Node) -> Result<(u32, u32), Error> {
        Ok((self.id(node.ids.0)?, self.id(node.ids.1)?))
    }

    /// Returns the worst case of reading an inode.
    pub fn node_bound(&self) -> Bound {
        self.blocks.metadata_bound(16 + node::BODY_BYTES_MAX as u64, 2)
    }

    /// Returns the worst case of finding a name in a directory.
    ///
    /// If each block of the directory has an entry in the index, the call reads the index and two
    /// blocks. In other directories it reads the whole list.
    pub fn lookup_bound(&self, directory: &Node) -> Bound {
        let Body::Directory { index: (_, count), .. } = directory.body else {
            return Bound::default();
        };
        let list = if u64::from(count) + 1 >= directory.stat.size.div_ceil(METADATA_BYTES as u64)
            && count > 0
        {
            self.blocks.metadata_bound(METADATA_BYTES as u64 + 1, METADATA_BYTES as u64 / 4)
        } else {
            self.list_bound(directory)
        };
        let index = u64::from(count);
        list.plus(if index == 0 {
            Bound::default()
        } else {
            self.blocks.metadata_bound(index * (12 + NAME_MAX as u64), 2 * index)
        })
    }

    /// Returns the worst case of listing a directory.
    pub fn list_bound(&self, directory: &Node) -> Bound {
        self.blocks.metadata_bound(directory.stat.size, directory.stat.size / 4)
    }

    /// Returns the worst case of reading one entry of a directory, after any earlier read.
    pub fn entry_bound(&self) -> Bound {
        self.blocks.metadata_bound(directory::STEP_BYTES_MAX, 3)
    }

    /// Returns the worst case of opening a file whose inode is already read.
    pub fn open_bound(&self) -> Bound {
        self.blocks.metadata_bound(FRAGMENT_BYTES as u64, 1).plus(self.blocks.source_bound(8))
    }

    /// Returns the worst case of reading `bytes` bytes of a file. A read that continues the
    /// previous one costs less, because the list of blocks continues too.
    pub fn read_bound(&self, file: &File, bytes: u64) -> Bound {
        let block_bytes = u64::from(self.superblock.block_bytes);
        let blocks = (bytes.min(file.size) + 2 * block_bytes - 2) / block_bytes;
        let list_bytes = 4 * u64::from(file.block_count);
        let list = self.blocks.metadata_bound(list_bytes, list_bytes / 64 + 1);
        // If data and metadata share one buffer, the list of block sizes is decoded again for every
        // 16 blocks.
        let again = self.blocks.metadata_bound(64, 1).times(blocks / 16 + 2);
        self.blocks.block_bound(block_bytes as usize, 1).times(blocks).plus(list).plus(again)
    }

    fn node(&mut self, block: u32, offset: u16) -> Result<Node, Error> {
        let at = Position {
            block: self.superblock.inodes.saturating_add(u64::from(block)),
            offset: u32::from(offset),
        };
        node::read(&mut self.blocks, at)
    }

    fn list_of(&self, directory: &Node) -> Result<List, Error> {
        let Body::Directory { list, index } = directory.body else {
            return Err(Error::NotADirectory);
        };
        Ok(List {
            table: self.superblock.directories,
            begin: list,
            size: directory.stat.size,
            index,
        })
    }

    fn fragment(&mut self, index: u32) -> Result<Stored, Error> {
        if index >= self.superblock.fragment_count {
            return Err(Error::Damaged(self.superblock.fragments));
        }
        let mut entry = [0; FRAGMENT_BYTES];
        self.table_entry(self.superblock.fragments, u64::from(index), &mut entry)?;
        Ok(Stored::data(u64_at(&entry, 0), u32_at(&entry, 8) & 0x01FF_FFFF))
    }

    fn id(&mut self, index: u16) -> Result<u32, Error> {
        if index >= self.superblock.id_count {
            return Err(Error::Damaged(self.superblock.ids));
        }
        let mut id = [0; 4];
        self.table_entry(self.superblock.ids, u64::from(index), &mut id)?;
        Ok(u32::from_le_bytes(id))
    }

    /// Reads an entry of a table. A separate list contains the offset of each metadata block of the
    /// table.
    fn table_entry(&mut self, table: u64, index: u64, entry: &mut [u8]) -> Result<(), Error> {
        let byte = index * entry.len() as u64;
        let mut block = [0; 8];
        let listed =
            table.checked_add(byte / METADATA_BYTES as u64 * 8).ok_or(Error::Damaged(table))?;
        self.blocks.source().read(listed, &mut block)?;
        let mut at = Position {
            block: u64::from_le_bytes(block),
            offset: (byte % METADATA_BYTES as u64) as u32,
        };
        self.blocks.read_metadata(&mut at, entry)
    }
}
