//! The model of a file system: names, and the bytes behind them.

use rustix::io::Errno;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of a page of the volume. A longer write is one change per page.
const PAGE_BYTES: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    Directory,
    File(u64),
}

/// All names, with the bytes of a file, or `None` for a directory.
pub type Visible = BTreeMap<String, Option<Arc<[u8]>>>;

/// One state of a file system. Copies share the bytes.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub names: BTreeMap<String, Entry>,
    files: BTreeMap<u64, Arc<[u8]>>,
    next: u64,
}

fn parent(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn is_below(name: &str, directory: &str) -> bool {
    directory.is_empty() || name.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

impl State {
    fn get(&self, name: &str) -> Option<Entry> {
        self.names.get(name).copied()
    }

    /// Checks that all directories of a path are there. Returns the error of the path otherwise.
    fn check_parents(&self, name: &str) -> Result<(), Errno> {
        for (end, _) in name.match_indices('/') {
            match self.get(&name[..end]) {
                Some(Entry::Directory) => {}
                Some(Entry::File(_)) => return Err(Errno::NOTDIR),
                None => return Err(Errno::NOENT),
            }
        }
        Ok(())
    }

    pub fn open(&mut self, name: &str, create_new: bool, truncate: bool) -> Result<u64, Errno> {
        self.check_parents(name)?;
        match self.get(name) {
            Some(_) if create_new => Err(Errno::EXIST),
            Some(Entry::Directory) => Err(Errno::ISDIR),
            Some(Entry::File(id)) => {
                if truncate {
                    self.truncate(id, 0);
                }
                Ok(id)
            }
            None => {
                self.next += 1;
                self.names.insert(name.into(), Entry::File(self.next));
                self.files.insert(self.next, Arc::from([]));
                Ok(self.next)
            }
        }
    }

    pub fn content(&self, id: u64) -> Arc<[u8]> {
        self.files[&id].clone()
    }

    /// Writes data. Returns the state after each page.
    pub fn write(&mut self, id: u64, offset: usize, data: &[u8]) -> Vec<State> {
        let (mut states, mut done) = (Vec::new(), 0);
        while done < data.len() {
            let at = offset + done;
            let step = (PAGE_BYTES - at % PAGE_BYTES).min(data.len() - done);
            let mut bytes = self.files[&id].to_vec();
            bytes.resize(bytes.len().max(at + step), 0);
            bytes[at..at + step].copy_from_slice(&data[done..done + step]);
            self.files.insert(id, bytes.into());
            states.push(self.clone());
            done += step;
        }
        states
    }

    pub fn truncate(&mut self, id: u64, size: usize) {
        let mut bytes = self.files[&id].to_vec();
        bytes.resize(size, 0);
        self.files.insert(id, bytes.into());
    }

    fn is_empty(&self, directory: &str) -> bool {
        !self.names.keys().any(|name| is_below(name, directory))
    }

    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), Errno> {
        self.check_parents(from)?;
        self.check_parents(to)?;
        let source = self.get(from).ok_or(Errno::NOENT)?;
        if is_below(to, from) {
            return Err(Errno::INVAL);
        }
        if is_below(from, to) {
            return Err(Errno::NOTEMPTY);
        }
        if from == to {
            return Ok(());
        }
        match (source, self.get(to)) {
            (Entry::Directory, Some(Entry::File(_))) => return Err(Errno::NOTDIR),
            (Entry::File(_), Some(Entry::Directory)) => return Err(Errno::ISDIR),
            (Entry::Directory, Some(Entry::Directory)) if !self.is_empty(to) => {
                return Err(Errno::NOTEMPTY);
            }
            _ => {}
        }
        let moved: Vec<String> = self
            .names
            .keys()
            .filter(|name| *name == from || is_below(name, from))
            .cloned()
            .collect();
        for name in moved {
            let entry = self.names.remove(&name).unwrap();
            self.names.insert(format!("{to}{}", &name[from.len()..]), entry);
        }
        Ok(())
    }

    pub fn remove_file(&mut self, name: &str) -> Result<(), Errno> {
        self.check_parents(name)?;
        match self.get(name).ok_or(Errno::NOENT)? {
            Entry::Directory => Err(Errno::ISDIR),
            Entry::File(_) => {
                self.names.remove(name);
                Ok(())
            }
        }
    }

    pub fn remove_directory(&mut self, name: &str) -> Result<(), Errno> {
        self.check_parents(name)?;
        match self.get(name).ok_or(Errno::NOENT)? {
            Entry::File(_) => Err(Errno::NOTDIR),
            Entry::Directory if !self.is_empty(name) => Err(Errno::NOTEMPTY),
            Entry::Directory => {
                self.names.remove(name);
                Ok(())
            }
        }
    }

    pub fn make_directory(&mut self, name: &str) -> Result<(), Errno> {
        self.check_parents(name)?;
        if self.names.contains_key(name) {
            return Err(Errno::EXIST);
        }
        self.names.insert(name.into(), Entry::Directory);
        Ok(())
    }

    fn children<'s>(&'s self, directory: &'s str) -> impl Iterator<Item = (&'s String, &'s Entry)> {
        self.names.iter().filter(move |(name, _)| parent(name) == directory)
    }

    /// Returns the last names of the entries of a directory, sorted.
    pub fn list(&self, directory: &str) -> Vec<String> {
        let mut names: Vec<String> = self
            .children(directory)
            .map(|(name, _)| name.rsplit('/').next().unwrap().to_string())
            .collect();
        names.sort();
        names
    }

    pub fn subdirectories(&self, directory: &str) -> usize {
        self.children(directory).filter(|(_, entry)| **entry == Entry::Directory).count()
    }

    /// Discards files that no name leads to. No such file may be open any more.
    pub fn forget_removed(&mut self) {
        let names = &self.names;
        self.files.retain(|id, _| names.values().any(|entry| *entry == Entry::File(*id)));
    }

    pub fn visible(&self) -> Visible {
        let content = |entry: &Entry| match entry {
            Entry::Directory => None,
            Entry::File(id) => Some(self.files[id].clone()),
        };
        self.names.iter().map(|(name, entry)| (name.clone(), content(entry))).collect()
    }
}
