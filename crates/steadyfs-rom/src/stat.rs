//! Metadata of files.

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A file.
    File,
    /// A symbolic link.
    Symlink,
    /// A block device, with its number in the encoding of Linux.
    BlockDevice(u32),
    /// A character device, with its number in the encoding of Linux.
    CharacterDevice(u32),
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
}

/// Metadata that an image stores about a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Kind of the node.
    pub kind: Kind,
    /// Number of bytes of a file, or of a link's target. For a directory, number of bytes of its
    /// list.
    pub size: u64,
    /// Permissions: the low twelve bits of a mode.
    pub mode: u16,
    /// Time of the last change, in seconds since 1970. It is 0 if the format stores no times.
    pub modified: u32,
    /// Inode number. Names with the same number are hard links. It is 0 if the format stores no
    /// numbers.
    pub inode: u32,
}
