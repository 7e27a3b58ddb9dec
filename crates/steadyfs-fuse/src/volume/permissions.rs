//! Mode, owner and group.
//!
//! A volume that stores permissions returns the stored values. Any other volume returns the same
//! values for all files, and the same for all directories.
//!
//! The kernel checks access. A change of owner or a write also removes the set-user-ID and
//! set-group-ID bits. The kernel removes them, unless this crate announces that it removes them
//! itself: [`without_privileges`].

use super::Volume;
use crate::errno::errno;
use fuser::Errno;
use steadyfs::media::Flash;
use steadyfs::{InodeNumber, Kind, Permissions, Stat};

const SET_UID: u16 = 0o4000;
const SET_GID: u16 = 0o2000;
const GROUP_EXECUTE: u16 = 0o010;

/// Permissions to set. `None` does not change a value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Change {
    pub mode: Option<u32>,
    pub uid: Option<u32>,
    pub gid: Option<u32>,
}

/// Creator of a file or directory, and its permissions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Creator {
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
}

/// Returns the permissions without the bits that let a program run as the owner or the group.
fn without_privileges(permissions: Permissions) -> Permissions {
    let group = if permissions.mode & GROUP_EXECUTE != 0 { SET_GID } else { 0 };
    Permissions { mode: permissions.mode & !(SET_UID | group), ..permissions }
}

impl<F: Flash> Volume<'_, '_, F> {
    /// Returns the stored permissions of a file or directory, or the usual permissions if none are
    /// stored.
    pub(super) fn permissions(&mut self, stat: &Stat) -> Result<Permissions, Errno> {
        let own = self.changes.fs().permissions(stat.inode).map_err(errno)?;
        Ok(own.unwrap_or_else(|| self.nodes.usual_permissions(stat.kind)))
    }

    /// Sets permissions. On a volume that stores no permissions, a change to the present values is
    /// accepted. Other changes are refused, or ignored if `quiet_permissions` is set.
    pub(super) fn change_permissions(&mut self, stat: &Stat, change: Change) -> Result<(), Errno> {
        let Change { mode, uid, gid } = change;
        if (mode, uid, gid) == (None, None, None) {
            return Ok(());
        }
        let old = self.permissions(stat)?;
        let kept = if (uid, gid) != (None, None) && stat.kind != Kind::Directory {
            without_privileges(old)
        } else {
            old
        };
        let new = Permissions {
            mode: mode.map_or(kept.mode, |mode| (mode & 0o7777) as u16),
            uid: uid.unwrap_or(kept.uid),
            gid: gid.unwrap_or(kept.gid),
        };
        match self.changes.fs().config().permissions {
            _ if new == old => Ok(()),
            true => self.changes.make(|fs| fs.set_permissions(stat.inode, new)),
            false if self.quiet_permissions => Ok(()),
            false => Err(Errno::EPERM),
        }
    }

    /// Sets the permissions of a new file or directory to the permissions of its creator. If the
    /// parent directory passes on its group, the new file or directory gets this group.
    pub(super) fn own(
        &mut self,
        parent: InodeNumber,
        inode: InodeNumber,
        creator: Creator,
    ) -> Result<(), Errno> {
        if !self.changes.fs().config().permissions {
            return Ok(());
        }
        let stat = self.changes.fs().stat(inode).map_err(errno)?;
        let above = self
            .changes
            .fs()
            .permissions(parent)
            .map_err(errno)?
            .filter(|above| above.mode & SET_GID != 0);
        let Creator { mode, uid, gid } = creator;
        let passed_on = if above.is_some() && stat.kind == Kind::Directory { SET_GID } else { 0 };
        let mode = (mode & 0o7777) as u16 | passed_on;
        let new = Permissions { mode, uid, gid: above.map_or(gid, |above| above.gid) };
        self.changes.make(|fs| fs.set_permissions(inode, new))
    }

    /// Removes the set-user-ID and set-group-ID bits of a file whose content changes.
    pub(super) fn end_privileges(&mut self, inode: InodeNumber) -> Result<(), Errno> {
        let Some(old) = self.changes.fs().permissions(inode).map_err(errno)? else { return Ok(()) };
        match without_privileges(old) {
            new if new == old => Ok(()),
            new => self.changes.make(|fs| fs.set_permissions(inode, new)),
        }
    }
}
