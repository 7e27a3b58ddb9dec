//! Mode, owner and group of a file or directory, for systems that have users. The file system does
//! not check permissions: those systems decide about access. A new file has no permissions. To
//! create a file with permissions, create it and set its permissions in one transaction.

use super::call::Call;
use super::commits::CommitOn;
use super::filesystem::{Change, FileSystem};
use super::inode::{PERMISSIONS_AT, PERMISSIONS_BYTES};
use super::path::Location;
use crate::error::Error;
use crate::media::Flash;

const MODE_MASK: u16 = 0o7777;
/// Flag for permissions that were set. If a file was created without permissions, its inode has
/// zeros.
const ARE_SET: u16 = 0x8000;

/// Mode, owner and group of a file or directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Permissions {
    /// The twelve bits of `chmod`.
    pub mode: u16,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
}

fn emit_permissions(Permissions { mode, uid, gid }: Permissions) -> [u8; PERMISSIONS_BYTES] {
    let mut bytes = [0; PERMISSIONS_BYTES];
    bytes[..2].copy_from_slice(&(mode & MODE_MASK | ARE_SET).to_le_bytes());
    bytes[4..8].copy_from_slice(&uid.to_le_bytes());
    bytes[8..].copy_from_slice(&gid.to_le_bytes());
    bytes
}

fn parse_permissions(bytes: [u8; PERMISSIONS_BYTES]) -> Option<Permissions> {
    let word =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let mode = word(0) as u16;
    (mode & ARE_SET != 0).then(|| Permissions {
        mode: mode & MODE_MASK,
        uid: word(4),
        gid: word(8),
    })
}

impl<F: Flash> FileSystem<'_, F> {
    /// Returns the permissions of a file or directory. Returns `None` if they were never set, or if
    /// the volume [does not store permissions](crate::Config::permissions).
    ///
    /// # Cost
    /// [`Call::Open`](super::Call::Open).
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn permissions<'p>(
        &mut self,
        place: impl Into<Location<'p>>,
    ) -> Result<Option<Permissions>, Error> {
        let (inode, _) = self.located(place.into())?;
        if !self.volume.plan().has_permissions {
            return Ok(None);
        }
        let (page, at) = self.volume.inode_place(inode);
        let mut bytes = [0; PERMISSIONS_BYTES];
        self.volume.store.logical.read(page, at + PERMISSIONS_AT, &mut bytes)?;
        Ok(parse_permissions(bytes))
    }

    /// Sets the permissions of a file or directory.
    ///
    /// # Power loss
    /// The change is part of the open transaction, like a change of data.
    ///
    /// # Cost
    /// [`Call::SetAttribute`](super::Call::SetAttribute). A path also costs
    /// [`Call::Open`](super::Call::Open) for its look-ups.
    ///
    /// # Errors
    /// [`Error::NotFound`]. [`Error::Unsupported`] if the volume [does not store
    /// permissions](crate::Config::permissions).
    pub fn set_permissions<'p>(
        &mut self,
        place: impl Into<Location<'p>>,
        permissions: Permissions,
    ) -> Result<(), Error> {
        let (inode, _) = self.located(place.into())?;
        if !self.volume.plan().has_permissions {
            return Err(Error::Unsupported);
        }
        self.begin(Call::SetAttribute)?;
        let (page, at) = self.volume.inode_place(inode);
        let result = self.volume.store.logical.patch(
            page,
            at + PERMISSIONS_AT,
            &emit_permissions(permissions),
        );
        self.finish(result, CommitOn::WRITE, false)?;
        self.notify(Change::Updated(inode));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_survive_emit_and_parse() {
        let all = Permissions { mode: 0o7777, uid: u32::MAX, gid: 1 << 31 };
        for permissions in [Permissions::default(), all] {
            assert_eq!(parse_permissions(emit_permissions(permissions)), Some(permissions));
        }
        assert_eq!(
            parse_permissions([0; PERMISSIONS_BYTES]),
            None,
            "of a file that was created without"
        );
    }
}
