//! Random operations on a mounted volume, against an oracle in memory, with remounts and power
//! cuts.
//!
//! `STEADYFS_FUSE_OPERATIONS` sets the number of operations, and `STEADYFS_FUSE_SEED` selects
//! them. A failure prints the command that repeats it.

#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
mod oracle;

use common::{Chip, Mounted};
use oracle::{Entry, State};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use steadyfs::CommitOn;
use steadyfs_fuse::Options;

/// Number of operations in the usual tests.
const OPERATIONS: u64 = 4_000;
/// Largest file, in bytes.
const SIZE_MAX: usize = 400_000;
/// Maximum number of names.
const NAMES_MAX: usize = 60;

/// An open file, and its number in the oracle.
struct Open {
    file: File,
    id: u64,
}

struct Run {
    mounted: Mounted,
    rng: fastrand::Rng,
    state: State,
    /// All states since the last durable one, which comes first.
    history: Vec<State>,
    open: Vec<Open>,
}

fn from_env(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Prints the command that repeats a run, if the run panics.
struct Repeat(u64, u64);

impl Drop for Repeat {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!(
                "repeat it: STEADYFS_FUSE_SEED={} STEADYFS_FUSE_OPERATIONS={} cargo test -p \
                 steadyfs-fuse --test operations",
                self.0, self.1
            );
        }
    }
}

#[test]
fn random_operations_do_what_the_oracle_says() {
    let (seed, operations) =
        (from_env("STEADYFS_FUSE_SEED", 1), from_env("STEADYFS_FUSE_OPERATIONS", OPERATIONS));
    // No timed commits, so that a run can be repeated exactly.
    let options = Options { commit_on: CommitOn::ON_SYNC, ..Options::default() };
    let Some(mounted) = Mounted::with_options(Chip::small(seed), options) else { return };
    println!("{operations} operations, seed {seed}");
    let _repeat = Repeat(seed, operations);
    let state = State::default();
    let mut run = Run {
        mounted,
        rng: fastrand::Rng::with_seed(seed),
        history: vec![state.clone()],
        state,
        open: Vec::new(),
    };
    for number in 0..operations {
        run.step(number);
    }
    run.remount();
    run.compare();
}

impl Run {
    fn step(&mut self, number: u64) {
        match self.rng.u32(..1000) {
            0..250 => self.write(),
            250..450 => self.read(),
            450..520 => self.truncate(),
            520..590 => self.open_file(),
            590..640 => self.close(),
            640..740 => self.rename(),
            740..830 => self.remove(),
            830..890 => self.make_directory(),
            890..940 => self.list(),
            940..985 => self.sync(),
            985..992 => self.compare(),
            992..996 => self.remount(),
            _ => self.cut(number),
        }
    }

    /// Draws a name in some existing directory. The name is often taken already.
    fn pick_name(&mut self) -> String {
        if self.rng.u32(..3) > 0
            && let Some(name) = self.pick(|_| true)
        {
            return name;
        }
        let directory =
            if self.rng.bool() { self.pick(|entry| *entry == Entry::Directory) } else { None };
        let name = match self.rng.u32(..12) {
            11 => "long".repeat(50),
            number => format!("n{number}"),
        };
        directory.map_or(name.clone(), |directory| format!("{directory}/{name}"))
    }

    fn pick(&mut self, wanted: impl Fn(&Entry) -> bool) -> Option<String> {
        let names: Vec<&String> = self
            .state
            .names
            .iter()
            .filter(|(_, entry)| wanted(entry))
            .map(|(name, _)| name)
            .collect();
        self.rng.choice(names).cloned()
    }

    fn changed(&mut self) {
        self.history.push(self.state.clone());
    }

    /// Compares a result of the file system with the result of the oracle.
    #[track_caller]
    fn agree<T>(
        &mut self,
        what: &str,
        result: io::Result<T>,
        expected: Result<(), Errno>,
    ) -> Option<T> {
        let error = result.as_ref().err().map(|error| error.raw_os_error().unwrap());
        assert_eq!(error, expected.err().map(Errno::raw_os_error), "{what}");
        if expected.is_ok() {
            self.changed();
        }
        result.ok()
    }

