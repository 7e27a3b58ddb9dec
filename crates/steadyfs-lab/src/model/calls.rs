//! The effect of each call on the model, and the call itself, compared with its bound.

use std::collections::BTreeMap;
use std::sync::Arc;

use steadyfs::{Budget, Call, CommitOn, Cursor, Error, OpenOptions, Permissions};

use super::oracle::{Handle, Listing, Session, hard};
use super::tree::{Node, Tree, depth, is_within, join};
use super::{bounded, bounded_pieces, hold_budget};

/// Maximum number of kept handles. A further open closes the oldest.
const HANDLES_MAX: usize = 16;
/// Maximum bytes of the attributes of one file, with two bytes beside each key and value.
const ATTRIBUTE_BYTES: usize = 248;

impl Session<'_> {
    fn is_open(&self, id: u64) -> bool {
        self.handles.iter().any(|handle| handle.id == id)
    }

    fn commits_on(&self, event: CommitOn) -> bool {
        self.model.events.contains(event)
    }

    /// Returns the index of a handle of a removed file.
    pub fn removed_handle(&self) -> Option<usize> {
        self.handles.iter().position(|handle| self.model.current.orphans.contains_key(&handle.id))
    }

    /// Returns the index of a handle of the file at a path, kept from earlier or new; `None` if the
    /// file cannot be opened.
    fn handle(&mut self, path: &str, durable: bool) -> Result<Option<usize>, Error> {
        if let Some(node) = self.model.current.get(path)
            && let Some(index) = self
                .handles
                .iter()
                .rposition(|handle| handle.id == node.id && handle.durable == durable)
        {
            return Ok(Some(index));
        }
        self.open(path, durable)
    }

    /// Opens a file, and creates it if it is missing. Returns the handle's index.
    pub fn open(&mut self, path: &str, durable: bool) -> Result<Option<usize>, Error> {
        if self.handles.len() >= HANDLES_MAX {
            self.close(0)?;
        }
        let stream = path.bytes().map(usize::from).sum::<usize>() as u8 % self.fs.config().streams;
        let options = OpenOptions { durable, stream, ..OpenOptions::CREATE };
        if self.model.current.get(path).is_some_and(|node| node.is_directory) {
            assert_eq!(hard(self.fs.open(path, options))?.err(), Some(Error::IsADirectory));
            return Ok(None);
        }
        if self.model.current.get(path).is_some_and(|node| node.is_link) {
            assert_eq!(hard(self.fs.open(path, options))?.err(), Some(Error::IsALink));
            return Ok(None);
        }
        let Some(id) = self.model.current.get(path).map(|node| node.id) else {
            return self.create(path, options);
        };
        let file =
            bounded(&mut self.fs, Call::Open { depth: depth(path) }, |fs| fs.open(path, options))?;
        self.handles.push(Handle { file, id, durable });
        Ok(Some(self.handles.len() - 1))
    }

    fn create(&mut self, path: &str, options: OpenOptions) -> Result<Option<usize>, Error> {
        let id = self.model.next_stamp();
        let mut after = self.model.current.clone();
        if after
            .create(path, Node { id, modified_ns: self.model.now_ns, ..Node::default() })
            .is_err()
        {
            // The rollback of a transaction has removed its directory.
            return Ok(None);
        }
        let commits = options.durable || self.commits_on(CommitOn::CREATE);
        let call = Call::Create { depth: depth(path) };
        let Some(file) = self.change(vec![after], commits, |s| {
            bounded(&mut s.fs, call, |fs| fs.open(path, options))
        })?
        else {
            return Ok(None);
        };
        self.learn_inode(path, file.inode());
        self.handles.push(Handle { file, id, durable: options.durable });
        Ok(Some(self.handles.len() - 1))
    }

    /// Stores the inode that the volume chose for a new node, in all states that contain the node.
    fn learn_inode(&mut self, path: &str, inode: u32) {
        let id = self.model.current.get(path).expect("a node that was made").id;
        for state in self.model.durable.iter_mut().chain([&mut self.model.current]) {
            if state.by_id(id).is_some() {
                state.by_id_mut(id).inode = Some(inode);
            }
        }
    }

    pub fn write(
        &mut self,
        path: &str,
        offset: u64,
        bytes: usize,
        durable: bool,
    ) -> Result<(), Error> {
        match self.handle(path, durable)? {
            Some(index) => self.write_handle(index, offset, bytes),
            None => Ok(()),
        }
    }

    /// Returns the states of a write, one for each logical page, and the length of its longest
    /// piece.
    fn states_of_write(&self, id: u64, offset: u64, data: &[u8]) -> (Vec<Tree>, usize) {
        let logical_bytes = u64::from(self.fs.usage().logical_bytes);
        let (mut states, mut longest, mut done) = (Vec::new(), 0, 0);
        let mut state = self.model.current.clone();
        while done < data.len() {
            let at = offset + done as u64;
            let step = ((logical_bytes - at % logical_bytes) as usize).min(data.len() - done);
            let node = state.by_id_mut(id);
            node.data.resize(node.data.len().max(at as usize + step), 0);
            node.data[at as usize..at as usize + step].copy_from_slice(&data[done..done + step]);
            node.modified_ns = node.modified_ns.max(self.model.now_ns);
            states.push(state.clone());
            done += step;
            longest = longest.max(step);
        }
        (states, longest)
    }

    /// Writes through a handle.
    pub fn write_handle(&mut self, index: usize, offset: u64, bytes: usize) -> Result<(), Error> {
        let data = self.model.bytes(bytes);
        let Handle { id, durable, .. } = self.handles[index];
        let (states, longest) = self.states_of_write(id, offset, &data);
        let commits = durable || self.commits_on(CommitOn::WRITE);
        let call = self.fs.bounds().write_call(&self.handles[index].file, offset, longest as u32);
        let pieces = states.len() as u32;
        let act = |s: &mut Self| {
            let file = &mut s.handles[index].file;
            bounded_pieces(&mut s.fs, call, pieces, |fs| fs.write(file, offset, &data))
        };
        self.change(states, commits, act).map(drop)
    }

    pub fn truncate(&mut self, path: &str, size: u64, durable: bool) -> Result<(), Error> {
        if self.model.current.get(path).is_none_or(|node| !node.is_file()) {
            return Ok(());
        }
        match self.handle(path, durable)? {
            Some(index) => self.truncate_handle(index, size),
            None => Ok(()),
        }
    }

    /// Cuts or extends a file through a handle. Does nothing if the size stays: the model leaves
    /// open if such a call counts as a change of the file.
    pub fn truncate_handle(&mut self, index: usize, size: u64) -> Result<(), Error> {
        let Handle { id, durable, .. } = self.handles[index];
        let mut after = self.model.current.clone();
        let node = after.by_id_mut(id);
        if node.data.len() as u64 == size {
            return Ok(());
        }
        node.data.resize(size as usize, 0);
        node.modified_ns = node.modified_ns.max(self.model.now_ns);
        let commits = durable || self.commits_on(CommitOn::TRUNCATE);
        let act = |s: &mut Self| {
            let file = &mut s.handles[index].file;
            bounded(&mut s.fs, Call::Truncate, |fs| fs.truncate(file, size))
        };
        self.change(vec![after], commits, act).map(drop)
    }

    /// Reserves room for an existing file. The reservation has no visible effect.
    pub fn reserve(&mut self, path: &str, size: u64, durable: bool) -> Result<(), Error> {
        if self.model.current.get(path).is_none_or(|node| !node.is_file()) {
            return Ok(());
        }
        let Some(index) = self.handle(path, durable)? else { return Ok(()) };
        let current = self.model.current.clone();
        let act = |s: &mut Self| {
            let file = &mut s.handles[index].file;
            bounded(&mut s.fs, Call::Write(1), |fs| fs.reserve(file, 0, size))
        };
        if durable {
            // The call commits pending changes, unless there is nothing to reserve.
            self.model.durable.push(current.clone());
        }
        self.change(vec![current], false, act).map(drop)
    }

    /// Reads an existing file through one of its handles.
    pub fn read(&mut self, path: &str, offset: u64, bytes: usize) -> Result<(), Error> {
        let Some(node) =
            self.model.current.nodes.get(path).filter(|node| node.is_file()).map(Arc::clone)
        else {
            return Ok(());
        };
        let Some(index) = self.handle(path, false)? else { return Ok(()) };
        let mut data = vec![0xEE; bytes];
        let file = &mut self.handles[index].file;
        let count =
            bounded(&mut self.fs, Call::Read(bytes as u32), |fs| fs.read(file, offset, &mut data))?;
        let from = node.data.len().min(offset as usize);
        let expected = &node.data[from..node.data.len().min(from + bytes)];
        assert!(data[..count] == *expected, "read of {bytes} bytes at {offset} of {path:?}");
        Ok(())
    }

    /// Closes a handle. Closing the last handle of a removed file frees the file.
    pub fn close(&mut self, index: usize) -> Result<(), Error> {
        let Handle { file, id, .. } = self.handles.remove(index);
        let is_last = !self.is_open(id);
        let mut after = self.model.current.clone();
        let frees = is_last && after.orphans.remove(&id).is_some();
        let call = if frees { Call::Remove { depth: 0 } } else { Call::Sync };
        let commits = self.commits_on(CommitOn::CLOSE);
        self.change(vec![after], commits, |s| bounded(&mut s.fs, call, |fs| fs.close(file)))
            .map(drop)
    }

    /// Makes a call whose effect on the tree is `edit`. If `edit` returns an error, the volume must
    /// refuse the call with the same error.
    fn edit(
        &mut self,
        event: CommitOn,
        call: Call,
        edit: impl FnOnce(&Self, &mut Tree) -> Result<(), Error>,
        act: impl FnOnce(&mut super::Fs<'_>) -> Result<u32, Error>,
    ) -> Result<Option<u32>, Error> {
        let mut after = self.model.current.clone();
        if let Err(expected) = edit(self, &mut after) {
            let result = hard(bounded(&mut self.fs, call, act))?;
            assert_eq!(result, Err(expected), "{call:?}");
            return Ok(None);
        }
        let commits = self.commits_on(event);
        self.change(vec![after], commits, |s| bounded(&mut s.fs, call, act))
    }

    pub fn create_dir(&mut self, path: &str) -> Result<(), Error> {
        let (id, modified_ns) = (self.model.next_stamp(), self.model.now_ns);
        let node = Node { id, modified_ns, is_directory: true, ..Node::default() };
        let call = Call::Create { depth: depth(path) };
        let made = self.edit(
            CommitOn::MKDIR,
            call,
            |_, tree| tree.create(path, node),
            |fs| fs.create_dir(path),
        )?;
        made.into_iter().for_each(|inode| self.learn_inode(path, inode));
        Ok(())
    }

    /// Makes a symbolic link. The volume refuses a target of no bytes, and a target of more than a
    /// logical page.
    pub fn create_symlink(&mut self, path: &str, bytes: u8) -> Result<(), Error> {
        let (id, modified_ns) = (self.model.next_stamp(), self.model.now_ns);
        let target: String = self
            .model
            .bytes(usize::from(bytes))
            .iter()
            .map(|byte| char::from(b'a' + byte % 26))
            .collect();
        let node = Node {
            id,
            modified_ns,
            is_link: true,
            data: target.clone().into_bytes(),
            ..Node::default()
        };
        let call = Call::Symlink { depth: depth(path), bytes: bytes.into() };
        let edit = |_: &Self, tree: &mut Tree| match tree.create(path, node) {
            Ok(()) if target.is_empty() => Err(Error::InvalidName),
            result => result,
        };
        let made =
            self.edit(CommitOn::CREATE, call, edit, |fs| fs.create_symlink(path, &target))?;
        made.into_iter().for_each(|inode| self.learn_inode(path, inode));
        Ok(())
    }

    pub fn remove(&mut self, path: &str) -> Result<(), Error> {
        let edit = |s: &Self, tree: &mut Tree| {
            let is_open = tree.get(path).is_some_and(|node| s.is_open(node.id));
            tree.remove(path, false, is_open, s.model.now_ns)
        };
        let call = Call::Remove { depth: depth(path) };
        self.edit(CommitOn::REMOVE, call, edit, |fs| fs.remove(path).map(|()| 0)).map(drop)
    }

    pub fn remove_dir(&mut self, path: &str) -> Result<(), Error> {
        let edit = |s: &Self, tree: &mut Tree| tree.remove(path, true, false, s.model.now_ns);
        let call = Call::Remove { depth: depth(path) };
        self.edit(CommitOn::REMOVE, call, edit, |fs| fs.remove_dir(path).map(|()| 0)).map(drop)
    }

    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), Error> {
        let is_directory = self.model.current.get(from).is_some_and(|node| node.is_directory);
        if is_directory && !is_within(to, from) && depth(to) > 3 {
            // A directory that is moved down again and again gets paths without end.
            return Ok(());
        }
        let edit =
            |s: &Self, tree: &mut Tree| tree.rename(from, to, |id| s.is_open(id), s.model.now_ns);
        let call = Call::Rename { depth: depth(from) + depth(to) };
        if from == to && self.model.current.get(from).is_some() {
            // Nothing changes, so nothing commits.
            return bounded(&mut self.fs, call, |fs| fs.rename(from, to));
        }
        self.edit(CommitOn::RENAME, call, edit, |fs| fs.rename(from, to).map(|()| 0)).map(drop)
    }

    pub fn exchange(&mut self, one: &str, other: &str) -> Result<(), Error> {
        let edit = |s: &Self, tree: &mut Tree| tree.exchange(one, other, s.model.now_ns);
        let call = Call::Exchange { depth: depth(one) + depth(other) };
        if one == other && self.model.current.get(one).is_some() {
            // Nothing changes, so nothing commits.
            return bounded(&mut self.fs, call, |fs| fs.exchange(one, other));
        }
        self.edit(CommitOn::RENAME, call, edit, |fs| fs.exchange(one, other).map(|()| 0)).map(drop)
    }

    /// Sets an attribute, or removes it.
    pub fn set_attribute(&mut self, path: &str, key: u8, bytes: Option<u8>) -> Result<(), Error> {
        let Some(node) = self.model.current.get(path) else { return Ok(()) };
        let (id, inode) = (node.id, node.inode.expect("a node that is there"));
        let key = ["k", "mode", "a key of some length", "ключ"][usize::from(key) % 4];
        let value = bytes.map(|bytes| self.model.bytes(usize::from(bytes)));
        let edit = |_: &Self, tree: &mut Tree| {
            edit_attributes(&mut tree.by_id_mut(id).attributes, key, value.clone())
        };
        let act =
            |fs: &mut super::Fs<'_>| fs.set_attribute(inode, key, value.as_deref()).map(|()| 0);
        self.edit(CommitOn::WRITE, Call::SetAttribute, edit, act).map(drop)
    }

    /// Sets the permissions. A volume that keeps none must refuse.
    pub fn set_permissions(&mut self, path: &str, mode: u16) -> Result<(), Error> {
        let Some(node) = self.model.current.get(path) else { return Ok(()) };
        let (id, inode, keeps) =
            (node.id, node.inode.expect("a node that is there"), self.fs.config().permissions);
        let permissions = Permissions {
            mode,
            uid: self.model.next_stamp() as u32,
            gid: u32::MAX - u32::from(mode),
        };
        let edit = |_: &Self, tree: &mut Tree| {
            tree.by_id_mut(id).permissions = Some(permissions);
            if keeps { Ok(()) } else { Err(Error::Unsupported) }
        };
        let act = |fs: &mut super::Fs<'_>| fs.set_permissions(inode, permissions).map(|()| 0);
        self.edit(CommitOn::WRITE, Call::SetAttribute, edit, act).map(drop)
    }

    /// Does idle work, which has no visible effect and keeps to its budget.
    pub fn maintain(&mut self, operations: u32, burst: u64) -> Result<(), Error> {
        let (current, before, waits) =
            (self.model.current.clone(), self.fs.flash().counts(), self.fs.has_changes());
        self.fs.flash_mut().take_records();
        let act = |s: &mut Self| s.fs.maintain(Budget::Operations(operations), burst);
        let result = self.change(vec![current], false, act);
        assert!(!waits || result.is_err() || self.fs.has_changes(), "idle work committed");
        hold_budget(self.fs.flash(), &before, operations);
        result.map(drop)
    }

    /// Removes all attributes of a file or directory.
    pub fn clear_attributes(&mut self, path: &str) -> Result<(), Error> {
        (0..4).try_for_each(|key| self.set_attribute(path, key, None))
    }

    /// Compares the volume's answer for a path with the model.
    pub fn stat(&mut self, path: &str) -> Result<(), Error> {
        let expected = self
            .model
            .current
            .lookup(path)
            .map(|node| (node.inode, node.is_directory, node.data.len() as u64));
        let found =
            hard(bounded(&mut self.fs, Call::Open { depth: depth(path) }, |fs| fs.stat(path)))?;
        let found = found.map(|stat| match stat.kind {
            steadyfs::Kind::Directory => (Some(stat.inode), true, 0),
            _ => (Some(stat.inode), false, stat.size),
        });
        assert_eq!(found, expected, "stat {path:?}");
        Ok(())
    }

    /// Continues the listing by `count % 16 + 1` entries; starts one first if there is none.
    pub fn list(&mut self, directory: u8, count: u8) -> Result<(), Error> {
        if self.listing.is_none() {
            let directories = self.model.current.directories();
            let path = directories[usize::from(directory) % directories.len()].to_string();
            self.start_listing(&path);
        }
        (0..=count % 16).try_for_each(|_| self.list_one())
    }

    /// Starts to list a directory.
    pub fn start_listing(&mut self, path: &str) {
        let id = self.model.current.get(path).expect("a directory").id;
        let inode = |node: &Node| node.inode.expect("a node that is there");
        let steady = self
            .model
            .current
            .entries(path)
            .map(|(name, node)| ((name.to_string(), inode(node)), 0))
            .collect();
        self.listing = Some(Listing { id, cursor: Cursor::default(), steady });
    }

    /// Lists one entry, which must exist. At the end of the listing, every entry that existed all
    /// the time must have been listed once.
    pub fn list_one(&mut self) -> Result<(), Error> {
        let Some(listing) = &mut self.listing else { return Ok(()) };
        let path =
            self.model.current.path_of(listing.id).expect("a directory that is listed").to_string();
        let inode = self.model.current.get(&path).and_then(|node| node.inode).expect("its inode");
        let Some(entry) = self.fs.list(inode, &mut listing.cursor)? else {
            for (entry, count) in &listing.steady {
                assert_eq!(*count, 1, "{entry:?} of {path:?} was listed {count} times");
            }
            self.listing = None;
            return Ok(());
        };
        let node = self
            .model
            .current
            .get(&join(&path, entry.name()))
            .map(|node| (node.inode, node.data.len() as u64));
        let size = if entry.stat.kind == steadyfs::Kind::Directory { 0 } else { entry.stat.size };
        assert_eq!(
            node,
            Some((Some(entry.stat.inode), size)),
            "{} is listed in {path:?}",
            entry.name()
        );
        if let Some(count) = listing.steady.get_mut(&(entry.name().to_string(), entry.stat.inode)) {
            *count += 1;
        }
        Ok(())
    }

    /// Removes entries that are gone from the listing. Ends the listing if its directory is gone.
    pub fn note_listing(&mut self) {
        let Some(listing) = &mut self.listing else { return };
        let Some(path) = self.model.current.path_of(listing.id) else {
            self.listing = None;
            return;
        };
        let current = &self.model.current;
        listing.steady.retain(|(name, inode), _| {
            current.get(&join(path, name)).is_some_and(|node| node.inode == Some(*inode))
        });
    }
}

/// Sets or removes an attribute, or returns the error that the volume must return.
fn edit_attributes(
    pairs: &mut BTreeMap<String, Vec<u8>>,
    key: &str,
    value: Option<Vec<u8>>,
) -> Result<(), Error> {
    let Some(value) = value else { return pairs.remove(key).map(drop).ok_or(Error::NotFound) };
    pairs.insert(key.into(), value);
    let bytes: usize = pairs.iter().map(|(key, value)| 2 + key.len() + value.len()).sum();
    if bytes <= ATTRIBUTE_BYTES { Ok(()) } else { Err(Error::AttributesTooLarge) }
}
