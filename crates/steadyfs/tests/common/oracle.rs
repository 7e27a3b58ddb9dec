//! A second file system, in a map, that says what the one under test must hold.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use steadyfs::{Access, Call, CommitOn, Cursor, Error, File, MountError, OpenOptions, ROOT};

use super::{Device, Fs, Rng, bounded, bounded_pieces};

/// Contents of all files.
pub type Files = BTreeMap<String, Rc<Vec<u8>>>;

/// What the volume holds, and what a power cut may leave of it.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// As the open transaction sees it.
    pub current: Files,
    /// States that may be on the medium: the last that was acknowledged first, then those that a call in flight may reach.
    pub durable: Vec<Files>,
    /// The volume commits by itself when its write set is full.
    pub auto_commit: bool,
    /// Files created since the last commit.
    born: BTreeSet<String>,
    /// Number of the next write; it makes every write's bytes different.
    stamp: u64,
}

/// One step of a workload.
#[derive(Clone, Debug)]
pub enum Op {
    Create {
        file: u8,
        durable: bool,
    },
    Write {
        file: u8,
        offset: u64,
        bytes: usize,
        durable: bool,
    },
    Append {
        file: u8,
        bytes: usize,
        durable: bool,
    },
    Truncate {
        file: u8,
        size: u64,
        durable: bool,
    },
    Read {
        file: u8,
        offset: u64,
        bytes: usize,
    },
    Remove {
        file: u8,
    },
    Stat {
        file: u8,
    },
    Sync,
    Rollback,
    List,
    /// Unmount and mount.
    Remount,
    /// Mount without an unmount before.
    Crash,
}

/// Sizes from which steps are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of files.
    pub files: u8,
    /// Writes and cuts lie below this offset.
    pub span: u64,
    pub logical_bytes: u64,
}

/// Random numbers of a step. Smaller ones make simpler steps.
pub type Raw = (u8, u8, u32, u32);

impl Op {
    /// Makes a step of random numbers.
    pub fn decode((kind, flags, a, b): Raw, limits: &Limits) -> Self {
        let (file, durable) = (flags % limits.files, flags >= 192);
        let (place, size) = (u64::from(a) % limits.span, u64::from(b));
        let (offset, bytes) = match b % 4 {
            0 => (place / limits.logical_bytes * limits.logical_bytes, limits.logical_bytes),
            1 => (place, 1 + size / 4 % 60),
            _ => (place, 1 + size / 4 % (3 * limits.logical_bytes)),
        };
        let bytes = bytes as usize;
        match kind % 32 {
            0..=4 => Op::Sync,
            5..=11 => Op::Write { file, offset, bytes, durable },
            12..=16 => Op::Append { file, bytes, durable },
            17..=18 => Op::Create { file, durable },
            19..=21 => Op::Truncate { file, size: place, durable },
            22..=23 => Op::Remove { file },
            24..=25 => Op::Read { file, offset, bytes },
            26 => Op::Stat { file },
            27 => Op::List,
            28..=29 => Op::Rollback,
            30 => Op::Remount,
            _ => Op::Crash,
        }
    }

    /// Draws a step.
    pub fn random(rng: &mut Rng, limits: &Limits) -> Self {
        let (x, y) = (rng.next(), rng.next());
        Self::decode((x as u8, (x >> 8) as u8, (x >> 32) as u32, y as u32), limits)
    }
}

/// A workload that a seed draws.
pub fn random_steps(seed: u64, count: usize, limits: Limits) -> impl Iterator<Item = Op> {
    let mut rng = Rng(seed ^ 0x5EED);
    (0..count).map(move |_| Op::random(&mut rng, &limits))
}

/// Transactions that write one page first and then others again and again, so that the first one's block is soon the emptiest:
/// pages that wait for a commit are moved.
pub fn long_transactions(seed: u64, count: usize, limits: Limits) -> impl Iterator<Item = Op> {
    let mut rng = Rng(seed ^ 0x10_4E);
    let bytes = limits.logical_bytes as usize;
    (0..count).map(move |step| match step % 40 {
        0 => Op::Write { file: 0, offset: 0, bytes: 4 * bytes, durable: true },
        39 if rng.one_in(2) => Op::Rollback,
        39 => Op::Sync,
        // Every frame but one of a block dies at once.
        n => Op::Write {
            file: 0,
            offset: if n % 13 == 1 { n as u64 / 13 } else { 3 } * limits.logical_bytes,
            bytes,
            durable: false,
        },
    })
}

