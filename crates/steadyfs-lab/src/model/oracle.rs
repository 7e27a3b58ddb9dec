//! The contents of a volume after each call, and the states that a power cut may leave. The module
//! [`super::calls`] defines the effect of each call.

use std::collections::BTreeMap;
use std::sync::Arc;

use steadyfs::media::Flash;
use steadyfs::{
    Access, Call, CommitLimits, CommitOn, Cursor, Entry, Error, File, InodeNumber, Kind,
    MountError, OpenOptions, ROOT,
};

use super::steps::{Op, PAGES_AT_REST, name};
use super::tree::{Node, Tree, depth, join};
use super::{Device, Fs, Rng, bounded, rollback_within_bound, unmount_within_bound};

/// Limits for [`CommitOn::MANY`]: a few small changes, or a long one, may wait.
const LIMITS: CommitLimits = CommitLimits { changes: 5, bytes: 3000 };

/// The contents of the volume, and the states that a power cut may leave.
#[derive(Clone, Debug)]
pub struct Model {
    /// The state that the open transaction shows.
    pub current: Tree,
    /// States that may be on the medium: the last acknowledged state first, then the states that a
    /// call in flight may reach.
    pub durable: Vec<Tree>,
    /// Events after which the volume commits by itself.
    pub events: CommitOn,
    pub now_ns: u64,
    /// Most entries that the root had at once. Its table does not shrink.
    pub root_entries_max: u32,
    /// Number that was given out last, to a node or to a write. It makes the bytes of every write
    /// different.
    stamp: u64,
}

impl Model {
    /// Returns the model of an empty volume.
    pub fn new(events: CommitOn) -> Self {
        let empty = Tree::default();
        Self {
            durable: vec![empty.clone()],
            current: empty,
            events,
            now_ns: 0,
            root_entries_max: 0,
            stamp: 0,
        }
    }

    /// Makes `state` the current state, and the only state that may be on the medium.
    pub fn settle(&mut self, state: Tree) {
        self.current = state.clone();
        self.durable = vec![state];
    }

    /// Returns a number that was not given out before.
    pub fn next_stamp(&mut self) -> u64 {
        self.stamp += 1;
        self.stamp
    }

    /// Returns bytes for a write. No two writes are alike.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut rng = Rng(self.next_stamp());
        (0..count).map(|_| rng.next() as u8).collect()
    }
}

/// An open file.
pub struct Handle {
    pub file: File,
    /// Identity of its node.
    pub id: u64,
    pub durable: bool,
}

/// Identity of a handle's node, and the data that the handle reads; `None` if the file was undone.
type HandleRead = (u64, Option<Vec<u8>>);

/// A listing that goes on while the directory changes.
pub struct Listing {
    /// Identity of the directory.
    pub id: u64,
    pub cursor: Cursor,
    /// Entries that existed all the time, and the number of times that each was listed.
    pub steady: BTreeMap<(String, InodeNumber), u32>,
}

/// A mounted volume and its oracle, with the open files.
pub struct Session<'a> {
    pub fs: Fs<'a>,
    pub model: &'a mut Model,
    pub handles: Vec<Handle>,
    pub listing: Option<Listing>,
    /// Error of the last change that was refused for lack of room. The caller takes it.
    pub refusal: Option<Error>,
}

impl<'a> Session<'a> {
    /// Mounts, and compares the volume with the allowed states.
    pub fn mount(device: &'a mut Device, model: &'a mut Model) -> Result<Self, MountError> {
        Self::mount_for(Access::ReadWrite, device, model)
    }

    /// Mounts and compares as [`mount`](Self::mount) does, with `access`. A chip that no longer
    /// programs allows only reading.
    pub fn mount_for(
        access: Access,
        device: &'a mut Device,
        model: &'a mut Model,
    ) -> Result<Self, MountError> {
        let mut session = Self::open_volume(access, device, model)?;
        session.compare()?;
        Ok(session)
    }

    /// Compares the volume with the states that are allowed after a mount. The found state becomes
    /// the model's only state.
    pub fn compare(&mut self) -> Result<(), Error> {
        verify(&mut self.fs)?;
        let found = contents(&mut self.fs)?;
        let model = &mut self.model;
        let Some(state) = model.durable.iter().find(|state| state.agrees(&found)) else {
            panic!("after a mount: {}", differences(&model.durable, &found));
        };
        let mut state = state.clone();
        state.adopt_inodes(&found);
        // After a mount, no handle of these files is left.
        state.orphans.clear();
        model.settle(state);
        Ok(())
    }

