//! A tree of files in memory.

use std::collections::BTreeMap;
use thiserror::Error;

/// Maximum depth of nested directories. A path with so many names is longer than the paths that
/// hosts accept.
pub const DEPTH_MAX: usize = 1000;

/// Index of an inode in its tree; the root is 0.
pub type InodeIndex = usize;

/// A tree of files. Two names of one inode are a hard link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    inodes: Vec<Inode>,
    limit: Limit,
    bytes: u64,
    lost: u64,
}

/// A file, directory or any other node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inode {
    /// Kind and content of the inode.
    pub kind: Kind,
    /// Permissions: the low twelve bits of a mode.
    pub mode: u16,
    /// User ID of the owner.
    pub uid: u32,
    /// Group ID.
    pub gid: u32,
    /// Time of the last change, in seconds since 1970.
    pub modified: i64,
    /// Extended attributes by their full name, such as `user.note`.
    pub attributes: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// Kind of an inode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directory. It contains names without slashes, and their inodes.
    Directory(BTreeMap<Vec<u8>, InodeIndex>),
    /// A file, with its content.
    File(Vec<u8>),
    /// A symbolic link, with its target.
    Symlink(Vec<u8>),
    /// A device.
    Device {
        /// True for a block device, false for a character device.
        is_block: bool,
        /// Number of the driver.
        major: u32,
        /// Number of the device at its driver.
        minor: u32,
    },
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
}

/// Maximum size of a tree. A reader stops at this size, because an image may be malicious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Number of bytes of the content of files, names, targets and attributes.
    pub bytes: u64,
    /// Number of inodes.
    pub inodes: usize,
}

impl Default for Limit {
    /// The default limit is 2 GiB in a million inodes.
    fn default() -> Self {
        Self { bytes: 2 << 30, inodes: 1_000_000 }
    }
}

/// The reason why an object does not fit into a tree.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The tree would have more bytes than the limit. The number is the limit.
    #[error("holds more than {0} bytes, the limit")]
    Bytes(u64),
    /// The tree would have more inodes than the limit. The number is the limit.
    #[error("holds more than {0} files and directories, the limit")]
    Inodes(usize),
    /// A name that a directory cannot contain.
    #[error(
        "has the name {0:?}; expected 1 to 255 bytes without slash and zero, neither `.` nor `..`"
    )]
    Name(String),
    /// A directory has two entries with the same name.
    #[error("has two entries {0:?} in one directory")]
    Twice(String),
    /// An entry was added to an inode that is not a directory.
    #[error("has an entry {0:?} in an object that is no directory")]
    NoDirectory(String),
    /// Directories are nested deeper than any path can reach.
    #[error("has more than {DEPTH_MAX} nested directories")]
    TooDeep,
    /// Content was added to an inode that is not a file.
    #[error("has content for an object that is no file")]
    NoFile,
}

impl Inode {
    /// Makes an inode that belongs to root, with time 0 and without attributes.
    pub fn new(kind: Kind, mode: u16) -> Self {
        Self { kind, mode, uid: 0, gid: 0, modified: 0, attributes: BTreeMap::new() }
    }

    /// Returns true for a directory.
    pub fn is_directory(&self) -> bool {
        matches!(self.kind, Kind::Directory(_))
    }

    /// Returns the number of bytes that count towards a limit. They do not include the names of
    /// entries.
    fn bytes(&self) -> u64 {
        let own = match &self.kind {
            Kind::File(bytes) | Kind::Symlink(bytes) => bytes.len(),
            _ => 0,
        };
        own as u64
            + self
                .attributes
                .iter()
                .map(|(name, value)| (name.len() + value.len()) as u64)
                .sum::<u64>()
    }
}

impl Tree {
    /// Makes a tree with only a root, of mode 755.
    pub fn new(limit: Limit) -> Self {
        Self {
            inodes: vec![Inode::new(Kind::Directory(BTreeMap::new()), 0o755)],
            limit,
            bytes: 0,
            lost: 0,
        }
    }

    /// Returns the number of bytes that may still be added. Check this number *before* you allocate
    /// memory for content.
    pub fn bytes_left(&self) -> u64 {
        self.limit.bytes.saturating_sub(self.bytes)
    }

