//! The files of a mount in the order in which they are first opened. `--order` of `steady pack`
//! uses this order, so that files that are read first lie first in the image.

use fuser::INodeNo;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The paths of files in the order in which they are first opened for reading, while a volume or
/// a tree is mounted. Clones share the list.
///
/// ```
/// let opened = steadyfs_fuse::Opened::default();
/// let options = steadyfs_fuse::Options { opened: Some(opened.clone()), ..Default::default() };
/// // … mount with them, read files, unmount …
/// assert!(opened.paths().is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Opened(Arc<Mutex<List>>);

#[derive(Debug, Default)]
struct List {
    paths: Vec<Vec<u8>>,
    known: HashSet<Vec<u8>>,
}

/// Compares by identity: a list is equal only to its clones.
impl PartialEq for Opened {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Opened {}

impl Opened {
    /// Returns the paths so far, without a leading `/`.
    pub fn paths(&self) -> Vec<Vec<u8>> {
        self.list().paths.clone()
    }

    fn list(&self) -> MutexGuard<'_, List> {
        // The list is consistent after each call, so a panic of another thread does no harm.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, path: Vec<u8>) {
        let mut list = self.list();
        if list.known.insert(path.clone()) {
            list.paths.push(path);
        }
    }
}

/// Finds the paths of opened files by the names in replies to the kernel.
#[derive(Debug)]
pub(crate) struct Recorder {
    opened: Opened,
    names: HashMap<u64, (u64, Vec<u8>)>,
}

impl Recorder {
    pub fn new(opened: Opened) -> Self {
        Self { opened, names: HashMap::new() }
    }

    /// Records that a reply to the kernel maps a name in a directory to a number.
    pub fn named(&mut self, parent: INodeNo, name: &[u8], number: INodeNo) {
        if number != INodeNo::ROOT {
            self.names.insert(number.0, (parent.0, name.to_vec()));
        }
    }

    /// Records that a file is opened for reading.
    pub fn opened(&mut self, number: INodeNo) {
        if let Some(path) = self.path(number) {
            self.opened.add(path);
        }
    }

    /// Returns the path of a file or directory, or `None` if a directory above it is unknown.
    fn path(&self, number: INodeNo) -> Option<Vec<u8>> {
        let (mut at, mut path) = (number.0, Vec::new());
        // If renames have moved a directory below its own old path, the recorded names form a
        // cycle. So the number of steps is limited.
        for _ in 0..=self.names.len() {
            if at == INodeNo::ROOT.0 {
                return Some(path);
            }
            let (parent, name) = self.names.get(&at)?;
            path = if path.is_empty() { name.clone() } else { [&name[..], b"/", &path].concat() };
            at = *parent;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_names_and_come_once() {
        let opened = Opened::default();
        let mut recorder = Recorder::new(opened.clone());
        for (parent, name, number) in [(1, "etc", 2), (2, "init", 3), (1, "bin", 4), (4, "sh", 5)] {
            recorder.named(INodeNo(parent), name.as_bytes(), INodeNo(number));
        }
        for number in [5, 3, 5, 9] {
            recorder.opened(INodeNo(number));
        }
        recorder.named(INodeNo(4), b"ash", INodeNo(5));
        recorder.opened(INodeNo(5));
        recorder.named(INodeNo(4), b"loop", INodeNo(4));
        recorder.opened(INodeNo(5));
        assert_eq!(opened.paths(), [&b"bin/sh"[..], b"etc/init", b"bin/ash"]);
    }
}
