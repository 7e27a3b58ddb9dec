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
    /// Kind.
    pub kind: Kind,
    /// Bytes of a file or of a link's target; for a directory, bytes that its list takes.
    pub size: u64,
    /// Permissions: the low twelve bits of a mode.
    pub mode: u16,
    /// Time of the last change, in seconds since 1970; 0 if the format keeps no times.
    pub modified: u32,
    /// Inode number. Names with the same number are hard links. 0 if the format has no numbers.
    pub inode: u32,
}
