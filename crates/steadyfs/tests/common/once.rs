//! A model of a file system as a map in memory. It defines the results that a call may have on a
//! chip on which one operation fails once.

use std::collections::BTreeMap;

use crate::fail_once::FailOnce;
use steadyfs::media::{Flash, Geometry};
use steadyfs::{
    Access, CommitOn, Config, Error, File, FileSystem, Kind, MountError, OpenOptions, ROOT,
};

pub type Fs<'a> = FileSystem<'a, &'a mut FailOnce>;

/// The contents of a volume: files with their bytes, and directories without.
pub type Tree = BTreeMap<String, Option<Vec<u8>>>;

/// Reads everything.
pub fn contents(fs: &mut Fs<'_>) -> Result<Tree, Error> {
    let mut tree = Tree::new();
    let mut waiting = vec![(String::new(), ROOT)];
    while let Some((directory, inode)) = waiting.pop() {
        let mut cursor = steadyfs::Cursor::default();
        while let Some(entry) = fs.list(inode, &mut cursor)? {
            let path = format!("{directory}{}", entry.name());
            if entry.stat.kind == Kind::Directory {
                waiting.push((format!("{path}/"), entry.stat.inode));
                tree.insert(path, None);
                continue;
            }
            let mut file = fs.open(entry.stat.inode, OpenOptions::READ)?;
            let mut data = vec![0; entry.stat.size as usize];
            let read = fs.read(&mut file, 0, &mut data);
            let closed = fs.close(file);
            assert_eq!(read?, data.len(), "{path}");
            closed?;
            tree.insert(path, Some(data));
        }
    }
    Ok(tree)
}

