//! A volume that its own thread serves.

use super::failure::Failure;
use super::ours::Ours;
use super::place::check_mountpoint;
use super::serve::OnSignals;
use super::{serve_disk, serve_files};
use crate::options::Options;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use steadyfs::disk::Disk;
use steadyfs::media::Flash;
use steadyfs::{Access, FileSystem};

/// A volume that is mounted and served by its own thread, from [`spawn`].
///
/// Dropping this struct unmounts the volume, and does not wait until the thread ends.
#[derive(Debug)]
pub struct Background<F> {
    mountpoint: PathBuf,
    ours: Option<Ours>,
    thread: Option<JoinHandle<Result<F, Failure>>>,
}

/// Mounts the volume on a medium and serves it in a thread. `memory` has the size that
/// [`FileSystem::mount`] requires. This call does not handle signals: the caller may.
///
/// # Errors
/// [`Failure::Mountpoint`] is returned before the medium is accessed. Others are
/// [`Failure::Volume`] and [`Failure::Kernel`].
pub fn spawn<F: Flash + Send + 'static>(
    flash: F,
    access: Access,
    memory: Vec<u8>,
    mountpoint: &Path,
    options: Options,
) -> Result<Background<F>, Failure> {
    begin(mountpoint, options, move |mountpoint, options, ready| {
        let mut memory = memory;
        let mut fs = FileSystem::mount(flash, access, &mut memory).map_err(Failure::Volume)?;
        let served = serve_files(&mut fs, mountpoint, options, OnSignals::LeaveToCaller, |ours| {
            tell(&ready, ours)
        });
        // The unmount commits all changes, even if the service ended with an error.
        let flash = fs.unmount().map_err(Failure::Commit)?;
        served.map(|()| flash)
    })
}

/// Mounts the disk on a medium as the only file of a directory, and serves it in a thread. `memory`
/// has the size that [`Disk::mount`] requires. This call does not handle signals: the caller may.
///
/// # Errors
/// The errors of [`spawn`].
pub fn spawn_disk<F: Flash + Send + 'static>(
    flash: F,
    access: Access,
    memory: Vec<u8>,
    mountpoint: &Path,
    options: Options,
) -> Result<Background<F>, Failure> {
    begin(mountpoint, options, move |mountpoint, options, ready| {
        let mut memory = memory;
        let mut disk = Disk::mount(flash, access, &mut memory).map_err(Failure::Volume)?;
        let served = serve_disk(&mut disk, mountpoint, options, OnSignals::LeaveToCaller, |ours| {
            tell(&ready, ours)
        });
        let flash = disk.unmount().map_err(Failure::Commit)?;
        served.map(|()| flash)
    })
}

/// Serves a volume from mount to unmount in a thread, and waits until it is mounted.
fn begin<F: Send + 'static>(
    mountpoint: &Path,
    options: Options,
    run: impl FnOnce(&Path, &Options, Sender<Ours>) -> Result<F, Failure> + Send + 'static,
) -> Result<Background<F>, Failure> {
    let mountpoint = check_mountpoint(mountpoint, options.nonempty).map_err(Failure::Mountpoint)?;
    let (ready, is_ready) = channel();
    let thread = {
        let mountpoint = mountpoint.clone();
        let run = move || run(&mountpoint, &options, ready);
        thread::Builder::new().name("steadyfs-volume".into()).spawn(run).map_err(Failure::Kernel)?
    };
    let mut background = Background { mountpoint, ours: None, thread: Some(thread) };
    background.wait_until(&is_ready)?;
    Ok(background)
}

/// Reports to the waiting thread that the mount exists.
fn tell(ready: &Sender<Ours>, ours: &Ours) {
    let _ = ready.send(ours.clone());
}

impl<F> Background<F> {
    /// Waits for the mount. If the thread ends before that, the thread's result contains the
    /// reason.
    fn wait_until(&mut self, is_ready: &Receiver<Ours>) -> Result<(), Failure> {
        match is_ready.recv() {
            Ok(ours) => {
                self.ours = Some(ours);
                Ok(())
            }
            Err(_) => self.join().map(|_| ()),
        }
    }

    fn join(&mut self) -> Result<F, Failure> {
        self.thread.take().ok_or(Failure::Panicked)?.join().unwrap_or(Err(Failure::Panicked))
    }

    /// Returns the directory on which the volume is mounted.
    pub fn mountpoint(&self) -> &Path {
        &self.mountpoint
    }

    /// Unmounts the volume, unless the thread has ended. In that case the volume is already
    /// unmounted, and the numbers of its mount may belong to another mount.
    fn take_away(&self) -> Result<(), Failure> {
        let is_served = self.thread.as_ref().is_some_and(|thread| !thread.is_finished());
        match &self.ours {
            Some(ours) if is_served => ours.take_away().map(drop).map_err(Failure::Kept),
            _ => Ok(()),
        }
    }

    /// Unmounts the volume, commits all changes, and returns the medium. Waits until all files are
    /// closed.
    ///
    /// # Errors
    /// [`Failure::Kept`] if other mounts lie on the volume's mount. The thread then serves the
    /// volume until another process unmounts it. Others are [`Failure::Commit`],
    /// [`Failure::Kernel`] and [`Failure::Panicked`].
    pub fn unmount(mut self) -> Result<F, Failure> {
        self.take_away()?;
        self.join()
    }
}

impl<F> Drop for Background<F> {
    fn drop(&mut self) {
        let _ = self.take_away();
    }
}
