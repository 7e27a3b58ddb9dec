//! Volumes that a running system left: a journal behind the last commit.

use super::maker::*;
use crate::tree::{Kind, Limit, Tree, TreeError};
use crate::ubifs::node::Key;
use crate::ubifs::{Error, Fault, is_ubifs, read};

/// Makes a volume whose commit contains `/f`, inode 64, with two blocks and five bytes.
fn committed() -> Maker {
    let size = 2 * 4096 + 5;
    let blocks = [data(64, 0, &[b'0'; 4096]), data(64, 1, &[b'1'; 4096]), data(64, 2, b"22222")];
    Maker::new(&[&[directory(1), name(1, b"f", 64), file(64, size)][..], &blocks].concat())
}

fn tree(maker: &Maker) -> Tree {
    read(&maker.image, Limit::default()).expect("a sound volume")
}

fn content<'t>(tree: &'t Tree, path: &str) -> &'t [u8] {
    match &tree.inode(tree.find(path).expect("is there")).kind {
        Kind::File(bytes) => bytes,
        other => panic!("{other:?}"),
    }
}

fn refused(maker: &Maker) -> Error {
    read(&maker.image, Limit::default()).expect_err("refused")
}

#[test]
fn what_was_committed_is_read() {
    let maker = committed();
    assert!(is_ubifs(&maker.image));
    let tree = tree(&maker);
    assert_eq!(content(&tree, "/f"), [&[b'0'; 4096][..], &[b'1'; 4096], b"22222"].concat());
    let inode = tree.inode(1);
    assert_eq!((inode.mode, inode.uid, inode.gid, inode.modified), (0o644, 7, 8, 9));
    assert_eq!(tree.inode(0).mode, 0o755);
}

#[test]
fn newer_blocks_hold_in_the_order_of_their_sequence_whatever_bud_they_are_in() {
    let mut maker = committed();
    maker.bud(BUDS, 2, 2010, &[data(64, 0, b"newest"), data(64, 1, b"old")]);
    maker.bud(BUDS + 1, 2, 2005, &[data(64, 0, b"older"), padding(4), data(64, 1, b"older")]);
    maker.bud(BUDS + 2, 1, 2012, &[data(64, 1, b"new")]);
    let tree = tree(&maker);
    let bytes = content(&tree, "/f");
    assert_eq!((&bytes[..8], &bytes[4096..4101]), (&b"newest\0\0"[..], &b"new\0\0"[..]));
    assert_eq!(&bytes[8192..], b"22222");
}

#[test]
fn a_file_that_was_cut_and_grew_again_has_zeros_between() {
    let mut maker = committed();
    let cut = [file(64, 100), truncation(64, 8197, 100), data(64, 0, &[b'0'; 100])];
    maker.bud(BUDS, 1, 2000, &cut);
    assert_eq!(content(&tree(&maker), "/f"), [b'0'; 100]);
    maker.bud(BUDS + 1, 2, 2010, &[data(64, 2, b"xxxxxxxx")]);
    maker.bud(BUDS + 2, 1, 2020, &[file(64, 8200)]);
    let tree = tree(&maker);
    let bytes = content(&tree, "/f");
    assert_eq!((&bytes[..100], &bytes[8192..]), (&[b'0'; 100][..], &b"xxxxxxxx"[..8]));
    assert!(bytes[100..8192].iter().all(|&byte| byte == 0));
}

#[test]
fn a_block_written_after_a_cut_is_kept_though_its_bud_came_first() {
    let mut maker = committed();
    maker.bud(BUDS, 2, 2010, &[data(64, 1, b"after")]);
    maker.bud(BUDS + 1, 1, 2000, &[file(64, 0), truncation(64, 8197, 0), file(64, 4101)]);
    assert_eq!(content(&tree(&maker), "/f"), [&[0; 4096][..], b"after"].concat());
}

#[test]
fn a_removed_file_is_gone_and_one_made_again_is_there() {
    let mut maker = committed();
    maker.bud(BUDS, 1, 2000, &[name(1, b"f", 0), removal(64), directory(1)]);
    assert_eq!(tree(&maker).inodes().len(), 1);
    maker.bud(BUDS + 1, 1, 2010, &[name(1, b"f", 65), file(65, 3), directory(1)]);
    maker.bud(BUDS + 2, 2, 2020, &[data(65, 0, b"new")]);
    let tree = tree(&maker);
    assert_eq!((content(&tree, "/f"), tree.inodes().len()), (&b"new"[..], 2));
}

