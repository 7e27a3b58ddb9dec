//! Images of squashfs, unpacked and examined with the tools of squashfs itself.
//!
//! The tests need `unsquashfs`, `mksquashfs` and root, which may make devices. If one of these is
//! missing, the tests print this and pass.

#![cfg(unix)]

mod trees;
mod unpack;

use std::fs;
use std::process::Command;
use steadyfs_convert::squashfs::{Compressor, Settings, WriteError, write};
use steadyfs_convert::{Inode, Kind, Limit, Tree};
use trees::{Maker, directory, file};
use unpack::{Unpacked, has_tool, is_root, unpacked};

const COMPRESSORS: [&str; 6] = ["lz4", "lz4:fast", "gzip", "zstd:19", "xz", "lzo"];
const BLOCK_BYTES: [u32; 3] = [4 << 10, 128 << 10, 1 << 20];

fn settings(compressor: &str, block_bytes: u32) -> Settings {
    Settings {
        compressor: compressor.parse().expect("a compressor"),
        block_bytes,
        ..Settings::default()
    }
}

/// Unpacks the image of a tree, and compares the result with the tree.
fn assert_unpacks(tree: &Tree, settings: &Settings, what: &str) {
    let image = write(tree, settings).expect("a tree that the format holds");
    assert_eq!(image.len() % settings.pad_bytes as usize, 0);
    if let Some(unpacked) = unpacked(&image) {
        unpacked.assert_same(tree, what);
    }
}

#[test]
fn each_compressor_and_block_size_gives_the_tree_back() {
    for block_bytes in BLOCK_BYTES {
        let tree = trees::everything(block_bytes as usize);
        for compressor in COMPRESSORS {
            let what = format!("{compressor}, {block_bytes}");
            assert_unpacks(&tree, &settings(compressor, block_bytes), &what);
        }
    }
}

#[test]
fn plain_metadata_and_ends_alone_give_the_tree_back() {
    let tree = trees::everything(4096);
    for (plain_metadata, tails) in [(true, true), (true, false), (false, false)] {
        for compressor in ["gzip:6", "zstd:15", "lz4"] {
            let settings = Settings { plain_metadata, tails, ..settings(compressor, 4096) };
            assert_unpacks(
                &tree,
                &settings,
                &format!("{compressor}, plain {plain_metadata}, tails {tails}"),
            );
        }
    }
}

#[test]
fn plain_metadata_is_stored_as_it_is() {
    let mut tree = Tree::new(Limit::default());
    let name = "aaaaaaaaaaaaaaaa".repeat(8);
    tree.insert(0, name.as_bytes(), file(b"")).expect("a name");
    let image =
        write(&tree, &Settings { plain_metadata: true, ..Settings::default() }).expect("an image");
    assert!(image.windows(name.len()).any(|window| window == name.as_bytes()));
}

#[test]
fn an_empty_tree_is_an_image() {
    for compressor in COMPRESSORS {
        let tree = Tree::new(Limit::default());
        let image = write(&tree, &settings(compressor, 4096)).expect("an image");
        assert_eq!(image.len(), 4096);
        assert_unpacks(&tree, &settings(compressor, 4096), compressor);
    }
}

#[test]
fn random_trees_come_back() {
    for seed in 0..10 {
        let tree = Maker::new(seed).tree(300);
        let compressor = COMPRESSORS[seed as usize % COMPRESSORS.len()];
        let mut random = fastrand::Rng::with_seed(seed);
        let settings = Settings {
            plain_metadata: random.bool(),
            tails: random.bool(),
            time: random.u32(..),
            order: tree
                .walk()
                .into_iter()
                .filter(|_| random.u8(..) < 20)
                .map(|(path, _)| path)
                .collect(),
            ..settings(compressor, 4096 << random.u32(0..9))
        };
        assert_unpacks(&tree, &settings, &format!("seed {seed}, {settings:?}"));
    }
}

#[test]
fn three_thousand_entries_come_back() {
    let mut tree = Tree::new(Limit::default());
    let many = tree.insert(0, b"many", directory()).expect("a name");
    for n in 0..3000 {
        tree.insert(
            many,
            format!("an entry with a longer name {n}").as_bytes(),
            file(format!("{n}").as_bytes()),
        )
        .expect("a name");
    }
    for plain_metadata in [false, true] {
        assert_unpacks(&tree, &Settings { plain_metadata, ..settings("lz4", 4096) }, "many");
    }
}

#[test]
fn deep_directories_come_back() {
    let deep = |depth| {
        let mut tree = Tree::new(Limit::default());
        let last =
            (0..depth).fold(0, |at, _| tree.insert(at, b"below", directory()).expect("a name"));
        tree.insert(last, b"file", file(b"deep")).expect("a name");
        tree
    };
    assert_unpacks(&deep(500), &settings("gzip", 4096), "deep");
    let image = write(&deep(100_000), &settings("lz4", 4096)).expect("an image");
    assert_eq!(&image[4..8], 100_002u32.to_le_bytes());
}

#[test]
fn many_owners_come_back() {
    let mut tree = Tree::new(Limit::default());
    for n in 0..3000u32 {
        let mut inode = file(b"same");
        (inode.uid, inode.gid) = (n * 7, 1_000_000 + n / 3);
        tree.insert(0, format!("{n}").as_bytes(), inode).expect("a name");
    }
    assert_unpacks(&tree, &settings("zstd", 4096), "owners");
}

