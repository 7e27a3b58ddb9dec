//! Images of cramfs: written and read again, damaged, and beyond the limits of the format.

use std::collections::BTreeMap;
use steadyfs_convert::cramfs::{self, Error, LeftOut, Settings};
use steadyfs_convert::{Inode, Kind, Limit, Tree, TreeError};

fn directory() -> Inode {
    Inode::new(Kind::Directory(BTreeMap::new()), 0o755)
}

fn file(bytes: impl Into<Vec<u8>>) -> Inode {
    Inode::new(Kind::File(bytes.into()), 0o644)
}

/// Makes a tree with everything that an image can hold.
fn full_tree() -> Tree {
    let mut tree = Tree::new(Limit::default());
    let etc = tree.insert(0, b"etc", directory()).expect("room");
    tree.insert(etc, b"text", file("hello\n".repeat(2000))).expect("room");
    tree.insert(etc, b"same text", file("hello\n".repeat(2000))).expect("room");
    tree.insert(etc, b"pages", file(vec![5; 8192])).expect("room");
    tree.insert(etc, b"zeros", file(vec![0; 9000])).expect("room");
    tree.insert(0, b"nothing", file("")).expect("room");
    tree.insert(0, &[b'n'; 252], Inode { uid: 65535, gid: 255, ..file("long") }).expect("room");
    tree.insert(0, b"empty", directory()).expect("room");
    tree.insert(0, b"link", Inode::new(Kind::Symlink(b"etc/text".to_vec()), 0o777)).expect("room");
    tree.insert(0, b"fifo", Inode::new(Kind::Fifo, 0o600)).expect("room");
    tree.insert(0, b"socket", Inode::new(Kind::Socket, 0o600)).expect("room");
    tree.insert(
        0,
        b"tty",
        Inode::new(Kind::Device { is_block: false, major: 5, minor: 255 }, 0o620),
    )
    .expect("room");
    tree.insert(
        0,
        b"disk",
        Inode::new(Kind::Device { is_block: true, major: 255, minor: 1 }, 0o6777),
    )
    .expect("room");
    tree
}

/// Returns each path with its inode.
fn flat(tree: &Tree) -> BTreeMap<Vec<u8>, Inode> {
    let own = |index: usize| {
        let mut inode = tree.inode(index).clone();
        if inode.is_directory() {
            inode.kind = Kind::Directory(BTreeMap::new());
        }
        inode
    };
    tree.walk()
        .into_iter()
        .chain([(b"/".to_vec(), 0)])
        .map(|(path, index)| (path, own(index)))
        .collect()
}

/// Returns all settings that change the layout.
fn layouts() -> impl Iterator<Item = Settings> {
    (0..16u32).map(|bits| Settings {
        big_endian: bits & 1 != 0,
        holes: bits & 2 != 0,
        boot_bytes: bits & 4 != 0,
        edition: bits,
        ..Settings::default()
    })
}

#[test]
fn a_tree_is_read_as_it_was_written() {
    let tree = full_tree();
    for settings in layouts() {
        let written = cramfs::write(&tree, &settings).expect("a tree that fits");
        assert!(written.left_out.is_empty() && cramfs::is_cramfs(&written.image), "{settings:?}");
        assert_eq!(written.image.len() % 4096, 0);
        let read = cramfs::read(&written.image, Limit::default()).expect("an image of ours");
        assert_eq!(flat(&read), flat(&tree), "{settings:?}");
        assert_eq!(cramfs::write(&tree, &settings).expect("the same").image, written.image);
    }
}

#[test]
fn an_empty_tree_is_an_image() {
    let tree = Tree::new(Limit::default());
    let image = cramfs::write(&tree, &Settings::default()).expect("a root").image;
    assert_eq!(image.len(), 4096);
    assert_eq!(cramfs::read(&image, Limit::default()).expect("a root"), tree);
}

#[test]
fn equal_contents_share_their_pages() {
    let mut random = fastrand::Rng::with_seed(5);
    let noise: Vec<u8> = (0..60_000).map(|_| random.u8(..)).collect();
    let mut tree = Tree::new(Limit::default());
    for name in ["a", "b", "c"] {
        tree.insert(0, name.as_bytes(), file(noise.clone())).expect("room");
    }
    assert!(cramfs::write(&tree, &Settings::default()).expect("room").image.len() < 70_000);
}

#[test]
fn holes_take_no_bytes() {
    let mut tree = Tree::new(Limit::default());
    tree.insert(0, b"zeros", file(vec![0; 4 << 20])).expect("room");
    let bytes = |holes| {
        cramfs::write(&tree, &Settings { holes, ..Settings::default() }).expect("room").image.len()
    };
    assert_eq!(bytes(true), 8192);
    assert!(bytes(false) > 16384);
}