#[test]
fn a_file_without_name_that_gets_one_again_keeps_its_content() {
    let mut maker = committed();
    maker.bud(BUDS, 1, 2000, &[name(1, b"f", 0), removal(64), name(1, b"g", 64), file(64, 8197)]);
    let tree = tree(&maker);
    assert_eq!(tree.find("/f"), None);
    assert_eq!(content(&tree, "/g")[4095..4097], *b"01");
}

#[test]
fn a_rename_moves_a_directory_over_and_names_of_one_hash_stay_apart() {
    let mut maker = Maker::new(&[
        directory(1),
        directory(70),
        directory(71),
        name(1, b"from", 70),
        name(70, b"moved", 71),
        name(71, b"file", 64),
        file(64, 0),
        name(1, b"Aa", 64),
        name(1, b"BB", 65),
        file(65, 0),
    ]);
    maker.bud(
        BUDS,
        1,
        2000,
        &[
            name(1, b"to", 71),
            name(70, b"moved", 0),
            directory(70),
            directory(1),
            name(1, b"BB", 0),
        ],
    );
    let tree = tree(&maker);
    assert_eq!(tree.find("/from/moved"), None);
    assert_eq!(tree.find("/BB"), None);
    assert_eq!(tree.find("/to/file"), tree.find("/Aa"), "a hard link");
}

#[test]
fn a_torn_last_node_leaves_what_was_before_it() {
    for (offset, value) in [(1, 0), (1, 0xff), (20, 0), (52, 0)] {
        let mut maker = committed();
        maker.bud(BUDS, 2, 2000, &[data(64, 0, b"sound"), data(64, 1, b"torn____")]);
        let torn = maker.last_of(BUDS, 56);
        torn[offset] = value;
        let tree = tree(&maker);
        let bytes = content(&tree, "/f");
        assert_eq!((&bytes[..6], &bytes[4096..4100]), (&b"sound\0"[..], &b"1111"[..]));
    }
}

#[test]
fn a_group_without_its_last_node_does_not_hold() {
    let sound = [name(1, b"g", 65).in_group(), file(65, 0).in_group(), directory(1).ends_group()];
    let cut = [name(1, b"h", 66).in_group(), file(66, 0).in_group()];
    for head in [0, 1] {
        let mut maker = committed();
        maker.bud(BUDS, head, 2000, &[&sound[..], &cut].concat());
        let tree = tree(&maker);
        assert!(tree.find("/g").is_some());
        assert_eq!(
            tree.find("/h").is_some(),
            head == 0,
            "the collector's nodes keep the marks they had"
        );
    }
}

#[test]
fn data_that_came_before_the_new_size_make_a_file_longer_after_a_power_cut() {
    for (flags, expected_bytes) in [(1, 8201), (0, 8197)] {
        let mut maker = committed();
        maker.flags = flags;
        let root = root_of(&maker);
        maker.master(800, root);
        maker.bud(BUDS, 2, 2000, &[data(64, 2, b"333333333")]);
        assert_eq!(content(&tree(&maker), "/f").len(), expected_bytes);
    }
}

/// Returns the position of the index root: the last node of block 7.
fn root_of(maker: &Maker) -> (u32, u32, u32) {
    let block = &maker.image[7 * BLOCK_BYTES..8 * BLOCK_BYTES];
    let nodes = crate::ubifs::node::scan(7, block, 0);
    let place = nodes.last().expect("an index").place;
    (7, place.offset, place.bytes)
}

#[test]
fn the_newest_sound_master_node_counts_even_when_its_copy_is_missing() {
    let mut maker = committed();
    let root = root_of(&maker);
    let (offset, bytes) = maker.append(7, 700, &index(0, &[leaf_of_root(&maker)]));
    maker.master_copy(1, 900, (7, offset, bytes));
    assert_eq!(tree(&maker).inodes().len(), 1, "the newer index has the root alone");
    maker.last_of(1, 100)[50] ^= 1;
    assert_eq!(tree(&maker).inodes().len(), 2);
    maker.image[BLOCK_BYTES..3 * BLOCK_BYTES].fill(0xff);
    assert_eq!(refused(&maker), Error::NoMaster);
    maker.go_to(2, 0);
    maker.master_copy(2, 901, root);
    assert_eq!(tree(&maker).inodes().len(), 2);
}

/// Returns a branch to the inode of the root, which is the first committed node.
fn leaf_of_root(maker: &Maker) -> (u32, u32, u32, Key) {
    let nodes = crate::ubifs::node::scan(8, &maker.image[8 * BLOCK_BYTES..9 * BLOCK_BYTES], 0);
    (8, nodes[0].place.offset, nodes[0].place.bytes, nodes[0].key().expect("a key"))
}

