//! What an image tells of a file.

/// What something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A file.
    File,
    /// A symbolic link.
    Symlink,
    /// A block device; its number as Linux encodes it.
    BlockDevice(u32),
    /// A device of characters; its number as Linux encodes it.
    CharacterDevice(u32),
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
}

/// What an image tells of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: Kind,
    /// Bytes of a file, or of a link's target; of a directory what its list takes.
    pub size: u64,
    /// Permissions: the low twelve bits of a mode.
    pub mode: u16,
    /// When it was changed, in seconds since 1970; 0 where the format keeps no times.
    pub modified: u32,
    /// Its number; names with the same one are hard links. 0 where the format has none.
    pub inode: u32,
}
