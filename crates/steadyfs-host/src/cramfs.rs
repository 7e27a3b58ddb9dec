//! Images of cramfs, read and written: a root file system that was packed for Linux becomes a volume, and a volume such an image.
//!
//! ```text
//! superblock:  | 0x28CD3D45 | size | flags | 0 | "Compressed ROMFS" | crc, edition, blocks, files | name (16) | inode of the root |      32 bits each
//! inode:       | mode 16, user 16 | size 24, group 8 | name ÷ 4: 6, place ÷ 4: 26 |  name, with zeros to 4 bytes                       little-endian
//! directory:   inodes with their names, sorted
//! file, link:  | end of block 0 | end of block 1 | … | block 0 | block 1 | …       a block: 4 KiB by zlib; none: zeros
//! ```
//!
//! Source: `Documentation/filesystems/cramfs.rst` and `include/uapi/linux/cramfs_fs.h` of Linux.

use std::collections::HashSet;

const MAGIC: u32 = 0x28CD_3D45;
const SIGNATURE: &[u8; 16] = b"Compressed ROMFS";
/// The second version of superblocks, which has a checksum; directories are sorted; blocks may be holes.
const FLAGS: u32 = 1 | 2 | 0x100;
/// Flags of which a reader needs to know nothing, and that of a root behind a boot sector.
const KNOWN_FLAGS: u32 = 0xFF | 0x100 | 0x200 | 0x400;
const HEADER_BYTES: usize = 76;
const INODE_BYTES: usize = 12;
const BLOCK_BYTES: usize = 4096;
const DEPTH_MAX: usize = 256;
const NAME_BYTES_MAX: usize = 252;
/// Bytes of an image, and of a file: what the fields hold.
const IMAGE_BYTES_MAX: usize = 1 << 28;
const FILE_BYTES_MAX: usize = (1 << 24) - 1;
const TYPE: u16 = 0o170_000;
const DIRECTORY: u16 = 0o040_000;
const FILE: u16 = 0o100_000;
const LINK: u16 = 0o120_000;

/// Why an image is none, or cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CramfsError {
    /// It does not begin as an image of cramfs does.
    #[error("is no image of cramfs; expected {MAGIC:#x} at byte 0 or 512")]
    NoImage,
    /// It was made for a processor of the other byte order, or with block pointers of a newer kind.
    #[error("is an image of cramfs of a kind that is not read: {0}")]
    Kind(&'static str),
    /// A field names a place outside of the image, or one that was named before.
    #[error("/{path}: {what} at byte {at} lies outside of the image, or is there twice")]
    Place {
        /// Of which file or directory.
        path: String,
        /// What.
        what: &'static str,
        /// Where.
        at: usize,
    },
    /// A block cannot be decompressed.
    #[error("/{path}: block {block} cannot be decompressed")]
    Block {
        /// Of which file.
        path: String,
        /// Which block.
        block: usize,
    },
    /// A name that is not UTF-8, or that no file has.
    #[error("/{path}: has a name that is empty or not UTF-8")]
    Name {
        /// Where.
        path: String,
    },
    /// Directories in each other without end.
    #[error("/{path}: lies below {DEPTH_MAX} directories; expected fewer")]
    Depth {
        /// Where.
        path: String,
    },
    /// What an image of cramfs cannot hold.
    #[error("/{path}: {what}, which cramfs does not hold")]
    Unfit {
        /// Of which file or directory.
        path: String,
        /// What.
        what: &'static str,
    },
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A directory.
    Directory,
    /// A file.
    File,
    /// A symbolic link, and what it names.
    Link(String),
}

/// A file, directory or link, below the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Path from the root.
    pub path: String,
    /// What it is.
    pub kind: NodeKind,
    /// Mode, without the type.
    pub mode: u16,
    /// Owner.
    pub uid: u16,
    /// Group.
    pub gid: u8,
    /// Bytes of a file.
    pub size: u32,
    place: usize,
}

