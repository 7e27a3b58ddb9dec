//! The model: a tree of files and directories in ordinary memory, and the effect of each call of
//! the public API on it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use steadyfs::Error;

/// Number of a file or directory of the model, the same for its whole life.
pub type Id = u32;

/// A file or directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// True if the node is a directory.
    pub is_dir: bool,
    /// Bytes of a file.
    pub data: Rc<Vec<u8>>,
    /// Attributes by key.
    pub attributes: Rc<BTreeMap<String, Vec<u8>>>,
}

/// All files and directories at one moment. The root has no entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Full paths without a leading `/`.
    pub names: BTreeMap<String, Id>,
    /// Nodes by number. Removed files that are still open are here and have no name.
    pub nodes: BTreeMap<Id, Node>,
}

/// Result of a call in the model: the tree after it, or the errors that it may return.
pub type Verdict = Result<Tree, Vec<Error>>;

impl Tree {
    /// Returns the node that a path names.
    pub fn at(&self, path: &str) -> Option<&Node> {
        self.names.get(path).map(|id| &self.nodes[id])
    }

    /// Returns the number of the node that a path names.
    pub fn id(&self, path: &str) -> Option<Id> {
        self.names.get(path).copied()
    }

    /// Returns the paths of all directories, the root included.
    pub fn directories(&self) -> Vec<&str> {
        let named = self
            .names
            .iter()
            .filter(|(_, id)| self.nodes[id].is_dir)
            .map(|(path, _)| path.as_str());
        std::iter::once("").chain(named).collect()
    }

    /// Returns the paths of all files.
    pub fn files(&self) -> Vec<&str> {
        self.names
            .iter()
            .filter(|(_, id)| !self.nodes[id].is_dir)
            .map(|(path, _)| path.as_str())
            .collect()
    }

    /// Returns the total bytes of all files.
    pub fn bytes(&self) -> usize {
        self.names.values().map(|id| self.nodes[id].data.len()).sum()
    }

    /// Returns true if both trees have the same names, with equal nodes under them.
    pub fn shows_as(&self, other: &Tree) -> bool {
        self.names.len() == other.names.len()
            && self
                .names
                .iter()
                .zip(&other.names)
                .all(|((a, i), (b, j))| a == b && self.nodes[i] == other.nodes[j])
    }

    /// Returns true if a file has a name.
    pub fn has_name(&self, id: Id) -> bool {
        self.names.values().any(|named| *named == id)
    }

    /// Removes the nodes that have neither a name nor a handle.
    pub fn forget_unused(&mut self, handles: &[Id]) {
        let used: BTreeSet<Id> = self.names.values().chain(handles).copied().collect();
        self.nodes.retain(|id, _| used.contains(id));
    }

    /// Returns the error of a path whose directories are not all there.
    fn broken_path(&self, path: &str) -> Option<Error> {
        path.match_indices('/').find_map(|(end, _)| match self.at(&path[..end]) {
            None => Some(Error::NotFound),
            Some(node) if !node.is_dir => Some(Error::NotADirectory),
            Some(_) => None,
        })
    }

    fn is_empty(&self, directory: &str) -> bool {
        let prefix = format!("{directory}/");
        !self
            .names
            .range(prefix.clone()..)
            .next()
            .is_some_and(|(path, _)| path.starts_with(&prefix))
    }

    fn with(&self, change: impl FnOnce(&mut Tree)) -> Tree {
        let mut tree = self.clone();
        change(&mut tree);
        tree
    }

    /// Models `stat`, and all calls that require an existing path.
    pub fn find(&self, path: &str) -> Result<Id, Vec<Error>> {
        match self.broken_path(path) {
            Some(error) => Err(vec![error]),
            None => self.id(path).ok_or(vec![Error::NotFound]),
        }
    }

    /// Models `open`. A created file gets the number `new`.
    pub fn open(
        &self,
        path: &str,
        create: bool,
        create_new: bool,
        truncate: bool,
        new: Id,
    ) -> Verdict {
        if let Some(error) = self.broken_path(path) {
            return Err(vec![error]);
        }
        match self.at(path) {
            Some(node) if node.is_dir => Err(vec![Error::IsADirectory, Error::Exists]),
            Some(_) if create_new => Err(vec![Error::Exists]),
            Some(_) if truncate => Ok(self.truncate(self.names[path], 0)),
            Some(_) => Ok(self.clone()),
            None if create || create_new => Ok(self.with(|tree| {
                tree.names.insert(path.to_string(), new);
                tree.nodes.insert(new, Node::default());
            })),
            None => Err(vec![Error::NotFound]),
        }
    }

    /// Models `create_dir`.
    pub fn create_dir(&self, path: &str, new: Id) -> Verdict {
        if let Some(error) = self.broken_path(path) {
            return Err(vec![error]);
        }
        if self.at(path).is_some() {
            return Err(vec![Error::Exists]);
        }
        Ok(self.with(|tree| {
            tree.names.insert(path.to_string(), new);
            tree.nodes.insert(new, Node { is_dir: true, ..Node::default() });
        }))
    }

