//! What RAM knows of free space.

/// Which pages a change may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Those that are usable.
    Usable,
    /// Those that are kept for a full volume as well.
    Spare,
}

/// What RAM knows of free space.
#[derive(Clone, Copy, Debug, Default)]
pub struct Space {
    /// Data pages taken.
    pub used: u32,
    /// Pages of the file table that hold an inode which is taken; the root's always counts. The others are discarded.
    pub table_pages: u32,
    /// Inodes taken.
    pub inodes: u32,
    /// Free bits that were seen: `next..end`, and the byte of the map in which `next` lies.
    pub next: u32,
    pub end: u32,
    pub byte: u8,
}
