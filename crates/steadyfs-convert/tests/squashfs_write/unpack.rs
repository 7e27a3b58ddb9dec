//! Unpacks an image with `unsquashfs`, and compares the result with a tree.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{ffi::OsStr, fmt::Write};
use steadyfs_convert::{Inode, InodeIndex, Kind, Tree};
use tempfile::TempDir;

/// Prints the attributes of all paths that it reads, because the standard library has no call for
/// them.
const ATTRIBUTES: &str = "
import os, sys
for path in sys.stdin.buffer.read().split(b'\\0')[:-1]:
    names = os.listxattr(path, follow_symlinks=False)
    values = [os.getxattr(path, name, follow_symlinks=False) for name in sorted(names)]
    print(' '.join(n.encode().hex() + '=' + v.hex() for n, v in zip(sorted(names), values)))
";

/// Unpacked content of an image; it is removed at the end.
pub struct Unpacked {
    _room: TempDir,
    pub root: PathBuf,
}

pub fn has_tool(name: &str) -> bool {
    let has = Command::new(name).arg("-version").output().is_ok();
    if !has {
        println!("{name} is missing: nothing is compared with it");
    }
    has
}

pub fn is_root() -> bool {
    let is_root = tempfile::tempdir()
        .and_then(|room| fs::metadata(room.path()))
        .is_ok_and(|metadata| metadata.uid() == 0);
    if !is_root {
        println!("only root may make devices: nothing is unpacked");
    }
    is_root
}

/// Unpacks an image. Returns `None` if the tool or the right is missing.
pub fn unpacked(image: &[u8]) -> Option<Unpacked> {
    if !has_tool("unsquashfs") || !is_root() {
        return None;
    }
    let room = tempfile::tempdir().expect("a directory");
    let (path, root) = (room.path().join("image"), room.path().join("root"));
    fs::write(&path, image).expect("room");
    let output = Command::new("unsquashfs")
        .args(["-n", "-d"])
        .args([&root, &path])
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.is_empty(), "{} {text}", output.status);
    fs::remove_file(path).expect("it is there");
    Some(Unpacked { _room: room, root })
}

impl Unpacked {
    /// Compares all names with a tree: kinds, modes, owners, times, links, contents and attributes.
    pub fn assert_same(&self, tree: &Tree, what: &str) {
        let mut names = tree.walk();
        names.push((Vec::new(), 0));
        assert_eq!(count(&self.root), names.len(), "{what}");
        let mut counts = BTreeMap::new();
        names.iter().for_each(|(_, inode)| *counts.entry(*inode).or_insert(0u64) += 1);
        let mut hosts: BTreeMap<InodeIndex, u64> = BTreeMap::new();
        for (path, index) in &names {
            let what = format!("{what}: {}", String::from_utf8_lossy(path));
            let place = self.place(path);
            let metadata = fs::symlink_metadata(&place).expect("it was unpacked");
            assert_inode(tree.inode(*index), &place, &metadata, &what);
            assert_eq!(*hosts.entry(*index).or_insert(metadata.ino()), metadata.ino(), "{what}");
            if !metadata.is_dir() {
                assert_eq!(metadata.nlink(), counts[index], "{what}");
            }
        }
        self.assert_attributes(tree, &names, what);
    }

    fn place(&self, path: &[u8]) -> PathBuf {
        let relative = path.strip_prefix(b"/").unwrap_or(path);
        if relative.is_empty() {
            self.root.clone()
        } else {
            self.root.join(OsStr::from_bytes(relative))
        }
    }

    fn assert_attributes(&self, tree: &Tree, names: &[(Vec<u8>, InodeIndex)], what: &str) {
        let room = tempfile::tempdir().expect("a directory");
        let list: Vec<u8> = names
            .iter()
            .flat_map(|(path, _)| [self.place(path).as_os_str().as_bytes(), &[0]].concat())
            .collect();
        fs::write(room.path().join("list"), list).expect("room");
        let list = fs::File::open(room.path().join("list")).expect("it is there");
        let Ok(output) = Command::new("python3").args(["-c", ATTRIBUTES]).stdin(list).output()
        else {
            println!("python3 is missing: attributes are not compared");
            return;
        };
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(printed.lines().count(), names.len());
        for (line, (path, inode)) in printed.lines().zip(names) {
            let expected = tree
                .inode(*inode)
                .attributes
                .iter()
                .map(|(name, value)| hex(name) + "=" + &hex(value));
            let expected = expected.collect::<Vec<_>>().join(" ");
            assert_eq!(line, expected, "{what}: {}", String::from_utf8_lossy(path));
        }
    }
}

fn assert_inode(inode: &Inode, place: &Path, metadata: &fs::Metadata, what: &str) {
    let kind = metadata.file_type();
    match &inode.kind {
        Kind::Directory(_) => assert!(kind.is_dir(), "{what}"),
        Kind::File(bytes) => {
            assert!(kind.is_file() && &fs::read(place).expect("a file") == bytes, "{what}")
        }
        Kind::Symlink(target) => assert_eq!(
            fs::read_link(place).expect("a link").as_os_str().as_bytes(),
            target,
            "{what}"
        ),
        &Kind::Device { is_block, major, minor } => {
            assert!(
                if is_block { kind.is_block_device() } else { kind.is_char_device() },
                "{what}"
            );
            let (major, minor) = (u64::from(major), u64::from(minor));
            assert_eq!(
                metadata.rdev(),
                minor & 0xFF | major << 8 | (minor & !0xFF) << 12,
                "{what}"
            );
        }
        Kind::Fifo => assert!(kind.is_fifo(), "{what}"),
        Kind::Socket => assert!(kind.is_socket(), "{what}"),
    }
    assert_eq!((metadata.uid(), metadata.gid()), (inode.uid, inode.gid), "{what}");
    // The host gives all links the same mode.
    if !kind.is_symlink() {
        assert_eq!(metadata.mode() & 0o7777, u32::from(inode.mode), "{what}");
    }
    assert_eq!(metadata.mtime(), inode.modified, "{what}");
}

fn count(place: &Path) -> usize {
    let is_directory = fs::symlink_metadata(place).expect("it is there").is_dir();
    let below = if is_directory {
        fs::read_dir(place)
            .expect("a directory")
            .map(|entry| count(&entry.expect("an entry").path()))
            .sum()
    } else {
        0
    };
    1 + below
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
