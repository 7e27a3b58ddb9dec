//! Lists of entries, and the index that locates a name in a long list.
//!
//! ```text
//! header  entries - 1 u32 | block of the inodes u32 | number N u32
//! entry   offset in the block u16 | number - N i16 | kind u16 | name bytes - 1 u16 | name
//! index   offset in the list u32 | block of the list u32 | name bytes - 1 u32 | name
//! ```
//! The entries behind one header have inodes in one block. A list that is longer than a block has
//! an index. A header then begins in each block of the list, and the index contains the position of
//! the first header of each block. A look-up unpacks one block. If an entry lies in two blocks, it
//! also unpacks the next block.
//!
//! Source: Documentation/filesystems/squashfs.rst of Linux, section 3.3; doc/format.adoc of
//! squashfs-tools-ng, chapter 6.

use super::WriteError;
use super::metadata::{Metadata, Place};
use super::pack::Packer;
use steadyfs_rom::squash::format::METADATA_BYTES;

/// Maximum number of entries behind one header.
const ENTRIES_MAX: usize = 256;
/// Bytes of a header.
const HEADER_BYTES: usize = 12;

/// An entry of a directory.
pub(super) struct Entry<'a> {
    /// Name of the entry.
    pub(super) name: &'a [u8],
    /// Position of the entry's inode.
    pub(super) place: Place,
    /// Number of the entry's inode.
    pub(super) number: u32,
    /// Kind of the entry's inode, as in basic inodes.
    pub(super) kind: u16,
}

/// A written list of entries.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Listing {
    /// Position of the start of the list.
    pub(super) place: Place,
    /// Number of bytes of the list.
    pub(super) bytes: u32,
    /// Number of parts in the index.
    pub(super) index_count: u16,
    /// The bytes of the index, which follow the inode.
    pub(super) index: Vec<u8>,
}

