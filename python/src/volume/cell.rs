//! The volume, the memory that it borrows, and its open files, in one cell behind a mutex.

use crate::medium::Medium;
use crate::trouble::Trouble;
use self_cell::{MutBorrow, self_cell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use steadyfs::media::Flash;
use steadyfs::{Access, CommitOn, Config, Error, FileSystem, MountError, OPEN_FILE_BYTES};
use steadyfs_host::plain::{self, PlainFile};

/// A volume on any medium.
pub type Fs<'m> = FileSystem<'m, Medium>;

/// Number of files that may be open at once.
const OPEN_FILES: usize = 1024;
/// The default events that commit: `commit`, the unmount, and a lack of room.
pub const AUTOMATIC: CommitOn = CommitOn::ON_SYNC;

/// The volume, or `None` after the unmount.
struct Slot<'m>(Option<Fs<'m>>);

self_cell!(
    struct Mounted {
        owner: MutBorrow<Vec<u8>>,
        #[not_covariant]
        dependent: Slot,
    }
);

struct State {
    mounted: Mounted,
    files: HashMap<u64, OpenFile>,
    next: u64,
}

/// An open file and its path, for errors.
pub struct OpenFile {
    pub file: PlainFile,
    pub path: String,
}

/// A mounted volume and its name.
pub struct Cell {
    state: Mutex<State>,
    name: String,
    access: Access,
    /// The process that mounted the volume. A fork has a copy of the volume, which becomes
    /// outdated when the process continues.
    process: u32,
    /// True after the unmount. It is read without the mutex: in a fork, the mutex stays locked if
    /// another thread held it.
    is_closed: AtomicBool,
    /// The time of all changes. If it is `None`, the time of the host.
    time_ns: Option<u64>,
}

/// The volume during a call.
pub struct Open<'o, 'm> {
    pub fs: &'o mut Fs<'m>,
    pub files: &'o mut HashMap<u64, OpenFile>,
    pub next: &'o mut u64,
    name: &'o str,
    access: Access,
    time_ns: Option<u64>,
}

/// Returns the usual settings with the chosen values.
pub fn settings(usual: Config, files_max: Option<u32>, name_bytes_max: Option<u8>) -> Config {
    Config {
        files_max: files_max.unwrap_or(usual.files_max),
        name_bytes_max: name_bytes_max.unwrap_or(usual.name_bytes_max),
        ..usual
    }
}

/// Returns the bytes of RAM for the volume on a medium. They come from its superblock.
fn memory_bytes(medium: &mut Medium) -> Result<usize, MountError> {
    let mut page = vec![0; medium.geometry().page_bytes as usize];
    match FileSystem::mount(&mut *medium, Access::ReadOnly, &mut page).map(drop) {
        Ok(()) => Ok(page.len()),
        Err(MountError::MemoryTooSmall { needed, .. }) => Ok(needed),
        Err(error) => Err(error),
    }
}

fn format(medium: Medium, config: &Config, name: &str) -> Result<Medium, Trouble> {
    let geometry = medium.geometry();
    let fit = |rule| Trouble::invalid(format!("these settings do not fit the chip: {rule}"), name);
    config.check(&geometry).map_err(fit)?;
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    FileSystem::format(medium, config, &mut memory).map_err(|error| Trouble::mount(error, name))
}