#[test]
fn the_log_ends_where_older_nodes_begin() {
    let mut maker = committed();
    maker.put(4, 0, 400, &reference(BUDS, 0, 2));
    maker.append(BUDS, 300, &data(64, 0, b"old"));
    assert_eq!(content(&tree(&maker), "/f")[..3], *b"000");
    maker.put(4, 0, 1500, &reference(BUDS, 0, 2));
    assert_eq!(content(&tree(&maker), "/f")[..3], *b"old");
}

#[test]
fn a_bud_counts_from_its_offset_on() {
    let mut maker = committed();
    maker.append(BUDS, 2000, &data(64, 0, b"not in the bud"));
    maker.bud(BUDS, 2, 2001, &[data(64, 1, b"in it")]);
    let tree = tree(&maker);
    let bytes = content(&tree, "/f");
    assert_eq!((&bytes[..3], &bytes[4096..4101]), (&b"000"[..], &b"in it"[..]));
}

#[test]
fn every_compressor_is_read_and_others_are_refused() {
    let text = b"text and more text and more text and more text".repeat(20);
    let mut maker = committed();
    let lzo = lzokay_native::compress(&text).expect("packs");
    let zlib = miniz_oxide::deflate::compress_to_vec(&text, 6);
    let zstd = zstd::bulk::compress(&text, 3).expect("packs");
    let bytes = text.len() as u32;
    let blocks = [
        packed(64, 0, bytes, 1, &lzo),
        packed(64, 1, bytes, 2, &zlib),
        packed(64, 2, bytes, 3, &zstd),
    ];
    maker.bud(BUDS, 2, 2000, &blocks);
    maker.bud(BUDS + 1, 1, 2010, &[file(64, 8192 + 920)]);
    let tree = tree(&maker);
    for block in content(&tree, "/f").chunks(4096) {
        assert_eq!(block[..text.len()], text);
    }
    maker.bud(BUDS + 2, 2, 2020, &[packed(64, 0, bytes, 4, &zstd)]);
    let Error::File { path, fault: Fault::Compressor { compressor: 4, .. } } = refused(&maker)
    else {
        panic!("another error")
    };
    assert_eq!(path, "/f");
}

#[test]
fn content_that_does_not_unpack_is_refused_with_the_name_of_the_file() {
    for compressor in 0..4 {
        for (promised, noise) in [(500, &b"\x12\x34"[..]), (4097, &[0; 4097])] {
            let mut maker = committed();
            maker.bud(BUDS, 2, 2000, &[packed(64, 0, promised, compressor, noise)]);
            let Error::File { path, fault } = refused(&maker) else { panic!("of the file") };
            assert_eq!(path, "/f");
            assert!(matches!(fault, Fault::Unpack { .. } | Fault::Node { .. }), "{fault}");
        }
    }
}

#[test]
fn links_devices_pipes_and_sockets_are_read() {
    let mut maker = committed();
    let all: [(u32, &[u8]); 6] = [
        (0o120_777, b"target"),
        (0o020_600, &0x0121_2c70u32.to_le_bytes()),
        (0o060_600, &0x0501u64.to_le_bytes()),
        (0o010_600, b""),
        (0o140_600, b""),
        (0o020_600, b"odd"),
    ];
    for (index, (mode, content)) in (0u32..).zip(&all[..5]) {
        let (inode, letter) = (80 + index, b'a' + index as u8);
        let nodes = [name(1, &[letter], inode.into()), inode_with(inode, 1, *mode, 0, 0, content)];
        maker.bud(BUDS + index, 1, 2000 + 10 * u64::from(index), &nodes);
    }
    let tree = tree(&maker);
    let kinds: Vec<_> = ["/a", "/b", "/c", "/d", "/e"]
        .map(|path| tree.inode(tree.find(path).expect("is there")).kind.clone())
        .into();
    let expected = [
        Kind::Symlink(b"target".to_vec()),
        Kind::Device { is_block: false, major: 300, minor: 0x1270 },
        Kind::Device { is_block: true, major: 5, minor: 1 },
        Kind::Fifo,
        Kind::Socket,
    ];
    assert_eq!(kinds, expected);
    maker.bud(BUDS + 6, 1, 3000, &[name(1, b"z", 90), inode_with(90, 1, all[5].0, 0, 0, all[5].1)]);
    assert_eq!(refused(&maker), Error::File { path: "/z".into(), fault: Fault::Device(3) });
}

