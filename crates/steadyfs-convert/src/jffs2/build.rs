//! Builds the tree from the nodes.

use super::Error;
use super::attributes::Attributes;
use super::content::{self, BadNode};
use super::node::{EntryNode, InodeNode, Order};
use super::scan::Nodes;
use super::unpack::Fault;
use crate::device;
use crate::tree::{Inode, InodeIndex, Kind, Limit, Tree, TreeError};
use std::collections::BTreeMap;

/// Inode number of the root.
const ROOT: u32 = 1;

/// For each directory, its names and their inodes.
type Names<'a> = BTreeMap<u32, BTreeMap<&'a [u8], u32>>;

/// Makes the tree of the files that can be reached from the root.
pub(super) fn build(nodes: &Nodes<'_>, limit: Limit) -> Result<Tree, Error> {
    let mut builder = Builder {
        nodes,
        names: names(&nodes.entries),
        attributes: Attributes::new(nodes),
        tree: Tree::new(limit),
        done: BTreeMap::new(),
    };
    builder.root()?;
    builder.below_root()?;
    Ok(builder.tree)
}

/// Selects the valid names: for each name in each directory the newest entry. If this entry removes
/// the name, the name is not valid.
fn names<'a>(entries: &[EntryNode<'a>]) -> Names<'a> {
    let mut newest: BTreeMap<u32, BTreeMap<&'a [u8], (u32, u32)>> = BTreeMap::new();
    for entry in entries {
        let found = newest
            .entry(entry.directory)
            .or_default()
            .entry(entry.name)
            .or_insert((entry.version, entry.inode));
        if entry.version >= found.0 {
            *found = (entry.version, entry.inode);
        }
    }
    let held = |names: BTreeMap<&'a [u8], (u32, u32)>| {
        let names: BTreeMap<_, _> = names
            .into_iter()
            .map(|(name, (_, inode))| (name, inode))
            .filter(|&(_, inode)| inode != 0)
            .collect();
        names
    };
    newest.into_iter().map(|(directory, names)| (directory, held(names))).collect()
}

struct Builder<'n, 'a> {
    nodes: &'n Nodes<'a>,
    names: Names<'a>,
    attributes: Attributes<'n, 'a>,
    tree: Tree,
    /// Inodes that are already in the tree.
    done: BTreeMap<u32, InodeIndex>,
}

/// The reason why an inode cannot be made. The path for the message is added later.
enum Trouble {
    Bad(BadNode),
    Tree(TreeError),
    Mode(u32),
    Device(usize),
    Twice,
}

impl From<BadNode> for Trouble {
    fn from(bad: BadNode) -> Self {
        Self::Bad(bad)
    }
}

impl From<TreeError> for Trouble {
    fn from(error: TreeError) -> Self {
        Self::Tree(error)
    }
}

impl Trouble {
    fn of(self, path: String) -> Error {
        match self {
            Self::Bad(BadNode { at, expected_bytes, fault: Fault::Unpack }) => {
                Error::Unpack { path, at, expected_bytes }
            }
            Self::Bad(BadNode { at, fault: Fault::Compressor(compressor), .. }) => {
                Error::Compressor { path, at, compressor }
            }
            Self::Tree(error) => Error::Tree { path, error },
            Self::Mode(mode) => Error::Mode { path, mode },
            Self::Twice => Error::DirectoryTwice { path },
            Self::Device(bytes) => Error::Device { path, bytes },
        }
    }
}