/// One call.
#[derive(Clone, Debug)]
pub enum Step {
    Write {
        path: &'static str,
        offset: usize,
        bytes: usize,
        durable: bool,
    },
    Truncate {
        path: &'static str,
        size: usize,
        durable: bool,
    },
    CreateDir(&'static str),
    Remove(&'static str),
    RemoveDir(&'static str),
    Rename(&'static str, &'static str),
    Commit,
    Rollback,
    /// Opens a file and keeps it open.
    Hold(&'static str),
    /// Closes the held file.
    Drop,
}

/// A volume, its expected contents, and the possible contents of the medium.
pub struct Volume<'a> {
    pub fs: Fs<'a>,
    pub current: Tree,
    pub durable: Vec<Tree>,
    held: Option<File>,
    pub unknown: bool,
    /// If true, compares after every step, to find the first wrong step.
    pub checks: bool,
    stamp: u8,
}

impl<'a> Volume<'a> {
    pub fn mount(chip: &'a mut FailOnce, memory: &'a mut [u8]) -> Result<Self, MountError> {
        let mut fs = FileSystem::mount(chip, Access::ReadWrite, memory)?;
        fs.set_commit_on(CommitOn::MANUAL);
        let current = contents(&mut fs)?;
        Ok(Self {
            fs,
            durable: vec![current.clone()],
            current,
            held: None,
            unknown: false,
            checks: false,
            stamp: 0,
        })
    }

    /// Returns the tree after a step, or `None` if the step must fail.
    fn effect(&self, step: &Step) -> Option<Tree> {
        let mut tree = self.current.clone();
        match step {
            Step::Write { path, offset, bytes, .. } => {
                let data = tree.get_mut(*path)?.as_mut()?;
                data.resize(data.len().max(offset + bytes), 0);
                data[*offset..offset + bytes].fill(self.stamp);
            }
            Step::Truncate { path, size, .. } => tree.get_mut(*path)?.as_mut()?.resize(*size, 0),
            Step::CreateDir(path) => drop(tree.insert((*path).into(), None)),
            Step::Remove(path) | Step::RemoveDir(path) => drop(tree.remove(*path)?),
            Step::Rename(from, to) => {
                let node = tree.remove(*from)?;
                tree.insert((*to).into(), node);
            }
            Step::Commit | Step::Rollback | Step::Hold(_) | Step::Drop => {}
        }
        Some(tree)
    }

    fn act(&mut self, step: &Step) -> Result<(), Error> {
        let fs = &mut self.fs;
        match step {
            Step::Write { path, offset, bytes, durable } => {
                let data = vec![self.stamp; *bytes];
                let mut file =
                    fs.open(*path, OpenOptions { durable: *durable, ..OpenOptions::WRITE })?;
                let result = fs.write(&mut file, *offset as u64, &data);
                fs.close(file).and(result)
            }
            Step::Truncate { path, size, durable } => {
                let mut file =
                    fs.open(*path, OpenOptions { durable: *durable, ..OpenOptions::WRITE })?;
                let result = fs.truncate(&mut file, *size as u64);
                fs.close(file).and(result)
            }
            Step::CreateDir(path) => fs.create_dir(*path).map(drop),
            Step::Remove(path) => fs.remove(*path),
            Step::RemoveDir(path) => fs.remove_dir(*path),
            Step::Rename(from, to) => fs.rename(*from, *to),
            Step::Commit => fs.commit(),
            Step::Rollback => fs.rollback(),
            Step::Hold(path) => {
                self.held = Some(fs.open(*path, OpenOptions::WRITE)?);
                Ok(())
            }
            Step::Drop => self.held.take().map_or(Ok(()), |file| fs.close(file)),
        }
    }

    /// Creates the file for a write, in a call of its own.
    fn create(&mut self, path: &'static str) {
        let mut after = self.current.clone();
        after.insert(path.into(), Some(Vec::new()));
        let result = self.fs.open(path, OpenOptions::CREATE).and_then(|file| self.fs.close(file));
        self.judge(result, after, false, "create");
    }

    /// Makes a step and checks its result: success, an error without any change, or
    /// [`Error::Unknown`].
    pub fn step(&mut self, step: &Step) {
        self.stamp = self.stamp.wrapping_add(1);
        if self.unknown {
            return;
        }
        if let Step::Write { path, .. } = step
            && !self.current.contains_key(*path)
        {
            self.create(path);
        }
        if self.unknown {
            return;
        }
        let after = match step {
            // The step's directory may be missing, because its own creation failed.
            _ if self.lacks_parent(step) => None,
            Step::Rollback => self.durable.last().cloned(),
            _ => self.effect(step),
        };
        let commits = match step {
            Step::Write { durable, .. } | Step::Truncate { durable, .. } => *durable,
            step => matches!(step, Step::Commit | Step::Rollback),
        };
        let result = self.act(step);
        match after {
            Some(after) => self.judge(result, after, commits, &format!("{step:?}")),
            None => assert!(result.is_err(), "{step:?}"),
        }
    }

    fn lacks_parent(&self, step: &Step) -> bool {
        let is_missing = |path: &str| {
            path.rsplit_once('/').is_some_and(|(parent, _)| !self.current.contains_key(parent))
        };
        match step {
            Step::CreateDir(path) => is_missing(path) || self.current.contains_key(*path),
            Step::Rename(from, to) => is_missing(to) || !self.current.contains_key(*from),
            Step::RemoveDir(path) => {
                self.current.keys().any(|other| other.starts_with(&format!("{path}/")))
            }
            _ => false,
        }
    }

    /// Checks the result of a call. After an error, nothing has changed. After
    /// [`Error::Unknown`], the change may be on the medium, and the volume is locked.
    fn judge(&mut self, result: Result<(), Error>, after: Tree, commits: bool, what: &str) {
        match result {
            Ok(()) => {
                self.current = after;
                if commits {
                    self.durable = vec![self.current.clone()];
                }
                if self.checks {
                    self.check(what);
                }
            }
            Err(Error::Unknown) => {
                self.unknown = true;
                self.durable.push(after);
                assert!(self.fs.health().read_only, "{what}");
                assert_eq!(self.fs.create_dir("refused").err(), Some(Error::ReadOnly), "{what}");
                assert_eq!(self.fs.rollback().err(), Some(Error::Unknown), "{what}");
            }
            Err(_) => self.check(&format!("{what}: {result:?}")),
        }
    }

    /// Compares all contents with the expected contents.
    pub fn check(&mut self, what: &str) {
        self.fs.flash_mut().paused = true;
        let found =
            contents(&mut self.fs).unwrap_or_else(|error| panic!("{what}: reading says {error:?}"));
        self.fs.flash_mut().paused = false;
        assert!(found == self.current, "{what}: {}", difference(&found, &self.current));
    }

    /// Asserts that the volume's own check has no findings.
    pub fn verify(&mut self) {
        let mut scratch = vec![0; self.fs.config().check_bytes(&self.fs.flash().geometry())];
        let mut findings = Vec::new();
        self.fs.check(&mut scratch, false, &mut |finding| findings.push(finding)).expect("check");
        assert_eq!(findings, [], "what the volume's own check finds");
    }
}

/// Returns the differences in one line.
pub fn difference(found: &Tree, expected: &Tree) -> String {
    let paths =
        found.keys().chain(expected.keys()).filter(|path| found.get(*path) != expected.get(*path));
    let bytes = |tree: &Tree, path: &String| tree.get(path).map(|node| node.as_ref().map(Vec::len));
    paths
        .map(|path| {
            format!("{path}: {:?} instead of {:?}; ", bytes(found, path), bytes(expected, path))
        })
        .collect()
}

/// Returns a formatted chip with a file that fills 70 % of it.
pub fn stage(geometry: Geometry, copy: bool, pages_per_logical_page: u16) -> (FailOnce, Config) {
    let mut chip = FailOnce::new(geometry, copy);
    let config = Config { pages_per_logical_page, ..Config::for_geometry(&geometry) };
    let mut memory = vec![0; config.memory_bytes(&geometry) + 256];
    FileSystem::format(&mut chip, &config, &mut memory).expect("format");
    {
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let usage = fs.usage();
        let page = vec![7; usage.logical_bytes as usize];
        let pages = usage.usable_bytes / u64::from(usage.logical_bytes) * 7 / 10;
        let mut file = fs.open("rest", OpenOptions::CREATE).expect("create");
        for index in 0..pages {
            fs.write(&mut file, index * u64::from(usage.logical_bytes), &page).expect("fill");
            if index % 8 == 0 {
                fs.commit().expect("commit");
            }
        }
        // Reclamation has started.
        for round in 0..pages * 3 {
            fs.write(&mut file, round * 7 % pages * u64::from(usage.logical_bytes), &page)
                .expect("churn");
            fs.commit().expect("commit");
        }
        fs.close(file).expect("close");
        fs.unmount().expect("unmount");
    }
    (chip, config)
}
