//! Builds the tree from the content of a volume.

use super::node::{INODE, InodeNode, Key, Place};
use super::state::State;
use super::volume::Volume;
use super::{Error, Fault, unpack};
use crate::tree::{Inode, InodeIndex, Kind, Limit, Tree, TreeError};
use crate::{device, path};
use std::collections::BTreeMap;

/// Inode number of the root.
const ROOT: u32 = 1;

/// Flag of an inode: its content is encrypted.
const ENCRYPTED: u32 = 0x40;

/// Makes the tree of the files that can be reached from the root.
pub(super) fn build(volume: &Volume<'_>, state: &State<'_>, limit: Limit) -> Result<Tree, Error> {
    let mut builder = Builder { volume, state, tree: Tree::new(limit), done: BTreeMap::new() };
    builder.root().map_err(|fault| Error::File { path: "/".into(), fault })?;
    builder.below_root()?;
    Ok(builder.tree)
}

struct Builder<'s, 'a> {
    volume: &'s Volume<'a>,
    state: &'s State<'a>,
    tree: Tree,
    /// Inodes that are already in the tree.
    done: BTreeMap<u32, InodeIndex>,
}

impl Builder<'_, '_> {
    fn root(&mut self) -> Result<(), Fault> {
        let root = self.inode(ROOT.into())?;
        if !root.is_directory() {
            return Err(Fault::Mode(root.mode.into()));
        }
        *self.tree.root_mut() = root;
        self.done.insert(ROOT, 0);
        Ok(())
    }

    /// Walks over the directories from the root down. Makes each inode once. A further name of an
    /// inode is a hard link.
    fn below_root(&mut self) -> Result<(), Error> {
        let mut waiting = vec![(ROOT, 0)];
        while let Some((directory, index)) = waiting.pop() {
            for (&name, &target) in self.state.names.get(&directory).into_iter().flatten() {
                let entry = self.entry(index, name, target);
                let (inode, below) = entry.map_err(|fault| Error::File {
                    path: path::path_of(&self.tree, index, name),
                    fault,
                })?;
                if self.tree.inode(below).is_directory() {
                    waiting.push((inode, below));
                }
                self.done.insert(inode, below);
            }
        }
        Ok(())
    }

    /// Adds a name of an inode. Makes the inode if it is not in the tree yet.
    fn entry(
        &mut self,
        directory: InodeIndex,
        name: &[u8],
        target: u64,
    ) -> Result<(u32, InodeIndex), Fault> {
        let inode = u32::try_from(target).map_err(|_| Fault::NoInode(target))?;
        let index = match self.done.get(&inode) {
            Some(&index) if self.tree.inode(index).is_directory() => {
                return Err(Fault::DirectoryTwice);
            }
            Some(&index) => index,
            None => {
                let made = self.inode(target)?;
                self.tree.add(made)?
            }
        };
        self.tree.link(directory, name, index)?;
        Ok((inode, index))
    }

    fn node(&self, target: u64) -> Result<(u32, InodeNode<'_>), Fault> {
        let found = u32::try_from(target)
            .ok()
            .and_then(|inode| Some((inode, *self.state.inodes.get(&inode)?)));
        let (inode, place): (u32, Place) = found.ok_or(Fault::NoInode(target))?;
        let key = Key { inode, kind: INODE, rest: 0 };
        let node = self.volume.node(place, INODE).filter(|node| node.key() == Some(key));
        let said =
            node.as_ref().and_then(InodeNode::parse).ok_or(Fault::Node { place, kind: INODE })?;
        if said.flags & ENCRYPTED != 0 {
            return Err(Fault::Encrypted);
        }
        Ok((inode, said))
    }

    fn inode(&self, target: u64) -> Result<Inode, Fault> {
        let (inode, said) = self.node(target)?;
        Ok(Inode {
            attributes: self.attributes(inode)?,
            kind: self.kind(inode, &said)?,
            mode: (said.mode & 0o7777) as u16,
            uid: said.uid,
            gid: said.gid,
            modified: said.modified,
        })
    }

    fn kind(&self, inode: u32, said: &InodeNode<'_>) -> Result<Kind, Fault> {
        Ok(match said.mode & 0o170_000 {
            0o040_000 => Kind::Directory(BTreeMap::new()),
            0o100_000 => {
                let size_bytes =
                    self.state.sizes.get(&inode).copied().unwrap_or(0).max(said.size_bytes);
                let size_bytes = self.check(size_bytes)?;
                Kind::File(unpack::assemble(self.volume, self.state, inode, size_bytes)?)
            }
            0o120_000 => Kind::Symlink(said.content.to_vec()),
            0o060_000 => special(said.content, true)?,
            0o020_000 => special(said.content, false)?,
            0o010_000 => Kind::Fifo,
            0o140_000 => Kind::Socket,
            _ => return Err(Fault::Mode(said.mode)),
        })
    }

    /// Returns the attributes of an inode. Each attribute is a name of an inode whose content is
    /// the value.
    fn attributes(&self, inode: u32) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, Fault> {
        let mut attributes = BTreeMap::new();
        let mut bytes = 0;
        for (&name, &target) in self.state.attributes.get(&inode).into_iter().flatten() {
            let (_, said) = self.node(target)?;
            bytes += (name.len() + said.content.len()) as u64;
            self.check(bytes)?;
            attributes.insert(name.to_vec(), said.content.to_vec());
        }
        Ok(attributes)
    }

    /// Refuses bytes beyond the limit before memory is allocated for them.
    fn check(&self, bytes: u64) -> Result<usize, TreeError> {
        let fits = usize::try_from(bytes).ok().filter(|_| bytes <= self.tree.bytes_left());
        fits.ok_or(TreeError::Bytes(self.tree.limit().bytes))
    }
}

/// Returns the numbers of a device. They are in four bytes, or in the first four of eight bytes.
fn special(content: &[u8], is_block: bool) -> Result<Kind, Fault> {
    if content.len() != 4 && content.len() != 8 {
        return Err(Fault::Device(content.len()));
    }
    let (major, minor) = device::numbers(super::node::u32_at(content, 0));
    Ok(Kind::Device { is_block, major, minor })
}
