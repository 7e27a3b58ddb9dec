//! A reader of volumes that follows `docs/format.md` and shares no code with the file system. It
//! reads volumes whose newest root contains everything: after an unmount, or after a mount has
//! settled the volume.

use std::collections::BTreeMap;

use steadyfs::media::{PageIndex, TAG_BYTES};

use super::{CONFIG, GEOMETRY, Node, Pages, Tree};

pub const ROOT: u8 = 2;

/// Bytes of an entry of an overlay, a pending table, a leaf or an index page. On so small a
/// medium, an entry has 2 bytes.
pub const ENTRY: usize = 2;
/// Bytes of a root before its tables.
pub const HEADER: usize = 68;
/// Bytes of a logical page.
const PAGE: usize = 256;
/// Inodes beyond `files_max`.
const SPARE_INODES: usize = 16;
const INODES: usize = CONFIG.files_max as usize + SPARE_INODES;
const REGIONS: usize = 18;
/// File pages of a region: all pages that two levels of entry pages map.
const REGION_PAGES: usize = (PAGE / ENTRY) * (PAGE / ENTRY);

/// Logical pages that may hold data.
const DATA_PAGES: usize = (GEOMETRY.block_count * GEOMETRY.pages_per_block / 10 * 9) as usize;
/// First logical page of the file table: behind the root page and the allocation map.
pub const TABLE: usize = 1 + (DATA_PAGES + INODES + 7).div_ceil(8 * PAGE);
/// First logical page of the data.
pub const DATA: usize = TABLE + INODES * 256 / PAGE;
/// Number of logical pages.
pub const LOGICAL_PAGES: usize = DATA + DATA_PAGES;

/// Returns an unsigned little-endian number.
pub fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    (0..width).rev().fold(0, |value, index| value << 8 | u64::from(bytes[at + index]))
}

fn small(bytes: &[u8], at: usize, width: usize) -> usize {
    number(bytes, at, width) as usize
}

/// Computes the CRC-32 of ISO-HDLC. It is written out so that it does not depend on the code that
/// it checks.
pub fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            if crc & 1 != 0 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 }
        })
    })
}

/// Returns the kind of page from a tag. The high half of this byte is a part of the tag's
/// checksum.
pub fn kind(tag: &[u8; TAG_BYTES]) -> u8 {
    tag[8] & 0x0F
}

/// Returns the 36 bits of a tag's sequence.
pub fn sequence(tag: &[u8; TAG_BYTES]) -> u64 {
    number(tag, 0, 5) & 0xF_FFFF_FFFF
}

/// Computes the checksum of a tag alone: CRC-8 with the polynomial 0x2F.
pub fn crc8(bytes: &[u8]) -> u8 {
    !bytes.iter().fold(!0, |crc: u8, &byte| {
        (0..8).fold(crc ^ byte, |crc, _| if crc & 0x80 != 0 { crc << 1 ^ 0x2F } else { crc << 1 })
    })
}

/// A root and its copies.
#[derive(Clone, Debug, Default)]
pub struct Root {
    pub number: u64,
    /// Program pages of each of the root's pages: the page of the root itself, and the pages of
    /// its copies.
    pub places: Vec<Vec<PageIndex>>,
    /// The bytes of the root, each page from any of its places.
    pub bytes: Vec<u8>,
}

/// Returns all roots in the given pages, ordered by their numbers.
pub fn roots(pages: &Pages) -> Vec<Root> {
    let mut roots: BTreeMap<u64, Root> = BTreeMap::new();
    for (&page, (tag, data)) in pages.iter().filter(|(_, (tag, _))| kind(tag) == ROOT) {
        let (number, index) = (sequence(tag), small(tag, 5, 3));
        let root = roots.entry(number).or_default();
        root.number = number;
        root.places.resize(usize::from(tag[9]), Vec::new());
        root.bytes.resize(usize::from(tag[9]) * PAGE, 0);
        root.places[index].push(page);
        root.bytes[index * PAGE..(index + 1) * PAGE].copy_from_slice(data);
    }
    // A format programs first pages of roots without a copy. These do not count.
    roots.into_values().filter(|root| root.places.iter().any(|places| places.len() > 1)).collect()
}

