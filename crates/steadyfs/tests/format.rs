//! The golden image of format version 1: volumes written by an earlier version stay readable, and `docs/format.md` says where
//! every byte is.
//!
//! The image is a text: a line per programmed page, `page tag data` in hexadecimal, erased bytes at the end of the data left out.
//! `STEADYFS_BLESS=1 cargo test -p steadyfs --test format` writes it anew; that is right only before a version is released.

use std::collections::BTreeMap;
use std::fmt::Write;

use steadyfs::media::{Flash, Geometry, PageIndex, TAG_BYTES};
use steadyfs::{Access, Config, Cursor, FileSystem, OpenOptions, ROOT};
use steadyfs_sim::{Nand, NandTiming};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/images/v1-small.hex");
const GEOMETRY: Geometry = Geometry { page_bytes: 512, pages_per_block: 16, block_count: 28 };
const CONFIG: Config = Config {
    unit_pages: 1,
    overlay_entries: 48,
    transaction_pages: 8,
    checkpoint_programs: 32,
    wear_spread: 32,
    bad_blocks_max: 1,
    files_max: 16,
    failures: 1,
    name_bytes_max: 255,
};

// Kinds of pages, as in `docs/format.md`.
const SUPERBLOCK: u8 = 1;
const CHECKPOINT: u8 = 2;
const DATA: u8 = 3;
const JOURNAL: u8 = 5;
const JOURNAL_WITH_DISCARDS: u8 = 6;
const LEAF: u8 = 9;

/// Entries of an overlay, pending table or leaf have 2 bytes on so small a medium.
const ENTRY: usize = 2;

/// Bytes that are different in each file and at each offset.
fn content(file: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 7 + at / 256 * 13 + file * 61) as u8).collect()
}

/// What the volume of the image holds.
fn expected() -> BTreeMap<String, Vec<u8>> {
    let mut sparse = vec![0; 9000];
    sparse.extend(content(6, 100));
    let mut cut = content(4, 3000);
    cut.truncate(1300);
    cut.resize(2100, 0);
    let name = "n".repeat(64);
    let files = [
        ("empty", Vec::new()),
        ("inline", content(1, 50)),
        ("regions", content(2, 5000)),
        ("cut", cut),
        ("patched", [&content(5, 700)[..], &content(1, 20)[..]].concat()),
        ("sparse", sparse),
        (&name, content(7, 160)),
    ];
    files.into_iter().map(|(name, data)| (name.into(), data)).collect()
}

/// Makes the volume of the image: every kind of change, two mounts, and a transaction that is left open.
fn make() -> Nand {
    let mut memory = vec![0; CONFIG.memory_bytes(&GEOMETRY)];
    let mut chip = FileSystem::format(Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1), &CONFIG, &mut memory).unwrap();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).unwrap();
    for (name, data) in [("inline", content(1, 50)), ("removed", content(3, 2500)), ("cut", content(4, 3000))] {
        let mut file = fs.open(name, OpenOptions::CREATE).unwrap();
        fs.write(&mut file, 0, &data).unwrap();
        fs.sync().unwrap();
    }
    let file = fs.open("empty", OpenOptions::DURABLE).unwrap();
    fs.close(file).unwrap();
    // More pages than the overlay takes: leaves of the map are written.
    let mut file = fs.open("large", OpenOptions::DURABLE).unwrap();
    for page in 0..36 {
        let mut data = [0xFF; 512];
        data[0] = page as u8;
        fs.write(&mut file, page * 512, &data).unwrap();
    }
    fs.remove("large").unwrap();
    let mut file = fs.open("regions", OpenOptions::DURABLE).unwrap();
    fs.write(&mut file, 0, &content(2, 5000)).unwrap();
    fs.remove("removed").unwrap();
    fs.sync().unwrap();
    fs.unmount().unwrap();

    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).unwrap();
    let mut file = fs.open("cut", OpenOptions::WRITE).unwrap();
    fs.truncate(&mut file, 1300).unwrap();
    fs.truncate(&mut file, 2100).unwrap();
    let mut file = fs.open("sparse", OpenOptions::CREATE).unwrap();
    fs.write(&mut file, 9000, &content(6, 100)).unwrap();
    fs.sync().unwrap();
    let mut file = fs.open("patched", OpenOptions::DURABLE).unwrap();
    fs.write(&mut file, 0, &content(5, 700)).unwrap();
    fs.append(&mut file, &content(1, 20)).unwrap();
    let mut file = fs.open(&*"n".repeat(64), OpenOptions::DURABLE).unwrap();
    fs.write(&mut file, 0, &content(7, 160)).unwrap();
    // Never committed.
    let mut file = fs.open("regions", OpenOptions::WRITE).unwrap();
    fs.write(&mut file, 0, &content(8, 1024)).unwrap();
    chip
}

