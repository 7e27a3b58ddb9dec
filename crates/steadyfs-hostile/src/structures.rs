//! One structure of the format with hostile content, in a volume that is otherwise sound.
//!
//! The parsers are private to the core. A target reaches them as an attacker does: through a
//! medium on which the content lies under a right checksum.
//!
//! ```text
//! input:  flags (1)   which (1)   offset (2)   length (2)   content …   script of the calls …
//! ```

use std::sync::LazyLock;

use crate::choices::Choices;
use crate::exercise::{exercise, read_only};
use crate::kind;
use crate::medium::Ram;
use crate::seal::{TAG_CONTENT_BYTES, seal};
use crate::volumes::{Volume, volumes};

/// A structure of `docs/format.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// The first copy of the superblock; the second copy is erased.
    Superblock,
    /// The newest root; its copies have the same content.
    Root,
    /// The tag of any page.
    Tag,
    /// The newest journal page.
    Journal,
    /// A leaf of the map.
    Leaf,
    /// A page of the file table: inodes with names, regions, attributes.
    Inode,
    /// A bucket of a directory.
    Directory,
    /// An index page of a file.
    Index,
}

/// All structures, in the order in which they are declared.
const ALL: [Structure; 8] = [
    Structure::Superblock,
    Structure::Root,
    Structure::Tag,
    Structure::Journal,
    Structure::Leaf,
    Structure::Inode,
    Structure::Directory,
    Structure::Index,
];

/// Flag: the checksum stays wrong.
const RAW: u8 = 0x80;
/// Flag: the volume is only read, which takes a tenth of the time.
const READ_ONLY: u8 = 0x40;
/// Flag: the content of a journal page is read as records: logical page (1), offset (2), length
/// (1), bytes. Their total length is right.
const RECORDS: u8 = 0x20;
/// Bits of the flags that choose the volume.
const VOLUME: u8 = 0x0F;

impl Structure {
    /// Returns the pages that hold the structure, the newest first.
    fn pages(self, volume: &Volume) -> Vec<usize> {
        let of = |kinds: &[u8]| volume.pages_of(kinds).map(|(page, _)| page).collect();
        let newest = |logical: &mut dyn Iterator<Item = u32>| {
            logical.filter_map(|logical| volume.newest_of(logical)).collect()
        };
        match self {
            Self::Superblock => vec![0],
            Self::Root => volume
                .newest_root()
                .filter(|(_, tag)| tag.aux >> 8 == 0)
                .map(|(page, _)| page)
                .collect(),
            Self::Tag => volume.every_page().collect(),
            Self::Journal => {
                volume.pages_of(&kind::JOURNAL).take(1).map(|(page, _)| page).collect()
            }
            Self::Leaf => of(&kind::LEAF),
            Self::Inode => newest(&mut (volume.table()..volume.data())),
            Self::Directory => newest(&mut Tables::of(volume).buckets.into_iter()),
            Self::Index => newest(&mut Tables::of(volume).indexes.into_iter()),
        }
    }

    /// Returns the pages that hold the structure, computed once.
    fn pages_of(self, volume: usize) -> &'static [usize] {
        static PAGES: LazyLock<Vec<Vec<Vec<usize>>>> = LazyLock::new(|| {
            let of_volume =
                |volume: &Volume| ALL.iter().map(|structure| structure.pages(volume)).collect();
            volumes().iter().map(of_volume).collect()
        });
        &PAGES[volume][self as usize]
    }

    /// Damages the structure as the input decides, and uses the volume.
    pub fn run(self, input: &[u8]) {
        let mut choices = Choices::new(input);
        let flags = choices.byte();
        let Some(mut ram) = self.damaged(flags, &mut choices) else { return };
        if flags & READ_ONLY != 0 {
            read_only(&mut ram, &mut choices)
        } else {
            exercise(&mut ram, choices)
        }
    }

    fn damaged(self, flags: u8, choices: &mut Choices<'_>) -> Option<Ram> {
        let number = usize::from(flags & VOLUME) % volumes().len();
        let (volume, pages) = (&volumes()[number], self.pages_of(number));
        let which = usize::from(choices.byte());
        let page = *pages.get(which.checked_rem(pages.len())?)?;
        let (offset, length) = (usize::from(choices.word()), usize::from(choices.word()));
        let mut ram = volume.ram.clone();
        let (data, tag) = ram.parts_mut(page);
        let target = if self == Self::Tag { &mut tag[..TAG_CONTENT_BYTES] } else { &mut *data };
        let offset = offset % target.len();
        let content = choices.bytes(length.min(target.len() - offset));
        if self == Self::Journal && flags & RECORDS != 0 {
            write_records(target, volume.record_widths(), Choices::new(content));
        } else {
            target[offset..offset + content.len()].copy_from_slice(content);
        }
        if flags & RAW == 0 {
            seal(&mut ram, page);
        }
        match self {
            Self::Superblock => {
                let copies = volume.pages_of(&[kind::SUPER]);
                copies
                    .filter(|&(copy, _)| copy != page)
                    .for_each(|(copy, _)| ram.page_mut(copy).fill(0xFF));
            }
            Self::Root => repeat(&mut ram, volume, page, flags & RAW == 0),
            _ => {}
        }
        Some(ram)
    }

    /// Returns inputs that leave the structure of a volume as it is, for a fuzzer to begin with.
    pub fn seeds(self, script: &[u8]) -> Vec<Vec<u8>> {
        let seed = |number: usize| {
            let volume = &volumes()[number];
            let page = *self.pages_of(number).first()?;
            let (data, tag) = volume.ram.parts(page);
            let content = if self == Self::Tag { &tag[..TAG_CONTENT_BYTES] } else { data };
            let used = content.iter().rposition(|&byte| byte != 0xFF).map_or(0, |last| last + 1);
            let mut bytes = vec![number as u8, 0, 0, 0];
            bytes.extend((used as u16).to_le_bytes());
            bytes.extend(&content[..used]);
            bytes.extend(script);
            Some(bytes)
        };
        (0..volumes().len()).filter_map(seed).collect()
    }
}

