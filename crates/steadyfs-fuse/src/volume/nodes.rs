//! Numbers, generations and links for the kernel.
//!
//! The kernel's number of a file is its inode number plus one, because the root has number 1 in the
//! kernel and 0 on the volume. A number may be reused for another file while the kernel still
//! caches the first file. The generation distinguishes the two files.

use fuser::{Errno, FileAttr, FileType, Generation, INodeNo};
use rustix::process::{getgid, getuid};
use std::collections::HashMap;
use std::time::{Duration, UNIX_EPOCH};
use steadyfs::{InodeNumber, Kind, Permissions, Stat};

/// Largest size of a file whose data may lie in its inode. Such a file occupies no pages.
const INLINE_BYTES_MAX: u64 = 144;
/// Bytes of a block, the unit of `st_blocks`.
const STAT_BLOCK_BYTES: u64 = 512;

/// A file or directory in a reply to the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub attr: FileAttr,
    pub generation: Generation,
}

/// Returns the inode of a kernel's number.
pub(super) fn inode_of(number: INodeNo) -> Result<InodeNumber, Errno> {
    number.0.checked_sub(1).and_then(|inode| InodeNumber::try_from(inode).ok()).ok_or(Errno::ENOENT)
}

/// Returns the kernel's number of an inode.
pub(super) fn number_of(inode: InodeNumber) -> INodeNo {
    INodeNo(u64::from(inode) + 1)
}

/// Returns the kernel's type that corresponds to a kind.
pub(super) fn type_of(kind: Kind) -> FileType {
    match kind {
        Kind::Directory => FileType::Directory,
        Kind::Symlink => FileType::Symlink,
        _ => FileType::RegularFile,
    }
}

/// Details of a file that need further calls of the volume.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Details {
    pub permissions: Permissions,
    /// Number of bytes of the file's pages.
    pub allocated: u64,
}

/// A file that has handles.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    handles: u32,
    /// True if the name of the file was removed.
    is_orphan: bool,
}

/// The state of files and directories that the volume does not store.
#[derive(Debug)]
pub(super) struct Nodes {
    open: HashMap<InodeNumber, Open>,
    owner: (u32, u32),
}

impl Nodes {
    /// Creates an empty state. Files without permissions of their own belong to the user who
    /// mounts.
    pub fn new() -> Self {
        Self { open: HashMap::new(), owner: (getuid().as_raw(), getgid().as_raw()) }
    }

    /// Records that a file has one more handle.
    pub fn opened(&mut self, inode: InodeNumber) {
        self.open.entry(inode).or_default().handles += 1;
    }

    /// Records that a file has one handle less.
    pub fn closed(&mut self, inode: InodeNumber) {
        let Some(open) = self.open.get_mut(&inode) else { return };
        open.handles -= 1;
        if open.handles == 0 {
            self.open.remove(&inode);
        }
    }

    /// Records that the name of a file or directory was removed.
    pub fn removed(&mut self, inode: InodeNumber) {
        if let Some(open) = self.open.get_mut(&inode) {
            open.is_orphan = true;
        }
    }

    /// Returns the node of a file or directory for a reply to the kernel.
    pub fn node(&self, stat: &Stat, details: &Details, logical_bytes: u32) -> Node {
        Node {
            attr: self.attr(stat, details, logical_bytes),
            generation: Generation(u64::from(stat.generation)),
        }
    }

    /// Returns the permissions of a file or directory that has no permissions of its own. It
    /// belongs to the user who mounts.
    pub fn usual_permissions(&self, kind: Kind) -> Permissions {
        let mode = match kind {
            Kind::Directory => 0o755,
            Kind::Symlink => 0o777,
            _ => 0o644,
        };
        Permissions { mode, uid: self.owner.0, gid: self.owner.1 }
    }

    fn attr(&self, stat: &Stat, details: &Details, logical_bytes: u32) -> FileAttr {
        let modified = UNIX_EPOCH + Duration::from_nanos(stat.modified_ns);
        FileAttr {
            ino: number_of(stat.inode),
            size: stat.size,
            blocks: blocks(stat, details.allocated),
            atime: modified,
            mtime: modified,
            ctime: modified,
            crtime: modified,
            kind: type_of(stat.kind),
            perm: details.permissions.mode,
            nlink: self.links(stat),
            uid: details.permissions.uid,
            gid: details.permissions.gid,
            rdev: 0,
            // Linux requires a power of two here. On cards whose pages also contain their tags, the
            // size of a page is not a power of two.
            blksize: logical_bytes.next_power_of_two(),
            flags: 0,
        }
    }

    /// Returns the number of links to a node. The links to a directory are its own entry, `.`, and
    /// the `..` of each subdirectory.
    fn links(&self, stat: &Stat) -> u32 {
        match stat.kind {
            Kind::Directory => stat.subdirectories.saturating_add(2),
            _ => u32::from(!self.open.get(&stat.inode).is_some_and(|open| open.is_orphan)),
        }
    }
}

/// Returns the number of blocks of a file. For a file whose data lies in its inode, the result is
/// never 0. Otherwise archivers would treat the file as one large hole.
fn blocks(stat: &Stat, allocated: u64) -> u64 {
    match stat.kind {
        Kind::File if allocated == 0 && stat.size <= INLINE_BYTES_MAX => {
            stat.size.div_ceil(STAT_BLOCK_BYTES)
        }
        _ => allocated / STAT_BLOCK_BYTES,
    }
}
