//! The fields of a sound volume, into which hostile numbers go, under right checksums.
//!
//! A field of a root is changed in the newest root and in its copies. A field of a logical page is
//! changed in the newest frame of the page, and in the journal's records that patch it.

use steadyfs::media::TAG_BYTES;

use crate::choices::Choices;
use crate::kind;
use crate::medium::Ram;
use crate::seal::{seal, seal_tag};
use crate::volumes::{ChainRecord, Volume};

/// Bytes of an inode, of the header of a root, and of a head.
const INODE_BYTES: u32 = 256;
const ROOT_HEADER_BYTES: u32 = 68;
const HEAD_BYTES: u32 = 6;
/// First byte of the heads in the header of a root.
const HEADS_AT: u32 = 32;
/// First byte of the regions of an inode, and the bytes of a region.
const AREA_AT: u32 = 112;
const REGION_BYTES: u32 = 8;

/// A number field on the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The logical page; `None` for the newest root.
    page: Option<u32>,
    /// The first byte of the field there.
    at: u32,
    width: u32,
}

impl Field {
    /// Returns a field of the newest root.
    pub const fn of_root(at: u32, width: u32) -> Self {
        Self { page: None, at, width }
    }

    /// Returns a field of a logical page.
    pub const fn of_page(logical: u32, at: u32, width: u32) -> Self {
        Self { page: Some(logical), at, width }
    }

    /// Returns a field of an inode.
    pub fn of_inode(volume: &Volume, inode: u32, at: u32, width: u32) -> Self {
        let per_page = volume.logical_bytes() / INODE_BYTES;
        Self::of_page(volume.table() + inode / per_page, inode % per_page * INODE_BYTES + at, width)
    }

    /// Returns the field of a head's block in a root. The three heads of every volume come first,
    /// then the heads of streams.
    pub fn of_head(volume: &Volume, head: u32) -> Self {
        let blocks = volume.shape.geometry.block_count;
        let known_logs = if volume.log_bytes() > 0 { volume.leaves().div_ceil(8) } else { 0 };
        let streams =
            ROOT_HEADER_BYTES + 2 * volume.leaves() + blocks + blocks.div_ceil(2) + known_logs;
        Self::of_root(
            head.checked_sub(3)
                .map_or(HEADS_AT + HEAD_BYTES * head, |head| streams + HEAD_BYTES * head),
            4,
        )
    }

    /// Returns the byte of a root that holds the state of a block. The state takes four bits of
    /// the byte.
    pub fn of_state(volume: &Volume, block: u32) -> Self {
        let wear = ROOT_HEADER_BYTES + 2 * volume.leaves();
        Self::of_root(wear + volume.shape.geometry.block_count + block / 2, 1)
    }
}

/// A patch of a logical page in the journal.
#[derive(Clone, Copy, Debug)]
struct Patch {
    logical: u32,
    offset: u32,
    length: u32,
    /// The first of the patch's bytes in the journal page or record.
    at: usize,
    holder: Holder,
}

/// A journal page, or a record of a chain by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    Page(usize),
    Record(usize),
}

/// The fields of a volume, in classes. Each class is chosen as often as any other.
#[derive(Clone, Debug)]
pub struct Fields {
    classes: Vec<Vec<Field>>,
    patches: Vec<Patch>,
    /// Numbers at which a part of this volume begins or ends.
    edges: Vec<u32>,
}

impl Fields {
    /// Collects the fields of a volume.
    pub fn of(volume: &Volume) -> Self {
        let mut fields =
            Self { classes: Vec::new(), patches: patches(volume), edges: edges(volume) };
        fields.add_root(volume);
        if !volume.is_disk() {
            fields.add_files(volume);
        }
        fields.classes.retain(|class| !class.is_empty());
        fields
    }

