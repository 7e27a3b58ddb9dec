//! The counts of free space in RAM, and the limits of searches for names.

use super::plan::SPARE_PAGES;
use crate::error::Error;

/// The pages that a change may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// The usable pages.
    Usable,
    /// The usable pages and the pages that are reserved for a full volume.
    Spare,
}

/// Limits of a search for a name: the largest numbers of any directory that the volume ever had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Number of overflow pages of a directory.
    pub pages: u32,
    /// Number of names of one directory whose records have the same hash.
    pub equal: u32,
}

impl Depth {
    /// No limit.
    pub const ANY: Self = Self { pages: u32::MAX, equal: u32::MAX };

    /// Returns the larger number of each kind.
    pub fn max(self, other: Self) -> Self {
        Self { pages: self.pages.max(other.pages), equal: self.equal.max(other.equal) }
    }
}

/// The counts of free space in RAM, and the depth of directories.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpaceCounts {
    /// Number of data pages in use.
    pub used: u32,
    /// Number of pages of the file table that hold at least one inode in use. The page of the root
    /// is always included. All other pages are discarded.
    pub table_pages: u32,
    /// Number of inodes in use.
    pub inodes: u32,
    /// The run of free bits that the last search of the allocation map found: its first bit, its
    /// length, and the byte of the map that holds the first bit.
    pub next: u32,
    pub count: u16,
    pub byte: u8,
    /// Limits of searches for names, as the root page of the volume stores them.
    pub depth: Depth,
}

impl SpaceCounts {
    /// Returns the bit behind the run of free bits.
    pub fn end(&self) -> u32 {
        self.next + u32::from(self.count)
    }

    /// Refuses one more page of data or of the file table if the volume has no room for it.
    pub fn check_room(&self, capacity: u32, room: Room) -> Result<(), Error> {
        // Truncations and repairs may take the pages that are reserved for them.
        let kept = if room == Room::Spare { SPARE_PAGES } else { 0 };
        if self.used >= capacity + kept { Err(Error::NoSpace) } else { Ok(()) }
    }

    /// Returns the number of pages of data and of the file table in use.
    pub fn pages(&self) -> u32 {
        self.used + self.table_pages
    }

    /// Discards the run of free bits, because its bits may have changed.
    pub fn forget_run(&mut self) {
        (self.next, self.count) = (self.end(), 0);
    }
}
