//! The counts of free space in RAM, and how far searches for names go.

/// Which pages a change may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Those that are usable.
    Usable,
    /// Those that are kept for a full volume as well.
    Spare,
}

/// How far searches for names go: over all directories of a volume, the most that any of them has had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Overflow pages of a directory.
    pub pages: u32,
    /// Names of one directory whose records have the same hash.
    pub equal: u32,
}

impl Depth {
    /// No limit.
    pub const ANY: Self = Self { pages: u32::MAX, equal: u32::MAX };

    /// The larger number of each kind.
    pub fn max(self, other: Self) -> Self {
        Self { pages: self.pages.max(other.pages), equal: self.equal.max(other.equal) }
    }
}

/// The counts of free space in RAM, and the depth of directories.
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
    /// How far searches for names go, as the root page of the volume has it.
    pub depth: Depth,
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
