//! The contents of a volume as a map: the file system with which the volume under test is compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use steadyfs::{Error, InodeNumber, Permissions};

/// A file or directory.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Identity of the node. It stays the same whatever the node's names and inodes.
    pub id: u64,
    /// Number that the volume gave to the node; `None` until the call that makes the node has
    /// returned.
    pub inode: Option<InodeNumber>,
    pub is_directory: bool,
    /// True for a symbolic link. Its data is the target.
    pub is_link: bool,
    pub data: Vec<u8>,
    pub attributes: BTreeMap<String, Vec<u8>>,
    pub permissions: Option<Permissions>,
    pub modified_ns: u64,
}

impl Node {
    /// Returns true if the node found on a volume may be this node.
    fn agrees(&self, found: &Self) -> bool {
        (self.is_directory, self.is_link) == (found.is_directory, found.is_link)
            && self.permissions == found.permissions
            && self.data == found.data
            && self.attributes == found.attributes
            && self.modified_ns == found.modified_ns
            && (self.inode.is_none() || self.inode == found.inode)
    }

    /// Returns true for a file, but not for a directory or a link.
    pub fn is_file(&self) -> bool {
        !self.is_directory && !self.is_link
    }

    /// Describes the difference of `found`.
    fn difference(&self, found: &Self) -> String {
        let at = self.data.iter().zip(&found.data).position(|(a, b)| a != b);
        let data = format!(
            "{} bytes instead of {}, first difference {at:?}",
            found.data.len(),
            self.data.len()
        );
        let kind = |node: &Self| (node.is_directory, node.is_link);
        let rest = |node: &Self| {
            (kind(node), node.inode, node.modified_ns, node.permissions, node.attributes.clone())
        };
        if self.data == found.data {
            format!("{:?} instead of {:?}", rest(found), rest(self))
        } else {
            data
        }
    }
}

/// All files and directories by path. The root's path is empty.
#[derive(Clone, Debug)]
pub struct Tree {
    pub nodes: BTreeMap<Arc<str>, Arc<Node>>,
    /// Removed files that are still open, by their identity.
    pub orphans: BTreeMap<u64, Arc<Node>>,
}

/// Returns the path of the directory that contains the last name of a path.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Returns the last name of a path.
pub fn last_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the number of names in a path.
pub fn depth(path: &str) -> u32 {
    path.split('/').filter(|name| !name.is_empty()).count() as u32
}

/// Appends a name to a path.
pub fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.into() } else { format!("{directory}/{name}") }
}

