//! Files and directories of the host under a name of their own until they are complete, and the
//! leftovers of interrupted commands.
//!
//! A part is locked while it is made, and its name contains the process number. If the process is
//! gone and the lock is free, the part is a leftover.

use super::names::{for_terminal, part_name, part_process};
use crate::Failure;
use crate::host::{refuse_missing_device, remove};
use crate::interrupt;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

/// A file or directory that is not complete. It is removed when it is dropped, or when Ctrl-C
/// ends the command.
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
    _lock: Option<File>,
}

impl Part {
    /// Returns the name of a part in a directory. Removes the leftovers of interrupted commands
    /// from this directory. The code that makes the file locks it.
    pub fn named(directory: &Path) -> Self {
        remove_left(directory);
        let path = directory.join(part_name(std::process::id()));
        interrupt::remember(&path);
        Self { path, _lock: None }
    }

    /// Makes a file to be written, which becomes `target` in this directory.
    pub fn file(directory: &Path, target: &Path) -> Result<(Self, File), Failure> {
        refuse_missing_device(target)?;
        let mut part = Self::named(directory);
        let made = OpenOptions::new().write(true).create_new(true).open(&part.path);
        let file = made.map_err(|error| Failure::writing(target.display(), &error))?;
        part.lock();
        Ok((part, file))
    }

    /// Makes a directory to be filled, which becomes `target`.
    pub fn directory(directory: &Path, target: &Path) -> Result<Self, Failure> {
        let mut part = Self::named(directory);
        fs::create_dir(&part.path).map_err(|error| Failure::writing(target.display(), &error))?;
        part.lock();
        Ok(part)
    }

    fn lock(&mut self) {
        // On systems without locks, the process number alone decides.
        self._lock = File::open(&self.path).ok().filter(is_locked_by_us);
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives a complete file its name. Replaces a file with this name.
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

/// Removes the leftovers of interrupted commands from a directory, and prints their names.
pub fn remove_left(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name().to_str().and_then(part_process).is_some_and(is_gone)
            && is_free(&entry.path())
        {
            remove(&entry.path());
            let text =
                format!("removed {}, which an interrupted command left", entry.path().display());
            eprintln!("{}", for_terminal(&text));
        }
    }
}

/// Returns true if a process is gone. In containers, a new process often has the number of a
/// killed one, so this process's own number counts as gone.
#[cfg(unix)]
fn is_gone(process: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    process == std::process::id()
        || pid.is_none_or(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
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
    // A file that cannot be opened or locked at all has no holder.
    let Ok(file) = File::open(path) else { return true };
    flock(&file, FlockOperation::NonBlockingLockExclusive) != Err(rustix::io::Errno::WOULDBLOCK)
}

#[cfg(not(unix))]
fn is_free(_: &Path) -> bool {
    false
}
