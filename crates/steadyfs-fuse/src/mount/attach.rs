//! Creation of the mount.
//!
//! `fuser` could create the mount. But at the end of a session `fuser` unmounts the path, even if
//! another file system is mounted there by then. So `fuser` only serves a connection that this
//! module creates.

use super::ours::{Ours, open_place};
use crate::options::Options;
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen, move_mount,
};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{getgid, getuid};
use std::fs::OpenOptions;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

const DEVICE: &str = "/dev/fuse";
const HELPER: &str = "fusermount3";

/// Mounts on a directory, and returns the connection to the kernel. Programs that access the mount
/// wait until a thread serves the connection.
pub(super) fn attach(mountpoint: &Path, options: &Options) -> io::Result<(OwnedFd, Ours)> {
    match fsopen("fuse", FsOpenFlags::FSOPEN_CLOEXEC) {
        Ok(context) => by_ourselves(&context, mountpoint, options),
        // Users who are not root need a helper to mount. Kernels before 5.2 need it too.
        Err(Errno::PERM | Errno::NOSYS) => by_helper(mountpoint, options),
        Err(error) => Err(at("FUSE", error.into())),
    }
}

fn at(what: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// Creates the file system and its mount, and finally attaches the mount. So this process reads the
/// mount's number before any other process sees the mount.
fn by_ourselves(
    context: &OwnedFd,
    mountpoint: &Path,
    options: &Options,
) -> io::Result<(OwnedFd, Ours)> {
    let device = OpenOptions::new()
        .read(true)
        .write(true)
        .open(DEVICE)
        .map_err(|error| at(DEVICE, error))?;
    let (number, user, group) = (device.as_raw_fd(), getuid().as_raw(), getgid().as_raw());
    fsconfig_set_string(context, "source", &*options.source)?;
    fsconfig_set_string(context, "subtype", "steadyfs")?;
    fsconfig_set_string(context, "fd", number.to_string())?;
    fsconfig_set_string(context, "rootmode", "40000")?;
    fsconfig_set_string(context, "user_id", user.to_string())?;
    fsconfig_set_string(context, "group_id", group.to_string())?;
    for flag in flags(options) {
        fsconfig_set_flag(context, flag)?;
    }
    fsconfig_create(context)?;
    let mut attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOATIME;
    attributes.set(MountAttrFlags::MOUNT_ATTR_RDONLY, options.read_only);
    attributes.set(MountAttrFlags::MOUNT_ATTR_NOEXEC, options.no_exec);
    let mount = fsmount(context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
    let whole = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(&mount, "", open_place(mountpoint)?, "", whole)?;
    Ok((device.into(), Ours::of(mount)?))
}

/// Returns the options that the kernel and the helper share. The kernel checks permissions, against
/// the modes that the volume reports.
fn flags(options: &Options) -> impl Iterator<Item = &'static str> {
    let chosen = [
        ("default_permissions", true),
        ("ro", options.read_only),
        ("allow_other", options.allow_other),
    ];
    chosen.into_iter().filter_map(|(flag, is_chosen)| is_chosen.then_some(flag))
}

/// Lets the helper `fusermount3` mount. The helper sends the connection through the socket that is
/// its standard input.
fn by_helper(mountpoint: &Path, options: &Options) -> io::Result<(OwnedFd, Ours)> {
    let (socket, theirs) = UnixStream::pair()?;
    // Commas separate options, so a comma in the source is escaped.
    let source = options.source.replace('\\', "\\\\").replace(',', "\\,");
    let exec = if options.no_exec { ",noexec" } else { "" };
    let mut list = format!("fsname={source},subtype=steadyfs,nosuid,nodev,noatime{exec}");
    flags(options).for_each(|flag| list.extend([",", flag]));
    let child = Command::new(HELPER)
        .args(["-o", &list, "--"])
        .arg(mountpoint)
        .env("_FUSE_COMMFD", "0")
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            at(&format!("only root mounts without {HELPER}, and {HELPER} cannot be run"), error)
        })?;
    let device = receive(&socket)?;
    let told = child.wait_with_output()?;
    match device {
        Some(device) => Ok((device, Ours::of(open_place(mountpoint)?)?)),
        None => Err(io::Error::other(String::from_utf8_lossy(&told.stderr).trim().to_owned())),
    }
}

/// Receives the open file that the other end of a socket sends. Returns `None` if the other end is
/// closed before it sends a file.
fn receive(socket: &UnixStream) -> io::Result<Option<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    recvmsg(socket, &mut [IoSliceMut::new(&mut [0])], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let found = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    Ok(found)
}