    /// Adds header, leaves, wear and states, heads of streams, overlay, pending pages.
    fn add_root(&mut self, volume: &Volume) {
        let config = &volume.shape.config;
        let root = Field::of_root;
        let table = |at: u32, count: u32, width: u32| {
            (0..count).map(|index| root(at + index * width, width)).collect::<Vec<_>>()
        };
        // Lengths, flags, sequence, start of the transaction, journal, savings, wear, previous
        // root, copies.
        let header = [
            (6, 2),
            (8, 2),
            (10, 2),
            (12, 8),
            (20, 8),
            (28, 4),
            (50, 2),
            (52, 4),
            (56, 4),
            (60, 4),
            (64, 4),
        ];
        self.classes.push(header.map(|(at, width)| root(at, width)).to_vec());
        let mut heads: Vec<_> =
            (0..3).flat_map(|head| [root(32 + 6 * head, 4), root(36 + 6 * head, 2)]).collect();
        let blocks = volume.shape.geometry.block_count;
        let mut at = ROOT_HEADER_BYTES;
        let mut next = |bytes: u32| {
            at += bytes;
            at - bytes
        };
        let leaves = next(2 * volume.leaves());
        let (wear, states) = (next(blocks), next(blocks.div_ceil(2)));
        let known_logs = next(if volume.log_bytes() > 0 { volume.leaves().div_ceil(8) } else { 0 });
        let streams = next(volume.stream_heads() * HEAD_BYTES);
        heads.extend(
            (0..volume.stream_heads())
                .flat_map(|head| [root(streams + 6 * head, 4), root(streams + 6 * head + 4, 2)]),
        );
        let lifetimes = next(volume.lifetimes_bytes());
        let overlay = next(4 * u32::from(config.overlay_entries));
        let pending = next(4 * u32::from(config.transaction_pages));
        self.classes.extend([
            heads,
            table(leaves, volume.leaves(), 2),
            table(states, blocks.div_ceil(2), 1),
            [
                table(wear, blocks, 1),
                table(known_logs, streams - known_logs, 1),
                table(lifetimes, volume.lifetimes_bytes(), 1),
            ]
            .concat(),
            table(overlay, 2 * u32::from(config.overlay_entries), 2),
            table(pending, 2 * u32::from(config.transaction_pages), 2),
        ]);
    }

