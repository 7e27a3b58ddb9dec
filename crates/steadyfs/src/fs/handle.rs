//! A handle of an open file, and the options for opening a file.

#[cfg(doc)]
use super::FileSystem;
use super::inode::{InodeHeader, InodeKind, InodeNumber};
use super::volume::{MountId, Node};
use crate::error::Error;

/// Options for opening a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct OpenOptions {
    /// Allows reading.
    pub read: bool,
    /// Allows writing at any offset.
    pub write: bool,
    /// Allows writing, but only at the end of the file. The given offset is ignored.
    pub append: bool,
    /// Truncates the file to zero bytes; needs `write`.
    pub truncate: bool,
    /// Creates the file if it does not exist; needs `write` or `append`.
    pub create: bool,
    /// Creates the file. If the file exists, the call fails with [`Error::Exists`].
    pub create_new: bool,
    /// Makes every change through this handle durable when the call returns. If the file is
    /// created, its creation is durable too.
    ///
    /// Such a change commits the whole open transaction, also the changes of other files. This
    /// holds for [`CommitOn::MANUAL`](super::CommitOn::MANUAL), too.
    pub durable: bool,
    /// The stream for the pages of a file that is created. It is stored with the file. Files that
    /// are rewritten about equally often should share a stream. Files that are rewritten much more
    /// or less often should have another stream.
    ///
    /// If no stream is chosen, the file has stream 0. If the [volume](crate::Config::streams) does
    /// not have the chosen stream, its last stream is used.
    pub stream: u8,
}

impl OpenOptions {
    /// Reads an existing file.
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
    /// Reads and writes an existing file.
    pub const WRITE: Self = Self { write: true, ..Self::READ };
    /// Reads and writes a file; creates it if it does not exist.
    pub const CREATE: Self = Self { create: true, ..Self::WRITE };
    /// As [`CREATE`](Self::CREATE), and makes every change durable when its call returns.
    pub const DURABLE: Self = Self { durable: true, ..Self::CREATE };

    pub(super) fn changes(&self) -> bool {
        self.write || self.append
    }
}

/// An open file. Close it with [`FileSystem::close`], also after an error. A handle that is dropped
/// keeps its entry in the table of open files until the unmount or [`FileSystem::close_all`]. If
/// its file is removed, it also keeps the room of the file.
///
/// A change through one handle of a file appears in the other handles of the file. If a file is
/// renamed or removed, its handles still refer to the same file.
///
/// A handle works with the mount that made it. Another volume, or a later mount of the same volume,
/// refuses it with [`Error::WrongMount`]. A write through a handle for reading fails with
/// [`Error::NotWritable`].
#[derive(Debug)]
#[must_use = "close it, or it keeps a place in the table of open files"]
pub struct File {
    pub(super) slot: u16,
    pub(super) options: OpenOptions,
    /// The stamp of the volume at the time when the fields below were read.
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
    /// Returns the number of the file, which is constant for its life.
    pub fn inode(&self) -> InodeNumber {
        self.node.inode
    }

    /// Returns the [stream](OpenOptions::stream) of the file's pages, chosen when the file was
    /// created: 0 to 3. If the volume does not have this stream, its last stream is used. Costs
    /// nothing.
    pub fn stream(&self) -> u8 {
        self.stream
    }

    /// Returns the options with which the file was opened. Costs nothing.
    pub fn options(&self) -> OpenOptions {
        self.options
    }

    /// Makes a handle of a file in this mount, after the change `stamp`. `slot` is the entry of the
    /// file in the table of open files.
    pub(super) fn new(
        slot: u16,
        inode: u32,
        header: &InodeHeader,
        options: OpenOptions,
        (mount_id, stamp): (MountId, u32),
    ) -> Self {
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

    /// Updates the handle from the inode of its file, which has changed. Refuses the inode if it
    /// now belongs to another file.
    pub(super) fn update(&mut self, header: &InodeHeader, stamp: u32) -> Result<(), Error> {
        if header.generation != self.generation
            || !matches!(header.kind, InodeKind::File | InodeKind::Orphan)
        {
            return Err(Error::Stale);
        }
        (self.size, self.modified_ns, self.inline) =
            (header.size, header.modified_ns, header.inline);
        self.node.forget();
        self.stamp = stamp;
        Ok(())
    }
}