/// Returns true if `path` is `directory`, or lies below it.
pub fn is_within(path: &str, directory: &str) -> bool {
    path == directory
        || directory.is_empty()
        || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the end of a path, in quotes. Long names differ at their ends.
fn short(path: &str) -> String {
    let count = path.chars().count();
    let end: String = path.chars().skip(count.saturating_sub(24)).collect();
    if count > 24 { format!("\"..{end}\"") } else { format!("{path:?}") }
}

impl Default for Tree {
    /// Returns an empty volume: the root.
    fn default() -> Self {
        let root = Node { is_directory: true, inode: Some(steadyfs::ROOT), ..Node::default() };
        Self { nodes: [(Arc::from(""), Arc::new(root))].into(), orphans: BTreeMap::new() }
    }
}

impl Tree {
    pub fn get(&self, path: &str) -> Option<&Node> {
        self.nodes.get(path).map(Arc::as_ref)
    }

    /// Returns the bytes of a file; 0 if the file does not exist.
    pub fn size(&self, path: &str) -> usize {
        self.get(path).map_or(0, |node| node.data.len())
    }

    /// Returns files by path, without directories and links.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.nodes.iter().filter(|(_, node)| node.is_file()).map(|(path, node)| (&**path, &**node))
    }

    /// Returns the paths of all directories, the root first.
    pub fn directories(&self) -> Vec<&str> {
        self.nodes.iter().filter(|(_, node)| node.is_directory).map(|(path, _)| &**path).collect()
    }

    /// Returns the names and nodes in a directory.
    pub fn entries<'a>(&'a self, directory: &'a str) -> impl Iterator<Item = (&'a str, &'a Node)> {
        let inside = self
            .nodes
            .range(Arc::from(directory)..)
            .take_while(move |(path, _)| path.starts_with(directory));
        inside
            .filter(move |(path, _)| !path.is_empty() && parent(path) == directory)
            .map(|(path, node)| (last_name(path), &**node))
    }

    /// Returns the node with an identity, at a path or removed and open.
    pub fn by_id(&self, id: u64) -> Option<&Node> {
        self.orphans
            .get(&id)
            .or_else(|| self.nodes.values().find(|node| node.id == id))
            .map(Arc::as_ref)
    }

    /// Returns the node with an identity, to be changed. The node must exist.
    pub fn by_id_mut(&mut self, id: u64) -> &mut Node {
        let orphan = self.orphans.get_mut(&id);
        let node = orphan.or_else(|| self.nodes.values_mut().find(|node| node.id == id));
        Arc::make_mut(node.expect("the node of a handle"))
    }

    /// Returns the path of a node.
    pub fn path_of(&self, id: u64) -> Option<&str> {
        self.nodes.iter().find(|(_, node)| node.id == id).map(|(path, _)| &**path)
    }

    fn node_mut(&mut self, path: &str) -> &mut Node {
        Arc::make_mut(self.nodes.get_mut(path).expect("a path that was looked up"))
    }

    /// Returns the node at a path, or the error that the volume must return.
    pub fn lookup(&self, path: &str) -> Result<&Node, Error> {
        self.check_directory(parent(path))?;
        self.get(path).ok_or(Error::NotFound)
    }

    /// Checks that a path names a directory. Otherwise, returns the error that the volume must
    /// return.
    fn check_directory(&self, path: &str) -> Result<(), Error> {
        let mut here = String::new();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            here = join(&here, name);
            match self.get(&here) {
                None => return Err(Error::NotFound),
                Some(node) if !node.is_directory => return Err(Error::NotADirectory),
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Adds a file or directory.
    pub fn create(&mut self, path: &str, node: Node) -> Result<(), Error> {
        match self.lookup(path) {
            Ok(_) => return Err(Error::Exists),
            Err(Error::NotFound) if self.check_directory(parent(path)).is_ok() => {}
            Err(error) => return Err(error),
        }
        self.touch(parent(path), node.modified_ns);
        self.nodes.insert(path.into(), Arc::new(node));
        Ok(())
    }

    /// Updates the time of change of a directory.
    fn touch(&mut self, directory: &str, now_ns: u64) {
        let node = self.node_mut(directory);
        node.modified_ns = node.modified_ns.max(now_ns);
    }

    /// Checks that a node can be removed or replaced as a file, or as a directory.
    fn check_removable(&self, path: &str, as_directory: bool) -> Result<(), Error> {
        let node = self.lookup(path)?;
        match (node.is_directory, as_directory) {
            (true, true) if self.entries(path).next().is_some() => Err(Error::NotEmpty),
            (true, false) => Err(Error::IsADirectory),
            (false, true) => Err(Error::NotADirectory),
            _ => Ok(()),
        }
    }

    /// Removes a file, or an empty directory. A file that is open becomes an orphan.
    pub fn remove(
        &mut self,
        path: &str,
        as_directory: bool,
        is_open: bool,
        now_ns: u64,
    ) -> Result<(), Error> {
        self.check_removable(path, as_directory)?;
        self.touch(parent(path), now_ns);
        self.unlink(path, is_open);
        Ok(())
    }

    fn unlink(&mut self, path: &str, is_open: bool) {
        let node = self.nodes.remove(path).expect("a path that was looked up");
        if is_open {
            self.orphans.insert(node.id, node);
        }
    }

    /// Renames a node. `is_open` returns true if the node with an identity is open.
    pub fn rename(
        &mut self,
        from: &str,
        to: &str,
        is_open: impl Fn(u64) -> bool,
        now_ns: u64,
    ) -> Result<(), Error> {
        self.check_directory(parent(from))?;
        self.check_directory(parent(to))?;
        let node = self.lookup(from)?.clone();
        if node.is_directory && is_within(parent(to), from) {
            return Err(Error::IntoItself);
        }
        if from == to {
            return Ok(());
        }
        if let Some(id) = self.get(to).map(|other| other.id) {
            self.check_removable(to, node.is_directory)?;
            self.unlink(to, is_open(id));
        }
        self.touch(parent(from), now_ns);
        self.touch(parent(to), now_ns);
        let inside: Vec<_> =
            self.nodes.keys().filter(|path| is_within(path, from)).cloned().collect();
        for path in inside {
            let node = self.nodes.remove(&path).expect("a key");
            self.nodes.insert(format!("{to}{}", &path[from.len()..]).into(), node);
        }
        Ok(())
    }

    /// Exchanges the nodes at two paths.
    pub fn exchange(&mut self, one: &str, other: &str, now_ns: u64) -> Result<(), Error> {
        self.lookup(one)?;
        self.lookup(other)?;
        if one == other {
            return Ok(());
        }
        if is_within(one, other) || is_within(other, one) {
            return Err(Error::IntoItself);
        }
        self.touch(parent(one), now_ns);
        self.touch(parent(other), now_ns);
        let mut moved = Vec::new();
        for (from, to) in [(one, other), (other, one)] {
            let inside: Vec<_> =
                self.nodes.keys().filter(|path| is_within(path, from)).cloned().collect();
            moved.extend(inside.into_iter().map(|path| {
                (format!("{to}{}", &path[from.len()..]), self.nodes.remove(&path).expect("a key"))
            }));
        }
        self.nodes.extend(moved.into_iter().map(|(path, node)| (path.into(), node)));
        Ok(())
    }

    /// Returns true if the tree found on a volume may be this tree.
    pub fn agrees(&self, found: &Self) -> bool {
        let pairs = || self.nodes.iter().zip(&found.nodes);
        self.nodes.len() == found.nodes.len() && pairs().all(|(a, b)| a.0 == b.0 && a.1.agrees(b.1))
    }

    /// Stores the inodes that the volume chose in nodes without an inode.
    pub fn adopt_inodes(&mut self, found: &Self) {
        for (path, node) in &mut self.nodes {
            if node.inode.is_none() {
                Arc::make_mut(node).inode = found.get(path).and_then(|found| found.inode);
            }
        }
    }

    /// Describes the difference of `found`.
    pub fn difference(&self, found: &Self) -> String {
        let mut text = String::new();
        for (path, node) in &self.nodes {
            match found.get(path) {
                None => {
                    text += &format!("{} ({} bytes) is missing; ", short(path), node.data.len())
                }
                Some(other) if node.agrees(other) => {}
                Some(other) => text += &format!("{}: {}; ", short(path), node.difference(other)),
            }
        }
        for (path, node) in found.nodes.iter().filter(|(path, _)| !self.nodes.contains_key(*path)) {
            text += &format!("{} ({} bytes) should not be there; ", short(path), node.data.len());
        }
        if text.is_empty() { "equal".into() } else { text }
    }
}