#[test]
fn what_the_format_has_no_place_for_is_counted() {
    let mut tree = Tree::new(Limit::default());
    let mut inode = Inode { gid: 256, modified: 7, ..file("x") };
    inode.attributes.insert(b"user.a".to_vec(), b"1".to_vec());
    inode.attributes.insert(b"user.b".to_vec(), b"2".to_vec());
    let index = tree.insert(0, b"a", inode).expect("room");
    tree.link(0, b"b", index).expect("room");
    tree.link(0, b"c", index).expect("room");
    let written = cramfs::write(&tree, &Settings::default()).expect("the rest fits");
    assert_eq!(written.left_out, LeftOut { times: 1, groups: 1, attributes: 2, hard_links: 2 });
    let read = cramfs::read(&written.image, Limit::default()).expect("an image of ours");
    assert_eq!(
        flat(&read).keys().map(|path| path.as_slice()).collect::<Vec<_>>(),
        [b"/".as_slice(), b"/a", b"/b", b"/c"]
    );
    assert_eq!(read.inode(read.find("/c").expect("a name")), &file("x"));
}

#[test]
fn what_does_not_fit_is_refused_with_its_path() {
    let refused = |name: &[u8], inode: Inode| {
        let mut tree = Tree::new(Limit::default());
        let at = tree.insert(0, b"at", directory()).expect("room");
        tree.insert(at, name, inode).expect("room");
        cramfs::write(&tree, &Settings::default()).expect_err("too large").to_string()
    };
    assert_eq!(
        refused(b"f", file(vec![0; 1 << 24])),
        "cannot hold /at/f: content of bytes 16777216; the limit is 16777215"
    );
    assert_eq!(
        refused(b"f", Inode { uid: 65536, ..file("") }),
        "cannot hold /at/f: owner 65536; the limit is 65535"
    );
    assert!(refused(&[b'n'; 253], file("")).ends_with(": name of bytes 253; the limit is 252"));
    let device = |major, minor| Inode::new(Kind::Device { is_block: false, major, minor }, 0o600);
    assert_eq!(
        refused(b"d", device(256, 1)),
        "cannot hold /at/d: major number 256; the limit is 255"
    );
    assert_eq!(
        refused(b"d", device(1, 256)),
        "cannot hold /at/d: minor number 256; the limit is 255"
    );
    let sets_group = Inode { gid: 256, mode: 0o2755, ..file("") };
    assert_eq!(
        refused(b"f", sets_group),
        "cannot hold /at/f: it sets the group 256 when run; the limit of groups is 255"
    );
    let settings = Settings { level: 11, ..Settings::default() };
    assert!(matches!(
        cramfs::write(&Tree::new(Limit::default()), &settings),
        Err(Error::Settings(_))
    ));
}

#[test]
fn an_image_beyond_the_last_offset_is_refused() {
    let mut tree = Tree::new(Limit::default());
    for number in 0..18u8 {
        let mut content = vec![0; (1 << 24) - 1];
        content[0] = number;
        tree.insert(0, &[b'a' + number], file(content)).expect("room");
    }
    let settings = Settings { level: 0, ..Settings::default() };
    let error = cramfs::write(&tree, &settings).expect_err("does not fit");
    assert!(
        matches!(&error, Error::TooLarge { path, what: "begin at byte", .. } if path == "/q"),
        "{error}"
    );
}

#[test]
fn a_limit_holds_before_memory_is_taken() {
    let mut tree = Tree::new(Limit::default());
    tree.insert(0, b"zeros", file(vec![0; 10_000_000])).expect("room");
    tree.insert(0, b"more zeros", file(vec![0; 10_000_000])).expect("room");
    let image =
        cramfs::write(&tree, &Settings { holes: true, ..Settings::default() }).expect("room").image;
    let limited =
        |bytes, inodes| cramfs::read(&image, Limit { bytes, inodes }).expect_err("too much");
    assert_eq!(
        limited(19_999_999, 10),
        Error::Tree { path: "/".into(), source: TreeError::Bytes(19_999_999) }
    );
    assert_eq!(
        limited(30_000_000, 2),
        Error::Tree { path: "/".into(), source: TreeError::Inodes(2) }
    );
}

/// Mends the checksum of an image, as an attacker would.
fn mend(image: &mut [u8]) {
    image[32..36].fill(0);
    let crc = crc32fast::hash(image);
    image[32..36].copy_from_slice(&crc.to_le_bytes());
}

