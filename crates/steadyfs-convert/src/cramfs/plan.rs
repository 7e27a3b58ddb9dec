//! The entries of an image, and their order.

use super::error::Error;
use super::format::ENTRY_BYTES;
use crate::{InodeIndex, Kind, Tree};
use std::collections::VecDeque;

/// All entries of the image. The entries of a directory are consecutive, and sorted by the bytes of
/// their names. Directories have the same order as their own entries.
pub(super) struct Plan<'a> {
    /// All nodes. The root is the first node.
    pub nodes: Vec<Node<'a>>,
}

/// A name and its inode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    pub inode: InodeIndex,
    pub name: &'a [u8],
    /// Index of the directory that contains the node.
    parent: usize,
    /// Number of bytes of the directory's entries. It is 0 if the node is not a directory.
    pub directory_bytes: u64,
    /// True if no earlier node has the same inode.
    pub is_first: bool,
}

impl<'a> Plan<'a> {
    /// Lists the entries of a tree.
    ///
    /// # Errors
    /// [`Error::DirectoryTwice`].
    pub fn new(tree: &'a Tree) -> Result<Self, Error> {
        let mut plan = Self {
            nodes: vec![Node {
                inode: 0,
                name: b"",
                parent: 0,
                directory_bytes: 0,
                is_first: true,
            }],
        };
        let mut seen = vec![false; tree.inodes().len()];
        seen[0] = true;
        let mut waiting = VecDeque::from([0]);
        while let Some(parent) = waiting.pop_front() {
            let Kind::Directory(entries) = &tree.inode(plan.nodes[parent].inode).kind else {
                continue;
            };
            for (name, &inode) in entries {
                let is_first = !std::mem::replace(&mut seen[inode], true);
                plan.nodes[parent].directory_bytes +=
                    (ENTRY_BYTES + name.len().next_multiple_of(4)) as u64;
                plan.nodes.push(Node { inode, name, parent, directory_bytes: 0, is_first });
                let number = plan.nodes.len() - 1;
                match tree.inode(inode).is_directory() {
                    true if is_first => waiting.push_back(number),
                    true => return Err(Error::DirectoryTwice { path: plan.path(number) }),
                    false => {}
                }
            }
        }
        Ok(plan)
    }

    /// Returns the path of a node, for messages.
    pub fn path(&self, mut number: usize) -> String {
        let mut names = vec![self.nodes[number].name];
        while self.nodes[number].parent != 0 {
            number = self.nodes[number].parent;
            names.push(self.nodes[number].name);
        }
        let path: Vec<u8> =
            names.into_iter().rev().flat_map(|name| [b"/", name].concat()).collect();
        String::from_utf8_lossy(&path).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Inode, Limit};
    use std::collections::BTreeMap;

    fn directory() -> Inode {
        Inode::new(Kind::Directory(BTreeMap::new()), 0o755)
    }

    #[test]
    fn entries_of_a_directory_are_together() {
        let mut tree = Tree::new(Limit::default());
        let b = tree.insert(0, b"b", directory()).expect("a name");
        let a = tree.insert(0, b"a", directory()).expect("a name");
        let file = tree.insert(b, b"file", Inode::new(Kind::Fifo, 0o600)).expect("a name");
        tree.link(a, b"five5", file).expect("a name");
        tree.insert(a, b"deep", directory()).expect("a name");
        let plan = Plan::new(&tree).expect("a tree");
        let paths: Vec<_> = (0..plan.nodes.len()).map(|number| plan.path(number)).collect();
        assert_eq!(paths, ["/", "/a", "/b", "/a/deep", "/a/five5", "/b/file"]);
        assert_eq!(
            plan.nodes.iter().map(|node| node.directory_bytes).collect::<Vec<_>>(),
            [32, 36, 16, 0, 0, 0]
        );
        assert_eq!(plan.nodes.iter().filter(|node| !node.is_first).count(), 1);
    }

    #[test]
    fn a_directory_in_itself_is_refused() {
        let mut tree = Tree::new(Limit::default());
        let a = tree.insert(0, b"a", directory()).expect("a name");
        tree.link(a, b"again", 0).expect("a name");
        assert_eq!(Plan::new(&tree).err(), Some(Error::DirectoryTwice { path: "/a/again".into() }));
    }
}
