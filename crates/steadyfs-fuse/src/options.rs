//! The options of a mount.

use crate::opened::Opened;
use fuser::SessionACL;
use std::time::Duration;
use steadyfs::{CommitLimits, CommitOn};
use steadyfs_host::plain::Packing;

/// Options of a mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Events after which the volume commits. Default: [`CommitOn::TIMED_AND_ON_SYNC`]. If
    /// [`CommitOn::FULL`] is not set, a call that does not fit into the open transaction returns
    /// `ENOSPC`.
    pub commit_on: CommitOn,
    /// Maximum time that a change waits for a commit, if [`CommitOn::TIMED`] is set. Default: one
    /// second.
    pub commit_interval: Duration,
    /// Maximum amount of changes that wait for a commit, if [`CommitOn::MANY`] is set. Default: no
    /// limit.
    pub commit_limits: CommitLimits,
    /// Compression of written files, if their directory does not set it. Default: no compression.
    pub compress: Option<Packing>,
    /// List in which the mount records the order in which files are first opened. Default: no list.
    pub opened: Option<Opened>,
    /// True to give other users access. By default only the user who mounts has access. For users
    /// other than root, `/etc/fuse.conf` must allow this option.
    pub allow_other: bool,
    /// True to let the kernel refuse every change with `EROFS`. Set it for a volume that is mounted
    /// [for reading only](steadyfs::Access::ReadOnly).
    pub read_only: bool,
    /// True to mount also on a directory that is not empty. Its files are hidden until the volume
    /// is unmounted. By default such a directory is [refused](crate::Refusal::NotEmpty).
    pub nonempty: bool,
    /// True to forbid that programs are executed from the mount.
    pub no_exec: bool,
    /// True to accept `chmod` and `chown` without effect, on a volume that does not [keep
    /// permissions](steadyfs::Config::permissions). By default only calls that change nothing are
    /// accepted, and all others return `EPERM`.
    pub quiet_permissions: bool,
    /// Source that the list of mounts shows. Default: `steadyfs`.
    pub source: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            commit_on: CommitOn::TIMED_AND_ON_SYNC,
            commit_interval: Duration::from_secs(1),
            commit_limits: CommitLimits::default(),
            compress: None,
            opened: None,
            allow_other: false,
            read_only: false,
            nonempty: false,
            no_exec: false,
            quiet_permissions: false,
            source: "steadyfs".into(),
        }
    }
}

impl Options {
    /// Returns the users who have access.
    pub(crate) fn acl(&self) -> SessionACL {
        if self.allow_other { SessionACL::All } else { SessionACL::Owner }
    }
}