impl Node {
    /// A node for an image that is written.
    pub fn new(path: String, kind: NodeKind, mode: u16, uid: u16, gid: u8) -> Self {
        Self { path, kind, mode, uid, gid, size: 0, place: 0 }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Directories between it and the root.
    pub fn depth(&self) -> usize {
        self.path.matches('/').count()
    }
}

/// An image that is read.
#[derive(Debug)]
pub struct Cramfs {
    bytes: Vec<u8>,
    /// The root's mode, owner and group.
    pub root: Node,
    /// All below the root: each directory before what it holds.
    pub nodes: Vec<Node>,
}

struct Inode {
    mode: u16,
    uid: u16,
    size: usize,
    gid: u8,
    name_bytes: usize,
    place: usize,
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

impl Inode {
    fn parse(bytes: &[u8], at: usize) -> Option<Self> {
        let (first, second, third) = (word(bytes, at)?, word(bytes, at + 4)?, word(bytes, at + 8)?);
        Some(Self {
            mode: first as u16,
            uid: (first >> 16) as u16,
            size: (second & 0xFF_FFFF) as usize,
            gid: (second >> 24) as u8,
            name_bytes: (third & 0x3F) as usize * 4,
            place: (third >> 6) as usize * 4,
        })
    }

    fn emit(&self) -> [u8; INODE_BYTES] {
        let words = [
            u32::from(self.mode) | u32::from(self.uid) << 16,
            self.size as u32 | u32::from(self.gid) << 24,
            (self.name_bytes / 4) as u32 | ((self.place / 4) as u32) << 6,
        ];
        let mut bytes = [0; INODE_BYTES];
        for (place, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        bytes
    }
}

/// Whether bytes begin as an image of cramfs does.
pub fn is_cramfs(head: &[u8]) -> bool {
    [0, 512].iter().any(|&at| word(head, at).is_some_and(|magic| magic == MAGIC || magic == MAGIC.swap_bytes()))
}

impl Cramfs {
    /// Reads the tree of an image. Contents are read one by one: [`content`](Self::content).
    ///
    /// # Errors
    /// [`CramfsError`]: every place is looked at before it is read, and no directory is read twice.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, CramfsError> {
        if !is_cramfs(&bytes) {
            return Err(CramfsError::NoImage);
        }
        let start = if word(&bytes, 0) == Some(MAGIC) { 0 } else { 512 };
        if word(&bytes, start) != Some(MAGIC) {
            return Err(CramfsError::Kind("its bytes are in the other order"));
        }
        let flags = word(&bytes, start + 8).ok_or(CramfsError::NoImage)?;
        if flags & !KNOWN_FLAGS != 0 {
            return Err(CramfsError::Kind("its block pointers are of the newer kind"));
        }
        let root = Inode::parse(&bytes, start + 64).ok_or(CramfsError::NoImage)?;
        let own = Node {
            size: root.size as u32,
            place: root.place,
            ..Node::new(String::new(), NodeKind::Directory, root.mode & !TYPE, root.uid, root.gid)
        };
        let mut image = Self { bytes, root: own, nodes: Vec::new() };
        let mut seen = HashSet::new();
        image.descend("", root.place, root.size, 0, &mut seen)?;
        Ok(image)
    }

    fn descend(
        &mut self,
        path: &str,
        place: usize,
        bytes: usize,
        depth: usize,
        seen: &mut HashSet<usize>,
    ) -> Result<(), CramfsError> {
        let outside = |what, at| CramfsError::Place { path: path.to_string(), what, at };
        if depth == DEPTH_MAX {
            return Err(CramfsError::Depth { path: path.to_string() });
        }
        let end = place + bytes;
        if bytes > 0 && (end > self.bytes.len() || !seen.insert(place)) {
            return Err(outside("a directory", place));
        }
        let mut at = place;
        while at < end {
            let inode = Inode::parse(&self.bytes[..end], at).ok_or_else(|| outside("an inode", at))?;
            let name = at + INODE_BYTES..at + INODE_BYTES + inode.name_bytes;
            let name = self.bytes[..end].get(name).ok_or_else(|| outside("a name", at))?;
            let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
            let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty() && !name.contains('/'));
            let name = name.ok_or_else(|| CramfsError::Name { path: path.to_string() })?;
            at += INODE_BYTES + inode.name_bytes;
            let path = if path.is_empty() { name.to_string() } else { format!("{path}/{name}") };
            self.add(path, &inode, depth, seen)?;
        }
        Ok(())
    }