    /// Returns the number of damaged parts of the image that are missing in this tree: nodes with
    /// wrong checksums, and names without an inode. A power cut leaves at most one such part.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Adds `parts` to the number of parts of the image that are missing in this tree.
    pub fn lose(&mut self, parts: u64) {
        self.lost = self.lost.saturating_add(parts);
    }

    /// Returns the limit.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// Returns all inodes, by their index.
    pub fn inodes(&self) -> &[Inode] {
        &self.inodes
    }

    /// Returns an inode.
    ///
    /// # Panics
    /// If this tree has no such index.
    pub fn inode(&self, index: InodeIndex) -> &Inode {
        &self.inodes[index]
    }

    /// Returns the root, to set its mode, owner and time.
    pub fn root_mut(&mut self) -> &mut Inode {
        &mut self.inodes[0]
    }

    /// Adds an inode, which has no name yet.
    ///
    /// # Errors
    /// [`TreeError::Bytes`], [`TreeError::Inodes`].
    pub fn add(&mut self, inode: Inode) -> Result<InodeIndex, TreeError> {
        if self.inodes.len() >= self.limit.inodes {
            return Err(TreeError::Inodes(self.limit.inodes));
        }
        self.take(inode.bytes())?;
        self.inodes.push(inode);
        Ok(self.inodes.len() - 1)
    }

    /// Adds a name of an inode to a directory.
    ///
    /// # Errors
    /// [`TreeError`] of each kind.
    pub fn link(
        &mut self,
        directory: InodeIndex,
        name: &[u8],
        inode: InodeIndex,
    ) -> Result<(), TreeError> {
        let text = || String::from_utf8_lossy(name).into_owned();
        if name.is_empty()
            || name.len() > 255
            || name.contains(&b'/')
            || name.contains(&0)
            || name == b"."
            || name == b".."
        {
            return Err(TreeError::Name(text()));
        }
        self.take(name.len() as u64)?;
        let Kind::Directory(entries) = &mut self.inodes[directory].kind else {
            return Err(TreeError::NoDirectory(text()));
        };
        match entries.insert(name.to_vec(), inode) {
            None => Ok(()),
            Some(_) => Err(TreeError::Twice(text())),
        }
    }

    /// Sets the time of every inode, in seconds since 1970, if `modified` is given. Sets the owner
    /// and group of every inode, if `owner` is given.
    pub fn mark(&mut self, modified: Option<i64>, owner: Option<(u32, u32)>) {
        for inode in &mut self.inodes {
            inode.modified = modified.unwrap_or(inode.modified);
            (inode.uid, inode.gid) = owner.unwrap_or((inode.uid, inode.gid));
        }
    }

    /// Sets the content of a file that was added without content.
    ///
    /// # Errors
    /// [`TreeError::Bytes`], [`TreeError::NoFile`].
    ///
    /// # Panics
    /// If this tree has no such index.
    pub fn fill(&mut self, file: InodeIndex, content: Vec<u8>) -> Result<(), TreeError> {
        self.take(content.len() as u64)?;
        match &mut self.inodes[file].kind {
            Kind::File(bytes) if bytes.is_empty() => *bytes = content,
            _ => return Err(TreeError::NoFile),
        }
        Ok(())
    }

    /// Adds an inode under a name.
    ///
    /// # Errors
    /// As [`add`](Self::add) and [`link`](Self::link).
    pub fn insert(
        &mut self,
        directory: InodeIndex,
        name: &[u8],
        inode: Inode,
    ) -> Result<InodeIndex, TreeError> {
        let index = self.add(inode)?;
        self.link(directory, name, index)?;
        Ok(index)
    }

    /// Finds the inode of a path from the root, without following links.
    pub fn find(&self, path: &str) -> Option<InodeIndex> {
        path.split('/').filter(|name| !name.is_empty()).try_fold(0, |at, name| {
            match &self.inodes[at].kind {
                Kind::Directory(entries) => entries.get(name.as_bytes()).copied(),
                _ => None,
            }
        })
    }

    /// Returns everything below the root with its path. A directory comes before its entries, and
    /// entries are sorted by the bytes of their names.
    pub fn walk(&self) -> Vec<(Vec<u8>, InodeIndex)> {
        let mut all = Vec::new();
        let mut waiting = vec![(Vec::new(), 0)];
        while let Some((path, index)) = waiting.pop() {
            if let Kind::Directory(entries) = &self.inodes[index].kind {
                let below = entries
                    .iter()
                    .rev()
                    .map(|(name, &entry)| ([&path[..], b"/", name].concat(), entry));
                waiting.extend(below);
            }
            if index != 0 {
                all.push((path, index));
            }
        }
        all
    }

