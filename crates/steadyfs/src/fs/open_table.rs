//! The table of open files.
//!
//! The table counts the handles of each inode. So if a file is removed while it is open, its pages
//! stay until its last handle is closed. Meanwhile it is an *orphan*, in a list on the medium.
//! After a power cut and a mount, later calls free the files of this list.
//!
//! ```text
//! 0           4            8      10      12
//! | inode + 1 | generation | open | flags |      flags 1: orphan, 2: gone with a rollback
//! ```
//!
//! After a rollback, the generation distinguishes two files with the same inode: a file that exists
//! now, and a file whose creation was undone.

use super::handle::File;
use super::inode::InodeKind;
use super::volume::Volume;
use crate::error::Error;
use crate::media::Flash;

/// Number of bytes of RAM for each open file beyond the eight files in
/// [`Config::memory_bytes`](crate::Config::memory_bytes).
pub const OPEN_FILE_BYTES: usize = 12;
const ORPHAN: u16 = 1;
const GONE: u16 = 2;

/// An entry of the table. In a free entry, `open` is 0.
#[derive(Clone, Copy, Default)]
struct OpenEntry {
    number: u32,
    generation: u32,
    open: u16,
    flags: u16,
}

/// The table of open files.
pub(super) struct OpenTable<'m> {
    bytes: &'m mut [u8],
    /// The entry of the file that the present call made an orphan.
    orphaned: Option<u16>,
}

impl<'m> OpenTable<'m> {
    pub fn new(bytes: &'m mut [u8]) -> Self {
        bytes.fill(0);
        Self { bytes, orphaned: None }
    }

    /// Removes all handles.
    pub fn clear(&mut self) {
        self.bytes.fill(0);
    }

    fn len(&self) -> usize {
        self.bytes.len() / OPEN_FILE_BYTES
    }

    /// Returns the number of files that can be open.
    pub fn entries(&self) -> u32 {
        self.len() as u32
    }

    fn get(&self, slot: usize) -> OpenEntry {
        let b = &self.bytes[slot * OPEN_FILE_BYTES..(slot + 1) * OPEN_FILE_BYTES];
        OpenEntry {
            number: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            generation: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            open: u16::from_le_bytes([b[8], b[9]]),
            flags: u16::from_le_bytes([b[10], b[11]]),
        }
    }

    fn set(&mut self, slot: usize, entry: OpenEntry) {
        let b = &mut self.bytes[slot * OPEN_FILE_BYTES..(slot + 1) * OPEN_FILE_BYTES];
        b[..4].copy_from_slice(&entry.number.to_le_bytes());
        b[4..8].copy_from_slice(&entry.generation.to_le_bytes());
        b[8..10].copy_from_slice(&entry.open.to_le_bytes());
        b[10..].copy_from_slice(&entry.flags.to_le_bytes());
    }

    /// Finds the entry of an open inode.
    pub fn find(&self, inode: u32) -> Option<usize> {
        let number = (inode + 1).to_le_bytes();
        let is_it = |(slot, bytes): (usize, &[u8])| {
            bytes.starts_with(&number) && self.get(slot).flags & GONE == 0
        };
        self.bytes.chunks_exact(OPEN_FILE_BYTES).enumerate().position(is_it)
    }

    fn room(&self, inode: u32) -> Result<usize, Error> {
        let free = || (0..self.len()).find(|&slot| self.get(slot).open == 0);
        self.find(inode).or_else(free).ok_or(Error::TooManyOpenFiles)
    }

    /// Removes a handle.
    pub fn close(&mut self, file: &File) {
        let slot = usize::from(file.slot);
        let entry = self.get(slot);
        let open = entry.open.saturating_sub(1);
        self.set(slot, if open == 0 { OpenEntry::default() } else { OpenEntry { open, ..entry } });
    }

    /// Counts a handle of an inode, and returns its entry.
    pub fn enter(&mut self, inode: u32, generation: u32) -> Result<u16, Error> {
        let slot = self.room(inode)?;
        let entry = match self.get(slot) {
            entry if entry.open > 0 => entry,
            _ => OpenEntry { number: inode + 1, generation, open: 0, flags: 0 },
        };
        self.set(
            slot,
            OpenEntry { open: entry.open.checked_add(1).ok_or(Error::TooManyOpenFiles)?, ..entry },
        );
        Ok(slot as u16)
    }

    /// Returns true if the file of a handle no longer exists after a rollback.
    pub fn is_gone(&self, file: &File) -> bool {
        self.get(usize::from(file.slot)).flags & GONE != 0
    }

    /// Returns true if a handle is the last one of an orphan.
    pub fn is_last_of_orphan(&self, file: &File) -> bool {
        let entry = self.get(usize::from(file.slot));
        entry.open == 1 && entry.flags & (ORPHAN | GONE) == ORPHAN
    }

    /// Notes that a file has become an orphan.
    pub fn note_orphan(&mut self, slot: usize) {
        let entry = self.get(slot);
        self.set(slot, OpenEntry { flags: entry.flags | ORPHAN, ..entry });
        self.orphaned = Some(slot as u16);
    }

    /// Makes the present state the target of [`undo`](Self::undo).
    pub fn accept(&mut self) {
        self.orphaned = None;
    }

    /// Makes the orphan of the present call an ordinary file again.
    pub fn undo(&mut self) {
        if let Some(slot) = self.orphaned.take().map(usize::from) {
            let entry = self.get(slot);
            self.set(slot, OpenEntry { flags: entry.flags & !ORPHAN, ..entry });
        }
    }

    /// Returns true if an orphan has a handle.
    pub fn has_orphans(&self) -> bool {
        (0..self.len())
            .map(|slot| self.get(slot))
            .any(|entry| entry.open > 0 && entry.flags & (ORPHAN | GONE) == ORPHAN)
    }

    pub fn has_room(&self) -> bool {
        (0..self.len()).any(|slot| self.get(slot).open == 0)
    }

    /// Updates the entries after a rollback: files may no longer exist, and removed files may exist
    /// again.
    pub fn check<F: Flash>(&mut self, volume: &mut Volume<'_, F>) -> Result<(), Error> {
        for slot in 0..self.len() {
            let entry = self.get(slot);
            // If a file no longer exists, it never exists again for this handle.
            if entry.open == 0 || entry.flags & GONE != 0 {
                continue;
            }
            let inode = entry.number - 1;
            let header = match volume
                .inode_is_taken(inode)
                .and_then(|taken| taken.then(|| volume.read_header(inode)).transpose())
            {
                Err(Error::Device) => return Err(Error::Device),
                // The handle reads its inode again when it is used.
                Err(_) => continue,
                Ok(header) => header,
            };
            let flags = match header
                .filter(|header| header.generation == entry.generation)
                .map(|header| header.kind)
            {
                Some(InodeKind::File) => 0,
                Some(InodeKind::Orphan) => ORPHAN,
                _ => GONE,
            };
            self.set(slot, OpenEntry { flags, ..entry });
        }
        Ok(())
    }
}