    fn add(&mut self, path: String, inode: &Inode, depth: usize, seen: &mut HashSet<usize>) -> Result<(), CramfsError> {
        let mut node = Node {
            size: inode.size as u32,
            place: inode.place,
            ..Node::new(path.clone(), NodeKind::File, inode.mode & !TYPE, inode.uid, inode.gid)
        };
        match inode.mode & TYPE {
            FILE => {}
            LINK => {
                let target = String::from_utf8(self.content(&node)?).map_err(|_| CramfsError::Name { path })?;
                node.kind = NodeKind::Link(target);
            }
            DIRECTORY => {
                self.nodes.push(Node { kind: NodeKind::Directory, ..node });
                return self.descend(&path, inode.place, inode.size, depth + 1, seen);
            }
            _ => return Err(CramfsError::Unfit { path, what: "a device, socket or pipe is of the image" }),
        }
        self.nodes.push(node);
        Ok(())
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// [`CramfsError::Place`], [`CramfsError::Block`]. At most 16 MiB are taken, and 4 KiB for each pointer that is there.
    pub fn content(&self, node: &Node) -> Result<Vec<u8>, CramfsError> {
        let (size, path) = (node.size as usize, &node.path);
        let blocks = size.div_ceil(BLOCK_BYTES);
        let outside = |what, at| CramfsError::Place { path: path.clone(), what, at };
        let mut start = node.place + 4 * blocks;
        if start > self.bytes.len() {
            return Err(outside("the table of blocks", node.place));
        }
        let mut content = Vec::new();
        for block in 0..blocks {
            let bytes = BLOCK_BYTES.min(size - block * BLOCK_BYTES);
            let end = word(&self.bytes, node.place + 4 * block).map_or(usize::MAX, |end| end as usize);
            let stored = self.bytes.get(start..end).ok_or_else(|| outside("a block", start))?;
            let target = content.len() + bytes;
            if !stored.is_empty() {
                let made = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(stored, BLOCK_BYTES);
                let made = made.ok().filter(|made| made.len() >= bytes);
                content.extend_from_slice(&made.ok_or_else(|| CramfsError::Block { path: path.clone(), block })?[..bytes]);
            }
            content.resize(target, 0);
            start = end;
        }
        Ok(content)
    }
}

/// Makes an image of a root directory and what is below it: nodes in the order of [`Cramfs::nodes`], entries of a directory sorted by the bytes of their
/// names. `content` gives the bytes of a file. The same input makes the same bytes.
///
/// # Errors
/// [`CramfsError::Unfit`], and those of `content`.
pub fn write<E: From<CramfsError>>(
    root: &Node,
    nodes: &[Node],
    mut content: impl FnMut(&Node) -> Result<Vec<u8>, E>,
) -> Result<Vec<u8>, E> {
    let unfit = |node: &Node, what| CramfsError::Unfit { path: node.path.clone(), what };
    // Where the table of each directory is, the root's first; and how many bytes it has.
    let mut tables = vec![(HEADER_BYTES, 0)];
    let mut parents = Vec::with_capacity(nodes.len());
    let mut open = vec![0];
    for node in nodes {
        if node.name().len() > NAME_BYTES_MAX {
            return Err(unfit(node, "its name has more than 252 bytes").into());
        }
        open.truncate(node.depth() + 1);
        let parent = open[open.len() - 1];
        parents.push(parent);
        tables[parent].1 += INODE_BYTES + node.name().len().next_multiple_of(4);
        if node.kind == NodeKind::Directory {
            open.push(tables.len());
            tables.push((0, 0));
        }
    }
    let mut end = HEADER_BYTES;
    for (place, bytes) in &mut tables {
        *place = end;
        end += *bytes;
    }
    let mut image = vec![0; end];
    let mut next: Vec<usize> = tables.iter().map(|(place, _)| *place).collect();
    let mut directories = 0;
    for (node, &parent) in nodes.iter().zip(&parents) {
        let (kind, place, size) = match &node.kind {
            NodeKind::Directory => {
                directories += 1;
                let (place, size) = tables[directories];
                (DIRECTORY, place, size)
            }
            NodeKind::File => append(&mut image, node, FILE, &content(node)?)?,
            NodeKind::Link(target) => append(&mut image, node, LINK, target.as_bytes())?,
        };
        let name = node.name().as_bytes();
        let name_bytes = name.len().next_multiple_of(4);
        let place = if size == 0 { 0 } else { place };
        let inode = Inode { mode: node.mode | kind, uid: node.uid, size, gid: node.gid, name_bytes, place };
        let at = next[parent];
        image[at..at + INODE_BYTES].copy_from_slice(&inode.emit());
        image[at + INODE_BYTES..at + INODE_BYTES + name.len()].copy_from_slice(name);
        next[parent] = at + INODE_BYTES + name_bytes;
        if image.len() > IMAGE_BYTES_MAX {
            return Err(unfit(node, "the image would have more than 256 MiB").into());
        }
    }
    image.resize(image.len().next_multiple_of(BLOCK_BYTES), 0);
    let (_, size) = tables[0];
    let place = if size == 0 { 0 } else { HEADER_BYTES };
    let own = Inode { mode: root.mode | DIRECTORY, uid: root.uid, size, gid: root.gid, name_bytes: 0, place };
    finish(&mut image, &own, nodes.len() + 1);
    Ok(image)
}

/// Adds the blocks of a file or link; where they are, and how many bytes it has.
fn append(image: &mut Vec<u8>, node: &Node, kind: u16, bytes: &[u8]) -> Result<(u16, usize, usize), CramfsError> {
    if bytes.len() > FILE_BYTES_MAX {
        return Err(CramfsError::Unfit { path: node.path.clone(), what: "it has 16 MiB or more" });
    }
    let place = image.len();
    let mut pointer = place;
    image.resize(place + 4 * bytes.len().div_ceil(BLOCK_BYTES), 0);
    for block in bytes.chunks(BLOCK_BYTES) {
        if block.iter().any(|&byte| byte != 0) {
            image.extend(miniz_oxide::deflate::compress_to_vec_zlib(block, 9));
        }
        let end = image.len() as u32;
        image[pointer..pointer + 4].copy_from_slice(&end.to_le_bytes());
        pointer += 4;
    }
    image.resize(image.len().next_multiple_of(4), 0);
    Ok((kind, place, bytes.len()))
}

/// Writes the superblock.
fn finish(image: &mut [u8], root: &Inode, files: usize) {
    let size = image.len() as u32;
    let mut put = |at: usize, value: u32| image[at..at + 4].copy_from_slice(&value.to_le_bytes());
    put(0, MAGIC);
    put(4, size);
    put(8, FLAGS);
    put(40, size / BLOCK_BYTES as u32);
    put(44, files as u32);
    image[16..32].copy_from_slice(SIGNATURE);
    image[48..58].copy_from_slice(b"Compressed");
    image[64..HEADER_BYTES].copy_from_slice(&root.emit());
    let sum = crc(image);
    image[32..36].copy_from_slice(&sum.to_le_bytes());
}

/// CRC-32 as of zlib.
fn crc(bytes: &[u8]) -> u32 {
    let table: [u32; 256] = std::array::from_fn(|byte| {
        (0..8).fold(byte as u32, |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 })
    });
    !bytes.iter().fold(!0, |sum, &byte| table[(sum as u8 ^ byte) as usize] ^ sum >> 8)
}
