//! The golden image of format version 6. Volumes written by an earlier release stay readable, and
//! `docs/format.md` describes every byte. Volumes of other versions of the format are refused by
//! their number; a volume of version 3 stays here to show it.
//!
//! The image is a text with a line for each programmed page: `page tag data` in hexadecimal.
//! Erased bytes at the end of the data are left out.
//! `STEADYFS_BLESS=1 cargo test -p steadyfs --test all format` writes the image again. Do this
//! only before a version is released.

use std::collections::{BTreeMap, BTreeSet};

use crate::image::reader::{
    ENTRY, HEADER, LOGICAL_PAGES, RECORD_HEADER, ROOT, Root, Volume, crc, crc8, kind as kind_of,
    newest_root, number, record_header, roots, sequence,
};
use crate::image::{
    CONFIG, GEOMETRY, chip, chip_with, content, contents, dump, expected, image, image_of_version,
};
use steadyfs::media::{PageIndex, TAG_BYTES};
use steadyfs::{Access, FileSystem, MountError, OpenOptions};

// Kinds of pages, as in `docs/format.md`.
const SUPERBLOCK: u8 = 1;
const DATA: u8 = 3;
const JOURNAL: u8 = 5;
const JOURNAL_WITH_DISCARDS: u8 = 6;
const LEAF: u8 = 9;
const LEAF_COPY: u8 = 12;

/// Blocks of the ring, which follow the two superblocks.
const RING: std::ops::Range<PageIndex> = 2..9;

/// Returns the block of a page.
fn block_of(page: PageIndex) -> PageIndex {
    page / GEOMETRY.pages_per_block
}

fn is_kind(tag: &[u8; TAG_BYTES], kind: u8) -> bool {
    kind_of(tag) == kind
}

#[test]
fn image_of_version_6_mounts_for_reading_only() {
    let mut memory = vec![0; CONFIG.memory_bytes(&GEOMETRY)];
    let mut chip = chip();
    let mut fs = FileSystem::mount(&mut chip, Access::ReadOnly, &mut memory).expect("mount");
    assert_eq!(contents(&mut fs), expected());
    assert_eq!(dump(&mut chip), image(), "the medium is unchanged");
}

#[test]
fn image_of_version_6_mounts_and_can_be_changed() {
    let mut memory = vec![0; CONFIG.memory_bytes(&GEOMETRY)];
    let mut fs = FileSystem::mount(chip(), Access::ReadWrite, &mut memory).expect("mount");
    assert_eq!(contents(&mut fs), expected());
    fs.set_time(1);
    let mut file = fs.open("regions", OpenOptions::DURABLE).expect("open");
    fs.append(&mut file, &content(9, 600)).expect("append");
    let chip = fs.unmount().expect("unmount");
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount again");
    let mut files = expected();
    files.get_mut("regions").unwrap().data.as_mut().unwrap().extend(content(9, 600));
    assert_eq!(contents(&mut fs), files);
}

#[test]
fn image_of_version_3_is_refused_by_its_number_and_stays_as_it_is() {
    let pages = image_of_version(3);
    let mut memory = vec![0; CONFIG.memory_bytes(&GEOMETRY)];
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let mut chip = chip_with(&pages);
        let error = FileSystem::mount(&mut chip, access, &mut memory).err().expect("an error");
        assert_eq!(error, MountError::Version { on_flash: 3 });
        let text = error.to_string();
        assert!(
            text.starts_with("the volume has format version 3; this library reads version 6: "),
            "{text}"
        );
        assert_eq!(dump(&mut chip), pages, "the medium is unchanged");
    }
}