    /// Mounts without a comparison: the content is known, or the caller compares it.
    pub fn open_volume(
        access: Access,
        device: &'a mut Device,
        model: &'a mut Model,
    ) -> Result<Self, MountError> {
        let mut fs = device.mount(access)?;
        fs.set_commit_on(model.events);
        fs.set_commit_limits(LIMITS);
        fs.set_time(model.now_ns);
        Ok(Self { fs, model, handles: Vec::new(), listing: None, refusal: None })
    }

    /// Unmounts. Uncommitted changes are lost unless the unmount commits.
    pub fn unmount(self) -> Result<(), Error> {
        if self.model.events.contains(CommitOn::UNMOUNT) {
            self.model.durable.push(self.model.current.clone());
            unmount_within_bound(self.fs)?;
            self.model.settle(self.model.current.clone());
            return Ok(());
        }
        unmount_within_bound(self.fs)
    }

    /// Compares all contents with the current state, including removed files that are still open.
    pub fn check(&mut self) -> Result<(), Error> {
        let found = contents(&mut self.fs)?;
        assert!(
            self.model.current.agrees(&found),
            "{}",
            differences(std::slice::from_ref(&self.model.current), &found)
        );
        verify(&mut self.fs)?;
        for (id, read) in self.read_handles()? {
            let expected = self.model.current.by_id(id).map(|node| &node.data);
            assert!(expected == read.as_ref(), "what the handle of node {id} reads");
        }
        Ok(())
    }

    /// Returns the path of a name in an existing directory. A number beyond the directories, or a
    /// directory of four names or more, stands for the root.
    pub fn path(&self, directory: u8, number: u16) -> String {
        let directories = self.model.current.directories();
        let directory = match directories.get(usize::from(directory) % (directories.len() + 1)) {
            Some(path) if depth(path) < 4 => path,
            _ => "",
        };
        join(directory, &name(number))
    }

    /// Makes a step and compares it with the oracle and with its bound. Returns the errors of the
    /// medium.
    pub fn step(&mut self, op: &Op) -> Result<(), Error> {
        let path = |at: super::steps::At| self.path(at.directory, at.name);
        match *op {
            Op::Open { at, durable } => {
                let path = path(at);
                self.open(&path, durable).map(drop)
            }
            Op::Write { at, offset, bytes, durable } => {
                let path = path(at);
                self.write(&path, offset, bytes, durable)
            }
            Op::Append { at, bytes, durable } => {
                let path = path(at);
                let end = self.model.current.size(&path) as u64;
                self.write(&path, end, bytes, durable)
            }
            Op::Truncate { at, size, durable } => {
                let path = path(at);
                self.truncate(&path, size, durable)
            }
            Op::Reserve { at, size, durable } => {
                let path = path(at);
                self.reserve(&path, size, durable)
            }
            Op::Read { at, offset, bytes } => {
                let path = path(at);
                self.read(&path, offset, bytes)
            }
            Op::WriteRemoved { offset, bytes } => match self.removed_handle() {
                Some(index) => self.write_handle(index, offset, bytes),
                None => Ok(()),
            },
            Op::TruncateRemoved { size } => match self.removed_handle() {
                Some(index) => self.truncate_handle(index, size),
                None => Ok(()),
            },
            Op::Close { .. } if self.handles.is_empty() => Ok(()),
            Op::Close { handle } => self.close(usize::from(handle) % self.handles.len()),
            Op::CreateDir { at } => {
                let path = path(at);
                self.create_dir(&path)
            }
            Op::Symlink { at, bytes } => {
                let path = path(at);
                self.create_symlink(&path, bytes)
            }
            Op::Remove { at } => {
                let path = path(at);
                self.remove(&path)
            }
            Op::RemoveDir { at } => {
                let path = path(at);
                self.remove_dir(&path)
            }
            Op::Rename { from, to } => {
                let (from, to) = (path(from), path(to));
                self.rename(&from, &to)
            }
            Op::SetAttribute { at, key, bytes } => {
                let path = path(at);
                self.set_attribute(&path, key, bytes)
            }
            Op::SetPermissions { at, mode } => {
                let path = path(at);
                self.set_permissions(&path, mode)
            }
            Op::Stat { at } => {
                let path = path(at);
                self.stat(&path)
            }
            Op::List { directory, count } => self.list(directory, count),
            Op::Commit => self.commit(true, |fs| fs.commit()),
            Op::Sync => self
                .commit(self.model.events.contains(CommitOn::SYNC), |fs| fs.sync(CommitOn::SYNC)),
            Op::Flush => self.flush(),
            Op::Poll => self.poll(),
            Op::Maintain { operations, burst } => self.maintain(operations, burst),
            Op::Rollback => self.rollback(),
            Op::Events { events } => {
                self.model.events = events;
                self.fs.set_commit_on(events);
                Ok(())
            }
            Op::Wait { ns } => {
                self.model.now_ns += u64::from(ns);
                self.fs.set_time(self.model.now_ns);
                Ok(())
            }
            Op::Remount | Op::Crash => unreachable!("the workload's owner mounts"),
        }?;
        self.note_listing();
        Ok(())
    }