    fn open_file(&mut self) {
        let name = self.pick_name();
        if self.open.len() > 20 || self.state.names.len() > NAMES_MAX {
            return self.close();
        }
        let (create_new, truncate) = (self.rng.u32(..4) == 0, self.rng.u32(..4) == 0);
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(true)
            .create_new(create_new)
            .truncate(truncate && !create_new);
        let opened = self.state.open(&name, create_new, truncate && !create_new);
        let result = options.open(self.mounted.path(&name));
        if let Some(file) = self.agree(&format!("open {name}"), result, opened.map(|_| ())) {
            self.open.push(Open { file, id: opened.unwrap() });
        }
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            let index = self.rng.usize(..self.open.len());
            self.open.swap_remove(index);
        }
    }

    /// Draws an open file, as an index of the list.
    fn pick_open(&mut self) -> Option<usize> {
        if self.open.is_empty() {
            self.open_file();
        }
        (!self.open.is_empty()).then(|| self.rng.usize(..self.open.len()))
    }

    /// Draws a size or offset: mostly small ones, sometimes large ones, often whole pages.
    fn amount(&mut self, most: usize) -> usize {
        let amount = match self.rng.u32(..4) {
            0 => self.rng.usize(..200),
            1 => self.rng.usize(..9000),
            2 => self.rng.usize(..30) * 4096,
            _ => self.rng.usize(..=most),
        };
        amount.min(most)
    }

    fn write(&mut self) {
        let Some(index) = self.pick_open() else { return };
        let offset = self.amount(SIZE_MAX - 1);
        let length = self.amount((SIZE_MAX - offset).min(150_000));
        let (seed, mut data) = (self.rng.u8(..), vec![0; length]);
        data.iter_mut()
            .enumerate()
            .for_each(|(at, byte)| *byte = seed.wrapping_add((at / 7) as u8));
        let open = &self.open[index];
        open.file.write_all_at(&data, offset as u64).unwrap();
        // A commit may come between two pages of a write.
        for piece in self.state.write(open.id, offset, &data) {
            self.history.push(piece);
        }
    }

    fn read(&mut self) {
        let Some(index) = self.pick_open() else { return };
        let (offset, length) = (self.amount(SIZE_MAX), self.amount(SIZE_MAX));
        let open = &self.open[index];
        let content = self.state.content(open.id);
        let mut data = vec![0; length];
        let got = open.file.read_at(&mut data, offset as u64).unwrap();
        let from = offset.min(content.len());
        let expected = &content[from..(from + length).min(content.len())];
        assert!(data[..got] == *expected, "read {length} bytes at {offset} of file {}", open.id);
        assert_eq!(open.file.metadata().unwrap().len(), content.len() as u64);
    }

    fn truncate(&mut self) {
        let Some(index) = self.pick_open() else { return };
        let size = self.amount(SIZE_MAX);
        let open = &self.open[index];
        open.file.set_len(size as u64).unwrap();
        self.state.truncate(open.id, size);
        self.changed();
    }

    fn rename(&mut self) {
        let (from, to) = (self.pick_name(), self.pick_name());
        let expected = self.state.rename(&from, &to);
        let result = fs::rename(self.mounted.path(&from), self.mounted.path(&to));
        self.agree(&format!("rename {from} {to}"), result, expected);
    }

    fn remove(&mut self) {
        let name = self.pick_name();
        let (expected, result) = if self.rng.bool() {
            (self.state.remove_file(&name), fs::remove_file(self.mounted.path(&name)))
        } else {
            (self.state.remove_directory(&name), fs::remove_dir(self.mounted.path(&name)))
        };
        self.agree(&format!("remove {name}"), result, expected);
    }

    fn make_directory(&mut self) {
        let name = self.pick_name();
        if self.state.names.len() > NAMES_MAX || name.matches('/').count() > 4 {
            return self.remove();
        }
        let expected = self.state.make_directory(&name);
        let result = fs::create_dir(self.mounted.path(&name));
        self.agree(&format!("mkdir {name}"), result, expected);
    }

    fn list(&mut self) {
        let name = self.pick(|entry| *entry == Entry::Directory).unwrap_or_default();
        let mut names: Vec<String> = list(&self.mounted.path(&name));
        names.sort();
        assert_eq!(names, self.state.list(&name), "names in {name:?}");
        let directories = self.state.subdirectories(&name);
        assert_eq!(
            fs::metadata(self.mounted.path(&name)).unwrap().nlink(),
            2 + directories as u64,
            "links of {name:?}"
        );
    }

    fn sync(&mut self) {
        let Some(index) = self.pick_open() else { return };
        self.open[index].file.sync_all().unwrap();
        self.history = vec![self.state.clone()];
    }

    /// Reads everything back, and compares it.
    fn compare(&mut self) {
        assert!(
            read_back(&self.mounted.path("")) == self.state.visible(),
            "the volume differs from the oracle"
        );
    }

    fn remount(&mut self) {
        self.open.clear();
        self.mounted.remount();
        self.state.forget_removed();
        self.history = vec![self.state.clone()];
        self.compare();
    }

    /// Cuts power. The volume must then be in one of the states since the last durable one.
    fn cut(&mut self, number: u64) {
        if self.rng.bool()
            && let Some(index) = self.pick_open()
        {
            // The cut comes in the middle of a program or erase of the next operations.
            let operation = self.rng.u64(1..40);
            self.mounted.chip.lock().cut_at(operation);
            self.write_until_cut(index);
        }
        self.open.clear();
        self.mounted.cut_and_remount();
        let there = read_back(&self.mounted.path(""));
        let state = self.history.iter().rev().find(|state| state.visible() == there);
        let state = state.unwrap_or_else(|| {
            panic!("operation {number}: no state since the last fsync is like this one")
        });
        self.state = state.clone();
        self.state.forget_removed();
        self.history = vec![self.state.clone()];
    }

    /// Writes page by page until power fails.
    fn write_until_cut(&mut self, index: usize) {
        for round in 0..200 {
            let offset = self.rng.usize(..SIZE_MAX / 4096 - 1) * 4096;
            let data = [round as u8; 4096];
            let open = &self.open[index];
            // A write that fails may be there all the same: power can fail after its commit.
            self.history.extend(self.state.write(open.id, offset, &data));
            if open.file.write_all_at(&data, offset as u64).is_err()
                || (round % 3 == 0 && open.file.sync_data().is_err())
            {
                return;
            }
        }
    }
}

fn list(directory: &Path) -> Vec<String> {
    fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Returns every name below a directory, with its content.
fn read_back(root: &Path) -> oracle::Visible {
    let mut visible = oracle::Visible::new();
    let mut directories = vec![String::new()];
    while let Some(directory) = directories.pop() {
        for name in list(&root.join(&directory)) {
            let name = if directory.is_empty() { name } else { format!("{directory}/{name}") };
            let path = root.join(&name);
            if path.is_dir() {
                visible.insert(name.clone(), None);
                directories.push(name);
            } else {
                visible.insert(name, Some(fs::read(path).unwrap().into()));
            }
        }
    }
    visible
}