#[test]
fn tags_are_as_documented() {
    let pages = image();
    let mut sequences = BTreeMap::new();
    for (page, (tag, data)) in &pages {
        assert_eq!(number(tag, 12, 4) as u32, crc(data) ^ crc(&tag[..12]), "check of page {page}");
        assert!(matches!(kind_of(tag), 1..=10 | 12), "kind of page {page}");
        let mut fields = [0; 12];
        fields.copy_from_slice(&tag[..12]);
        (fields[4], fields[8]) = (fields[4] & 0x0F, fields[8] & 0x0F);
        assert_eq!(
            crc8(&fields),
            tag[4] & 0xF0 | tag[8] >> 4,
            "own check of the tag of page {page}"
        );
        // Three kinds of pages have no sequence number of their own: superblocks, the pages of a
        // root and its copies, and pages that a mount copies into the ring.
        if block_of(*page) > 1 && !RING.contains(&block_of(*page)) {
            let before = sequences.insert(sequence(tag), page);
            assert_eq!(before, None, "the sequence of page {page} is used twice");
        }
        if is_kind(tag, LEAF) {
            assert_eq!(number(tag, 9, 3), 0, "aux of a leaf");
        }
    }
    for kind in [SUPERBLOCK, ROOT, DATA, JOURNAL, JOURNAL_WITH_DISCARDS, LEAF, LEAF_COPY] {
        assert!(
            pages.values().any(|(tag, _)| is_kind(tag, kind)),
            "the image has no page of kind {kind}"
        );
    }
    // A commit contains the first sequence of its transaction and the number of pending pages.
    for (page, (tag, _)) in pages
        .iter()
        .filter(|(_, (tag, _))| is_kind(tag, JOURNAL) || is_kind(tag, JOURNAL_WITH_DISCARDS))
    {
        let start = sequence(tag) - number(tag, 9, 3);
        let of_it = |tag: &[u8; TAG_BYTES]| {
            is_kind(tag, DATA) && sequence(tag) - number(tag, 9, 3) == start
        };
        let pending: BTreeSet<_> = pages
            .values()
            .filter(|(tag, _)| of_it(tag))
            .map(|(tag, _)| number(tag, 5, 3))
            .collect();
        assert_eq!(
            number(tag, 5, 3),
            pending.len() as u64,
            "pages that the commit in page {page} is of"
        );
    }
}

#[test]
fn superblocks_are_as_documented() {
    let pages = image();
    let found: Vec<_> = pages.iter().filter(|(_, (tag, _))| is_kind(tag, SUPERBLOCK)).collect();
    assert_eq!(
        found.iter().map(|(page, _)| **page).collect::<Vec<_>>(),
        [0, GEOMETRY.pages_per_block]
    );
    for (_, (tag, bytes)) in found {
        assert_eq!((sequence(tag), number(tag, 5, 3), number(tag, 9, 3)), (1, 0, 0));
        assert_eq!(&bytes[..8], b"SteadyFS");
        assert_eq!(number(bytes, 8, 2), 6, "version");
        assert_eq!([10, 14, 18].map(|at| number(bytes, at, 4)), [256, 64, 41], "geometry");
        assert_eq!(
            [22, 24, 26, 28, 30].map(|at| number(bytes, at, 2)),
            [1, 60, 12, 64, 1],
            "settings"
        );
        assert_eq!(number(bytes, 32, 4), 64, "files_max");
        assert_eq!(bytes[36..40], [32, 1, 200, 0], "wear_spread, failures, name_bytes_max");
        assert_eq!(number(bytes, 40, 4), 1, "block of the second copy");
        let ring = RING.fold(0, |bits, block| bits | 1 << (block - 1));
        assert_eq!(number(bytes, 44, 8), ring, "blocks of the ring, from block 1 on");
        assert!(bytes[52..].iter().all(|&byte| byte == 0xFF), "behind the superblock");
    }
}

