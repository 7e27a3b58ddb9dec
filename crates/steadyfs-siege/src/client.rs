//! A client that makes random calls of the public API.

use std::rc::Rc;

use steadyfs::{Budget, CommitOn, OpenOptions};

use crate::session::{Answer, Change, Commits, Handle, Session};
use crate::tree::{Id, Tree};

/// Maximum number of handles that the client keeps.
const HANDLES_MAX: usize = 3;
/// Maximum number of files with which the client fills a volume.
const FILES_MAX: u32 = 200;
/// Largest file of the client, in bytes.
const FILE_MAX: usize = 60_000;

/// Habits of a client.
#[derive(Clone, Debug)]
pub struct Habits {
    /// Share of the volume that the client fills, in percent. With more than 100, calls run out
    /// of room all the time.
    pub fill_percent: usize,
    /// Number of names to choose from.
    pub names: u32,
    /// True if most writes are small.
    pub is_small: bool,
}

impl Habits {
    /// Draws the habits of any client.
    pub fn any(rng: &mut fastrand::Rng) -> Self {
        let fill_percent = *rng.choice(&[20, 50, 70, 85, 95, 120]).expect("one of six");
        Self { fill_percent, names: rng.u32(4..24), is_small: rng.bool() }
    }

    /// Draws the habits of a client of a nearly full volume, which mostly replaces data.
    pub fn of_a_full_volume(rng: &mut fastrand::Rng) -> Self {
        Self {
            fill_percent: rng.usize(80..=97),
            names: rng.u32(4..24),
            is_small: rng.u32(..4) == 0,
        }
    }
}

/// Draws the events that commit. The extremes are more frequent.
pub fn any_events(rng: &mut fastrand::Rng) -> CommitOn {
    match rng.u32(..8) {
        0..3 => CommitOn::MANUAL,
        3..6 => CommitOn::ON_SYNC,
        6 => CommitOn::ON_CLOSE,
        _ => CommitOn::EVERY_WRITE,
    }
}

