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

/// Mounts a volume on a directory, and serves it until it is unmounted (`umount`,
/// `fusermount3 -u`) or a signal ends it.
///
/// The first SIGINT or SIGTERM commits, and detaches the directory from the tree of files.
/// Programs with open files may go on, and a message on standard error reports them. The call
/// returns when the last file is closed. The second signal makes it return at once, and open
/// files return `EIO` from then on. Both signals do nothing after the call.
///
/// Only this mount is ever unmounted. If another one lies on it, the first signal only prints
/// that on standard error.
///
/// The volume is not unmounted: the caller may [unmount](FileSystem::unmount) it or look at it.
/// It keeps the [events that commit](FileSystem::set_commit_on) which `options` chose.
///
/// # Errors
/// - [`Failure::Mountpoint`] and [`Failure::Kernel`] if it cannot be mounted there.
/// - [`Failure::Kernel`] also if the kernel ends the session with an error.
/// - [`Failure::Kept`] if a second signal ended the service of a mount on which another one lies.
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
/// The disk is not unmounted: the caller may [unmount](Disk::unmount) it or look at it.
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

/// Mounts a tree of files, from an image of any format, on a directory. Serves it as [`mount`]
/// serves a file system. Nothing can be changed.
///
/// # Errors
/// The errors of [`mount`].
pub fn mount_tree(tree: Tree, mountpoint: &Path, options: &Options) -> Result<(), Failure> {
    let options = Options { read_only: true, ..options.clone() };
    // The session's thread answers itself, so no job is handed on.
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