#[test]
fn the_ring_is_as_documented() {
    let pages = image();
    let in_ring = pages.iter().filter(|(page, _)| RING.contains(&block_of(**page)));
    // No mount of the image had anything to copy. The root of a clean end has a copy of the
    // journal.
    let journal_copies = in_ring.clone().filter(|(_, (tag, _))| is_kind(tag, JOURNAL)).count();
    assert_eq!(journal_copies, 1, "the first mount ended its use");
    let in_ring = in_ring.filter(|(_, (tag, _))| !is_kind(tag, JOURNAL));
    assert!(in_ring.clone().all(|(_, (tag, _))| is_kind(tag, ROOT)));
    assert_eq!(
        in_ring.count(),
        pages.values().filter(|(tag, _)| is_kind(tag, ROOT)).count(),
        "roots outside of the ring"
    );
    let roots = roots(&pages);
    for Root { number: root, places, bytes } in &roots {
        assert_eq!(places.len(), 2, "pages of root {root}");
        let first = places[0][0];
        assert_eq!(
            RING.start + (root % RING.len() as u64) as PageIndex,
            block_of(first),
            "the block of root {root}"
        );
        let copy = number(bytes, 60, 4) as PageIndex;
        if copy != 0 {
            assert_eq!(copy, first + 2, "root {root} names the page behind its own");
            assert_eq!(
                pages[&copy].1,
                pages[&(number(bytes, 28, 4) as PageIndex)].1,
                "both are the newest journal page"
            );
        }
        let gap = PageIndex::from(copy != 0);
        for (index, places) in places.iter().enumerate() {
            let index = index as PageIndex;
            assert_eq!(
                places[..],
                [first + index, first + 2 + gap + index],
                "page {index} of root {root}, and of its copy"
            );
            for (copy, page) in (0..).zip(places) {
                let (tag, data) = &pages[page];
                assert_eq!(number(tag, 5, 3), u64::from(index), "place in root {root}");
                assert_eq!(
                    (tag[9], number(tag, 10, 2)),
                    (2, copy),
                    "pages of root {root}, and which copy page {page} is of"
                );
                assert_eq!(data, &pages[&places[0]].1, "root {root} and its copy say the same");
            }
        }
    }
    assert!(roots.len() > 4, "{} roots", roots.len());
    // Each use begins with a block of its own: the format, and two mounts with changes.
    let blocks: BTreeSet<_> = roots.iter().map(|root| block_of(root.places[0][0])).collect();
    assert_eq!(blocks.into_iter().collect::<Vec<_>>(), [2, 3, 4]);
}

#[test]
fn roots_are_as_documented() {
    let pages = image();
    let roots = roots(&pages);
    assert!(
        roots.is_sorted_by_key(|root| number(&root.bytes, 12, 8)),
        "sequences grow with the numbers of roots"
    );
    let flags: Vec<_> = roots.iter().map(|root| number(&root.bytes, 10, 2)).collect();
    assert_eq!(flags[0], 5, "format ends its use, and no head has programmed");
    assert!(flags.contains(&4), "the first mount ended its use");
    assert_eq!(flags.last(), Some(&0), "the second mount was cut");
    let bytes = newest_root(&pages).bytes;
    assert_eq!(&bytes[..4], b"SFSR");
    assert_eq!(number(&bytes, 4, 2), 6, "version");
    let (overlay, pending) = (number(&bytes, 6, 2) as usize, number(&bytes, 8, 2) as usize);
    assert!(
        overlay <= usize::from(CONFIG.overlay_entries)
            && pending <= usize::from(CONFIG.transaction_pages)
    );
    let journal = number(&bytes, 28, 4) as PageIndex;
    let (tag, _) = &pages[&journal];
    assert!(
        is_kind(tag, JOURNAL) || is_kind(tag, JOURNAL_WITH_DISCARDS),
        "the newest journal page"
    );
    assert!(sequence(tag) < number(&bytes, 12, 8), "it is older than what comes after the root");
    for head in 0..3 {
        let (block, next) = (number(&bytes, 32 + 6 * head, 4), number(&bytes, 36 + 6 * head, 2));
        assert!(block == 0xFFFF_FFFF || (block < 41 && next <= 65), "head {head}: {block}, {next}");
    }
    assert_eq!(number(&bytes, 52, 4), 0, "wear that was taken off all blocks");
    let follows = number(&bytes, 56, 4);
    assert!(
        roots.iter().any(|root| root.number == follows),
        "the newest root follows root {follows}"
    );
    assert_eq!(
        number(&bytes, 60, 4),
        0,
        "the volume is in use, and no idle work has copied the journal"
    );
    // The parts behind the header.
    let leaf_entries = GEOMETRY.page_bytes as usize / ENTRY;
    let copy = number(&bytes, 64, 4) as PageIndex;
    assert!(
        copy == 0 || is_kind(&pages[&copy].0, LEAF_COPY),
        "the copy of the first leaf is in frame {copy}"
    );
    let at_wear = HEADER + LOGICAL_PAGES.div_ceil(leaf_entries) * ENTRY;
    let at_state = at_wear + GEOMETRY.block_count as usize;
    let at_overlay = at_state + GEOMETRY.block_count.div_ceil(2) as usize;
    let at_pending = at_overlay + usize::from(CONFIG.overlay_entries) * 2 * ENTRY;
    for leaf in 0..(at_wear - HEADER) / ENTRY {
        let frame = number(&bytes, HEADER + leaf * ENTRY, ENTRY) as PageIndex;
        assert!(
            frame == 0 || number(&pages[&frame].0, 5, 3) == leaf as u64,
            "leaf {leaf} is in frame {frame}"
        );
    }
    let entries: Vec<_> = (0..overlay)
        .map(|i| (at_overlay + i * 2 * ENTRY, at_overlay + i * 2 * ENTRY + ENTRY))
        .collect();
    let entries: Vec<_> = entries
        .iter()
        .map(|&(key, value)| (number(&bytes, key, ENTRY), number(&bytes, value, ENTRY)))
        .collect();
    assert!(entries.is_sorted_by(|a, b| a.0 < b.0), "{entries:?}");
    for (logical, frame) in
        entries.into_iter().map(|(logical, frame)| (logical, frame as PageIndex & 0x7FFF))
    {
        assert!(
            frame == 0 || number(&pages[&frame].0, 5, 3) == logical,
            "logical page {logical} is in frame {frame}"
        );
    }
    let state = |block: usize| bytes[at_state + block / 2] >> (block % 2 * 4) & 0xF;
    assert!((0..41).all(|block| state(block) <= 10));
    assert!((0..9).all(|block| state(block) == 1), "superblocks and ring are reserved");
    let end = at_pending + usize::from(CONFIG.transaction_pages) * 2 * ENTRY;
    assert_eq!(bytes.len(), end.div_ceil(256) * 256, "pages of the root");
    let blank = |from: usize, to: usize| bytes[from..to].iter().all(|&byte| byte == 0xFF);
    assert!(
        blank(at_overlay + overlay * 2 * ENTRY, at_pending)
            && blank(at_pending + pending * 2 * ENTRY, bytes.len())
    );
}

