//! Directories for the tests of readers. They are made on disk, packed by other tools, and compared
//! with the tree that a reader returns.

use crate::tree::{Inode, Kind, Tree};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a program, and returns true if it exists. If the program is missing, prints its name. The
/// test that needs it then passes.
///
/// # Panics
/// If the program exists and fails.
pub(crate) fn run(program: &str, arguments: &[&str]) -> bool {
    let output = match Command::new(program).args(arguments).output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            println!("{program} is missing: nothing is compared with it");
            return false;
        }
        Err(error) => panic!("{program}: {error}"),
    };
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    true
}

/// Makes a directory with everything that tests a reader.
///
/// It contains devices only if the user of the tests is allowed to create devices.
pub(crate) fn make(root: &Path) {
    let mut random = fastrand::Rng::with_seed(11);
    let write = |name: &str, bytes: &[u8]| fs::write(root.join(name), bytes).expect("writes");
    fs::create_dir_all(root.join("deep/er/and/deeper")).expect("makes");
    fs::create_dir(root.join("empty directory")).expect("makes");
    write("empty", b"");
    write("one byte", b"x");
    write(
        "deep/er/and/deeper/text",
        "All work and no play makes a dull file. ".repeat(3000).as_bytes(),
    );
    let mut noise = vec![0; 1_500_000];
    random.fill(&mut noise);
    write("noise", &noise);
    let mixed: Vec<u8> = (0..3_000_000u32)
        .map(|at| {
            if at >> 13 & 1 == 0 {
                (at.wrapping_mul(at) >> 11) as u8
            } else {
                b'a' + (at % 7) as u8
            }
        })
        .collect();
    write("mixed", &mixed);
    write("zeros", &[0; 50_000]);
    sparse(&root.join("sparse"));
    write(&"long name ".repeat(25), b"long");
    write("ünïcode-名前", b"name");
    symlink("../somewhere/else", root.join("link")).expect("links");
    // mkfs.jffs2 truncates longer targets.
    symlink("t".repeat(250), root.join("long link")).expect("links");
    fs::hard_link(root.join("one byte"), root.join("deep/hard link")).expect("links");
    fs::create_dir(root.join("many")).expect("makes");
    for index in 0..3000 {
        write(&format!("many/{index:05}"), format!("{index}").as_bytes());
    }
    special(root);
    fs::set_permissions(root.join("noise"), fs::Permissions::from_mode(0o4755)).expect("sets");
    fs::set_permissions(root.join("empty directory"), fs::Permissions::from_mode(0o1777))
        .expect("sets");
}

/// Makes a file with a hole at the start, a hole in the middle and a hole at the end.
fn sparse(path: &Path) {
    use std::os::unix::fs::FileExt;
    let file = fs::File::create(path).expect("makes");
    file.write_all_at(b"here", 70_001).expect("writes");
    file.write_all_at(&[5; 9000], 300_000).expect("writes");
    file.set_len(500_000).expect("sets");
}

fn special(root: &Path) {
    let at = |name: &str| root.join(name).to_str().expect("text").to_owned();
    run("mkfifo", &[&at("fifo")]);
    // The path of a socket has 108 bytes at most.
    if let Err(error) = std::os::unix::net::UnixListener::bind(root.join("socket")) {
        println!("a socket is not compared: {error}");
    }
    device(&root.join("character"), "c", "5", "1");
    device(&root.join("block"), "b", "179", "255");
}

/// Makes a device, if the user of the tests is allowed to do this.
pub(crate) fn device(path: &Path, kind: &str, major: &str, minor: &str) {
    let made = Command::new("mknod").arg(path).args([kind, major, minor]).output();
    if !made.is_ok_and(|output| output.status.success()) {
        println!("no right to make devices: {path:?} is not compared");
    }
}

/// Compares a tree with a directory, entry by entry. Of the directory itself, it compares only the
/// entries, because not every tool writes its mode and owner.
///
/// # Panics
/// If they differ.
pub(crate) fn compare(tree: &Tree, root: &Path) {
    let mut links: BTreeMap<u64, usize> = BTreeMap::new();
    let mut waiting = vec![(root.to_owned(), 0)];
    let mut count = 0;
    while let Some((path, index)) = waiting.pop() {
        let inode = tree.inode(index);
        if index != 0 {
            compare_inode(inode, &path);
        }
        count += 1;
        let about = fs::symlink_metadata(&path).expect("is there");
        if !about.is_dir() && about.nlink() > 1 {
            assert_eq!(
                *links.entry(about.ino()).or_insert(index),
                index,
                "{path:?} is a hard link"
            );
        }
        if let Kind::Directory(entries) = &inode.kind {
            let mut on_disk: Vec<PathBuf> = fs::read_dir(&path)
                .expect("lists")
                .map(|entry| entry.expect("an entry").path())
                .collect();
            on_disk.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
            let names: Vec<&[u8]> =
                on_disk.iter().map(|path| path.file_name().expect("a name").as_bytes()).collect();
            let read: Vec<&[u8]> = entries.keys().map(Vec::as_slice).collect();
            assert!(names == read, "{path:?}: {} names, {} read", names.len(), read.len());
            waiting.extend(on_disk.into_iter().zip(entries.values().copied()));
        }
    }
    assert!(count > 0);
}

fn compare_inode(inode: &Inode, path: &Path) {
    let about = fs::symlink_metadata(path).expect("is there");
    let kind = about.file_type();
    match &inode.kind {
        Kind::Directory(_) => assert!(kind.is_dir(), "{path:?}"),
        Kind::File(bytes) => assert!(
            kind.is_file() && fs::read(path).expect("reads") == *bytes,
            "{path:?} has other content"
        ),
        Kind::Symlink(target) => assert_eq!(
            fs::read_link(path).expect("a link").as_os_str().as_bytes(),
            target,
            "{path:?}"
        ),
        Kind::Device { is_block, major, minor } => {
            assert_eq!(kind.is_block_device(), *is_block, "{path:?}");
            let number = about.rdev();
            assert_eq!(
                (*major, *minor),
                ((number >> 8 & 0xfff) as u32, (number & 0xff | number >> 12 & 0xfff00) as u32),
                "{path:?}"
            );
        }
        Kind::Fifo => assert!(kind.is_fifo(), "{path:?}"),
        Kind::Socket => assert!(kind.is_socket(), "{path:?}"),
    }
    if !kind.is_symlink() {
        assert_eq!(u32::from(inode.mode), about.mode() & 0o7777, "{path:?}");
    }
    assert_eq!(
        (inode.uid, inode.gid, inode.modified),
        (about.uid(), about.gid(), about.mtime()),
        "{path:?}"
    );
}

/// Damages intact bytes at up to eight positions. Each `number` causes another damage.
pub(crate) fn damage(sound: &[u8], number: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(number);
    let mut bytes = sound.to_vec();
    for _ in 0..random.usize(1..=8) {
        let at = random.usize(0..bytes.len());
        bytes[at] ^= 1 << random.u8(0..8);
    }
    if random.u8(0..8) == 0 {
        bytes.truncate(random.usize(0..bytes.len()));
    }
    bytes
}
