//! The options of a mount.

use crate::opened::Opened;
use fuser::SessionACL;
use std::time::Duration;
use steadyfs::{CommitLimits, CommitOn};
use steadyfs_host::plain::Packing;

/// Options of a mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Events after which the volume commits; by default [`CommitOn::TIMED_AND_ON_SYNC`].
    /// Without [`CommitOn::FULL`], a call that finds no room in the open transaction returns
    /// `ENOSPC`.
    pub commit_on: CommitOn,
    /// Maximum time that a change waits for a commit, with [`CommitOn::TIMED`]; by default one
    /// second.
    pub commit_interval: Duration,
    /// Maximum amount of changes that wait for a commit, with [`CommitOn::MANY`]; by default no
    /// limit.
    pub commit_limits: CommitLimits,
    /// Compression of written files, if their directory does not set it; by default none.
    pub compress: Option<Packing>,
    /// List that keeps the order in which files are first opened; by default none.
    pub opened: Option<Opened>,
    /// True to let other users in too; by default only the user who mounts. For users other than
    /// root, `/etc/fuse.conf` must allow it.
    pub allow_other: bool,
    /// True to let the kernel refuse every change with `EROFS`. Needed for a volume that is
    /// mounted [for reading only](steadyfs::Access::ReadOnly).
    pub read_only: bool,
    /// True to mount also on a directory that is not empty. Its files are hidden until the volume
    /// is unmounted. By default that is [refused](crate::Refusal::NotEmpty).
    pub nonempty: bool,
    /// True to let no program be run from the mount.
    pub no_exec: bool,
    /// True to accept `chmod` and `chown` without effect, on a volume that does not [keep
    /// permissions](steadyfs::Config::permissions). By default only calls that change nothing are
    /// accepted, and the rest returns `EPERM`.
    pub quiet_permissions: bool,
    /// Source in the list of mounts; by default `steadyfs`.
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
    /// Returns the users who are let in.
    pub(crate) fn acl(&self) -> SessionACL {
        if self.allow_other { SessionACL::All } else { SessionACL::Owner }
    }
}