    /// Models `remove`.
    pub fn remove(&self, path: &str) -> Verdict {
        match self.find(path).map(|id| self.nodes[&id].is_dir) {
            Err(errors) => Err(errors),
            Ok(true) => Err(vec![Error::IsADirectory]),
            Ok(false) => Ok(self.with(|tree| {
                tree.names.remove(path);
            })),
        }
    }

    /// Models `remove_dir`.
    pub fn remove_dir(&self, path: &str) -> Verdict {
        match self.find(path).map(|id| self.nodes[&id].is_dir) {
            Err(errors) => Err(errors),
            Ok(false) => Err(vec![Error::NotADirectory]),
            Ok(true) if !self.is_empty(path) => Err(vec![Error::NotEmpty]),
            Ok(true) => Ok(self.with(|tree| {
                tree.names.remove(path);
            })),
        }
    }

    /// Models `rename`. If the call breaks several rules, any of their errors is right.
    pub fn rename(&self, from: &str, to: &str) -> Verdict {
        let mut errors = Vec::new();
        errors.extend(self.broken_path(from));
        errors.extend(self.broken_path(to));
        let moved = self.at(from);
        if errors.is_empty() && moved.is_none() {
            errors.push(Error::NotFound);
        }
        let from_is_dir = moved.is_some_and(|node| node.is_dir);
        if from_is_dir && to.starts_with(&format!("{from}/")) {
            errors.push(Error::IntoItself);
        }
        if let Some(target) = self.at(to)
            && from != to
        {
            match (from_is_dir, target.is_dir) {
                (false, true) => errors.extend([Error::IsADirectory, Error::NotEmpty]),
                (true, false) => errors.push(Error::NotADirectory),
                (true, true) if !self.is_empty(to) => errors.push(Error::NotEmpty),
                _ => {}
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(self.with(|tree| {
            let prefix = format!("{from}/");
            let below: Vec<String> = tree
                .names
                .range(prefix.clone()..)
                .map(|(path, _)| path.clone())
                .take_while(|p| p.starts_with(&prefix))
                .collect();
            let id = tree.names.remove(from).expect("it was found");
            tree.names.insert(to.to_string(), id);
            for path in below {
                let id = tree.names.remove(&path).expect("it was listed");
                tree.names.insert(format!("{to}/{}", &path[prefix.len()..]), id);
            }
        }))
    }

    /// Models `write`.
    pub fn write(&self, id: Id, offset: usize, bytes: &[u8]) -> Tree {
        self.with(|tree| {
            let data = Rc::make_mut(&mut tree.nodes.get_mut(&id).expect("it is there").data);
            if !bytes.is_empty() && data.len() < offset + bytes.len() {
                data.resize(offset + bytes.len(), 0);
            }
            if !bytes.is_empty() {
                data[offset..offset + bytes.len()].copy_from_slice(bytes);
            }
        })
    }

    /// Models `truncate`.
    pub fn truncate(&self, id: Id, size: usize) -> Tree {
        self.with(|tree| {
            Rc::make_mut(&mut tree.nodes.get_mut(&id).expect("it is there").data).resize(size, 0)
        })
    }

    /// Models `set_attribute`.
    pub fn set_attribute(&self, id: Id, key: &str, value: Option<&[u8]>) -> Verdict {
        if value.is_none() && !self.nodes[&id].attributes.contains_key(key) {
            return Err(vec![Error::NotFound]);
        }
        Ok(self.with(|tree| {
            let attributes =
                Rc::make_mut(&mut tree.nodes.get_mut(&id).expect("it is there").attributes);
            match value {
                Some(value) => drop(attributes.insert(key.to_string(), value.to_vec())),
                None => drop(attributes.remove(key)),
            }
        }))
    }

    /// Describes the difference of two trees in a few words.
    pub fn difference(&self, other: &Tree) -> String {
        let mut words = Vec::new();
        let paths: BTreeSet<&String> = self.names.keys().chain(other.names.keys()).collect();
        for path in paths {
            let word = match (self.at(path), other.at(path)) {
                (Some(_), None) => format!("{path} is missing"),
                (None, Some(_)) => format!("{path} is there"),
                (Some(a), Some(b)) if a != b => describe(path, a, b),
                _ => continue,
            };
            words.push(word);
        }
        words.truncate(4);
        words.join("; ")
    }
}

fn describe(path: &str, wanted: &Node, found: &Node) -> String {
    if wanted.is_dir != found.is_dir {
        return format!("{path} is of another kind");
    }
    if wanted.attributes != found.attributes {
        return format!("{path} has other attributes");
    }
    let at = wanted.data.iter().zip(found.data.iter()).position(|(a, b)| a != b);
    let (wanted, found) = (wanted.data.len(), found.data.len());
    match at {
        Some(at) => format!("{path} has other bytes from {at} of {found} (wanted {wanted})"),
        None => format!("{path} has {found} bytes instead of {wanted}"),
    }
}
