//! Names: a hash table of 8-byte records, with linear probing, in logical pages of its own.
//!
//! ```text
//! 0      4           8
//! | hash | inode + 1 |      0: never used; all ones: removed
//! ```

use super::inode::{GENERATION_AT, HEADER_BYTES, Header, InodeKind, NAME_AT, NAME_BYTES_MAX};
use super::{Entry, FileSystem, Stat};
use crate::config::{INODE_BYTES, RECORD_BYTES};
use crate::error::Error;
use crate::media::Flash;

/// Records looked at for one name at most.
const PROBES_MAX: u32 = 128;
pub(super) const PROBE_BYTES_MAX: u32 = PROBES_MAX * RECORD_BYTES;
/// Names of equal hash that are looked at.
const EQUAL_HASHES_MAX: u32 = 8;
const REMOVED: u32 = u32::MAX;

/// Where a name is, or would go.
pub(super) enum Found {
    /// In this slot, with this inode.
    At { slot: u32, inode: u32 },
    /// Nowhere; the slot is free for it, if there is one.
    Free(Option<u32>),
}

/// FNV-1a.
fn hash(name: &[u8]) -> u32 {
    name.iter().fold(0x811C_9DC5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Refuses names that no file can have.
fn check_name(name: &str) -> Result<&[u8], Error> {
    let bytes = name.as_bytes();
    let bad = bytes.is_empty() || bytes.len() > NAME_BYTES_MAX || bytes.iter().any(|&byte| byte == b'/' || byte == 0);
    if bad || name == "." || name == ".." { Err(Error::InvalidName) } else { Ok(bytes) }
}

impl<F: Flash> FileSystem<'_, F> {
    /// The logical page and offset of an inode.
    pub(super) fn inode_place(&self, inode: u32) -> (u32, u32) {
        let per_page = self.store.layout().logical_bytes / INODE_BYTES;
        (self.plan.table + inode / per_page, inode % per_page * INODE_BYTES)
    }

    fn slot_place(&self, slot: u32) -> (u32, u32) {
        let per_page = self.store.layout().logical_bytes / RECORD_BYTES;
        (self.plan.directory + slot / per_page, slot % per_page * RECORD_BYTES)
    }

    /// Reads the header of an inode.
    pub(super) fn read_header(&mut self, inode: u32) -> Result<Header, Error> {
        let (page, at) = self.inode_place(inode);
        let mut bytes = [0; HEADER_BYTES];
        self.store.read(page, at, &mut bytes)?;
        Header::parse(&bytes).ok_or(Error::Corrupt)
    }

    /// Looks a name up.
    ///
    /// # Cost
    /// One look per program page that the probes touch (one, seldom two), two for each name of equal hash.
    pub(super) fn find(&mut self, name: &str) -> Result<Found, Error> {
        let name = check_name(name)?;
        let hash = hash(name);
        let page_bytes = self.store.layout().geometry.page_bytes;
        let mask = self.plan.slots - 1;
        let (mut free, mut equal, mut probe) = (None, 0, 0);
        while probe < PROBES_MAX {
            let slot = hash.wrapping_add(probe) & mask;
            let (page, at) = self.slot_place(slot);
            let (index, within) = (at / page_bytes, at % page_bytes);
            let most = ((page_bytes - within) / RECORD_BYTES).min(PROBES_MAX - probe).min(self.plan.slots - slot);
            // Looks at records of this program page up to the first one that matters.
            let stop = self.store.with_page(page, index, |bytes| {
                for (step, record) in (0..most).zip(bytes[within as usize..].chunks_exact(RECORD_BYTES as usize)) {
                    let word = |at: usize| u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]);
                    match word(4) {
                        0 => return Some((step, 0)),
                        REMOVED => free = free.or(Some(slot + step)),
                        inode if word(0) == hash => return Some((step, inode)),
                        _ => {}
                    }
                }
                None
            })?;
            match stop {
                None => probe += most,
                Some((step, 0)) => return Ok(Found::Free(free.or(Some(slot + step)))),
                Some((step, number)) => {
                    let inode = number - 1;
                    if inode < self.plan.inode_count && self.name_is(inode, name)? {
                        return Ok(Found::At { slot: slot + step, inode });
                    }
                    equal += 1;
                    if equal == EQUAL_HASHES_MAX {
                        return Ok(Found::Free(None));
                    }
                    probe += step + 1;
                }
            }
        }
        Ok(Found::Free(free))
    }

    fn name_is(&mut self, inode: u32, name: &[u8]) -> Result<bool, Error> {
        if usize::from(self.read_header(inode)?.name_bytes) != name.len() {
            return Ok(false);
        }
        let (page, at) = self.inode_place(inode);
        let mut bytes = [0; NAME_BYTES_MAX];
        self.store.read(page, at + NAME_AT, &mut bytes[..name.len()])?;
        Ok(&bytes[..name.len()] == name)
    }

    /// Adds a name for a new inode and returns the inode's number and generation.
    pub(super) fn add_name(&mut self, name: &str, slot: u32) -> Result<(u32, u32), Error> {
        let name = check_name(name)?;
        let inode = self.allocate_inode(self.plan.files_max)?;
        let (page, at) = self.inode_place(inode);
        let generation = self.next_generation(inode)?;
        let header = Header { kind: InodeKind::Inline, name_bytes: name.len() as u8, size: 0, generation, next_trim: 0 };
        let mut bytes = [0; HEADER_BYTES + NAME_BYTES_MAX];
        bytes[..HEADER_BYTES].copy_from_slice(&header.emit());
        bytes[HEADER_BYTES..HEADER_BYTES + name.len()].copy_from_slice(name);
        self.store.patch(page, at, &bytes[..HEADER_BYTES + name.len()])?;
        self.write_slot(slot, hash(name), inode + 1)?;
        Ok((inode, generation))
    }

    /// The generation of the next file that has this inode.
    pub(super) fn next_generation(&mut self, inode: u32) -> Result<u32, Error> {
        let (page, at) = self.inode_place(inode);
        let mut generation = [0; 4];
        self.store.read(page, at + GENERATION_AT, &mut generation)?;
        Ok(u32::from_le_bytes(generation).wrapping_add(1))
    }

    fn write_slot(&mut self, slot: u32, hash: u32, number: u32) -> Result<(), Error> {
        let (page, at) = self.slot_place(slot);
        let mut record = [0; RECORD_BYTES as usize];
        record[..4].copy_from_slice(&hash.to_le_bytes());
        record[4..].copy_from_slice(&number.to_le_bytes());
        self.store.patch(page, at, &record)
    }

    /// Removes a name. Where the slot behind it was never used, the slot is as good as new.
    pub(super) fn remove_name(&mut self, slot: u32) -> Result<(), Error> {
        let (page, at) = self.slot_place((slot + 1) & (self.plan.slots - 1));
        let mut next = [0; 4];
        self.store.read(page, at + 4, &mut next)?;
        let number = if next == [0; 4] { 0 } else { REMOVED };
        self.write_slot(slot, 0, number)
    }

    /// Tells what a file is.
    ///
    /// # Cost
    /// [`Call::Open`](super::Call::Open).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::InvalidName`], [`Error::Corrupt`], [`Error::Device`].
    pub fn stat(&mut self, name: &str) -> Result<Stat, Error> {
        match self.find(name)? {
            Found::At { inode, .. } => Ok(Stat { size: self.read_header(inode)?.size, inode }),
            Found::Free(_) => Err(Error::NotFound),
        }
    }

    /// The next file from `cursor` on, in the order of their numbers; moves `cursor` behind it. Start with 0.
    ///
    /// Files that are there from the first call to the last are listed once, whatever is created and removed meanwhile.
    ///
    /// # Cost
    /// Two looks, and one for each 16,384 numbers that no file has.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Device`].
    pub fn list(&mut self, cursor: &mut u32) -> Result<Option<Entry>, Error> {
        while let Some(inode) = self.next_inode(*cursor)? {
            *cursor = inode + 1;
            let header = self.read_header(inode)?;
            if header.kind == InodeKind::Removed {
                continue;
            }
            let (page, at) = self.inode_place(inode);
            let mut name = [0; NAME_BYTES_MAX];
            self.store.read(page, at + NAME_AT, &mut name[..usize::from(header.name_bytes)])?;
            return Ok(Some(Entry { name, name_bytes: header.name_bytes, stat: Stat { size: header.size, inode } }));
        }
        Ok(None)
    }
}