#[test]
fn journal_pages_are_as_documented() {
    let mut discards = 0;
    for (page, (tag, bytes)) in image() {
        if !is_kind(&tag, JOURNAL) && !is_kind(&tag, JOURNAL_WITH_DISCARDS) {
            continue;
        }
        let used = number(&bytes, 0, 2) as usize;
        assert!(
            bytes[used..].iter().all(|&byte| byte == 0xFF),
            "bytes behind the records of page {page}"
        );
        let (mut at, mut least) = (2, (0, 0));
        while at < used {
            let (logical, offset, length) = record_header(&bytes, at);
            assert!((logical, offset) >= least || length == 0, "records of page {page} are sorted");
            if length == 0 {
                assert_eq!(offset, 0);
                assert!(is_kind(&tag, JOURNAL_WITH_DISCARDS));
                discards += 1;
            } else {
                assert!(offset + length <= 256);
            }
            least = (logical, offset + length + 1);
            at += RECORD_HEADER + length;
        }
        assert_eq!(at, used, "page {page}");
    }
    assert!(discards > 0, "the image has no discard");
}

#[test]
fn files_and_directories_are_as_documented() {
    let mut memory = vec![0; CONFIG.memory_bytes(&GEOMETRY)];
    let mut chip = chip();
    // A mount for writing settles the state after the cut, and records it in a root.
    FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    let volume = Volume::new(&dump(&mut chip));
    assert_eq!(volume.tree(), expected());
    let names: Vec<_> = volume
        .orphans()
        .iter()
        .map(|inode| inode[48..48 + usize::from(inode[2])].to_vec())
        .collect();
    assert_eq!(names, [b"inline orphan".to_vec(), b"orphan".to_vec()], "the last one comes first");
    assert!(volume.lists()[0] != 0, "the image has something to trim");
}

#[test]
fn orphans_of_the_image_give_their_room_back() {
    let mut memory = vec![0; CONFIG.memory_bytes(&GEOMETRY)];
    let mut fs = FileSystem::mount(chip(), Access::ReadWrite, &mut memory).expect("mount");
    let before = fs.usage();
    for round in 0..40_u8 {
        fs.set_attribute(steadyfs::ROOT, "k", Some(&[round])).expect("attribute");
        fs.commit().expect("commit");
    }
    fs.set_attribute(steadyfs::ROOT, "k", None).expect("attribute");
    let mut chip = {
        fs.commit().expect("commit");
        assert!(fs.usage().used_bytes < before.used_bytes && fs.usage().files < before.files);
        fs.unmount().expect("unmount")
    };
    // The root that ends the use of a volume contains everything.
    let volume = Volume::new(&dump(&mut chip));
    assert_eq!(volume.lists(), [0; 3]);
    assert_eq!(volume.tree(), expected());
}
