//! `stat`, `setattr`, `statfs`, extended attributes.

use super::Volume;
use super::changes::now_ns;
use super::nodes::{Node, inode_of};
use super::permissions::Change;
use crate::errno::errno;
use fuser::{Errno, FileHandle, INodeNo, TimeOrNow};
use rustix::fs::XattrFlags;
use std::time::UNIX_EPOCH;
use steadyfs::media::Flash;
use steadyfs::{Error, InodeNumber};
use steadyfs_host::plain;

/// Prefix of the attributes that programs may name.
const NAMESPACE: &str = "user.";
/// Size of a buffer that any attribute fits into.
const VALUE_BYTES_MAX: usize = 256;

/// Values that `setattr` shall change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Set {
    pub permissions: Change,
    /// True if a truncation must remove the set-user-ID and set-group-ID bits, because the caller
    /// has no right to keep them.
    pub ends_privileges: bool,
    pub size: Option<u64>,
    pub modified: Option<TimeOrNow>,
    pub handle: Option<FileHandle>,
}

/// Space of the volume.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    pub blocks: u64,
    pub blocks_free: u64,
    /// Number of blocks that a write can use.
    pub blocks_available: u64,
    pub files: u64,
    pub files_free: u64,
    pub block_bytes: u32,
    pub name_bytes_max: u32,
}

impl<F: Flash> Volume<'_, '_, F> {
    pub fn stat(&mut self, number: INodeNo) -> Result<Node, Errno> {
        let stat = self.stat_of(number)?;
        self.node(&stat)
    }

    /// Changes permissions, size and time.
    pub fn set(&mut self, number: INodeNo, set: Set) -> Result<Node, Errno> {
        let stat = self.stat_of(number)?;
        self.change_permissions(&stat, set.permissions)?;
        if let Some(size) = set.size {
            if set.ends_privileges {
                self.end_privileges(stat.inode)?;
            }
            self.set_size(number, set.handle, size)?;
        }
        if let Some(modified) = set.modified {
            self.set_modified(stat.inode, modified)?;
        }
        self.stat(number)
    }

    fn set_modified(&mut self, inode: InodeNumber, modified: TimeOrNow) -> Result<(), Errno> {
        let modified_ns = match modified {
            TimeOrNow::Now => now_ns(),
            // The volume cannot store times before 1970.
            TimeOrNow::SpecificTime(time) => {
                time.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
            }
        };
        self.changes.make(|fs| fs.set_modified(inode, modified_ns))
    }

    pub fn space(&mut self) -> Space {
        let fs = self.changes.fs();
        let usage = fs.usage();
        let block = u64::from(usage.logical_bytes);
        // If the list of removed files is damaged, writes cannot reuse the pages of removed files.
        let free = fs.free_bytes().unwrap_or(usage.usable_bytes - usage.used_bytes);
        Space {
            blocks: usage.usable_bytes / block,
            blocks_free: free / block,
            blocks_available: fs.available().unwrap_or(0) / block,
            files: u64::from(usage.files_max),
            files_free: u64::from(usage.files_max.saturating_sub(usage.files)),
            block_bytes: usage.logical_bytes,
            name_bytes_max: u32::from(fs.config().name_bytes_max),
        }
    }

    pub fn attribute(&mut self, number: INodeNo, name: &str) -> Result<Vec<u8>, Errno> {
        let (inode, key) = (inode_of(number)?, key_of(name)?);
        let mut value = [0; VALUE_BYTES_MAX];
        let length =
            self.changes.fs().attribute(inode, key, &mut value).map_err(attribute_errno)?;
        Ok(value[..length].to_vec())
    }

    pub fn set_attribute(
        &mut self,
        number: INodeNo,
        name: &str,
        value: &[u8],
        flags: i32,
    ) -> Result<(), Errno> {
        let (inode, key) = (inode_of(number)?, key_of(name)?);
        let flags = XattrFlags::from_bits_retain(flags.cast_unsigned());
        if key == plain::RULE {
            self.check_rule(number, value)?;
        }
        let is_there = match self.changes.fs().attribute(inode, key, &mut []) {
            Ok(_) => true,
            Err(Error::NotFound) => false,
            Err(error) => return Err(errno(error)),
        };
        if is_there && flags.contains(XattrFlags::CREATE) {
            return Err(Errno::EEXIST);
        }
        if !is_there && flags.contains(XattrFlags::REPLACE) {
            return Err(Errno::ENODATA);
        }
        self.changes.make(|fs| fs.set_attribute(inode, key, Some(value)))
    }

    /// Refuses a value of the compression attribute that is not a valid rule for a directory.
    fn check_rule(&mut self, number: INodeNo, value: &[u8]) -> Result<(), Errno> {
        self.directory(number)?;
        let rule =
            std::str::from_utf8(value).ok().and_then(|text| text.parse::<plain::Rule>().ok());
        rule.map(drop).ok_or(Errno::EINVAL)
    }

    pub fn remove_attribute(&mut self, number: INodeNo, name: &str) -> Result<(), Errno> {
        self.attribute(number, name)?;
        let (inode, key) = (inode_of(number)?, key_of(name)?);
        self.changes.make(|fs| fs.set_attribute(inode, key, None))
    }

    /// Returns the names of all attributes, each followed by a NUL.
    pub fn attributes(&mut self, number: INodeNo) -> Result<Vec<u8>, Errno> {
        let inode = inode_of(number)?;
        let mut names = Vec::new();
        let see = |key: &str, _: &[u8]| match key {
            // The attributes of the tools are hidden from programs.
            key if plain::is_own(key) => {}
            key => names.extend([NAMESPACE.as_bytes(), key.as_bytes(), &[0]].concat()),
        };
        self.changes.fs().attributes(inode, see).map_err(errno)?;
        Ok(names)
    }
}

/// Returns the key under which the volume stores an attribute.
fn key_of(name: &str) -> Result<&str, Errno> {
    name.strip_prefix(NAMESPACE).filter(|&key| !plain::is_own(key)).ok_or(Errno::EOPNOTSUPP)
}

fn attribute_errno(error: Error) -> Errno {
    if error == Error::NotFound { Errno::ENODATA } else { errno(error) }
}
