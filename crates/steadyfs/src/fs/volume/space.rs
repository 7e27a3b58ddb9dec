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
    /// Free bits that were seen: so many from this one on, and the byte of the map in which it lies.
    pub next: u32,
    pub count: u16,
    pub byte: u8,
}

impl Space {
    /// Behind the free bits that were seen.
    pub fn end(&self) -> u32 {
        self.next + u32::from(self.count)
    }

    /// Forgets the free bits that were seen: they may be others now.
    pub fn forget_run(&mut self) {
        (self.next, self.count) = (self.end(), 0);
    }
}