type Pages = BTreeMap<PageIndex, ([u8; TAG_BYTES], Vec<u8>)>;

/// The programmed pages of a chip.
fn dump(chip: &mut Nand) -> Pages {
    let mut pages = Pages::new();
    for page in 0..GEOMETRY.block_count * GEOMETRY.pages_per_block {
        let (mut tag, mut data) = ([0; TAG_BYTES], vec![0; GEOMETRY.page_bytes as usize]);
        chip.read(page, &mut data, &mut tag).unwrap();
        if tag != [0xFF; TAG_BYTES] {
            pages.insert(page, (tag, data));
        }
    }
    pages
}

fn to_text(pages: &Pages) -> String {
    let mut text = String::new();
    for (page, (tag, data)) in pages {
        let used = data.iter().rposition(|&byte| byte != 0xFF).map_or(0, |last| last + 1);
        let hex = |bytes: &[u8]| bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        writeln!(text, "{page} {} {}", hex(tag), hex(&data[..used])).unwrap();
    }
    text
}

/// The pages of the image. `STEADYFS_BLESS=1` writes the file first.
fn image() -> Pages {
    if std::env::var_os("STEADYFS_BLESS").is_some() {
        let text = to_text(&dump(&mut make()));
        // Tests run side by side: each reads a whole file.
        let part = format!("{PATH}.{:?}", std::thread::current().id());
        std::fs::write(&part, &text).and_then(|()| std::fs::rename(&part, PATH)).expect(PATH);
    }
    let text = std::fs::read_to_string(PATH).expect(PATH);
    let bytes = |hex: &str| -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal")).collect()
    };
    let line = |line: &str| {
        let parts: Vec<&str> = line.split(' ').collect();
        let mut data = bytes(parts[2]);
        data.resize(GEOMETRY.page_bytes as usize, 0xFF);
        (parts[0].parse().expect("a page"), (bytes(parts[1]).try_into().expect("a tag"), data))
    };
    text.lines().map(line).collect()
}

/// A chip that holds the image.
fn chip() -> Nand {
    let mut chip = Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1);
    for (page, (tag, data)) in image() {
        chip.program(page, &data, &tag).expect("program");
    }
    chip
}

fn contents<F: Flash>(fs: &mut FileSystem<'_, F>) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut cursor) = (BTreeMap::new(), Cursor::default());
    while let Some(entry) = fs.list(ROOT, &mut cursor).expect("list") {
        let mut file = fs.open(entry.name(), OpenOptions::WRITE).expect("open");
        let mut data = vec![0; entry.stat.size as usize + 1];
        let count = fs.read(&mut file, 0, &mut data).expect("read");
        data.truncate(count);
        files.insert(entry.name().into(), data);
    }
    files
}

/// An unsigned little-endian number.
fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    (0..width).rev().fold(0, |value, index| value << 8 | u64::from(bytes[at + index]))
}

fn is_kind(tag: &[u8; TAG_BYTES], kind: u8) -> bool {
    tag[8] == kind
}