/// Pages anywhere in the files at rest, each a commit of its own, now and then with a small change among them: blocks never
/// become empty by themselves.
pub fn overwrites(seed: u64, count: usize, limits: Limits) -> impl Iterator<Item = Op> {
    let mut rng = Rng(seed ^ 0x0E_44);
    (0..count).map(move |_| {
        let (file, offset) = (AT_REST + rng.below(4) as u8, rng.below(50) * limits.logical_bytes);
        let bytes = if rng.one_in(8) { 30 } else { limits.logical_bytes as usize };
        Op::Write { file, offset, bytes, durable: true }
    })
}

/// Numbers from here on mean the files that [`fill`] makes.
const AT_REST: u8 = 200;

/// The name of a file of a workload. Some are as long as they may be.
pub fn name(file: u8) -> String {
    if file >= AT_REST {
        return format!("rest{}", file - AT_REST);
    }
    if file.is_multiple_of(4) { format!("{file:064}") } else { format!("f{file}") }
}

impl Model {
    /// An empty volume.
    pub fn new(auto_commit: bool) -> Self {
        Self { durable: vec![Files::new()], auto_commit, ..Self::default() }
    }

    /// What is on the medium now is known: the current state, or another one.
    pub fn settle(&mut self, state: Files) {
        self.current = state.clone();
        self.durable = vec![state];
        self.born.clear();
    }

    /// Bytes for a write; no two writes are alike.
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        self.stamp += 1;
        let mut rng = Rng(self.stamp);
        (0..count).map(|_| rng.next() as u8).collect()
    }

    fn size(&self, name: &str) -> usize {
        self.current.get(name).map_or(0, |data| data.len())
    }
}

/// A mounted volume and its oracle, with a handle of each file that was used.
pub struct Session<'a> {
    pub fs: Fs<'a>,
    pub model: &'a mut Model,
    handles: BTreeMap<(String, bool), File>,
}

impl<'a> Session<'a> {
    /// Mounts, and compares everything with what may be there.
    pub fn mount(device: &'a mut Device, model: &'a mut Model) -> Result<Self, MountError> {
        let mut fs = device.mount(Access::ReadWrite)?;
        fs.set_commit_on(if model.auto_commit { CommitOn::ON_FLUSH } else { CommitOn::ON_FLUSH.without(CommitOn::FULL) });
        let found = contents(&mut fs)?;
        let Some(state) = model.durable.iter().position(|state| *state == found) else {
            panic!("after a mount: {}", differences(&model.durable, &found));
        };
        let state = model.durable[state].clone();
        model.settle(state);
        Ok(Self { fs, model, handles: BTreeMap::new() })
    }

    /// Compares everything with the current state.
    pub fn check(&mut self) -> Result<(), Error> {
        let found = contents(&mut self.fs)?;
        assert!(found == self.model.current, "{}", differences(std::slice::from_ref(&self.model.current), &found));
        Ok(())
    }

    /// Compares names and sizes.
    fn list(&mut self) -> Result<(), Error> {
        let (mut found, mut cursor) = (BTreeMap::new(), Cursor::default());
        while let Some(entry) = self.fs.list(ROOT, &mut cursor)? {
            let twice = found.insert(entry.name().to_string(), entry.stat.size);
            assert!(twice.is_none(), "{} is listed twice", entry.name());
        }
        let expected: BTreeMap<_, _> = self.model.current.iter().map(|(name, data)| (name.clone(), data.len() as u64)).collect();
        assert_eq!(found, expected, "list");
        Ok(())
    }

    /// Makes a step and holds it to the oracle and to its bound. What the medium reports is returned.
    pub fn step(&mut self, op: &Op) -> Result<(), Error> {
        match *op {
            Op::Create { file, durable } => {
                let mut after = self.model.current.clone();
                after.entry(name(file)).or_default();
                self.close(&name(file))?;
                // Opening a file that exists commits nothing.
                let commits = durable && after != self.model.current;
                self.change(vec![after], commits, |s| {
                    let handle = s.open(&name(file), durable)?;
                    s.keep(&name(file), handle, durable);
                    Ok(())
                })
            }
            Op::Write { file, offset, bytes, durable } => self.write(&name(file), offset, bytes, durable),
            Op::Append { file, bytes, durable } => {
                let name = name(file);
                let end = self.model.size(&name) as u64;
                self.write(&name, end, bytes, durable)
            }
            Op::Truncate { file, size, durable } => self.truncate(&name(file), size, durable),
            Op::Read { file, offset, bytes } => self.read(&name(file), offset, bytes),
            Op::Remove { file } => self.remove(&name(file)),
            Op::Stat { file } => {
                let expected = self.model.current.get(&name(file)).map(|data| data.len() as u64).ok_or(Error::NotFound);
                let found = bounded(&mut self.fs, Call::Open { depth: 1 }, |fs| fs.stat(&name(file))).map(|stat| stat.size);
                hard(found).inspect(|found| assert_eq!(*found, expected, "stat {}", name(file))).map(|_| ())
            }
            Op::Sync => {
                self.change(vec![self.model.current.clone()], true, |s| bounded(&mut s.fs, Call::Sync, |fs| fs.sync()))
            }
            Op::Rollback => self.rollback(),
            Op::List => self.list(),
            Op::Remount | Op::Crash => unreachable!("the workload's owner mounts"),
        }
    }

