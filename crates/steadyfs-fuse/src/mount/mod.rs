//! Mounting, the loop that serves the kernel, and the timer.

mod attach;
mod background;
mod failure;
mod message;
mod ours;
mod place;
mod serve;
mod signals;
mod table;

pub use background::{Background, spawn, spawn_disk};
pub use failure::Failure;
pub(crate) use message::Message;
pub use place::{Refusal, check_mountpoint};
pub(crate) use serve::{Kept, Served};

use crate::bridge::Bridge;
use crate::disk::{DiskBridge, DiskVolume};
use crate::options::Options;
use crate::tree::{TreeBridge, TreeServed};
use crate::volume::Volume;
use ours::Ours;
use serve::{OnSignals, serve};
use std::path::Path;
use std::sync::mpsc::Sender;
use steadyfs::FileSystem;
use steadyfs::disk::Disk;
use steadyfs::media::Flash;
use steadyfs_convert::Tree;

/// Mounts a volume on a directory, and serves it until it is unmounted (`umount`, `fusermount3 -u`)
/// or a signal ends the service.
///
/// The first SIGINT or SIGTERM commits, and detaches the directory from the tree of files. Programs
/// may still use their open files, and a message on standard error reports these files. The call
/// returns when the last file is closed. After a second signal the call returns at once, and from
/// then on open files return `EIO`. After the call, it no longer handles signals.
///
/// The call unmounts only its own mount. If another mount lies on its own mount, the first signal
/// only prints a message on standard error.
///
/// The call does not unmount the [`FileSystem`] itself: the caller may
/// [unmount](FileSystem::unmount) or inspect it. The [events that
/// commit](FileSystem::set_commit_on) remain as `options` set them.
///
/// # Errors
/// - [`Failure::Mountpoint`] and [`Failure::Kernel`] if the volume cannot be mounted on this
///   directory.
/// - [`Failure::Kernel`] also if the kernel ends the session with an error.
/// - [`Failure::Kept`] if another mount lies on this mount, and a second signal ended the service.
pub fn mount<F: Flash + 'static>(
    fs: &mut FileSystem<'_, F>,
    mountpoint: &Path,
    options: &Options,
) -> Result<(), Failure> {
    serve_files(fs, mountpoint, options, OnSignals::Unmount, |_| {})
}

/// Mounts a disk on a directory as its only file, `disk`, and serves it as [`mount`] serves a
/// file system.
///
/// The call does not unmount the [`Disk`] itself: the caller may [unmount](Disk::unmount) or
/// inspect it.
///
/// # Errors
/// The errors of [`mount`].
pub fn mount_disk<F: Flash + 'static>(
    disk: &mut Disk<'_, F>,
    mountpoint: &Path,
    options: &Options,
) -> Result<(), Failure> {
    serve_disk(disk, mountpoint, options, OnSignals::Unmount, |_| {})
}

/// Mounts a tree of files, from an image of any format, on a directory. Serves the tree as
/// [`mount`] serves a file system. Programs cannot change the tree.
///
/// # Errors
/// The errors of [`mount`].
pub fn mount_tree(tree: Tree, mountpoint: &Path, options: &Options) -> Result<(), Failure> {
    let options = Options { read_only: true, ..options.clone() };
    // The session's thread answers all requests itself, so it never passes on a job.
    let bridge =
        |_: Sender<Message<fn(&mut TreeServed)>>| TreeBridge::new(tree, options.opened.clone());
    serve(&mut TreeServed, bridge, mountpoint, &options, OnSignals::Unmount, |_| {})
}

fn serve_files<F: Flash + 'static>(
    fs: &mut FileSystem<'_, F>,
    mountpoint: &Path,
    options: &Options,
    on_signals: OnSignals,
    ready: impl FnOnce(&Ours),
) -> Result<(), Failure> {
    fs.set_commit_on(options.commit_on);
    fs.set_commit_limits(options.commit_limits);
    serve(&mut Volume::new(fs, options), Bridge::new, mountpoint, options, on_signals, ready)
}

fn serve_disk<F: Flash + 'static>(
    disk: &mut Disk<'_, F>,
    mountpoint: &Path,
    options: &Options,
    on_signals: OnSignals,
    ready: impl FnOnce(&Ours),
) -> Result<(), Failure> {
    serve(
        &mut DiskVolume::new(disk, options),
        DiskBridge::new,
        mountpoint,
        options,
        on_signals,
        ready,
    )
}