/// Gives the copies of the newest root the content of one of its pages.
fn repeat(ram: &mut Ram, volume: &Volume, page: usize, sealed: bool) {
    let content = ram.parts(page).0.to_vec();
    let place = volume.newest_root().find(|&(own, _)| own == page).map(|(_, tag)| tag.logical);
    for (copy, _) in
        volume.newest_root().filter(|(copy, tag)| *copy != page && Some(tag.logical) == place)
    {
        ram.parts_mut(copy).0.copy_from_slice(&content);
        if sealed {
            seal(ram, copy);
        }
    }
}

/// Fills a journal page with records, until the choices or the page end. A header has the logical
/// page in its lowest bits. The other fields lie below its three highest bits.
fn write_records(page: &mut [u8], widths: [u32; 3], mut choices: Choices<'_>) {
    let header = (widths.iter().sum::<u32>() as usize + 3).div_ceil(8);
    let mut used = 2;
    while !choices.is_empty() && used + header < page.len() {
        let (logical, offset, length) =
            (u64::from(choices.byte()), u64::from(choices.word()), usize::from(choices.byte()));
        let length = length.min(page.len() - used - header);
        // A value that is too large for its field runs into the next field.
        let end = 8 * header as u32 - 3;
        let word = logical
            + (offset << (end - widths[2] - widths[1]))
            + ((length as u64) << (end - widths[2]));
        page[used..used + header].copy_from_slice(&word.to_le_bytes()[..header]);
        let bytes = choices.bytes(length);
        page[used + header..used + header + bytes.len()].copy_from_slice(bytes);
        used += header + length;
    }
    page[..2].copy_from_slice(&(used as u16).to_le_bytes());
}

/// Logical pages that inodes name.
struct Tables {
    buckets: Vec<u32>,
    indexes: Vec<u32>,
}

impl Tables {
    /// Reads the regions of all inodes, as the newest frames of the file table have them.
    fn of(volume: &Volume) -> Self {
        let mut tables = Self { buckets: Vec::new(), indexes: Vec::new() };
        for page in (volume.table()..volume.data()).filter_map(|logical| volume.newest_of(logical))
        {
            volume.ram.parts(page).0.chunks_exact(256).for_each(|inode| tables.add(inode));
        }
        tables
    }

    /// Adds the pages that an inode names, as `docs/format.md` defines: for a file or directory
    /// whose data is not in the inode.
    fn add(&mut self, inode: &[u8]) {
        let number = |at: usize, width: usize| {
            inode[at..at + width].iter().rev().fold(0, |n, &byte| n << 8 | u32::from(byte))
        };
        if !matches!(inode[0], 1 | 2) || inode[1] != 0 {
            return;
        }
        let (run, index) = (number(112, 3), number(117, 3));
        if inode[0] == 2 && run != 0 {
            self.buckets.push(run);
        }
        if index != 0 {
            self.indexes.push(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_structure_is_found_and_its_seeds_change_nothing() {
        for structure in ALL {
            let seeds = structure.seeds(b"");
            assert!(seeds.len() >= 3, "{structure:?}: {} seeds", seeds.len());
            for seed in seeds {
                let mut choices = Choices::new(&seed);
                let flags = choices.byte();
                let volume = &volumes()[usize::from(flags)];
                let ram = structure.damaged(flags, &mut choices).expect("a page");
                let differ = (0..ram.page_count())
                    .filter(|&page| ram.page(page) != volume.ram.page(page))
                    .count();
                assert_eq!(
                    differ,
                    usize::from(structure == Structure::Superblock),
                    "{structure:?}, volume {flags}"
                );
            }
        }
    }
}