/// Appends the entries of a directory, which are in the order of their names, to the table of
/// directories.
///
/// # Errors
/// [`WriteError::TooLarge`] if a size does not fit into its field. Errors of the packer.
pub(super) fn append_entries(
    table: &mut Metadata,
    entries: &[Entry],
    packer: &mut Packer,
) -> Result<Listing, WriteError> {
    let place = table.place()?;
    if entries.is_empty() {
        return Ok(Listing::default());
    }
    let mut listing = Listing { place, ..Listing::default() };
    let has_index = listing_bytes(entries) > METADATA_BYTES;
    let (mut rest, mut block) = (entries, place.block);
    while let Some(first) = rest.first() {
        let here = table.place()?;
        if has_index && here.block != block {
            listing.add_index(here.block, first.name)?;
            block = here.block;
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
    /// Records that a part of the list begins here.
    fn add_index(&mut self, block: u32, name: &[u8]) -> Result<(), WriteError> {
        self.index_count = self
            .index_count
            .checked_add(1)
            .ok_or(WriteError::TooLarge("the index of a directory"))?;
        for word in [self.bytes, block, name.len() as u32 - 1] {
            self.index.extend(word.to_le_bytes());
        }
        self.index.extend(name);
        Ok(())
    }
}

/// Returns the number of bytes of the list, if headers are only needed because of the positions of
/// the inodes.
fn listing_bytes(mut entries: &[Entry]) -> usize {
    let mut bytes = 0;
    while !entries.is_empty() {
        let (run, rest) = entries.split_at(run_length(entries, usize::MAX));
        bytes += HEADER_BYTES + run.iter().map(entry_bytes).sum::<usize>();
        entries = rest;
    }
    bytes
}

/// Returns the number of entries that share a header with the first entry. The header begins `room`
/// bytes before the end of its block of the list.
fn run_length(entries: &[Entry], room: usize) -> usize {
    let mut bytes = HEADER_BYTES;
    let shares = |entry: &&Entry| {
        let begins_in_block = bytes < room;
        bytes += entry_bytes(entry);
        let delta = i64::from(entry.number) - i64::from(entries[0].number);
        begins_in_block
            && entry.place.block == entries[0].place.block
            && i16::try_from(delta).is_ok()
    };
    entries.iter().take(ENTRIES_MAX).take_while(shares).count().max(1)
}

fn entry_bytes(entry: &Entry) -> usize {
    8 + entry.name.len()
}

/// Makes a header and its entries.
fn run_bytes(run: &[Entry]) -> Vec<u8> {
    let base = run[0].number;
    let mut bytes: Vec<u8> = [run.len() as u32 - 1, run[0].place.block, base]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    for entry in run {
        let delta = entry.number.wrapping_sub(base) as u16;
        for half in [entry.place.offset, delta, entry.kind, entry.name.len() as u16 - 1] {
            bytes.extend(half.to_le_bytes());
        }
        bytes.extend(entry.name);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::squashfs::Compressor;

    /// Writes entries without compression behind `offset` bytes. Returns the list, and the table's
    /// content.
    fn written(entries: &[Entry], offset: usize) -> (Listing, Vec<u8>) {
        let mut packer = Packer::new(Compressor::Lz4 { high: true }, 4096).expect("memory");
        let mut table = Metadata::new(true);
        table.append(&vec![0; offset], &mut packer).expect("memory");
        let listing = append_entries(&mut table, entries, &mut packer).expect("memory");
        let (blocks, _) = table.finish(&mut packer).expect("memory");
        let content =
            blocks.chunks(METADATA_BYTES + 2).flat_map(|block| block[2..].to_vec()).collect();
        (listing, content)
    }

    fn word(bytes: &[u8], at: usize) -> usize {
        u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize
    }

    fn half(bytes: &[u8], at: usize) -> usize {
        u16::from_le_bytes([bytes[at], bytes[at + 1]]) as usize
    }

    /// Looks up a name, from a header on, in the block of that header. Returns the number of the
    /// name's inode.
    fn looked_up(content: &[u8], mut at: usize, end: usize, name: &[u8]) -> Option<usize> {
        let block_end = (at / METADATA_BYTES + 1) * METADATA_BYTES;
        while at < end.min(block_end) {
            let (count, base) = (word(content, at) + 1, word(content, at + 8));
            assert!(count <= 256);
            at += 12;
            for _ in 0..count {
                let name_bytes = half(content, at + 6) + 1;
                if &content[at + 8..at + 8 + name_bytes] == name {
                    return Some(base.wrapping_add_signed(half(content, at + 2) as i16 as isize));
                }
                at += 8 + name_bytes;
            }
        }
        None
    }

    fn entry(name: &[u8], number: u32, block: u32) -> Entry<'_> {
        Entry { name, place: Place { block, offset: number as u16 % 8192 }, number, kind: 2 }
    }

    #[test]
    fn the_index_finds_the_block_of_each_name() {
        let names: Vec<Vec<u8>> =
            (0..3000).map(|n| format!("file{n:05}{}", "x".repeat(n % 90)).into_bytes()).collect();
        let entries: Vec<_> =
            names.iter().zip(0u32..).map(|(name, n)| entry(name, n + 1, n / 200 * 5000)).collect();
        for offset in [0, 1, 500, 8180, 8191, 8192, 10_000] {
            let (listing, content) = written(&entries, offset);
            assert_eq!(offset + listing.bytes as usize, content.len());
            for (name, number) in names.iter().zip(1..) {
                // Selects the part as Linux does: the last part of the index whose name is not
                // greater than the name that is looked up.
                let (mut index, mut part) = (&listing.index[..], 0);
                while !index.is_empty() {
                    let name_bytes = word(index, 8) + 1;
                    if index[12..12 + name_bytes] > name[..] {
                        break;
                    }
                    part = word(index, 0);
                    assert_eq!(
                        word(index, 4),
                        (offset + part) / METADATA_BYTES * (METADATA_BYTES + 2)
                    );
                    index = &index[12 + name_bytes..];
                }
                assert_eq!(
                    looked_up(&content, offset + part, content.len(), name),
                    Some(number),
                    "{offset}"
                );
            }
            assert_eq!(
                usize::from(listing.index_count),
                (content.len() - 1) / METADATA_BYTES - offset / METADATA_BYTES
            );
        }
    }

    #[test]
    fn a_list_that_fits_a_block_has_no_index() {
        let names: Vec<Vec<u8>> = (0..300).map(|n| format!("{n:03}").into_bytes()).collect();
        let entries: Vec<_> = names.iter().zip(1..).map(|(name, n)| entry(name, n, 0)).collect();
        let (listing, content) = written(&entries, 8000);
        assert_eq!((listing.index_count, listing.bytes), (0, 2 * 12 + 300 * 11));
        assert_eq!((word(&content, 8000), word(&content, 8012 + 256 * 11)), (255, 43));
    }

    #[test]
    fn numbers_that_are_far_apart_have_headers_of_their_own() {
        let entries = [
            entry(b"a", 40_000, 0),
            entry(b"b", 7232, 0),
            entry(b"c", 72_767, 0),
            entry(b"d", 1, 0),
            entry(b"e", 2, 9),
        ];
        let (listing, content) = written(&entries, 0);
        assert_eq!(listing.bytes, 3 * 12 + 5 * 9);
        for (name, number) in [(b"a", 40_000), (b"b", 7232), (b"c", 72_767), (b"d", 1), (b"e", 2)] {
            assert_eq!(looked_up(&content, 0, content.len(), name), Some(number));
        }
    }

    #[test]
    fn no_entries_make_no_list() {
        let (listing, content) = written(&[], 100);
        assert_eq!((listing, content.len()), (Listing::default(), 100));
    }
}