/// CRC-32 as in ISO-HDLC, written out so that it depends on nothing that it checks.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 != 0 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    })
}

/// The header page of the newest checkpoint of the image, the pages behind it, and its tag.
fn newest_checkpoint(pages: &Pages) -> (Vec<u8>, [u8; TAG_BYTES]) {
    let first = |tag: &[u8; TAG_BYTES]| is_kind(tag, CHECKPOINT) && number(tag, 5, 3) == 0;
    let (&page, (tag, _)) =
        pages.iter().filter(|(_, (tag, _))| first(tag)).max_by_key(|(_, (tag, _))| number(tag, 0, 5)).expect("a checkpoint");
    let count = number(tag, 9, 3) as PageIndex;
    ((page..page + count).flat_map(|page| pages[&page].1.clone()).collect(), *tag)
}

#[test]
fn image_of_version_1_mounts_for_reading_only() {
    let mut memory = vec![0; CONFIG.memory_bytes(&GEOMETRY)];
    let mut chip = chip();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadOnly, &mut memory).expect("mount");
    assert_eq!(contents(&mut fs), expected());
    assert_eq!(dump(&mut chip), image(), "the medium is unchanged");
}

#[test]
fn image_of_version_1_mounts_and_can_be_changed() {
    let mut memory = vec![0; CONFIG.memory_bytes(&GEOMETRY)];
    let mut fs = FileSystem::mount(chip(), Access::ReadWrite, &mut memory).expect("mount");
    assert_eq!(contents(&mut fs), expected());
    let mut file = fs.open("regions", OpenOptions::DURABLE).expect("open");
    fs.append(&mut file, &content(9, 600)).expect("append");
    let chip = fs.unmount().expect("unmount");
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount again");
    let mut files = expected();
    files.get_mut("regions").unwrap().extend(content(9, 600));
    assert_eq!(contents(&mut fs), files);
}

#[test]
fn tags_are_as_documented() {
    let pages = image();
    let mut sequences = BTreeMap::new();
    for (page, (tag, data)) in &pages {
        assert_eq!(number(tag, 12, 4) as u32, crc(data) ^ crc(&tag[..12]), "check of page {page}");
        assert!((1..=10).contains(&tag[8]), "kind of page {page}");
        if !is_kind(tag, SUPERBLOCK) {
            let before = sequences.insert(number(tag, 0, 5), page);
            assert_eq!(before, None, "the sequence of page {page} is used twice");
        }
        if is_kind(tag, LEAF) {
            assert_eq!(number(tag, 9, 3), 0, "aux of a leaf");
        }
    }
    for kind in [SUPERBLOCK, CHECKPOINT, DATA, JOURNAL, JOURNAL_WITH_DISCARDS, LEAF] {
        assert!(pages.values().any(|(tag, _)| is_kind(tag, kind)), "the image has no page of kind {kind}");
    }
    // A commit names the first sequence of its transaction, and how many pages are pending.
    for (page, (tag, _)) in pages.iter().filter(|(_, (tag, _))| is_kind(tag, JOURNAL) || is_kind(tag, JOURNAL_WITH_DISCARDS)) {
        let start = number(tag, 0, 5) - number(tag, 9, 3);
        let of_it = |tag: &[u8; TAG_BYTES]| is_kind(tag, DATA) && number(tag, 0, 5) - number(tag, 9, 3) == start;
        let pending: std::collections::BTreeSet<_> =
            pages.values().filter(|(tag, _)| of_it(tag)).map(|(tag, _)| number(tag, 5, 3)).collect();
        assert_eq!(number(tag, 5, 3), pending.len() as u64, "pages that the commit in page {page} is of");
    }
}

