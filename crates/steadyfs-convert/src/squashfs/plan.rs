//! The order in which inodes are written, and their numbers.
//!
//! The inodes of a directory's entries are written together, so that the entries share a header.
//! For each directory, everything below its subdirectories is written first. Then come the inodes
//! of its entries, sorted by name, and then its list of entries. Inodes are numbered in the order
//! of writing. The root is written last.

use super::WriteError;
use crate::tree::{InodeIndex, Kind, Tree};

/// A part to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// An inode.
    Inode(InodeIndex),
    /// The entries of a directory. All their inodes are written earlier.
    Entries(InodeIndex),
}

/// The order of writing.
pub(super) struct Plan {
    /// All steps, in order.
    pub(super) steps: Vec<Step>,
    /// Number of inodes.
    pub(super) inode_count: u32,
    numbers: Vec<u32>,
    names: Vec<u32>,
    parents: Vec<InodeIndex>,
}

enum Visit {
    Enter(InodeIndex),
    Leave(InodeIndex),
}

impl Plan {
    /// Plans the writing of a tree. Inodes without name are not written.
    ///
    /// # Errors
    /// [`WriteError::DirectoryTwice`], [`WriteError::NoInode`], [`WriteError::TooLarge`].
    pub(super) fn new(tree: &Tree) -> Result<Self, WriteError> {
        let count = tree.inodes().len();
        if u32::try_from(count).is_err() {
            return Err(WriteError::TooLarge("the number of inodes"));
        }
        let (numbers, names, parents) = (vec![0; count], vec![0; count], vec![0; count]);
        let mut plan = Self { steps: Vec::new(), inode_count: 0, numbers, names, parents };
        let mut waiting = vec![Visit::Enter(0)];
        while let Some(visit) = waiting.pop() {
            match visit {
                Visit::Enter(directory) => plan.enter(tree, directory, &mut waiting)?,
                Visit::Leave(directory) => plan.leave(tree, directory),
            }
        }
        plan.write(0);
        Ok(plan)
    }

    /// Counts the names in a directory, and queues its subdirectories for a visit.
    fn enter(
        &mut self,
        tree: &Tree,
        directory: InodeIndex,
        waiting: &mut Vec<Visit>,
    ) -> Result<(), WriteError> {
        waiting.push(Visit::Leave(directory));
        for &entry in entries(tree, directory).rev() {
            let Some(inode) = tree.inodes().get(entry) else {
                return Err(WriteError::NoInode(self.path(tree, directory)));
            };
            if inode.is_directory() && (entry == 0 || self.names[entry] > 0) {
                return Err(WriteError::DirectoryTwice(self.path(tree, entry)));
            }
            if self.names[entry] == 0 {
                self.parents[entry] = directory;
            }
            self.names[entry] += 1;
            if inode.is_directory() {
                waiting.push(Visit::Enter(entry));
            }
        }
        Ok(())
    }

    fn leave(&mut self, tree: &Tree, directory: InodeIndex) {
        for &entry in entries(tree, directory) {
            if self.numbers[entry] == 0 {
                self.write(entry);
            }
        }
        self.steps.push(Step::Entries(directory));
    }

    fn write(&mut self, inode: InodeIndex) {
        self.inode_count += 1;
        self.numbers[inode] = self.inode_count;
        self.steps.push(Step::Inode(inode));
    }

    /// Returns the number of an inode, from 1.
    pub(super) fn number(&self, inode: InodeIndex) -> u32 {
        self.numbers[inode]
    }

    /// Returns the number of a directory's parent. The root has no parent. For the root the result
    /// is one above the largest number, as mksquashfs writes it.
    pub(super) fn parent_number(&self, directory: InodeIndex) -> u32 {
        if directory == 0 { self.inode_count + 1 } else { self.numbers[self.parents[directory]] }
    }

    /// Returns the number of links of an inode. For a directory this is two, and one for each
    /// subdirectory. For all other inodes it is the number of names.
    pub(super) fn links(&self, tree: &Tree, inode: InodeIndex) -> u32 {
        match &tree.inode(inode).kind {
            Kind::Directory(entries) => {
                2 + entries.values().filter(|&&entry| tree.inode(entry).is_directory()).count()
                    as u32
            }
            _ => self.names[inode],
        }
    }

    /// Returns one path of an inode, for messages.
    pub(super) fn path(&self, tree: &Tree, mut inode: InodeIndex) -> String {
        let mut names = Vec::new();
        while inode != 0 {
            let parent = self.parents[inode];
            if let Kind::Directory(entries) = &tree.inode(parent).kind {
                let name = entries
                    .iter()
                    .find(|(_, entry)| **entry == inode)
                    .map(|(name, _)| String::from_utf8_lossy(name));
                names.extend(name);
            }
            inode = parent;
        }
        names.iter().rev().fold(String::new(), |path, name| path + "/" + name)
    }
}

/// Returns the inodes of a directory's entries, by name.
pub(super) fn entries(
    tree: &Tree,
    directory: InodeIndex,
) -> impl DoubleEndedIterator<Item = &InodeIndex> {
    match &tree.inode(directory).kind {
        Kind::Directory(entries) => Some(entries.values()),
        _ => None,
    }
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Inode, Limit};
    use std::collections::BTreeMap;

    fn directory() -> Inode {
        Inode::new(Kind::Directory(BTreeMap::new()), 0o755)
    }

    #[test]
    fn what_a_directory_names_has_numbers_in_a_row() {
        let mut tree = Tree::new(Limit::default());
        let a = tree.insert(0, b"a", directory()).expect("a name");
        let x = tree.insert(a, b"x", directory()).expect("a name");
        let file = tree.insert(x, b"file", Inode::new(Kind::Fifo, 0o600)).expect("a name");
        let b = tree.insert(0, b"b", directory()).expect("a name");
        tree.link(b, b"again", file).expect("a name");
        let plan = Plan::new(&tree).expect("a tree");
        let (inode, entries) = (Step::Inode, Step::Entries);
        assert_eq!(
            plan.steps,
            [
                inode(file),
                entries(x),
                inode(x),
                entries(a),
                entries(b),
                inode(a),
                inode(b),
                entries(0),
                inode(0)
            ]
        );
        assert_eq!([file, x, a, b, 0].map(|inode| plan.number(inode)), [1, 2, 3, 4, 5]);
        assert_eq!([x, a, 0].map(|inode| plan.parent_number(inode)), [3, 5, 6]);
        assert_eq!([file, x, a, 0].map(|inode| plan.links(&tree, inode)), [2, 2, 3, 4]);
        assert_eq!(plan.path(&tree, x), "/a/x");
    }

    #[test]
    fn a_directory_with_two_names_is_refused() {
        let mut tree = Tree::new(Limit::default());
        let a = tree.insert(0, b"a", directory()).expect("a name");
        tree.link(a, b"self", a).expect("a name");
        assert_eq!(Plan::new(&tree).err(), Some(WriteError::DirectoryTwice("/a".into())));
        let mut tree = Tree::new(Limit::default());
        tree.link(0, b"root", 0).expect("a name");
        assert_eq!(Plan::new(&tree).err(), Some(WriteError::DirectoryTwice(String::new())));
        let mut tree = Tree::new(Limit::default());
        tree.link(0, b"nothing", 77).expect("a name");
        assert_eq!(Plan::new(&tree).err(), Some(WriteError::NoInode(String::new())));
    }
}
