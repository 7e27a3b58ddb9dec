//! Images of squashfs: written and read again, by each compressor, damaged, and beyond limits. If
//! `mksquashfs` is installed, its images are read too.

use std::collections::BTreeMap;
use std::process::Command;
use steadyfs_convert::squashfs::{self, ReadError, Settings};
use steadyfs_convert::{Inode, Kind, Limit, Tree, TreeError};

const COMPRESSORS: [&str; 6] = ["lz4", "lz4:fast", "gzip", "zstd:3", "xz", "lzo"];

fn directory() -> Inode {
    Inode {
        modified: 1_700_000_000,
        uid: 7,
        gid: 1000,
        ..Inode::new(Kind::Directory(BTreeMap::new()), 0o750)
    }
}

fn file(bytes: impl Into<Vec<u8>>) -> Inode {
    Inode { modified: 5, ..Inode::new(Kind::File(bytes.into()), 0o4755) }
}

/// Makes a tree with everything that an image can hold.
fn full_tree() -> Tree {
    let mut tree = Tree::new(Limit::default());
    let etc = tree.insert(0, b"etc", directory()).expect("room");
    let mut noted = file("hello\n".repeat(2000));
    noted.attributes = BTreeMap::from([
        (b"user.note".to_vec(), b"short".to_vec()),
        (b"security.x".to_vec(), vec![1; 3000]),
    ]);
    let text = tree.insert(etc, b"text", noted.clone()).expect("room");
    tree.link(0, b"second name", text).expect("room");
    tree.insert(etc, b"same attributes", noted).expect("room");
    tree.insert(etc, b"holes", file([vec![0; 20_000], vec![5; 3], vec![0; 9000]].concat()))
        .expect("room");
    for index in 0..3000u32 {
        tree.insert(etc, format!("f{index}").as_bytes(), file(index.to_le_bytes())).expect("room");
    }
    let mut link = Inode::new(Kind::Symlink(b"etc/text".to_vec()), 0o777);
    link.attributes = BTreeMap::from([(b"trusted.l".to_vec(), b"v".to_vec())]);
    tree.insert(0, b"link", link).expect("room");
    tree.insert(0, b"plain link", Inode::new(Kind::Symlink(b"..".to_vec()), 0o777)).expect("room");
    tree.insert(0, b"nothing", file("")).expect("room");
    tree.insert(0, b"\xFFno text", file("x")).expect("room");
    tree.insert(0, b"fifo", Inode::new(Kind::Fifo, 0o600)).expect("room");
    tree.insert(0, b"socket", Inode::new(Kind::Socket, 0o600)).expect("room");
    let device =
        |is_block, major, minor| Inode::new(Kind::Device { is_block, major, minor }, 0o620);
    tree.insert(0, b"tty", device(false, 5, 1_048_575)).expect("room");
    tree.insert(0, b"disk", device(true, 4095, 1)).expect("room");
    tree
}

/// Returns each path with its inode, directories without entries, and the first name of each inode.
fn flat(tree: &Tree) -> BTreeMap<Vec<u8>, (Inode, Vec<u8>)> {
    let mut first = BTreeMap::new();
    let own = |(path, index): (Vec<u8>, usize)| {
        let mut inode = tree.inode(index).clone();
        if inode.is_directory() {
            inode.kind = Kind::Directory(BTreeMap::new());
        }
        let name = first.entry(index).or_insert_with(|| path.clone()).clone();
        (path, (inode, name))
    };
    tree.walk().into_iter().chain([(b"/".to_vec(), 0)]).map(own).collect()
}

#[test]
fn a_tree_is_read_as_it_was_written() {
    let tree = full_tree();
    for compressor in COMPRESSORS {
        for plain_metadata in [false, true] {
            let compressor = compressor.parse().expect("a compressor");
            let settings =
                Settings { compressor, block_bytes: 8192, plain_metadata, ..Settings::default() };
            let image = squashfs::write(&tree, &settings).expect("an image");
            let read = squashfs::read(&image, Limit::default()).expect("a tree");
            assert!(flat(&read) == flat(&tree), "{compressor}");
        }
    }
}

#[test]
fn what_is_larger_than_the_limit_is_refused() {
    let image = squashfs::write(&full_tree(), &Settings::default()).expect("an image");
    let read = |bytes, inodes| squashfs::read(&image, Limit { bytes, inodes });
    assert!(matches!(
        read(10_000, 10_000),
        Err(ReadError::Tree { source: TreeError::Bytes(10_000), .. })
    ));
    assert!(matches!(
        read(1 << 20, 100),
        Err(ReadError::Tree { source: TreeError::Inodes(100), .. })
    ));
}

#[test]
fn damaged_images_end_in_an_error_or_a_tree() {
    let tree = full_tree();
    for (seed, compressor) in COMPRESSORS.into_iter().enumerate() {
        let settings = Settings {
            compressor: compressor.parse().expect("a compressor"),
            block_bytes: 4096,
            ..Settings::default()
        };
        let image = squashfs::write(&tree, &settings).expect("an image");
        let mut rng = fastrand::Rng::with_seed(seed as u64);
        for _ in 0..150 {
            let mut image = image.clone();
            for _ in 0..rng.usize(1..4) {
                // The superblock and the tables behind the data have the most influence.
                let at = if rng.bool() {
                    rng.usize(0..96)
                } else {
                    image.len() - 1 - rng.usize(0..image.len() / 2)
                };
                image[at] = rng.u8(..);
            }
            image.truncate(rng.usize(image.len() / 2..image.len() * 2).min(image.len()));
            let _ = squashfs::read(&image, Limit { bytes: 1 << 22, inodes: 10_000 });
        }
        for end in 0..200 {
            assert!(squashfs::read(&image[..end], Limit::default()).is_err());
        }
    }
}