#[test]
fn a_flipped_bit_is_found() {
    let image = cramfs::write(&full_tree(), &Settings::default()).expect("room").image;
    for bit in 0..image.len() * 8 {
        if bit % 7 == 0 || bit < 8 * 76 {
            let mut image = image.clone();
            image[bit / 8] ^= 1 << (bit % 8);
            // Bit 0 of the flags means that there is a checksum.
            assert!(cramfs::read(&image, Limit::default()).is_err() || bit == 64, "bit {bit}");
        }
    }
}

#[test]
fn hostile_images_are_read_or_refused() {
    let small = {
        let mut tree = Tree::new(Limit::default());
        let a = tree.insert(0, b"a", directory()).expect("room");
        tree.insert(a, b"file", file("hello\n".repeat(2000))).expect("room");
        tree.insert(a, b"b", directory()).expect("room");
        tree.insert(0, b"link", Inode::new(Kind::Symlink(b"a/file".to_vec()), 0o777))
            .expect("room");
        cramfs::write(&tree, &Settings::default()).expect("room").image
    };
    let mut random = fastrand::Rng::with_seed(11);
    let (mut read, mut refused) = (0, 0);
    for round in 0..40_000 {
        let mut image = small.clone();
        for _ in 0..random.usize(1..4) {
            let end = if round % 2 == 0 { 200 } else { 600 };
            image[random.usize(4..end)] =
                if random.bool() { random.u8(..) } else { 1 << random.u8(0..8) };
        }
        mend(&mut image);
        match cramfs::read(&image, Limit { bytes: 1 << 20, inodes: 100 }) {
            Ok(_) => read += 1,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(read > 1000 && refused > 1000, "{read} read, {refused} refused");
}

#[test]
fn an_image_that_is_cut_is_refused() {
    let image = cramfs::write(&full_tree(), &Settings::default()).expect("room").image;
    for bytes in (0..image.len()).step_by(13) {
        assert!(cramfs::read(&image[..bytes], Limit::default()).is_err(), "{bytes}");
        let mut unsized_image = image[..bytes].to_vec();
        // Version 1 has no size: missing bytes are found when they are needed.
        if bytes > 8 {
            unsized_image[8] &= !1;
        }
        let _ = cramfs::read(&unsized_image, Limit::default());
    }
}

#[test]
fn a_directory_that_holds_itself_is_refused() {
    let mut tree = Tree::new(Limit::default());
    let a = tree.insert(0, b"a", directory()).expect("room");
    tree.insert(a, b"b", directory()).expect("room");
    tree.insert(0, b"c", directory()).expect("room");
    let image = cramfs::write(&tree, &Settings::default()).expect("room").image;
    // The root is at 76 with the entries of `a` and `c`, and `a` is at 108 with the entry of `b`.
    // An entry has its size at 4 and its offset at 8.
    let pointing = |entry: usize, offset: u32, size: u32| {
        let mut image = image.clone();
        image[entry + 4..entry + 7].copy_from_slice(&size.to_le_bytes()[..3]);
        image[entry + 8..entry + 12].copy_from_slice(&(1 | (offset / 4) << 6).to_le_bytes());
        mend(&mut image);
        cramfs::read(&image, Limit::default())
    };
    assert_eq!(pointing(108, 108, 16), Err(Error::Shared { path: "/a/b".into(), offset: 108 }));
    assert_eq!(pointing(108, 76, 32), Err(Error::Shared { path: "/a/b".into(), offset: 76 }));
    assert_eq!(pointing(92, 108, 16), Err(Error::Shared { path: "/c".into(), offset: 108 }));
    assert_eq!(
        pointing(108, 4088, 16),
        Err(Error::Directory { path: "/a/b".into(), offset: 4088, end: 4104 })
    );
    assert_eq!(
        pointing(108, 0, 64),
        Err(Error::Directory { path: "/a/b".into(), offset: 0, end: 64 })
    );
}

#[test]
fn directories_deeper_than_any_path_are_refused() {
    let mut tree = Tree::new(Limit::default());
    let mut at = 0;
    for _ in 0..17 {
        at = tree.insert(at, &[b'd'; 250], directory()).expect("room");
    }
    tree.insert(at, b"x", file("")).expect("room");
    let image = cramfs::write(&tree, &Settings::default()).expect("room").image;
    assert!(matches!(
        cramfs::read(&image, Limit::default()),
        Err(Error::TooDeep { limit: 4096, .. })
    ));
}

#[test]
fn an_image_of_version_1_is_read_without_a_checksum() {
    let tree = full_tree();
    let mut image = cramfs::write(&tree, &Settings::default()).expect("room").image;
    image[4..8].copy_from_slice(&0x10000u32.to_le_bytes());
    image[8..12].fill(0);
    image[32..48].fill(0xEE);
    assert_eq!(
        flat(&cramfs::read(&image, Limit::default()).expect("an image of version 1")),
        flat(&tree)
    );
}
