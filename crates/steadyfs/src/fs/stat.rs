//! The metadata of a file or directory.

#[cfg(doc)]
use super::FileSystem;
use super::inode::{InodeHeader, InodeKind, InodeNumber, NAME_BYTES_MAX, ROOT};

/// The kind of an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Kind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
}

/// The metadata of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Stat {
    /// Number of the file or directory, constant for its life.
    pub inode: InodeNumber,
    /// The kind: a file, a directory or a symbolic link.
    pub kind: Kind,
    /// Number of bytes of a file or of the target of a link; number of entries of a directory.
    pub size: u64,
    /// Number of directories in a directory.
    pub subdirectories: u32,
    /// Time of the last change, in the unit of the caller's clock; 0 if no time was recorded.
    pub modified_ns: u64,
    /// The directory that contains the file or directory. The parent of the root is the root.
    pub parent: InodeNumber,
    /// Distinguishes files that had the same number one after the other.
    pub generation: u32,
}

/// One entry of [`FileSystem::list`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    name: [u8; NAME_BYTES_MAX],
    name_bytes: u8,
    /// The metadata of the file or directory.
    pub stat: Stat,
}

impl Entry {
    pub(super) fn new(name: [u8; NAME_BYTES_MAX], inode: u32, header: &InodeHeader) -> Self {
        Self { name, name_bytes: header.name_bytes, stat: stat_of(inode, header) }
    }

    /// Returns the name of the entry.
    pub fn name(&self) -> &str {
        core::str::from_utf8(&self.name[..usize::from(self.name_bytes)]).unwrap_or("?")
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Entry {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{=str}: {}", self.name(), self.stat);
    }
}

/// Returns the metadata in the header of an inode.
pub(super) fn stat_of(inode: u32, header: &InodeHeader) -> Stat {
    let is_directory = header.kind == InodeKind::Directory;
    Stat {
        inode,
        kind: match header.is_link {
            _ if is_directory => Kind::Directory,
            true => Kind::Symlink,
            false => Kind::File,
        },
        size: if is_directory { u64::from(header.entries()) } else { header.size },
        subdirectories: if is_directory { header.subdirectories() } else { 0 },
        modified_ns: header.modified_ns,
        parent: if inode == ROOT || header.kind == InodeKind::Orphan {
            ROOT
        } else {
            header.parent
        },
        generation: header.generation,
    }
}