/// Returns the newest root.
pub fn newest_root(pages: &Pages) -> Root {
    roots(pages).pop().expect("a root")
}

/// The contents of a volume, from its pages.
pub struct Volume {
    /// Content of each written logical page.
    pages: BTreeMap<usize, Vec<u8>>,
}

/// Computes the hash of a name in a directory with this seed.
fn hash(seed: u32, name: &[u8]) -> u32 {
    let mut h = name
        .iter()
        .fold(0x811C_9DC5 ^ seed, |h: u32, &byte| (h ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    h = (h ^ (h >> 16)).wrapping_mul(0x85EB_CA6B);
    h = (h ^ (h >> 13)).wrapping_mul(0xC2B2_AE35);
    h ^ (h >> 16)
}

impl Volume {
    /// Reads the map and the patches of the journal.
    pub fn new(chip: &Pages) -> Self {
        let Root { bytes, .. } = newest_root(chip);
        let frame_of_page = |page: usize| page as PageIndex;
        let mut frames = BTreeMap::new();
        let leaves = LOGICAL_PAGES.div_ceil(PAGE / ENTRY);
        for leaf in 0..leaves {
            let frame = small(&bytes, HEADER + leaf * ENTRY, ENTRY);
            if frame != 0 {
                let data = &chip[&frame_of_page(frame)].1;
                let entries = (0..PAGE / ENTRY)
                    .map(|at| (leaf * (PAGE / ENTRY) + at, small(data, at * ENTRY, ENTRY)));
                frames.extend(entries);
            }
        }
        let blocks = super::GEOMETRY.block_count as usize;
        let at_overlay = HEADER + leaves * ENTRY + blocks + blocks.div_ceil(2);
        for entry in 0..small(&bytes, 6, 2) {
            let at = at_overlay + entry * 2 * ENTRY;
            frames.insert(small(&bytes, at, ENTRY), small(&bytes, at + ENTRY, ENTRY) & 0x7FFF);
        }
        assert_eq!(number(&bytes, 8, 2), 0, "a settled volume has no pending pages");
        let mut pages: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
        for (logical, frame) in frames.into_iter().filter(|(_, frame)| *frame != 0) {
            let (tag, data) = &chip[&frame_of_page(frame)];
            assert_eq!(small(tag, 5, 3), logical, "what frame {frame} holds");
            pages.insert(logical, data.clone());
        }
        let journal = number(&bytes, 28, 4) as PageIndex;
        apply_journal(&mut pages, &chip[&journal].1);
        Self { pages }
    }

    /// Returns bytes of a logical page, or zeros if the page was never written.
    fn read(&self, logical: usize, at: usize, count: usize) -> Vec<u8> {
        self.pages
            .get(&logical)
            .map_or_else(|| vec![0; count], |page| page[at..at + count].to_vec())
    }

    fn bit(&self, bit: usize) -> bool {
        self.read(1 + bit / 8 / PAGE, bit / 8 % PAGE, 1)[0] >> (bit % 8) & 1 != 0
    }

    /// Returns the 256 bytes of an inode.
    fn inode(&self, inode: usize) -> Vec<u8> {
        assert!(inode < INODES);
        self.read(TABLE + inode * 256 / PAGE, inode * 256 % PAGE, 256)
    }

    /// Returns the first inode of the trim list, and the first inodes of the orphan list from
    /// both ends. Each number is the inode plus one, or 0.
    pub fn lists(&self) -> [usize; 3] {
        let root = self.read(0, 0, 12);
        [0, 4, 8].map(|at| small(&root, at, 4))
    }

    /// Returns the orphans, first to last.
    pub fn orphans(&self) -> Vec<Vec<u8>> {
        let [_, mut next, last] = self.lists();
        let (mut before, mut orphans) = (0, Vec::new());
        while next != 0 {
            let inode = self.inode(next - 1);
            assert_eq!((inode[0], small(&inode, 8, 4)), (4, before), "kind and the orphan before");
            (before, next) = (next, small(&inode, 12, 4));
            orphans.push(inode);
        }
        assert_eq!(last, before, "the last orphan");
        orphans
    }

    /// Returns the logical page of a file page, or `None` in a hole.
    fn page_of(&self, inode: &[u8], file_page: usize) -> Option<usize> {
        let entries = PAGE / ENTRY;
        let at = 112 + file_page / REGION_PAGES * 8;
        assert!(file_page / REGION_PAGES < REGIONS);
        let (logical, count, index) =
            (small(inode, at, 3), small(inode, at + 3, 2), small(inode, at + 5, 3));
        let within = file_page % REGION_PAGES;
        if within < count {
            return Some(logical + within);
        }
        let entry = |page: usize, entry: usize| {
            (small(&self.read(page, entry * ENTRY, ENTRY), 0, ENTRY))
                .checked_sub(1)
                .map(|data| DATA + data)
        };
        let lower = if index == 0 { None } else { entry(index, within / entries) };
        lower.and_then(|lower| entry(lower, within % entries))
    }

    /// Returns the bytes of a file.
    fn data(&self, inode: &[u8]) -> Vec<u8> {
        let size = small(inode, 24, 8);
        if inode[1] == 1 {
            return inode[112..112 + size].to_vec();
        }
        let page = |file_page: usize| match self.page_of(inode, file_page) {
            Some(logical) => {
                let bit = INODES.next_multiple_of(8) + logical - DATA;
                assert!(self.bit(bit), "the bit of logical page {logical}");
                self.read(logical, 0, PAGE)
            }
            None => vec![0; PAGE],
        };
        let mut data: Vec<u8> = (0..size.div_ceil(PAGE)).flat_map(page).collect();
        data.truncate(size);
        data
    }

    /// Returns the content of an extension that belongs to `owner`.
    fn extension(&self, number: usize, owner: usize) -> Vec<u8> {
        let inode = self.inode(number - 1);
        assert_eq!((inode[0], small(&inode, 4, 4)), (5, owner), "an extension");
        inode[8..].to_vec()
    }

    fn name(&self, number: usize, inode: &[u8]) -> String {
        let bytes = usize::from(inode[2]);
        let mut name = inode[48..48 + bytes.min(64)].to_vec();
        let more = small(inode, 16, 4);
        assert_eq!(more != 0, bytes > 64, "an extension for a name of {bytes} bytes");
        if more != 0 {
            name.extend(&self.extension(more, number)[..bytes - 64]);
        }
        String::from_utf8(name).expect("a name")
    }

    fn attributes(&self, number: usize, inode: &[u8]) -> BTreeMap<String, Vec<u8>> {
        let (mut pairs, mut at) = (BTreeMap::new(), 0);
        let extension = small(inode, 20, 4);
        let bytes = if extension == 0 { vec![0; 248] } else { self.extension(extension, number) };
        while bytes.get(at).is_some_and(|&key| key != 0) {
            let (key, value) = (usize::from(bytes[at]), usize::from(bytes[at + 1]));
            let name = String::from_utf8(bytes[at + 2..at + 2 + key].to_vec()).expect("a key");
            pairs.insert(name, bytes[at + 2 + key..at + 2 + key + value].to_vec());
            at += 2 + key + value;
        }
        pairs
    }

    /// Returns everything in the volume.
    pub fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        self.add_entries(&mut tree, "", 0);
        tree
    }

    /// Adds the entries of a directory, and of the directories in it.
    fn add_entries(&self, tree: &mut Tree, path: &str, directory: usize) {
        let header = self.inode(directory);
        assert!(header[0] == 2 || directory == 0, "kind of the directory {path:?}");
        let (buckets, seed) = (small(&header, 40, 4), small(&header, 45, 3) as u32);
        assert_eq!(header[44], 0, "a directory has no stream");
        let (mut entries, mut directories) = (0, 0);
        let pages = (0..buckets).map(|bucket| {
            (Some(bucket), self.page_of(&header, bucket).expect("a page for each bucket"))
        });
        // The overflow pages, from the last region on.
        let overflow = (0..)
            .map_while(|number| self.page_of(&header, (REGIONS - 1) * REGION_PAGES + number))
            .map(|logical| (None, logical));
        for (bucket, logical) in pages.chain(overflow) {
            for record in self.read(logical, 0, PAGE).chunks_exact(4) {
                let (hashed, number) = (number(record, 0, 2) as u32, small(record, 2, 2));
                if number == 0 || number == 0xFFFF {
                    continue;
                }
                let inode = self.inode(number - 1);
                let name = self.name(number - 1, &inode);
                assert_eq!(hash(seed, name.as_bytes()) & 0xFFFF, hashed, "the hash of {name:?}");
                let is_there = bucket.is_none_or(|bucket| bucket_of(hashed, buckets) == bucket);
                assert!(is_there, "the bucket of {name:?} among {buckets} is {bucket:?}");
                assert_eq!(small(&inode, 8, 4), directory, "the directory of {name:?}");
                assert!(self.bit(number - 1), "the bit of inode {}", number - 1);
                assert!(inode[3] == 0 && inode[44] == 0 && number - 1 < CONFIG.files_max as usize);
                assert!(inode[0] == 2 || inode[45..48] == [0; 3]);
                entries += 1;
                directories += usize::from(inode[0] == 2);
                self.add_node(tree, &format!("{path}{name}"), number - 1, &inode);
            }
        }
        assert_eq!(
            [24, 28].map(|at| small(&header, at, 4)),
            [entries, directories],
            "counts of {path:?}"
        );
    }

    fn add_node(&self, tree: &mut Tree, path: &str, number: usize, inode: &[u8]) {
        let data = (inode[0] == 1).then(|| self.data(inode));
        let node = Node {
            data,
            attributes: self.attributes(number, inode),
            modified_ns: self::number(inode, 32, 8),
        };
        tree.insert(path.into(), node);
        if inode[0] == 2 {
            self.add_entries(tree, &format!("{path}/"), number);
        }
    }
}

/// Returns the bucket of a hash in a directory of `buckets` buckets.
fn bucket_of(hash: u32, buckets: usize) -> usize {
    let bits = buckets.ilog2();
    let (longer, shorter) = (hash as usize & ((2 << bits) - 1), hash as usize & ((1 << bits) - 1));
    if longer < buckets { longer } else { shorter }
}

/// Applies the records of a journal page. Discards are left out, because they mean nothing later.
fn apply_journal(pages: &mut BTreeMap<usize, Vec<u8>>, journal: &[u8]) {
    let mut at = 2;
    while at < small(journal, 0, 2) {
        let (logical, offset, length) = record_header(journal, at);
        at += RECORD_HEADER;
        if length > 0 {
            let page = pages.entry(logical).or_insert_with(|| vec![0; PAGE]);
            page[offset..offset + length].copy_from_slice(&journal[at..at + length]);
        }
        at += length;
    }
}

/// Returns the number of bits of the largest number below a count.
const fn bits(count: usize) -> u32 {
    usize::BITS - (count - 1).leading_zeros()
}

/// Bytes of the header of a record of a journal page.
pub const RECORD_HEADER: usize = (bits(LOGICAL_PAGES) + 2 * bits(PAGE) + 3).div_ceil(8) as usize;

/// Returns the logical page, offset and length of a record of a journal page.
pub fn record_header(journal: &[u8], at: usize) -> (usize, usize, usize) {
    let word = small(journal, at, RECORD_HEADER);
    let field = |from: u32, bits: u32| word >> from & ((1 << bits) - 1);
    let (logical, page, end) = (bits(LOGICAL_PAGES), bits(PAGE), 8 * RECORD_HEADER as u32 - 3);
    assert_eq!(word >> end, 0, "bits that are never on the medium");
    (field(0, logical), field(end - 2 * page, page), field(end - page, page))
}