#[test]
fn attributes_are_read_and_removed() {
    let value = |inode, value| inode_with(inode, 1, FILE, 0, 0x20, value);
    let mut maker = Maker::new(&[
        directory(1),
        name(1, b"f", 64),
        file(64, 0),
        attribute(64, b"user.one", 80),
        attribute(64, b"user.two", 81),
        value(80, b"1"),
        value(81, b"2"),
    ]);
    maker.bud(
        BUDS,
        1,
        2000,
        &[
            attribute(64, b"user.one", 0),
            removal(80),
            attribute(64, b"user.three", 82),
            value(82, b"3"),
        ],
    );
    let tree = tree(&maker);
    let read: Vec<_> =
        tree.inode(1).attributes.iter().map(|(name, value)| (&name[..], &value[..])).collect();
    assert_eq!(read, [(&b"user.three"[..], &b"3"[..]), (b"user.two", b"2")]);
}

#[test]
fn a_directory_with_two_names_or_within_itself_is_refused() {
    let at = |directory_of: u32| {
        let mut maker = committed();
        maker.bud(
            BUDS,
            1,
            2000,
            &[name(1, b"d", 70), directory(70), name(70, b"e", 71), directory(71)],
        );
        maker.bud(BUDS + 1, 1, 2010, &[name(directory_of, b"twice", 70)]);
        refused(&maker)
    };
    for (directory_of, path) in [(1, "/twice"), (70, "/d/twice"), (71, "/d/e/twice")] {
        assert_eq!(
            at(directory_of),
            Error::File { path: path.into(), fault: Fault::DirectoryTwice }
        );
    }
}

#[test]
fn an_index_that_refers_to_itself_or_to_a_wrong_level_is_refused() {
    let with = |level: u16, below_level: u16| {
        let mut maker = committed();
        let leaf = leaf_of_root(&maker);
        let (offset, bytes) = maker.append(7, 700, &index(below_level, &[leaf]));
        let (offset, bytes) = maker.append(7, 701, &index(level, &[(7, offset, bytes, leaf.3)]));
        maker.master(900, (7, offset, bytes));
        read(&maker.image, Limit::default())
    };
    assert!(with(1, 0).is_ok());
    assert!(matches!(with(2, 0), Err(Error::Index { .. })));
    assert!(matches!(with(1, 1), Err(Error::Index { .. })));
    // With many branches to one node, the reader would read this node many times.
    let mut maker = committed();
    let leaf = leaf_of_root(&maker);
    let (mut offset, mut bytes) = maker.append(7, 700, &index(0, &[leaf; 60]));
    for level in 1..8 {
        (offset, bytes) = maker.append(
            7,
            700 + u64::from(level),
            &index(level, &[(7, offset, bytes, leaf.3); 60]),
        );
    }
    maker.master(900, (7, offset, bytes));
    assert!(matches!(refused(&maker), Error::Index { what: "is referred to more than once", .. }));
}

#[test]
fn encrypted_volumes_and_files_are_refused() {
    let mut maker = committed();
    maker.superblock(0x10);
    assert_eq!(refused(&maker), Error::Encrypted);
    maker.superblock(0);
    maker.bud(BUDS, 1, 2000, &[inode_with(64, 1, FILE, 0, 0x40, b"")]);
    assert_eq!(refused(&maker), Error::File { path: "/f".into(), fault: Fault::Encrypted });
}

#[test]
fn a_name_without_inode_and_a_file_beyond_the_limit_are_refused() {
    let mut maker = committed();
    maker.bud(BUDS, 1, 2000, &[name(1, b"g", 1 << 40)]);
    assert_eq!(refused(&maker), Error::File { path: "/g".into(), fault: Fault::NoInode(1 << 40) });
    let mut maker = committed();
    maker.bud(BUDS, 1, 2000, &[file(64, u64::MAX)]);
    let limit = Limit { bytes: 10_000, inodes: 10 };
    let fault = Fault::Tree(TreeError::Bytes(10_000));
    assert_eq!(read(&maker.image, limit), Err(Error::File { path: "/f".into(), fault }));
}

#[test]
fn what_is_no_volume_is_refused() {
    for bytes in [&b""[..], b"\x31\x18\x10\x06", &[0xff; 10_000]] {
        assert_eq!(read(bytes, Limit::default()), Err(Error::NoUbifs));
        assert!(!is_ubifs(bytes));
    }
}
