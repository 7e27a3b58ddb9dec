//! Images of mkfs.ubifs, compared with their source directory.

use crate::fixture;
use crate::tree::Limit;
use crate::ubifs::{Error, is_ubifs, read};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Makes an image of a directory; returns `None` if the tool is missing.
pub(crate) fn image(root: &Path, options: &[&str]) -> Option<Vec<u8>> {
    let out = tempfile::tempdir().expect("a directory");
    let path = out.path().join("image");
    let mut arguments =
        vec!["-r", root.to_str().expect("text"), "-o", path.to_str().expect("text")];
    arguments.extend(options);
    fixture::run("mkfs.ubifs", &arguments).then(|| fs::read(path).expect("reads"))
}

#[test]
fn every_kind_of_image_gives_the_directory_it_was_made_of() {
    let root = tempfile::tempdir().expect("a directory");
    fixture::make(root.path());
    fixture::device(&root.path().join("large"), "c", "300", "70000");
    let all = [
        "-m 2048 -e 126976 -c 500 -x none",
        "-m 2048 -e 126976 -c 500 -x lzo",
        "-m 2048 -e 126976 -c 500 -x zlib -F",
        "-m 2048 -e 126976 -c 500 -x zstd",
        "-m 2048 -e 126976 -c 500 -x favor_lzo -k test -f 32",
        "-m 512 -e 15872 -c 4000 -x lzo",
        "-m 1 -e 65408 -c 4000 -x zlib -f 3",
        "-m 4096 -e 253952 -c 6000 -x zstd -l 20 -p 3",
    ];
    for options in all {
        let words: Vec<&str> = options.split(' ').collect();
        let Some(image) = image(root.path(), &words) else { return };
        assert!(is_ubifs(&image), "{options}");
        let tree =
            read(&image, Limit::default()).unwrap_or_else(|error| panic!("{options}: {error}"));
        fixture::compare(&tree, root.path());
        let (root, on_disk) = (tree.inode(0), fs::symlink_metadata(root.path()).expect("is there"));
        assert_eq!(
            (u32::from(root.mode), root.uid, root.modified),
            (on_disk.mode() & 0o7777, on_disk.uid(), on_disk.mtime())
        );
    }
}

#[test]
fn encrypted_volumes_are_refused() {
    let root = tempfile::tempdir().expect("a directory");
    fs::write(root.path().join("file"), "x").expect("writes");
    let key = tempfile::NamedTempFile::new().expect("a file");
    fs::write(key.path(), (0..64).collect::<Vec<u8>>()).expect("writes");
    let key = key.path().to_str().expect("text");
    let options = [
        "-m",
        "2048",
        "-e",
        "126976",
        "-c",
        "50",
        "-K",
        key,
        "-b",
        "0123456789abcdef",
        "-C",
        "AES-256-XTS",
    ];
    let Some(image) = image(root.path(), &options) else { return };
    assert_eq!(read(&image, Limit::default()), Err(Error::Encrypted));
}