#[test]
fn a_directory_that_holds_itself_is_refused() {
    let mut tree = Tree::new(Limit::default());
    let outer = tree.insert(0, b"outer", directory()).expect("room");
    tree.insert(outer, b"inner", directory()).expect("room");
    let image = squashfs::write(&tree, &Settings { plain_metadata: true, ..Settings::default() })
        .expect("an image");
    // The inodes have equal size, so each reference is valid: entries name them by their offset in
    // the block.
    let name = image.windows(5).position(|window| window == b"inner").expect("the entry");
    let outer = image.windows(5).position(|window| window == b"outer").expect("the entry");
    let mut circle = image.clone();
    circle.copy_within(outer - 8..outer - 6, name - 8);
    assert!(matches!(
        squashfs::read(&circle, Limit::default()),
        Err(ReadError::DirectoryTwice { .. })
    ));
}

#[test]
fn a_block_that_each_file_has_decoded_again_ends_in_an_error() {
    let mut tree = Tree::new(Limit::default());
    for index in 0..100 {
        tree.insert(0, format!("f{index}").as_bytes(), file(vec![b'a'; 1 << 20])).expect("room");
    }
    let compressor = "gzip:1".parse().expect("a compressor");
    let settings =
        Settings { compressor, block_bytes: 1 << 20, plain_metadata: true, ..Settings::default() };
    let mut image = squashfs::write(&tree, &settings).expect("an image");
    // No fragment, its offset, a MiB. Each file is reduced to one byte, in a block with another
    // stored size.
    let needle = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0x10, 0];
    let mut count = 0;
    for at in 0..image.len() - 16 {
        if image[at..at + 12] == needle {
            image[at + 8..at + 12].copy_from_slice(&1u32.to_le_bytes());
            let stored =
                u32::from_le_bytes(image[at + 12..at + 16].try_into().expect("four bytes"));
            image[at + 12..at + 16].copy_from_slice(&(stored + count).to_le_bytes());
            count += 1;
        }
    }
    assert_eq!(count, 100);
    let read = |bytes| squashfs::read(&image, Limit { bytes, inodes: 1000 });
    assert_eq!(read(10_000).map(drop), Err(ReadError::Work { limit: 80_000 + (64 << 20) }));
    assert!(read(100 << 20).is_ok());
}

#[test]
fn names_that_leave_their_directory_are_refused() {
    let mut tree = Tree::new(Limit::default());
    tree.insert(0, b"QZQZQ", file("harm")).expect("room");
    let image = squashfs::write(&tree, &Settings { plain_metadata: true, ..Settings::default() })
        .expect("an image");
    let at = image.windows(5).position(|window| window == b"QZQZQ").expect("the entry");
    for name in [b"../xx", b"a/b/c", b"a\0bcd"] {
        let mut image = image.clone();
        image[at..at + 5].copy_from_slice(name);
        let read = squashfs::read(&image, Limit::default());
        assert!(
            matches!(read, Err(ReadError::Tree { source: TreeError::Name(_), .. })),
            "{read:?}"
        );
    }
}

#[test]
fn other_tools_read_what_is_written_here_and_the_other_way_round() {
    if Command::new("unsquashfs").arg("-version").output().is_err()
        || Command::new("mksquashfs").output().is_err()
    {
        println!("mksquashfs or unsquashfs is missing: nothing is compared");
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let path = |name: &str| place.path().join(name);
    let mut tree = Tree::new(Limit::default());
    let etc = tree.insert(0, b"etc", directory()).expect("room");
    for index in 0..40usize {
        tree.insert(etc, format!("f{index}").as_bytes(), file(vec![index as u8; index * 997]))
            .expect("room");
    }
    for compressor in COMPRESSORS {
        let settings = Settings {
            compressor: compressor.parse().expect("a compressor"),
            block_bytes: 4096,
            ..Settings::default()
        };
        let (ours, theirs, out) = (path("ours"), path("theirs"), path(compressor));
        std::fs::write(&ours, squashfs::write(&tree, &settings).expect("an image"))
            .expect("a file");
        let run = |command: &mut Command| {
            let output = command.output().expect("a tool");
            assert!(
                output.status.success(),
                "{compressor}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        };
        run(Command::new("unsquashfs").arg("-d").arg(&out).arg(&ours));
        let name = compressor.split(':').next().expect("a name");
        let _ = std::fs::remove_file(&theirs);
        run(Command::new("mksquashfs").arg(&out).arg(&theirs).args([
            "-comp",
            name,
            "-quiet",
            "-no-progress",
        ]));
        let read = squashfs::read(&std::fs::read(&theirs).expect("a file"), Limit::default())
            .expect("a tree");
        for (path, index) in tree.walk() {
            let path = String::from_utf8(path).expect("text");
            let other = read.inode(read.find(&path).expect("the same path"));
            let own = tree.inode(index);
            assert!(own.is_directory() || other.kind == own.kind, "{compressor} {path}");
            assert_eq!(
                (other.mode, other.modified),
                (own.mode, own.modified),
                "{compressor} {path}"
            );
        }
    }
}
