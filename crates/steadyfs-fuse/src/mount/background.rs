//! A volume that is served by a thread of its own.

use super::detach::detach;
use super::serve;
use crate::options::Options;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use steadyfs::media::Flash;
use steadyfs::{Access, Error, FileSystem, MountError};

/// Why a volume could not be mounted, served or unmounted.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The medium holds no volume that can be mounted.
    Volume(MountError),
    /// The last commit failed.
    Commit(Error),
    /// The kernel did not mount or unmount it.
    Kernel(io::Error),
    /// The thread that served it panicked.
    Panicked,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Volume(error) => write!(f, "the volume cannot be mounted: {error}"),
            Failure::Commit(error) => write!(f, "the last commit failed: {error}"),
            Failure::Kernel(error) => write!(f, "the kernel: {error}"),
            Failure::Panicked => f.write_str("the thread that served the volume panicked"),
        }
    }
}

impl std::error::Error for Failure {}

/// A volume that is mounted and served by a thread of its own, from [`spawn`].
///
/// Dropping it takes the mount away and waits for nothing.
#[derive(Debug)]
pub struct Background<F> {
    mountpoint: PathBuf,
    thread: Option<JoinHandle<Result<F, Failure>>>,
}

/// Mounts the volume on a medium and serves it in a thread. `memory` is what [`FileSystem::mount`] asks for. Signals are the
/// caller's.
///
/// # Errors
/// [`Failure::Volume`], [`Failure::Kernel`].
pub fn spawn<F: Flash + Send + 'static>(
    flash: F,
    access: Access,
    memory: Vec<u8>,
    mountpoint: &Path,
    options: Options,
) -> Result<Background<F>, Failure> {
    let mountpoint = mountpoint.canonicalize().map_err(Failure::Kernel)?;
    let (ready, is_ready) = channel();
    let thread = {
        let mountpoint = mountpoint.clone();
        let run = move || run(flash, access, memory, &mountpoint, &options, ready);
        thread::Builder::new().name("steadyfs-volume".into()).spawn(run).map_err(Failure::Kernel)?
    };
    let mut background = Background { mountpoint, thread: Some(thread) };
    background.wait_until(&is_ready)?;
    Ok(background)
}

/// Serves a volume from mount to unmount, and gives the medium back.
fn run<F: Flash + 'static>(
    flash: F,
    access: Access,
    mut memory: Vec<u8>,
    mountpoint: &Path,
    options: &Options,
    ready: Sender<()>,
) -> Result<F, Failure> {
    let mut fs = FileSystem::mount(flash, access, &mut memory).map_err(Failure::Volume)?;
    let tell = |_: &Path| {
        let _ = ready.send(());
    };
    serve(&mut fs, mountpoint, options, false, tell).map_err(Failure::Kernel)?;
    fs.unmount().map_err(Failure::Commit)
}

impl<F> Background<F> {
    /// Waits for the mount. When its thread ends instead, the thread knows why.
    fn wait_until(&mut self, is_ready: &Receiver<()>) -> Result<(), Failure> {
        match is_ready.recv() {
            Ok(()) => Ok(()),
            Err(_) => self.join().map(|_| ()),
        }
    }

    fn join(&mut self) -> Result<F, Failure> {
        self.thread.take().ok_or(Failure::Panicked)?.join().unwrap_or(Err(Failure::Panicked))
    }

    /// The directory on which it is mounted.
    pub fn mountpoint(&self) -> &Path {
        &self.mountpoint
    }

    /// Unmounts, commits, and gives the medium back. Waits until nobody has a file open.
    ///
    /// # Errors
    /// [`Failure::Commit`], [`Failure::Kernel`], [`Failure::Panicked`].
    pub fn unmount(mut self) -> Result<F, Failure> {
        // If somebody else unmounted it, the thread has ended or is about to.
        let _ = detach(&self.mountpoint);
        self.join()
    }
}

impl<F> Drop for Background<F> {
    fn drop(&mut self) {
        if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            let _ = detach(&self.mountpoint);
        }
    }
}