impl Session<'_, '_, '_> {
    /// Makes `count` calls. Stops if the session is over, or if `each` returns false after a
    /// call. Returns true if all calls were made and the session may go on.
    pub fn work(
        &mut self,
        habits: &Habits,
        count: u32,
        mut each: impl FnMut(&mut Self, u32) -> bool,
    ) -> bool {
        for call in 0..count {
            if let Answer::Over = self.any_call(habits) {
                return false;
            }
            if !self.has_power() || !each(self, call) {
                return false;
            }
        }
        true
    }

    /// Fills the volume with files, as far as the habits go. Then overwrites pages of them, so
    /// that every block holds some live pages.
    pub fn fill(&mut self, habits: &Habits) -> bool {
        for name in 0..FILES_MAX {
            let usage = self.fs.usage();
            if usage.used_bytes as usize >= usage.usable_bytes as usize * habits.fill_percent / 100
            {
                break;
            }
            let size = self.rng.usize(FILE_MAX / 4..FILE_MAX);
            let write = |session: &mut Self, handle: &mut Handle| session.write(handle, 0, size);
            if let Answer::Over = self.with_file(&format!("full{name}"), OpenOptions::CREATE, write)
            {
                return false;
            }
        }
        let usage = self.fs.usage();
        (0..usage.usable_bytes / u64::from(usage.logical_bytes) / 4)
            .all(|_| !matches!(self.any_overwrite(habits), Answer::Over))
    }

    /// Makes one call, or a few that belong together.
    pub fn any_call(&mut self, habits: &Habits) -> Answer<()> {
        let usage = self.fs.usage();
        let limit = usage.usable_bytes as usize * habits.fill_percent / 100;
        let is_full = usage.used_bytes as usize >= limit;
        match self.rng.u32(..100) {
            0..10 => self.any_create(habits),
            10..35 if !is_full => self.any_write(habits),
            10..20 => self.any_remove(habits),
            20..35 => self.any_overwrite(habits),
            35..48 => self.any_overwrite(habits),
            48..53 => self.any_truncate(),
            53..59 => self.any_remove(habits),
            59..66 => self.any_rename(habits),
            66..70 => self.any_create_dir(habits),
            70..72 => self.any_remove_dir(habits),
            72..77 => self.any_attribute(habits),
            77..80 => self.any_handle(habits),
            80..83 => self.any_idle_work(),
            83..86 => self.any_read(habits),
            86..89 => self.rollback(),
            89..92 => self.sync(),
            _ => self.commit(),
        }
    }

    fn sync(&mut self) -> Answer<()> {
        let commits =
            if self.events.contains(CommitOn::SYNC) { Commits::Must } else { self.commits(false) };
        self.call("sync", Change::none(commits), |session| session.fs.sync(CommitOn::SYNC))
    }

    fn any_name(&mut self, habits: &Habits) -> String {
        let name = self.rng.u32(..habits.names);
        // Some names do not fit into an inode.
        if name.is_multiple_of(7) {
            format!("{name}{}", "n".repeat(60 + name as usize * 5))
        } else {
            format!("f{name}")
        }
    }

    /// Draws a path that may or may not exist. Now and then the path leads through a file.
    fn any_path(&mut self, habits: &Habits) -> String {
        let tree = self.oracle.current.clone();
        let (files, directories) = (tree.files(), tree.directories());
        match self.rng.u32(..40) {
            0 if !files.is_empty() => {
                format!("{}/{}", self.rng.choice(&files).expect("some"), self.any_name(habits))
            }
            1 => format!("missing/{}", self.any_name(habits)),
            2..6 if directories.len() > 1 => {
                (*self.rng.choice(&directories[1..]).expect("some")).to_string()
            }
            6..24 if !files.is_empty() => (*self.rng.choice(&files).expect("some")).to_string(),
            _ => {
                let shallow: Vec<&&str> =
                    directories.iter().filter(|path| path.matches('/').count() < 3).collect();
                let parent = **self.rng.choice(&shallow).expect("the root");
                let name = self.any_name(habits);
                if parent.is_empty() { name } else { format!("{parent}/{name}") }
            }
        }
    }

    fn any_file(&mut self, habits: &Habits) -> String {
        let tree = self.oracle.current.clone();
        let files = tree.files();
        if files.is_empty() || self.rng.u32(..30) == 0 {
            return self.any_path(habits);
        }
        (*self.rng.choice(&files).expect("some")).to_string()
    }

    fn any_size(&mut self, habits: &Habits) -> usize {
        let page = self.fs.usage().logical_bytes as usize;
        match self.rng.u32(..10) {
            _ if habits.is_small && self.rng.bool() => self.rng.usize(1..100),
            0..3 => self.rng.usize(1..150),
            3..6 => self.rng.usize(1..=page),
            6..8 => page,
            8 => page * self.rng.usize(1..4),
            _ => self.rng.usize(1..page * 6),
        }
    }

    /// Opens a file, and has the session judge the answer.
    fn open(&mut self, path: &str, options: OpenOptions) -> Answer<Handle> {
        let streams = u32::from(self.fs.config().streams);
        let options = OpenOptions {
            stream: (path.bytes().map(u32::from).sum::<u32>() % streams) as u8,
            ..options
        };
        let new = self.oracle.new_id();
        let before = self.oracle.current.clone();
        let verdict = before.open(path, options.create, options.create_new, options.truncate, new);
        let is_change = verdict.as_ref().is_ok_and(|after| *after != *before);
        let commits = if is_change {
            self.commits(options.durable)
        } else {
            Commits::May.min_of(self.commits(false))
        };
        let id = verdict.as_ref().ok().and_then(|after| after.id(path));
        let change = Change::one(verdict, commits);
        match self.call(format!("open {path} {}", words_of(options)), change, |session| {
            session.fs.open(path, options)
        }) {
            Answer::Done(file) => Answer::Done(Handle {
                file,
                id: id.expect("it is open"),
                is_durable: options.durable,
            }),
            Answer::Refused => Answer::Refused,
            Answer::Over => Answer::Over,
        }
    }

    fn close(&mut self, handle: Handle) -> Answer<()> {
        let commits = self.commits(false);
        let answer =
            self.call("close", Change::none(commits), |session| session.fs.close(handle.file));
        let open: Vec<Id> = self.handles.iter().map(|handle| handle.id).collect();
        Rc::make_mut(&mut self.oracle.current).forget_unused(&open);
        answer
    }

    fn any_options(&mut self) -> OpenOptions {
        let mut options = OpenOptions::CREATE;
        options.durable = self.rng.u32(..4) == 0;
        options.truncate = self.rng.u32(..6) == 0;
        options.create_new = self.rng.u32(..10) == 0;
        options
    }

    fn any_create(&mut self, habits: &Habits) -> Answer<()> {
        let path = self.any_path(habits);
        let options = self.any_options();
        let size = self.any_size(habits);
        self.with_file(&path, options, |session, handle| match session.rng.u32(..4) {
            0 => Answer::Done(()),
            _ => session.write(handle, 0, size),
        })
    }

    /// Opens a file, runs a function on it, and closes it.
    fn with_file(
        &mut self,
        path: &str,
        options: OpenOptions,
        run: impl FnOnce(&mut Self, &mut Handle) -> Answer<()>,
    ) -> Answer<()> {
        let mut handle = match self.open(path, options) {
            Answer::Done(handle) => handle,
            Answer::Refused => return Answer::Refused,
            Answer::Over => return Answer::Over,
        };
        match run(self, &mut handle) {
            Answer::Over => Answer::Over,
            // After an error, a client may leave the handle open.
            Answer::Refused if self.was_struck && self.rng.bool() => Answer::Refused,
            answer => match self.close(handle) {
                Answer::Done(()) => answer,
                other => other,
            },
        }
    }

    fn write(&mut self, handle: &mut Handle, offset: usize, size: usize) -> Answer<()> {
        let mut bytes = vec![0; size];
        self.rng.fill(&mut bytes);
        let page = self.fs.usage().logical_bytes as usize;
        let before = self.oracle.current.clone();
        let commits = self.commits(handle.is_durable);
        let id = handle.id;
        let change = if !before.nodes.contains_key(&id) {
            Change::one(Err(vec![steadyfs::Error::Stale]), commits)
        } else {
            let mut ends: Vec<usize> = (offset / page + 1..)
                .map(|n| n * page)
                .take_while(|end| *end < offset + size)
                .collect();
            ends.push(offset + size);
            let steps = ends
                .iter()
                .map(|end| Rc::new(before.write(id, offset, &bytes[..end - offset])))
                .collect();
            Change { steps, commits, refusal: vec![] }
        };
        let name = format!(
            "write #{id} {offset} + {size}{}",
            if handle.is_durable { " durably" } else { "" }
        );
        self.call(name, change, |session| session.fs.write(&mut handle.file, offset as u64, &bytes))
    }

    fn size_of(&self, handle: &Handle) -> usize {
        self.oracle.current.nodes.get(&handle.id).map_or(0, |node| node.data.len())
    }

    fn any_write(&mut self, habits: &Habits) -> Answer<()> {
        let size = self.any_size(habits);
        let path = self.any_file(habits);
        let options = OpenOptions { durable: self.rng.u32(..4) == 0, ..OpenOptions::CREATE };
        self.with_file(&path, options, |session, handle| {
            let end = session.size_of(handle);
            let gap = if session.rng.u32(..12) == 0 { session.rng.usize(..5_000) } else { 0 };
            if end + gap + size > FILE_MAX {
                Answer::Done(())
            } else {
                session.write(handle, end + gap, size)
            }
        })
    }

    fn any_overwrite(&mut self, habits: &Habits) -> Answer<()> {
        let size = self.any_size(habits);
        let path = self.any_file(habits);
        let options = OpenOptions { durable: self.rng.u32(..3) == 0, ..OpenOptions::WRITE };
        self.with_file(&path, options, |session, handle| {
            let end = session.size_of(handle);
            let page = session.fs.usage().logical_bytes as usize;
            let mut offset = session.rng.usize(..=end);
            if session.rng.bool() {
                offset -= offset % page;
            }
            let size = if session.rng.bool() { size.min((end - offset).max(1)) } else { size };
            if offset + size > FILE_MAX {
                Answer::Done(())
            } else {
                session.write(handle, offset, size)
            }
        })
    }

    fn any_truncate(&mut self) -> Answer<()> {
        let tree = self.oracle.current.clone();
        let files = tree.files();
        let Some(path) = self.rng.choice(&files).map(|path| path.to_string()) else {
            return Answer::Done(());
        };
        let options = OpenOptions { durable: self.rng.u32(..4) == 0, ..OpenOptions::WRITE };
        self.with_file(&path, options, |session, handle| {
            let old = session.size_of(handle);
            let size = match session.rng.u32(..4) {
                0 => 0,
                1 => (old + session.rng.usize(..3_000)).min(FILE_MAX),
                _ => session.rng.usize(..=old),
            };
            let (id, commits) = (handle.id, session.commits(handle.is_durable));
            let change = Change::one(Ok(session.oracle.current.truncate(id, size)), commits);
            let name = format!(
                "truncate #{id} to {size}{}",
                if handle.is_durable { " durably" } else { "" }
            );
            session.call(name, change, |session| session.fs.truncate(&mut handle.file, size as u64))
        })
    }

    fn any_remove(&mut self, habits: &Habits) -> Answer<()> {
        let path = self.any_file(habits);
        let change = Change::one(self.oracle.current.remove(&path), self.commits(false));
        self.call(format!("remove {path}"), change, |session| session.fs.remove(path.as_str()))
    }

    fn any_remove_dir(&mut self, habits: &Habits) -> Answer<()> {
        let tree = self.oracle.current.clone();
        let directories = tree.directories();
        let path = match directories.len() {
            1 => self.any_path(habits),
            _ => (*self.rng.choice(&directories[1..]).expect("some")).to_string(),
        };
        let change = Change::one(tree.remove_dir(&path), self.commits(false));
        self.call(format!("remove_dir {path}"), change, |session| {
            session.fs.remove_dir(path.as_str())
        })
    }

    fn any_create_dir(&mut self, habits: &Habits) -> Answer<()> {
        let path = self.any_path(habits);
        let new = self.oracle.new_id();
        let change = Change::one(self.oracle.current.create_dir(&path, new), self.commits(false));
        self.call(format!("create_dir {path}"), change, |session| {
            session.fs.create_dir(path.as_str()).map(drop)
        })
    }

    fn any_rename(&mut self, habits: &Habits) -> Answer<()> {
        let tree = self.oracle.current.clone();
        let directories = tree.directories();
        let from = match self.rng.u32(..4) {
            0 if directories.len() > 1 => {
                (*self.rng.choice(&directories[1..]).expect("some")).to_string()
            }
            _ => self.any_file(habits),
        };
        let to = self.any_path(habits);
        let change = Change::one(tree.rename(&from, &to), self.commits(false));
        self.call(format!("rename {from} {to}"), change, |session| {
            session.fs.rename(from.as_str(), to.as_str())
        })
    }

    fn any_attribute(&mut self, habits: &Habits) -> Answer<()> {
        let path = self.any_path(habits);
        let found = self.oracle.current.find(&path);
        let id = found.as_ref().ok().copied();
        let change = Change {
            steps: vec![],
            commits: Commits::No,
            refusal: found.err().unwrap_or_default(),
        };
        let inode = match self
            .call(format!("stat {path}"), change, |session| session.fs.stat(path.as_str()))
        {
            Answer::Done(stat) => stat.inode,
            Answer::Refused => return Answer::Refused,
            Answer::Over => return Answer::Over,
        };
        let key = format!("k{}", self.rng.u32(..4));
        let mut bytes = vec![0; self.rng.usize(1..90)];
        self.rng.fill(&mut bytes);
        let value = (self.rng.u32(..4) != 0).then_some(&bytes[..]);
        let verdict = self.oracle.current.set_attribute(id.expect("it was found"), &key, value);
        let change = Change::one(verdict, self.commits(false));
        let name = format!("set_attribute {path} {key} {:?}", value.map(<[u8]>::len));
        self.call(name, change, |session| session.fs.set_attribute(inode, &key, value))
    }

    /// Opens a handle that stays, uses one, or closes one.
    fn any_handle(&mut self, habits: &Habits) -> Answer<()> {
        if self.handles.len() < HANDLES_MAX && self.rng.bool() {
            let path = self.any_file(habits);
            let options = OpenOptions { durable: self.rng.u32(..4) == 0, ..OpenOptions::CREATE };
            return match self.open(&path, options) {
                Answer::Done(handle) => {
                    self.handles.push(handle);
                    Answer::Done(())
                }
                Answer::Refused => Answer::Refused,
                Answer::Over => Answer::Over,
            };
        }
        if self.handles.is_empty() {
            return Answer::Done(());
        }
        let mut handle = self.handles.swap_remove(self.rng.usize(..self.handles.len()));
        if self.rng.u32(..3) == 0 {
            return self.close(handle);
        }
        let end = self.size_of(&handle);
        let offset = self.rng.usize(..=end);
        let mut size = self.any_size(habits);
        if !self.oracle.current.has_name(handle.id) {
            // After an error, only a look at the file by name shows the written pieces of a long
            // write. So the write stays within one logical page.
            let page = self.fs.usage().logical_bytes as usize;
            size = size.min(page - offset % page);
        }
        let answer = if offset + size > FILE_MAX {
            Answer::Done(())
        } else {
            self.write(&mut handle, offset, size)
        };
        self.handles.push(handle);
        answer
    }

    fn any_idle_work(&mut self) -> Answer<()> {
        let budget = Budget::Operations(self.rng.u32(1..60));
        if self.rng.u32(..4) == 0 {
            let change = Change::none(Commits::No);
            return self.call("scrub", change, |session| session.fs.scrub(budget).map(drop));
        }
        let burst = u64::from(self.rng.u32(..20_000));
        let change = Change::none(self.commits(false));
        self.call(format!("maintain {budget:?} {burst}"), change, |session| {
            session.fs.maintain(budget, burst).map(drop)
        })
    }

    fn any_read(&mut self, habits: &Habits) -> Answer<()> {
        let path = self.any_file(habits);
        let tree: Rc<Tree> = self.oracle.current.clone();
        self.with_file(&path, OpenOptions::READ, |session, handle| {
            let wanted = tree.nodes[&handle.id].data.clone();
            let from = session.rng.usize(..=wanted.len());
            let mut data = vec![0; session.rng.usize(1..5_000)];
            let change = Change::none(Commits::No);
            let name = format!("read #{} {from} + {}", handle.id, data.len());
            match session.call(name, change, |session| {
                session.fs.read(&mut handle.file, from as u64, &mut data)
            }) {
                Answer::Done(length) => {
                    let wanted = &wanted[from..wanted.len().min(from + data.len())];
                    if data[..length] != *wanted {
                        let equal = data[..length]
                            .iter()
                            .zip(wanted)
                            .take_while(|(read, wanted)| read == wanted)
                            .count();
                        let words = format!(
                            "read of #{} from {from}: {length} of {} bytes",
                            handle.id,
                            wanted.len()
                        );
                        session
                            .log
                            .find("wrong content", format!("{words}, the first {equal} are right"));
                        return Answer::Over;
                    }
                    Answer::Done(())
                }
                Answer::Refused => Answer::Refused,
                Answer::Over => Answer::Over,
            }
        })
    }
}

impl Commits {
    /// Returns `No` if `other` is `No`, and `self` otherwise.
    fn min_of(self, other: Self) -> Self {
        if other == Commits::No { Commits::No } else { self }
    }
}

fn words_of(options: OpenOptions) -> String {
    let words = [
        (options.create, "create"),
        (options.create_new, "new"),
        (options.truncate, "truncate"),
        (options.durable, "durable"),
    ];
    words.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
}