    /// A handle of a file, kept from earlier or new, taken out of those that are kept.
    fn open(&mut self, name: &str, durable: bool) -> Result<File, Error> {
        if let Some(handle) = self.handles.remove(&(name.into(), durable)) {
            return Ok(handle);
        }
        let exists = self.model.current.contains_key(name);
        let call = if exists { Call::Open { depth: 1 } } else { Call::Create { depth: 1 } };
        let options = OpenOptions { durable, ..OpenOptions::CREATE };
        let handle = bounded(&mut self.fs, call, |fs| fs.open(name, options))?;
        if !exists && !durable {
            self.model.born.insert(name.into());
        }
        Ok(handle)
    }

    pub fn write(&mut self, name: &str, offset: u64, bytes: usize, durable: bool) -> Result<(), Error> {
        let data = self.model.bytes(bytes);
        let logical_bytes = u64::from(self.fs.usage().logical_bytes);
        let mut states = Vec::new();
        let mut state = self.model.current.clone();
        if !state.contains_key(name) {
            state.insert(name.into(), Rc::default());
            states.push(state.clone());
        }
        let mut done = 0;
        let mut pieces = 0;
        while done < bytes {
            let at = offset + done as u64;
            let step = ((logical_bytes - at % logical_bytes) as usize).min(bytes - done);
            let content = Rc::make_mut(state.get_mut(name).unwrap());
            content.resize(content.len().max(at as usize + step), 0);
            content[at as usize..at as usize + step].copy_from_slice(&data[done..done + step]);
            states.push(state.clone());
            done += step;
            pieces += 1;
        }
        self.change(states, durable, |s| {
            let mut file = s.open(name, durable)?;
            let result = bounded_pieces(&mut s.fs, Call::Write(logical_bytes as u32), pieces, |fs| fs.write(&mut file, offset, &data));
            s.keep(name, file, durable);
            result
        })
    }

    /// Keeps a handle for later calls.
    fn keep(&mut self, name: &str, file: File, durable: bool) {
        self.handles.insert((name.into(), durable), file);
    }

    /// Closes the handles of a file.
    fn close(&mut self, name: &str) -> Result<(), Error> {
        for durable in [false, true] {
            if let Some(file) = self.handles.remove(&(name.into(), durable)) {
                self.fs.close(file)?;
            }
        }
        Ok(())
    }

    pub fn truncate(&mut self, name: &str, size: u64, durable: bool) -> Result<(), Error> {
        if !self.model.current.contains_key(name) {
            return Ok(());
        }
        let durable = durable && self.model.size(name) as u64 != size;
        let mut after = self.model.current.clone();
        Rc::make_mut(after.get_mut(name).unwrap()).resize(size as usize, 0);
        self.change(vec![after], durable, |s| {
            let mut file = s.open(name, durable)?;
            let result = bounded(&mut s.fs, Call::Truncate, |fs| fs.truncate(&mut file, size));
            s.keep(name, file, durable);
            result
        })
    }

    fn read(&mut self, name: &str, offset: u64, bytes: usize) -> Result<(), Error> {
        let Some(expected) = self.model.current.get(name).cloned() else { return Ok(()) };
        let mut file = self.open(name, false)?;
        let mut data = vec![0xEE; bytes];
        let count = bounded(&mut self.fs, Call::Read(bytes as u32), |fs| fs.read(&mut file, offset, &mut data))?;
        self.keep(name, file, false);
        let from = expected.len().min(offset as usize);
        let expected = &expected[from..expected.len().min(from + bytes)];
        assert!(data[..count] == *expected, "read of {bytes} bytes at {offset} of {name}");
        Ok(())
    }

    pub fn remove(&mut self, name: &str) -> Result<(), Error> {
        self.close(name)?;
        let mut after = self.model.current.clone();
        if after.remove(name).is_none() {
            let result = hard(self.fs.remove(name))?;
            assert_eq!(result, Err(Error::NotFound));
            return Ok(());
        }
        self.change(vec![after], false, |s| bounded(&mut s.fs, Call::Remove { depth: 1 }, |fs| fs.remove(name)))
    }

