//! What is made on the host, under a name of its own until it is complete, and what interrupted commands have left of it.
//!
//! A part is locked while it is made, and its name tells the process: where the process is gone and the lock is free, nobody goes on with it.

use super::names::{for_terminal, part_name, part_process};
use crate::Failure;
use crate::host::remove;
use crate::interrupt;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

/// A file or directory that is not complete. It is removed when it is dropped, or when Ctrl-C ends the command.
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
    _lock: Option<File>,
}

impl Part {
    /// A name for a part in a directory, from which what interrupted commands have left is removed. Who makes the file locks it.
    pub fn named(directory: &Path) -> Self {
        remove_left(directory);
        let path = directory.join(part_name(std::process::id()));
        interrupt::remember(&path);
        Self { path, _lock: None }
    }

    /// A file to be written, which becomes `target` in this directory.
    pub fn file(directory: &Path, target: &Path) -> Result<(Self, File), Failure> {
        let mut part = Self::named(directory);
        let made = OpenOptions::new().write(true).create_new(true).open(&part.path);
        let file = made.map_err(|error| Failure::writing(target.display(), &error))?;
        part.lock();
        Ok((part, file))
    }

    /// A directory to be filled, of which `target` comes.
    pub fn directory(directory: &Path, target: &Path) -> Result<Self, Failure> {
        let mut part = Self::named(directory);
        fs::create_dir(&part.path).map_err(|error| Failure::writing(target.display(), &error))?;
        part.lock();
        Ok(part)
    }

    fn lock(&mut self) {
        // Where there are no locks, the process alone tells.
        self._lock = File::open(&self.path).ok().filter(is_locked_by_us);
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives a complete file its name, in place of a file that has it.
    pub fn rename(self, target: &Path) -> Result<(), Failure> {
        fs::rename(&self.path, target).map_err(|error| Failure::writing(target.display(), &error))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        remove(&self.path);
        interrupt::forget(&self.path);
    }
}

/// Removes what interrupted commands have left in a directory, and says so.
pub fn remove_left(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name().to_str().and_then(part_process).is_some_and(is_gone) && is_free(&entry.path()) {
            remove(&entry.path());
            let text = format!("removed {}, which an interrupted command left", entry.path().display());
            eprintln!("{}", for_terminal(&text));
        }
    }
}

/// Whether a process is gone. That a new one has the number of one that was killed is usual in containers.
#[cfg(unix)]
fn is_gone(process: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    process == std::process::id() || pid.is_none_or(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn is_gone(_: u32) -> bool {
    false
}

#[cfg(unix)]
fn is_locked_by_us(file: &File) -> bool {
    use rustix::fs::{FlockOperation, flock};
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

#[cfg(not(unix))]
fn is_locked_by_us(_: &File) -> bool {
    false
}

#[cfg(unix)]
fn is_free(path: &Path) -> bool {
    use rustix::fs::{FlockOperation, flock};
    // What cannot be opened or locked at all is held by nobody.
    let Ok(file) = File::open(path) else { return true };
    flock(&file, FlockOperation::NonBlockingLockExclusive) != Err(rustix::io::Errno::WOULDBLOCK)
}

#[cfg(not(unix))]
fn is_free(_: &Path) -> bool {
    false
}