    /// Adds lists, inodes, records of directories, entries of indexes, allocation map.
    fn add_files(&mut self, volume: &Volume) {
        self.classes.push([0, 4, 8].map(|at| Field::of_page(0, at, 4)).to_vec());
        let (mut headers, mut regions, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        let (mut buckets, mut indexes) = (Vec::new(), Vec::new());
        for inode in 0..volume.shape.config.files_max {
            let field = |at: u32, width: u32| Field::of_inode(volume, inode, at, width);
            let number =
                |at: u32, width: u32| self.number(&volume.ram, volume, field(at, width)) as u32;
            let kind = number(0, 1);
            if kind == 0 && inode > 0 {
                continue;
            }
            let header = [
                (0, 1),
                (1, 1),
                (2, 1),
                (3, 1),
                (4, 4),
                (8, 4),
                (12, 4),
                (16, 4),
                (20, 4),
                (24, 8),
                (40, 4),
                (44, 1),
            ];
            let header = header.map(|(at, width)| field(at, width));
            if number(1, 1) == 0 {
                for at in (AREA_AT..INODE_BYTES).step_by(REGION_BYTES as usize) {
                    let parts = [field(at, 3), field(at + 3, 2), field(at + 5, 3)];
                    let is_used = number(at, 3) > 0 || number(at + 5, 3) > 0;
                    // The first regions matter most.
                    if is_used || at < AREA_AT + 2 * REGION_BYTES {
                        regions.extend(parts);
                    }
                    if is_used && matches!(kind, 3 | 4) {
                        removed.extend(parts);
                    }
                    if is_used && kind == 2 {
                        buckets.extend(number(at, 3)..number(at, 3) + number(at + 3, 2));
                    }
                    indexes.extend(Some(number(at + 5, 3)).filter(|&index| index > 0));
                }
            }
            if matches!(kind, 3..=5) {
                removed.extend(header);
            }
            headers.extend(header);
        }
        let entries = |pages: Vec<u32>| -> Vec<Field> {
            let of_page = |page| {
                (0..volume.logical_bytes() / 2).map(move |entry| Field::of_page(page, 2 * entry, 2))
            };
            pages.into_iter().flat_map(of_page).collect()
        };
        let map = entries((1..volume.table()).collect());
        self.classes.extend([
            headers,
            regions,
            removed.clone(),
            removed,
            entries(buckets),
            entries(indexes),
            map,
        ]);
    }

    /// Forges a field: with an edge, with the number of another field, or with a number near the
    /// current one.
    pub fn forge(&self, ram: &mut Ram, volume: &Volume, choices: &mut Choices<'_>) {
        let class = choices.of(&self.classes);
        let field = *choices.of(class);
        let current = self.number(ram, volume, field);
        let number = match choices.below(8) {
            0 | 1 => self.number(ram, volume, *choices.of(class)),
            2 => u64::from(*choices.of(&self.edges)),
            3 => u64::from(*choices.of(&self.edges))
                .wrapping_add(u64::from(choices.byte() % 9))
                .wrapping_sub(4),
            4 => current.wrapping_add(u64::from(choices.byte())).wrapping_sub(0x80),
            5 => current ^ 1 << choices.below(8 * field.width as usize),
            6 => *choices.of(&[
                0,
                1,
                0x7F,
                0xFF,
                0x7FFF,
                0xFFFF,
                0xFF_FFFF,
                u64::from(u32::MAX),
                u64::MAX,
                1 << 31,
                1 << 35,
            ]),
            _ => u64::from(choices.word()) << choices.below(49),
        };
        self.set(ram, volume, field, number);
    }

    /// Returns the number in a field.
    pub fn number(&self, ram: &Ram, volume: &Volume, field: Field) -> u64 {
        let mut found = [0; 8];
        self.each_place(volume, field, |holder, at, range| {
            let bytes = holder_bytes(volume, ram, holder);
            found[range.clone()].copy_from_slice(&bytes[at..at + range.len()]);
        });
        u64::from_le_bytes(found)
    }

    /// Sets the number of a field, and makes the checksums right again.
    pub fn set(&self, ram: &mut Ram, volume: &Volume, field: Field, number: u64) {
        let content = number.to_le_bytes();
        self.each_place(volume, field, |holder, at, range| match holder {
            Holder::Page(page) => {
                ram.parts_mut(page).0[at..at + range.len()].copy_from_slice(&content[range]);
                seal(ram, page);
            }
            Holder::Record(index) => {
                let ChainRecord { block, offset, bytes } = volume.chain_records()[index];
                let mut record = ram.bytes(block, offset, bytes);
                let (tag, data) = record.split_at_mut(TAG_BYTES);
                data[at..at + range.len()].copy_from_slice(&content[range]);
                seal_tag(data, tag);
                ram.set_bytes(block, offset, &record);
            }
        });
    }

    /// Calls `act` with each place of a field: the holder, the first byte there, and the range of
    /// the field's bytes there.
    fn each_place(
        &self,
        volume: &Volume,
        field: Field,
        mut act: impl FnMut(Holder, usize, std::ops::Range<usize>),
    ) {
        let page_bytes = volume.shape.geometry.page_bytes;
        let Field { page, at, width } = field;
        let mut in_pages = |first: &dyn Fn(u32) -> Vec<usize>| {
            let mut done = 0;
            while done < width {
                let (index, within) = ((at + done) / page_bytes, (at + done) % page_bytes);
                let here = (page_bytes - within).min(width - done);
                for page in first(index) {
                    act(Holder::Page(page), within as usize, done as usize..(done + here) as usize);
                }
                done += here;
            }
        };
        let Some(logical) = page else {
            let of_index = |index: u32| {
                volume
                    .newest_root()
                    .filter(|(_, tag)| tag.logical == index)
                    .map(|(page, _)| page)
                    .collect()
            };
            return in_pages(&of_index);
        };
        if let Some(first) = volume.frame_of(logical) {
            in_pages(&|index| vec![first + index as usize]);
        }
        for patch in self.patches.iter().filter(|patch| patch.logical == logical) {
            let (from, to) = (at.max(patch.offset), (at + width).min(patch.offset + patch.length));
            if from < to {
                act(
                    patch.holder,
                    patch.at + (from - patch.offset) as usize,
                    (from - at) as usize..(to - at) as usize,
                );
            }
        }
    }
}

/// Returns the data of a journal page or of a record.
fn holder_bytes(volume: &Volume, ram: &Ram, holder: Holder) -> Vec<u8> {
    match holder {
        Holder::Page(page) => ram.parts(page).0.to_vec(),
        Holder::Record(index) => {
            let ChainRecord { block, offset, bytes } = volume.chain_records()[index];
            ram.bytes(block, offset, bytes)[TAG_BYTES..].to_vec()
        }
    }
}

/// Returns the patches of the newest journal page and of the records of chains, the oldest first.
fn patches(volume: &Volume) -> Vec<Patch> {
    let [logical_bits, offset_bits, length_bits] = volume.record_widths();
    let header = ((logical_bits + offset_bits + length_bits + 3).div_ceil(8) as usize).max(4);
    let newest = volume.pages_of(&kind::JOURNAL).take(1).map(|(page, _)| Holder::Page(page));
    let records = (0..volume.chain_records().len()).rev().map(Holder::Record);
    let mut found = Vec::new();
    for holder in newest.chain(records) {
        let data = holder_bytes(volume, &volume.ram, holder);
        let used = usize::from(u16::from_le_bytes([data[0], data[1]])).min(data.len());
        let mut at = 2;
        while at + header <= used {
            let word =
                |at: usize| u32::from_le_bytes(data[at..at + 4].try_into().expect("four bytes"));
            let (low, high) = (word(at), word(at + header - 4));
            let field = |word: u32, bits: u32| word & ((1 << bits) - 1);
            let length = field(high >> (29 - length_bits), length_bits);
            let offset = field(high >> (29 - length_bits - offset_bits), offset_bits);
            let end = at + header + length as usize;
            if length > 0 && end <= used && offset + length <= volume.logical_bytes() {
                found.push(Patch {
                    logical: field(low, logical_bits),
                    offset,
                    length,
                    at: at + header,
                    holder,
                });
            }
            at = end;
        }
    }
    found
}

/// Returns the numbers at which a part of a volume begins or ends.
fn edges(volume: &Volume) -> Vec<u32> {
    let (geometry, config) = (&volume.shape.geometry, &volume.shape.config);
    let (pages, per_block) =
        (geometry.block_count * geometry.pages_per_block, geometry.pages_per_block);
    let unit = u32::from(config.pages_per_logical_page);
    let logicals = [volume.table(), volume.data(), volume.logical_count(), volume.data_pages()];
    let more = [
        pages / unit,
        pages,
        geometry.block_count,
        per_block,
        per_block / unit,
        config.files_max,
        config.files_max + 16,
    ];
    let slots = pages * geometry.page_bytes / 8;
    [
        &logicals[..],
        &more,
        &[0, 1, 2, 3, 8, slots, volume.leaves(), u32::from(config.overlay_entries)],
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volumes::{disks, volumes};

    #[test]
    fn fields_hold_what_the_volume_has() {
        for volume in volumes().iter().chain(disks()) {
            let fields = Fields::of(volume);
            let number =
                |at: u32, width: u32| fields.number(&volume.ram, volume, Field::of_root(at, width));
            assert_eq!(number(0, 4), u64::from(u32::from_le_bytes(*b"SFSR")));
            let blocks = u64::from(volume.shape.geometry.block_count);
            assert!((0..3).all(|head| number(32 + 6 * head, 4) < blocks
                || number(32 + 6 * head, 4) == u64::from(u32::MAX)));
        }
    }

    #[test]
    fn forged_fields_leave_checksums_right() {
        for volume in volumes() {
            let fields = Fields::of(volume);
            let mut changed = 0;
            for seed in 0..200u8 {
                let mut ram = volume.ram.clone();
                fields.forge(
                    &mut ram,
                    volume,
                    &mut Choices::new(&[seed, seed.wrapping_mul(7), 4, seed, 3, 9]),
                );
                for page in 0..ram.page_count() {
                    let before = ram.page(page).to_vec();
                    if before != volume.ram.page(page) {
                        changed += 1;
                        seal(&mut ram, page);
                        let is_sealed =
                            ram.page(page) == before || volume.shape.geometry.programs_bytes;
                        assert!(is_sealed, "page {page}");
                    }
                }
            }
            assert!(changed > 100, "{changed} pages");
        }
    }
}