impl<'a> Builder<'_, 'a> {
    /// Sets the root from its nodes. If it has no nodes, the root has mode 755, as in the kernel.
    fn root(&mut self) -> Result<(), Error> {
        let found = self.inode(ROOT).map_err(|trouble| trouble.of("/".into()))?;
        if let Some(root) = found {
            if !root.is_directory() {
                return Err(Error::Mode { path: "/".into(), mode: u32::from(root.mode) });
            }
            *self.tree.root_mut() = root;
        }
        self.done.insert(ROOT, 0);
        Ok(())
    }

    /// Walks over the directories from the root down. Makes each inode once. A further name of an
    /// inode is a hard link.
    fn below_root(&mut self) -> Result<(), Error> {
        let mut waiting = vec![(ROOT, 0)];
        while let Some((directory, index)) = waiting.pop() {
            for (name, inode) in self.names.remove(&directory).unwrap_or_default() {
                let entry = self.entry(index, name, inode);
                if let Some(below) = entry.map_err(|trouble| trouble.of(self.path(index, name)))? {
                    if self.tree.inode(below).is_directory() {
                        waiting.push((inode, below));
                    }
                    self.done.insert(inode, below);
                }
            }
        }
        Ok(())
    }

    /// Adds a name of an inode. Makes the inode if it is not in the tree yet. Returns `None` if the
    /// inode has no intact node.
    fn entry(
        &mut self,
        directory: InodeIndex,
        name: &[u8],
        inode: u32,
    ) -> Result<Option<InodeIndex>, Trouble> {
        let index = match self.done.get(&inode) {
            Some(&index) if self.tree.inode(index).is_directory() => return Err(Trouble::Twice),
            Some(&index) => index,
            None => match self.inode(inode)? {
                Some(inode) => self.tree.add(inode)?,
                None => {
                    self.tree.lose(1);
                    return Ok(None);
                }
            },
        };
        self.tree.link(directory, name, index)?;
        Ok(Some(index))
    }

    /// Makes an inode from its newest node. If an inode has no nodes but contains names, it is a
    /// directory of mode 755, as in the kernel.
    fn inode(&self, number: u32) -> Result<Option<Inode>, Trouble> {
        let parts = self.nodes.inodes.get(&number).map(Vec::as_slice).unwrap_or_default();
        let Some(newest) = content::newest(parts) else {
            let has_names = self.names.get(&number).is_some_and(|names| !names.is_empty());
            return Ok(has_names.then(|| Inode::new(Kind::Directory(BTreeMap::new()), 0o755)));
        };
        self.check(self.attributes.bytes_of(number))?;
        let kind = self.kind(newest, parts)?;
        Ok(Some(Inode {
            kind,
            mode: (newest.mode & 0o7777) as u16,
            uid: newest.uid.into(),
            gid: newest.gid.into(),
            modified: newest.modified.into(),
            attributes: self.attributes.of(number),
        }))
    }

    fn kind(&self, newest: &InodeNode<'_>, parts: &[InodeNode<'_>]) -> Result<Kind, Trouble> {
        Ok(match newest.mode & 0o170_000 {
            0o040_000 => Kind::Directory(BTreeMap::new()),
            0o100_000 => {
                self.check(newest.size_bytes.into())?;
                Kind::File(content::assemble(parts, newest.size_bytes)?)
            }
            0o120_000 => Kind::Symlink(self.own_content(newest)?),
            0o060_000 => self.device(newest, true)?,
            0o020_000 => self.device(newest, false)?,
            0o010_000 => Kind::Fifo,
            0o140_000 => Kind::Socket,
            _ => return Err(Trouble::Mode(newest.mode)),
        })
    }

    /// Returns the whole content of the newest node, for an inode that is not a file.
    fn own_content(&self, newest: &InodeNode<'_>) -> Result<Vec<u8>, Trouble> {
        self.check(newest.unpacked_bytes.into())?;
        Ok(content::unpack(newest)?)
    }

    /// Returns the numbers of a device: two bytes in the old form, or four bytes in the new form.
    fn device(&self, newest: &InodeNode<'_>, is_block: bool) -> Result<Kind, Trouble> {
        let numbers = self.own_content(newest)?;
        let order: Order = self.nodes.order;
        let (major, minor) = match numbers.len() {
            2 => (u32::from(order.u16(&numbers, 0) >> 8), u32::from(order.u16(&numbers, 0) & 0xff)),
            4 => device::numbers(order.u32(&numbers, 0)),
            bytes => return Err(Trouble::Device(bytes)),
        };
        Ok(Kind::Device { is_block, major, minor })
    }

    /// Refuses bytes beyond the limit before memory is allocated for them.
    fn check(&self, bytes: u64) -> Result<(), TreeError> {
        if bytes > self.tree.bytes_left() {
            return Err(TreeError::Bytes(self.tree.limit().bytes));
        }
        Ok(())
    }

    /// Returns the path of a name for a message. It is computed only if there is a message.
    fn path(&self, directory: InodeIndex, name: &[u8]) -> String {
        crate::path::path_of(&self.tree, directory, name)
    }
}