#[test]
fn superblocks_are_as_documented() {
    let pages = image();
    let found: Vec<_> = pages.iter().filter(|(_, (tag, _))| is_kind(tag, SUPERBLOCK)).collect();
    assert_eq!(found.iter().map(|(page, _)| **page).collect::<Vec<_>>(), [0, GEOMETRY.pages_per_block]);
    for (_, (tag, bytes)) in found {
        assert_eq!((number(tag, 5, 3), number(tag, 9, 3)), (0, 0));
        assert_eq!(&bytes[..8], b"SteadyFS");
        assert_eq!(number(bytes, 8, 2), 1, "version");
        assert_eq!([10, 14, 18].map(|at| number(bytes, at, 4)), [512, 16, 28], "geometry");
        assert_eq!([22, 24, 26, 28, 30].map(|at| number(bytes, at, 2)), [1, 48, 8, 32, 1], "settings");
        assert_eq!(number(bytes, 32, 4), 16, "files_max");
        assert_eq!((bytes[36], bytes[37], number(bytes, 38, 2)), (32, 1, 0), "wear_spread, failures");
        assert_eq!(number(bytes, 41, 4), 1, "block of the second copy");
        let anchors = usize::from(bytes[40]);
        for index in 0..16 {
            let block = if index < anchors { index as u64 + 2 } else { 0 };
            assert_eq!(number(bytes, 45 + 4 * index, 4), block, "anchor {index}");
        }
    }
}

#[test]
fn checkpoints_are_as_documented() {
    let pages = image();
    let (bytes, tag) = newest_checkpoint(&pages);
    assert_eq!(&bytes[..4], b"SFSC");
    assert_eq!(number(&bytes, 4, 2), 1, "version");
    let (overlay, pending) = (number(&bytes, 6, 2) as usize, number(&bytes, 8, 2) as usize);
    assert!(overlay <= usize::from(CONFIG.overlay_entries) && pending <= usize::from(CONFIG.transaction_pages));
    assert_eq!(number(&bytes, 10, 2), 0);
    assert_eq!(number(&bytes, 12, 8), number(&tag, 0, 5) + number(&tag, 9, 3), "sequence after its pages");
    let journal = number(&bytes, 28, 4) as PageIndex;
    assert!(is_kind(&pages[&journal].0, JOURNAL), "the newest journal page");
    for head in 0..3 {
        let (block, next) = (number(&bytes, 32 + 6 * head, 4), number(&bytes, 36 + 6 * head, 2));
        assert!(block == 0xFFFF_FFFF || (block < 28 && next <= 17), "head {head}: {block}, {next}");
    }
    assert!(bytes[52] <= 1 && bytes[53..64].iter().all(|&byte| byte == 0));
    // The parts behind the header.
    let leaf_entries = GEOMETRY.page_bytes as usize / ENTRY;
    let at_overlay = 64 + logical_count().div_ceil(leaf_entries) * ENTRY;
    let at_pending = at_overlay + usize::from(CONFIG.overlay_entries) * 2 * ENTRY;
    let at_wear = at_pending + usize::from(CONFIG.transaction_pages) * 2 * ENTRY;
    let at_state = at_wear + GEOMETRY.block_count as usize;
    for leaf in 0..(at_overlay - 64) / ENTRY {
        let frame = number(&bytes, 64 + leaf * ENTRY, ENTRY) as PageIndex;
        assert!(frame == 0 || number(&pages[&frame].0, 5, 3) == leaf as u64, "leaf {leaf} is in frame {frame}");
    }
    let entries: Vec<_> = (0..overlay).map(|i| (at_overlay + i * 2 * ENTRY, at_overlay + i * 2 * ENTRY + ENTRY)).collect();
    let entries: Vec<_> =
        entries.iter().map(|&(key, value)| (number(&bytes, key, ENTRY), number(&bytes, value, ENTRY))).collect();
    assert!(entries.is_sorted_by(|a, b| a.0 < b.0), "{entries:?}");
    for (logical, frame) in entries.into_iter().map(|(logical, frame)| (logical, frame as PageIndex & 0x7FFF)) {
        assert!(frame == 0 || number(&pages[&frame].0, 5, 3) == logical, "logical page {logical} is in frame {frame}");
    }
    let state = |block: usize| bytes[at_state + block / 2] >> (block % 2 * 4) & 0xF;
    assert!((0..28).all(|block| state(block) <= 8));
    assert_eq!([state(0), state(1), state(2)], [1; 3], "superblocks and anchors are reserved");
    assert_eq!(bytes.len(), (at_state + 14).div_ceil(512) * 512, "pages of the checkpoint");
    assert!(bytes[at_state + 14..].iter().all(|&byte| byte == 0xFF));
}

