//! A handle of an open file, and how it is opened.

#[cfg(doc)]
use super::FileSystem;
use super::inode::{Header, InodeKind, InodeNumber};
use super::volume::{MountId, Node};
use crate::error::Error;

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Allow reading.
    pub read: bool,
    /// Allow writing at any offset.
    pub write: bool,
    /// Allow writing, at the end of the file only, whatever the offset says.
    pub append: bool,
    /// Cut the file to nothing; needs `write`.
    pub truncate: bool,
    /// Create the file when it does not exist; needs `write` or `append`.
    pub create: bool,
    /// Create the file, and fail with [`Error::Exists`] when it does exist.
    pub create_new: bool,
    /// Every change through this handle is durable when the call returns, and so is the file's creation.
    pub durable: bool,
    /// The stream of the pages of a file that is created, kept with it: files that are written again at about the same pace should have one, and others another.
    /// 0 is that of all that names none; a stream that the [volume](crate::Config::streams) does not have is the last one that it has.
    pub stream: u8,
}

impl OpenOptions {
    /// Read an existing file.
    pub const READ: Self = Self {
        read: true,
        write: false,
        append: false,
        truncate: false,
        create: false,
        create_new: false,
        durable: false,
        stream: 0,
    };
    /// Read and write an existing file.
    pub const WRITE: Self = Self { write: true, ..Self::READ };
    /// Read and write a file; create it when it does not exist.
    pub const CREATE: Self = Self { create: true, ..Self::WRITE };
    /// As [`CREATE`](Self::CREATE), and every change is durable when its call returns.
    pub const DURABLE: Self = Self { durable: true, ..Self::CREATE };

    pub(super) fn changes(&self) -> bool {
        self.write || self.append
    }
}

/// An open file. Close it with [`FileSystem::close`]: a handle that is dropped keeps its place in the table until the unmount.
///
/// Several handles of one file see each other's changes. A file that is renamed or removed stays what it is for its handles.
///
/// A handle works with the mount that made it. Another volume, and a later mount of the same one,
/// refuse it with [`Error::WrongMount`].
#[derive(Debug)]
#[must_use = "close it, or it keeps a place in the table of open files"]
pub struct File {
    pub(super) slot: u16,
    pub(super) options: OpenOptions,
    /// The volume's stamp when the fields below were read.
    pub(super) stamp: u32,
    pub(super) mount_id: MountId,
    generation: u32,
    pub(super) size: u64,
    pub(super) modified_ns: u64,
    pub(super) inline: bool,
    pub(super) stream: u8,
    pub(super) node: Node,
}

impl File {
    /// Number of the file, for its life.
    pub fn inode(&self) -> InodeNumber {
        self.node.inode
    }

    /// The [stream](OpenOptions::stream) of its pages, which it was created with: 0 to 3; one that the volume does not have is the last one that it has. Costs nothing.
    pub fn stream(&self) -> u8 {
        self.stream
    }

    /// Makes a handle of a file, whose place in the table of open files is `slot`, in this mount after
    /// the change `stamp`.
    pub(super) fn new(slot: u16, inode: u32, header: &Header, options: OpenOptions, (mount_id, stamp): (MountId, u32)) -> Self {
        Self {
            slot,
            options,
            stamp,
            mount_id,
            generation: header.generation,
            size: header.size,
            modified_ns: header.modified_ns,
            inline: header.inline,
            stream: header.stream,
            node: Node::new(inode),
        }
    }

    /// Refuses a handle of another mount.
    pub(super) fn check_mount(&self, mount_id: MountId) -> Result<(), Error> {
        if self.mount_id == mount_id { Ok(()) } else { Err(Error::WrongMount) }
    }

    /// Takes what is known of the file from its inode, which has changed, unless that is of another file now.
    pub(super) fn update(&mut self, header: &Header, stamp: u32) -> Result<(), Error> {
        if header.generation != self.generation || !matches!(header.kind, InodeKind::File | InodeKind::Orphan) {
            return Err(Error::Stale);
        }
        (self.size, self.modified_ns, self.inline) = (header.size, header.modified_ns, header.inline);
        self.node.forget();
        self.stamp = stamp;
        Ok(())
    }
}
