//! The table of open files.
//!
//! The table counts the handles of each inode, so that a file that is removed while it is open stays until its last handle is
//! closed: it becomes an *orphan*, in a list on the medium that a mount after a power cut frees.
//!
//! ```text
//! 0           4            8      10      12
//! | inode + 1 | generation | open | flags |      flags 1: orphan, 2: gone with a rollback
//! ```
//!
//! The generation tells a file that is there after a rollback from one whose creation was undone, and which had the same inode.

use super::handle::File;
use super::inode::InodeKind;
use super::volume::Volume;
use crate::error::Error;
use crate::media::Flash;

/// Bytes of RAM that each open file takes beyond the eight that [`Config::memory_bytes`](crate::Config::memory_bytes) has room for.
pub const OPEN_FILE_BYTES: usize = 12;
const ORPHAN: u16 = 1;
const GONE: u16 = 2;

/// An entry of the table; `open` is 0 where it is free.
#[derive(Clone, Copy, Default)]
struct Entry {
    number: u32,
    generation: u32,
    open: u16,
    flags: u16,
}

/// The table of open files.
pub(super) struct OpenTable<'m> {
    bytes: &'m mut [u8],
    /// The entry of the file that the call in progress made an orphan.
    orphaned: Option<u16>,
}

impl<'m> OpenTable<'m> {
    pub fn new(bytes: &'m mut [u8]) -> Self {
        bytes.fill(0);
        Self { bytes, orphaned: None }
    }

    fn len(&self) -> usize {
        self.bytes.len() / OPEN_FILE_BYTES
    }

    fn get(&self, slot: usize) -> Entry {
        let b = &self.bytes[slot * OPEN_FILE_BYTES..(slot + 1) * OPEN_FILE_BYTES];
        Entry {
            number: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            generation: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            open: u16::from_le_bytes([b[8], b[9]]),
            flags: u16::from_le_bytes([b[10], b[11]]),
        }
    }

    fn set(&mut self, slot: usize, entry: Entry) {
        let b = &mut self.bytes[slot * OPEN_FILE_BYTES..(slot + 1) * OPEN_FILE_BYTES];
        b[..4].copy_from_slice(&entry.number.to_le_bytes());
        b[4..8].copy_from_slice(&entry.generation.to_le_bytes());
        b[8..10].copy_from_slice(&entry.open.to_le_bytes());
        b[10..].copy_from_slice(&entry.flags.to_le_bytes());
    }

    /// The entry of an inode that is open.
    pub fn find(&self, inode: u32) -> Option<usize> {
        let is_it = |entry: Entry| entry.number == inode + 1 && entry.flags & GONE == 0;
        (0..self.len()).find(|&slot| is_it(self.get(slot)))
    }

    fn room(&self, inode: u32) -> Result<usize, Error> {
        let free = || (0..self.len()).find(|&slot| self.get(slot).open == 0);
        self.find(inode).or_else(free).ok_or(Error::TooManyOpenFiles)
    }

    /// Forgets a handle.
    pub fn close(&mut self, file: &File) {
        let slot = usize::from(file.slot);
        let entry = self.get(slot);
        let open = entry.open.saturating_sub(1);
        self.set(slot, if open == 0 { Entry::default() } else { Entry { open, ..entry } });
    }

    /// Counts a handle of an inode, and tells its entry.
    pub fn enter(&mut self, inode: u32, generation: u32) -> Result<u16, Error> {
        let slot = self.room(inode)?;
        let entry = match self.get(slot) {
            entry if entry.open > 0 => entry,
            _ => Entry { number: inode + 1, generation, open: 0, flags: 0 },
        };
        self.set(slot, Entry { open: entry.open.checked_add(1).ok_or(Error::TooManyOpenFiles)?, ..entry });
        Ok(slot as u16)
    }

    /// Whether the file of a handle is gone with a rollback.
    pub fn is_gone(&self, file: &File) -> bool {
        self.get(usize::from(file.slot)).flags & GONE != 0
    }

    /// Whether a handle is the last one of an orphan.
    pub fn is_last_of_orphan(&self, file: &File) -> bool {
        let entry = self.get(usize::from(file.slot));
        entry.open == 1 && entry.flags & (ORPHAN | GONE) == ORPHAN
    }

    /// Notes that a file has become an orphan.
    pub fn note_orphan(&mut self, slot: usize) {
        let entry = self.get(slot);
        self.set(slot, Entry { flags: entry.flags | ORPHAN, ..entry });
        self.orphaned = Some(slot as u16);
    }

    /// Makes the present state the one that [`undo`](Self::undo) goes back to.
    pub fn accept(&mut self) {
        self.orphaned = None;
    }

    /// Undoes that a file became an orphan since the mark.
    pub fn undo(&mut self) {
        if let Some(slot) = self.orphaned.take().map(usize::from) {
            let entry = self.get(slot);
            self.set(slot, Entry { flags: entry.flags & !ORPHAN, ..entry });
        }
    }

    /// Whether a handle stands for an orphan.
    pub fn has_orphans(&self) -> bool {
        (0..self.len()).map(|slot| self.get(slot)).any(|entry| entry.open > 0 && entry.flags & (ORPHAN | GONE) == ORPHAN)
    }

    pub fn has_room(&self) -> bool {
        (0..self.len()).any(|slot| self.get(slot).open == 0)
    }

    /// After a rollback: marks the files that are not there any more, and those that are again.
    pub fn check<F: Flash>(&mut self, volume: &mut Volume<'_, F>) -> Result<(), Error> {
        for slot in 0..self.len() {
            let entry = self.get(slot);
            if entry.open == 0 || entry.flags & GONE != 0 {
                continue;
            }
            let inode = entry.number - 1;
            let header = match volume.inode_is_taken(inode).and_then(|taken| taken.then(|| volume.read_header(inode)).transpose())
            {
                Err(Error::Device) => return Err(Error::Device),
                // The handle looks again when it is used.
                Err(_) => continue,
                Ok(header) => header,
            };
            let flags = match header.filter(|header| header.generation == entry.generation).map(|header| header.kind) {
                Some(InodeKind::File) => 0,
                Some(InodeKind::Orphan) => ORPHAN,
                _ => GONE,
            };
            self.set(slot, Entry { flags, ..entry });
        }
        Ok(())
    }
}