    /// Makes a change that goes through `states`. If `commits`, the call commits each of them.
    ///
    /// Returns `None` if the change was refused. A refused change leaves one of the states, or
    /// undoes the open transaction.
    pub fn change<T>(
        &mut self,
        states: Vec<Tree>,
        commits: bool,
        act: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let before = self.model.current.clone();
        let known = self.model.durable.clone();
        // The volume alone decides if enough changes wait, so any call may commit.
        let may_commit = self.model.events.contains(CommitOn::FULL.with(CommitOn::MANY));
        if may_commit {
            self.model.durable.push(before.clone());
        }
        if commits || may_commit {
            self.model.durable.extend(states.iter().cloned());
        }
        match act(self) {
            Ok(value) => {
                self.model.current = states.last().unwrap_or(&before).clone();
                assert!(
                    !commits || !self.fs.has_changes(),
                    "something waits after a call that commits"
                );
                self.note_commit();
                Ok(Some(value))
            }
            Err(error @ (Error::NoSpace | Error::TransactionTooLarge | Error::TooManyFiles)) => {
                self.refusal = Some(error);
                let candidates: Vec<Tree> =
                    [before].into_iter().chain(states).chain(known).collect();
                self.find_state(&candidates, "after a refused call")?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Updates the most entries of the root. If nothing waits for a commit, the current state is
    /// the only state on the medium.
    pub fn note_commit(&mut self) {
        let entries = self.model.current.entries("").count() as u32;
        self.model.root_entries_max = self.model.root_entries_max.max(entries);
        if !self.fs.has_changes() {
            self.model.settle(self.model.current.clone());
        }
    }

    /// Finds the state of the volume among `candidates`. Closes handles of files that no longer
    /// exist.
    pub fn find_state(&mut self, candidates: &[Tree], when: &str) -> Result<(), Error> {
        let found = contents(&mut self.fs)?;
        let reads = self.read_handles()?;
        let holds = |state: &&Tree| {
            let data = |id: u64| state.by_id(id).map(|node| &node.data);
            state.agrees(&found) && reads.iter().all(|(id, read)| data(*id) == read.as_ref())
        };
        let Some(state) = candidates.iter().find(holds) else {
            panic!("{when}: {}", differences(candidates, &found));
        };
        self.model.current = state.clone();
        self.model.current.adopt_inodes(&found);
        let (kept, gone) = std::mem::take(&mut self.handles)
            .into_iter()
            .partition(|h| state.by_id(h.id).is_some());
        self.handles = kept;
        Vec::into_iter(gone).try_for_each(|handle: Handle| self.fs.close(handle.file))?;
        let (handles, orphans) = (&self.handles, &mut self.model.current.orphans);
        orphans.retain(|id, _| handles.iter().any(|handle| handle.id == *id));
        self.note_commit();
        Ok(())
    }

    /// Returns the data that each handle reads; `None` if its file was undone.
    fn read_handles(&mut self) -> Result<Vec<HandleRead>, Error> {
        let fs = &mut self.fs;
        let mut read = |handle: &mut Handle| match hard(fs.size(&mut handle.file))? {
            Ok(size) => {
                let mut data = vec![0xEE; size as usize + 1];
                let count = fs.read(&mut handle.file, 0, &mut data)?;
                data.truncate(count);
                Ok((handle.id, Some(data)))
            }
            Err(error) => {
                assert_eq!(error, Error::Stale);
                Ok((handle.id, None))
            }
        };
        self.handles.iter_mut().map(&mut read).collect()
    }

    fn rollback(&mut self) -> Result<(), Error> {
        rollback_within_bound(&mut self.fs)?;
        assert!(!self.fs.has_changes());
        let candidates = self.model.durable.clone();
        self.find_state(&candidates, "after a rollback")
    }

    /// Makes a call that makes everything durable, if `commits`.
    fn commit(
        &mut self,
        commits: bool,
        act: impl FnOnce(&mut Fs<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let current = self.model.current.clone();
        let made = self.change(vec![current], commits, |s| bounded(&mut s.fs, Call::Sync, act))?;
        assert!(made.is_some(), "a commit was refused: accepted changes must have room");
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        let commits = self.model.events.contains(CommitOn::FSYNC);
        let Some(handle) = self.handles.pop() else { return Ok(()) };
        let result = self.commit(commits, |fs| fs.sync(CommitOn::FSYNC));
        self.handles.push(handle);
        result
    }

    fn poll(&mut self) -> Result<(), Error> {
        let (now_ns, waits) = (self.model.now_ns, self.fs.has_changes());
        let timed = self.model.events.contains(CommitOn::TIMED);
        let before = self.model.durable.clone();
        self.model.durable.extend(timed.then(|| self.model.current.clone()));
        let due = bounded(&mut self.fs, Call::Sync, |fs| fs.poll(now_ns))?;
        if self.fs.has_changes() {
            self.model.durable = before;
        }
        assert!(due.is_none_or(|due| due > now_ns && waits), "due {due:?} at {now_ns}");
        assert!(
            !timed || due.is_some() == self.fs.has_changes(),
            "changes wait, but no commit time is set"
        );
        self.note_commit();
        Ok(())
    }

    /// Removes everything, and asserts that all room is free again. The table of the root keeps its
    /// room, because it does not shrink.
    pub fn remove_all(&mut self) -> Result<(), Error> {
        self.fs.set_commit_on(CommitOn::ON_SYNC);
        self.model.events = CommitOn::ON_SYNC;
        while !self.handles.is_empty() {
            self.close(0)?;
        }
        let paths: Vec<_> = self.model.current.nodes.keys().cloned().collect();
        for path in paths.iter().rev().filter(|path| !path.is_empty()) {
            if self.model.current.get(path).is_some_and(|node| node.is_directory) {
                self.remove_dir(path)?;
            } else {
                self.remove(path)?;
            }
        }
        self.clear_attributes("")?;
        let allowed = root_pages_max(&self.fs, self.model.root_entries_max)
            * u64::from(self.fs.usage().logical_bytes);
        let pages = self.fs.usage().usable_bytes / u64::from(self.fs.usage().logical_bytes);
        // Each commit frees a few pages. The attribute gives it something to commit.
        for round in 0..2 * pages + 2000 {
            let usage = self.fs.usage();
            if usage.files == 0 && usage.used_bytes <= allowed {
                return Ok(());
            }
            self.set_attribute("", 0, (round % 2 == 0).then_some(1))?;
            self.step(&Op::Commit)?;
        }
        panic!("room is lost: {:?}; {allowed} bytes belong to the root", self.fs.usage());
    }
}

/// Returns the maximum number of logical pages of the root's table after up to `entries` entries at
/// once. These are its index, and one page for each fifth of a page of entries. If pages are large,
/// it is one page for each two fifths.
fn root_pages_max(fs: &Fs<'_>, entries: u32) -> u64 {
    let slots = fs.usage().logical_bytes / 8;
    let average = if slots >= 256 { slots * 2 / 5 } else { slots / 5 };
    if entries == 0 {
        0
    } else if entries <= average * 3 / 2 {
        1
    } else {
        u64::from(entries / average) + 3
    }
}

/// Returns errors of the medium as errors, and every other result as an answer.
pub fn hard<T>(result: Result<T, Error>) -> Result<Result<T, Error>, Error> {
    match result {
        Err(
            error @ (Error::Device
            | Error::MediaFailing
            | Error::Corrupt
            | Error::ReadOnly
            | Error::Unknown),
        ) => Err(error),
        answer => Ok(answer),
    }
}

/// Asserts that the volume's own check finds nothing.
fn verify(fs: &mut Fs<'_>) -> Result<(), Error> {
    let mut scratch = vec![0; fs.config().check_bytes(&fs.flash().geometry())];
    let mut findings = Vec::new();
    fs.check(&mut scratch, false, &mut |finding| findings.push(finding))?;
    assert_eq!(findings, [], "what the volume's own check finds");
    Ok(())
}

/// Reads every file and directory.
pub fn contents(fs: &mut Fs<'_>) -> Result<Tree, Error> {
    let mut tree = Tree::default();
    let root = fs.stat(ROOT)?;
    let attributes = attributes(fs, ROOT)?;
    let permissions = fs.permissions(ROOT)?;
    let modified_ns = root.modified_ns;
    let root = Node {
        is_directory: true,
        inode: Some(ROOT),
        attributes,
        modified_ns,
        permissions,
        ..Node::default()
    };
    tree.nodes.insert("".into(), Arc::new(root));
    let mut waiting = vec![(String::new(), ROOT)];
    while let Some((directory, inode)) = waiting.pop() {
        let (mut cursor, mut count, mut subdirectories) = (Cursor::default(), 0, 0);
        while let Some(entry) = fs.list(inode, &mut cursor)? {
            let path = join(&directory, entry.name());
            assert_eq!(entry.stat.parent, inode, "the directory above {path:?}");
            count += 1;
            if entry.stat.kind == Kind::Directory {
                subdirectories += 1;
                waiting.push((path.clone(), entry.stat.inode));
            }
            let node = read_node(fs, inode, &entry)?;
            let twice = tree.nodes.insert(path.clone().into(), Arc::new(node));
            assert!(twice.is_none(), "{path:?} is listed twice");
        }
        let stat = fs.stat(inode)?;
        assert_eq!(
            (stat.size, stat.subdirectories),
            (count, subdirectories),
            "entries of {directory:?}"
        );
    }
    Ok(tree)
}

/// Reads a file or link, or the metadata of a directory.
fn read_node(fs: &mut Fs<'_>, directory: InodeNumber, entry: &Entry) -> Result<Node, Error> {
    let mut data = Vec::new();
    if entry.stat.kind == Kind::File {
        let mut file = fs.open((directory, entry.name()), OpenOptions::READ)?;
        assert_eq!(file.inode(), entry.stat.inode);
        data.resize(entry.stat.size as usize, 0xEE);
        let count = fs.read(&mut file, 0, &mut data)?;
        assert_eq!(count, data.len(), "{} is shorter than in the list", entry.name());
        fs.close(file)?;
    }
    if entry.stat.kind == Kind::Symlink {
        data.resize(entry.stat.size as usize, 0xEE);
        let bytes = fs.read_link(entry.stat.inode, &mut data)?;
        assert_eq!(bytes, data.len(), "{} has another length than in the list", entry.name());
    }
    Ok(Node {
        id: 0,
        inode: Some(entry.stat.inode),
        is_directory: entry.stat.kind == Kind::Directory,
        is_link: entry.stat.kind == Kind::Symlink,
        data,
        attributes: attributes(fs, entry.stat.inode)?,
        permissions: fs.permissions(entry.stat.inode)?,
        modified_ns: entry.stat.modified_ns,
    })
}

fn attributes(fs: &mut Fs<'_>, inode: InodeNumber) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let mut pairs = BTreeMap::new();
    fs.attributes(inode, |key, value| {
        let twice = pairs.insert(key.to_string(), value.to_vec());
        assert!(twice.is_none(), "attribute {key} is there twice");
    })?;
    Ok(pairs)
}

/// Describes the difference between `found` and the nearest of `states`.
fn differences(states: &[Tree], found: &Tree) -> String {
    let nearest = states
        .iter()
        .map(|state| state.difference(found))
        .min_by_key(String::len)
        .unwrap_or_default();
    format!("none of the {} allowed states; the nearest differs: {nearest}", states.len())
}

/// Fills up to `percent` percent of a volume's room with files at rest, and leaves the rest to a
/// workload.
pub fn fill(device: &mut Device, model: &mut Model, percent: u64) {
    let mut session = Session::mount(device, model).expect("mount");
    let usage = session.fs.usage();
    let pages = usage.usable_bytes * percent / 100 / u64::from(usage.logical_bytes);
    for page in 0..pages {
        let name = format!("rest{}", page / PAGES_AT_REST);
        let end = session.model.current.size(&name) as u64;
        session.write(&name, end, usage.logical_bytes as usize, true).expect("fill");
    }
    session.step(&Op::Commit).expect("commit");
}

/// Runs steps. Mounts at the start, and after each [`Op::Crash`] and [`Op::Remount`].
///
/// # Errors
/// Errors of the medium: power is off, or too many operations failed.
pub fn work(
    device: &mut Device,
    model: &mut Model,
    mut ops: impl Iterator<Item = Op>,
) -> Result<(), MountError> {
    loop {
        let mut session = Session::mount(device, model)?;
        let crash = loop {
            match ops.next() {
                None => return Ok(session.check()?),
                Some(Op::Crash) => break true,
                Some(Op::Remount) => break false,
                Some(op) => session.step(&op)?,
            }
        };
        if !crash {
            session.unmount()?;
        }
    }
}
