//! How a volume is mounted.

use crate::opened::Opened;
use fuser::SessionACL;
use std::time::Duration;
use steadyfs::{CommitLimits, CommitOn};
use steadyfs_host::plain::Packing;

/// How a volume is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Events after which the volume commits; by default [`CommitOn::TIMED_AND_ON_FLUSH`]. Without [`CommitOn::FULL`], a call that finds no
    /// room in the open transaction says `ENOSPC`.
    pub commit_on: CommitOn,
    /// How long a change waits for a commit at most, where [`CommitOn::TIMED`] is chosen; by default one second.
    pub commit_interval: Duration,
    /// How much waits for a commit at most, where [`CommitOn::MANY`] is chosen; by default nothing is a limit.
    pub commit_limits: CommitLimits,
    /// How files are compressed that are written, where their directory does not say it; by default they are not.
    pub compress: Option<Packing>,
    /// Keep the order in which files are first opened; by default nobody asks.
    pub opened: Option<Opened>,
    /// Let other users in too; by default only the user who mounts. For others than root, `/etc/fuse.conf` must allow it.
    pub allow_other: bool,
    /// Let the kernel refuse every change with `EROFS`. Needed for a volume that is mounted
    /// [for reading only](steadyfs::Access::ReadOnly).
    pub read_only: bool,
    /// Mount on a directory that is not empty too; its files are hidden until the volume is unmounted. By default that is
    /// [refused](crate::Refusal::NotEmpty).
    pub nonempty: bool,
    /// Let no program be run from it.
    pub no_exec: bool,
    /// Accept `chmod` and `chown` on a volume that does not [keep permissions](steadyfs::Config::permissions), and change nothing; by default only what
    /// changes nothing is accepted, and the rest says `EPERM`.
    pub quiet_permissions: bool,
    /// What the list of mounts names as the source; by default `steadyfs`.
    pub source: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            commit_on: CommitOn::TIMED_AND_ON_FLUSH,
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
    /// Who is let in.
    pub(crate) fn acl(&self) -> SessionACL {
        if self.allow_other { SessionACL::All } else { SessionACL::Owner }
    }
}
