//! Tests of images from a running system, in which versions decide which nodes are valid.

use super::maker::{DIRECTORY, FILE, Maker, Part};
use crate::jffs2::node::Order;
use crate::jffs2::{Error, is_jffs2, read};
use crate::tree::{Kind, Limit, Tree, TreeError};

/// Makes an image in each byte order. It contains the name `/f` with inode 2, and `write` adds the
/// nodes of this inode.
fn both(write: impl Fn(&mut Maker)) -> [Vec<u8>; 2] {
    [Order::Little, Order::Big].map(|order| {
        let mut maker = Maker::new(order);
        maker.entry(1, 1, 2, b"f");
        write(&mut maker);
        maker.image
    })
}

fn tree(image: &[u8]) -> Tree {
    read(image, Limit::default()).expect("a sound image")
}

/// Returns the content of `/f`.
fn content(image: &[u8]) -> Vec<u8> {
    let tree = tree(image);
    match &tree.inode(tree.find("/f").expect("is there")).kind {
        Kind::File(bytes) => bytes.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn of_each_byte_the_newest_version_holds_wherever_it_stands() {
    for image in both(|maker| {
        maker.write(Part::plain(4, 12, 2, b"44"));
        maker.write(Part::plain(1, 12, 0, b"111111111111"));
        maker.write(Part::plain(5, 12, 3, b"5"));
        maker.write(Part::plain(3, 12, 8, b"3333"));
        maker.write(Part::plain(2, 12, 0, b"2222"));
    }) {
        assert_eq!(content(&image), b"224511113333");
    }
}

#[test]
fn the_newest_node_says_mode_owner_time_and_size() {
    for image in both(|maker| {
        maker.write(Part { mode: 0o100_600, ..Part::plain(2, 3, 0, b"") });
        maker.write(Part::plain(1, 5, 0, b"12345"));
    }) {
        let tree = tree(&image);
        let inode = tree.inode(1);
        assert_eq!((inode.mode, inode.uid, inode.gid, inode.modified), (0o600, 7, 8, 2));
        assert_eq!(inode.kind, Kind::File(b"123".to_vec()));
    }
}

#[test]
fn a_file_that_was_cut_and_grew_again_has_zeros_between() {
    for image in both(|maker| {
        maker.write(Part::plain(1, 10, 0, b"0123456789"));
        maker.write(Part::plain(2, 4, 0, b""));
        maker.write(Part { compressor: 1, unpacked_bytes: 4, ..Part::plain(3, 8, 4, b"") });
        maker.write(Part::plain(4, 11, 8, b"new"));
    }) {
        assert_eq!(content(&image), b"0123\0\0\0\0new");
    }
}

#[test]
fn what_no_node_covers_is_zeros() {
    for image in both(|maker| {
        maker.write(Part::plain(1, 6, 3, b"x"));
    }) {
        assert_eq!(content(&image), b"\0\0\0x\0\0");
    }
}

#[test]
fn a_name_that_was_removed_is_gone_and_one_made_again_is_there() {
    for image in both(|maker| {
        maker.entry(1, 3, 0, b"f");
        maker.write(Part::plain(1, 1, 0, b"a"));
        maker.write(Part { inode: 3, ..Part::plain(1, 1, 0, b"b") });
        maker.entry(1, 5, 3, b"again");
        maker.entry(1, 4, 0, b"again");
        maker.entry(1, 2, 2, b"again");
    }) {
        let tree = tree(&image);
        assert_eq!(tree.find("/f"), None);
        let again = tree.inode(tree.find("/again").expect("is there"));
        assert_eq!(again.kind, Kind::File(b"b".to_vec()));
    }
}

#[test]
fn a_rename_moves_a_directory_with_what_it_holds() {
    for image in both(|maker| {
        maker.write(Part::plain(1, 1, 0, b"a"));
        for (inode, name) in [(3, b"from"), (4, b"to!!")] {
            maker.write(Part { inode, mode: DIRECTORY, ..Part::plain(1, 0, 0, b"") });
            maker.entry(1, 2, inode, name);
        }
        maker.write(Part { inode: 5, mode: DIRECTORY, ..Part::plain(1, 0, 0, b"") });
        maker.write(Part { inode: 6, ..Part::plain(1, 1, 0, b"c") });
        maker.entry(5, 1, 6, b"in it");
        maker.entry(3, 1, 5, b"moved");
        maker.entry(4, 1, 5, b"moved");
        maker.entry(3, 2, 0, b"moved");
    }) {
        let tree = tree(&image);
        assert_eq!(tree.find("/from/moved"), None);
        assert!(tree.find("/to!!/moved/in it").is_some());
    }
}

#[test]
fn two_names_of_an_inode_are_a_hard_link() {
    for image in both(|maker| {
        maker.write(Part::plain(1, 1, 0, b"a"));
        maker.entry(1, 2, 2, b"g");
    }) {
        let tree = tree(&image);
        assert_eq!(tree.find("/f"), tree.find("/g"));
        assert_eq!(tree.inodes().len(), 2);
    }
}

#[test]
fn a_torn_last_node_leaves_what_was_before_it() {
    for mut image in both(|maker| {
        maker.write(Part::plain(1, 5, 0, b"sound"));
        maker.write(Part::plain(2, 5, 0, b"newer"));
    }) {
        let sound_bytes = image.len() - (68 + 5usize).next_multiple_of(4);
        for end in sound_bytes..image.len() - 3 {
            assert_eq!(content(&image[..end]), b"sound", "cut at {end}");
        }
        for at in sound_bytes..sound_bytes + 68 + 5 {
            image[at] ^= 1;
            assert_eq!(content(&image), b"sound", "wrong at {at}");
            image[at] ^= 1;
        }
        assert_eq!(content(&image), b"newer");
    }
}

#[test]
fn a_node_that_was_marked_obsolete_does_not_hold() {
    for (image, kind) in both(|maker| {
        maker.write(Part::plain(1, 5, 0, b"sound"));
        maker.write(Part::plain(2, 5, 0, b"newer"));
    })
    .into_iter()
    .zip([[0x02, 0xc0], [0xc0, 0x02]])
    {
        let mut image = image;
        let at = image.len() - (68 + 5usize).next_multiple_of(4);
        image[at + 2..at + 4].copy_from_slice(&kind);
        assert_eq!(content(&image), b"sound");
    }
}

#[test]
fn erased_and_dirty_bytes_between_nodes_are_passed_over() {
    for order in [Order::Little, Order::Big] {
        let mut maker = Maker::new(order);
        maker.image.extend([0xff; 4096]);
        maker.node(0x2003, &[]);
        maker.image.extend([0xff; 100]);
        maker.entry(1, 1, 2, b"f");
        maker.image.extend([0; 60]);
        maker.node(0x2004, &[0xff; 32]);
        maker.image.extend(b"dirt");
        maker.write(Part::plain(1, 1, 0, b"a"));
        assert!(is_jffs2(&maker.image));
        assert_eq!(content(&maker.image), b"a");
    }
}

#[test]
fn links_devices_pipes_and_sockets_are_read() {
    for (order, old, new) in [
        (Order::Little, 0x0501u16.to_le_bytes(), 0x0121_2c70u32.to_le_bytes()),
        (Order::Big, 0x0501u16.to_be_bytes(), 0x0121_2c70u32.to_be_bytes()),
    ] {
        let mut maker = Maker::new(order);
        let all: [(u32, &[u8]); 5] = [
            (0o120_777, b"target"),
            (0o020_600, &old),
            (0o060_600, &new),
            (0o010_600, b""),
            (0o140_600, b""),
        ];
        for (index, (mode, content)) in all.into_iter().enumerate() {
            let inode = index as u32 + 2;
            maker.write(Part { inode, mode, ..Part::plain(1, 0, 0, content) });
            maker.entry(1, inode, inode, &[b'a' + index as u8]);
        }
        let tree = tree(&maker.image);
        let kinds: Vec<_> = tree.inodes()[1..].iter().map(|inode| inode.kind.clone()).collect();
        let expected = [
            Kind::Symlink(b"target".to_vec()),
            Kind::Device { is_block: false, major: 5, minor: 1 },
            Kind::Device { is_block: true, major: 300, minor: 0x1270 },
            Kind::Fifo,
            Kind::Socket,
        ];
        assert_eq!(kinds, expected);
    }
}

#[test]
fn of_attributes_the_newest_reference_holds() {
    for image in both(|maker| {
        maker.write(Part::plain(1, 1, 0, b"a"));
        maker.attribute(1, 0, b"kept", b"value");
        maker.attribute(2, 0, b"removed", b"value");
        maker.attribute(3, 0, b"changed", b"old");
        maker.attribute(4, 0, b"changed", b"new");
        maker.reference(2, 1, 2);
        maker.reference(2, 2, 7);
        maker.reference(2, 2, 6);
        maker.reference(2, 4, 10);
        maker.reference(2, 3, 8);
        maker.reference(9, 3, 8);
    }) {
        let tree = tree(&image);
        let read: Vec<_> =
            tree.inode(1).attributes.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        assert_eq!(read, [(&b"user.changed"[..], &b"new"[..]), (b"user.kept", b"value")]);
    }
}

#[test]
fn the_root_has_what_its_node_says() {
    for image in both(|maker| {
        maker.write(Part { inode: 1, mode: 0o041_777, ..Part::plain(3, 0, 0, b"") });
    }) {
        let tree = tree(&image);
        let root = tree.inode(0);
        assert_eq!((root.mode, root.uid, root.modified), (0o1777, 7, 3));
        assert_eq!(tree.find("/f"), None, "a name without inode is left out");
    }
}

#[test]
fn compressors_that_are_not_read_are_refused_with_the_name_of_the_file() {
    for (compressor, name) in [(3, "rubinmips"), (5, "dynrubin"), (9, "the unknown compressor 9")] {
        for image in both(|maker| {
            maker.write(Part { compressor, unpacked_bytes: 9, ..Part::plain(1, 9, 0, b"packed") });
        }) {
            let error = read(&image, Limit::default()).expect_err("not read");
            assert_eq!(
                error,
                Error::Compressor { path: "/f".into(), at: 44, compressor: name.into() }
            );
        }
    }
}

#[test]
fn content_that_does_not_unpack_is_refused_unless_newer_content_hides_it() {
    for compressor in [0, 2, 6, 7] {
        let bad = Part { compressor, unpacked_bytes: 9, ..Part::plain(1, 9, 0, b"\xfe\xdc") };
        for image in both(|maker| {
            maker.write(bad);
        }) {
            let error = read(&image, Limit::default()).expect_err("does not unpack");
            assert_eq!(error, Error::Unpack { path: "/f".into(), at: 44, expected_bytes: 9 });
        }
        for image in both(|maker| {
            maker.write(bad);
            maker.write(Part::plain(2, 9, 0, b"all of it"));
        }) {
            assert_eq!(content(&image), b"all of it");
        }
    }
}

#[test]
fn a_directory_with_two_names_or_within_itself_is_refused() {
    for (directory, name) in [(1, "/f"), (3, "/d/f"), (4, "/d/e/f")] {
        for image in both(|maker| {
            maker.entry(1, 2, 0, b"f");
            maker.entry(1, 3, 3, b"d");
            maker.entry(3, 3, 4, b"e");
            for inode in [3, 4] {
                maker.write(Part { inode, mode: DIRECTORY, ..Part::plain(1, 0, 0, b"") });
            }
            maker.entry(directory, 9, 3, b"f");
        }) {
            assert_eq!(
                read(&image, Limit::default()),
                Err(Error::DirectoryTwice { path: name.into() })
            );
        }
    }
}

#[test]
fn a_type_that_must_be_known_is_refused_and_others_are_not() {
    for image in both(|maker| {
        maker.write(Part::plain(1, 1, 0, b"a"));
        maker.node(0x2017, &[1; 8]);
        maker.node(0x6017, &[1; 8]);
    }) {
        assert_eq!(content(&image), b"a");
    }
    for image in both(|maker| {
        maker.node(0xe017, &[1; 8]);
    }) {
        assert_eq!(
            read(&image, Limit::default()),
            Err(Error::UnknownNode { at: 44, kind: 0xe017 })
        );
    }
}

#[test]
fn what_is_no_image_is_refused() {
    for bytes in [&b""[..], b"\x85\x19", &[0xff; 100_000], &[0x85, 0x19].repeat(5000)] {
        assert_eq!(read(bytes, Limit::default()), Err(Error::NoJffs2));
        assert!(!is_jffs2(bytes));
    }
}

#[test]
fn a_file_larger_than_the_limit_is_refused_before_memory_is_taken() {
    let limit = Limit { bytes: 1000, inodes: 10 };
    for image in both(|maker| {
        maker.write(Part {
            compressor: 1,
            unpacked_bytes: u32::MAX,
            ..Part::plain(1, u32::MAX, 0, b"")
        });
    }) {
        assert_eq!(
            read(&image, limit),
            Err(Error::Tree { path: "/f".into(), error: TreeError::Bytes(1000) })
        );
    }
    for image in both(|maker| {
        maker.write(Part { mode: FILE & 0o777, ..Part::plain(1, 0, 0, b"") });
    }) {
        assert_eq!(read(&image, limit), Err(Error::Mode { path: "/f".into(), mode: 0o644 }));
    }
}