impl Cell {
    /// Mounts a medium. Formats it first if there is a configuration.
    pub fn mount(
        medium: Medium,
        config: Option<Config>,
        access: Access,
        name: String,
        time_ns: Option<u64>,
    ) -> Result<Self, Trouble> {
        let mut medium = match config {
            Some(config) => format(medium, &config, &name)?,
            None => medium,
        };
        let bytes = memory_bytes(&mut medium).map_err(|error| Trouble::mount(error, &name))?;
        let memory = MutBorrow::new(vec![0; bytes + OPEN_FILE_BYTES * OPEN_FILES]);
        let mounted = Mounted::try_new(memory, |memory| {
            FileSystem::mount(medium, access, memory.borrow_mut()).map(|fs| Slot(Some(fs)))
        });
        let mounted = mounted.map_err(|error| Trouble::mount(error, &name))?;
        let state = Mutex::new(State { mounted, files: HashMap::new(), next: 0 });
        Ok(Self {
            state,
            name,
            access,
            process: std::process::id(),
            is_closed: AtomicBool::new(false),
            time_ns,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A call that panicked has ended in the middle, like after a power cut. The volume is
        // still used.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if this process is a fork of the process that mounted the volume.
    pub fn is_fork(&self) -> bool {
        self.process != std::process::id()
    }

    /// Calls `act` with the volume.
    pub fn with<T>(
        &self,
        act: impl FnOnce(&mut Open<'_, '_>) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        if self.is_fork() {
            return Err(Trouble::fork(self.process, &self.name));
        }
        let mut state = self.lock();
        let State { mounted, files, next } = &mut *state;
        mounted.with_dependent_mut(|_, slot| match &mut slot.0 {
            Some(fs) => act(&mut Open {
                fs,
                files,
                next,
                name: &self.name,
                access: self.access,
                time_ns: self.time_ns,
            }),
            None => Err(Trouble::new("EBADF", "the volume is closed", &self.name)),
        })
    }

    /// Commits and unmounts, if that was not done. Closes files that are still open.
    ///
    /// A failed commit leaves the volume mounted, with all uncommitted changes.
    pub fn close(&self) -> Result<(), Trouble> {
        if self.is_closed() {
            return Ok(());
        }
        self.with(|open| {
            for (_, OpenFile { file, path }) in std::mem::take(open.files) {
                let closed = file.close(open.fs);
                open.content(&path, closed)?;
            }
            open.tell_time();
            open.call("", |fs| fs.commit())
        })?;
        let taken = self
            .lock()
            .mounted
            .with_dependent_mut(|_, slot| slot.0.take().map(FileSystem::unmount));
        self.is_closed.store(true, Ordering::Relaxed);
        let Some(unmounted) = taken else { return Ok(()) };
        let medium = unmounted.map_err(|error| Trouble::volume(error, None, self.name.clone()))?;
        let synced =
            if self.access == Access::ReadWrite { medium.sync_file(&self.name) } else { Ok(()) };
        medium.unlock();
        synced
    }

    /// Returns true if the volume was unmounted.
    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Returns the name of the medium.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if the volume was mounted for writing.
    pub fn is_writable(&self) -> bool {
        self.access == Access::ReadWrite
    }
}

impl<'m> Open<'_, 'm> {
    /// Returns a path as errors name it: `card.img:/logs/a.csv`.
    pub fn place(&self, path: &str) -> String {
        format!("{}:/{}", self.name, path.trim_matches('/'))
    }

    /// Makes a call of the volume. An error names the path.
    pub fn call<T>(
        &mut self,
        path: &str,
        call: impl FnOnce(&mut Fs<'m>) -> Result<T, Error>,
    ) -> Result<T, Trouble> {
        call(self.fs).map_err(|error| {
            let reason = self.fs.flash().reason();
            self.for_access(Trouble::volume(error, reason, self.place(path)))
        })
    }

    /// Converts an error of a file's content. The error names the path.
    pub fn content<T>(&self, path: &str, result: Result<T, plain::Error>) -> Result<T, Trouble> {
        result.map_err(|error| {
            let reason = self.fs.flash().reason();
            self.for_access(Trouble::content(error, reason, self.place(path)))
        })
    }

    fn for_access(&self, trouble: Trouble) -> Trouble {
        match self.access {
            Access::ReadOnly => trouble.opened_for_reading(),
            _ => trouble,
        }
    }

    /// Sets the time of the volume.
    pub fn tell_time(&mut self) {
        let now = || {
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
        };
        self.fs.set_time(self.time_ns.unwrap_or_else(now));
    }
}
