//! Reader: from an image to a tree.

use super::error::Error;
use super::format::{
    BLOCK_BYTES, ByteOrder, ENTRY_BYTES, Entry, FLAG_VERSION_2, IMAGE_BYTES_MAX, SUPERBLOCK_BYTES,
    Superblock, checksum, superblock_at,
};
use crate::{Inode, InodeIndex, Kind, Limit, Tree, TreeError};
use std::collections::BTreeMap;
use std::ops::Range;
use steadyfs_rom::cramfs::Node;
use steadyfs_rom::{Cramfs, InRam};

/// Bytes of the longest path of a directory: `PATH_MAX` of Linux.
const PATH_BYTES_MAX: usize = 4096;

/// Reads an image of version 1 or 2, in either byte order. Its pages have 4096 bytes.
///
/// The superblock of version 2 states the end of the image, and bytes behind this end are not read.
/// The superblock of version 1 states neither an end nor a checksum.
///
/// # Errors
/// [`Error`]: each kind that describes an image.
pub fn read(image: &[u8], limit: Limit) -> Result<Tree, Error> {
    let at = superblock_at(image).ok_or(Error::NotCramfs)?;
    let superblock = Superblock::parse(&image[at..]).map_err(|error| match error {
        steadyfs_rom::Error::Features(flags) => Error::Features { flags },
        _ => Error::NotCramfs,
    })?;
    let image = whole(image, at, &superblock)?;
    let mut memory = vec![0; Cramfs::<InRam<'_>>::MEMORY_BYTES];
    let pages = Cramfs::mount(InRam::new(image), &mut memory).map_err(|_| Error::NotCramfs)?;
    let (tree, names, taken, waiting) =
        (Tree::new(limit), vec![(0, 0..0)], BTreeMap::new(), Vec::new());
    let mut reader = Reader { image, order: superblock.order, pages, tree, names, taken, waiting };
    reader.read(&superblock.root)?;
    Ok(reader.tree)
}

/// Returns the image without the bytes behind its end. Checks the image as far as its version
/// allows.
fn whole<'a>(image: &'a [u8], at: usize, superblock: &Superblock) -> Result<&'a [u8], Error> {
    if superblock.flags & FLAG_VERSION_2 == 0 {
        return Ok(&image[..image.len().min(IMAGE_BYTES_MAX as usize)]);
    }
    let size = superblock.size as usize;
    if size > image.len() || size < at + SUPERBLOCK_BYTES {
        return Err(Error::Truncated { expected: size as u64, found: image.len() as u64 });
    }
    let found = checksum(&image[..size], at);
    match found == superblock.crc {
        true => Ok(&image[..size]),
        false => Err(Error::Checksum { expected: superblock.crc, found }),
    }
}

struct Reader<'m, 'a> {
    image: &'a [u8],
    order: ByteOrder,
    /// The image from which content is read.
    pages: Cramfs<'m, InRam<'a>>,
    tree: Tree,
    /// For each inode: its directory, and the range of its name in the image.
    names: Vec<(InodeIndex, Range<usize>)>,
    /// Start and end of each directory.
    taken: BTreeMap<usize, usize>,
    /// Queue of directories that are not read yet.
    waiting: Vec<Waiting>,
}

struct Waiting {
    index: InodeIndex,
    bytes: Range<usize>,
    path_bytes: usize,
}

impl Reader<'_, '_> {
    fn read(&mut self, root: &Entry) -> Result<(), Error> {
        if root.mode >> 12 != 0o04 {
            return Err(Error::Mode { path: "/".into(), mode: root.mode });
        }
        *self.tree.root_mut() = inode(root, Kind::Directory(BTreeMap::new()));
        self.enter(0, root, 0)?;
        while let Some(directory) = self.waiting.pop() {
            self.directory(directory)?;
        }
        Ok(())
    }

    /// Checks the range of a directory, and queues it.
    fn enter(&mut self, index: InodeIndex, entry: &Entry, path_bytes: usize) -> Result<(), Error> {
        let (offset, end) = (entry.offset, entry.offset + entry.size as usize);
        if offset == end {
            return Ok(());
        }
        if end > self.image.len() || offset < SUPERBLOCK_BYTES {
            return Err(Error::Directory { path: self.path(index), offset, end });
        }
        if self.taken.range(..end).next_back().is_some_and(|(_, &taken_end)| taken_end > offset) {
            return Err(Error::Shared { path: self.path(index), offset });
        }
        if path_bytes > PATH_BYTES_MAX {
            return Err(Error::TooDeep { path: self.path(index), limit: PATH_BYTES_MAX });
        }
        self.taken.insert(offset, end);
        self.waiting.push(Waiting { index, bytes: offset..end, path_bytes });
        Ok(())
    }

