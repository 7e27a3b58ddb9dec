//! Reader: from an image to a tree.
//!
//! An image may be malicious. For example, it may force the reader to decode the same block for
//! each of a million files. So each decoded byte, each entry and each attribute is counted as work.
//! If the work exceeds a limit, the read ends with an error. Files are read in the order of their
//! content, so that shared blocks are decoded only once.

use super::ReadError;
use crate::{Inode, InodeIndex, Kind, Limit, Tree, TreeError};
use std::collections::{BTreeMap, HashMap, HashSet};
use steadyfs_rom::squash::{AttributeCursor, Cursor, Entry, File, Needs, Node};
use steadyfs_rom::{InRam, Kind as RomKind, Squash};

/// Bytes of the longest path of a directory: `PATH_MAX` of Linux.
const PATH_BYTES_MAX: usize = 4096;
/// Number of entries of a directory that are read together. So the blocks of inodes, of owners and
/// of attributes are each decoded once for all these entries.
const BATCH: usize = 1024;
/// Work of an entry and of an attribute, in decoded bytes.
const ENTRY_WORK: u64 = 64;
const ATTRIBUTE_WORK: u64 = 256;

type Attributes = BTreeMap<Vec<u8>, Vec<u8>>;
type RomResult<T> = Result<T, steadyfs_rom::Error>;

/// Reads an image, with hard links, owners, times and attributes.
///
/// Two names with the same inode number are a hard link. Bytes behind the image, such as a hash
/// tree, are not read.
///
/// # Errors
/// [`ReadError`]: each kind.
pub fn read(image: &[u8], limit: Limit) -> Result<Tree, ReadError> {
    let needs = Needs::of(&mut InRam::new(image)).map_err(ReadError::Image)?;
    let mut memory = vec![0; needs.both];
    let squash = Squash::mount(InRam::new(image), &mut memory).map_err(ReadError::Image)?;
    let mut reader = Reader::new(squash, limit);
    reader.directories()?;
    reader.contents()?;
    Ok(reader.tree)
}

struct Reader<'m, 'i> {
    squash: Squash<'m, InRam<'i>>,
    tree: Tree,
    /// The directory and the name of each inode.
    names: Vec<(InodeIndex, Box<[u8]>)>,
    /// Inodes other than directories, by their number.
    linked: HashMap<u32, InodeIndex>,
    /// Numbers of directories.
    entered: HashSet<u32>,
    /// Sets of attributes that are already read.
    sets: HashMap<u32, Attributes>,
    /// Files whose content is not read yet.
    files: Vec<(InodeIndex, File)>,
    /// Number of bytes of these files.
    promised: u64,
    /// Directories that are not read yet.
    waiting: Vec<Waiting>,
    /// Work except decoding, and the maximum of all work.
    work: u64,
    work_max: u64,
}

struct Waiting {
    index: InodeIndex,
    node: Node,
    path_bytes: usize,
}

/// The node of an entry, with the parts that have been read so far.
struct Found {
    name: Box<[u8]>,
    node: Node,
    owner: (u32, u32),
}

impl<'m, 'i> Reader<'m, 'i> {
    fn new(squash: Squash<'m, InRam<'i>>, limit: Limit) -> Self {
        // For an image that is not malicious, each block is decoded about twice. Files share the
        // block of a tail, and several parts of the reader need the same metadata.
        let work_max = limit.bytes.saturating_mul(8).saturating_add(64 << 20);
        Self {
            squash,
            tree: Tree::new(limit),
            names: vec![(0, Box::default())],
            linked: HashMap::new(),
            entered: HashSet::new(),
            sets: HashMap::new(),
            files: Vec::new(),
            promised: 0,
            waiting: Vec::new(),
            work: 0,
            work_max,
        }
    }

    /// Reads everything except the content of files.
    fn directories(&mut self) -> Result<(), ReadError> {
        let root = self.squash.root().map_err(ReadError::Image)?;
        if !root.is_directory() {
            return Err(ReadError::Image(steadyfs_rom::Error::NotADirectory));
        }
        let owner = self.squash.owner(&root).map_err(ReadError::Image)?;
        let attributes = self.attributes(&root, 0, b"")?;
        *self.tree.root_mut() = inode(&root, owner, Kind::Directory(BTreeMap::new()), attributes);
        self.enter(0, root, 0)?;
        while let Some(directory) = self.waiting.pop() {
            let mut cursor = Cursor::default();
            while self.batch(&directory, &mut cursor)? {}
        }
        Ok(())
    }

