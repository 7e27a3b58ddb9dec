//! Lists of entries, and the index that finds the part of a long list in which a name lies.
//!
//! ```text
//! header  entries - 1 u32 | block of the inodes u32 | number N u32
//! entry   offset in the block u16 | number - N i16 | kind u16 | name bytes - 1 u16 | name
//! index   offset in the list u32 | block of the list u32 | name bytes - 1 u32 | name
//! ```
//! A header stands for entries whose inodes lie in one block. In a list that has an index one also begins in each block of
//! the list, and the index names it: a look-up unpacks one block.
//!
//! Source: Documentation/filesystems/squashfs.rst of Linux, section 3.3; doc/format.adoc of squashfs-tools-ng, chapter 6.

use super::metadata::{Metadata, Place};
use super::pack::Packer;
use super::{METADATA_BYTES, WriteError};

/// Most entries of a header.
const ENTRIES_MAX: usize = 256;
/// Bytes of a header.
const HEADER_BYTES: usize = 12;

/// An entry of a directory.
pub(super) struct Entry<'a> {
    /// Its name.
    pub(super) name: &'a [u8],
    /// Where its inode begins.
    pub(super) place: Place,
    /// The number of its inode.
    pub(super) number: u32,
    /// The kind of its inode, as basic inodes have it.
    pub(super) kind: u16,
}

/// A list of entries that has been written.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Listing {
    /// Where it begins.
    pub(super) place: Place,
    /// Its bytes.
    pub(super) bytes: u32,
    /// How many parts the index names.
    pub(super) index_count: u16,
    /// The index as it follows the inode.
    pub(super) index: Vec<u8>,
}

/// Appends the entries of a directory, which are in the order of their names, to the table of directories.
///
/// # Errors
/// [`WriteError::TooLarge`] when a field does not hold a size; those of the packer.
pub(super) fn append_entries(table: &mut Metadata, entries: &[Entry], packer: &mut Packer) -> Result<Listing, WriteError> {
    let place = table.place()?;
    if entries.is_empty() {
        return Ok(Listing::default());
    }
    let mut listing = Listing { place, ..Listing::default() };
    let has_index = listing_bytes(entries) > METADATA_BYTES;
    let mut rest = entries;
    while let Some(first) = rest.first() {
        let here = table.place()?;
        if has_index && listing.bytes > 0 {
            listing.add_index(here.block, first.name)?;
        }
        let room = if has_index { METADATA_BYTES - usize::from(here.offset) } else { usize::MAX };
        let (run, later) = rest.split_at(run_length(rest, room));
        let bytes = run_bytes(run);
        table.append(&bytes, packer)?;
        let sum = listing.bytes.checked_add(bytes.len() as u32);
        listing.bytes = sum.ok_or(WriteError::TooLarge("a list of entries"))?;
        rest = later;
    }
    Ok(listing)
}

impl Listing {
    /// Notes that a part of the list begins here.
    fn add_index(&mut self, block: u32, name: &[u8]) -> Result<(), WriteError> {
        self.index_count = self.index_count.checked_add(1).ok_or(WriteError::TooLarge("the index of a directory"))?;
        for word in [self.bytes, block, name.len() as u32 - 1] {
            self.index.extend(word.to_le_bytes());
        }
        self.index.extend(name);
        Ok(())
    }
}

/// Bytes of the list when only the inodes' places part it.
fn listing_bytes(mut entries: &[Entry]) -> usize {
    let mut bytes = 0;
    while !entries.is_empty() {
        let (run, rest) = entries.split_at(run_length(entries, usize::MAX));
        bytes += HEADER_BYTES + run.iter().map(entry_bytes).sum::<usize>();
        entries = rest;
    }
    bytes
}

/// How many entries share a header with the first of them, which begins `room` bytes before the end of its block.
fn run_length(entries: &[Entry], room: usize) -> usize {
    let mut bytes = HEADER_BYTES;
    let shares = |entry: &&Entry| {
        let begins_in_block = bytes < room;
        bytes += entry_bytes(entry);
        let delta = i64::from(entry.number) - i64::from(entries[0].number);
        begins_in_block && entry.place.block == entries[0].place.block && i16::try_from(delta).is_ok()
    };
    entries.iter().take(ENTRIES_MAX).take_while(shares).count().max(1)
}

fn entry_bytes(entry: &Entry) -> usize {
    8 + entry.name.len()
}

/// Makes a header and its entries.
fn run_bytes(run: &[Entry]) -> Vec<u8> {
    let base = run[0].number;
    let mut bytes: Vec<u8> = [run.len() as u32 - 1, run[0].place.block, base].iter().flat_map(|word| word.to_le_bytes()).collect();
    for entry in run {
        let delta = entry.number.wrapping_sub(base) as u16;
        for half in [entry.place.offset, delta, entry.kind, entry.name.len() as u16 - 1] {
            bytes.extend(half.to_le_bytes());
        }
        bytes.extend(entry.name);
    }
    bytes
}
