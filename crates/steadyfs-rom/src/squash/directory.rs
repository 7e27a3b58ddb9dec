//! Directories of squashfs: lists of entries. A list is divided into runs. The inodes of the
//! entries of a run lie in one block.

use super::blocks::{Blocks, Position};
use super::format::{DIRECTORY_EXTRA, METADATA_BYTES};
use crate::error::Error;
use crate::fields::{u16_at, u32_at};
use crate::source::Source;
use core::fmt;

/// Bytes before the entries of a run.
const RUN_BYTES: usize = 12;
/// Bytes of an entry before its name.
const ENTRY_BYTES: usize = 8;
/// Bytes of an entry of the index before its name.
const INDEX_BYTES: usize = 12;
/// Maximum entries of a run.
const RUN_MAX: u32 = 256;
/// Maximum bytes of a name.
pub const NAME_MAX: usize = 256;
/// Maximum bytes of an entry, which is read in three pieces. They include the header of a run,
/// because the entry may be the first in its run.
pub const STEP_BYTES_MAX: u64 = (RUN_BYTES + ENTRY_BYTES + NAME_MAX) as u64;

/// Position in a list of entries. `Default` is the start of the list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor(Option<Place>);

/// Position of the next entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    at: Position,
    /// Number of bytes of the list that follow.
    left: u32,
    /// Number of entries of this run that follow.
    run: u32,
    /// Offset of the block of their inodes, from the start of the table of inodes.
    block: u32,
}

/// An entry of a directory.
#[derive(Clone, Copy)]
pub struct Entry {
    name: [u8; NAME_MAX],
    name_bytes: u16,
    /// Position of the entry's inode: offset of the block from the start of the table, and offset
    /// in the block.
    pub(super) inode: (u32, u16),
}

impl Entry {
    /// Returns the name of the entry.
    pub fn name(&self) -> &[u8] {
        &self.name[..usize::from(self.name_bytes)]
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name()).field("inode", &self.inode).finish()
    }
}

/// A directory: the position and the size of its list.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    /// Offset of the table of directories.
    pub table: u64,
    /// Start of the list: offset of the block from the start of the table, and offset in the block.
    pub begin: (u32, u16),
    /// Size that the inode contains. It is three bytes larger than the list.
    pub size: u64,
    /// Position of the directory's index, and the number of entries in the index.
    pub index: (Position, u16),
}

impl List {
    fn place(&self, block: u32, offset: u32, left: u32) -> Place {
        Place {
            at: Position { block: self.table.saturating_add(u64::from(block)), offset },
            left,
            run: 0,
            block: 0,
        }
    }

    fn first(&self) -> Place {
        let left = (self.size as u32).saturating_sub(DIRECTORY_EXTRA);
        self.place(self.begin.0, u32::from(self.begin.1), left)
    }

    /// Returns the next entry. Returns `None` at the end.
    pub fn next<S: Source>(
        &self,
        blocks: &mut Blocks<'_, S>,
        cursor: &mut Cursor,
    ) -> Result<Option<Entry>, Error> {
        let mut place = cursor.0.unwrap_or(self.first());
        let entry = place.next(blocks)?;
        cursor.0 = Some(place);
        Ok(entry)
    }

    /// Finds the entry with a name.
    pub fn find<S: Source>(
        &self,
        blocks: &mut Blocks<'_, S>,
        name: &[u8],
    ) -> Result<Option<Entry>, Error> {
        let mut place = self.begin_of(blocks, name)?;
        while let Some(entry) = place.next(blocks)? {
            if entry.name() >= name {
                return Ok((entry.name() == name).then_some(entry));
            }
        }
        Ok(None)
    }

    /// Finds in the index the block of the list that must contain a name. Returns the start of this
    /// block.
    fn begin_of<S: Source>(&self, blocks: &mut Blocks<'_, S>, name: &[u8]) -> Result<Place, Error> {
        let first = self.first();
        let (mut at, count) = self.index;
        let mut begin = first;
        for _ in 0..count {
            let mut head = [0; INDEX_BYTES];
            let here = at.block;
            blocks.read_metadata(&mut at, &mut head)?;
            let mut text = [0; NAME_MAX];
            let bytes = u32_at(&head, 8) as usize + 1;
            let text = text.get_mut(..bytes).ok_or(Error::Damaged(here))?;
            blocks.read_metadata(&mut at, text)?;
            if &*text > name {
                break;
            }
            let skipped = u32_at(&head, 0);
            let left = first.left.checked_sub(skipped).ok_or(Error::Damaged(here))?;
            let offset = (u64::from(self.begin.1) + u64::from(skipped)) % METADATA_BYTES as u64;
            begin = self.place(u32_at(&head, 4), offset as u32, left);
        }
        Ok(begin)
    }
}

impl Place {
    fn next<S: Source>(&mut self, blocks: &mut Blocks<'_, S>) -> Result<Option<Entry>, Error> {
        let here = self.at.block;
        if self.run == 0 {
            if self.left == 0 {
                return Ok(None);
            }
            let mut head = [0; RUN_BYTES];
            self.take(blocks, &mut head)?;
            let count = u32_at(&head, 0);
            if count >= RUN_MAX {
                return Err(Error::Damaged(here));
            }
            (self.run, self.block) = (count + 1, u32_at(&head, 4));
        }
        let mut head = [0; ENTRY_BYTES];
        self.take(blocks, &mut head)?;
        let bytes = u16_at(&head, 6);
        let mut entry = Entry {
            name: [0; NAME_MAX],
            name_bytes: bytes.saturating_add(1),
            inode: (self.block, u16_at(&head, 0)),
        };
        let name = entry.name.get_mut(..usize::from(bytes) + 1).ok_or(Error::Damaged(here))?;
        self.take(blocks, name)?;
        self.run -= 1;
        Ok(Some(entry))
    }

    fn take<S: Source>(&mut self, blocks: &mut Blocks<'_, S>, out: &mut [u8]) -> Result<(), Error> {
        self.left = self.left.checked_sub(out.len() as u32).ok_or(Error::Damaged(self.at.block))?;
        blocks.read_metadata(&mut self.at, out)
    }
}