    /// Queues a directory with a new number.
    fn enter(&mut self, index: InodeIndex, node: Node, path_bytes: usize) -> Result<(), ReadError> {
        if !self.entered.insert(node.stat().inode) {
            return Err(ReadError::DirectoryTwice { path: self.path(index) });
        }
        if path_bytes > PATH_BYTES_MAX {
            return Err(ReadError::TooDeep { path: self.path(index), limit: PATH_BYTES_MAX });
        }
        self.waiting.push(Waiting { index, node, path_bytes });
        Ok(())
    }

    /// Reads some entries of a directory. Returns true if there were any.
    fn batch(&mut self, directory: &Waiting, cursor: &mut Cursor) -> Result<bool, ReadError> {
        let found = self
            .find(directory, cursor)
            .map_err(|source| self.error(directory.index, b"", source))?;
        self.count(found.len() as u64 * ENTRY_WORK)?;
        let is_some = !found.is_empty();
        for found in found {
            self.entry(directory, found)?;
        }
        Ok(is_some)
    }

    /// Reads the next entries, then all their inodes, then all their owners.
    fn find(&mut self, directory: &Waiting, cursor: &mut Cursor) -> RomResult<Vec<Found>> {
        let mut entries: Vec<Entry> = Vec::new();
        while entries.len() < BATCH
            && let Some(entry) = self.squash.list(&directory.node, cursor)?
        {
            entries.push(entry);
        }
        let nodes = entries
            .iter()
            .map(|entry| self.squash.entry_node(entry))
            .collect::<RomResult<Vec<_>>>()?;
        let found = entries.iter().zip(nodes).map(|(entry, node)| {
            let owner = self.squash.owner(&node)?;
            Ok(Found { name: entry.name().into(), node, owner })
        });
        found.collect()
    }

    fn entry(&mut self, directory: &Waiting, found: Found) -> Result<(), ReadError> {
        let Found { name, node, owner } = found;
        let (parent, stat) = (directory.index, node.stat());
        let known = if node.is_directory() { None } else { self.linked.get(&stat.inode).copied() };
        if let Some(known) = known {
            return self
                .tree
                .link(parent, &name, known)
                .map_err(|source| self.tree_error(parent, &name, source));
        }
        let attributes = self.attributes(&node, parent, &name)?;
        let kind = self.kind(&node, parent, &name)?;
        let added = self.tree.insert(parent, &name, inode(&node, owner, kind, attributes));
        let index = added.map_err(|source| self.tree_error(parent, &name, source))?;
        let path_bytes = directory.path_bytes + 1 + name.len();
        self.names.push((parent, name));
        if node.is_directory() {
            return self.enter(index, node, path_bytes);
        }
        self.linked.insert(stat.inode, index);
        if stat.kind == RomKind::File {
            let file =
                self.squash.open_node(&node).map_err(|source| self.error(index, b"", source))?;
            self.files.push((index, file));
        }
        Ok(())
    }

    /// Returns the kind of an inode. The content of files is read later, but its size is checked
    /// now.
    fn kind(&mut self, node: &Node, parent: InodeIndex, name: &[u8]) -> Result<Kind, ReadError> {
        let size = node.stat().size;
        Ok(match node.stat().kind {
            RomKind::Directory => Kind::Directory(BTreeMap::new()),
            RomKind::File => {
                self.room(self.promised.saturating_add(size), parent, name)?;
                self.promised += size;
                Kind::File(Vec::new())
            }
            RomKind::Symlink => {
                self.room(size, parent, name)?;
                let mut target = vec![0; size as usize];
                self.squash
                    .read_link(node, &mut target)
                    .map_err(|source| self.error(parent, name, source))?;
                self.count(size)?;
                Kind::Symlink(target)
            }
            RomKind::BlockDevice(number) => device(true, number),
            RomKind::CharacterDevice(number) => device(false, number),
            RomKind::Fifo => Kind::Fifo,
            RomKind::Socket => Kind::Socket,
        })
    }