    fn rollback(&mut self) -> Result<(), Error> {
        self.fs.rollback()?;
        let born = std::mem::take(&mut self.model.born);
        let gone: Vec<_> = self.handles.keys().filter(|(name, _)| born.contains(name)).cloned().collect();
        for (name, _) in gone {
            self.close(&name)?;
        }
        let found = contents(&mut self.fs)?;
        assert!(self.model.durable.contains(&found), "after a rollback: {}", differences(&self.model.durable, &found));
        self.model.settle(found);
        Ok(())
    }

    /// Makes a change that goes through `states` and commits each of them, if `durable`.
    ///
    /// A change that is refused leaves one of them, or undoes the open transaction.
    fn change(
        &mut self,
        states: Vec<Files>,
        durable: bool,
        act: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let before = self.model.current.clone();
        if self.model.auto_commit {
            self.model.durable.push(before.clone());
        }
        if durable || self.model.auto_commit {
            self.model.durable.extend(states.iter().cloned());
        }
        match act(self) {
            Ok(()) => {
                self.model.current = states.last().unwrap_or(&before).clone();
                if durable {
                    self.model.settle(self.model.current.clone());
                }
                Ok(())
            }
            Err(Error::NoSpace | Error::TransactionTooLarge | Error::TooManyFiles) => {
                for handle in std::mem::take(&mut self.handles).into_values() {
                    self.fs.close(handle)?;
                }
                let found = contents(&mut self.fs)?;
                let known = states.iter().chain([&before]).chain(&self.model.durable).find(|state| **state == found);
                self.model.current =
                    known.unwrap_or_else(|| panic!("after a refused call: {}", differences(&states, &found))).clone();
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Lets errors of the medium pass and keeps the others as an answer.
fn hard<T>(result: Result<T, Error>) -> Result<Result<T, Error>, Error> {
    match result {
        Err(error @ (Error::Device | Error::MediaFailing | Error::Corrupt)) => Err(error),
        answer => Ok(answer),
    }
}

/// Reads every file.
pub fn contents(fs: &mut Fs<'_>) -> Result<Files, Error> {
    let mut files = Files::new();
    let mut cursor = Cursor::default();
    while let Some(entry) = fs.list(ROOT, &mut cursor)? {
        let mut file = fs.open(entry.name(), OpenOptions::READ)?;
        let mut data = vec![0xEE; entry.stat.size as usize];
        let count = fs.read(&mut file, 0, &mut data)?;
        fs.close(file)?;
        assert_eq!(count, data.len(), "{} is shorter than the list says", entry.name());
        let twice = files.insert(entry.name().into(), Rc::new(data));
        assert!(twice.is_none(), "{} is listed twice", entry.name());
    }
    Ok(files)
}

/// Says in what `found` differs from each state that it may be.
fn differences(states: &[Files], found: &Files) -> String {
    states.iter().map(|state| format!("\n  {}", difference(state, found))).collect()
}

fn difference(expected: &Files, found: &Files) -> String {
    let mut text = String::new();
    for (name, data) in expected {
        match found.get(name) {
            None => text += &format!("{name} ({} bytes) is missing; ", data.len()),
            Some(other) if other == data => {}
            Some(other) => {
                let at = data.iter().zip(other.iter()).position(|(a, b)| a != b);
                text += &format!("{name} has {} bytes instead of {}, first difference {at:?}; ", other.len(), data.len());
            }
        }
    }
    for (name, data) in found.iter().filter(|(name, _)| !expected.contains_key(*name)) {
        text += &format!("{name} ({} bytes) should not be there; ", data.len());
    }
    if text.is_empty() { "equal".into() } else { text }
}

/// Fills a volume with files at rest, up to `percent` of its room, and leaves the rest to a workload.
pub fn fill(device: &mut Device, model: &mut Model, percent: u64) {
    let mut session = Session::mount(device, model).expect("mount");
    let usage = session.fs.usage();
    let pages = usage.usable_bytes * percent / 100 / u64::from(usage.logical_bytes);
    for page in 0..pages {
        let name = format!("rest{}", page / 50);
        let end = session.model.size(&name) as u64;
        session.write(&name, end, usage.logical_bytes as usize, true).expect("fill");
    }
    session.step(&Op::Sync).expect("sync");
}

/// Runs steps, mounting where they say so.
///
/// # Errors
/// What the medium reported: power is off, or too much failed.
pub fn work(device: &mut Device, model: &mut Model, mut ops: impl Iterator<Item = Op>) -> Result<(), MountError> {
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
            session.step(&Op::Sync)?;
        }
    }
}