    fn directory(&mut self, directory: Waiting) -> Result<(), Error> {
        let image = self.image;
        let Range { start, end } = directory.bytes;
        let mut at = start;
        while at < end {
            let entry = Entry::parse(self.order, &image[..end], at);
            let name = entry
                .map(|entry| at + ENTRY_BYTES..at + ENTRY_BYTES + entry.name_bytes)
                .filter(|name| name.end <= end);
            let (Some(entry), Some(name)) = (entry, name) else {
                return Err(Error::Directory {
                    path: self.path(directory.index),
                    offset: start,
                    end,
                });
            };
            at = name.end;
            let zeros = image[name.clone()].iter().rev().take_while(|&&byte| byte == 0).count();
            self.entry(&directory, &entry, name.start..name.end - zeros)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        directory: &Waiting,
        entry: &Entry,
        name: Range<usize>,
    ) -> Result<(), Error> {
        let path_bytes = directory.path_bytes + 1 + name.len();
        let parent = directory.index;
        let tree_error = |reader: &Self, source| Error::Tree { path: reader.path(parent), source };
        let kind = self.kind(entry, parent, name.clone())?;
        let added = self.tree.insert(parent, &self.image[name.clone()], inode(entry, kind));
        let index = added.map_err(|source| tree_error(self, source))?;
        self.names.push((parent, name));
        match self.tree.inode(index).is_directory() {
            true => self.enter(index, entry, path_bytes),
            false => Ok(()),
        }
    }

    /// Returns the kind of an entry, with its content.
    fn kind(
        &mut self,
        entry: &Entry,
        parent: InodeIndex,
        name: Range<usize>,
    ) -> Result<Kind, Error> {
        Ok(match entry.mode >> 12 {
            0o01 => Kind::Fifo,
            0o02 => device(entry, false),
            0o04 => Kind::Directory(BTreeMap::new()),
            0o06 => device(entry, true),
            0o10 => Kind::File(self.content(entry, parent, name)?),
            0o12 => Kind::Symlink(self.content(entry, parent, name)?),
            0o14 => Kind::Socket,
            _ => return Err(Error::Mode { path: self.path_of(parent, name), mode: entry.mode }),
        })
    }

    fn content(
        &mut self,
        entry: &Entry,
        parent: InodeIndex,
        name: Range<usize>,
    ) -> Result<Vec<u8>, Error> {
        if u64::from(entry.size) > self.tree.bytes_left() {
            let source = TreeError::Bytes(self.tree.limit().bytes);
            return Err(Error::Tree { path: self.path(parent), source });
        }
        let node = Node::of(*entry);
        // A file may state any size. So memory is allocated only if all its pointers lie within the
        // image.
        let end = entry.offset + 4 * (entry.size as usize).div_ceil(BLOCK_BYTES);
        if end > self.image.len() {
            let source = steadyfs_rom::Error::End(end as u64);
            return Err(Error::Page { path: self.path_of(parent, name), page: 0, source });
        }
        let mut content = vec![0; entry.size as usize];
        for (page, out) in content.chunks_mut(BLOCK_BYTES).enumerate() {
            let read = self.pages.read_content(&node, (page * BLOCK_BYTES) as u64, out);
            read.map_err(|source| Error::Page {
                path: self.path_of(parent, name.clone()),
                page,
                source,
            })?;
        }
        Ok(content)
    }

    /// Returns the path of an inode, for messages.
    fn path(&self, index: InodeIndex) -> String {
        let (parent, name) = self.names[index].clone();
        self.path_of(parent, name)
    }

    fn path_of(&self, mut parent: InodeIndex, name: Range<usize>) -> String {
        let mut names = vec![name];
        while parent != 0 {
            names.push(self.names[parent].1.clone());
            parent = self.names[parent].0;
        }
        let path = names.into_iter().rev().flat_map(|name| [b"/", &self.image[name]].concat());
        String::from_utf8_lossy(&path.collect::<Vec<u8>>()).into_owned()
    }
}

fn inode(entry: &Entry, kind: Kind) -> Inode {
    let mut inode = Inode::new(kind, entry.mode & 0o7777);
    (inode.uid, inode.gid) = (entry.uid.into(), entry.gid.into());
    inode
}

/// Makes a device from its size field, which contains the device number. It has only the lowest 24
/// bits of the encoding of Linux.
fn device(entry: &Entry, is_block: bool) -> Kind {
    let (major, minor) = crate::device::numbers(entry.size);
    Kind::Device { is_block, major, minor }
}