    fn attributes(
        &mut self,
        node: &Node,
        parent: InodeIndex,
        name: &[u8],
    ) -> Result<Attributes, ReadError> {
        let set = node.attribute_set();
        if set.is_none() && node.stat().kind != RomKind::Symlink {
            return Ok(Attributes::new());
        }
        if let Some(known) = set.and_then(|set| self.sets.get(&set)) {
            let (work, known) = (known.len() as u64 * ATTRIBUTE_WORK, known.clone());
            self.count(work)?;
            return Ok(known);
        }
        let mut attributes = Attributes::new();
        let mut cursor = AttributeCursor::default();
        let mut bytes = 0;
        loop {
            let next = self
                .squash
                .attribute(node, &mut cursor)
                .map_err(|source| self.error(parent, name, source))?;
            let Some(attribute) = next else { break };
            bytes += (attribute.name().len() + attribute.value_bytes()) as u64;
            self.count(ATTRIBUTE_WORK)?;
            self.room(bytes, parent, name)?;
            let mut value = vec![0; attribute.value_bytes()];
            self.squash
                .attribute_value(&attribute, &mut value)
                .map_err(|source| self.error(parent, name, source))?;
            if attributes.insert(attribute.name().to_vec(), value).is_some() {
                let name = String::from_utf8_lossy(attribute.name()).into_owned();
                return Err(ReadError::AttributeTwice { path: self.path(parent), name });
            }
        }
        if let Some(set) = set {
            self.sets.insert(set, attributes.clone());
        }
        Ok(attributes)
    }

    /// Reads the content of all files, in the order of its offsets in the image.
    fn contents(&mut self) -> Result<(), ReadError> {
        let mut files = std::mem::take(&mut self.files);
        files.sort_by_key(|(_, file)| file.place());
        for (index, file) in files {
            let content = self.content(index, file)?;
            self.tree.fill(index, content).map_err(|source| self.tree_error(index, b"", source))?;
        }
        Ok(())
    }

    fn content(&mut self, index: InodeIndex, mut file: File) -> Result<Vec<u8>, ReadError> {
        let block_bytes = self.squash.superblock().block_bytes as usize;
        let limit = TreeError::Bytes(self.tree.limit().bytes);
        let size =
            usize::try_from(file.size()).map_err(|_| self.tree_error(index, b"", limit.clone()))?;
        let mut content = Vec::new();
        content.try_reserve_exact(size).map_err(|_| self.tree_error(index, b"", limit))?;
        while content.len() < size {
            let at = content.len();
            content.resize(size.min(at + block_bytes), 0);
            let read = self.squash.read(&mut file, at as u64, &mut content[at..]);
            read.map_err(|source| self.error(index, b"", source))?;
            self.count(0)?;
        }
        Ok(content)
    }

    /// Refuses bytes beyond the limit of the tree before memory is allocated for them.
    fn room(&self, bytes: u64, parent: InodeIndex, name: &[u8]) -> Result<(), ReadError> {
        match bytes <= self.tree.bytes_left() {
            true => Ok(()),
            false => Err(self.tree_error(parent, name, TreeError::Bytes(self.tree.limit().bytes))),
        }
    }

    /// Counts work, and checks it together with the decoded bytes against the limit.
    fn count(&mut self, work: u64) -> Result<(), ReadError> {
        self.work += work;
        match self.work.saturating_add(self.squash.decoded_bytes()) <= self.work_max {
            true => Ok(()),
            false => Err(ReadError::Work { limit: self.work_max }),
        }
    }

    fn error(&self, index: InodeIndex, name: &[u8], source: steadyfs_rom::Error) -> ReadError {
        ReadError::At { path: self.path_of(index, name), source }
    }

    fn tree_error(&self, index: InodeIndex, name: &[u8], source: TreeError) -> ReadError {
        ReadError::Tree { path: self.path_of(index, name), source }
    }

    /// Returns the path of an inode, for messages.
    fn path(&self, index: InodeIndex) -> String {
        self.path_of(index, b"")
    }

    /// Returns the path of a name in a directory. If the name is empty, returns the path of the
    /// inode itself.
    fn path_of(&self, index: InodeIndex, name: &[u8]) -> String {
        let mut names = if name.is_empty() { Vec::new() } else { vec![name] };
        let mut at = index;
        while at != 0 {
            names.push(&self.names[at].1);
            at = self.names[at].0;
        }
        let path: Vec<u8> =
            names.into_iter().rev().flat_map(|name| [b"/", name].concat()).collect();
        if path.is_empty() { "/".into() } else { String::from_utf8_lossy(&path).into_owned() }
    }
}

fn inode(node: &Node, (uid, gid): (u32, u32), kind: Kind, attributes: Attributes) -> Inode {
    let stat = node.stat();
    Inode { kind, mode: stat.mode, uid, gid, modified: stat.modified.into(), attributes }
}

/// Makes a device from its number.
fn device(is_block: bool, number: u32) -> Kind {
    let (major, minor) = crate::device::numbers(number);
    Kind::Device { is_block, major, minor }
}