#[test]
fn data_lies_in_the_order_that_is_asked_for() {
    let mut tree = Tree::new(Limit::default());
    let etc = tree.insert(0, b"etc", directory()).expect("a name");
    let content = |fill: u64| trees::noise(fill, 5000);
    for (directory, name, fill) in [(0, b"a", 1), (etc, b"b", 2), (etc, b"c", 3), (0, b"z", 4)] {
        tree.insert(directory, name, file(&content(fill))).expect("a name");
    }
    let order = [&b"/z"[..], b"not/there", b"etc"].map(<[u8]>::to_vec).to_vec();
    let image = write(&tree, &Settings { order, ..settings("lz4", 4096) }).expect("an image");
    let place = |fill| {
        image
            .windows(4096)
            .position(|window| window == &content(fill)[..4096])
            .expect("it is stored plain")
    };
    assert!(place(4) < place(2) && place(2) < place(3) && place(3) < place(1));
}

#[test]
fn what_the_format_does_not_hold_is_refused_with_its_path() {
    let refused = |inode: Inode| {
        let mut tree = Tree::new(Limit::default());
        let etc = tree.insert(0, b"etc", directory()).expect("a name");
        tree.insert(etc, b"x", inode).expect("a name");
        write(&tree, &Settings::default()).expect_err("it is refused").to_string()
    };
    let device = Kind::Device { is_block: true, major: 4096, minor: 3 };
    assert_eq!(
        refused(Inode::new(device, 0o600)),
        "the device \"/etc/x\" is 4096:3; expected at most 4095:1048575"
    );
    let link = refused(Inode::new(Kind::Symlink(Vec::new()), 0o777));
    assert_eq!(link, "the target of the link \"/etc/x\" has 0 bytes; expected 1 to 4095");
    let mut inode = file(b"");
    inode.attributes.insert(b"system.acl".to_vec(), Vec::new());
    assert!(refused(inode).starts_with(
        "the format cannot store the name of the attribute \"system.acl\" of \"/etc/x\""
    ));
    let mut tree = Tree::new(Limit::default());
    let a = tree.insert(0, b"a", directory()).expect("a name");
    tree.link(a, b"a", a).expect("a name");
    assert_eq!(write(&tree, &Settings::default()), Err(WriteError::DirectoryTwice("/a".into())));
}

#[test]
fn the_same_tree_makes_the_same_bytes() {
    for compressor in COMPRESSORS {
        let image =
            || write(&Maker::new(77).tree(200), &settings(compressor, 16384)).expect("an image");
        assert!(image() == image(), "{compressor}");
    }
}

#[test]
fn the_tool_lists_and_counts_what_was_written() {
    if !has_tool("unsquashfs") {
        return;
    }
    let tree = Maker::new(5).tree(200);
    let room = tempfile::tempdir().expect("a directory");
    let path = room.path().join("image");
    fs::write(&path, write(&tree, &settings("zstd:19", 8192)).expect("an image")).expect("room");
    let run = |flag: &str| {
        let output = Command::new("unsquashfs").arg(flag).arg(&path).output().expect("it runs");
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let stat = run("-stat");
    assert!(stat.contains(&format!("Number of inodes {}\n", tree.inodes().len())), "{stat}");
    assert!(
        stat.contains("Compression zstd\n\tcompression-level 19\n")
            && stat.contains("Block size 8192\n"),
        "{stat}"
    );
    let list = run("-lls");
    assert_eq!(
        list.lines().filter(|line| line.contains(" squashfs-root")).count(),
        tree.walk().len() + 1,
        "{list}"
    );
}

#[test]
fn an_image_is_at_most_a_fiftieth_larger_than_that_of_the_tool() {
    if !has_tool("mksquashfs") || !is_root() {
        return;
    }
    let tree = trees::small_root();
    let room = tempfile::tempdir().expect("a directory");
    let Some(Unpacked { root, .. }) =
        &unpacked(&write(&tree, &Settings::default()).expect("an image"))
    else {
        return;
    };
    let options: [(&str, &[&str]); 3] = [
        ("lz4", &["lz4", "-Xhc"]),
        ("gzip", &["gzip"]),
        ("zstd:19", &["zstd", "-Xcompression-level", "19"]),
    ];
    for block_bytes in [4096, 65536, 131_072] {
        for (compressor, arguments) in options {
            let theirs = room.path().join("theirs");
            let mut command = Command::new("mksquashfs");
            command
                .arg(root)
                .arg(&theirs)
                .args(["-noappend", "-b", &block_bytes.to_string(), "-comp"])
                .args(arguments);
            assert!(command.output().expect("it runs").status.success());
            let ours =
                write(&tree, &settings(compressor, block_bytes)).expect("an image").len() as u64;
            let theirs = fs::metadata(&theirs).expect("an image").len();
            assert!(
                ours <= theirs + theirs / 50,
                "{compressor}, {block_bytes}: {ours} bytes, mksquashfs {theirs}"
            );
        }
    }
}

#[test]
fn a_default_is_lz4_in_large_blocks() {
    let Settings { compressor, block_bytes, .. } = Settings::default();
    assert_eq!((compressor, block_bytes), (Compressor::Lz4 { high: true }, 131_072));
}