/// Logical pages: those of the data, of the allocation map, directory, file table, and the root page.
fn logical_count() -> usize {
    let data = (GEOMETRY.block_count * GEOMETRY.pages_per_block / 10 * 9) as usize;
    data + 1 + 1 + (16 + 16) / 2 + 1
}

#[test]
fn journal_pages_are_as_documented() {
    let mut discards = 0;
    for (page, (tag, bytes)) in image() {
        if !is_kind(&tag, JOURNAL) && !is_kind(&tag, JOURNAL_WITH_DISCARDS) {
            continue;
        }
        let used = number(&bytes, 0, 2) as usize;
        assert!(bytes[used..].iter().all(|&byte| byte == 0xFF), "bytes behind the records of page {page}");
        let (mut at, mut least) = (2, (0, 0));
        while at < used {
            let (logical, offset, length) = (number(&bytes, at, 3), number(&bytes, at + 3, 2), number(&bytes, at + 5, 2));
            assert!((logical, offset) >= least, "records of page {page} are sorted");
            if offset == 0xFFFF {
                assert_eq!(length, 0);
                assert!(is_kind(&tag, JOURNAL_WITH_DISCARDS));
                discards += 1;
            } else {
                assert!(length > 0 && offset + length <= 512);
            }
            least = (logical, offset + length + 1);
            at += 7 + length as usize;
        }
        assert_eq!(at, used, "page {page}");
    }
    assert!(discards > 0, "the image has no discard");
}

#[test]
fn directory_and_inodes_are_as_documented() {
    // A mount that moved everything into its place would be needed to read them from the medium alone: the map gives the page,
    // the newest journal page the bytes that were patched since.
    let pages = image();
    let inodes = logical_page_of_table();
    let mut seen = BTreeMap::new();
    for (page, (tag, bytes)) in &pages {
        let table = is_kind(tag, DATA) && (inodes..inodes + 16).contains(&number(tag, 5, 3));
        for inode in bytes.chunks_exact(256).filter(|_| table) {
            let name_bytes = usize::from(inode[1]);
            if inode[0] == 0 || name_bytes == 0 {
                continue;
            }
            assert!((1..=3).contains(&inode[0]), "kind of an inode in page {page}");
            assert!(inode[2..4] == [0; 2] && inode[20..32] == [0; 12]);
            let name = std::str::from_utf8(&inode[32..32 + name_bytes]).expect("a name").to_string();
            seen.insert(name, inode.to_vec());
        }
    }
    assert!(!seen.is_empty(), "no inode was written to its page");
    for (name, inode) in &seen {
        let size = number(inode, 4, 8) as usize;
        if let (1, Some(data)) = (inode[0], expected().get(name)) {
            assert_eq!(inode[96..96 + size.min(160)], data[..size], "inline data of {name}");
        }
        if inode[0] == 2 {
            for region in inode[96..252].chunks_exact(6) {
                assert!(region[0] <= 2 && number(region, 4, 2) <= 256, "{name}: {region:?}");
                assert!(number(region, 1, 3) < logical_count() as u64);
            }
        }
    }
}

/// First logical page of the file table: behind the root page, one page of allocation map, one of directory.
fn logical_page_of_table() -> u64 {
    3
}