    /// Checks that directories are nested no deeper than [`DEPTH_MAX`]: the paths of
    /// [`walk`](Self::walk) take memory for each level.
    ///
    /// # Errors
    /// [`TreeError::TooDeep`].
    pub fn check_depth(&self) -> Result<(), TreeError> {
        let mut waiting = vec![(0, 0)];
        while let Some((index, depth)) = waiting.pop() {
            if depth > DEPTH_MAX {
                return Err(TreeError::TooDeep);
            }
            if let Kind::Directory(entries) = &self.inodes[index].kind {
                waiting.extend(entries.values().map(|&entry| (entry, depth + 1)));
            }
        }
        Ok(())
    }

    fn take(&mut self, bytes: u64) -> Result<(), TreeError> {
        if bytes > self.bytes_left() {
            return Err(TreeError::Bytes(self.limit.bytes));
        }
        self.bytes += bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_beyond_a_limit_is_refused() {
        let mut tree = Tree::new(Limit { bytes: 10, inodes: 3 });
        let file = |bytes| Inode::new(Kind::File(vec![7; bytes]), 0o644);
        assert_eq!(tree.add(file(11)), Err(TreeError::Bytes(10)));
        tree.insert(0, b"a", file(8)).expect("room for it");
        assert_eq!(tree.insert(0, b"bb", file(0)), Err(TreeError::Bytes(10)));
        assert_eq!(tree.insert(0, b"b", file(0)), Err(TreeError::Inodes(3)));
    }

    #[test]
    fn content_counts_and_is_that_of_a_file() {
        let mut tree = Tree::new(Limit { bytes: 10, inodes: 3 });
        let file =
            tree.insert(0, b"a", Inode::new(Kind::File(Vec::new()), 0o644)).expect("room for it");
        assert_eq!(tree.fill(file, vec![1; 10]), Err(TreeError::Bytes(10)));
        assert_eq!(tree.fill(file, vec![1; 5]), Ok(()));
        assert_eq!(
            (tree.fill(file, vec![1]), tree.fill(0, vec![1])),
            (Err(TreeError::NoFile), Err(TreeError::NoFile))
        );
    }

    #[test]
    fn names_that_no_directory_takes_are_refused() {
        let mut tree = Tree::new(Limit::default());
        for name in ["", ".", "..", "a/b", "a\0", &"n".repeat(256)] {
            assert!(
                matches!(tree.link(0, name.as_bytes(), 0), Err(TreeError::Name(_))),
                "{name:?}"
            );
        }
        let fifo = tree.insert(0, b"fifo", Inode::new(Kind::Fifo, 0o600)).expect("a name");
        assert_eq!(tree.link(0, b"fifo", fifo), Err(TreeError::Twice("fifo".into())));
        assert_eq!(tree.link(fifo, b"x", fifo), Err(TreeError::NoDirectory("x".into())));
    }

    #[test]
    fn directories_lie_in_each_other_up_to_a_limit() {
        let mut tree = Tree::new(Limit::default());
        let mut at = 0;
        for _ in 0..DEPTH_MAX {
            at = tree
                .insert(at, b"d", Inode::new(Kind::Directory(BTreeMap::new()), 0o755))
                .expect("room");
        }
        assert_eq!(tree.check_depth(), Ok(()));
        tree.insert(at, b"d", Inode::new(Kind::Fifo, 0o644)).expect("room");
        assert_eq!(tree.check_depth(), Err(TreeError::TooDeep));
    }

    #[test]
    fn a_walk_goes_by_the_bytes_of_names() {
        let mut tree = Tree::new(Limit::default());
        let directory = || Inode::new(Kind::Directory(BTreeMap::new()), 0o755);
        let b = tree.insert(0, b"b", directory()).expect("a name");
        tree.insert(b, b"x", directory()).expect("a name");
        tree.insert(0, b"a", directory()).expect("a name");
        let paths: Vec<_> = tree
            .walk()
            .into_iter()
            .map(|(path, _)| String::from_utf8(path).expect("text"))
            .collect();
        assert_eq!(paths, ["/a", "/b", "/b/x"]);
        assert_eq!(tree.find("/b/x"), Some(2));
    }
}
