//! Tests that compare images of mkfs.jffs2 with their source directory.

use crate::fixture;
use crate::jffs2::{is_jffs2, read, scan};
use crate::tree::{Kind, Limit};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Makes an image of a directory. Returns `None` if the tool is missing.
pub(super) fn image(root: &Path, options: &[&str]) -> Option<Vec<u8>> {
    let out = tempfile::NamedTempFile::new().expect("a file");
    let mut arguments =
        vec!["-r", root.to_str().expect("text"), "-o", out.path().to_str().expect("text")];
    arguments.extend(options);
    fixture::run("mkfs.jffs2", &arguments).then(|| fs::read(out.path()).expect("reads"))
}

#[test]
fn every_kind_of_image_gives_the_directory_it_was_made_of() {
    let root = tempfile::tempdir().expect("a directory");
    fixture::make(root.path());
    let all = [
        "-l -n",
        "-b",
        "-l -m none",
        "-b -m size -X lzo",
        "-l -X lzo -x zlib -x rtime",
        "-b -X lzo -x zlib -x rtime",
        "-l -x zlib",
        "-b -n -x zlib -e 0x20000 -p",
        "-l -s 0x1000 -e 0x20000 -p0x1000000",
        "-l -s 0x4000 -e 0x40000 -m size",
    ];
    let mut compressors = BTreeSet::new();
    for options in all {
        let words: Vec<&str> = options.split(' ').collect();
        let Some(image) = image(root.path(), &words) else { return };
        assert!(is_jffs2(&image), "{options}");
        let tree =
            read(&image, Limit::default()).unwrap_or_else(|error| panic!("{options}: {error}"));
        fixture::compare(&tree, root.path());
        let nodes = scan::scan(&image).expect("nodes");
        compressors.extend(nodes.inodes.values().flatten().map(|node| node.compressor));
    }
    assert!(
        compressors.is_superset(&[0, 2, 6, 7].into()),
        "none, rtime, zlib and lzo are tried: {compressors:?}"
    );
}

#[test]
fn summaries_are_passed_over() {
    let root = tempfile::tempdir().expect("a directory");
    fs::write(root.path().join("text"), "words ".repeat(9000)).expect("writes");
    let Some(image) = image(root.path(), &["-l", "-e", "0x10000"]) else { return };
    let (plain, summed) = (
        tempfile::NamedTempFile::new().expect("a file"),
        tempfile::NamedTempFile::new().expect("a file"),
    );
    fs::write(plain.path(), image).expect("writes");
    let at = |file: &tempfile::NamedTempFile| file.path().to_str().expect("text").to_owned();
    if fixture::run("sumtool", &["-l", "-e", "0x10000", "-i", &at(&plain), "-o", &at(&summed)]) {
        let tree = read(&fs::read(summed.path()).expect("reads"), Limit::default())
            .expect("a sound image");
        fixture::compare(&tree, root.path());
    }
}

#[test]
fn attributes_are_read() {
    let root = tempfile::tempdir().expect("a directory");
    let file = root.path().join("file");
    fs::write(&file, "x").expect("writes");
    let path = file.to_str().expect("text");
    if !fixture::run(
        "python3",
        &["-c", &format!("import os; os.setxattr({path:?}, 'user.note', b'a value')")],
    ) {
        return;
    }
    for order in ["-l", "-b"] {
        let Some(image) = image(root.path(), &[order, "--with-xattr"]) else { return };
        let tree = read(&image, Limit::default()).expect("a sound image");
        let inode = tree.inode(tree.find("/file").expect("is there"));
        assert_eq!(
            inode.attributes.get(&b"user.note"[..]).map(Vec::as_slice),
            Some(&b"a value"[..]),
            "{order}"
        );
        assert_eq!(inode.kind, Kind::File(b"x".to_vec()));
    }
}
